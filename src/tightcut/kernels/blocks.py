"""Steps on a block of a graph: some of its units with all their arcs (see distributed/).

A block holds the units first, ..., first + b - 1. `indptr` counts from the first arc of the block, `indices` are numbers of
the whole graph, as are `vertex_weights`, `labels` and all else with an entry per unit. What a step says of a unit
depends on its arcs and on these arrays only, never on how the graph is cut into blocks.
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled


@compiled
def _scrambled(x):
    """The finaliser of splitmix64."""
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled
def add_up_arcs(row, column, weight, n_rows):
    """Arcs sorted by their ends, parallel ones added up, lightest first, so that the order they come in does not matter.

    `row` holds numbers below `n_rows`. Returns indptr, columns and weights.
    """
    ends = np.zeros(n_rows + 1, np.int64)
    for r in row:
        ends[r + 1] += 1
    for r in range(n_rows):
        ends[r + 1] += ends[r]
    columns, weights = np.empty(len(row), np.int32), np.empty(len(row))
    indptr = ends.copy()
    for a in range(len(row)):
        place = indptr[row[a]]
        columns[place], weights[place] = column[a], weight[a]
        indptr[row[a]] += 1
    kept = 0
    for r in range(n_rows):
        _sort_pairs(columns[ends[r] : ends[r + 1]], weights[ends[r] : ends[r + 1]])
        indptr[r] = kept
        for a in range(ends[r], ends[r + 1]):
            if kept > indptr[r] and columns[kept - 1] == columns[a]:
                weights[kept - 1] += weights[a]
            else:
                columns[kept], weights[kept] = columns[a], weights[a]
                kept += 1
    indptr[n_rows] = kept
    return indptr, columns[:kept].copy(), weights[:kept].copy()


@compiled
def _sort_pairs(keys, values):
    """By key, then by value, in place: Shell's sort, by insertion where there are few."""
    n = len(keys)
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for start in range(gap, n):
            key, value, to = keys[start], values[start], start
            while to >= gap and (keys[to - gap] > key or (keys[to - gap] == key and values[to - gap] > value)):
                keys[to], values[to] = keys[to - gap], values[to - gap]
                to -= gap
            keys[to], values[to] = key, value
        gap //= 3


@compiled
def best_neighbours(first, indptr, indices, weights, vertex_weights, related, heaviest, seed):
    """The neighbour that each unit is tied to most tightly for their masses, and how tightly; (-1, 0) if it may join none.

    No two join that weigh more than `heaviest` together, or that are both related. Equal ties are decided at random, by
    `seed`, a uint64.
    """
    n = len(indptr) - 1
    best, tightest = np.empty(n, np.int32), np.zeros(n)
    for b in range(n):
        u = first + b
        best[b] = -1
        lot = np.uint64(0)
        for a in range(indptr[b], indptr[b + 1]):
            v = indices[a]
            if vertex_weights[u] + vertex_weights[v] > heaviest or (related[u] and related[v]):
                continue
            tightness = weights[a] * weights[a] / (vertex_weights[u] * vertex_weights[v])
            if tightness < tightest[b]:
                continue
            drawn = _scrambled(np.uint64(min(u, v)) ^ _scrambled(np.uint64(max(u, v)) ^ seed))
            if tightness > tightest[b] or drawn > lot:
                best[b], tightest[b], lot = v, tightness, drawn
    return best, tightest


@compiled
def join_units(order, best, vertex_weights, related, heaviest, fewest):
    """Join units with their best neighbours in the given order, until `fewest` are left; returns the new unit of each.

    A unit that others have joined stays where it is. No new unit weighs more than `heaviest`, unless it is a single old
    one, and none has more than one related unit. `vertex_weights` and `related` are used up. New units are numbered
    by their first member.
    """
    n = len(vertex_weights)
    leader = np.empty(n, np.int32)
    for u in range(n):
        leader[u] = u
    settled = np.zeros(n, np.bool_)
    left = n
    for u in order:
        if left <= fewest:
            break
        if settled[u] or best[u] < 0:
            continue
        to = leader[best[u]]
        if vertex_weights[u] + vertex_weights[to] > heaviest or (related[u] and related[to]):
            continue
        leader[u] = to
        settled[u] = settled[to] = True
        vertex_weights[to] += vertex_weights[u]
        related[to] |= related[u]
        left -= 1
    unit, number = np.empty(n, np.int32), np.full(n, -1, np.int32)
    count = 0
    for u in range(n):
        if number[leader[u]] < 0:
            number[leader[u]] = count
            count += 1
        unit[u] = number[leader[u]]
    return unit


@compiled
def measure_block(first, indptr, indices, weights, labels, leaving):
    """Add the edge weight that leaves the clusters of a block's units."""
    for b in range(len(indptr) - 1):
        own = labels[first + b]
        for a in range(indptr[b], indptr[b + 1]):
            if labels[indices[a]] != own:
                leaving[own] += weights[a]


@compiled
def leaving_shares(first, indptr, indices, weights, labels):
    """The share of each unit's edge weight that leaves its cluster."""
    n = len(indptr) - 1
    shares = np.zeros(n)
    for b in range(n):
        own = labels[first + b]
        degree = 0.0
        for a in range(indptr[b], indptr[b + 1]):
            degree += weights[a]
            if labels[indices[a]] != own:
                shares[b] += weights[a]
        if degree > 0.0:
            shares[b] /= degree
    return shares


@compiled
def spread_shares(first, indptr, indices, weights, shares):
    """The share of each unit, and the mean of its neighbours' shares by edge weight, added up."""
    n = len(indptr) - 1
    spread = np.zeros(n)
    for b in range(n):
        degree = 0.0
        for a in range(indptr[b], indptr[b + 1]):
            degree += weights[a]
            spread[b] += weights[a] * shares[indices[a]]
        if degree > 0.0:
            spread[b] /= degree
        spread[b] += shares[first + b]
    return spread


@compiled
def best_moves(first, indptr, indices, weights, vertex_weights, labels, leaving, volume, apart_indptr, apart_indices):
    """The cluster that each unit should move to, if all others stay, and the change of the cut; (-1, 0) if it should not.

    No unit moves to a cluster that holds one it is apart from.
    """
    n, k = len(indptr) - 1, len(leaving)
    wanted, change = np.empty(n, np.int32), np.zeros(n)
    towards = np.zeros(k)
    for b in range(n):
        wanted[b] = -1
        own = labels[first + b]
        boundary = False
        for a in range(indptr[b], indptr[b + 1]):
            if labels[indices[a]] != own:
                boundary = True
                break
        if not boundary:
            continue
        degree = _ties(b, indptr, indices, weights, labels, towards)
        for a in range(apart_indptr[first + b], apart_indptr[first + b + 1]):
            towards[labels[apart_indices[a]]] = -1.0
        for c in range(k):
            if c != own and towards[c] > 0.0:
                found = _change(own, c, degree, vertex_weights[first + b], towards, leaving, volume)
                if found < change[b]:
                    wanted[b], change[b] = c, found
    return wanted, change


@compiled
def confirmed_moves(first, indptr, indices, weights, vertex_weights, labels, leaving, volume, wanted, change):
    """The changes of the cut by the wanted moves of a block, if all moves with a better change are made before.

    The afterburner of Jet (Gilbert, Madduri, Boman and Rajamanickam, 2024). 0 for units that want no move.
    """
    n, k = len(indptr) - 1, len(leaving)
    confirmed = np.zeros(n)
    towards = np.zeros(k)
    for b in range(n):
        v = first + b
        if wanted[v] < 0:
            continue
        towards[:] = 0.0
        degree = 0.0
        for a in range(indptr[b], indptr[b + 1]):
            u = indices[a]
            sooner = wanted[u] >= 0 and (change[u] < change[v] or (change[u] == change[v] and u < v))
            towards[wanted[u] if sooner else labels[u]] += weights[a]
            degree += weights[a]
        confirmed[b] = _change(labels[v], wanted[v], degree, vertex_weights[v], towards, leaving, volume)
    return confirmed


@compiled
def make_moves(order, wanted, labels, count, apart_indptr, apart_indices):
    """Move units one after the other, but none beside one it is apart from, nor the last out of its cluster."""
    for v in order:
        to = wanted[v]
        free = count[labels[v]] > 1
        for a in range(apart_indptr[v], apart_indptr[v + 1]):
            free = free and labels[apart_indices[a]] != to
        if free:
            count[labels[v]] -= 1
            count[to] += 1
            labels[v] = to


@compiled
def _ties(b, indptr, indices, weights, labels, towards):
    """Fill the edge weight from a unit to each cluster; returns that to all."""
    towards[:] = 0.0
    degree = 0.0
    for a in range(indptr[b], indptr[b + 1]):
        towards[labels[indices[a]]] += weights[a]
        degree += weights[a]
    return degree


@compiled
def _change(own, to, degree, vertex_weight, towards, leaving, volume):
    """Of the sum of leaving / volume, by a move of one unit."""
    if volume[own] <= vertex_weight:
        return np.inf
    left = (leaving[own] - degree + 2 * towards[own]) / (volume[own] - vertex_weight) - leaving[own] / volume[own]
    joined = (leaving[to] + degree - 2 * towards[to]) / (volume[to] + vertex_weight) - leaving[to] / volume[to]
    return left + joined
