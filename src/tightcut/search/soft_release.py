"""Spending an allowance of violations: give up satisfied pairs one by one, those that lower the cut most first.

A sweep over penalties finds only trade-offs on the convex hull of all of them. Between its corners, releasing single
pairs and solving again fills the gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut
from tightcut.utils.rounding import BELIEF_ROUNDING

ROUNDS = 4
WORK, MOST = 3000, 40  # vertices times pairs tried per round, and most pairs; in larger graphs none are tried

Solve = Callable[[Constraints, np.ndarray], np.ndarray]


def satisfied(constraints: Constraints, labels: np.ndarray) -> Constraints:
    """The pairs that a clustering satisfies."""
    must, cannot = constraints.must_link, constraints.cannot_link
    return constraints.select(labels[must[:, 0]] == labels[must[:, 1]], labels[cannot[:, 0]] != labels[cannot[:, 1]])


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
        raise beyond_limit(limit, judged[least][0], candidates[least], k)
    starts = min(allowed, key=lambda place: judged[place][1]), least
    released = [release_pairs(graph, constraints, candidates[start], limit, solve) for start in starts]
    return min(released, key=partial(normalized_cut, graph))


def beyond_limit(
    limit: float, needed: float, labels: np.ndarray, k: int, bound: float = 0.0
) -> InconsistentConstraintsError:
    """The error for a limit that no clustering found respects, or none can: all violate at least the bound."""
    proven = bound > limit + BELIEF_ROUNDING
    message = (
        f"No {k} clusters violate at most {limit:g} units of belief: at least {bound:g} must be violated, and {needed:g} "
        f"are enough. Raise max_violations to {needed:g}"
        if proven
        else f"No {k} clusters with at most {limit:g} units of belief violated were found; the best violate {needed:g}. "
        "Raise max_violations or effort"
    )
    return InconsistentConstraintsError(
        message=f'{message}, or pass max_violations="fewest".',
        proven=proven,
        best_labels=labels,
        n_clusters=k,
        reason="limit",
        needed=needed,
    )


def release_pairs(
    graph: Graph, constraints: Constraints, labels: np.ndarray, max_violations: float, solve: Solve
) -> np.ndarray:
    """Lower the cut of a clustering by violating more of the constraints, as far as the allowance goes.

    Parameters
    ----------
    solve : callable
        Takes the constraints to keep and labels that satisfy them; returns labels that do so with no larger cut.
    """
    cut = normalized_cut(graph, labels)
    for _ in range(ROUNDS):
        left = max_violations - constraints.violations(labels).belief
        held = satisfied(constraints, labels)
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
    count = min(WORK // graph.n_vertices, MOST)
    if count == 0:
        return []
    weights = np.concatenate([held.must_link_belief, held.cannot_link_belief])
    pairs = np.concatenate([held.must_link, held.cannot_link])
    affordable = np.flatnonzero(weights <= left + BELIEF_ROUNDING)
    strain = vertex_strain(graph, labels)[pairs[affordable]].max(axis=1, initial=-np.inf)
    chosen = affordable[np.argsort(-strain, kind="stable")[:count]]
    result = []
    for row in chosen:
        keep = np.ones(len(pairs), bool)
        keep[row] = False
        result.append(held.select(keep[: held.n_must_link], keep[held.n_must_link :]))
    return result


def vertex_strain(graph: Graph, labels: np.ndarray) -> np.ndarray:
    """By how much each vertex is tied to another cluster more strongly than to its own (negative: less)."""
    k, n, w = int(labels.max()) + 1, graph.n_vertices, graph.weights
    sources = np.repeat(np.arange(n), np.diff(w.indptr))
    ties = np.bincount(sources * k + labels[w.indices], w.data, n * k).astype(np.float64).reshape(n, k)
    own = ties[np.arange(n), labels]
    ties[np.arange(n), labels] = -np.inf
    return ties.max(axis=1) - own
