"""What is prepared before the first question: the graph and its cuts, fine and coarse."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightcut.ask.beliefs import Spreading

FINE = 50  # parts: small parts of a small cut are nearly pure
COARSE = 20  # parts, where the number of clusters is not told
EFFORT = 0.3


@dataclass(frozen=True, eq=False)
class Landscape:
    """The graph between the points and what its cuts say without any answer.

    Parameters
    ----------
    spreading : Spreading
        Solves for beliefs over the graph and its fine parts.
    coarse : int ndarray of shape (n,)
        The plain cut: what is said where nothing is known.
    """

    spreading: Spreading
    coarse: np.ndarray

    @property
    def n_points(self) -> int:
        return len(self.coarse)


def survey(X: Any, n_clusters: int | None, affinity: str, n_neighbors: int, seed: int, n_jobs: int | None) -> Landscape:
    """Build the graph and cut it, finely and coarsely.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0]], 30, axis=0)
    >>> np.bincount(survey(points, 2, "knn", 7, 0, 1).coarse).tolist()
    [30, 30]
    """
    from tightcut import Graph, cluster, knn_affinity

    if affinity == "knn":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # bridges between components do no harm here
            X = knn_affinity(X, n_neighbors, symmetrize="mean", n_jobs=n_jobs)
    graph = Graph.from_affinity(X)
    n = graph.n_vertices

    def cut(parts: int) -> np.ndarray:
        if parts >= n:
            return np.arange(n)
        labels = cluster(graph, None, parts, effort=EFFORT, random_state=seed, n_jobs=n_jobs).labels
        return np.unique(labels, return_inverse=True)[1]

    fine = max(2 * (n_clusters or 1), min(FINE, n // 5), 1)
    coarse = n_clusters or max(1, min(COARSE, n // 10))
    return Landscape(Spreading(graph.weights, cut(fine)), cut(coarse))
