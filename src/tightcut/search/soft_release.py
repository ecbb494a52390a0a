"""Spending an allowance of violations: give up satisfied pairs one by one, those that lower the cut most first.

A sweep over penalties finds only trade-offs on the convex hull of all of them. Between its corners, releasing single
pairs and solving again fills the gaps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

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
    ties, every = graph.ties(labels, int(labels.max()) + 1), np.arange(graph.n_vertices)
    own = ties[every, labels]
    ties[every, labels] = -np.inf
    return ties.max(axis=1) - own
