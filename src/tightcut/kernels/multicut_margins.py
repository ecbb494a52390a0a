"""Evidence against splitting clusters: for each edge of a spanning forest, the total weight between its two sides."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.arrays import filled
from tightcut.kernels.compiled import compiled


@compiled
def weigh_branches(first, second, weight, n):
    """The edges of a maximum spanning forest, and the weight between the two parts that each of them joins.

    Parameters
    ----------
    first, second : int32 arrays
        Ends of the edges inside clusters, the heaviest edge first.
    weight : float64 array
        Negative edges are not in the forest, but count in the weight between two parts.
    n : int

    Returns the positions of the edges of the forest, and the weights. With deg(v) the weight of all edges of v, and
    in(v) that of the edges whose ends have v as their closest common ancestor, the weight between the branch below v and
    the rest is the sum of deg - 2 in over the branch.
    """
    chosen, count = _forest(first, second, weight, n)
    parent, edge, order = _rooted(first, second, chosen, count, n)
    depth = filled(n, 0)
    for t in range(n):
        v = order[t]
        depth[v] = depth[parent[v]] + 1 if parent[v] >= 0 else 0
    branch = np.zeros(n)
    for e in range(len(first)):
        u, v = first[e], second[e]
        branch[u] += weight[e]
        branch[v] += weight[e]
        while u != v and u >= 0 and v >= 0:
            if depth[u] >= depth[v]:
                u = parent[u]
            else:
                v = parent[v]
        if u == v:
            branch[u] -= 2 * weight[e]
    position, between = filled(count, 0), np.zeros(count)
    found = 0
    for t in range(n - 1, -1, -1):
        v = order[t]
        if parent[v] >= 0:
            branch[parent[v]] += branch[v]
            position[found], between[found] = edge[v], branch[v]
            found += 1
    return position, between


@compiled
def _forest(first, second, weight, n):
    """Positions of the positive edges that join two trees, taken in order, and their number."""
    root, chosen = filled(n, -1), filled(n, 0)
    count = 0
    for e in range(len(first)):
        if weight[e] <= 0:
            break
        u, v = _root(root, first[e]), _root(root, second[e])
        if u != v:
            if root[u] > root[v]:  # the negative size: v has more
                u, v = v, u
            root[u] += root[v]
            root[v] = u
            chosen[count] = e
            count += 1
    return chosen, count


@compiled
def _root(root, v):
    while root[v] >= 0:
        if root[root[v]] >= 0:
            root[v] = root[root[v]]
        v = root[v]
    return v


@compiled
def _rooted(first, second, chosen, count, n):
    """Parent of each vertex, -1 for roots, the edge to it, and the vertices breadth-first."""
    head, following = filled(n, -1), filled(2 * count, -1)
    for half in range(2 * count):
        e = chosen[half >> 1]
        v = second[e] if half & 1 else first[e]
        following[half] = head[v]
        head[v] = half
    parent, edge, order, seen = filled(n, -1), filled(n, -1), filled(n, 0), filled(n, 0)
    tail = 0
    for start in range(n):
        if seen[start]:
            continue
        order[tail] = start
        seen[start] = 1
        at = tail
        tail += 1
        while at < tail:
            v = order[at]
            at += 1
            half = head[v]
            while half >= 0:
                e = chosen[half >> 1]
                u = first[e] if half & 1 else second[e]
                if not seen[u]:
                    seen[u], parent[u], edge[u] = 1, v, e
                    order[tail] = u
                    tail += 1
                half = following[half]
    return parent, edge, order
