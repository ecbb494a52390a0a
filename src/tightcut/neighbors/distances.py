"""Distances by differences in float64, whatever the points are: duplicates are at distance 0."""

from __future__ import annotations

import numpy as np


def largest_coordinate(points: np.ndarray) -> float:
    return max(float(points.max()), -float(points.min()))


def unit_scale(points: np.ndarray) -> float:
    """A power of two that brings all coordinates into [-1/2, 1/2], so that no square over- or underflows.

    It is a number of the points' own precision, which the smallest float32 would need more than.
    """
    largest = largest_coordinate(points)
    if largest == 0:
        return 1.0
    return float(2.0 ** min(-np.ceil(np.log2(2 * largest)), 1000 if points.dtype == np.float64 else 120))


def half_square_distances(
    points: np.ndarray, rows: np.ndarray, others: np.ndarray, found: np.ndarray, scale: float
) -> np.ndarray:
    """Half the squared distances, times the squared scale, from points[rows] to others[found[i]] for each row i."""
    from tightcut._kernels.neighbors import half_squares

    halves = np.empty(found.shape)
    half_squares(np.asarray(points), rows, np.asarray(others), found, scale, halves)
    return halves


def pair_distances(points: np.ndarray, others: np.ndarray, found: np.ndarray, scale: float) -> np.ndarray:
    """Distances from each point to each of its listed neighbours among the others."""
    rows = np.arange(len(points))
    return np.sqrt(2 * half_square_distances(points, rows, others, found, scale)) / scale
