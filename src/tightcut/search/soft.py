"""Entry points for limits of violated belief: the smallest cut within a limit, or for two clusters at every amount.

1. Candidates, from clusterings that violate as little as possible to the unconstrained one: for two clusters the trade-off
   of `tightcut.search.tradeoff`, for more a search at falling prices of a violation and walks along the Pareto front.
2. From the best candidates within the allowance, satisfied pairs are given up one by one, those first that lower the cut
   most. A sweep over prices finds only trade-offs on the convex hull of all of them; this fills the gaps.
3. The search, with all pairs held that are still satisfied.

Where OR-tools' solver is installed, it proves how much must be violated, and its clustering takes part if the search found
none that good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.cpsat import fewest_violations, solver_installed
from tightcut.search.feasibility import fill_empty, violate_least
from tightcut.search.k_way import ManyClusters, Prices
from tightcut.search.large import search
from tightcut.search.options import QUICK, SearchOptions
from tightcut.search.pareto import front_by_local_search
from tightcut.search.partition import partition
from tightcut.search.problem import Partition
from tightcut.search.tradeoff import pareto_front, tradeoff
from tightcut.search.two_way import TwoClusters, bipartition, project_to_spins, reduce_to_units
from tightcut.utils.rounding import BELIEF_ROUNDING

Solve = Callable[[Constraints, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Allowance:
    """How long an allowance of violations is searched for."""

    tabu_starts: int = 4  # clusterings from which the least violated belief is searched for
    halvings: int = 10  # of the price, on the way from satisfying everything to ignoring everything
    latest: int = 4  # clusterings that the search at the first price begins with
    kept: int = 6  # clusterings of each price
    rounds: int = 4  # in which a pair is released
    work: int = 3000  # vertices times pairs tried in a round: in larger graphs none are tried
    most_pairs: int = 40  # tried in a round


ALLOWANCE = Allowance()


def soft_partition(
    graph: Graph,
    constraints: Constraints,
    k: int,
    limit: float | None,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray],
    influence: float = 0.0,
) -> Partition:
    """The smallest cut found among clusterings that violate at most `limit` units of belief, or the fewest if None.

    Raises InconsistentConstraintsError if none was found within the limit.
    """
    search_within = partial(_within, graph, constraints, k, limit, rng, options, influence)
    if not solver_installed():
        return search_within(known)
    if limit is None:
        return _fewest(constraints, k, options, search_within, known)
    return _allowed(constraints, k, limit, options, search_within, known)


def soft_front(
    graph: Graph, constraints: Constraints, rng: np.random.Generator, options: SearchOptions
) -> list[np.ndarray]:
    """The trade-off of two clusters, and around each amount of violated belief on it what a limit of that much finds.

    The latter takes longer the more amounts there are, and is left out of graphs in which no pair would be released.
    """
    front = tradeoff(graph, constraints, rng, options)
    if graph.n_vertices > ALLOWANCE.work:
        return front
    whole = ConstrainedGraph.from_graph(graph, constraints)
    for limit in [constraints.violations(side).belief for side in front]:
        walked = front_by_local_search(whole, 2, [side.astype(np.int32) for side in front], limit, rng, options.effort)
        candidates = [side.astype(np.int64) for side in front] + [labels.astype(np.int64) for labels in walked]
        spent = spend(graph, constraints, candidates, limit, 2, partial(_solve_two, graph, rng))
        front = pareto_front(graph, constraints, [labels > 0 for labels in (*candidates, spent)])
    return front


def _fewest(
    constraints: Constraints,
    k: int,
    options: SearchOptions,
    search_within: Callable[[list[np.ndarray]], Partition],
    known: list[np.ndarray],
) -> Partition:
    found = search_within(known)
    belief = constraints.violations(found.labels).belief
    if belief == 0:
        return found
    fewest = fewest_violations(constraints, k, found.labels, options.effort)
    if constraints.violations(fewest.labels).belief < belief - BELIEF_ROUNDING:
        found = search_within([*known, fewest.labels])
    return replace(found, bound=fewest.bound)


def _allowed(
    constraints: Constraints,
    k: int,
    limit: float,
    options: SearchOptions,
    search_within: Callable[[list[np.ndarray]], Partition],
    known: list[np.ndarray],
) -> Partition:
    try:
        return search_within(known)
    except InconsistentConstraintsError as error:
        if error.reason != "limit":
            raise
        attempt = error.best_labels
    fewest = fewest_violations(constraints, k, attempt, options.effort)
    needed = constraints.violations(fewest.labels).belief
    if needed > limit + BELIEF_ROUNDING:
        raise _beyond_limit(limit, needed, fewest.labels, k, fewest.bound)
    return search_within([*known, fewest.labels])


def _within(
    graph: Graph,
    constraints: Constraints,
    k: int,
    limit: float | None,
    rng: np.random.Generator,
    options: SearchOptions,
    influence: float,
    known: list[np.ndarray],
) -> Partition:
    """What `soft_partition` finds without the solver."""
    if k > 2 or influence > 0:
        candidates = _candidates(graph, constraints, k, limit, rng, options, known)
        labels = spend(graph, constraints, candidates, limit, k, partial(_solve_many, graph, k, rng))
        held = constraints.satisfied_by(labels)
        return Partition(partition(graph, held, k, rng, options, known=[labels], influence=influence))
    sides = [labels == labels[0] for labels in known]
    candidates = [
        side.astype(np.int64) for side in tradeoff(graph, constraints, rng, options, limit=limit, known=sides)
    ]
    labels = spend(graph, constraints, candidates, limit, 2, partial(_solve_two, graph, rng))
    return bipartition(graph, constraints.satisfied_by(labels), rng, options, known=[labels > 0])


def _solve_many(graph: Graph, k: int, rng: np.random.Generator, held: Constraints, labels: np.ndarray) -> np.ndarray:
    return partition(graph, held, k, rng, QUICK, known=[labels])


def _solve_two(graph: Graph, rng: np.random.Generator, held: Constraints, labels: np.ndarray) -> np.ndarray:
    units = reduce_to_units(graph, held)
    _, spins = search(TwoClusters(units.small), rng, QUICK, [project_to_spins(units, labels > 0)])[0]
    return (units.lift(spins) > 0).astype(np.int64)


# Candidates for more than two clusters


def _candidates(
    graph: Graph,
    constraints: Constraints,
    k: int,
    limit: float | None,
    rng: np.random.Generator,
    options: SearchOptions,
    known: list[np.ndarray],
) -> list[np.ndarray]:
    whole = ConstrainedGraph.from_graph(graph, constraints)
    candidates = _strict_candidates(graph, constraints, whole, k, rng, options, known)
    if limit is not None and limit > 0:
        candidates += _price_path(whole, k, limit, rng, options, candidates)
        candidates += front_by_local_search(whole, k, candidates, limit, rng, options.effort)
    return candidates


def _strict_candidates(
    graph: Graph,
    constraints: Constraints,
    whole: ConstrainedGraph,
    k: int,
    rng: np.random.Generator,
    options: SearchOptions,
    known: list[np.ndarray],
) -> list[np.ndarray]:
    """Clusterings that violate as little as was found."""
    candidates = [fill_empty(whole, labels.astype(np.int32), k) for labels in known]
    try:
        candidates.append(partition(graph, constraints, k, rng, options, known=known).astype(np.int32))
    except InconsistentConstraintsError as error:
        # Contradictions are no error here: what counts is the violated belief of the best candidate.
        if error.best_labels is not None:
            candidates.append(fill_empty(whole, error.best_labels.astype(np.int32), k))
    problem = ManyClusters.of(whole, k)
    candidates += [labels for _, labels in search(problem, rng, options, candidates)]
    # At the low price a search leaves places that the full price does not lead back to.
    strict = problem.at_full_price()
    for labels in sorted(candidates, key=whole.violated)[: ALLOWANCE.tabu_starts]:
        candidates.append(fill_empty(whole, violate_least(whole, labels, k, rng, options.effort), k))
    return candidates + [labels for _, labels in search(strict, rng, options, candidates)]


def _price_path(
    whole: ConstrainedGraph,
    k: int,
    limit: float,
    rng: np.random.Generator,
    options: SearchOptions,
    strict: list[np.ndarray],
) -> list[np.ndarray]:
    """Clusterings searched for at falling prices of a violated unit, judged by cut within the allowance.

    The first price is the cut of the worst of the strictest clusterings, the last is 0.
    """
    price, full = max(whole.cut(labels, k) for labels in strict), Prices.prohibitive(whole, k).full
    modest = replace(options, effort=options.effort / 3, progress=None)
    latest, path, steps = strict[-ALLOWANCE.latest :], [], ALLOWANCE.halvings + 1
    for step in range(steps):
        options.report("tradeoff", step, steps, price)
        low = price * 2.0**-step if step < ALLOWANCE.halvings else 0.0
        problem = ManyClusters(whole, k, Prices(low, full, limit))
        latest = [labels for _, labels in search(problem, rng, modest, latest)[: ALLOWANCE.kept]]
        path += latest
    options.report("tradeoff", steps, steps, price)
    return path


# What is left of the allowance


def spend(
    graph: Graph, constraints: Constraints, candidates: list[np.ndarray], limit: float | None, k: int, solve: Solve
) -> np.ndarray:
    """The candidate with the least violated belief, or, given a limit, the smallest cut within it that releasing pairs finds.

    Pairs are released from the candidate with the smallest cut within the limit and from the one that violates least; `solve`
    is that of `release_pairs`.
    """
    judged = [(constraints.violations(labels).belief, normalized_cut(graph, labels)) for labels in candidates]
    least = min(range(len(candidates)), key=judged.__getitem__)
    if limit is None:
        return candidates[least]
    allowed = [place for place, (belief, _) in enumerate(judged) if belief <= limit + BELIEF_ROUNDING]
    if not allowed:
        raise _beyond_limit(limit, judged[least][0], candidates[least], k)
    starts = min(allowed, key=lambda place: judged[place][1]), least
    released = [release_pairs(graph, constraints, candidates[start], limit, solve) for start in starts]
    return min(released, key=partial(normalized_cut, graph))


def release_pairs(graph: Graph, constraints: Constraints, labels: np.ndarray, limit: float, solve: Solve) -> np.ndarray:
    """Lower the cut of a clustering by violating more of the constraints, as far as the allowance goes.

    Parameters
    ----------
    solve : callable
        Takes the constraints to keep and labels that satisfy them; returns labels that do so with no larger cut.
    """
    cut = normalized_cut(graph, labels)
    for _ in range(ALLOWANCE.rounds):
        left = limit - constraints.violations(labels).belief
        held = constraints.satisfied_by(labels)
        best: np.ndarray | None = None
        for kept in _without_one(graph, held, labels, left):
            found = solve(kept, labels)
            value = normalized_cut(graph, found)
            if value < cut * (1 - 1e-12):
                best, cut = found, value
        if best is None:
            break
        labels = best
    return labels


def _without_one(graph: Graph, held: Constraints, labels: np.ndarray, left: float) -> list[Constraints]:
    """The held constraints without one pair that is cheap enough, pairs with the most strained ends first."""
    count = min(ALLOWANCE.work // graph.n_vertices, ALLOWANCE.most_pairs)
    if count == 0:
        return []
    beliefs = np.concatenate([held.must_link_belief, held.cannot_link_belief])
    pairs = np.concatenate([held.must_link, held.cannot_link])
    affordable = np.flatnonzero(beliefs <= left + BELIEF_ROUNDING)
    strain = _strain(graph, labels)[pairs[affordable]].max(axis=1, initial=-np.inf)
    result = []
    for row in affordable[np.argsort(-strain, kind="stable")[:count]]:
        keep = np.arange(len(pairs)) != row
        result.append(held.select(keep[: held.n_must_link], keep[held.n_must_link :]))
    return result


def _strain(graph: Graph, labels: np.ndarray) -> np.ndarray:
    """By how much each vertex is tied to another cluster more strongly than to its own (negative: less)."""
    ties, every = graph.ties(labels, int(labels.max()) + 1), np.arange(graph.n_vertices)
    own = ties[every, labels]
    ties[every, labels] = -np.inf
    return ties.max(axis=1) - own


def _beyond_limit(
    limit: float, needed: float, labels: np.ndarray, k: int, bound: float = 0.0
) -> InconsistentConstraintsError:
    """The error for a limit that no clustering found respects, or none can: all violate at least the bound."""
    proven = bound > limit + BELIEF_ROUNDING
    return InconsistentConstraintsError(
        proven=proven, best_labels=labels, n_clusters=k, reason="limit", needed=needed, limit=limit, bound=bound
    )
