"""Moves of whole clusters: re-split the union of two, or split one and merge two others.

Both are problems of two clusters. Edges to the rest of the graph stay cut whatever happens, so they enter as external
weight; the constraints that hold now are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.evolve import search
from tightcut.search.options import QUICK, SearchOptions
from tightcut.search.problem import Contraction
from tightcut.search.signed_graph import SignedGraph
from tightcut.search.two_clusters import TwoClusters

FEW = 10  # vertices of two clusters up to which all splits of them are compared; a search takes ten times as long


def resplit_pairs(
    graph: ConstrainedGraph, labels: np.ndarray, k: int, rng: np.random.Generator, options: SearchOptions = QUICK
) -> np.ndarray:
    """Split each two adjacent clusters again, most strongly joined first; keeps what lowers the cut.

    Pairs without a cluster in common do not depend on each other and are split side by side.
    """
    labels = labels.copy()
    joint = graph.joint_weights(labels, k)
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
    graph: ConstrainedGraph, labels: np.ndarray, a: int, b: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The members of two clusters and their new labels, if a better split was found."""
    members = np.flatnonzero((labels == a) | (labels == b))
    if len(members) <= FEW:
        side = best_of_all_splits(graph, labels, members)
        return [] if side is None else [(members, np.where(side, a, b))]
    units = units_of(graph, labels, members)
    spins = units.project(np.where(labels[members] == a, 1, -1).astype(np.int8))
    before = units.small.ratio(spins)
    ratio, found = search(TwoClusters(units.small), rng, QUICK, [spins])[0]
    return [(members, np.where(units.lift(found) > 0, a, b))] if ratio < before * (1 - 1e-12) else []


def best_of_all_splits(graph: ConstrainedGraph, labels: np.ndarray, members: np.ndarray) -> np.ndarray | None:
    """One side of the best split of the members of two clusters, if it is better than the present one.

    All splits that keep the relations that hold today are compared, 2^(m - 1) - 1 of them for m members.
    """
    if len(members) == 2:
        return None
    sides, own = _splits(len(members)), labels[members]
    joint, relations = _table(graph.weights, members), _table(graph.relations, members)
    external, mass = np.maximum(graph.degrees[members] - joint.sum(axis=1), 0), graph.vertex_weights[members]
    between = ((sides @ joint) * (1 - sides)).sum(axis=1)
    ratio = (between + sides @ external) / (sides @ mass) + (between + (1 - sides) @ external) / ((1 - sides) @ mass)
    u, v = np.nonzero(relations)
    together = own[u] == own[v]
    holds = together == (relations[u, v] < 0)
    u, v, together = u[holds], v[holds], together[holds]
    ratio[((sides[:, u] == sides[:, v]) != together).any(axis=1)] = np.inf
    present = int((own[1:] == own[0]) @ (1 << np.arange(len(own) - 1)))
    best = int(np.argmin(ratio))
    return sides[best] > 0 if ratio[best] < ratio[present] * (1 - 1e-12) else None


@cache
def _splits(m: int) -> np.ndarray:
    """A row of ones and zeros for each split of m members; the first is always one, row t has the bits of t for the others."""
    rest = np.arange(2 ** (m - 1) - 1)[:, None] >> np.arange(m - 1) & 1
    return np.hstack([np.ones((len(rest), 1)), rest])


def _table(matrix: sp.csr_array, members: np.ndarray) -> np.ndarray:
    """The entries between a few vertices as a dense matrix. O(their arcs)."""
    place = np.full(matrix.shape[0], -1)
    place[members] = np.arange(len(members))
    table = np.zeros((len(members), len(members) + 1))  # the last column takes what leads elsewhere
    for row, (start, stop) in enumerate(zip(matrix.indptr[members], matrix.indptr[members + 1], strict=True)):
        table[row, place[matrix.indices[start:stop]]] = matrix.data[start:stop]
    return table[:, :-1]


def split_and_merge(
    graph: ConstrainedGraph,
    labels: np.ndarray,
    k: int,
    rng: np.random.Generator,
    penalty: Callable[[np.ndarray], np.ndarray],
    options: SearchOptions = QUICK,
) -> np.ndarray | None:
    """Split one cluster and merge two others, if that lowers the cut and the penalty for violated belief together.

    This repairs what recursion gets wrong: a class cut in two while two classes share a cluster.
    """
    leaving, volume = np.bincount(labels, graph.degrees, k), np.bincount(labels, graph.vertex_weights, k)
    joint = graph.joint_weights(labels, k)
    leaving = leaving - np.diag(joint)
    share = leaving / volume
    a, b = np.triu_indices(k, 1)
    merged = (leaving[a] + leaving[b] - 2 * joint[a, b]) / (volume[a] + volume[b]) - share[a] - share[b]
    violated = graph.violated(labels) + graph.joint_relations(labels, k)[a, b]
    before = penalty(np.array(graph.violated(labels)))
    best, move = -1e-12, None
    tasks = [(graph, labels, c, child) for c, child in enumerate(rng.spawn(k))]
    for c, ratio, members, side, resolved in options.map(_halves, tasks):
        change = merged + (ratio - share[c]) + penalty(violated - resolved) - before
        change[(a == c) | (b == c)] = np.inf
        pair = int(np.argmin(change))
        if change[pair] < best:
            best, move = change[pair], (a[pair], b[pair], members[side])
    if move is None:
        return None
    kept, freed, leavers = move
    labels = labels.copy()
    labels[labels == freed] = kept
    labels[leavers] = freed
    return labels


def _halves(
    graph: ConstrainedGraph, labels: np.ndarray, c: int, rng: np.random.Generator
) -> list[tuple[int, float, np.ndarray, np.ndarray, float]]:
    """A cluster, the ratio of its best split, its members, which of them leave, and the relations between the two parts.

    Nothing if it cannot be split.
    """
    members = np.flatnonzero(labels == c)
    if len(members) < 2:
        return []
    units = units_of(graph, labels, members)
    if units.small.is_one_sided:
        return []
    ratio, spins = search(TwoClusters(units.small), rng, QUICK)[0]
    side = units.lift(spins) > 0
    relations = _among(graph.relations, members)
    return [(c, ratio, members, side, float(side @ (relations @ ~side)))]


def units_of(graph: ConstrainedGraph, labels: np.ndarray, members: np.ndarray) -> Contraction[SignedGraph]:
    """The signed graph of the members of one or two clusters, with the relations that hold today as units.

    The labels themselves orient the units: no colouring is needed.
    """
    n = len(members)
    couplings, relations = _among(graph.weights, members), _among(graph.relations, members).tocoo()
    external = np.maximum(graph.degrees[members] - couplings.sum(axis=1), 0)
    signed = SignedGraph.from_couplings(couplings, graph.vertex_weights[members], external)
    own = labels[members]
    holds = (own[relations.row] == own[relations.col]) == (relations.data < 0)
    if not holds.any():
        return Contraction(signed, np.arange(n, dtype=np.int32), np.ones(n, np.int8))
    ends = relations.row[holds], relations.col[holds]
    _, unit = sp.csgraph.connected_components(sp.coo_array((holds[holds], ends), shape=(n, n)), directed=False)
    first = np.unique(unit, return_index=True)[1]
    sign = np.where(own == own[first[unit]], 1, -1).astype(np.int8)
    return signed.merge(unit, sign)


def _among(matrix: sp.csr_array, members: np.ndarray) -> sp.csr_array:
    """The entries between some vertices, given in rising order."""
    place = np.full(matrix.shape[0], -1, np.int32)
    place[members] = np.arange(len(members), dtype=np.int32)
    rows = matrix[members]
    columns = place[rows.indices]
    inside = columns >= 0
    indptr = np.append(0, np.cumsum(inside))[rows.indptr].astype(matrix.indptr.dtype)
    return sp.csr_array((rows.data[inside], columns[inside], indptr), shape=(len(members), len(members)))
