"""Benchmarks: one module per table, each with the command that makes it in its first lines."""
