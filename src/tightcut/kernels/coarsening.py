"""Smaller graphs with the same cuts: matching of tight neighbours, and contraction."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.arrays import filled
from tightcut.kernels.compiled import compiled


@compiled
def heavy_edge_matching(
    indptr, indices, coupling, vertex_weights, order, heaviest, weakest, apart_indptr, apart_indices, group
):  # fmt: skip
    """Match each unit with the neighbour whose coupling is strongest for its vertex weight; returns (unit, sign).

    Two matched units get one number, in the order of the first of them, so that what is near stays near in memory; the
    sign is their relative orientation. No pair weighs more than `heaviest`, and no two units are matched that the second
    graph lists as apart (pass an empty graph if there are none) or that are of different groups (pass an empty array if
    there are none). A unit chooses no neighbour whose coupling is below the share `weakest` of its strongest one; it may
    still be chosen by another unit. Couplings to a unit that is too heavy to be matched at all, such as one that many pairs
    have made, do not count there: next to it all others would be weak.
    """
    n, grouped = len(vertex_weights), len(group) > 0
    partner, forbidden = filled(n, -1), filled(n, -1)
    sign = np.empty(n, np.int8)
    for u in range(n):
        sign[u] = 1
    for u in order:
        if partner[u] >= 0:
            continue
        for a in range(apart_indptr[u], apart_indptr[u + 1]):
            forbidden[apart_indices[a]] = u
        least = _strongest(u, indptr, indices, coupling, vertex_weights, heaviest) * weakest if weakest > 0.0 else 0.0
        best, best_rating = u, 0.0
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if partner[v] >= 0:
                continue
            # What rules a neighbour out is looked up only for one that would be the best so far.
            rating = abs(coupling[a]) / vertex_weights[v]
            if rating > best_rating and abs(coupling[a]) >= least and vertex_weights[u] + vertex_weights[v] <= heaviest:
                if forbidden[v] != u and (not grouped or group[v] == group[u]):
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
def _strongest(u, indptr, indices, coupling, vertex_weights, heaviest):
    strongest = 0.0
    for a in range(indptr[u], indptr[u + 1]):
        if vertex_weights[indices[a]] <= heaviest:
            strongest = max(strongest, abs(coupling[a]))
    return strongest


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
def members_of(unit, n_units):
    """The vertices of each unit: (start, members), those of unit u from start[u] to start[u + 1]."""
    start, cursor = np.zeros(n_units + 1, np.int32), np.empty(n_units, np.int32)
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
def contract(indptr, indices, weights, unit, start, members):
    """Merge vertices of a symmetric graph with positive weights into units; arcs of the same two units add up.

    Returns (indptr, indices, weights, degrees) with no arc inside a unit. Arcs of a unit come in the order in which they
    were met: to sort them would take nearly as long as all the rest. O(arcs).
    """
    n_units = len(start) - 1
    out_indptr, degrees = np.zeros(n_units + 1, np.int32), np.empty(n_units)
    # The operating system makes no memory of what is never filled.
    out_indices, out = np.empty(len(indices), np.int32), np.empty(len(indices))
    place = filled(n_units, -1)  # of the arc to each unit, if it is one of the present unit's
    size = 0
    for u in range(n_units):
        first = size
        for t in range(start[u], start[u + 1]):
            v = members[t]
            for a in range(indptr[v], indptr[v + 1]):
                other = unit[indices[a]]
                at = place[other]
                if at >= first:
                    out[at] += weights[a]
                elif other != u:
                    place[other], out_indices[size], out[size] = size, other, weights[a]
                    size += 1
        degree = 0.0
        for at in range(first, size):
            degree += out[at]
        degrees[u] = degree
        out_indptr[u + 1] = size
    return out_indptr, out_indices[:size], out[:size], degrees


@compiled
def contract_signed(indptr, indices, coupling, unit, sign, start, members):
    """Merge vertices of a symmetric graph into units with signs; see `contract`.

    Returns (indptr, indices, coupling, offset) with no zeros. `offset` is the weight that stays cut whatever the spins of
    the units: opposite arcs between two units, and frustrated arcs inside one.
    """
    n_units = len(start) - 1
    out_indptr, out_indices = np.zeros(n_units + 1, np.int32), np.empty(len(indices), np.int32)
    positive, negative, place = np.empty(len(indices)), np.empty(len(indices)), filled(n_units, -1)
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
                if at < 0:
                    at = size
                    size += 1
                    place[other], out_indices[at] = at, other
                    positive[at], negative[at] = 0.0, 0.0
                positive[at] += max(value, 0.0)
                negative[at] += min(value, 0.0)
        last, size = size, first
        for at in range(first, last):
            other, value = out_indices[at], positive[at] + negative[at]
            offset += 0.5 * min(positive[at], -negative[at])
            place[other] = -1
            if value != 0.0:
                out_indices[size], positive[size] = other, value
                size += 1
        out_indptr[u + 1] = size
    return out_indptr, out_indices[:size], positive[:size], offset
