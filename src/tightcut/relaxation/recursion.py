"""The paper's scheme for k clusters: recursive bisection with soft constraints (its Section 5).

An early split cannot separate all classes, so it may leave cannot-links violated: with k classes of equal size and
N cannot-links spread evenly over the pairs of classes, splitting one class off leaves (k - 2)/k N of them. Further
down a component of n~ of the n points is taken to hold k~ = k n~/n classes.

Of all components, the paper splits that which leaves the smallest cut. It does not say what a violated cannot-link counts
in this choice; by the cut alone many are left, so here each has a price.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut

Split = Callable[[Graph, Constraints, float], np.ndarray]
Criterion = Callable[[Graph, Constraints, np.ndarray, int], float]


def cut_and_violations(graph: Graph, links: Constraints, labels: np.ndarray, k: int) -> float:
    """The cut, times 1 + k times the violated share of the cannot-links."""
    total = float(links.cannot_link_belief.sum())
    share = links.violations(labels).belief / total if total > 0 else 0.0
    return normalized_cut(graph, labels) * (1 + k * share)


def recursive_partitions(
    graph: Graph,
    constraints: Constraints,
    k: int,
    split: Split,
    report: Callable[[int, float], None],
    criterion: Criterion = cut_and_violations,
) -> tuple[np.ndarray, ...]:
    """The clusterings into 2, 3, ..., k parts. Must-links hold in all of them; cannot-links need not.

    Parameters
    ----------
    split : callable
        Takes a graph, cannot-links and the units of belief that may be violated; returns one side of a partition.
    report : callable
        Takes the number of clusters so far, and the cut.
    criterion : callable
        Of the merged graph, its cannot-links, the labels after a split, and k: the smallest one is taken.
    """
    component = separate_sets(constraints, k)
    count = int(component.max()) + 1
    merged = graph.contract(component)
    sizes = np.bincount(component)
    pairs = component[constraints.cannot_link]
    links = Constraints.from_pairs(count, cannot_link=pairs, cannot_link_belief=constraints.cannot_link_belief)
    labels = np.zeros(count, np.int64)
    splits: dict[int, np.ndarray | None] = {}
    hierarchy = []
    for n_parts in range(2, k + 1):
        for c in range(n_parts - 1):
            if c not in splits:
                splits[c] = _split(merged, links, labels == c, sizes, k, split)
        candidates = {c: _apply(labels, c, side, n_parts - 1) for c, side in splits.items() if side is not None}
        chosen = min(candidates, key=lambda c: criterion(merged, links, candidates[c], k))
        labels = candidates[chosen]
        del splits[chosen]
        hierarchy.append(labels[component])
        report(n_parts, normalized_cut(merged, labels))
    return tuple(hierarchy)


def separate_sets(constraints: Constraints, k: int) -> np.ndarray:
    """The must-linked set of each point, at least k of them, with no cannot-link inside one."""
    witness = constraints.conflict_witness()
    if witness is not None:
        raise InconsistentConstraintsError(witness, n_clusters=k)
    count, component = constraints.components()
    if count < k:
        raise InconsistentConstraintsError(n_clusters=k, reason="empty cluster", n_sets=count)
    return component


def _split(
    graph: Graph,
    constraints: Constraints,
    inside: np.ndarray,
    sizes: np.ndarray,
    k: int,
    split: Split,
) -> np.ndarray | None:
    """Which vertices leave the component `inside`; None if it is a single vertex."""
    members = np.flatnonzero(inside)
    if len(members) < 2:
        return None
    links = constraints.subset(members)
    classes = max(k * sizes[members].sum() / sizes.sum(), 2.0)
    allowed = (classes - 2) / classes * float(links.cannot_link_belief.sum())
    leaves = np.zeros(len(inside), bool)
    leaves[members] = split(graph.subgraph(members), links, allowed)
    return leaves


def _apply(labels: np.ndarray, c: int, side: np.ndarray, new: int) -> np.ndarray:
    result = labels.copy()
    result[side & (labels == c)] = new
    return result
