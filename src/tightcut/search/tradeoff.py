"""Two clusters with some constraints violated: the trade-off between cut and violated belief.

A violated pair costs the penalty, which makes it one more coupling of a signed graph: the same search minimises the
penalised cut. Sweeping the penalty traces the trade-off; every partition met on the way is then improved with the
pairs it satisfies held fixed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph, without_diagonal
from tightcut.problem.objective import normalized_cut, penalty_bound
from tightcut.relaxation.penalty_path import penalty_path
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.evolve import search
from tightcut.search.options import QUICK, SearchOptions
from tightcut.search.pareto import walked_front
from tightcut.search.polish import polish
from tightcut.search.signed_graph import SignedGraph
from tightcut.search.soft_release import satisfied, spend
from tightcut.search.two_way import (
    Bipartition,
    TwoClusters,
    admits_two_clusters,
    bipartition,
    reduce_to_units,
    vote,
)
from tightcut.utils.rounding import BELIEF_ROUNDING

HALVINGS = 12  # penalties from the certified one down to a 4096th of it


def penalized_graph(graph: Graph, constraints: Constraints, penalty: float) -> SignedGraph:
    """The signed graph whose ratio is the penalised cut: every constraint becomes a coupling of its belief."""
    plain = SignedGraph.from_graph(graph)
    extra = _constraint_couplings(constraints, penalty)
    couplings = without_diagonal(sp.csr_array(graph.weights + extra))
    signed = replace(plain, couplings=couplings)
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
    couplings = _constraint_couplings(constraints, 1.0) + weight * graph.weights
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
    known = [two_sided(side) for side in known or []]
    free = bipartition(graph, Constraints.from_pairs(graph.n_vertices), rng, options, known=known)
    strict = _strictest(graph, constraints, rng, options, known)
    sides = [free.side, strict.side, *known]
    # Beliefs below the rounding error of a sum need no larger penalty.
    top = min(penalty_bound(graph, constraints, strict.cut), graph.volume * strict.cut / BELIEF_ROUNDING)
    penalties = top * 2.0 ** np.arange(-HALVINGS, 1)
    sides += [side for _, side in penalty_path(graph, constraints, free.side, penalties)]
    modest = replace(options, effort=options.effort / 3, progress=None)
    for step, penalty in enumerate(penalties):
        options.report("tradeoff", step, len(penalties), strict.cut)
        problem = TwoClusters(penalized_graph(graph, constraints, penalty))
        spins = [np.where(side, 1, -1).astype(np.int8) for side in _undominated(graph, constraints, sides)]
        sides += [found > 0 for _, found in search(problem, rng, modest, spins)[:4]]
    options.report("tradeoff", len(penalties), len(penalties), strict.cut)
    whole = ConstrainedGraph.from_graph(graph, constraints)
    known_labels = [side.astype(np.int32) for side in _undominated(graph, constraints, sides)]
    sides += [labels > 0 for labels in walked_front(whole, 2, known_labels, limit, rng, options.effort)]
    improved = [tighten(graph, constraints, side) for side in _undominated(graph, constraints, sides)]
    return _undominated(graph, constraints, sides + improved)


def two_sided(side: np.ndarray) -> np.ndarray:
    """The partition, its first vertex moved if all are on one side."""
    if side.all() or not side.any():
        side = side.copy()
        side[0] = not side[0]
    return side


def tighten(graph: Graph, constraints: Constraints, side: np.ndarray) -> np.ndarray:
    """Improve a partition with the pairs it satisfies held fixed, by local search and RatioDCA."""
    units = reduce_to_units(graph, satisfied(constraints, side))
    spins = vote(units, side)
    ratio = units.small.refine(spins)
    (_, best), _ = polish(units.small, (ratio, spins))
    return units.lift(best) > 0


def bipartition_within(
    graph: Graph,
    constraints: Constraints,
    limit: float | None,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray] | None = None,
) -> Bipartition:
    """The smallest cut found among partitions that violate at most `limit` units of belief, or the fewest if None."""
    sides = tradeoff(graph, constraints, rng, options, limit=limit, known=known)
    labels = spend(
        graph, constraints, [side.astype(np.int64) for side in sides], limit, 2, partial(_solve_quickly, graph, rng)
    )
    return bipartition(graph, satisfied(constraints, labels), rng, options, known=[labels > 0])


def _solve_quickly(graph: Graph, rng: np.random.Generator, constraints: Constraints, labels: np.ndarray) -> np.ndarray:
    units = reduce_to_units(graph, constraints)
    _, spins = search(TwoClusters(units.small), rng, QUICK, [vote(units, labels > 0)])[0]
    return (units.lift(spins) > 0).astype(np.int64)


def _strictest(
    graph: Graph,
    constraints: Constraints,
    rng: np.random.Generator,
    options: SearchOptions,
    known: list[np.ndarray],
) -> Bipartition:
    """The best partition with no violation, or with the least violated belief where there must be some."""
    if admits_two_clusters(constraints):
        return bipartition(graph, constraints, rng, options, known=known)
    sides = least_violating_sides(constraints, rng, options, graph)
    least = min(constraints.violations(side).belief for side in sides)
    held = [
        satisfied(constraints, side) for side in sides if constraints.violations(side).belief <= least + BELIEF_ROUNDING
    ]
    found = [bipartition(graph, pairs, rng, options, known=known) for pairs in held[:2]]
    return min(found, key=lambda partition: partition.cut)


def _constraint_couplings(constraints: Constraints, penalty: float) -> sp.csr_array:
    pairs = np.concatenate([constraints.must_link, constraints.cannot_link])
    strength = penalty * np.concatenate([constraints.must_link_belief, -constraints.cannot_link_belief])
    shape = (constraints.n_points, constraints.n_points)
    upper = sp.csr_array((strength, (pairs[:, 0], pairs[:, 1])), shape=shape)
    return sp.csr_array(upper + upper.T)


def _undominated(graph: Graph, constraints: Constraints, sides: list[np.ndarray]) -> list[np.ndarray]:
    """The partitions not beaten in both cut and violated belief, least violated first."""
    judged = [(constraints.violations(side).belief, normalized_cut(graph, side.astype(np.int64))) for side in sides]
    front: list[np.ndarray] = []
    smallest = np.inf
    for place in sorted(range(len(sides)), key=lambda place: judged[place]):
        if judged[place][1] < smallest * (1 - 1e-12) or not front:
            front.append(sides[place])
            smallest = judged[place][1]
    return front
