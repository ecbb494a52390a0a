"""Smaller graphs with the same cuts: matching of tight neighbours, and contraction."""

from __future__ import annotations

import numpy as np

from tightcut._kernels.arrays import filled
from tightcut._kernels.compiled import compiled


@compiled
def heavy_edge_matching(indptr, indices, coupling, mass, order, heaviest, weakest, apart_indptr, apart_indices):
    """Match each unit with the neighbour whose coupling is strongest for its mass (vertex weight); returns (unit, sign).

    Two matched units get one number, in the order of the first of them, so that what is near stays near in memory; the
    sign is their relative orientation. No pair weighs more than `heaviest`, and no two units are matched that the second
    graph lists as apart (pass an empty graph if there are none). A unit chooses no neighbour whose coupling is below the
    share `weakest` of its strongest one; it may still be chosen by another unit. Couplings to a unit
    that is too heavy to be matched at all, such as one that many pairs have made, do not count there: next to it all
    others would be weak.
    """
    n = len(mass)
    partner, forbidden = filled(n, -1), filled(n, -1)
    sign = np.empty(n, np.int8)
    for u in range(n):
        sign[u] = 1
    for u in order:
        if partner[u] >= 0:
            continue
        for a in range(apart_indptr[u], apart_indptr[u + 1]):
            forbidden[apart_indices[a]] = u
        strongest = 0.0
        for a in range(indptr[u], indptr[u + 1]):
            if mass[indices[a]] <= heaviest:
                strongest = max(strongest, abs(coupling[a]))
        best, best_rating = u, 0.0
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if partner[v] < 0 and forbidden[v] != u and mass[u] + mass[v] <= heaviest:
                rating = abs(coupling[a]) / mass[v]
                if rating > best_rating and abs(coupling[a]) >= weakest * strongest:
                    best, best_rating = v, rating
                    sign[u] = 1 if coupling[a] > 0 else -1
        partner[u], partner[best] = best, u
    unit = np.empty(n, np.int32)
    count = 0
    for u in range(n):
        if partner[u] >= u:
            unit[u] = unit[partner[u]] = count
            count += 1
    return unit, sign


@compiled
def connected_regions(indptr, indices, code):
    """Number the connected regions of equal code 0, 1, ... by their first vertex. O(arcs)."""
    n = len(code)
    region = filled(n, -1)
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
def contract(indptr, indices, coupling, unit, sign, n_units):
    """Merge vertices of a symmetric graph into units with signs; arcs of the same two units add up.

    Returns (indptr, indices, coupling, offset) with sorted indices and no arc inside a unit. `offset` is the weight
    that stays cut whatever the spins of the units: opposite arcs between two units, and frustrated arcs inside one.
    O(arcs).
    """
    start, members = _members(unit, n_units)
    out_indptr = np.zeros(n_units + 1, np.int32)
    out_indices = np.empty(len(indices), np.int32)
    signed = _some_negative(coupling, sign)
    # Without negative values their array is not needed; it would take as much memory as the weights.
    positive, negative = np.empty(len(indices)), np.empty(len(indices) if signed else 0)
    place = filled(n_units, -1)  # of the arc to each unit, if it is one of the present unit's
    offset, size = 0.0, 0
    for u in range(n_units):
        first = size
        for t in range(start[u], start[u + 1]):
            v = members[t]
            for a in range(indptr[v], indptr[v + 1]):
                w = indices[a]
                value = coupling[a] * (sign[v] * sign[w])
                other = unit[w]
                if other == u:
                    offset -= 0.5 * min(value, 0.0)
                    continue
                at = place[other]
                if at < first:
                    at = size
                    size += 1
                    place[other], out_indices[at] = at, other
                    positive[at] = 0.0
                    if signed:
                        negative[at] = 0.0
                if value >= 0.0:
                    positive[at] += value
                else:
                    negative[at] += value
        if signed:
            for at in range(first, size):
                offset += 0.5 * min(positive[at], -negative[at])
                positive[at] += negative[at]
        out_indptr[u + 1] = size
    return (*_transposed(out_indptr, out_indices, positive), offset)


@compiled
def _some_negative(coupling, sign):
    found = False
    for value in coupling:
        found |= value < 0.0
    for s in sign:
        found |= s < 0
    return found


@compiled
def _members(unit, n_units):
    """The vertices of each unit: (start, members)."""
    start, cursor = np.zeros(n_units + 1, np.int64), np.empty(n_units, np.int64)
    for u in unit:
        start[u + 1] += 1
    for u in range(n_units):
        cursor[u] = start[u]
        start[u + 1] += start[u]
    members = np.empty(len(unit), np.int32)
    for v in range(len(unit)):
        members[cursor[unit[v]]] = v
        cursor[unit[v]] += 1
    return start, members


@compiled
def _transposed(indptr, indices, data):
    """The transpose of a square matrix without its zeros: of a symmetric one the same arcs, sorted, with no sort."""
    n = len(indptr) - 1
    out_indptr, cursor = np.zeros(n + 1, np.int32), np.empty(n, np.int32)
    for a in range(indptr[n]):
        out_indptr[indices[a] + 1] += data[a] != 0.0
    for u in range(n):
        cursor[u] = out_indptr[u]
        out_indptr[u + 1] += out_indptr[u]
    size = np.int64(out_indptr[n])
    out_indices, out_data = np.empty(size, np.int32), np.empty(size)
    for u in range(n):
        for a in range(indptr[u], indptr[u + 1]):
            if data[a] != 0.0:
                at = cursor[indices[a]]
                out_indices[at], out_data[at] = u, data[a]
                cursor[indices[a]] += 1
    return out_indptr, out_indices, out_data
