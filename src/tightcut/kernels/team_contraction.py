"""Contraction by a team of threads, and the regions on which clusterings agree."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled_for_team
from tightcut.kernels.team import (
    ONE,
    TALLY,
    add_atomically,
    barrier,
    blocks_of,
    claim,
    cumulate,
    replace_atomically,
    rows_of,
)


@compiled_for_team
def contract_by_team(
    sync, p, indptr, indices, weights, unit, sign, start, members, keys, places, begins, ends, raw_indices, raw_weights,
    out_indptr, degrees, turned, negative,
):  # fmt: skip
    """Merge the vertices of each unit of a symmetric graph; arcs of the same two units add up, in a fixed order.

    A block puts its rows one after the other into the raw arrays, from begins[b] on; `gather_by_team` moves them together,
    from ends[b] on, ends[-1] arcs in all. `begins` and `ends`, of int64, are one longer than the blocks.

    Arcs that meet are found in a hash table, keys[t] and places[t] for a thread, of a power of two and at least twice as
    many entries as a unit has arcs. A key holds the row above the column, so that keys of earlier rows are smaller and the
    table, which begins with -1, is never cleared.

    With signs (pass an empty array if there are none) an arc's weight is multiplied by those of its ends. Per block,
    `turned` becomes the weight that this adds to the cut of all labels, where the cut is the sum of weights between different
    labels, and `negative` the outgoing negative weight, each edge once.
    """
    m, signed, thread = len(start) - 1, len(sign) > 0, add_atomically(sync, TALLY, 1)
    own_keys, own_places = keys[thread], places[thread]
    blocks = blocks_of(m)
    b = claim(sync)
    while b < blocks:
        begins[b] = 0
        first, last = rows_of(b, m)
        for t in range(start[first], start[last]):
            begins[b] += np.int64(indptr[members[t] + 1]) - np.int64(indptr[members[t]])
        b = claim(sync)
    cumulate(sync, p, begins, blocks)
    b = claim(sync)
    while b < blocks:
        at, negative[b] = begins[b], 0.0
        first, last = rows_of(b, m)
        if signed:
            turned[b] = _weight_turned(first, last, indptr, indices, weights, sign, start, members)
        for u in range(first, last):
            begin = at
            at = _add_up(
                u, indptr, indices, weights, unit, sign, signed, start, members, own_keys, own_places, at,
                raw_indices, raw_weights,
            )  # fmt: skip
            degree = 0.0
            for a in range(begin, at):
                degree += raw_weights[a]
                negative[b] += 0.5 * min(raw_weights[a], 0.0) if signed else 0.0
            degrees[u], out_indptr[u + ONE] = degree, at - begins[b]
        ends[b] = at - begins[b]
        b = claim(sync)
    cumulate(sync, p, ends, blocks)
    b = claim(sync)
    while b < blocks:
        first, last = rows_of(b, m)
        for u in range(first, last):
            out_indptr[u + ONE] += ends[b]
        b = claim(sync)
    barrier(sync, p)


@compiled_for_team
def gather_by_team(sync, p, m, begins, ends, raw_indices, raw_weights, out_indices, out_weights):
    """Move what the blocks of m rows have put into the raw arrays together."""
    blocks = blocks_of(m)
    b = claim(sync)
    while b < blocks:
        for t in range(ends[b + 1] - ends[b]):
            out_indices[ends[b] + t], out_weights[ends[b] + t] = raw_indices[begins[b] + t], raw_weights[begins[b] + t]
        b = claim(sync)
    barrier(sync, p)


@compiled_for_team
def _add_up(
    u, indptr, indices, weights, unit, sign, signed, start, members, keys, places, at, raw_indices, raw_weights
):  # fmt: skip
    """Write the arcs of unit u from place `at` on; returns the place after them."""
    bound, bits, row = np.int64(0), 5, np.int64(u + ONE) << 32
    for t in range(start[u], start[u + ONE]):
        bound += np.int64(indptr[members[t] + 1]) - np.int64(indptr[members[t]])
    while (1 << bits) < 2 * bound and (1 << bits) < len(keys):
        bits += 1
    mask, shift = np.uint64((1 << bits) - 1), np.uint64(32 - bits)
    for t in range(start[u], start[u + ONE]):
        v = members[t]
        for a in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
            other = np.uint32(unit[indices[a]])
            if other == u:
                continue
            weight = weights[a]
            if signed and sign[v] != sign[indices[a]]:
                weight = -weight
            key, h = row | np.int64(other), np.uint64(np.uint32(other * np.uint32(2654435769))) >> shift
            while keys[h] >= row and keys[h] != key:
                h = (h + np.uint64(1)) & mask
            if keys[h] == key:
                raw_weights[places[h]] += weight
            else:
                keys[h], places[h], raw_indices[at], raw_weights[at] = key, at, other, weight
                at += 1
    return at


@compiled_for_team
def _weight_turned(first, last, indptr, indices, weights, sign, start, members):
    """Half the weight of the arcs from units first, ..., last - 1 whose two ends have different signs."""
    total = 0.0
    for t in range(start[first], start[last]):
        v = members[t]
        for a in range(indptr[v], indptr[v + ONE]):
            if sign[v] != sign[indices[a]]:
                total += 0.5 * weights[a]
    return total


@compiled_for_team
def regions_by_team(sync, p, indptr, indices, code, root):
    """Fill `root` with the first vertex of each vertex's connected region of equal code.

    Larger roots are hooked under smaller ones; whatever the order, the smallest of a region is left.
    """
    n = len(code)
    blocks = blocks_of(n)
    b = claim(sync)
    while b < blocks:
        first, last = rows_of(b, n)
        for v in range(first, last):
            root[v] = v
        b = claim(sync)
    barrier(sync, p)
    b = claim(sync)
    while b < blocks:
        first, last = rows_of(b, n)
        for v in range(first, last):
            for a in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                u = np.int64(indices[a])
                if u < v and code[u] == code[v]:
                    _hook(root, np.int64(v), u)
        b = claim(sync)
    barrier(sync, p)
    b = claim(sync)
    while b < blocks:
        first, last = rows_of(b, n)
        for v in range(first, last):
            root[v] = _find(root, np.int64(v))
        b = claim(sync)
    barrier(sync, p)


@compiled_for_team
def _find(root, v):
    while root[v] != v:
        root[v] = root[root[v]]  # v is no root any more and nobody hooks it
        v = np.int64(root[v])
    return v


@compiled_for_team
def _hook(root, v, u):
    x, y = _find(root, v), _find(root, u)
    while x != y:
        x, y = max(x, y), min(x, y)
        if replace_atomically(root, x, np.int32(x), np.int32(y)):
            break
        x, y = _find(root, x), _find(root, y)


@compiled_for_team
def crossing_by_team(sync, p, indptr, indices, weights, unit, sign, begins, here, there, values, turned):
    """Count, per block, the arcs between different units; or list them if the arrays for them are not empty.

    Signs and `turned` are those of `contract_by_team`.
    """
    n, fill, signed = len(unit), len(here) > 0, len(sign) > 0
    blocks = blocks_of(n)
    b = claim(sync)
    while b < blocks:
        at, turned[b] = begins[b] if fill else 0, 0.0
        first, last = rows_of(b, n)
        for v in range(first, last):
            for a in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                other, differ = unit[indices[a]], signed and sign[indices[a]] != sign[v]
                turned[b] += 0.5 * weights[a] if differ else 0.0
                if other != unit[v]:
                    if fill:
                        here[at], there[at], values[at] = unit[v], other, -weights[a] if differ else weights[a]
                    at += 1
        if not fill:
            begins[b] = at
        b = claim(sync)
    barrier(sync, p)
