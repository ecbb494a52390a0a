"""Moves between whole clusters: split two of them anew, or split one and merge two others.

Both go through the two-cluster solver. Edges to the rest of the graph stay cut whatever it does, so they enter as
external weight; the constraints that hold now are kept.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy.sparse as sp

from tightcut.constraints import Constraints
from tightcut.graph import Graph
from tightcut.search.constrained_graph import PartitionGraph
from tightcut.search.search import SearchOptions, search
from tightcut.search.signed_graph import Merger
from tightcut.search.two_clusters import reduce_to_units, vote

# One random start beside the present split: exchange is called often.
QUICK = SearchOptions(effort=0, n_init=1, n_jobs=1)


def resplit_pairs(
    graph: PartitionGraph, labels: np.ndarray, k: int, rng: np.random.Generator, *, options: SearchOptions = QUICK
) -> np.ndarray:
    """Split each two adjacent clusters anew, most strongly joined first; keeps what lowers the cut.

    Pairs without a cluster in common do not depend on each other and are split side by side.
    """
    labels = labels.copy()
    joint = joint_weights(graph, labels, k)
    pairs = sorted(combinations(range(k), 2), key=lambda pair: -joint[pair])
    for wave in waves([pair for pair in pairs if joint[pair] > 0]):
        tasks = [(graph, labels, *pair, child) for pair, child in zip(wave, rng.spawn(len(wave)), strict=True)]
        for members, split in options.map(_resplit, tasks):
            labels[members] = split
    return labels


def waves(pairs: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Groups of disjoint pairs, one after the other; pairs that share a member keep their order.

    Examples
    --------
    >>> waves([(0, 1), (0, 2), (2, 3), (1, 4)])
    [[(0, 1)], [(0, 2), (1, 4)], [(2, 3)]]
    """
    groups: list[list[tuple[int, int]]] = []
    ready: dict[int, int] = {}
    for a, b in pairs:
        number = max(ready.get(a, 0), ready.get(b, 0))
        if number == len(groups):
            groups.append([])
        groups[number].append((a, b))
        ready[a] = ready[b] = number + 1
    return groups


def _resplit(
    graph: PartitionGraph, labels: np.ndarray, a: int, b: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The members of two clusters and their new labels, if a better split was found."""
    members = np.flatnonzero((labels == a) | (labels == b))
    merger = pair_problem(graph, labels, members)
    spins = vote(merger, labels[members] == a)
    before = merger.graph.ratio(spins)
    ratio, found = search(merger.graph, rng, QUICK, [spins])[0]
    return [(members, np.where(merger.lift(found) > 0, a, b))] if ratio < before * (1 - 1e-12) else []


def split_and_merge(
    graph: PartitionGraph,
    labels: np.ndarray,
    k: int,
    rng: np.random.Generator,
    *,
    worsening: float = 0.0,
    options: SearchOptions = QUICK,
) -> np.ndarray | None:
    """Split one cluster and merge two others, if that lowers the cut or raises it by less than `worsening`.

    This repairs what recursion gets wrong: a class cut in two while two classes share a cluster.
    """
    leaving, volume = np.bincount(labels, graph.degree, k), np.bincount(labels, graph.mass, k)
    joint = joint_weights(graph, labels, k)
    leaving = leaving - np.diag(joint)
    np.fill_diagonal(joint, 0)
    clash = relation_between(graph, labels, k)
    tasks = [(graph, labels, c, child) for c, child in enumerate(rng.spawn(k))]
    halves = {
        c: (ratio - leaving[c] / volume[c], members, side) for c, ratio, members, side in options.map(_halves, tasks)
    }
    best, move = worsening, None
    for a, b in combinations(range(k), 2):
        if clash[a, b] > 0:
            continue
        merged = (leaving[a] + leaving[b] - 2 * joint[a, b]) / (volume[a] + volume[b])
        change = merged - leaving[a] / volume[a] - leaving[b] / volume[b]
        for c, (price, _, _) in halves.items():
            if c not in (a, b) and change + price < best - 1e-12:
                best, move = change + price, (a, b, c)
    if move is None:
        return None
    a, b, c = move
    labels = labels.copy()
    labels[labels == b] = a
    _, members, side = halves[c]
    labels[members[side]] = b
    return labels


def _halves(
    graph: PartitionGraph, labels: np.ndarray, c: int, rng: np.random.Generator
) -> list[tuple[int, float, np.ndarray, np.ndarray]]:
    """A cluster, the ratio of its best split, its members and which of them leave; nothing if it cannot be split."""
    members = np.flatnonzero(labels == c)
    if len(members) < 2:
        return []
    merger = pair_problem(graph, labels, members)
    if merger.graph.n_units == 1 and not merger.graph.mixed.any():
        return []
    ratio, spins = search(merger.graph, rng, QUICK)[0]
    return [(c, ratio, members, merger.lift(spins) > 0)]


def pair_problem(graph: PartitionGraph, labels: np.ndarray, members: np.ndarray) -> Merger:
    """The signed graph of some vertices, with the rest of the graph outside and today's satisfied relations kept."""
    part = Graph(graph.weights, graph.mass).subgraph(members)
    relations = graph.relations[members][:, members].tocoo()
    external = graph.degree[members] - part.degrees
    upper = relations.row < relations.col
    ends, belief = np.column_stack([relations.row, relations.col])[upper], relations.data[upper]
    same = labels[members[ends[:, 0]]] == labels[members[ends[:, 1]]]
    kept = Constraints.from_pairs(len(members), ends[same & (belief < 0)], ends[~same & (belief > 0)])
    return reduce_to_units(part, kept, np.maximum(external, 0), allow_single=True)


def joint_weights(graph: PartitionGraph, labels: np.ndarray, k: int) -> np.ndarray:
    """Edge weight between each two clusters; inside a cluster every edge counts twice."""
    return _between(graph.weights, labels, k)


def relation_between(graph: PartitionGraph, labels: np.ndarray, k: int) -> np.ndarray:
    return _between(graph.relations, labels, k)


def _between(matrix: sp.csr_array, labels: np.ndarray, k: int) -> np.ndarray:
    sources = np.repeat(labels, np.diff(matrix.indptr))
    code = sources.astype(np.int64) * k + labels[matrix.indices]
    return np.bincount(code, matrix.data, k * k).reshape(k, k)
