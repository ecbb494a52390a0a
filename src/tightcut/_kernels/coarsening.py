"""Smaller graphs with the same cuts: matching of tight neighbours, and contraction."""

from __future__ import annotations

import numpy as np

from tightcut._kernels.compiled import compiled


@compiled
def heavy_edge_matching(indptr, indices, coupling, mass, order, heaviest, apart_indptr, apart_indices):
    """Match each unit with the neighbour it is tied to most tightly for its mass; returns (unit, sign).

    Two matched units get one number; the sign is their relative orientation. No pair weighs more than `heaviest`,
    and no two units that the second graph lists as apart are matched (pass an empty graph if there are none).
    """
    n = len(mass)
    unit = np.full(n, -1, np.int32)
    sign = np.ones(n, np.int8)
    forbidden = np.full(n, -1, np.int32)
    count = 0
    for u in order:
        if unit[u] >= 0:
            continue
        for a in range(apart_indptr[u], apart_indptr[u + 1]):
            forbidden[apart_indices[a]] = u
        best, best_rating = -1, 0.0
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if unit[v] < 0 and forbidden[v] != u and mass[u] + mass[v] <= heaviest:
                rating = abs(coupling[a]) / mass[v]
                if rating > best_rating:
                    best, best_rating = v, rating
                    sign[u] = 1 if coupling[a] > 0 else -1
        unit[u] = count
        if best >= 0:
            unit[best] = count
        else:
            sign[u] = 1
        count += 1
    return unit, sign


@compiled
def connected_regions(indptr, indices, code):
    """Number the connected regions of equal code 0, 1, ... by their first vertex. O(arcs)."""
    n = len(code)
    region = np.full(n, -1, np.int32)
    stack = np.empty(n, np.int32)
    count = 0
    for first in range(n):
        if region[first] >= 0:
            continue
        region[first] = count
        stack[0], size = first, 1
        while size > 0:
            size -= 1
            u = stack[size]
            for a in range(indptr[u], indptr[u + 1]):
                v = indices[a]
                if region[v] < 0 and code[v] == code[u]:
                    region[v] = count
                    stack[size] = v
                    size += 1
        count += 1
    return region


@compiled
def _sort(values, count):
    """Sort the first `count` values. Insertion: the general sort costs microseconds, however few there are."""
    if count > 100:
        values[:count].sort()
        return
    for t in range(1, count):
        value, at = values[t], t
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


@compiled
def contract(indptr, indices, coupling, unit, sign, n_units):
    """Merge vertices into units with signs: arcs of the same two units add up, arcs inside a unit disappear.

    Returns (indptr, indices, coupling, offset) with sorted indices. `offset` is the weight that stays cut whatever
    the spins of the units: opposite arcs between two units, and frustrated arcs inside one. O(arcs).
    """
    n = len(unit)
    start = np.zeros(n_units + 1, np.int64)
    for v in range(n):
        start[unit[v] + 1] += 1
    for u in range(n_units):
        start[u + 1] += start[u]
    members = np.empty(n, np.int32)
    cursor = start[:-1].copy()
    for v in range(n):
        members[cursor[unit[v]]] = v
        cursor[unit[v]] += 1
    positive, negative = np.zeros(n_units), np.zeros(n_units)
    seen = np.full(n_units, -1, np.int32)
    neighbours = np.empty(n_units, np.int32)
    out_indptr = np.zeros(n_units + 1, np.int32)
    out_indices = np.empty(len(indices), np.int32)
    out_coupling = np.empty(len(indices))
    offset, size = 0.0, 0
    for u in range(n_units):
        count = 0
        for t in range(start[u], start[u + 1]):
            v = members[t]
            for a in range(indptr[v], indptr[v + 1]):
                other = unit[indices[a]]
                value = coupling[a] * sign[v] * sign[indices[a]]
                if other == u:
                    offset -= 0.5 * min(value, 0.0)
                    continue
                if seen[other] != u:
                    seen[other] = u
                    positive[other], negative[other] = 0.0, 0.0
                    neighbours[count] = other
                    count += 1
                positive[other] += max(value, 0.0)
                negative[other] += min(value, 0.0)
        _sort(neighbours, count)
        for t in range(count):
            other = neighbours[t]
            total = positive[other] + negative[other]
            offset += 0.5 * min(positive[other], -negative[other])
            if total != 0.0:
                out_indices[size] = other
                out_coupling[size] = total
                size += 1
        out_indptr[u + 1] = size
    return out_indptr, out_indices[:size].copy(), out_coupling[:size].copy(), offset
