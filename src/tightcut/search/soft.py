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

from dataclasses import dataclass, replace
from functools import cached_property, partial

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
from tightcut.search.two_way import bipartition
from tightcut.utils.rounding import BELIEF_ROUNDING


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


@dataclass(frozen=True, eq=False)
class SoftProblem:
    """What is cut, into how many clusters, and how much belief may be violated; None for as little as possible."""

    graph: Graph
    constraints: Constraints
    k: int
    limit: float | None
    rng: np.random.Generator
    options: SearchOptions
    influence: float = 0.0

    @cached_property
    def whole(self) -> ConstrainedGraph:
        """One vertex per point, with all constraints as relations."""
        return ConstrainedGraph.from_graph(self.graph, self.constraints)

    def search(
        self, held: Constraints, known: list[np.ndarray], options: SearchOptions, influence: float = 0.0
    ) -> Partition:
        """The smallest cut with every pair held; labels that are known, and satisfy them, are improved or returned."""
        if self.k == 2 and self.influence == 0:
            sides = [labels > 0 for labels in known]
            return bipartition(self.graph, held, self.rng, options, known=sides)
        return Partition(partition(self.graph, held, self.k, self.rng, options, known=known, influence=influence))

    def belief(self, labels: np.ndarray) -> float:
        """The violated belief."""
        return self.constraints.violations(labels).belief


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
    problem = SoftProblem(graph, constraints, k, limit, rng, options, influence)
    if not solver_installed():
        return _within(problem, known)
    return _fewest(problem, known) if limit is None else _allowed(problem, limit, known)


def soft_front(
    graph: Graph, constraints: Constraints, rng: np.random.Generator, options: SearchOptions
) -> list[np.ndarray]:
    """The trade-off of two clusters, and around each amount of violated belief on it what a limit of that much finds.

    The latter takes longer the more amounts there are, and is left out of graphs in which no pair would be released.
    """
    front = tradeoff(graph, constraints, rng, options)
    if graph.n_vertices > ALLOWANCE.work:
        return front
    problem = SoftProblem(graph, constraints, 2, None, rng, options)
    for limit in [problem.belief(side) for side in front]:
        walked = front_by_local_search(
            problem.whole, 2, [side.astype(np.int32) for side in front], limit, rng, options.effort
        )
        candidates = [side.astype(np.int64) for side in front] + [labels.astype(np.int64) for labels in walked]
        spent = spend(replace(problem, limit=limit), candidates)
        front = pareto_front(graph, constraints, [labels > 0 for labels in (*candidates, spent)])
    return front


def _fewest(problem: SoftProblem, known: list[np.ndarray]) -> Partition:
    found = _within(problem, known)
    belief = problem.belief(found.labels)
    if belief == 0:
        return found
    fewest = fewest_violations(problem.constraints, problem.k, found.labels, problem.options.effort)
    if problem.belief(fewest.labels) < belief - BELIEF_ROUNDING:
        found = _within(problem, [*known, fewest.labels])
    return replace(found, bound=fewest.bound)


def _allowed(problem: SoftProblem, limit: float, known: list[np.ndarray]) -> Partition:
    try:
        return _within(problem, known)
    except InconsistentConstraintsError as error:
        if error.reason != "limit":
            raise
        attempt = error.best_labels
    fewest = fewest_violations(problem.constraints, problem.k, attempt, problem.options.effort)
    needed = problem.belief(fewest.labels)
    if needed > limit + BELIEF_ROUNDING:
        raise _beyond_limit(limit, needed, fewest.labels, problem.k, fewest.bound)
    return _within(problem, [*known, fewest.labels])


def _within(problem: SoftProblem, known: list[np.ndarray]) -> Partition:
    """What `soft_partition` finds without the solver."""
    if problem.k > 2 or problem.influence > 0:
        candidates = _candidates(problem, known)
    else:
        sides = tradeoff(
            problem.graph, problem.constraints, problem.rng, problem.options, limit=problem.limit,
            known=[labels == labels[0] for labels in known],
        )  # fmt: skip
        candidates = [side.astype(np.int64) for side in sides]
    labels = spend(problem, candidates)
    return problem.search(problem.constraints.satisfied_by(labels), [labels], problem.options, problem.influence)


# Candidates for more than two clusters


def _candidates(problem: SoftProblem, known: list[np.ndarray]) -> list[np.ndarray]:
    candidates = _strict_candidates(problem, known)
    if problem.limit is not None and problem.limit > 0:
        candidates += _price_path(problem, problem.limit, candidates)
        effort = problem.options.effort
        candidates += front_by_local_search(problem.whole, problem.k, candidates, problem.limit, problem.rng, effort)
    return candidates


def _strict_candidates(problem: SoftProblem, known: list[np.ndarray]) -> list[np.ndarray]:
    """Clusterings that violate as little as was found."""
    whole, k, rng, options = problem.whole, problem.k, problem.rng, problem.options
    candidates = [fill_empty(whole, labels.astype(np.int32), k) for labels in known]
    try:
        found = partition(problem.graph, problem.constraints, k, rng, options, known=known)
        candidates.append(found.astype(np.int32))
    except InconsistentConstraintsError as error:
        # Contradictions are no error here: what counts is the violated belief of the best candidate.
        if error.best_labels is not None:
            candidates.append(fill_empty(whole, error.best_labels.astype(np.int32), k))
    many = ManyClusters.of(whole, k)
    candidates += [labels for _, labels in search(many, rng, options, candidates)]
    # At the low price a search leaves places that the full price does not lead back to.
    strict = many.at_full_price()
    for labels in sorted(candidates, key=whole.violated)[: ALLOWANCE.tabu_starts]:
        candidates.append(fill_empty(whole, violate_least(whole, labels, k, rng, options.effort), k))
    return candidates + [labels for _, labels in search(strict, rng, options, candidates)]


def _price_path(problem: SoftProblem, limit: float, strict: list[np.ndarray]) -> list[np.ndarray]:
    """Clusterings searched for at falling prices of a violated unit, judged by cut within the allowance.

    The first price is the cut of the worst of the strictest clusterings, the last is 0.
    """
    whole, k, options = problem.whole, problem.k, problem.options
    price, full = max(whole.cut(labels, k) for labels in strict), Prices.prohibitive(whole, k).full
    modest = replace(options, effort=options.effort / 3, progress=None)
    latest, path, steps = strict[-ALLOWANCE.latest :], [], ALLOWANCE.halvings + 1
    for step in range(steps):
        options.report("tradeoff", step, steps, price)
        low = price * 2.0**-step if step < ALLOWANCE.halvings else 0.0
        priced = ManyClusters(whole, k, Prices(low, full, limit))
        latest = [labels for _, labels in search(priced, problem.rng, modest, latest)[: ALLOWANCE.kept]]
        path += latest
    options.report("tradeoff", steps, steps, price)
    return path


# What is left of the allowance


def spend(problem: SoftProblem, candidates: list[np.ndarray]) -> np.ndarray:
    """The candidate with the least violated belief, or, given a limit, the smallest cut within it that releasing pairs finds.

    Pairs are released from the candidate with the smallest cut within the limit and from the one that violates least.
    """
    limit, judged = (
        problem.limit,
        [(problem.belief(labels), normalized_cut(problem.graph, labels)) for labels in candidates],
    )
    least = min(range(len(candidates)), key=judged.__getitem__)
    if limit is None:
        return candidates[least]
    allowed = [place for place, (belief, _) in enumerate(judged) if belief <= limit + BELIEF_ROUNDING]
    if not allowed:
        raise _beyond_limit(limit, judged[least][0], candidates[least], problem.k)
    starts = min(allowed, key=lambda place: judged[place][1]), least
    released = [_release_pairs(problem, candidates[start], limit) for start in starts]
    return min(released, key=partial(normalized_cut, problem.graph))


def _release_pairs(problem: SoftProblem, labels: np.ndarray, limit: float) -> np.ndarray:
    """Lower the cut of a clustering by violating more of the constraints, as far as the allowance goes."""
    quick, cut = replace(QUICK, polish=False), normalized_cut(problem.graph, labels)
    for _ in range(ALLOWANCE.rounds):
        left = limit - problem.belief(labels)
        best: np.ndarray | None = None
        for kept in _without_one(problem.graph, problem.constraints.satisfied_by(labels), labels, left):
            found = problem.search(kept, [labels], quick).labels
            value = normalized_cut(problem.graph, found)
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
