"""Preparation before the first question: the graph and its cuts, fine and coarse."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tightcut.ask.beliefs.feature_models import MANY_VALUES, PredictorCache
from tightcut.ask.beliefs.harmonic import HarmonicField
from tightcut.neighbors.points import apply_metric
from tightcut.selection.scale import SCALES, fit_scale
from tightcut.utils.arrays import standardized
from tightcut.utils.validation import check_choice

if TYPE_CHECKING:
    from tightcut.problem.graph import Graph

# Chosen on digits, USPS, COIL-20 and letter.
FINE = 50  # parts: small parts of a small cut are nearly pure
COARSE = 20  # parts, where the number of clusters is not given
EFFORT = 0.3
ALIKE = 1.5  # columns whose deviations differ by less are left as they are


@dataclass(frozen=True, eq=False)
class GraphModel:
    """One way to look at the points, and what follows from it before any answer.

    Parameters
    ----------
    graph : Graph
        In it, questions are looked for.
    spreading : HarmonicField
        Solves for beliefs, drawn to the fine parts of the graph.
    coarse : int ndarray of shape (n,)
        The plain cut of the graph: what is said where nothing is known.
    """

    graph: Graph
    spreading: HarmonicField
    coarse: np.ndarray


@dataclass(frozen=True, eq=False)
class Setup:
    """The points before any answer.

    Parameters
    ----------
    views : tuple of GraphModel
        The points as they are, and standardised.
    predictors : PredictorCache or None
        Learns from the columns.
    """

    views: tuple[GraphModel, ...]
    predictors: PredictorCache | None

    @property
    def n_points(self) -> int:
        return self.views[0].graph.n_vertices

    @property
    def hub(self) -> int:
        """The point of the largest degree."""
        return int(self.views[0].graph.vertex_weights.argmax())


def set_up(
    X: Any,
    n_clusters: int | None,
    affinity: str,
    n_neighbors: int,
    seed: int,
    n_jobs: int | None,
    scale: str = "auto",
    metric: str = "euclidean",
) -> Setup:
    """Build the graph and cut it, finely and coarsely; with "auto", points also with standardised columns.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0]], 30, axis=0)
    >>> np.bincount(set_up(points, 2, "knn", 7, 0, 1).views[0].coarse).tolist()
    [30, 30]
    """
    check_choice("scale", scale, ("auto", *SCALES))
    check_choice("metric", metric, ("euclidean", "cosine"))
    if affinity == "precomputed":
        if (scale, metric) != ("auto", "euclidean"):
            raise ValueError("Similarities are taken as they are; leave out scale and metric.")
        return Setup((_view(X, None, n_clusters, seed, n_jobs),), None)
    X = apply_metric(X if scale == "auto" else fit_scale(X, scale).transform(X), metric)
    scaled = _standardized(X) if scale == "auto" else None
    views = [
        _view(*_affinities(points, n_neighbors, n_jobs), n_clusters, seed, n_jobs)
        for points in (X, scaled)
        if points is not None
    ]
    return Setup(tuple(views), PredictorCache(X, seed))


def _standardized(X: np.ndarray) -> np.ndarray | None:
    """The columns with mean 0 and variance 1; None if that changes little or costs much."""
    deviation = X.std(axis=0)
    varying = deviation[deviation > 0]
    if X.size > MANY_VALUES or not len(varying) or varying.max() < ALIKE * varying.min():
        return None
    return standardized(X)


def _affinities(X: np.ndarray, n_neighbors: int, n_jobs: int | None) -> tuple[Any, Any]:
    """Similarities to cut, and those over which beliefs spread.

    Beliefs spread better where a weight depends on the density at both ends: points of a sparse class no longer follow a
    dense one nearby. In a cut the same weights separate single outliers.
    """
    from tightcut.neighbors import KnnSettings, check_points, find_neighbors

    settings = KnnSettings(n_neighbors, symmetrize="mean", n_jobs=n_jobs)
    lists = find_neighbors(check_points(X), settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # bridges between components are harmless here
        return lists.graph(settings).affinity, lists.scaled_at_both_ends()


def _view(affinity: Any, spread: Any | None, n_clusters: int | None, seed: int, n_jobs: int | None) -> GraphModel:
    """A graph with its cuts, fine and coarse; beliefs spread over another one, if it is given."""
    from tightcut import Graph, cluster

    graph = Graph.from_affinity(affinity)
    n = graph.n_vertices
    weights = graph.weights if spread is None else Graph.from_affinity(spread).weights

    def cut(parts: int) -> np.ndarray:
        if parts >= n:
            return np.arange(n)
        labels = cluster(graph, None, parts, effort=EFFORT, random_state=seed, n_jobs=n_jobs).labels
        return np.unique(labels, return_inverse=True)[1]

    fine = max(2 * (n_clusters or 1), min(FINE, n // 5), 1)
    coarse = n_clusters or max(1, min(COARSE, n // 10))
    return GraphModel(graph, HarmonicField(weights, cut(fine)), cut(coarse))
