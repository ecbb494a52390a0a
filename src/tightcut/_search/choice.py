"""Which search for which points."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from tightcut._search.approximate import ApproximateNeighbors
from tightcut._search.blocked import BlockedNeighbors, is_memory_mapped
from tightcut._search.distances import pair_distances, unit_scale
from tightcut._search.threads import Progress

CHOICES = ("auto", "sklearn", "blocked", "approximate")

# Measured by `benchmarks.neighbours --crossover`: below this many points scikit-learn takes a second at most; from then
# on blocks are 1.5 to 5 times as fast with ten features and more, and no slower at a million points in the plane.
BLOCKED_FROM = 5000


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


class SmallNeighbors:
    """scikit-learn's trees (up to 15 features) and brute force, with distances by differences.

    scikit-learn expands the square above 15 features, which puts exact duplicates at a distance of about 1e-8 times
    their norm; a difference puts them at 0.
    """

    def __init__(self, points: np.ndarray, n_jobs: int | None = None) -> None:
        from sklearn.neighbors import NearestNeighbors

        self._points = points
        self._index = NearestNeighbors(n_jobs=n_jobs).fit(points)

    def kneighbors(self, X: np.ndarray | None = None, n_neighbors: int = 1) -> tuple[np.ndarray, np.ndarray]:
        numbers = self._index.kneighbors(X, n_neighbors, return_distance=False)
        distances = pair_distances(self._points if X is None else X, self._points, numbers, unit_scale(self._points))
        order = np.argsort(distances, axis=1, kind="stable")
        return np.take_along_axis(distances, order, axis=1), np.take_along_axis(numbers, order, axis=1)


def make_index(
    points: np.ndarray, neighbors: str = "auto", *, n_jobs: int | None = None, progress: Progress | None = None
) -> Neighbors:
    """An index over the points; see `tightcut.knn_affinity` for the choices."""
    check_choice(neighbors)
    if neighbors == "auto":
        small = len(points) < BLOCKED_FROM and not is_memory_mapped(points)
        neighbors = "sklearn" if small else "blocked"
    if neighbors == "sklearn":
        return SmallNeighbors(points, n_jobs)
    search = ApproximateNeighbors if neighbors == "approximate" else BlockedNeighbors
    return search(points, n_jobs=n_jobs, progress=progress)


def check_choice(neighbors: Any) -> None:
    if not isinstance(neighbors, str) or neighbors not in CHOICES:
        raise ValueError(f"neighbors must be one of {', '.join(map(repr, CHOICES))}; got {neighbors!r}.")
