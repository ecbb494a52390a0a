"""Helpers for every other room: validation, threads, interruption, atomic writes, optional packages."""
