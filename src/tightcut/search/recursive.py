"""The paper's scheme for k clusters: split in two again and again, with soft constraints (its Section 5).

An early split cannot separate all classes, so it may leave cannot-links violated: with k classes of equal size and
N cannot-links spread evenly over the pairs of classes, splitting one class off leaves (k - 2)/k N of them. Further
down a component of n~ of the n points is taken to hold k~ = k n~/n classes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tightcut.constraints import Constraints
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.graph import Graph
from tightcut.relaxation.objective import normalized_cut
from tightcut.search.polish import polish
from tightcut.search.search import SearchOptions, search
from tightcut.search.tradeoff import penalized_graph
from tightcut.search.two_clusters import reduce_to_units

PENALTY_STEPS = 14


def recursive_partitions(
    graph: Graph,
    constraints: Constraints,
    k: int,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    inner: str = "flow",
) -> tuple[np.ndarray, ...]:
    """The clusterings into 2, 3, ..., k parts. Must-links hold in all of them; cannot-links need not."""
    witness = constraints.conflict_witness()
    if witness is not None:
        raise InconsistentConstraintsError(witness)
    count, component = constraints.components()
    if count < k:
        raise InconsistentConstraintsError(
            message=f"The must-links leave {count} separate sets of points, too few for {k} non-empty clusters."
        )
    merged = graph.contract(component)
    sizes = np.bincount(component)
    pairs = component[constraints.cannot_link]
    links = Constraints.from_pairs(count, cannot_link=pairs, cannot_link_weight=constraints.cannot_link_weight)
    labels = np.zeros(count, np.int64)
    splits: dict[int, np.ndarray | None] = {}
    hierarchy = []
    quiet = replace(options, progress=None)
    for n_parts in range(2, k + 1):
        options.report("recursion", n_parts - 2, k - 1, float("nan"))
        for c in range(n_parts - 1):
            if c not in splits:
                splits[c] = _split(merged, links, labels == c, sizes, k, rng, quiet, inner)
        candidates = {c: _apply(labels, c, side, n_parts - 1) for c, side in splits.items() if side is not None}
        chosen = min(candidates, key=lambda c: normalized_cut(merged, candidates[c]))
        labels = candidates[chosen]
        del splits[chosen]
        hierarchy.append(labels[component])
    options.report("recursion", k - 1, k - 1, normalized_cut(merged, labels))
    return tuple(hierarchy)


def bounded_bipartition(
    graph: Graph,
    constraints: Constraints,
    max_violations: float,
    rng: np.random.Generator,
    options: SearchOptions,
    inner: str = "flow",
) -> np.ndarray:
    """Raise the penalty from nothing until at most `max_violations` units of belief are violated.

    The paper's own rule for the soft problem; the last partition is returned if the penalty alone does not get there.
    """
    merger = reduce_to_units(graph, Constraints.from_pairs(graph.n_vertices))
    (cut, spins), _ = polish(merger.graph, search(merger.graph, rng, options)[0], inner)
    side = merger.lift(spins) > 0
    penalty = graph.volume * max(cut, np.finfo(float).eps) / 4 * 2.0**-8
    for _ in range(PENALTY_STEPS):
        if constraints.violations(side).belief <= max_violations + 1e-12:
            break
        known = [np.where(side, 1, -1).astype(np.int8)]
        side = search(penalized_graph(graph, constraints, penalty), rng, options, known)[0][1] > 0
        penalty *= 2
    return side


def _split(
    graph: Graph,
    constraints: Constraints,
    inside: np.ndarray,
    sizes: np.ndarray,
    k: int,
    rng: np.random.Generator,
    options: SearchOptions,
    inner: str,
) -> np.ndarray | None:
    """Which vertices leave the component `inside`; None if it is a single vertex."""
    members = np.flatnonzero(inside)
    if len(members) < 2:
        return None
    links = constraints.subset(members)
    classes = max(k * sizes[members].sum() / sizes.sum(), 2.0)
    allowed = (classes - 2) / classes * float(links.cannot_link_weight.sum())
    leaves = np.zeros(len(inside), bool)
    leaves[members] = bounded_bipartition(graph.subgraph(members), links, allowed, rng, options, inner)
    return leaves


def _apply(labels: np.ndarray, c: int, side: np.ndarray, new: int) -> np.ndarray:
    result = labels.copy()
    result[side & (labels == c)] = new
    return result
