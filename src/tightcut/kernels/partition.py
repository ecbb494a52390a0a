"""Local search on partitions into k clusters (see search/constrained_graph.py).

mass[v] is the weight of vertex v, volume[c] the sum of these over cluster c, and leaving[c] the weight of the edges that
leave it; the objective is the sum of leaving / volume plus price * (relation weight inside clusters). Relations are
positive for cannot-links and negative for must-links.

The search is that of Fiduccia and Mattheyses: in a pass the best move is made, even a bad one, and its vertex locked; in the
end the moves after the best state are undone. Vertices wait in a heap. Invariant: a key is a lower bound of what moving its
vertex changes, but for what other moves have changed of its clusters' ratios. Every edge and relation of a vertex that moves
lowers or raises the key of its other end by a bound, in O(log n), and a key is made exact when it comes first.

`towards` and `clash` hold what a vertex's edges and relations weigh towards each cluster: one row, added up for a vertex at a
time, or, where relations outnumber edges, a row for each vertex, renewed in O(1) for each edge and relation of a move.
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled, compiled_inline
from tightcut.kernels.heap import ABSENT, LOCKED, heapify, pop, renew, sift_down, sift_up


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
def tabulate(indptr, indices, values, labels, table):
    """The sum of each vertex's values towards each cluster. O(arcs + n k)."""
    table[:] = 0.0
    for v in range(len(labels)):
        for a in range(indptr[v], indptr[v + 1]):
            table[v, labels[indices[a]]] += values[a]


@compiled
def _ties(v, graph, labels, towards, clash):
    """The row of `towards` and `clash` for vertex v, which is filled if there is no row for each vertex."""
    if len(towards) > 1:
        return v
    indptr, indices, weights, _, _, rel_indptr, rel_indices, rel_weights = graph
    for c in range(towards.shape[1]):
        towards[0, c], clash[0, c] = 0.0, 0.0
    for a in range(indptr[v], indptr[v + 1]):
        towards[0, labels[indices[a]]] += weights[a]
    for a in range(rel_indptr[v], rel_indptr[v + 1]):
        clash[0, labels[rel_indices[a]]] += rel_weights[a]
    return 0


@compiled_inline
def _best_move(v, graph, price, state, towards, clash):
    """The cluster that vertex v should move to and the change of the objective; (-1, inf) if it cannot move."""
    mass, degree = graph[3], graph[4]
    labels, leaving, volume, ratio, count = state
    own, k = labels[v], len(leaving)
    if count[own] == 1:
        return -1, np.inf
    row = _ties(v, graph, labels, towards, clash)
    gain = (leaving[own] - degree[v] + 2 * towards[row, own]) / (volume[own] - mass[v]) - ratio[own]
    best, best_change = -1, np.inf
    for c in range(k):
        if c == own:
            continue
        change = (leaving[c] + degree[v] - 2 * towards[row, c]) / (volume[c] + mass[v]) - ratio[c]
        change += price * (clash[row, c] - clash[row, own])
        if change < best_change:
            best, best_change = c, change
    return best, gain + best_change


@compiled
def _enter_boundary(graph, state, key, heap, place):
    """Measure the clusters and list the vertices that have a neighbour in another one, or a relation; returns how many.

    The key of each is the weight of its edges to other clusters. One pass over the arcs.
    """
    indptr, indices, weights, mass, _, rel_indptr, _, _ = graph
    labels, leaving, volume, ratio, count = state
    for c in range(len(leaving)):
        leaving[c], volume[c], count[c] = 0.0, 0.0, 0
    size = 0
    for v in range(len(labels)):
        place[v] = ABSENT
        own, crossing = labels[v], 0.0
        boundary = rel_indptr[v] < rel_indptr[v + 1] or indptr[v] == indptr[v + 1]
        for a in range(indptr[v], indptr[v + 1]):
            if labels[indices[a]] != own:
                crossing += weights[a]
                boundary = True
        leaving[own] += crossing
        volume[own] += mass[v]
        count[own] += 1
        if boundary:
            heap[size], place[v], key[v] = v, size, crossing
            size += 1
    for c in range(len(leaving)):
        ratio[c] = leaving[c] / volume[c]
    return size


@compiled
def _bound_keys(graph, price, state, towards, clash, key, heap, place, size):
    """Turn the weights that `_enter_boundary` has left as keys into lower bounds of the change by a move, and sort.

    With x the weight of v's edges to other clusters, moving it to cluster c changes that one's share of the objective by
    (degree - 2 towards_c - mass ratio_c) / (volume_c + mass), where towards_c is at most x.
    """
    _, _, _, mass, degree, rel_indptr, _, _ = graph
    labels, leaving, volume, ratio, count = state
    largest, highest = 0, 0.0
    for c in range(len(leaving)):
        largest = c if volume[c] > volume[largest] else largest
        highest = max(highest, ratio[c])
    second = 0.0
    for c in range(len(leaving)):
        second = volume[c] if c != largest and volume[c] > second else second
    for t in range(size):
        v = heap[t]
        own, crossing = labels[v], key[v]
        kept = degree[v] - 2 * crossing
        least = kept - mass[v] * highest
        if least <= 0.0 or count[own] == 1 or rel_indptr[v] < rel_indptr[v + 1]:
            _, key[v] = _best_move(v, graph, price, state, towards, clash)
        else:
            key[v] = (leaving[own] + kept) / (volume[own] - mass[v]) - ratio[own]
            key[v] += least / ((second if own == largest else volume[largest]) + mass[v])
    heapify(heap, size, key, place)


@compiled
def _move(v, target, graph, state, tied):
    """Move a vertex to another cluster; `tied` holds its edge weight to each."""
    mass, degree = graph[3], graph[4]
    labels, leaving, volume, ratio, count = state
    own = labels[v]
    leaving[own] += 2 * tied[own] - degree[v]
    leaving[target] += degree[v] - 2 * tied[target]
    volume[own] -= mass[v]
    volume[target] += mass[v]
    count[own] -= 1
    count[target] += 1
    ratio[own], ratio[target] = leaving[own] / volume[own], leaving[target] / volume[target]
    labels[v] = target


@compiled
def _shift(v, source, target, indptr, indices, values, table):
    """Bring a table with a row for each vertex up to date with the move of v."""
    for a in range(indptr[v], indptr[v + 1]):
        table[indices[a], source] -= values[a]
        table[indices[a], target] += values[a]


@compiled_inline
def _fall_by_relation(r, own, source, target):
    """By how much, at most, the best change of a vertex falls when one with a relation of weight r to it moves.

    The relation has left cluster `source` and entered `target`: a move from `own` to another gains or loses r for either.
    """
    if own == source:
        return -r if r > 0 else -2 * r
    if own == target:
        return 2 * r if r > 0 else r
    return abs(r)


@compiled
def _renew_neighbours(v, source, graph, price, state, towards, clash, key, heap, place, size):
    """Renew the keys around a vertex that came from cluster `source`; returns the size of the heap, which may grow.

    Relations come first: a key that they raise must not hold what an edge changes. Neighbours in v's new cluster gain by
    staying; others gain what the edge adds to a move after v, exactly if that is their best.
    """
    indptr, indices, weights, mass, _, rel_indptr, rel_indices, rel_weights = graph
    labels, volume, target = state[0], state[2], state[0][v]
    if len(towards) > 1:
        _shift(v, source, target, indptr, indices, weights, towards)
        _shift(v, source, target, rel_indptr, rel_indices, rel_weights, clash)
    for a in range(rel_indptr[v], rel_indptr[v + 1]):
        u = rel_indices[a]
        if place[u] == LOCKED:
            continue
        if place[u] == ABSENT or key[u] == np.inf:
            _, key[u] = _best_move(u, graph, price, state, towards, clash)
        else:
            key[u] -= price * _fall_by_relation(rel_weights[a], labels[u], source, target)
        size = renew(u, heap, size, key, place)
    for a in range(indptr[v], indptr[v + 1]):
        u = indices[a]
        if place[u] == LOCKED:
            continue
        if place[u] == ABSENT or key[u] == np.inf:
            _, key[u] = _best_move(u, graph, price, state, towards, clash)
            size = renew(u, heap, size, key, place)
        elif labels[u] != target:
            key[u] -= 2 * weights[a] / (volume[target] + mass[u])
            if labels[u] == source:
                key[u] -= 2 * weights[a] / (volume[source] - mass[u])
            sift_up(heap, key, place, place[u])
    return size


@compiled
def _one_pass(graph, price, state, towards, clash, key, heap, place, size, touched, origin, current, patience):
    """Make the best move, even a bad one, and lock its vertex, until `patience` moves brought no new best state.

    Returns the best objective, the number of moves until then, the number of moves, and the size of the heap.
    """
    labels = state[0]
    n_touched, n_best, best = 0, 0, current
    while size > 0 and n_touched - n_best < patience:
        v = heap[0]
        target, fresh = _best_move(v, graph, price, state, towards, clash)
        if fresh > key[v] + 1e-12 * abs(current):
            key[v] = fresh
            sift_down(heap, size, key, place, 0)
            continue
        if target < 0:  # no vertex of the heap can move
            break
        size = pop(heap, size, key, place)
        touched[n_touched], origin[n_touched] = v, labels[v]
        n_touched += 1
        _move(v, target, graph, state, towards[v if len(towards) > 1 else 0])
        current += fresh
        if current < best - 1e-12 * abs(best):
            best, n_best = current, n_touched
        size = _renew_neighbours(v, origin[n_touched - 1], graph, price, state, towards, clash, key, heap, place, size)
    return best, n_best, n_touched, size


@compiled
def _end_pass(graph, price, state, towards, clash, key, heap, place, size, touched, origin, n_touched, n_best):
    """Undo the moves after the best state, the last one first, and put what was locked into the heap again.

    Returns the size of the heap.
    """
    labels = state[0]
    for t in range(n_touched - 1, n_best - 1, -1):
        v, source = touched[t], labels[touched[t]]
        _move(v, origin[t], graph, state, towards[_ties(v, graph, labels, towards, clash)])
        size = _renew_neighbours(v, source, graph, price, state, towards, clash, key, heap, place, size)
    for t in range(n_touched):
        v = touched[t]
        place[v] = ABSENT
        _, key[v] = _best_move(v, graph, price, state, towards, clash)
        size = renew(v, heap, size, key, place)
    return size


@compiled
def refine_partition(
    indptr, indices, weights, mass, degree, rel_indptr, rel_indices, rel_weights, price, labels, k, patience, max_passes
):  # fmt: skip
    """Fiduccia-Mattheyses passes on k clusters; changes `labels` in place, never empties a cluster. Never worse.

    Vertices that a pass has not moved are still in the heap when it ends, and the next one begins there. Only tables are made
    anew for each pass, or rounding errors would add up.
    """
    n, n_arcs, n_relations = len(labels), indptr[-1], rel_indptr[-1]
    leaving, volume, ratio, count = np.empty(k), np.empty(k), np.empty(k), np.empty(k, np.int64)
    rows = n if n_arcs < n_relations and n * k <= n_arcs + n_relations else 1
    towards, clash, key = np.empty((rows, k)), np.empty((rows, k)), np.empty(n)
    heap, place = np.empty(n, np.int32), np.empty(n, np.int32)
    touched, origin = np.empty(n, np.int32), np.empty(n, np.int32)
    graph = (indptr, indices, weights, mass, degree, rel_indptr, rel_indices, rel_weights)
    state = (labels, leaving, volume, ratio, count)
    size = _enter_boundary(graph, state, key, heap, place)
    current = _sum_of_ratios(leaving, volume) + price * relation_inside(rel_indptr, rel_indices, rel_weights, labels)
    for number in range(max_passes):
        if rows > 1:
            tabulate(indptr, indices, weights, labels, towards)
            tabulate(rel_indptr, rel_indices, rel_weights, labels, clash)
        if number == 0:
            _bound_keys(graph, price, state, towards, clash, key, heap, place, size)
        current, n_best, n_touched, size = _one_pass(
            graph, price, state, towards, clash, key, heap, place, size, touched, origin, current, patience
        )
        if n_best == 0:
            for t in range(n_touched):
                labels[touched[t]] = origin[t]
            break
        size = _end_pass(
            graph, price, state, towards, clash, key, heap, place, size, touched, origin, n_touched, n_best
        )
