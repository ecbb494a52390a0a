"""Which search for which points."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tightcut._support.choices import check_choice
from tightcut.neighbors.approximate import ApproximateNeighbors
from tightcut.neighbors.blocked import BlockedNeighbors, is_memory_mapped
from tightcut.neighbors.distances import pair_distances, unit_scale
from tightcut.neighbors.threads import STAGE, Progress

CHOICES = ("auto", "tree", "blocked", "approximate")

# Measured by `benchmarks.neighbours --crossover`: from 5,000 points on blocks are 1.5 to 5 times as fast as trees with ten
# features and more, and trees as much faster with five features or fewer. Below, both take a fraction of a second.
BLOCKED_FROM = 5000
TREE_FEATURES, TREE_FEATURES_OF_FEW = 5, 15
QUERY_ROWS = 1 << 16  # per report of progress


class Neighbors(Protocol):
    """What a neighbour search offers."""

    def kneighbors(self, X: np.ndarray | None = None, n_neighbors: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Distances to the nearest points and their numbers, nearest first.

        Parameters
        ----------
        X : ndarray of shape (m, n_features), optional
            The queries. By default the points themselves, none being its own neighbour.
        n_neighbors : int
        """


class TreeNeighbors:
    """scikit-learn's k-d tree, which measures by differences: exact however far from the origin the points lie.

    (Its brute force expands the square instead, and loses every distance below about 1e-8 of the largest norm.)
    """

    def __init__(self, points: np.ndarray, n_jobs: int | None = None, progress: Progress | None = None) -> None:
        from sklearn.neighbors import NearestNeighbors

        self._points, self._progress = points, progress
        # A power of two changes no digit of a coordinate, and keeps squares from over- and underflowing.
        self._scale = unit_scale(points)
        scaled = points.astype(np.float64, copy=False) * self._scale
        self._index = NearestNeighbors(algorithm="kd_tree", n_jobs=n_jobs).fit(scaled)

    def kneighbors(self, X: np.ndarray | None = None, n_neighbors: int = 1) -> tuple[np.ndarray, np.ndarray]:
        queries = self._points if X is None else X
        distances = np.empty((len(queries), n_neighbors))
        numbers = np.empty((len(queries), n_neighbors), np.intp)
        starts = range(0, len(queries), QUERY_ROWS)
        for done, start in enumerate(starts):
            rows = slice(start, start + QUERY_ROWS)
            asked = queries[rows]
            scaled = asked.astype(np.float64, copy=False) * self._scale
            found = self._index.kneighbors(scaled, n_neighbors + (X is None), return_distance=False)
            if X is None:
                found = _without_own(found, start)
            lengths = pair_distances(asked, self._points, found, self._scale)
            order = np.argsort(lengths, axis=1, kind="stable")
            distances[rows] = np.take_along_axis(lengths, order, axis=1)
            numbers[rows] = np.take_along_axis(found, order, axis=1)
            if self._progress is not None and len(starts) > 1:
                self._progress(STAGE, done + 1, len(starts), float("nan"))
        return distances, numbers


def _without_own(found: np.ndarray, first: int) -> np.ndarray:
    """Lists of neighbours less the point itself; less the nearest, where equal points have displaced it."""
    own = found == np.arange(first, first + len(found))[:, None]
    own[~own.any(axis=1), 0] = True
    return found[~own].reshape(len(found), -1)


def make_index(
    points: np.ndarray, neighbors: str = "auto", *, n_jobs: int | None = None, progress: Progress | None = None
) -> Neighbors:
    """An index over the points; see `tightcut.knn_affinity` for the choices."""
    check_choice("neighbors", neighbors, CHOICES)
    if neighbors == "auto":
        suits = points.shape[1] <= (TREE_FEATURES_OF_FEW if len(points) < BLOCKED_FROM else TREE_FEATURES)
        neighbors = "tree" if suits and not is_memory_mapped(points) else "blocked"
    if neighbors == "tree":
        return TreeNeighbors(points, n_jobs, progress)
    search = ApproximateNeighbors if neighbors == "approximate" else BlockedNeighbors
    return search(points, n_jobs=n_jobs, progress=progress)
