"""Helpers for all other packages: choices, warnings, optional dependencies, files, progress and interruption."""
