"""`make_index` chooses a tree, a blocked, a sparse or an approximate search; `TreeNeighbors` is the first of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors.approximate import ApproximateNeighbors
from tightcut.neighbors.distances import EMPTY, SAME, first_equals, rank_candidates, rank_others
from tightcut.neighbors.exact import BlockedNeighbors
from tightcut.neighbors.points import Points, alike_blocks, is_memory_mapped, unit_scale
from tightcut.neighbors.sparse import SparseNeighbors
from tightcut.neighbors.threads import STAGE, Progress
from tightcut.utils.parallel import workers

# Measured by `benchmarks.neighbours --crossover`: from 5,000 points on blocks are 1.5 to 5 times as fast as trees with ten
# features and more, and trees as much faster with five features or fewer. Below, both take a fraction of a second.
BLOCKED_FROM = 5000
TREE_FEATURES, TREE_FEATURES_OF_FEW = 5, 15
# Trees use all threads; blocks of 100,000 points with 8 features take 9.2 s with one and 8.3 s with 16, a tree 14.2 and 1.0 s.
MANY_THREADS, TREE_FEATURES_OF_MANY_THREADS = 8, 10
QUERY_ROWS = 1 << 16  # per report of progress
EXTRA = 2  # candidates beyond k, which show whether others are as far away as the last neighbour


class Neighbors(Protocol):
    """A neighbour search over points that it holds.

    Every search takes the points (float64, float32 or uint8, of size at most 1e150), and by keyword `n_jobs`, the number of
    threads as in joblib, on which the result does not depend, and `progress`, called with ("neighbours", done, total, nan).
    """

    def kneighbors(self, X: Points | None = None, n_neighbors: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Distances to the nearest points and their numbers, nearest first; of an exact search the smaller number among equals.

        Parameters
        ----------
        X : ndarray or csr_array of shape (m, n_features), optional
            The queries. By default the points themselves, none being its own neighbour, though an equal one may be.
        n_neighbors : int
            At most the number of points, less one if these are the queries.

        Returns
        -------
        distances : ndarray of float64, shape (m, n_neighbors)
        neighbors : ndarray of int64, shape (m, n_neighbors)
        """


class TreeNeighbors:
    """scipy's k-d tree, which measures by differences: exact however far from the origin the points lie."""

    def __init__(self, points: np.ndarray, *, n_jobs: int | None = None, progress: Progress | None = None) -> None:
        from scipy.spatial import KDTree

        self._points, self._progress = points, progress
        self._n_jobs, _ = workers(n_jobs)
        # A power of two changes no digit of a coordinate, and keeps squares from over- and underflowing.
        self._scale = unit_scale(points)
        self._index = KDTree(self._scaled(points))

    def kneighbors(self, X: np.ndarray | None = None, n_neighbors: int = 1) -> tuple[np.ndarray, np.ndarray]:
        own = X is None
        queries = self._points if X is None else X
        shape = len(queries), n_neighbors
        distances, neighbors = np.empty(shape), np.empty(shape, dtype=np.int64)
        count = min(n_neighbors + own + EXTRA, len(self._points))
        ties = [np.empty(0, dtype=np.intp)]
        starts = range(0, len(queries), QUERY_ROWS)
        for done, start in enumerate(starts):
            rows = slice(start, start + QUERY_ROWS)
            ranks = np.arange(1, count + 1)  # a list of one, too, has two dimensions
            _, found = self._index.query(self._scaled(queries[rows]), ranks, workers=self._n_jobs)
            lengths, ranked = rank_others(queries[rows], self._points, found, self._scale, start if own else None)
            distances[rows], neighbors[rows] = lengths[:, :n_neighbors], ranked[:, :n_neighbors]
            if count < len(self._points):
                ties.append(start + np.flatnonzero(lengths[:, n_neighbors - 1] * SAME >= lengths[:, -1]))
            if self._progress is not None and len(starts) > 1:
                self._progress(STAGE, done + 1, len(starts), float("nan"))
        self._break_ties(queries, np.concatenate(ties), distances[:, -1], neighbors, own=own)
        return distances, neighbors

    def _break_ties(
        self, queries: np.ndarray, rows: np.ndarray, last: np.ndarray, neighbors: np.ndarray, *, own: bool
    ) -> None:
        """Of the points that are as far away as the last neighbour take the first ones; the tree takes any."""
        clumped = rows[last[rows] == 0] if own else rows[:0]
        if len(clumped):
            solved, equals = first_equals(self._points, clumped, neighbors.shape[1])
            neighbors[solved] = equals
            rows = np.setdiff1d(rows, solved)
        reach = last[rows] * self._scale * SAME
        within = partial(self._index.query_ball_point, workers=self._n_jobs)
        counts = within(self._scaled(queries[rows]), reach, return_length=True) if len(rows) else rows
        for block in alike_blocks(counts, np.arange(len(rows))):
            inside = np.arange(counts[block[0]]) < counts[block, None]
            candidates = np.full(inside.shape, EMPTY, dtype=np.int64)
            candidates[inside] = np.concatenate(within(self._scaled(queries[rows[block]]), reach[block]))
            if own:
                candidates[candidates == rows[block, None]] = EMPTY
            ranked = rank_candidates(queries, rows[block], self._points, candidates, self._scale, neighbors.shape[1])
            neighbors[rows[block]] = ranked[1]

    def _scaled(self, points: np.ndarray) -> np.ndarray:
        return points.astype(np.float64, copy=False) * self._scale


def make_index(
    points: Points, neighbors: str = "auto", *, n_jobs: int | None = None, progress: Progress | None = None
) -> Neighbors:
    """An index over the points; see `tightcut.knn_affinity` for the choices."""
    if sp.issparse(points):
        if neighbors not in {"auto", "blocked"}:
            raise ValueError(f'neighbors="{neighbors}" needs a dense X; leave neighbors="auto" for a sparse one.')
        return SparseNeighbors(points, n_jobs=n_jobs, progress=progress)
    if neighbors == "auto":
        most = TREE_FEATURES if workers(n_jobs)[0] < MANY_THREADS else TREE_FEATURES_OF_MANY_THREADS
        most = TREE_FEATURES_OF_FEW if len(points) < BLOCKED_FROM else most
        neighbors = "tree" if points.shape[1] <= most and not is_memory_mapped(points) else "blocked"
    searches: dict[str, Callable[..., Neighbors]] = {
        "tree": TreeNeighbors,
        "blocked": BlockedNeighbors,
        "approximate": ApproximateNeighbors,
    }
    return searches[neighbors](points, n_jobs=n_jobs, progress=progress)
