"""Two clusters with some constraints violated: the trade-off between cut and violated belief.

A violated pair costs the penalty, which makes it one more coupling of a signed graph: the same search minimises the
penalised cut. Sweeping the penalty traces the trade-off; every partition met on the way is then improved with the
pairs it satisfies held fixed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from tightcut.constraints import Constraints
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.graph import Graph, without_diagonal
from tightcut.relaxation.objective import normalized_cut, penalty_bound
from tightcut.relaxation.penalty_path import penalty_path
from tightcut.search.multilevel import refine
from tightcut.search.polish import polish
from tightcut.search.release import release_pairs, satisfied
from tightcut.search.search import SearchOptions, search
from tightcut.search.signed_graph import SignedGraph
from tightcut.search.two_clusters import (
    Bipartition,
    admits_two_clusters,
    hard_bipartition,
    reduce_to_units,
    vote,
)

QUICK = SearchOptions(effort=0, n_init=2, n_jobs=1)
HALVINGS = 12  # penalties from the certified one down to a 4096th of it


@dataclass(frozen=True, eq=False)
class TradeoffPoint:
    """A partition such that none found has both a smaller cut and less violated belief.

    Attributes
    ----------
    side : ndarray of bool
    cut : float
    violated_belief : float
    n_violations : int
    """

    side: np.ndarray
    cut: float
    violated_belief: float
    n_violations: int


def penalized_graph(graph: Graph, constraints: Constraints, penalty: float) -> SignedGraph:
    """The signed graph whose ratio is the penalised cut: every constraint becomes a coupling of its belief."""
    plain = SignedGraph.from_graph(graph)
    extra = _constraint_couplings(constraints, penalty)
    couplings = without_diagonal(sp.csr_array(graph.weights + extra))
    signed = replace(plain, couplings=couplings)
    # Where an edge meets a cannot-link, the smaller of the two is paid for either way.
    ones = np.ones(graph.n_vertices, np.int8)
    return replace(signed, offset=penalty * float(constraints.cannot_link_weight.sum()) - signed.cut(ones))


def fewest_violations(
    constraints: Constraints, rng: np.random.Generator, options: SearchOptions, graph: Graph
) -> list[np.ndarray]:
    """Partitions with as little violated belief as can be found, for constraints that contradict each other.

    The same search on the constraints alone, with the graph's edges as a tie-breaker far below the weight of any
    pair, and the balance switched off by giving the moment of every unit to a constant.
    """
    weight = (
        1e-3
        * min(constraints.cannot_link_weight.min(initial=1), constraints.must_link_weight.min(initial=1))
        / max(float(graph.weights.sum()), np.finfo(float).tiny)
    )
    couplings = _constraint_couplings(constraints, 1.0) + weight * graph.weights
    signed = replace(
        SignedGraph.from_graph(graph),
        couplings=without_diagonal(sp.csr_array(couplings)),
        moment=np.zeros(graph.n_vertices),
    )
    return [spins > 0 for _, spins in search(signed, rng, options)]


def tradeoff(
    graph: Graph,
    constraints: Constraints,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray] | None = None,
    inner: str = "flow",
) -> list[TradeoffPoint]:
    """The best partitions found for every amount of violated belief, fewest violations first.

    From the unconstrained cut to all constraints satisfied (as few as possible violated, if they contradict each
    other). See `HALVINGS` for the grid of penalties.
    """
    free = hard_bipartition(graph, Constraints.from_pairs(graph.n_vertices), rng, options, known=known, inner=inner)
    strict = _strictest(graph, constraints, rng, options, known or [], inner)
    sides = [free.side, strict.side, *(known or [])]
    top = penalty_bound(graph, constraints, strict.cut)
    penalties = top * 2.0 ** np.arange(-HALVINGS, 1)
    sides += [side for _, side in penalty_path(graph, constraints, free.side, penalties, inner=inner)]
    modest = replace(options, effort=options.effort / 3, n_init=max(1, options.n_init // 2), progress=None)
    for step, penalty in enumerate(penalties):
        options.report("tradeoff", step, len(penalties), strict.cut)
        signed = penalized_graph(graph, constraints, penalty)
        spins = [np.where(side, 1, -1).astype(np.int8) for side in _front(graph, constraints, sides)]
        sides += [found > 0 for _, found in search(signed, rng, modest, spins)[:4]]
    options.report("tradeoff", len(penalties), len(penalties), strict.cut)
    improved = [tighten(graph, constraints, side, inner) for side in _front(graph, constraints, sides)]
    return [_point(graph, constraints, side) for side in _front(graph, constraints, sides + improved)]


def tighten(graph: Graph, constraints: Constraints, side: np.ndarray, inner: str = "flow") -> np.ndarray:
    """Improve a partition with the pairs it satisfies held fixed, by local search and RatioDCA."""
    merger = reduce_to_units(graph, satisfied(constraints, side))
    spins = vote(merger, side)
    ratio = refine(merger.graph, spins)
    (_, best), _ = polish(merger.graph, (ratio, spins), inner)
    return merger.lift(best) > 0


def soft_bipartition(
    graph: Graph,
    constraints: Constraints,
    max_violations: float,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray] | None = None,
    inner: str = "flow",
    fewest: bool = False,
) -> Bipartition:
    """The smallest cut found among partitions that violate at most `max_violations` units of belief.

    With `fewest`, constraints that cannot be met within the limit give the partition with the least violated belief
    instead of an error.
    """
    points = tradeoff(graph, constraints, rng, options, known=known, inner=inner)
    allowed = [point for point in points if point.violated_belief <= max_violations + 1e-12]
    if not allowed and not fewest:
        raise InconsistentConstraintsError(
            constraints.two_colouring().witness or (),
            message=(
                f"No partition with at most {max_violations:g} units of belief violated was found; the best violates "
                f'{points[0].violated_belief:g}. Raise max_violations, or pass on_inconsistent="soft".'
            ),
            proven=False,
            best_labels=points[0].side.astype(np.int64),
        )
    chosen = min(allowed, key=lambda point: point.cut) if allowed else points[0]
    starts = [point.side for point in (chosen, points[0]) if point in allowed]
    labels = [
        release_pairs(graph, constraints, side.astype(np.int64), max_violations, partial(_quickly, graph, rng))
        for side in starts
    ]
    side = min(labels, key=partial(normalized_cut, graph)) > 0 if labels else chosen.side
    return hard_bipartition(graph, satisfied(constraints, side), rng, options, known=[side], inner=inner)


def _quickly(graph: Graph, rng: np.random.Generator, constraints: Constraints, labels: np.ndarray) -> np.ndarray:
    merger = reduce_to_units(graph, constraints)
    _, spins = search(merger.graph, rng, QUICK, [vote(merger, labels > 0)])[0]
    return (merger.lift(spins) > 0).astype(np.int64)


def _strictest(
    graph: Graph,
    constraints: Constraints,
    rng: np.random.Generator,
    options: SearchOptions,
    known: list[np.ndarray],
    inner: str,
) -> Bipartition:
    """The best partition with no violation, or with the least violated belief where there must be some."""
    if admits_two_clusters(constraints):
        return hard_bipartition(graph, constraints, rng, options, known=known, inner=inner)
    sides = fewest_violations(constraints, rng, options, graph)
    least = min(constraints.violations(side).belief for side in sides)
    held = [satisfied(constraints, side) for side in sides if constraints.violations(side).belief <= least + 1e-12]
    found = [hard_bipartition(graph, pairs, rng, options, known=known, inner=inner) for pairs in held[:2]]
    return min(found, key=lambda partition: partition.cut)


def _constraint_couplings(constraints: Constraints, penalty: float) -> sp.csr_array:
    pairs = np.concatenate([constraints.must_link, constraints.cannot_link])
    strength = penalty * np.concatenate([constraints.must_link_weight, -constraints.cannot_link_weight])
    shape = (constraints.n_points, constraints.n_points)
    upper = sp.csr_array((strength, (pairs[:, 0], pairs[:, 1])), shape=shape)
    return sp.csr_array(upper + upper.T)


def _point(graph: Graph, constraints: Constraints, side: np.ndarray) -> TradeoffPoint:
    violated = constraints.violations(side)
    return TradeoffPoint(side, normalized_cut(graph, side.astype(np.int64)), violated.belief, violated.n_violations)


def _front(graph: Graph, constraints: Constraints, sides: list[np.ndarray]) -> list[np.ndarray]:
    """The partitions not beaten in both cut and violated belief, least violated first."""
    points = sorted(
        (_point(graph, constraints, side) for side in sides), key=lambda point: (point.violated_belief, point.cut)
    )
    front: list[TradeoffPoint] = []
    for point in points:
        if not front or point.cut < front[-1].cut * (1 - 1e-12):
            front.append(point)
    return [point.side for point in front]
