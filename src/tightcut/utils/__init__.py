"""Helpers for every other room: validation, threads, interruption, files written whole, optional packages."""
