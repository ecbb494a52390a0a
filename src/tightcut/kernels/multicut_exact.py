"""The exact multicut of a few vertices, by branch and bound (see multicut_greedy.py).

Vertices are assigned one by one, to a cluster of those before or to a new one. What the rest costs among itself is
known, since the problem is solved for the last vertex, the last two, and so on (Russian dolls); what each vertex of the
rest costs with those assigned is at least its cheapest choice.
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.arrays import filled
from tightcut.kernels.compiled import compiled

EPSILON = 1e-9


@compiled
def best_partition(weights, label, cost, most_nodes):
    """Improve the labels of a clustering with the given cost to those of least cost.

    Parameters: the dense matrix of weights, -inf where forbidden. Returns the cost and a lower bound of it; the two are
    equal unless `most_nodes` was not enough.
    """
    n = len(label)
    least = np.zeros(n + 1)
    best, nodes = filled(n, 0), filled(1, most_nodes)
    for i in range(n - 2, -1, -1):
        upper = least[i + 1] + _attach(i, weights, best)
        if i == 0 and cost < upper + EPSILON:
            upper = cost
            for v in range(n):
                best[v] = label[v]
        if upper > least[i + 1] + EPSILON:
            upper = _search_from(i, weights, least, upper, best, nodes)
            if nodes[0] <= 0:
                # Further vertices never lower the least cost: that of the later ones bounds it from below.
                return cost, min(cost, least[i + 1])
        least[i] = upper
    for v in range(n):
        label[v] = best[v]
    return least[0], least[0]


@compiled
def _attach(i, weights, best):
    """Give vertex i the best cluster among those of the later vertices, or a new one; returns what that costs."""
    n = len(best)
    positive = 0.0
    sums = np.zeros(n + 1)
    for u in range(i + 1, n):
        positive += max(weights[i, u], 0.0)
        sums[best[u]] += weights[i, u]
    free, chosen, most = 0, -1, 0.0
    for u in range(i + 1, n):
        free = max(free, best[u] + 1)
        if sums[best[u]] > most:
            chosen, most = best[u], sums[best[u]]
    best[i] = free if chosen < 0 else chosen
    if best[i] == n:  # numbers below n are enough, since fewer than n are in use
        best[i] = _free_number(i, best)
    return positive - most


@compiled
def _free_number(i, best):
    used = filled(len(best) + 1, 0)
    for u in range(i + 1, len(best)):
        used[best[u]] = 1
    number = 0
    while used[number] > 0:
        number += 1
    return number


@compiled
def _search_from(i, weights, least, upper, best, nodes):
    """The least cost of vertices i, i + 1, ..., if it is below `upper`, with the labels in `best`; else `upper`."""
    n = len(best)
    sums, positive = np.zeros((n, n + 1)), np.zeros(n)
    saved, saved_positive = np.empty((n, n)), np.empty((n, n))
    choice, used = filled(n, -1), filled(n, 0)
    applied, cost = filled(n, 0), np.zeros(n)
    d = i
    while d >= i:
        if applied[d] > 0:
            applied[d] = 0
            for v in range(d + 1, n):
                sums[v, choice[d]], positive[v] = saved[d, v], saved_positive[d, v]
        choice[d] += 1
        c = choice[d]
        if c > used[d] or nodes[0] <= 0:
            d -= 1
            continue
        reached = cost[d] + positive[d] - sums[d, c]
        if reached + least[d + 1] >= upper - EPSILON:  # also where it is forbidden, which makes it infinite
            continue
        nodes[0] -= 1
        applied[d] = 1
        rest = 0.0
        for v in range(d + 1, n):
            saved[d, v], saved_positive[d, v] = sums[v, c], positive[v]
            sums[v, c] += weights[v, d]
            positive[v] += max(weights[v, d], 0.0)
            most = 0.0
            for own in range(max(used[d], c + 1)):
                most = max(most, sums[v, own])
            rest += positive[v] - most
        if reached + rest + least[d + 1] >= upper - EPSILON:
            continue
        if d < n - 1:
            used[d + 1], cost[d + 1], choice[d + 1] = max(used[d], c + 1), reached, -1
            d += 1
            continue
        upper = reached
        for v in range(i, n):
            best[v] = choice[v]
        if upper <= least[i + 1] + EPSILON:
            break
    return upper
