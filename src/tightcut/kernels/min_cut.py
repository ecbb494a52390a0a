"""Minimum cuts: surplus is routed to deficits by push-relabel; what stays behind is the source side of a minimum cut.

Graphs come as CSR with both directions of every edge stored: the arcs of vertex u are `indptr[u]:indptr[u + 1]`, arc a
leads to `indices[a]`, and `reverse[a]` is the same edge seen from the other end.

| symbol | meaning |
|---|---|
| flow[a] | signed dual flow of arc a, flow[reverse[a]] = -flow[a], at most weights[a] in size |
| excess[u] | what vertex u holds above (surplus) or below (deficit) its share |
| height[u] | residual distance of u to the nearest deficit of its part |
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled

UNREACHED = np.int32(2**31 - 1)


@compiled
def reverse_arcs(indptr, indices):
    """For every arc the index of its opposite arc. Needs a symmetric pattern with sorted indices. O(arcs)."""
    cursor = indptr[:-1].copy()
    reverse = np.empty(len(indices), cursor.dtype)
    for u in range(len(indptr) - 1):
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            reverse[a] = cursor[v]
            cursor[v] += 1
    return reverse


@compiled
def _measure_heights(indptr, indices, reverse, weights, flow, excess, part, members, tolerance, height, queue):
    """Residual distance of each member to the nearest deficit of its part (backward breadth-first search)."""
    head, tail = 0, 0
    for u in members:
        if excess[u] < -tolerance:
            height[u] = 0
            queue[tail] = u
            tail += 1
        else:
            height[u] = UNREACHED
    while head < tail:
        u = queue[head]
        head += 1
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if height[v] == UNREACHED and part[v] == part[u] and weights[a] - flow[reverse[a]] > tolerance:
                height[v] = height[u] + 1
                queue[tail] = v
                tail += 1


@compiled
def route_excess(indptr, indices, reverse, weights, flow, excess, part, members, tolerance, height, queue, arc, queued):
    """Push surplus to deficits inside each part, as far as residual arcs allow (first-in-first-out push-relabel).

    Changes `flow` and `excess` in place. On return `height` is UNREACHED exactly on the vertices that no residual
    path joins to a deficit of their part: the source side of a minimum cut.
    """
    n_members = len(members)
    work_limit = 4 * n_members
    for u in members:
        work_limit += indptr[u + 1] - indptr[u]
    while True:
        _measure_heights(indptr, indices, reverse, weights, flow, excess, part, members, tolerance, height, queue)
        head, size = 0, 0
        for u in members:
            arc[u] = indptr[u]
            queued[u] = excess[u] > tolerance and height[u] != UNREACHED
            if queued[u]:
                queue[size] = u
                size += 1
        if size == 0:
            return
        work = 0
        while size > 0 and work < work_limit:
            u = queue[head]
            head = head + 1 if head + 1 < n_members else 0
            size -= 1
            queued[u] = False
            while excess[u] > tolerance and height[u] < n_members:
                if arc[u] == indptr[u + 1]:
                    lowest = UNREACHED
                    for a in range(indptr[u], indptr[u + 1]):
                        v = indices[a]
                        if part[v] == part[u] and height[v] < lowest and weights[a] - flow[a] > tolerance:
                            lowest = height[v]
                    work += indptr[u + 1] - indptr[u] + 4
                    arc[u] = indptr[u]
                    height[u] = lowest + 1 if lowest < n_members else UNREACHED
                    continue
                a = arc[u]
                v = indices[a]
                residual = weights[a] - flow[a]
                if height[v] == height[u] - 1 and part[v] == part[u] and residual > tolerance:
                    amount = min(excess[u], residual)
                    flow[a] += amount
                    flow[reverse[a]] -= amount
                    excess[u] -= amount
                    excess[v] += amount
                    if excess[v] > tolerance and not queued[v]:
                        queued[v] = True
                        last = head + size
                        queue[last if last < n_members else last - n_members] = v
                        size += 1
                    if amount == residual:
                        arc[u] += 1
                else:
                    arc[u] += 1


@compiled
def remaining_excess(indptr, target, flow):
    """What each vertex holds of its target once the flow has left it."""
    excess = np.empty(len(target))
    for u in range(len(target)):
        outflow = 0.0
        for a in range(indptr[u], indptr[u + 1]):
            outflow += flow[a]
        excess[u] = target[u] - outflow
    return excess


@compiled
def balance_parts(members, part, first_part, vertex_weights, value, excess, total_excess, total_weight):
    """Shift the value of every part to the mean that makes its excess sum to zero."""
    for u in members:
        p = part[u] - first_part
        total_excess[p] += excess[u]
        total_weight[p] += vertex_weights[u]
    for u in members:
        p = part[u] - first_part
        shift = total_excess[p] / total_weight[p]
        value[u] += shift
        excess[u] -= vertex_weights[u] * shift


@compiled
def split_parts(members, part, first_part, n_parts, excess, height, tolerance, surplus_left, reached, child):
    """Number the two sides of every part that a cut splits; returns how many members are left, and the next number.

    A part that keeps surplus splits. Surplus with no deficit to go to is rounding. The members of split parts move to
    the front.
    """
    for u in members:
        if height[u] != UNREACHED:
            reached[part[u] - first_part] = True
        elif excess[u] > tolerance:
            surplus_left[part[u] - first_part] = True
    kept, next_part = 0, n_parts
    for u in members:
        p = part[u] - first_part
        if surplus_left[p] and reached[p]:
            if child[p] < 0:
                child[p] = next_part
                next_part += 2
            members[kept] = u
            part[u] = child[p] + (1 if height[u] == UNREACHED else 0)
            kept += 1
    return kept, next_part


@compiled
def total_variation_prox(indptr, indices, reverse, weights, target, vertex_weights, flow, tolerance):
    """Minimise sum_u b_u/2 f_u^2 - target_u f_u + sum_edges weights |f_u - f_v| exactly; returns (f, flows).

    Divide and conquer: all vertices of a part share one value, the mean that balances the part; a minimum cut either
    splits the part or proves the value right. Cut edges stay saturated, so `flow` (the dual solution, updated in
    place) carries over from level to level and from call to call.
    """
    n = len(target)
    value = np.zeros(n)
    part = np.zeros(n, np.int32)
    excess = remaining_excess(indptr, target, flow)
    height = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    arc = indptr[:-1].copy()
    queued = np.zeros(n, np.bool_)
    members = np.arange(n).astype(np.int32)
    first_part, n_parts, flows = 0, 1, 0
    total_excess, total_weight = np.zeros(n + 1), np.zeros(n + 1)
    surplus_left, reached = np.zeros(n + 1, np.bool_), np.zeros(n + 1, np.bool_)
    child = np.empty(n + 1, np.int32)
    while len(members) > 0:
        # The parts of this level are first_part, ..., n_parts - 1; every member belongs to one of them.
        for p in range(n_parts - first_part):
            total_excess[p], total_weight[p], child[p] = 0.0, 0.0, -1
            surplus_left[p], reached[p] = False, False
        balance_parts(members, part, first_part, vertex_weights, value, excess, total_excess, total_weight)
        route_excess(
            indptr, indices, reverse, weights, flow, excess, part, members, tolerance, height, queue, arc, queued
        )
        flows += 1
        kept, next_part = split_parts(
            members, part, first_part, n_parts, excess, height, tolerance, surplus_left, reached, child
        )
        members = members[:kept]
        first_part, n_parts = n_parts, next_part
    return value, flows
