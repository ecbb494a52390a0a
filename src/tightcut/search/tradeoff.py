"""Two clusters at many penalties of violated belief: the trade-off from which `search.soft` starts.

A violated pair costs the penalty, which makes it one more coupling of a signed graph: the same search minimises the
penalised cut. Sweeping the penalty traces the trade-off; every partition met on the way is then improved with the
pairs it satisfies held fixed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph, without_diagonal
from tightcut.problem.objective import normalized_cut, penalty_bound
from tightcut.search.constrained_graph import ConstrainedGraph, relations_between
from tightcut.search.large import search
from tightcut.search.options import SearchOptions
from tightcut.search.pareto import front_by_local_search
from tightcut.search.polish import polish
from tightcut.search.problem import Partition
from tightcut.search.signed_graph import SignedGraph
from tightcut.search.two_way import TwoClusters, admits_two_clusters, bipartition, project_to_spins, reduce_to_units
from tightcut.utils.rounding import BELIEF_ROUNDING

HALVINGS = 12  # penalties from the certified one down to a 4096th of it
KEPT = 4  # partitions of each penalty


def penalized_graph(graph: Graph, constraints: Constraints, penalty: float) -> SignedGraph:
    """The signed graph whose ratio is the penalised cut: every constraint becomes a coupling of its belief."""
    plain = SignedGraph.from_graph(graph)
    couplings = graph.weights - penalty * relations_between(constraints)
    signed = replace(plain, couplings=without_diagonal(sp.csr_array(couplings)))
    # Where an edge meets a cannot-link, the smaller of the two is paid for either way.
    ones = np.ones(graph.n_vertices, np.int8)
    return replace(signed, offset=penalty * float(constraints.cannot_link_belief.sum()) - signed.cut(ones))


def least_violating_sides(
    constraints: Constraints, rng: np.random.Generator, options: SearchOptions, graph: Graph
) -> list[np.ndarray]:
    """Partitions with as little violated belief as can be found, for constraints that contradict each other.

    The same search on the constraints alone, with the graph's edges as a tie-breaker far below the weight of any
    pair, and no balance: with a moment of 0 for every unit, both sides always weigh the same.
    """
    weight = (
        1e-3
        * min(constraints.cannot_link_belief.min(initial=1), constraints.must_link_belief.min(initial=1))
        / max(float(graph.weights.sum()), np.finfo(float).tiny)
    )
    couplings = weight * graph.weights - relations_between(constraints)
    signed = replace(
        SignedGraph.from_graph(graph),
        couplings=without_diagonal(sp.csr_array(couplings)),
        moment=np.zeros(graph.n_vertices),
    )
    return [spins > 0 for _, spins in search(TwoClusters(signed), rng, options)]


def tradeoff(
    graph: Graph,
    constraints: Constraints,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    limit: float | None = None,
    known: list[np.ndarray] | None = None,
) -> list[np.ndarray]:
    """The best partitions found for every amount of violated belief, fewest violations first.

    From all constraints satisfied (as few as possible violated, if they contradict each other) to the unconstrained
    cut. See `HALVINGS` for the grid of penalties. With a limit, what lies between is searched for around it alone.
    """
    known = [ensure_both_sides(side) for side in known or []]
    free = _side_of(bipartition(graph, Constraints.from_pairs(graph.n_vertices), rng, options, known=known))
    strict, cut = _strictest(graph, constraints, rng, options, known)
    # Beliefs below the rounding error of a sum need no larger penalty.
    top = min(penalty_bound(graph, constraints, cut), graph.volume * cut / BELIEF_ROUNDING)
    penalties = top * 2.0 ** np.arange(-HALVINGS, 1)
    sides = pareto_front(graph, constraints, [free, strict, *known])
    modest = replace(options, effort=options.effort / 3, progress=None)
    for step, penalty in enumerate(penalties):
        options.report("tradeoff", step, len(penalties), cut)
        problem = TwoClusters(penalized_graph(graph, constraints, penalty))
        found = search(problem, rng, modest, [np.where(side, 1, -1).astype(np.int8) for side in sides])
        sides = pareto_front(graph, constraints, sides + [spins > 0 for _, spins in found[:KEPT]])
    options.report("tradeoff", len(penalties), len(penalties), cut)
    whole = ConstrainedGraph.from_graph(graph, constraints)
    walked = front_by_local_search(whole, 2, [side.astype(np.int32) for side in sides], limit, rng, options.effort)
    sides = pareto_front(graph, constraints, sides + [labels > 0 for labels in walked])
    return pareto_front(graph, constraints, sides + [tighten(graph, constraints, side) for side in sides])


def ensure_both_sides(side: np.ndarray) -> np.ndarray:
    """The partition, its first vertex moved if all are on one side."""
    if side.all() or not side.any():
        side = side.copy()
        side[0] = not side[0]
    return side


def tighten(graph: Graph, constraints: Constraints, side: np.ndarray) -> np.ndarray:
    """Improve a partition with the pairs it satisfies held fixed, by local search and RatioDCA."""
    units = reduce_to_units(graph, constraints.satisfied_by(side))
    spins = project_to_spins(units, side)
    ratio = units.small.refine(spins)
    (_, best), _ = polish(units.small, (ratio, spins))
    return units.lift(best) > 0


def _strictest(
    graph: Graph,
    constraints: Constraints,
    rng: np.random.Generator,
    options: SearchOptions,
    known: list[np.ndarray],
) -> tuple[np.ndarray, float]:
    """The best partition with no violation, or with the least violated belief where there must be some; and its cut."""
    held = [constraints]
    if not admits_two_clusters(constraints):
        sides = least_violating_sides(constraints, rng, options, graph)
        beliefs = [constraints.violations(side).belief for side in sides]
        least = min(beliefs) + BELIEF_ROUNDING
        held = [constraints.satisfied_by(side) for side, belief in zip(sides, beliefs, strict=True) if belief <= least]
    found = [_side_of(bipartition(graph, pairs, rng, options, known=known)) for pairs in held[:2]]
    cuts = [normalized_cut(graph, side.astype(np.int64)) for side in found]
    best = int(np.argmin(cuts))
    return found[best], cuts[best]


def _side_of(found: Partition) -> np.ndarray:
    return found.labels > 0


def pareto_front(graph: Graph, constraints: Constraints, sides: list[np.ndarray]) -> list[np.ndarray]:
    """The partitions not beaten in both cut and violated belief, least violated first."""
    judged = [(constraints.violations(side).belief, normalized_cut(graph, side.astype(np.int64))) for side in sides]
    front: list[np.ndarray] = []
    smallest = np.inf
    for place in sorted(range(len(sides)), key=lambda place: judged[place]):
        if judged[place][1] < smallest * (1 - 1e-12) or not front:
            front.append(sides[place])
            smallest = judged[place][1]
    return front
