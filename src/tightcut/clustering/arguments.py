"""Check the arguments of `cluster`: settings, constraints, labels and seeds."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from tightcut.gpu.device import backend_of, resolve_device
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.pairs import to_array
from tightcut.problem.sources import missing
from tightcut.search.options import Progress, SearchOptions
from tightcut.utils.codes import renumber
from tightcut.utils.validation import check_choice

METHODS = ("search", "paper")
FEWEST = "fewest"
MOST_ARCS = np.iinfo(np.int32).max  # the search counts them with 32 bits


@dataclass(frozen=True)
class ClusterOptions:
    """How to cluster; every setting is checked here, and every combination that would be ignored is refused.

    The attributes are the keywords of `cluster`, and whether RatioDCA improves the best two clusters in the end.
    """

    max_violations: float | str = 0
    method: str = "search"
    effort: float = 1.0
    influence: float = 0.0
    n_jobs: int | None = None
    device: str = "cpu"
    polish: bool = True

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        if self.max_violations != FEWEST:
            check_number("max_violations", self.max_violations, f'a number >= 0, or "{FEWEST}"')
        check_number("effort", self.effort)
        check_number("influence", self.influence)
        resolve_device(self.device)
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None, a number of threads, or -1 for all cores; got {self.n_jobs!r}.")
        if self.method == "paper" and self.influence > 0:
            raise ValueError('influence belongs to method="search"; the paper\'s algorithm does not use it.')
        if self.method == "paper" and self.max_violations == FEWEST:
            raise ValueError(
                'max_violations="fewest" belongs to method="search"; give the paper\'s algorithm a number.'
            )

    @property
    def limit(self) -> float | None:
        """Units of belief that may be violated; None for as few as possible."""
        return None if isinstance(self.max_violations, str) else float(self.max_violations)

    def of_search(self, progress: Progress | None) -> SearchOptions:
        return SearchOptions(float(self.effort), self.n_jobs, progress, backend_of(self.device), self.polish)


def check_points(graph: Graph, constraints: Constraints | None) -> Constraints:
    if not isinstance(graph, Graph):
        raise TypeError(
            f"graph must be a Graph, not {type(graph).__name__}: Graph.from_affinity(similarities) makes one."
        )
    if graph.weights.nnz > MOST_ARCS:
        raise ValueError(
            f"The graph has {graph.n_edges:,} edges, and {MOST_ARCS // 2:,} is the most that is searched in memory; "
            "tightcut.cluster_graph clusters larger ones."
        )
    if constraints is None:
        return Constraints.from_pairs(graph.n_vertices)
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints must be Constraints, not {type(constraints).__name__}: "
            "Constraints.from_pairs(n_points, must_link, cannot_link) makes them from pairs."
        )
    if constraints.n_points != graph.n_vertices:
        raise ValueError(
            f"The constraints are on {constraints.n_points} points, the graph has {graph.n_vertices} vertices."
        )
    return constraints


def check_n_clusters(n_clusters: Any, graph: Graph) -> None:
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or int(n_clusters) < 1:
        raise ValueError(f"n_clusters must be a positive whole number; got {n_clusters!r}.")
    if int(n_clusters) > graph.n_vertices:
        raise ValueError(
            f"{n_clusters} non-empty clusters need at least that many points; there are {graph.n_vertices}."
        )


def check_number(name: str, value: Any, expected: str = "a number >= 0") -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name} must be {expected}; got {value!r}.")


def check_init(init: Any, graph: Graph, n_clusters: int) -> np.ndarray:
    labels, given = read_labels(init, graph, "init"), to_array(init)
    largest = max((value for value in given.tolist() if isinstance(value, int)), default=0)
    if largest >= 2**62:  # clusters of updates get further numbers
        raise ValueError(f"init holds the number {largest}, and clusters are numbered in 64 bits; use smaller numbers.")
    if labels.max() >= n_clusters:
        raise ValueError(f"init has {labels.max() + 1} clusters, more than n_clusters={n_clusters}.")
    return labels


def read_labels(labels: Any, graph: Graph, name: str = "labels") -> np.ndarray:
    """Labels of all vertices, numbered by first appearance."""
    values = to_array(labels)
    if values.shape != (graph.n_vertices,):
        raise ValueError(
            f"{name} must hold one label per point, shape ({graph.n_vertices},); got shape {values.shape}."
        )
    absent = missing(values)
    if absent.any():
        raise ValueError(f"{name} row {int(np.argmax(absent))} has no label; give every point a cluster.")
    return renumber(values)


def as_generator(random_state: Any) -> np.random.Generator:
    """A Generator from None, an int, a Generator, or a legacy RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if isinstance(random_state, Integral) and random_state < 0:
        raise ValueError(f"random_state must be a whole number >= 0, a generator or None; got {random_state}.")
    return np.random.default_rng(random_state)
