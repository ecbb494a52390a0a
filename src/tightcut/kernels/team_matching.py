"""Heavy-edge matching by a team of threads, in rounds of handshakes.

Every free vertex wishes for its best free neighbour, and two that wish for each other are matched. An edge is rated by
|weight| / (vertex weight of one end * vertex weight of the other), the same from both ends, so that the best edge left is
always matched. A rating counts to its power of two and two more bits, and a number mixed from the seed and the edge tells
equal ones apart: matchings with different seeds differ much, as random starts need.
"""

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
    go_on,
    is_last,
    rows_of,
)

ROUNDS = 12
LEAST_SHARE = 200  # a round that matches fewer pairs than one in so many vertices is the last
MANTISSA = 50  # bits of a rating that do not count; the two above them do


@compiled_for_team
def units_by_team(sync, p, matching, numbering):
    """Match the vertices and number the pairs: the arguments of `match_by_team` and of `number_by_team`."""
    match_by_team(sync, p, *matching)
    number_by_team(sync, p, *numbering)


@compiled_for_team
def match_by_team(
    sync, p, indptr, indices, weights, vertex_weights, apart_indptr, apart_indices, labels, heaviest, seed, wish, partner, free
):  # fmt: skip
    """Fill `partner` with the vertex that each is matched with, or -1.

    No pair weighs more than `heaviest`, and none is listed as apart. With `labels` (pass an empty array if there are none)
    an edge is matched if it is satisfied: of positive weight between equal labels, or of negative weight between
    different ones. `wish`, of int32, and `free`, the vertex weight of a free vertex and infinity of a matched one, are
    work space. A wish stays the best one until its aim is matched.
    """
    n, grouped = len(vertex_weights), len(labels) > 0
    blocks = blocks_of(n)
    b = claim(sync)
    while b < blocks:
        first, last = rows_of(b, n)
        for v in range(first, last):
            partner[v], wish[v], free[v] = -1, -2, vertex_weights[v]
        b = claim(sync)
    barrier(sync, p)
    for _ in range(ROUNDS):
        b = claim(sync)
        while b < blocks:
            first, last = rows_of(b, n)
            for v in range(first, last):
                aim = wish[v]
                if partner[v] >= 0 or aim == -1 or (aim >= 0 and partner[aim] < 0):
                    continue
                wish[v] = _favourite(
                    v, indptr, indices, weights, apart_indptr, apart_indices, labels, grouped, heaviest, seed, free
                )
            b = claim(sync)
        if is_last(sync, p):
            sync[TALLY] = 0
            go_on(sync)
        pairs, b = 0, claim(sync)
        while b < blocks:
            first, last = rows_of(b, n)
            for v in range(first, last):
                w = wish[v]
                if w > v and partner[v] < 0 and wish[w] == v:  # by the thread of v alone
                    partner[v], partner[w], free[v], free[w] = w, v, np.inf, np.inf
                    pairs += 1
            b = claim(sync)
        add_atomically(sync, TALLY, pairs)
        barrier(sync, p)
        if sync[TALLY] * LEAST_SHARE < n:
            break


@compiled_for_team
def _favourite(v, indptr, indices, weights, apart_indptr, apart_indices, labels, grouped, heaviest, seed, free):
    """The best free neighbour of a vertex; -1 if none may be matched with it, nor ever will."""
    best, best_rating, best_lot = np.int64(-1), np.int64(0), np.uint64(0)
    room, own = heaviest - free[v], 1.0 / free[v]
    for a in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        u = indices[a]
        if free[u] > room:
            continue
        weight = weights[a]
        rating = np.float64(abs(weight) * own / free[u]).view(np.int64) >> MANTISSA
        if rating < best_rating or weight == 0.0 or u == v:
            continue
        if grouped and (weight > 0.0) != (labels[u] == labels[v]):
            continue
        lot = _lot(np.uint64(min(np.int64(u), np.int64(v))), np.uint64(max(np.int64(u), np.int64(v))), seed)
        if best < 0 or rating > best_rating or lot > best_lot:
            apart = False
            for t in range(apart_indptr[v], apart_indptr[v + ONE]):
                apart |= apart_indices[t] == u
            if not apart:
                best, best_rating, best_lot = np.int64(u), rating, lot
    return best


@compiled_for_team
def _lot(u, v, seed):
    """A number of 32 bits for an edge with ends u < v."""
    mixed = seed ^ (u * np.uint64(0x9E3779B97F4A7C15) + v)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
    return mixed >> np.uint64(32)


@compiled_for_team
def number_by_team(sync, p, indptr, indices, weights, partner, units, members, unit, start, ordered, sign):
    """Number pairs and single vertices 0, ..., m - 1 by their first vertex; units[-1] is m afterwards.

    The vertices of unit u are ordered[start[u]:start[u + 1]]. `units` and `members` are int64, one longer than the blocks.
    `sign` (pass an empty array if no weight is negative) becomes -1 for the first of two vertices with a negative weight
    between them, and 1 for all others.
    """
    n = len(partner)
    blocks = blocks_of(n)
    b = claim(sync)
    while b < blocks:
        units[b] = members[b] = 0
        first, last = rows_of(b, n)
        for v in range(first, last):
            if partner[v] < 0 or partner[v] > v:
                units[b] += 1
                members[b] += 1 if partner[v] < 0 else 2
        b = claim(sync)
    cumulate(sync, p, units, blocks)
    cumulate(sync, p, members, blocks)
    b = claim(sync)
    while b < blocks:
        u, at = units[b], members[b]
        first, last = rows_of(b, n)
        for v in range(first, last):
            other = partner[v]
            if other < 0 or other > v:
                unit[v], ordered[at] = u, v
                at += 1
                if other >= 0:
                    unit[other], ordered[at] = u, other
                    at += 1
                if len(sign) > 0:
                    sign[v] = 1 if other < 0 else _sign_between(v, other, indptr, indices, weights)
                    if other >= 0:
                        sign[other] = 1
                u += 1
                start[u] = at
        b = claim(sync)
    barrier(sync, p)


@compiled_for_team
def _sign_between(v, other, indptr, indices, weights):
    for a in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        if indices[a] == other and weights[a] < 0.0:
            return -1
    return 1
