"""Exact nearest neighbours among sparse rows, such as those of tf-idf, by an inverted index.

1. Products of a query with all points, from the lists of the points in which each of its features occurs.
2. From these, half the squared distances with a bound on their rounding error. Points whose lower bound exceeds the k-th
   smallest upper bound are ruled out.
3. The distances of those that remain, wherever cancellation has cost digits, by differences in float64.

Time O(sum over features of the squared number of points that have it, + n^2) for all points against each other. Memory
beyond the points: two copies of their entries, and per thread one number per point. Nothing is made dense.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors.distances import csr_parts
from tightcut.neighbors.points import unit_scale
from tightcut.neighbors.threads import Progress, Workers

ROWS = 256  # queries per task


class SparseNeighbors:
    """A search over sparse rows in canonical form (see `tightcut.neighbors.tree.Neighbors`)."""

    def __init__(self, points: sp.csr_array, *, n_jobs: int | None = None, progress: Progress | None = None) -> None:
        self._scale = unit_scale(points)
        self._points = csr_parts(points, self._scale)
        self._postings = csr_parts(sp.csr_array(points.T), self._scale)
        self._half_norms = _half_norms(self._points)
        self._workers = Workers(n_jobs, progress)

    def kneighbors(self, X: sp.csr_array | None = None, n_neighbors: int = 1) -> tuple[np.ndarray, np.ndarray]:
        from tightcut.kernels.neighbors import sparse_nearest

        own = X is None
        queries = self._points if X is None else csr_parts(X, self._scale)
        half_norms = self._half_norms if own else _half_norms(queries)
        n = len(half_norms)
        half_squares, neighbors = np.empty((n, n_neighbors)), np.zeros((n, n_neighbors), dtype=np.int64)
        # A product of m terms and two half norms are each wrong by at most m units of roundoff, relative to the sum of
        # the half norms: |<x, y>| <= |x|^2 / 2 + |y|^2 / 2. Sums of them add a few units.
        n_terms = max(int(np.diff(starts).max()) for starts in (queries[0], self._points[0]))
        error = (n_terms + 8) * np.finfo(np.float64).eps
        sides = queries, half_norms, self._points, self._half_norms, self._postings

        def search(start: int) -> None:
            sparse_nearest(*sides, start, min(start + ROWS, n), own, error, half_squares, neighbors)

        with self._workers.expecting(-(-n // ROWS)):
            self._workers.map(search, range(0, n, ROWS))
        order = np.lexsort((neighbors, half_squares), axis=1)
        half_squares = np.take_along_axis(half_squares, order, axis=1)
        return np.sqrt(2 * half_squares) / self._scale, np.take_along_axis(neighbors, order, axis=1)


def _half_norms(rows: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    """Half the squared norm of each sparse row."""
    starts, _, values = rows
    lengths = np.diff(starts)
    return np.bincount(np.repeat(np.arange(len(lengths)), lengths), weights=values**2, minlength=len(lengths)) / 2
