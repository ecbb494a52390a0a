"""`cluster`: the function behind the estimator, for those who have a graph and constraints already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tightcut._support.choices import check_choice
from tightcut._support.interruption import interruptible
from tightcut.constraints import Constraints
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.gpu.device import resolve_device
from tightcut.graph import Graph
from tightcut.relaxation.inner import inner_solver as find_inner_solver
from tightcut.relaxation.inner import on_device
from tightcut.relaxation.objective import normalized_cut
from tightcut.result import ClusteringResult, number_by_appearance
from tightcut.search.many_clusters import hard_partition, soft_partition
from tightcut.search.recursive import recursive_partitions
from tightcut.search.search import Progress, SearchOptions
from tightcut.search.spread import spread_partition
from tightcut.search.tradeoff import TradeoffPoint, soft_bipartition, tradeoff
from tightcut.search.two_clusters import admits_two_clusters, hard_bipartition

STRATEGIES = ("direct", "recursive", "spread")


@dataclass(frozen=True)
class Limits:
    """What may be violated: up to `max_violations` units of belief, and what to do if that cannot be met."""

    max_violations: float = 0
    on_inconsistent: str = "raise"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.max_violations) and self.max_violations >= 0):
            raise ValueError(f"max_violations must be a number >= 0; got {self.max_violations!r}.")
        if self.on_inconsistent not in ("raise", "soft"):
            raise ValueError(f'on_inconsistent must be "raise" or "soft"; got {self.on_inconsistent!r}.')


@interruptible()
def cluster(
    graph: Graph,
    constraints: Constraints | None = None,
    n_clusters: int = 2,
    *,
    max_violations: float = 0,
    on_inconsistent: str = "raise",
    inner_solver: str = "flow",
    effort: float = 1.0,
    n_init: int = 8,
    n_jobs: int | None = None,
    random_state: Any = None,
    init: Any = None,
    progress: Progress | None = None,
    strategy: str = "direct",
    influence: float = 0.0,
    device: str = "cpu",
) -> ClusteringResult:
    """Find the clustering with the smallest normalized cut that respects the constraints.

    Parameters
    ----------
    graph : Graph
    constraints : Constraints, optional
    n_clusters : int, default=2
    max_violations : float, default=0
        Units of belief that may be violated. 0 means that every constraint is satisfied, whatever its belief.
    on_inconsistent : {"raise", "soft"}, default="raise"
        What to do with constraints that cannot be met: raise InconsistentConstraintsError with the contradiction,
        or return the clustering with the fewest violations found.
    inner_solver : {"flow", "fista"}, default="flow"
        Exact minimum cuts, or the paper's first-order method.
    effort : float, default=1.0
        How long to search; 0.3 is quick, 5 is thorough.
    n_init : int, default=8
        Independent random starts; on more than 100,000 points at most so many.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    random_state : int, Generator, RandomState or None
        An int makes the result the same on every run.
    init : array-like of shape (n,), optional
        A clustering to improve: the result is at least as good, if it respects the constraints.
    progress : callable, optional
        Called with (stage, done, total, best cut); see `tightcut.progress.ProgressLine`.
    strategy : {"direct", "recursive", "spread"}, default="direct"
        "direct" searches for the smallest cut into all clusters at once. "recursive" splits in two again and again, as
        in the paper, and may violate constraints. "spread" starts from points that must be in different clusters,
        spreads them over the graph and improves the cut only locally: with labels of a few points of each class, the
        clusters stay near those labels, where the smallest cut may not.
    influence : float, default=0.0
        How strongly a cannot-link also speaks for the neighbours of its two points. 0 returns the smallest cut. Few
        pairs go further with 1: the smallest cut may obey them by exiling single points from their neighbours, and
        leave two classes together. Every constraint is satisfied with either.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where large graphs are coarsened and `inner_solver="fista"` runs; all else runs on the CPU. "cuda" needs a GPU
        and the extra `tightcut[gpu]`; "auto" takes the GPU where there is one.

    Returns
    -------
    ClusteringResult

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Constraints, Graph, cluster
    >>> ring = Graph.from_affinity(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    >>> found = cluster(ring, Constraints.from_pairs(6, [(0, 1)], [(1, 2)]), random_state=0)
    >>> found.labels.tolist(), round(found.cut, 6)
    ([0, 0, 1, 1, 1, 0], 0.666667)
    """
    constraints = check_points(graph, constraints)
    limits = Limits(max_violations, on_inconsistent)
    options = check_options(effort, n_init, n_jobs, progress, device)
    inner_solver = on_device(inner_solver, options.device)
    find_inner_solver(inner_solver)
    rng = as_generator(random_state)
    check_n_clusters(n_clusters, graph)
    check_choice("strategy", strategy, STRATEGIES)
    if not (np.isfinite(influence) and influence >= 0):
        raise ValueError(f"influence must be a number >= 0; got {influence!r}.")
    if influence > 0 and strategy != "direct":
        raise ValueError(f'influence belongs to strategy="direct"; strategy={strategy!r} has no use for it.')
    known = [] if init is None else [check_init(init, graph, n_clusters)]
    hard = limits.max_violations == 0 and limits.on_inconsistent == "raise"
    if n_clusters == 1:
        return _one_cluster(graph, constraints, limits)
    if strategy == "recursive":
        links = constraints.without_conflicts() if limits.on_inconsistent == "soft" else constraints
        hierarchy = recursive_partitions(graph, links, n_clusters, rng, options, inner=inner_solver)
        return _result(graph, constraints, hierarchy[-1], hierarchy=hierarchy)
    if strategy == "spread":
        if known or not hard:
            raise ValueError('strategy="spread" satisfies every constraint and takes no init and no max_violations.')
        return _result(graph, constraints, spread_partition(graph, constraints, n_clusters, rng, options))
    if n_clusters > 2 or influence > 0:
        if hard:
            labels = hard_partition(graph, constraints, n_clusters, rng, options, known=known, influence=influence)
        else:
            labels = soft_partition(
                graph,
                constraints,
                n_clusters,
                limits.max_violations,
                rng,
                options,
                known=known,
                influence=influence,
                fewest=limits.on_inconsistent == "soft",
            )
        return _result(graph, constraints, labels)
    sides = [labels == labels[0] for labels in known]
    if hard or (limits.max_violations == 0 and admits_two_clusters(constraints)):
        found = hard_bipartition(graph, constraints, rng, options, known=sides, inner=inner_solver)
    else:
        found = soft_bipartition(
            graph,
            constraints,
            limits.max_violations,
            rng,
            options,
            known=sides,
            inner=inner_solver,
            fewest=limits.on_inconsistent == "soft",
        )
    return _result(graph, constraints, found.side.astype(np.int64), history=found.history)


@interruptible()
def tradeoff_path(
    graph: Graph,
    constraints: Constraints,
    *,
    inner_solver: str = "flow",
    effort: float = 1.0,
    n_init: int = 8,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Progress | None = None,
    device: str = "cpu",
) -> list[TradeoffPoint]:
    """The whole trade-off between cut and violated belief for two clusters, fewest violations first.

    Parameters are those of `cluster`. No point of the list has both a larger cut and more violated belief than
    another; the first violates nothing, if the constraints allow it, and the last is the unconstrained cut.
    """
    constraints = check_points(graph, constraints)
    options = check_options(effort, n_init, n_jobs, progress, device)
    inner_solver = on_device(inner_solver, options.device)
    find_inner_solver(inner_solver)
    return tradeoff(graph, constraints, as_generator(random_state), options, inner=inner_solver)


def check_points(graph: Graph, constraints: Constraints | None) -> Constraints:
    if not isinstance(graph, Graph):
        raise TypeError(
            f"graph must be a Graph, not {type(graph).__name__}: Graph.from_affinity(similarities) makes one."
        )
    if constraints is None:
        return Constraints.from_pairs(graph.n_vertices)
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints must be Constraints, not {type(constraints).__name__}: "
            "Constraints.from_pairs(n_points, must_link, cannot_link) makes them of pairs."
        )
    if constraints.n_points != graph.n_vertices:
        raise ValueError(
            f"The constraints are on {constraints.n_points} points, the graph has {graph.n_vertices} vertices."
        )
    return constraints


def check_n_clusters(n_clusters: Any, graph: Graph) -> None:
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, (int, np.integer)) or n_clusters < 1:
        raise ValueError(f"n_clusters must be a positive whole number; got {n_clusters!r}.")
    if n_clusters > graph.n_vertices:
        raise ValueError(
            f"{n_clusters} non-empty clusters need at least that many points; there are {graph.n_vertices}."
        )


def check_options(
    effort: float, n_init: int, n_jobs: int | None, progress: Progress | None, device: str
) -> SearchOptions:
    if not (np.isfinite(effort) and effort >= 0):
        raise ValueError(f"effort must be a number >= 0; got {effort!r}.")
    if int(n_init) != n_init or n_init < 1:
        raise ValueError(f"n_init must be a whole number >= 1; got {n_init!r}.")
    return SearchOptions(float(effort), int(n_init), n_jobs, progress, resolve_device(device))


def check_init(init: Any, graph: Graph, n_clusters: int) -> np.ndarray:
    labels = np.asarray(init)
    if labels.shape != (graph.n_vertices,):
        raise ValueError(f"init must hold one label per point, shape ({graph.n_vertices},); got shape {labels.shape}.")
    labels = number_by_appearance(labels)
    if labels.max() >= n_clusters:
        raise ValueError(f"init has {labels.max() + 1} clusters, more than n_clusters={n_clusters}.")
    return labels


def as_generator(random_state: Any) -> np.random.Generator:
    """A Generator from None, an int, a Generator, or a legacy RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


def _one_cluster(graph: Graph, constraints: Constraints, limits: Limits) -> ClusteringResult:
    """All points together: every cannot-link is violated."""
    if limits.on_inconsistent == "raise" and constraints.cannot_link_weight.sum() > limits.max_violations:
        i, j = constraints.cannot_link[0].tolist()
        raise InconsistentConstraintsError(
            [("cannot", i, j)],
            f"One cluster cannot satisfy the cannot-link between {i} and {j}; ask for more clusters.",
        )
    return _result(graph, constraints, np.zeros(graph.n_vertices, np.int64))


def _result(
    graph: Graph,
    constraints: Constraints,
    labels: np.ndarray,
    *,
    history: tuple[float, ...] = (),
    hierarchy: tuple[np.ndarray, ...] = (),
) -> ClusteringResult:
    labels = number_by_appearance(labels)
    hierarchy = tuple(number_by_appearance(level) for level in hierarchy)
    return ClusteringResult(labels, normalized_cut(graph, labels), constraints.violations(labels), history, hierarchy)
