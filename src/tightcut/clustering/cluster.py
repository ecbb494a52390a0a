"""`cluster` and `tradeoff_path`: the functions behind the estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tightcut.clustering.align import align
from tightcut.clustering.arguments import ClusterOptions, as_generator, check_init, check_n_clusters, check_points
from tightcut.clustering.result import ClusteringResult
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut
from tightcut.relaxation.paper import PaperSettings, paper_bipartition, paper_partitions
from tightcut.relaxation.penalty_path import TOLERANCE, PathSettings
from tightcut.search.canonical import in_canonical_order
from tightcut.search.magnitudes import Scaled
from tightcut.search.options import Progress, SearchOptions
from tightcut.search.partition import partition
from tightcut.search.problem import Partition
from tightcut.search.soft import soft_front, soft_partition
from tightcut.search.two_way import admits_two_clusters, bipartition
from tightcut.utils.codes import renumber
from tightcut.utils.compiling import compiling_reported
from tightcut.utils.interruption import interruptible
from tightcut.utils.rounding import BELIEF_ROUNDING


@interruptible()
def cluster(
    graph: Graph,
    constraints: Constraints | None = None,
    n_clusters: int = 2,
    *,
    max_violations: float | str = 0,
    method: str = "search",
    effort: float = 1.0,
    influence: float = 0.0,
    init: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Progress | None = None,
    device: str = "cpu",
) -> ClusteringResult:
    """Find the clustering with the smallest normalized cut that respects the constraints.

    Parameters
    ----------
    graph : Graph
    constraints : Constraints, optional
    n_clusters : int, default=2
    max_violations : float or "fewest", default=0
        Units of belief that may be violated. 0 satisfies every constraint, whatever its belief, or raises
        InconsistentConstraintsError with the contradiction. "fewest" violates as little as possible, with a proof where
        the extra `tightcut[exact]` is installed; see `ClusteringResult.violated_belief_bound`. Sums of beliefs are
        compared up to 1e-9: pairs of belief 0.1 and 0.2 may both be violated where 0.3 is allowed.
    method : {"search", "paper"}, default="search"
        "search" looks for the smallest cut into all clusters at once. "paper" is the algorithm of the paper: RatioDCA
        with FISTA from random starts under an increasing penalty; for more than two clusters it bisects recursively,
        takes no `init` and may violate cannot-links.
    effort : float, default=1.0
        How long to search; 0 is a single quick start, 0.3 is quick, 5 is thorough.
    influence : float, default=0.0
        How strongly a cannot-link also counts for the neighbours of its two points. 0 returns the smallest cut, which
        may satisfy a few pairs by moving single points away from their neighbours, and leave two classes together; a
        value such as 1 prevents that. Every constraint is satisfied in either case.
    init : array-like of shape (n,), optional
        A clustering to improve. If it respects the constraints and `influence` is 0, the cut of the result is no
        larger. Clusters keep its numbers if these are non-negative integers.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    random_state : int, Generator, RandomState or None
        An int makes the result the same on every run.
    progress : callable, optional
        Called with (stage, done, total, best cut); see `tightcut.progress.ProgressLine`.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where graphs of more than 60,000 vertices are searched and the paper's algorithm runs FISTA. The search on the
        GPU is a different one, several times as fast; its labels differ from those of the CPU. "cuda" needs a GPU and
        the extra `tightcut[gpu]`; "auto" uses a GPU if there is one.

    Returns
    -------
    ClusteringResult
        Measured with the weights and beliefs given, even where the search had to raise some of them, tiny next to others.

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
    options = ClusterOptions(max_violations, method, effort, influence, n_jobs, device)
    check_n_clusters(n_clusters, graph)
    known = [] if init is None else [check_init(init, graph, n_clusters)]
    with compiling_reported(progress):
        result = _cluster(graph, constraints, n_clusters, options, as_generator(random_state), progress, known)
    numbers = np.asarray(0 if init is None else init)
    if known and numbers.dtype.kind in "iu" and numbers.min() >= 0:
        return replace(result, labels=align(numbers, result.labels))
    return result


@interruptible()
def tradeoff_path(
    graph: Graph,
    constraints: Constraints,
    *,
    effort: float = 1.0,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Progress | None = None,
    device: str = "cpu",
) -> list[ClusteringResult]:
    """The trade-off between cut and violated belief for two clusters, from the fewest violations to the most.

    Parameters are those of `cluster`. No clustering of the list has both a larger cut and more violated belief than
    another; the first violates nothing, if the constraints allow it, and the last is the unconstrained cut.
    """
    constraints = check_points(graph, constraints)
    problem = Scaled.of(graph, constraints)
    options = ClusterOptions(effort=effort, n_jobs=n_jobs, device=device).of_search(problem.progress(progress))
    rng = as_generator(random_state)

    def find(graph: Graph, constraints: Constraints, _: list[np.ndarray]) -> list[Partition]:
        return [Partition(side.astype(np.int64)) for side in soft_front(graph, constraints, rng, options)]

    with compiling_reported(progress):
        found = in_canonical_order(problem.graph, problem.constraints, [], find)
    return [_result(graph, constraints, own.labels) for own in found]


def solve(
    graph: Graph,
    constraints: Constraints,
    n_clusters: int,
    options: ClusterOptions,
    search: SearchOptions,
    rng: np.random.Generator,
    known: Sequence[np.ndarray] = (),
) -> Partition:
    """The search of `cluster`, and of the trial fits of `tightcut.selection`, for two clusters or more, in a `Scaled` problem.

    Vertices are in the order of the data.
    """
    limit, influence = options.limit, options.influence
    labels = [renumber(given) for given in known]
    if n_clusters == 2 and influence == 0 and (limit == 0 or (limit is None and admits_two_clusters(constraints))):
        sides = [given == given[0] for given in labels]
        return bipartition(graph, constraints, rng, search, known=sides)
    if limit == 0:
        return Partition(partition(graph, constraints, n_clusters, rng, search, known=labels, influence=influence))
    return soft_partition(graph, constraints, n_clusters, limit, rng, search, known=labels, influence=influence)


def _cluster(
    graph: Graph,
    constraints: Constraints,
    n_clusters: int,
    options: ClusterOptions,
    rng: np.random.Generator,
    progress: Progress | None,
    known: list[np.ndarray],
) -> ClusteringResult:
    """What `cluster` does once everything is checked."""
    if n_clusters == 1:
        return _one_cluster(graph, constraints, options.limit)
    problem = Scaled.of(graph, constraints)
    search = options.of_search(problem.progress(progress))
    if options.method == "paper":
        return _by_the_paper(graph, constraints, problem, n_clusters, options.limit or 0.0, rng, search, known)

    def find(graph: Graph, constraints: Constraints, known: list[np.ndarray]) -> list[Partition]:
        return [solve(graph, constraints, n_clusters, options, search, rng, known)]

    (found,) = in_canonical_order(problem.graph, problem.constraints, known, find)
    return _result(graph, constraints, found.labels, history=problem.cuts(found.history), bound=found.bound)


def _by_the_paper(
    graph: Graph,
    constraints: Constraints,
    problem: Scaled,
    k: int,
    limit: float,
    rng: np.random.Generator,
    options: SearchOptions,
    known: list[np.ndarray],
) -> ClusteringResult:
    settings = PaperSettings(options.effort, options.report)
    if options.backend is not None:
        settings = replace(settings, path=PathSettings(partial(options.backend.inner, tolerance=TOLERANCE)))
    if k == 2:
        sides = [labels == 1 for labels in known]
        found = paper_bipartition(problem.graph, problem.constraints, limit, rng, settings, sides)
        return _result(graph, constraints, found.side.astype(np.int64), history=problem.cuts(found.history))
    if given := f"max_violations={limit:g}" if limit > 0 else "init" if known else "":
        raise ValueError(
            f'{given} has no effect on method="paper" with more than two clusters: the recursion begins with all points '
            "together, and each split violates what the paper allows. Leave it out."
        )
    hierarchy = paper_partitions(problem.graph, problem.constraints, k, rng, settings)
    return _result(graph, constraints, hierarchy[-1], hierarchy=hierarchy)


def _one_cluster(graph: Graph, constraints: Constraints, limit: float | None) -> ClusteringResult:
    """All points together: every cannot-link is violated."""
    belief = float(constraints.cannot_link_belief.sum())
    if limit is not None and belief > (limit + BELIEF_ROUNDING if limit > 0 else 0):
        i, j = constraints.cannot_link[0].tolist()
        raise InconsistentConstraintsError([("cannot", i, j)], n_clusters=1, reason="clique")
    return _result(graph, constraints, np.zeros(graph.n_vertices, np.int64), bound=belief)


def _result(
    graph: Graph,
    constraints: Constraints,
    labels: np.ndarray,
    *,
    history: tuple[float, ...] | None = None,
    hierarchy: tuple[np.ndarray, ...] | None = None,
    bound: float | None = None,
) -> ClusteringResult:
    labels = renumber(labels)
    violations = constraints.violations(labels)
    bound = 0.0 if violations.belief == 0 else bound
    if hierarchy is not None:
        hierarchy = tuple(renumber(level) for level in hierarchy)
    return ClusteringResult(labels, normalized_cut(graph, labels), violations, bound, history, hierarchy)
