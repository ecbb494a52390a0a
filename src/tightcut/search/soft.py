"""Clusters that may violate some constraints, for any number of clusters, with the solver's proof where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.search.cpsat import fewest_violations, solver_installed
from tightcut.search.options import SearchOptions
from tightcut.search.soft_partition import partition_within
from tightcut.search.soft_release import beyond_limit
from tightcut.search.tradeoff import bipartition_within
from tightcut.utils.rounding import BELIEF_ROUNDING


@dataclass(frozen=True, eq=False)
class Within:
    """Labels, the history of the final RatioDCA for two clusters, and the least belief that must be violated, if known."""

    labels: np.ndarray
    history: tuple[float, ...] | None = None
    bound: float | None = None

    def moved_back(self, place: np.ndarray) -> Within:
        """The same for points in another order, of which each has its place in the present one."""
        return replace(self, labels=self.labels[place])


def cluster_within(
    graph: Graph,
    constraints: Constraints,
    k: int,
    limit: float | None,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray],
    influence: float = 0.0,
) -> Within:
    """The smallest cut found among clusterings that violate at most `limit` units of belief, or the fewest if None."""

    def search(known: list[np.ndarray]) -> Within:
        if k > 2 or influence > 0:
            return Within(
                partition_within(graph, constraints, k, limit, rng, options, known=known, influence=influence)
            )
        sides = [labels == labels[0] for labels in known]
        found = bipartition_within(graph, constraints, limit, rng, options, known=sides)
        return Within(found.side.astype(np.int64), found.history)

    if not solver_installed():
        return search(known)
    if limit is None:
        return _fewest(constraints, k, options, search, known)
    return _allowed(constraints, k, limit, options, search, known)


def _fewest(
    constraints: Constraints,
    k: int,
    options: SearchOptions,
    search: Callable[[list[np.ndarray]], Within],
    known: list[np.ndarray],
) -> Within:
    found = search(known)
    belief = constraints.violations(found.labels).belief
    if belief == 0:
        return found
    fewest = fewest_violations(constraints, k, found.labels, options.effort)
    if constraints.violations(fewest.labels).belief < belief - BELIEF_ROUNDING:
        found = search([*known, fewest.labels])
    return replace(found, bound=fewest.bound)


def _allowed(
    constraints: Constraints,
    k: int,
    limit: float,
    options: SearchOptions,
    search: Callable[[list[np.ndarray]], Within],
    known: list[np.ndarray],
) -> Within:
    try:
        return search(known)
    except InconsistentConstraintsError as error:
        if error.reason != "limit":
            raise
        attempt = error.best_labels
    fewest = fewest_violations(constraints, k, attempt, options.effort)
    needed = constraints.violations(fewest.labels).belief
    if needed > limit + BELIEF_ROUNDING:
        raise beyond_limit(limit, needed, fewest.labels, k, fewest.bound)
    return search([*known, fewest.labels])
