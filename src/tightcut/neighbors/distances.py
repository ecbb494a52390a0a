"""Exact distances in float64, computed from differences so that duplicates have distance 0.

Half squared distances are computed in scaled coordinates (see `tightcut.neighbors.points.unit_scale`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors.points import Points

SAME = 1 + 1e-12  # more than two sums of the same squares can differ by, relatively
EMPTY = np.iinfo(np.int32).max  # in the place of a candidate that has not been found


def pair_half_squares(
    queries: Points, rows: np.ndarray, points: Points, candidates: np.ndarray, scale: float
) -> np.ndarray:
    """Half the squared distances from queries[rows[i]] to each of points[candidates[i]]."""
    from tightcut.kernels import neighbors as kernels

    out = np.empty(candidates.shape)
    if sp.issparse(points):
        kernels.sparse_pair_half_squares(csr_parts(queries, scale), rows, csr_parts(points, scale), candidates, out)
    else:
        kernels.pair_half_squares(np.asarray(queries), rows, np.asarray(points), candidates, scale, out)
    return out


def cross_distances(queries: Points, points: Points, scale: float) -> np.ndarray:
    """All distances between two sets, scaled. Time and memory O(n m); callers pass blocks."""
    from scipy.spatial.distance import cdist

    if sp.issparse(points):
        everything = np.broadcast_to(np.arange(points.shape[0]), (queries.shape[0], points.shape[0]))
        return np.sqrt(2 * pair_half_squares(queries, np.arange(queries.shape[0]), points, everything, scale))
    return cdist(*(np.multiply(some, scale, dtype=np.float64) for some in (queries, points)))


def rank_candidates(
    queries: Points, rows: np.ndarray, points: Points, candidates: np.ndarray, scale: float, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Half squared distances and neighbours of the k nearest candidates; the smaller neighbour first among equals."""
    candidates = np.sort(candidates.astype(np.int64), axis=1)
    missing = candidates == EMPTY
    half_squares = pair_half_squares(queries, rows, points, np.where(missing, 0, candidates), scale)
    half_squares[missing] = np.inf
    order = np.argsort(half_squares, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(half_squares, order, axis=1), np.take_along_axis(candidates, order, axis=1)


def rank_others(
    queries: Points, points: Points, candidates: np.ndarray, scale: float, first: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Distances and neighbours from lists of candidates, nearest first.

    Where the queries are the points from `first` on, the lists hold one more than is asked for: the point itself is
    left out, or the farthest, where equal points have displaced it.
    """
    rows = np.arange(queries.shape[0])
    k = candidates.shape[1]
    if first is not None:
        own = candidates == (first + rows)[:, None]
        candidates, k = np.where(own, EMPTY, candidates), k - 1
    half_squares, neighbors = rank_candidates(queries, rows, points, candidates, scale, k)
    return np.sqrt(2 * half_squares) / scale, neighbors


def first_equals(points: np.ndarray, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Those of the rows, in ascending order, that equal at least k others of them, and the first k equals of each."""
    _, group = np.unique(points[rows], axis=0, return_inverse=True)
    sizes = np.bincount(group)
    many = sizes[group] > k
    members = rows[np.argsort(group, kind="stable")]
    starts = (np.cumsum(sizes) - sizes)[group[many]]
    first, equals = rows[many], members[starts[:, None] + np.arange(k + 1)]
    left_out = equals == first[:, None]
    left_out[:, -1] |= ~left_out.any(axis=1)
    return first, equals[~left_out].reshape(-1, k)


def csr_parts(matrix: Any, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr, indices and scaled data of a sparse matrix in the types for which kernels are compiled; all copies."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float64) * scale
