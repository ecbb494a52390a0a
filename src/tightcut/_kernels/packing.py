"""A lower bound for the cost of clustering a signed graph: cycles that each cost something, packed (see joining.py).

A negative or forbidden edge and a path of positive edges between its ends cannot all be satisfied: the cheapest of them
is lost. Take this much from every edge of the cycle and look for the next one; the losses add up to a lower bound.
"""

from __future__ import annotations

import numpy as np

from tightcut._kernels.compiled import compiled
from tightcut._kernels.joining import filled

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
    scratch = (filled(n, 0), filled(n, 0), filled(n, -1), filled(n, 0))
    work = np.zeros(1)
    work[0] = WORK_PER_ARC * (arcs + 100.0)
    bound = 0.0
    for length in (2, n):
        for v in range(n):
            for arc in range(indptr[first + v], indptr[first + v + 1]):
                u = indices[arc] - first
                if u > v and negative[arc - begin] < -EPSILON:
                    packed = _pack(v, u, -negative[arc - begin], length, first, graph, left, scratch, work)
                    negative[arc - begin] += packed
                    bound += packed
        for row in range(n_apart):
            bound += _pack(apart[row, 0], apart[row, 1], np.inf, length, first, graph, left, scratch, work)
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
def _pack(v, u, capacity, length, first, graph, left, scratch, work):
    """How much can be taken from paths of positive edges between v and u with at most `length` edges."""
    begin = graph[0][first]
    through, source = scratch[0], scratch[1]
    packed = 0.0
    while capacity - packed > EPSILON and work[0] > 0 and _find_path(v, u, length, first, graph, left, scratch, work):
        smallest = capacity - packed
        x = u
        while x != v:
            smallest = min(smallest, left[through[x] - begin])
            x = source[x]
        x = u
        while x != v:
            left[through[x] - begin] -= smallest
            left[_arc(x, source[x], first, graph) - begin] = left[through[x] - begin]
            x = source[x]
        packed += smallest
    return packed


@compiled
def _find_path(v, u, length, first, graph, left, scratch, work):
    """Breadth-first from v to u; fills the arc `through` which, and the `source` from which, vertices were reached."""
    indptr, indices, _ = graph
    through, source, depth, queue = scratch
    begin = indptr[first]
    depth[v] = 0
    queue[0] = v
    head, tail, found = 0, 1, False
    while head < tail and not found and depth[queue[head]] < length:
        x = queue[head]
        head += 1
        work[0] -= indptr[first + x + 1] - indptr[first + x]
        for arc in range(indptr[first + x], indptr[first + x + 1]):
            y = indices[arc] - first
            if depth[y] < 0 and left[arc - begin] > EPSILON:
                depth[y], through[y], source[y] = depth[x] + 1, arc, x
                queue[tail] = y
                tail += 1
                if y == u:
                    found = True
                    break
    for t in range(tail):
        depth[queue[t]] = -1
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
