"""Preparation before the first question: the graph and its cuts, fine and coarse."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightcut.ask.columns import Teacher
from tightcut.ask.spreading import Spreading

FINE = 50  # parts: small parts of a small cut are nearly pure
COARSE = 20  # parts, where the number of clusters is not given
EFFORT = 0.3
LARGE = 4_000_000  # values; above it there is one graph only
ALIKE = 1.5  # columns whose deviations differ by less are left as they are


@dataclass(frozen=True, eq=False)
class Landscape:
    """The graph of the points and its cuts, before any answer.

    Parameters
    ----------
    spreadings : tuple of Spreading
        Solve for beliefs over the graph and its fine parts: for the points as they are, and standardised.
    teacher : Teacher or None
        Learns from the columns.
    cuts : list of int ndarray of shape (n,)
        The plain cut of each graph: what is said where nothing is known.
    """

    spreadings: tuple[Spreading, ...]
    teacher: Teacher | None
    cuts: list[np.ndarray]

    @property
    def spreading(self) -> Spreading:
        return self.spreadings[0]

    @property
    def n_points(self) -> int:
        return len(self.cuts[0])


def survey(X: Any, n_clusters: int | None, affinity: str, n_neighbors: int, seed: int, n_jobs: int | None) -> Landscape:
    """Build the graph and cut it, finely and coarsely.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0]], 30, axis=0)
    >>> np.bincount(survey(points, 2, "knn", 7, 0, 1).cuts[0]).tolist()
    [30, 30]
    """
    if affinity == "precomputed":
        spreading, coarse = _cut(X, n_clusters, seed, n_jobs)
        return Landscape((spreading,), None, [coarse])
    views = [X]
    scaled = standardized(X)
    if scaled is not None:
        views.append(scaled)
    cuts = [_cut(_affinity(view, n_neighbors, n_jobs), n_clusters, seed, n_jobs) for view in views]
    return Landscape(tuple(spreading for spreading, _ in cuts), Teacher(X, seed), [coarse for _, coarse in cuts])


def standardized(X: np.ndarray) -> np.ndarray | None:
    """The columns with mean 0 and variance 1; None if that changes little or costs much."""
    deviation = X.std(axis=0)
    varying = deviation[deviation > 0]
    if X.size > LARGE or not len(varying) or varying.max() < ALIKE * varying.min():
        return None
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)


def _affinity(X: np.ndarray, n_neighbors: int, n_jobs: int | None) -> Any:
    from tightcut import knn_affinity

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # bridges between components are harmless here
        return knn_affinity(X, n_neighbors, symmetrize="mean", n_jobs=n_jobs)


def _cut(affinity: Any, n_clusters: int | None, seed: int, n_jobs: int | None) -> tuple[Spreading, np.ndarray]:
    """Beliefs over the graph and its fine parts, and its coarse parts."""
    from tightcut import Graph, cluster

    graph = Graph.from_affinity(affinity)
    n = graph.n_vertices

    def cut(parts: int) -> np.ndarray:
        if parts >= n:
            return np.arange(n)
        labels = cluster(graph, None, parts, effort=EFFORT, random_state=seed, n_jobs=n_jobs).labels
        return np.unique(labels, return_inverse=True)[1]

    fine = max(2 * (n_clusters or 1), min(FINE, n // 5), 1)
    coarse = n_clusters or max(1, min(COARSE, n // 10))
    return Spreading(graph.weights, cut(fine)), cut(coarse)
