"""Known points spread over the graph, then the nearest local minimum of the cut.

The smallest cut may lie far from what the labels of a few points suggest: their classes withdraw into corners that are
cheap to cut off, and everything else becomes one large cluster. This strategy stays near the known points instead.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tightcut.constraints import Constraints
from tightcut.graph import Graph
from tightcut.search.constrained_graph import PartitionGraph
from tightcut.search.feasibility import complete, conflict_graph, fill_empty, find_colouring, repair
from tightcut.search.many_clusters import explain, improve_feasible, merge_must_links
from tightcut.search.multiway import Prices
from tightcut.search.search import SearchOptions

MAX_STEPS = 300
STEPS_BETWEEN_CHECKS = 10
SETTLED = 1e-4  # share of the vertices whose cluster may still change between two checks


def spread_partition(
    graph: Graph, constraints: Constraints, k: int, rng: np.random.Generator, options: SearchOptions
) -> np.ndarray:
    """Labels of k clusters that satisfy every constraint, near the sets of points that are known to be apart."""
    reduced = merge_must_links(graph, constraints, k)
    seeds = separated_vertices(reduced.graph, k)
    if len(seeds) < 2:
        raise ValueError(
            'strategy="spread" starts from points that must be in different clusters, and there are none; give '
            "partial_labels or cannot-links."
        )
    wished = spread(reduced.graph, seeds, options)
    complete(reduced.graph, wished, np.flatnonzero(wished < 0), k)
    labels = fill_empty(reduced.graph, repair(reduced.graph, wished, k, rng), k)
    if reduced.graph.violated(labels):
        answer = find_colouring(reduced.graph, k, rng, options.effort)
        if answer.colours is None:
            raise explain(constraints, reduced, answer, k)
        labels = fill_empty(reduced.graph, answer.colours, k)
    return improve_feasible(reduced.graph, labels, k, Prices.prohibitive(reduced.graph, k))[1][reduced.component]


def separated_vertices(graph: PartitionGraph, k: int) -> list[int]:
    """Up to k vertices with cannot-links between all of them, the heaviest first."""
    conflicts = conflict_graph(graph)
    candidates = np.flatnonzero(np.diff(conflicts.indptr))
    chosen: list[int] = []
    while len(candidates) and len(chosen) < k:
        chosen.append(int(candidates[np.argmax(graph.mass[candidates])]))
        start, end = conflicts.indptr[chosen[-1]], conflicts.indptr[chosen[-1] + 1]
        candidates = np.intersect1d(candidates, conflicts.indices[start:end], assume_unique=True)
    return chosen


def spread(graph: PartitionGraph, seeds: list[int], options: SearchOptions | None = None) -> np.ndarray:
    """The seed that a random walk from each vertex most probably meets first; -1 where it meets none.

    Harmonic functions, by repeated means over neighbours until hardly any vertex changes its mind. A vertex with a
    cannot-link to a seed never joins it.
    """
    options = options or SearchOptions()
    w, n, n_seeds = graph.weights, graph.n_vertices, len(seeds)
    walk = sp.diags_array(1 / np.maximum(graph.degree, np.finfo(float).tiny)) @ w
    apart = graph.relations[:, seeds].toarray() > 0
    share = np.zeros((n, n_seeds))
    labels = np.full(n, -1, np.int32)
    for step in range(MAX_STEPS):
        share[seeds] = np.eye(n_seeds)
        share = walk @ share
        share[apart] = 0.0
        if (step + 1) % STEPS_BETWEEN_CHECKS == 0:
            latest = np.where(share.any(axis=1), share.argmax(axis=1), -1).astype(np.int32)
            changed = np.count_nonzero(latest != labels)
            labels = latest
            options.report("spread", step + 1, MAX_STEPS, float(changed))
            if changed <= SETTLED * n:
                break
    options.report("spread", MAX_STEPS, MAX_STEPS, 0.0)
    labels[seeds] = np.arange(n_seeds)
    return labels
