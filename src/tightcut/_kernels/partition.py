"""Local search on partitions into k clusters (see search/constrained_graph.py).

leaving[c] is the edge weight that leaves cluster c, volume[c] its vertex weight; the objective is the sum of
leaving / volume plus price * (relation weight inside clusters). Relations are positive for cannot-links and negative
for must-links.
"""

from __future__ import annotations

import numpy as np

from tightcut._kernels.compiled import compiled
from tightcut._kernels.heap import ABSENT, LOCKED, heapify, pop, renew, sift_down


@compiled
def measure_partition(indptr, indices, weights, mass, labels, leaving, volume, count):
    """Fill the totals of every cluster. O(arcs)."""
    leaving[:] = 0.0
    volume[:] = 0.0
    count[:] = 0
    for v in range(len(labels)):
        own = labels[v]
        volume[own] += mass[v]
        count[own] += 1
        for a in range(indptr[v], indptr[v + 1]):
            if labels[indices[a]] != own:
                leaving[own] += weights[a]


@compiled
def relation_inside(indptr, indices, weights, labels):
    """Total weight of the relations whose two ends share a cluster."""
    total = 0.0
    for v in range(len(labels)):
        for a in range(indptr[v], indptr[v + 1]):
            if labels[indices[a]] == labels[v]:
                total += 0.5 * weights[a]
    return total


@compiled
def _sum_of_ratios(leaving, volume):
    """Sum of leaving / volume over the clusters. Arithmetic on whole arrays would take longer to compile."""
    total = 0.0
    for c in range(len(leaving)):
        total += leaving[c] / volume[c]
    return total


@compiled
def near_boundary(indptr, indices, labels, a, b, rel_indptr, limit):
    """About `limit` vertices of clusters a and b that are nearest to their boundary and have no relation."""
    n = len(labels)
    near = np.zeros(n, np.bool_)
    queue = np.empty(n, np.int32)
    head, tail = 0, 0
    for v in range(n):
        if labels[v] == a or labels[v] == b:
            other = a + b - labels[v]
            for arc in range(indptr[v], indptr[v + 1]):
                if labels[indices[arc]] == other:
                    near[v] = True
                    queue[tail] = v
                    tail += 1
                    break
    while head < tail < limit:
        v = queue[head]
        head += 1
        for arc in range(indptr[v], indptr[v + 1]):
            u = indices[arc]
            if not near[u] and (labels[u] == a or labels[u] == b):
                near[u] = True
                queue[tail] = u
                tail += 1
    found = 0
    for t in range(tail):
        if rel_indptr[queue[t]] == rel_indptr[queue[t] + 1]:
            queue[found] = queue[t]
            found += 1
    return np.sort(queue[:found])


@compiled
def _best_move(v, graph, price, state, towards, clash):
    """The cluster that vertex v should move to and the change of the objective; (-1, inf) if it cannot move."""
    indptr, indices, weights, mass, degree, rel_indptr, rel_indices, rel_weights = graph
    labels, leaving, volume, count = state
    own, k = labels[v], len(leaving)
    if count[own] == 1:
        return -1, np.inf
    towards[:] = 0.0
    clash[:] = 0.0
    for a in range(indptr[v], indptr[v + 1]):
        towards[labels[indices[a]]] += weights[a]
    for a in range(rel_indptr[v], rel_indptr[v + 1]):
        clash[labels[rel_indices[a]]] += rel_weights[a]
    gain = (leaving[own] - degree[v] + 2 * towards[own]) / (volume[own] - mass[v]) - leaving[own] / volume[own]
    best, best_change = -1, np.inf
    for c in range(k):
        if c == own:
            continue
        change = (leaving[c] + degree[v] - 2 * towards[c]) / (volume[c] + mass[v]) - leaving[c] / volume[c]
        change += price * (clash[c] - clash[own])
        if change < best_change:
            best, best_change = c, change
    return best, gain + best_change


@compiled
def _enter_boundary(graph, price, state, towards, clash, key, heap, place):
    """Fill the heap with every vertex that has a neighbour in another cluster, or a relation; returns its size."""
    indptr, indices, _, _, _, rel_indptr, _, _ = graph
    labels = state[0]
    size = 0
    for v in range(len(labels)):
        place[v] = ABSENT
        boundary = rel_indptr[v] < rel_indptr[v + 1] or indptr[v] == indptr[v + 1]
        for a in range(indptr[v], indptr[v + 1]):
            if boundary:
                break
            boundary = labels[indices[a]] != labels[v]
        if boundary:
            _, key[v] = _best_move(v, graph, price, state, towards, clash)
            heap[size] = v
            place[v] = size
            size += 1
    heapify(heap, size, key, place)
    return size


@compiled
def _update_neighbours(v, indptr, indices, graph, price, state, towards, clash, key, heap, place, size):
    """Renew the keys of v's neighbours in one of the two graphs; those not in the heap enter it. Returns its size."""
    for a in range(indptr[v], indptr[v + 1]):
        u = indices[a]
        if place[u] == LOCKED:
            continue
        _, key[u] = _best_move(u, graph, price, state, towards, clash)
        size = renew(u, heap, size, key, place)
    return size


@compiled
def refine_partition(
    indptr, indices, weights, mass, degree, rel_indptr, rel_indices, rel_weights, price, labels, k, patience, max_passes
):  # fmt: skip
    """Fiduccia-Mattheyses passes on k clusters; changes `labels` in place, never empties a cluster.

    Returns the objective (up to the constant of the must-links). Never worse than the start.
    """
    n = len(labels)
    leaving, volume, count = np.empty(k), np.empty(k), np.empty(k, np.int64)
    towards, clash = np.empty(k), np.empty(k)
    key = np.empty(n)
    heap, place = np.empty(n, np.int32), np.empty(n, np.int32)
    touched, origin = np.empty(n, np.int32), np.empty(n, np.int32)
    graph = (indptr, indices, weights, mass, degree, rel_indptr, rel_indices, rel_weights)
    state = (labels, leaving, volume, count)
    best = np.inf
    for _ in range(max_passes):
        measure_partition(indptr, indices, weights, mass, labels, leaving, volume, count)
        current = _sum_of_ratios(leaving, volume)
        current += price * relation_inside(rel_indptr, rel_indices, rel_weights, labels)
        before = current
        size = _enter_boundary(graph, price, state, towards, clash, key, heap, place)
        n_touched, n_best, since_best, best = 0, 0, 0, current
        while size > 0 and since_best < patience:
            v = heap[0]
            target, fresh = _best_move(v, graph, price, state, towards, clash)
            if fresh > key[v] + 1e-12 * abs(current):
                key[v] = fresh
                sift_down(heap, size, key, place, 0)
                continue
            size = pop(heap, size, key, place)
            if target < 0:
                continue
            own = labels[v]
            leaving[own] += 2 * towards[own] - degree[v]
            leaving[target] += degree[v] - 2 * towards[target]
            volume[own] -= mass[v]
            volume[target] += mass[v]
            count[own] -= 1
            count[target] += 1
            labels[v] = target
            current += fresh
            touched[n_touched], origin[n_touched] = v, own
            n_touched += 1
            since_best += 1
            if current < best - 1e-12 * abs(best):
                best, n_best, since_best = current, n_touched, 0
            size = _update_neighbours(v, indptr, indices, graph, price, state, towards, clash, key, heap, place, size)
            size = _update_neighbours(
                v, rel_indptr, rel_indices, graph, price, state, towards, clash, key, heap, place, size
            )
        for t in range(n_touched - 1, n_best - 1, -1):
            labels[touched[t]] = origin[t]
        if not best < before - 1e-12 * abs(before):
            break
    return best


@compiled
def agglomerate(joint, leaving, volume, relation, price, k):
    """Merge clusters greedily, best change of the objective first, until k are left; returns their labels.

    `joint` and `relation` are dense symmetric matrices between the m initial clusters and are used up. Every cluster
    remembers its best partner among those after it, and looks for another only when that one is merged: about O(m^2).
    """
    m = len(leaving)
    labels, alive = np.empty(m, np.int32), np.empty(m, np.bool_)
    partner, change = np.empty(m, np.int32), np.empty(m)
    for a in range(m):
        labels[a], alive[a] = a, True
    for a in range(m):
        partner[a], change[a] = _best_partner(a, alive, joint, leaving, volume, relation, price)
    for _ in range(m - k):
        a, least = -1, np.inf
        for c in range(m):
            if alive[c] and change[c] < least:
                a, least = c, change[c]
        b = partner[a]
        leaving[a] += leaving[b] - 2 * joint[a, b]
        volume[a] += volume[b]
        for c in range(m):
            joint[a, c] += joint[b, c]
            joint[c, a] = joint[a, c]
            relation[a, c] += relation[b, c]
            relation[c, a] = relation[a, c]
        alive[b] = False
        for t in range(m):
            if labels[t] == b:
                labels[t] = a
        for c in range(b):
            if not alive[c]:
                continue
            if c == a or partner[c] == a or partner[c] == b:
                partner[c], change[c] = _best_partner(c, alive, joint, leaving, volume, relation, price)
            elif c < a:
                found = _change_by_merging(c, a, joint, leaving, volume, relation, price)
                if found < change[c] or (found == change[c] and a < partner[c]):
                    partner[c], change[c] = a, found
    return labels


@compiled
def _best_partner(a, alive, joint, leaving, volume, relation, price):
    """The cluster after a that it merges with best, the first of equals, and the change; (-1, inf) if there is none."""
    best, least = -1, np.inf
    for b in range(a + 1, len(alive)):
        if alive[b]:
            change = _change_by_merging(a, b, joint, leaving, volume, relation, price)
            if change < least:
                best, least = b, change
    return best, least


@compiled
def _change_by_merging(a, b, joint, leaving, volume, relation, price):
    merged = (leaving[a] + leaving[b] - 2 * joint[a, b]) / (volume[a] + volume[b])
    return merged - leaving[a] / volume[a] - leaving[b] / volume[b] + price * relation[a, b]
