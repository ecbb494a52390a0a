"""A lower bound on the cost of a multicut, by packing cycles that cannot be satisfied (see multicut_greedy.py).

A negative or forbidden edge and a path of positive edges between its ends cannot all be satisfied: the cheapest of them
is lost. Take this much from every edge of the cycle and look for the next one; the losses add up to a lower bound.
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.arrays import filled
from tightcut.kernels.compiled import compiled

EPSILON = 1e-12
WORK_PER_ARC = 200
NEAREST = 20  # pairs of each vertex with others of its group


@compiled
def pack_cycles(first, n, graph, groups, mark):
    """A lower bound for the cost of the n vertices from `first` on. Triangles are packed first, then longer cycles."""
    indptr, indices, weights = graph
    begin = indptr[first]
    arcs = indptr[first + n] - begin
    left, negative = np.zeros(arcs), np.zeros(arcs)
    for arc in range(arcs):
        left[arc], negative[arc] = max(weights[begin + arc], 0.0), min(weights[begin + arc], 0.0)
    apart, n_apart = _apart_by_group(first, n, groups, mark)
    scratch = (filled(n, 0), filled(n, 0), filled(n, 0), filled(n, 0))
    work = np.zeros(1)
    work[0] = WORK_PER_ARC * (arcs + 100.0)
    bound = 0.0
    for triangles in (True, False):
        for v in range(n):
            for arc in range(indptr[first + v], indptr[first + v + 1]):
                u = indices[arc] - first
                if u > v and negative[arc - begin] < -EPSILON:
                    packed = _pack(v, u, -negative[arc - begin], triangles, first, graph, left, scratch, work)
                    negative[arc - begin] += packed
                    bound += packed
        for row in range(n_apart):
            bound += _pack(apart[row, 0], apart[row, 1], np.inf, triangles, first, graph, left, scratch, work)
    return bound


@compiled
def _apart_by_group(first, n, groups, mark):
    """Pairs of vertices that share a group: each vertex with the last few before it."""
    starts, values = groups
    begin = starts[first]
    entries = starts[first + n] - begin
    owner, before = filled(entries, 0), filled(entries, 0)
    pairs = np.empty((NEAREST * entries, 2), np.int32)
    count = 0
    for v in range(n):
        for entry in range(starts[first + v] - begin, starts[first + v + 1] - begin):
            owner[entry], before[entry] = v, mark[values[begin + entry]] - 1
            mark[values[begin + entry]] = entry + 1
            earlier = before[entry]
            for _ in range(NEAREST):
                if earlier >= 0:
                    pairs[count, 0], pairs[count, 1] = owner[earlier], v
                    count += 1
                    earlier = before[earlier]
    for entry in range(entries):
        mark[values[begin + entry]] = 0
    return pairs, count


@compiled
def _pack(v, u, capacity, triangles, first, graph, left, scratch, work):
    """How much can be taken from paths of positive edges between v and u: those of two edges, or any."""
    if triangles:
        return _pack_triangles(v, u, capacity, first, graph, left)
    begin = graph[0][first]
    through, source = scratch[0], scratch[1]
    packed = 0.0
    while capacity - packed > EPSILON and work[0] > 0 and _find_path(v, u, first, graph, left, scratch, work):
        smallest = capacity - packed
        x = u
        while x != v:
            smallest = min(smallest, left[through[x] - begin])
            x = source[x]
        x = u
        while x != v:
            _take(smallest, source[x], x, through[x], first, graph, left)
            x = source[x]
        packed += smallest
    return packed


@compiled
def _pack_triangles(v, u, capacity, first, graph, left):
    """The common neighbours of v and u, found in their sorted rows."""
    indptr, indices, _ = graph
    begin, packed = indptr[first], 0.0
    one, other = indptr[first + v], indptr[first + u]
    while one < indptr[first + v + 1] and other < indptr[first + u + 1] and capacity - packed > EPSILON:
        if indices[one] < indices[other]:
            one += 1
        elif indices[one] > indices[other]:
            other += 1
        else:
            smallest = min(left[one - begin], left[other - begin], capacity - packed)
            if smallest > EPSILON:
                x = indices[one] - first
                _take(smallest, v, x, one, first, graph, left)
                _take(smallest, u, x, other, first, graph, left)
                packed += smallest
            one += 1
            other += 1
    return packed


@compiled
def _take(amount, v, u, arc, first, graph, left):
    """Lower what is left of the edge between v and u, whose arc from v is given, in both directions."""
    begin = graph[0][first]
    left[arc - begin] -= amount
    left[_arc(u, v, first, graph) - begin] = left[arc - begin]


@compiled
def _find_path(v, u, first, graph, left, scratch, work):
    """Breadth-first from v to u; fills the arc `through` which, and the `source` from which, vertices were reached."""
    indptr, indices, _ = graph
    through, source, seen, queue = scratch
    begin = indptr[first]
    seen[v] = 1
    queue[0] = v
    head, tail, found = 0, 1, False
    while head < tail and not found:
        x = queue[head]
        head += 1
        work[0] -= indptr[first + x + 1] - indptr[first + x]
        for arc in range(indptr[first + x], indptr[first + x + 1]):
            y = indices[arc] - first
            if seen[y] == 0 and left[arc - begin] > EPSILON:
                seen[y], through[y], source[y] = 1, arc, x
                queue[tail] = y
                tail += 1
                if y == u:
                    found = True
                    break
    for t in range(tail):
        seen[queue[t]] = 0
    return found


@compiled
def _arc(v, u, first, graph):
    """The arc from v to u, by bisection."""
    indptr, indices, _ = graph
    low, high = indptr[first + v], indptr[first + v + 1]
    while high - low > 1:
        middle = (low + high) >> 1
        if indices[middle] <= first + u:
            low = middle
        else:
            high = middle
    return low
