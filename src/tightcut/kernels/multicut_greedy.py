"""Clusters of a signed graph by greedy additive contraction (see resolution/solver.py).

Positive weights favour a common cluster, negative ones oppose it, and -inf forbids it. `groups` gives the groups of
each vertex as two arrays, CSR-style: two vertices that share a group never share a cluster.
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.arrays import filled
from tightcut.kernels.compiled import compiled
from tightcut.kernels.heap import ABSENT, heapify, pop, renew


@compiled
def contract_greedily(first, n, graph, groups, mark):
    """Cluster of each of the n vertices from `first` on: repeatedly join the two with the most weight between them.

    Weights of edges that become parallel add up. `mark` has an entry per group and is 0 before and after. O(m log^2 m)
    for m edges, if few edges meet a group that forbids them.
    """
    edges = _edges_of(first, n, graph)
    ends, weight = edges[0], edges[1]
    lists = _incidence(n, ends)
    table = _hash_table(len(weight))
    for e in range(len(weight)):
        _insert(table, ends, e, n)
    parent = np.empty(n, np.int32)
    for v in range(n):
        parent[v] = v
    members = _group_lists(first, n, groups)
    heap, size, key, place = _queue(weight)
    while size > 0 and key[heap[0]] < 0:
        e = heap[0]
        size = pop(heap, size, key, place)
        a, b = ends[e, 0], ends[e, 1]
        if _share_a_group(a, b, members, mark):
            weight[e] = -np.inf
            continue
        weight[e] = np.nan
        if lists[2][a] < lists[2][b]:
            a, b = b, a
        parent[b] = a
        _take_over_groups(a, b, members)
        size = _take_over_edges(a, b, n, edges, lists, table, (heap, size, key, place))
    return _numbered(parent)


@compiled
def _queue(weight):
    """A heap of the edges with positive weight, the heaviest first."""
    m = len(weight)
    heap, key, place = np.empty(m, np.int32), np.empty(m), filled(m, ABSENT)
    size = 0
    for e in range(m):
        key[e] = -weight[e]
        if weight[e] > 0:
            heap[size] = e
            place[e] = size
            size += 1
    heapify(heap, size, key, place)
    return heap, size, key, place


@compiled
def _edges_of(first, n, graph):
    """Ends, counted from `first`, and weights of the edges among the vertices; NaN will mark an edge that is gone."""
    indptr, indices, weights = graph
    m = 0
    for v in range(n):
        for arc in range(indptr[first + v], indptr[first + v + 1]):
            m += indices[arc] - first > v
    ends, weight = np.empty((m, 2), np.int32), np.empty(m)
    m = 0
    for v in range(n):
        for arc in range(indptr[first + v], indptr[first + v + 1]):
            if indices[arc] - first > v:
                ends[m, 0], ends[m, 1] = v, indices[arc] - first
                weight[m] = weights[arc]
                m += 1
    return ends, weight


@compiled
def _incidence(n, ends):
    """Linked lists of the edges of each vertex: head, the next of each end of an edge, and lengths."""
    head, following = filled(n, -1), np.empty(2 * len(ends), np.int32)
    count = np.zeros(n, np.int32)
    for half in range(2 * len(ends)):
        v = ends[half >> 1, half & 1]
        following[half] = head[v]
        head[v] = half
        count[v] += 1
    return head, following, count


@compiled
def _hash_table(m):
    """Edges by their ends, with open addressing: slots, and a last entry that counts those in use."""
    capacity = 8
    while capacity < 4 * m:
        capacity *= 2
    table = filled(capacity + 1, -1)
    table[capacity] = 0
    return table


@compiled
def _slot(table, ends, a, b, n):
    """Where the edge between a and b stands, or the free slot where it would."""
    capacity = len(table) - 1
    low, high = min(a, b), max(a, b)
    # Fibonacci hashing: the upper bits of the product are the mixed ones.
    at = (((low * n + high) * 7046029254386353131) >> 20) & (capacity - 1)
    while table[at] >= 0:
        x, y = ends[table[at], 0], ends[table[at], 1]
        if min(x, y) == low and max(x, y) == high:
            break
        at = (at + 1) & (capacity - 1)
    return at


@compiled
def _insert(table, ends, e, n):
    at = _slot(table, ends, ends[e, 0], ends[e, 1], n)
    table[len(table) - 1] += table[at] < 0
    table[at] = e


@compiled
def _take_over_edges(a, b, n, edges, lists, table, queue):
    """Give the edges of b to a, which adds weights where a has an edge to the same vertex; returns the heap's size."""
    ends, weight = edges
    head, following, count = lists
    heap, size, key, place = queue
    half = head[b]
    while half >= 0:
        e, after = half >> 1, following[half]
        if weight[e] == weight[e]:
            other = ends[e, 1 - (half & 1)]
            at = _slot(table, ends, a, other, n)
            f = table[at]
            if f >= 0 and weight[f] == weight[f]:
                weight[f] += weight[e]
                weight[e] = np.nan
                if place[e] >= 0:  # it sinks, and the loop ends before it comes up
                    key[e] = np.inf
                    size = renew(e, heap, size, key, place)
                key[f] = -weight[f]
                if place[f] >= 0 or (place[f] == ABSENT and weight[f] > 0):
                    size = renew(f, heap, size, key, place)
            else:
                ends[e, half & 1] = a
                following[half] = head[a]
                head[a] = half
                count[a] += 1
                if f >= 0:
                    table[at] = e
                else:
                    _refill_or_insert(table, edges, e, n)
        half = after
    return size


@compiled
def _refill_or_insert(table, edges, e, n):
    """Enter an edge; a table full of edges that were removed or moved is rebuilt first."""
    ends, weight = edges
    capacity = len(table) - 1
    if 4 * table[capacity] > 3 * capacity:
        for at in range(capacity):
            table[at] = -1
        table[capacity] = 0
        for other in range(len(weight)):
            if weight[other] == weight[other]:
                _insert(table, ends, other, n)
    else:
        _insert(table, ends, e, n)


@compiled
def _group_lists(first, n, groups):
    """Linked lists of the groups of each cluster: the group of each entry, heads, tails and the next entry."""
    starts, values = groups
    begin = starts[first]
    head, tail = filled(n, -1), filled(n, -1)
    following = filled(starts[first + n] - begin, -1)
    for v in range(n):
        for entry in range(starts[first + v] - begin, starts[first + v + 1] - begin):
            if head[v] < 0:
                head[v] = entry
            else:
                following[tail[v]] = entry
            tail[v] = entry
    value = np.empty(len(following), np.int32)
    for entry in range(len(value)):
        value[entry] = values[begin + entry]
    return value, head, tail, following


@compiled
def _share_a_group(a, b, members, mark):
    value, head, _, following = members
    if head[a] < 0 or head[b] < 0:
        return False
    entry = head[a]
    while entry >= 0:
        mark[value[entry]] = 1
        entry = following[entry]
    shared = False
    entry = head[b]
    while entry >= 0:
        shared |= mark[value[entry]] > 0
        entry = following[entry]
    entry = head[a]
    while entry >= 0:
        mark[value[entry]] = 0
        entry = following[entry]
    return shared


@compiled
def _take_over_groups(a, b, members):
    _, head, tail, following = members
    if head[b] < 0:
        return
    if head[a] < 0:
        head[a] = head[b]
    else:
        following[tail[a]] = head[b]
    tail[a] = tail[b]


@compiled
def _numbered(parent):
    """Cluster of each vertex, 0, 1, ... by order of appearance."""
    n = len(parent)
    label, number = np.empty(n, np.int32), filled(n, -1)
    count = 0
    for v in range(n):
        root = v
        while parent[root] != root:
            root = parent[root]
        parent[v] = root
        if number[root] < 0:
            number[root] = count
            count += 1
        label[v] = number[root]
    return label
