"""Large neighbourhood search on a signed graph: a cluster and those next to it are solved exactly, the others stay."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.arrays import filled
from tightcut.kernels.compiled import compiled
from tightcut.kernels.multicut_exact import best_partition
from tightcut.kernels.multicut_moves import link, member_lists

EPSILON = 1e-9
LARGEST = 12  # vertices that are solved at once
MOST_NODES = 2000
MOST_ROUNDS = 4
WORK_PER_ARC = 300  # arcs that may be looked at, for each arc of the component


@compiled
def solve_neighbourhoods(first, n, graph, groups, label):
    """Improve the clusters of n vertices from `first` on; returns whether any changed."""
    lists = member_lists(n, label)
    position, chosen = filled(n, -1), filled(n, 0)
    active, following = filled(n, 1), filled(n, 0)
    work = WORK_PER_ARC * (1000.0 + graph[0][first + n] - graph[0][first])
    improved = False
    for _ in range(MOST_ROUNDS):
        changed = False
        for a in range(n):
            if active[a] > 0 and 0 < lists[3][a] <= LARGEST and work > 0:
                members, clusters = _gather(a, first, graph, label, lists, chosen)
                for v in members:
                    work -= graph[0][first + v + 1] - graph[0][first + v]
                if _solve(members, first, graph, groups, label, position):
                    _rebuild(members, clusters, label, lists, following)
                    changed = True
        improved |= changed
        if not changed:
            break
        for a in range(n):
            active[a], following[a] = following[a], 0
    return improved


@compiled
def _gather(a, first, graph, label, lists, chosen):
    """The members of cluster a and of clusters with positive edges to it, as far as they fit; and these clusters."""
    indptr, indices, weights = graph
    members, clusters = filled(LARGEST, 0), filled(LARGEST, 0)
    size, count = _add(a, members, 0, lists), 1
    clusters[0] = a
    chosen[a] = 1
    own = size
    for i in range(own):
        v = members[i]
        for arc in range(indptr[first + v], indptr[first + v + 1]):
            c = label[indices[arc] - first]
            if weights[arc] > 0 and chosen[c] == 0 and size + lists[3][c] <= LARGEST:
                chosen[c] = 1
                clusters[count] = c
                count += 1
                size = _add(c, members, size, lists)
    for t in range(count):
        chosen[clusters[t]] = 0
    return members[:size], clusters[:count]


@compiled
def _add(c, members, size, lists):
    v = lists[0][c]
    while v >= 0:
        members[size] = v
        size += 1
        v = lists[1][v]
    return size


@compiled
def _solve(members, first, graph, groups, label, position):
    """Give the members the labels of their best clustering, counted from 0, if it is better; returns whether it is."""
    indptr, indices, weights = graph
    starts, values = groups
    size = len(members)
    matrix, own = np.zeros((size, size)), filled(size, 0)
    for i in range(size):
        position[members[i]] = i
        own[i] = i
        for j in range(i - 1, -1, -1):
            if label[members[j]] == label[members[i]]:
                own[i] = own[j]
    cost = 0.0
    for i in range(size):
        v = first + members[i]
        for arc in range(indptr[v], indptr[v + 1]):
            j = position[indices[arc] - first]
            if j >= 0:
                matrix[i, j] = weights[arc]
                if weights[arc] > -np.inf and (weights[arc] > 0) != (own[i] == own[j]):
                    cost += 0.5 * abs(weights[arc])
        for j in range(i):
            u = first + members[j]
            for entry in range(starts[v], starts[v + 1]):
                for other in range(starts[u], starts[u + 1]):
                    if values[entry] == values[other]:
                        matrix[i, j] = matrix[j, i] = -np.inf
    for i in range(size):
        position[members[i]] = -1
    if cost <= EPSILON:
        return False
    least, bound = best_partition(matrix, own, cost, MOST_NODES)
    if least > bound + EPSILON or least > cost - EPSILON:
        return False
    for i in range(size):
        label[members[i]] = own[i]
    return True


@compiled
def _rebuild(members, clusters, label, lists, following):
    """Turn the new labels of the members into clusters: their old ones first, then empty ones."""
    head, count, empty = lists[0], lists[3], lists[4]
    n = len(count)
    for c in clusters:
        head[c], count[c] = -1, 0
    slot = filled(len(members), -1)
    used = 0
    for v in members:
        number = label[v]
        if slot[number] < 0:
            if used < len(clusters):
                slot[number] = clusters[used]
            else:
                empty[n] -= 1
                slot[number] = empty[empty[n]]
            used += 1
        label[v] = slot[number]
        count[label[v]] += 1
        link(v, label[v], lists)
        following[label[v]] = 1
    for t in range(used, len(clusters)):
        empty[empty[n]] = clusters[t]
        empty[n] += 1
