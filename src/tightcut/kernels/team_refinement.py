"""Local search on partitions by a team of threads: rounds of simultaneous moves.

The objective is the sum over clusters of leaving / volume, plus `price` times the relation weight inside clusters, as in
`tightcut.kernels.partition`. What leaves a cluster is a sum over its vertices and a constant, and so is its volume.

The rounds are those of Jet (Gilbert, Madduri, Boman and Rajamanickam, 2024). Every vertex on a boundary names its best
other cluster; it is a candidate even if the move seems to lose a little. Each candidate then looks again, as if all better
ones had moved (the afterburner), and those that gain by that move at once. Who has moved waits for a round. The best labels
of all rounds are kept. Only vertices that moved and their neighbours are looked at again.
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled_for_team
from tightcut.kernels.team import ONE, TALLY, add_atomically, barrier, blocks_of, claim, go_on, is_last, rows_of

ROUNDS = 24
STALE = 4  # rounds without a gain after which the next such one is the last
LEAST_GAIN = 2e-5  # share of the objective
PATIENCE = 0.3  # share of its ties to its own cluster that a candidate may seem to lose
FRESH = 8  # rounds after which all candidates are evaluated again, since the volumes have changed

LEAVING, VOLUME, COUNT, INSIDE, RATIO, STAYS = range(6)  # rows of the totals
TOWARDS, CLASH = 4, 5  # rows of a block's sums: what a vertex is tied to each cluster by, edges and relations
BEST, IDLE, IMPROVED, OVER = range(4)  # places in `control`


@compiled_for_team
def refine_by_team(sync, p, graph, price, constants, state, coarse, unit, work, sums, totals, control, rounds):
    """Improve the labels in `state`, or the coarse ones of each vertex's unit; never worse, never an empty cluster.

    Parameters
    ----------
    graph : tuple
        indptr, indices and weights of the edges, vertex weights, degrees, indptr, indices and weights of the relations.
    constants : ndarray of shape (3,)
        Added to what leaves each cluster, to each volume, and to the relation weight inside.
    state : ndarray of shape (n,)
    coarse, unit : ndarray
        Labels of units, and the unit of each vertex; empty to begin with `state`.
    work : tuple
        Arrays with an entry per vertex: labels, the best labels and goals, of an unsigned type; changes of the objective;
        and who waits, moves and is to be looked at.
    sums : ndarray of shape (blocks, 6, k)
    totals : ndarray of shape (6, k)
    control : ndarray of shape (4,)
        The objective is left in its first entry.
    """
    _begin(sync, p, graph, price, constants, state, coarse, unit, work, sums, totals, control)
    for turn in range(rounds):
        _name_goals(sync, p, graph, price, work, sums, totals)
        _confirm(sync, p, graph, price, work, sums, totals)
        _count_changes(sync, p, graph, price, constants, work, sums, totals, control)
        _make_moves(sync, p, work, totals, control, turn)
        if control[OVER] > 0.0:
            break
    best = work[1]
    blocks = blocks_of(len(state))
    b = claim(sync)
    while b < blocks:
        first, last = rows_of(b, len(state))
        for v in range(first, last):
            state[v] = best[v]
        b = claim(sync)
    barrier(sync, p)


@compiled_for_team
def _begin(sync, p, graph, price, constants, state, coarse, unit, work, sums, totals, control):
    """Lift and measure the labels."""
    labels, best, goal, change, waits, _, dirty = work
    n = len(state)
    blocks = blocks_of(n)
    b = claim(sync)
    while b < blocks:
        first, last = rows_of(b, n)
        for v in range(first, last):
            labels[v] = coarse[unit[v]] if len(unit) > 0 else state[v]
        b = claim(sync)
    barrier(sync, p)
    b = claim(sync)
    while b < blocks:
        sums[b] = 0.0
        first, last = rows_of(b, n)
        for v in range(first, last):
            dirty[v] = _measure(v, graph, labels, sums[b])
            best[v], goal[v], change[v], waits[v] = labels[v], labels[v], np.inf, 0
        b = claim(sync)
    if is_last(sync, p):
        totals[:] = 0.0
        totals[LEAVING] = constants[0]
        totals[VOLUME] = constants[1]
        control[BEST], control[IDLE], control[OVER] = _add_up(totals, sums, price, constants), 0.0, 0.0
        go_on(sync)


@compiled_for_team
def _measure(v, graph, labels, sums):
    """Add a vertex to the totals of its cluster; returns whether it could gain by a move."""
    indptr, indices, weights, vertex_weights, _, rel_indptr, rel_indices, rel_weights = graph
    own, leaving = labels[v], 0.0
    boundary = indptr[v] == indptr[v + ONE] or rel_indptr[v] < rel_indptr[v + ONE]
    for a in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        same = labels[indices[a]] == own
        leaving += 0.0 if same else weights[a]
        boundary |= same != (weights[a] > 0.0)
    for a in range(rel_indptr[v], rel_indptr[v + ONE]):
        sums[INSIDE, own] += 0.5 * rel_weights[a] if labels[rel_indices[a]] == own else 0.0
    sums[LEAVING, own] += leaving
    sums[VOLUME, own] += vertex_weights[v]
    sums[COUNT, own] += 1.0
    return boundary


@compiled_for_team
def _add_up(totals, sums, price, constants):
    """Add what the blocks have found to the totals; returns the objective, infinity if a cluster is empty."""
    objective = price * constants[2]
    for c in range(totals.shape[1]):
        for b in range(len(sums)):
            for row in range(4):
                totals[row, c] += sums[b, row, c]
        totals[RATIO, c] = totals[LEAVING, c] / totals[VOLUME, c]
        objective += totals[RATIO, c] + price * totals[INSIDE, c] if totals[COUNT, c] > 0.5 else np.inf
    return objective


@compiled_for_team
def _name_goals(sync, p, graph, price, work, sums, totals):
    """The best other cluster of each vertex, and what a move there changes; infinity if it is no candidate."""
    labels, _, goal, change, _, _, dirty = work
    n = len(labels)
    blocks = blocks_of(n)
    b = claim(sync)
    while b < blocks:
        first, last = rows_of(b, n)
        for v in range(first, last):
            if dirty[v]:
                goal[v], change[v] = _best_cluster(v, graph, price, labels, totals, sums[b, TOWARDS], sums[b, CLASH])
                dirty[v] = 0
        b = claim(sync)
    barrier(sync, p)


@compiled_for_team
def _best_cluster(v, graph, price, labels, totals, towards, clash):
    """Of clusters that a vertex is tied to; of all if it has a relation, or no edge, or if edges may be negative."""
    indptr, indices, weights, vertex_weights, degrees, rel_indptr, rel_indices, rel_weights = graph
    own, k = labels[v], totals.shape[1]
    if totals[COUNT, own] < 1.5:
        return own, np.inf
    for c in range(k):
        towards[c], clash[c] = 0.0, 0.0
    for a in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        towards[labels[indices[a]]] += weights[a]
    for a in range(rel_indptr[v], rel_indptr[v + ONE]):
        clash[labels[rel_indices[a]]] += rel_weights[a] * price
    everywhere = k == 2 or indptr[v] == indptr[v + ONE] or rel_indptr[v] < rel_indptr[v + ONE]
    mass, degree, best, change = vertex_weights[v], degrees[v], own, np.inf
    for c in range(k):
        if c != own and (towards[c] > 0.0 or everywhere):
            found = (
                (totals[LEAVING, c] + degree - 2 * towards[c]) / (totals[VOLUME, c] + mass)
                - totals[RATIO, c]
                + clash[c]
            )
            if found < change:
                best, change = c, found
    change += (totals[LEAVING, own] - degree + 2 * towards[own]) / (totals[VOLUME, own] - mass) - totals[RATIO, own]
    change -= clash[own]
    return best, change if change < PATIENCE * 2 * towards[own] / totals[VOLUME, own] else np.inf


@compiled_for_team
def _confirm(sync, p, graph, price, work, sums, totals):
    """Which candidates gain once all better ones have moved. A cluster that all its vertices would leave keeps them."""
    labels, _, goal, change, waits, moves, _ = work
    n, k = len(labels), totals.shape[1]
    blocks = blocks_of(n)
    b = claim(sync)
    while b < blocks:
        for c in range(k):
            sums[b, COUNT, c] = 0.0
        first, last = rows_of(b, n)
        for v in range(first, last):
            moves[v] = (
                change[v] < np.inf and not waits[v] and _gains(v, graph, price, labels, goal, change, waits, totals)
            )
            sums[b, COUNT, labels[v]] += moves[v]
        b = claim(sync)
    if is_last(sync, p):
        for c in range(k):
            gone = 0.0
            for block in range(blocks):
                gone += sums[block, COUNT, c]
            totals[STAYS, c] = gone > totals[COUNT, c] - 0.5
        go_on(sync)


@compiled_for_team
def _gains(v, graph, price, labels, goal, change, waits, totals):
    """Whether a candidate gains once all better candidates beside it have moved; related ones may also stay."""
    indptr, indices, weights, vertex_weights, degrees, rel_indptr, rel_indices, rel_weights = graph
    mine, own, aim, stays, goes, clash = change[v], labels[v], goal[v], 0.0, 0.0, 0.0
    for a in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        u = indices[a]
        label = labels[u]
        if (change[u] < mine or (change[u] == mine and u < v)) and not waits[u]:
            label = goal[u]
        if label == own:
            stays += weights[a]
        elif label == aim:
            goes += weights[a]
    for a in range(rel_indptr[v], rel_indptr[v + ONE]):
        # What may be there counts as there if it should not, and what may leave as gone if it should not stay.
        u, weight = rel_indices[a], rel_weights[a] * price
        sooner = (change[u] < mine or (change[u] == mine and u < v)) and not waits[u]
        there = labels[u] == aim or (sooner and goal[u] == aim)
        here = labels[u] == own and not sooner
        if weight < 0.0:
            there = (labels[u] == aim and not sooner) or (sooner and goal[u] == aim)
            here = labels[u] == own
        clash += weight * (np.float64(there) - np.float64(here))
    mass, degree = vertex_weights[v], degrees[v]
    total = (totals[LEAVING, own] - degree + 2 * stays) / (totals[VOLUME, own] - mass) - totals[RATIO, own] + clash
    total += (totals[LEAVING, aim] + degree - 2 * goes) / (totals[VOLUME, aim] + mass) - totals[RATIO, aim]
    return total < 0.0


@compiled_for_team
def _count_changes(sync, p, graph, price, constants, work, sums, totals, control):
    """Add what the moves change to the totals, and note the objective."""
    labels, _, goal, _, _, moves, dirty = work
    n = len(labels)
    blocks = blocks_of(n)
    moved, b = 0, claim(sync)
    while b < blocks:
        sums[b] = 0.0
        first, last = rows_of(b, n)
        for v in range(first, last):
            if _moves(v, moves, labels, totals):
                _add_change(v, graph, labels, goal, moves, totals, dirty, sums[b])
                moved += 1
        b = claim(sync)
    add_atomically(sync, TALLY, moved)
    if is_last(sync, p):
        objective = _add_up(totals, sums, price, constants)
        control[IDLE] = 0.0 if objective < control[BEST] * (1 - LEAST_GAIN) else control[IDLE] + 1.0
        control[IMPROVED] = objective < control[BEST]
        control[BEST] = min(objective, control[BEST])
        control[OVER] = sync[TALLY] == 0 or control[IDLE] > STALE
        sync[TALLY] = 0
        go_on(sync)


@compiled_for_team
def _moves(v, moves, labels, totals):
    return moves[v] and totals[STAYS, labels[v]] == 0.0


@compiled_for_team
def _add_change(v, graph, labels, goal, moves, totals, dirty, sums):
    """What the move of v changes in the totals.

    An arc counts for its source; the one back from a neighbour is counted here if that does not move.
    """
    indptr, indices, weights, vertex_weights, _, rel_indptr, rel_indices, rel_weights = graph
    own, aim = labels[v], goal[v]
    dirty[v] = 1
    sums[VOLUME, own] -= vertex_weights[v]
    sums[VOLUME, aim] += vertex_weights[v]
    sums[COUNT, own] -= 1.0
    sums[COUNT, aim] += 1.0
    for a in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        u = indices[a]
        weight, before, along = weights[a], labels[u], _moves(u, moves, labels, totals)
        dirty[u] = 1
        if before != own:
            sums[LEAVING, own] -= weight
        if (goal[u] if along else before) != aim:
            sums[LEAVING, aim] += weight
        if not along and (before == own) != (before == aim):
            sums[LEAVING, before] += weight if before == own else -weight
    for a in range(rel_indptr[v], rel_indptr[v + ONE]):
        u = rel_indices[a]
        along = _moves(u, moves, labels, totals)
        share = 0.5 * rel_weights[a] if along else rel_weights[a]
        dirty[u] = 1
        sums[INSIDE, aim] += share if (goal[u] if along else labels[u]) == aim else 0.0
        sums[INSIDE, own] -= share if labels[u] == own else 0.0


@compiled_for_team
def _make_moves(sync, p, work, totals, control, turn):
    labels, best, goal, change, waits, moves, dirty = work
    n = len(labels)
    blocks = blocks_of(n)
    b = claim(sync)
    while b < blocks:
        first, last = rows_of(b, n)
        for v in range(first, last):
            waits[v] = _moves(v, moves, labels, totals)
            if waits[v]:
                labels[v] = goal[v]
            if turn % FRESH == FRESH - 1 and change[v] < np.inf:
                dirty[v] = 1
            if control[IMPROVED] > 0.0:
                best[v] = labels[v]
        b = claim(sync)
    barrier(sync, p)
