"""The closest two points of two sets."""

from __future__ import annotations

import numpy as np

from tightcut._search.cells import near_cells

CELL = 1024


def closest_pair(points: np.ndarray, one: np.ndarray, other: np.ndarray) -> tuple[float, int, int]:
    """Length and ends of the shortest link between two sets of rows.

    Both are put into cells; pairs of cells are looked at by the gap between their enclosing balls, until no gap is
    shorter than the shortest link so far.
    """
    left, right = near_cells(points, one, CELL, 1.0), near_cells(points, other, CELL, 1.0)
    gaps = _lengths(left.centres, right.centres) - left.radii[:, None] - right.radii
    best = (np.inf, -1, -1)
    for place in np.argsort(gaps, axis=None, kind="stable"):
        if gaps.flat[place] >= best[0]:
            break
        a, b = divmod(int(place), right.n_cells)
        ours, theirs = left.rows[left.span(a)], right.rows[right.span(b)]
        lengths = _lengths(points[ours] - left.centres[a], points[theirs] - left.centres[a])
        i, j = np.unravel_index(lengths.argmin(), lengths.shape)
        start, end = int(ours[i]), int(theirs[j])
        length = float(np.linalg.norm(np.subtract(points[start], points[end], dtype=np.float64)))
        best = min(best, (length, start, end))
    return best


def _lengths(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """All distances, by one matrix product in float64."""
    squares = np.einsum("ij,ij->i", x, x)[:, None] + np.einsum("ij,ij->i", y, y) - 2 * (x @ y.T)
    return np.sqrt(np.maximum(squares, 0))
