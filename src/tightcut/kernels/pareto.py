"""Local search that records the smallest cut seen for each amount of violated belief.

The front is a list of clusterings, sorted by violated belief, in which every one has a smaller cut than those before it.
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled
from tightcut.kernels.partition import measure_partition, relation_inside, tabulate
from tightcut.kernels.random import next_random
from tightcut.utils.rounding import BELIEF_ROUNDING

CHEAPER, DEARER = 0.9, 1.2  # factors of the price, after a step within the target and after one beyond it


@compiled
def enter_front(amounts, cuts, front, size, amount, cut, labels):
    """Add a clustering unless one of the front is as good in both; returns the size of the front.

    A full front takes only what is better than one of its clusterings in both.
    """
    place = 0
    while place < size and amounts[place] <= amount + BELIEF_ROUNDING:
        place += 1
    if place > 0 and cuts[place - 1] <= cut * (1 + 1e-12):
        return size
    first = place - 1 if place > 0 and amounts[place - 1] >= amount - BELIEF_ROUNDING else place
    last = place
    while last < size and cuts[last] >= cut:
        last += 1
    beaten = last - first
    if beaten == 0 and size == len(amounts):
        return size
    if beaten == 0:
        for t in range(size, first, -1):
            amounts[t], cuts[t] = amounts[t - 1], cuts[t - 1]
            front[t] = front[t - 1]
    for t in range(last, size):
        if beaten > 1:
            amounts[t - beaten + 1], cuts[t - beaten + 1] = amounts[t], cuts[t]
            front[t - beaten + 1] = front[t]
    amounts[first], cuts[first] = amount, cut
    front[first] = labels
    return size + 1 - beaten


@compiled
def _best_step(degree, vertex_weights, labels, totals, tables, rest_until, step, aim, state):
    """The move with the least cut plus price of what exceeds the target; a move that is tabu must lead to a new best."""
    leaving, volume, count = totals
    towards, clash = tables
    cut, amount, target, price, smallest = aim
    chosen, goal, least, ties = -1, -1, np.inf, 1
    for v in range(len(labels)):
        own = labels[v]
        if count[own] == 1:
            continue
        left = (leaving[own] - degree[v] + 2 * towards[v, own]) / (volume[own] - vertex_weights[v]) - leaving[
            own
        ] / volume[own]
        for c in range(len(leaving)):
            if c == own:
                continue
            reached = cut + left - leaving[c] / volume[c]
            reached += (leaving[c] + degree[v] - 2 * towards[v, c]) / (volume[c] + vertex_weights[v])
            excess = amount + clash[v, c] - clash[v, own] - target
            allowed = excess <= BELIEF_ROUNDING
            if rest_until[v, c] > step and not (allowed and reached < smallest * (1 - 1e-9)):
                continue
            score = reached if allowed else reached + price * excess
            if score == least:
                ties += 1
            if score < least or (score == least and next_random(state) * ties < 1):
                ties = 1 if score < least else ties
                chosen, goal, least = v, c, score
    return chosen, goal


@compiled
def walk_front(
    indptr, indices, weights, vertex_weights, degree, rel_indptr, rel_indices, rel_weights, labels, k, offset, target, price,
    max_steps, amounts, cuts, front, size, state,
):  # fmt: skip
    """Walk from `labels`, which change, by single moves around a target amount of violated belief; O(n k) a step.

    The price of what exceeds the target falls while nothing does and rises while something does, so that the walk
    passes the target repeatedly. Every clustering on the way enters the front; returns its size. `offset` is the
    violated belief of a clustering without any relation inside its clusters.
    """
    n = len(labels)
    leaving, volume, count = np.empty(k), np.empty(k), np.empty(k, np.int64)
    measure_partition(indptr, indices, weights, vertex_weights, labels, leaving, volume, count)
    towards, clash = np.empty((n, k)), np.empty((n, k))
    tabulate(indptr, indices, weights, labels, towards)
    tabulate(rel_indptr, rel_indices, rel_weights, labels, clash)
    rest_until = np.zeros((n, k), np.int64)
    amount = offset + relation_inside(rel_indptr, rel_indices, rel_weights, labels)
    totals, tables = (leaving, volume, count), (towards, clash)
    smallest = np.inf
    for t in range(size):
        if amounts[t] <= target + BELIEF_ROUNDING:
            smallest = cuts[t]
    for step in range(max_steps):
        cut = (leaving / volume).sum()
        aim = (cut, amount, target, price, smallest)
        v, c = _best_step(degree, vertex_weights, labels, totals, tables, rest_until, step, aim, state)
        if v < 0:
            continue
        own = labels[v]
        leaving[own] = max(leaving[own] + 2 * towards[v, own] - degree[v], 0.0)
        leaving[c] = max(leaving[c] + degree[v] - 2 * towards[v, c], 0.0)
        volume[own] -= vertex_weights[v]
        volume[c] += vertex_weights[v]
        count[own] -= 1
        count[c] += 1
        amount += clash[v, c] - clash[v, own]
        labels[v] = c
        for a in range(indptr[v], indptr[v + 1]):
            towards[indices[a], own] -= weights[a]
            towards[indices[a], c] += weights[a]
        for a in range(rel_indptr[v], rel_indptr[v + 1]):
            clash[rel_indices[a], own] -= rel_weights[a]
            clash[rel_indices[a], c] += rel_weights[a]
        rest_until[v, own] = step + 1 + np.int64(min(n, 20) * (0.25 + 0.5 * next_random(state)))
        within = amount <= target + BELIEF_ROUNDING
        price *= CHEAPER if within else DEARER
        cut = (leaving / volume).sum()
        if within and cut < smallest:
            smallest = cut
        size = enter_front(amounts, cuts, front, size, amount, cut, labels)
    return size
