"""Tolerances for rounding errors."""

BELIEF_ROUNDING = 1e-9  # of a sum of beliefs: 0.1 + 0.2 does not exceed 0.3
