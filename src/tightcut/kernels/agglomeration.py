"""Greedy agglomeration of a small graph with relations: units are merged pair by pair until k clusters are left."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled


@compiled
def agglomerate(joint, leaving, volume, relation, price, k):
    """Merge clusters greedily, best change of the objective first, until k are left; returns their labels.

    `joint` and `relation` are dense symmetric matrices between the m initial clusters and are used up. Every cluster
    remembers its best partner among those after it, and looks for another only when that one is merged: about O(m^2).
    """
    m = len(leaving)
    labels, alive = np.empty(m, np.int32), np.empty(m, np.bool_)
    partner, change = np.empty(m, np.int32), np.empty(m)
    for a in range(m):
        labels[a], alive[a] = a, True
    for a in range(m):
        partner[a], change[a] = _best_partner(a, alive, joint, leaving, volume, relation, price)
    for _ in range(m - max(k, 1)):
        a, least = -1, np.inf
        for c in range(m):
            if alive[c] and change[c] < least:
                a, least = c, change[c]
        if a < 0:  # no change is a number below infinity: any two will do
            a, partner[a] = _first_two(alive)
        b = partner[a]
        leaving[a] += leaving[b] - 2 * joint[a, b]
        volume[a] += volume[b]
        for c in range(m):
            joint[a, c] += joint[b, c]
            joint[c, a] = joint[a, c]
            relation[a, c] += relation[b, c]
            relation[c, a] = relation[a, c]
        alive[b] = False
        for t in range(m):
            if labels[t] == b:
                labels[t] = a
        for c in range(b):
            if not alive[c]:
                continue
            if c == a or partner[c] == a or partner[c] == b:
                partner[c], change[c] = _best_partner(c, alive, joint, leaving, volume, relation, price)
            elif c < a:
                found = _change_by_merging(c, a, joint, leaving, volume, relation, price)
                if found < change[c] or (found == change[c] and a < partner[c]):
                    partner[c], change[c] = a, found
    return labels


@compiled
def _best_partner(a, alive, joint, leaving, volume, relation, price):
    """The cluster after a that it merges with best, the first of equals, and the change; (-1, inf) if there is none."""
    best, least = -1, np.inf
    for b in range(a + 1, len(alive)):
        if alive[b]:
            change = _change_by_merging(a, b, joint, leaving, volume, relation, price)
            if change < least:
                best, least = b, change
    return best, least


@compiled
def _first_two(alive):
    first = 0
    while not alive[first]:
        first += 1
    second = first + 1
    while not alive[second]:
        second += 1
    return first, second


@compiled
def _change_by_merging(a, b, joint, leaving, volume, relation, price):
    merged = (leaving[a] + leaving[b] - 2 * joint[a, b]) / (volume[a] + volume[b])
    return merged - leaving[a] / volume[a] - leaving[b] / volume[b] + price * relation[a, b]
