"""Partition of the points into cells, by location or in file order, for the blocked search.

A cell has a centre, and its members are sorted by their distance from it. The triangle inequality then tells which
members can lie within a given reach of a point: those at least (distance of the point from the centre) - reach away
from the centre. Often that is none, and where a cell holds a stray, only the stray.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from tightcut.neighbors.points import BLOCK_ENTRIES

SAMPLE = 500  # members that show in which direction a cell is widest
SMALLEST_SHARE = 8  # no split leaves less than this fraction on one side


@dataclass(frozen=True, eq=False)
class Cells:
    """A partition of some points.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
    scale : float
        Distances are those of coordinates multiplied by this power of two; see `unit_scale`.
    rows : ndarray of int64, shape (n,)
        Numbers of the points, cell after cell.
    starts : ndarray of int64, shape (n_cells + 1,)
        Where each cell begins.
    centres : ndarray of float64, shape (n_cells, n_features)
        Of float32 points rounded to float32, so that the difference from a point is rounded once.
    offsets : ndarray of float64, shape (n,)
        Distance of each row from its cell's centre (scaled), increasing within a cell.
    """

    points: np.ndarray
    scale: float
    rows: np.ndarray
    starts: np.ndarray
    centres: np.ndarray
    offsets: np.ndarray

    @property
    def n_cells(self) -> int:
        return len(self.starts) - 1

    @property
    def radii(self) -> np.ndarray:
        return self.offsets[self.starts[1:] - 1]

    def followed_by(self, others: Cells) -> Cells:
        """These cells, then others of further rows of a longer array."""
        return replace(
            others,
            rows=np.concatenate([self.rows, others.rows]),
            starts=np.concatenate([self.starts, len(self.rows) + others.starts[1:]]),
            centres=np.concatenate([self.centres, others.centres]),
            offsets=np.concatenate([self.offsets, others.offsets]),
        )

    def span(self, cell: int) -> slice:
        return slice(int(self.starts[cell]), int(self.starts[cell + 1]))

    def nearest(self, place: np.ndarray, count: int) -> np.ndarray:
        """The cells whose centres are nearest to a place."""
        difference = (self.centres - place) * self.scale
        squares = np.einsum("ij,ij->i", difference, difference)
        return np.argsort(squares, kind="stable")[:count]

    def block(self, rows: np.ndarray, origin: np.ndarray, dtype: Any = np.float32) -> np.ndarray:
        """Points relative to an origin, scaled; rounded once, as a centre of single-precision points is one itself."""
        single = dtype == np.float32 and self.points.dtype != np.float64
        block = np.subtract(self.points[rows], origin, dtype=np.float32 if single else np.float64, casting="same_kind")
        block *= self.scale
        return block.astype(dtype, copy=False)


def near_cells(points: np.ndarray, rows: np.ndarray, size: int, scale: float) -> Cells:
    """Cells of at most `size` rows, split recursively across their widest direction, where the variance falls most.

    Time O(n d log n); beyond the points, memory O(n).
    """
    rng = np.random.default_rng(0)
    rows = rows.astype(np.int64)
    starts = []
    pending = [(0, len(rows))]
    while pending:
        start, stop = pending.pop()
        if stop - start <= size:
            starts.append(start)
            continue
        own = rows[start:stop]
        along = _along_widest_direction(points, own, scale, rng)
        middle = _best_split(np.sort(along))
        rows[start:stop] = own[np.argpartition(along, middle)]
        pending += [(start + middle, stop), (start, start + middle)]
    return _sort_members(points, rows, np.array([*starts, len(rows)]), scale)


def consecutive_cells(points: np.ndarray, rows: np.ndarray, size: int, scale: float) -> Cells:
    """Cells of `size` rows each, in the order they are in: a file is then read from its beginning to its end."""
    starts = np.append(np.arange(0, len(rows), size), len(rows))
    return _sort_members(points, rows.astype(np.int64), starts, scale)


def _along_widest_direction(points: np.ndarray, rows: np.ndarray, scale: float, rng: np.random.Generator) -> np.ndarray:
    """Coordinates of the rows along the first principal component of a sample of them, by power iteration."""
    chosen = np.sort(rng.choice(rows, min(len(rows), SAMPLE), replace=False))
    sample = np.multiply(points[chosen], scale, dtype=np.float64)
    sample -= sample.mean(axis=0)
    direction = rng.normal(size=sample.shape[1])
    for _ in range(8):
        step = (sample @ direction) @ sample
        length = np.linalg.norm(step)
        if length == 0:
            break
        direction = step / length
    direction = (direction * scale).astype(np.float64 if points.dtype == np.float64 else np.float32)
    along = np.empty(len(rows))
    step = max(1, BLOCK_ENTRIES // points.shape[1])
    for start in range(0, len(rows), step):
        along[start : start + step] = points[rows[start : start + step]] @ direction
    return along


def _best_split(ordered: np.ndarray) -> int:
    """How many of the sorted values go to the left, for the least sum of squared deviations on both sides."""
    n = len(ordered)
    fewest = max(1, n // SMALLEST_SHARE)
    if ordered[0] == ordered[-1]:
        return n // 2
    sums = np.cumsum(ordered - ordered.mean())
    left = np.arange(fewest, n - fewest + 1)
    gain = sums[left - 1] ** 2 / (left * (n - left))
    return int(left[gain.argmax()])


def _sort_members(points: np.ndarray, rows: np.ndarray, starts: np.ndarray, scale: float) -> Cells:
    """Centres, and the members of each cell sorted by their distance from it."""
    precision = np.float64 if points.dtype == np.float64 else np.float32
    centres = np.empty((len(starts) - 1, points.shape[1]))
    offsets = np.empty(len(rows))
    for cell, (start, stop) in enumerate(pairwise(starts)):
        members = points[rows[start:stop]]
        centres[cell] = members.mean(axis=0, dtype=np.float64).astype(precision)
        difference = np.subtract(members, centres[cell], dtype=np.float64)
        difference *= scale
        away = np.sqrt(np.einsum("ij,ij->i", difference, difference))
        order = np.argsort(away, kind="stable")
        rows[start:stop] = rows[start:stop][order]
        offsets[start:stop] = away[order]
    return Cells(points, scale, rows, starts, centres, offsets)
