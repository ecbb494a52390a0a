"""k clusters of which some constraints may be violated: the smallest cut within an allowance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.evolve import search
from tightcut.search.feasibility import fill_empty, violate_least
from tightcut.search.k_way import ManyClusters, Prices
from tightcut.search.options import QUICK, SearchOptions
from tightcut.search.pareto import walked_front
from tightcut.search.partition import partition
from tightcut.search.soft_release import satisfied, spend

TABU_STARTS = 4  # clusterings from which the least violated belief is searched for
HALVINGS = 10  # prices on the way from satisfying everything to ignoring everything


def partition_within(
    graph: Graph,
    constraints: Constraints,
    k: int,
    limit: float | None,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray] | None = None,
    influence: float = 0.0,
) -> np.ndarray:
    """Labels of k clusters with at most `limit` units of violated belief, or the fewest if None, and a small cut.

    The price of a violation is halved from the cut of the strictest clustering down to nothing; the best allowed
    clustering met is then improved with the pairs it satisfies held fixed.
    """
    whole = ConstrainedGraph.from_graph(graph, constraints)
    candidates = _strict_candidates(graph, constraints, whole, k, rng, options, known or [])
    if limit is not None and limit > 0:
        candidates += _price_path(whole, k, limit, rng, options, candidates)
        candidates += walked_front(whole, k, candidates, limit, rng, options.effort)
    labels = spend(
        graph,
        constraints,
        candidates,
        limit,
        k,
        lambda held, start: partition(graph, held, k, rng, QUICK, known=[start]),
    )
    held = satisfied(constraints, labels)
    return partition(graph, held, k, rng, options, known=[labels], influence=influence)


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
    for labels in sorted(candidates, key=whole.violated)[:TABU_STARTS]:
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
    """Clusterings searched for at falling prices of a violated unit, judged by cut within the allowance."""
    price, full = max(whole.cut(labels, k) for labels in strict), Prices.prohibitive(whole, k).full
    modest = replace(options, effort=options.effort / 3, progress=None)
    latest, path = strict[-4:], []
    for step in range(HALVINGS + 1):
        options.report("tradeoff", step, HALVINGS + 1, price)
        problem = ManyClusters(whole, k, Prices(price * 2.0**-step if step < HALVINGS else 0.0, full, limit))
        latest = [labels for _, labels in search(problem, rng, modest, latest)[:6]]
        path += latest
    options.report("tradeoff", HALVINGS + 1, HALVINGS + 1, price)
    return path
