"""Colouring of cannot-link graphs, which decides whether k clusters can satisfy them."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled
from tightcut.kernels.heap import ABSENT, heapify, pop, renew
from tightcut.kernels.random import next_random


@compiled
def peel(indptr, indices, k):
    """Degree peeling: remove vertices with fewer than k neighbours left until none remains; returns (removal order, core mask).

    A removed vertex can always be coloured after everything that outlives it, so only the core is hard.
    """
    n = len(indptr) - 1
    degree = np.empty(n, np.int64)
    core = np.ones(n, np.bool_)
    order = np.empty(n, np.int32)
    head, tail = 0, 0
    for v in range(n):
        degree[v] = indptr[v + 1] - indptr[v]
        if degree[v] < k:
            order[tail] = v
            core[v] = False
            tail += 1
    while head < tail:
        v = order[head]
        head += 1
        for a in range(indptr[v], indptr[v + 1]):
            u = indices[a]
            degree[u] -= 1
            if core[u] and degree[u] < k:
                order[tail] = u
                core[u] = False
                tail += 1
    return order[:tail], core


@compiled
def complete_labels(indptr, indices, weights, rel_indptr, rel_indices, rel_weights, labels, order, wished, k):
    """Label the vertices of `order` (now -1) one by one: the wished label if allowed, else the best connected one.

    Allowed means that no cannot-link forbids it; a vertex with fewer than k labelled conflicts always finds one.
    """
    taken = np.empty(k, np.bool_)
    pull = np.empty(k)
    for v in order:
        taken[:] = False
        for a in range(rel_indptr[v], rel_indptr[v + 1]):
            if rel_weights[a] > 0 and labels[rel_indices[a]] >= 0:
                taken[labels[rel_indices[a]]] = True
        if wished[v] >= 0 and not taken[wished[v]]:
            labels[v] = wished[v]
            continue
        pull[:] = 0.0
        for a in range(indptr[v], indptr[v + 1]):
            if labels[indices[a]] >= 0:
                pull[labels[indices[a]]] += weights[a]
        best = -1
        for c in range(k):
            if not taken[c] and (best < 0 or pull[c] > pull[best]):
                best = c
        labels[v] = max(best, 0)


@compiled
def _paint(v, c, change, indptr, indices, blocked, rank, key, heap, size, place):
    """Give vertex v colour c (change 1) or take it back (-1): its neighbours' forbidden colours, and their keys."""
    for a in range(indptr[v], indptr[v + 1]):
        u = indices[a]
        before = blocked[u, c]
        blocked[u, c] += change
        if (before == 0) != (blocked[u, c] == 0):
            key[u] -= change * rank
            if place[u] >= 0:
                renew(u, heap, size, key, place)


@compiled
def colour_exactly(indptr, indices, k, node_limit):
    """Backtracking on the most saturated vertex (DSATUR), ties by degree; returns (status, colours).

    Status 1: coloured. 0: the search is exhausted, there is no colouring. -1: the limit of nodes was reached. A node
    costs O(log n) for each neighbour of its vertex.
    """
    n = len(indptr) - 1
    colour = np.full(n, -1, np.int32)
    if n == 0:
        return 1, colour
    blocked = np.zeros((n, k), np.int32)
    chosen = np.empty(n, np.int32)
    highest = np.zeros(n + 1, np.int32)  # colours in use before each depth; new colours enter one at a time
    # Most forbidden colours first, then most neighbours, then the first: the heap begins with the smallest key.
    degree = np.diff(indptr)
    rank = float(n) * (degree.max() + 1)
    key = np.arange(n) - float(n) * degree
    heap, place, size = np.arange(n).astype(np.int32), np.arange(n).astype(np.int32), n
    heapify(heap, size, key, place)
    depth, nodes = 0, 0
    chosen[0] = heap[0]
    size = pop(heap, size, key, place)
    while True:
        v = chosen[depth]
        previous = colour[v]
        if previous >= 0:
            _paint(v, previous, -1, indptr, indices, blocked, rank, key, heap, size, place)
            colour[v] = -1
        following = -1
        for c in range(previous + 1, min(k, highest[depth] + 1)):
            if blocked[v, c] == 0:
                following = c
                break
        if following < 0:
            place[v] = ABSENT
            size = renew(v, heap, size, key, place)
            depth -= 1
            if depth < 0:
                return 0, colour
            continue
        nodes += 1
        if nodes > node_limit:
            return -1, colour
        colour[v] = following
        _paint(v, following, 1, indptr, indices, blocked, rank, key, heap, size, place)
        highest[depth + 1] = max(highest[depth], following + 1)
        depth += 1
        if depth == n:
            return 1, colour
        chosen[depth] = heap[0]
        size = pop(heap, size, key, place)


@compiled
def colour_by_tabu(indptr, indices, relations, k, colour, bound, max_steps, state):
    """Tabu search for the least sum of relations between equal colours, from any colouring; changes `colour`.

    A positive relation wants different colours, a negative one equal ones. Returns by how much the sum exceeds the least
    that satisfying everything would give; 0 means that all are satisfied. No colouring has an excess below `bound`, so
    the search ends where it is reached.
    """
    n = len(indptr) - 1
    clash = np.zeros((n, k))
    least = np.zeros(n)  # of a vertex's row of `clash`, where it is satisfied
    rest_until = np.zeros((n, k), np.int64)
    excess = 0.0
    for v in range(n):
        for a in range(indptr[v], indptr[v + 1]):
            clash[v, colour[indices[a]]] += relations[a]
            least[v] += min(relations[a], 0.0)
        excess += (clash[v, colour[v]] - least[v]) / 2
    best, best_colour = excess, colour.copy()
    for step in range(max_steps):
        if best < bound + 1e-9:
            break
        chosen, target, chosen_change, ties = -1, -1, np.inf, 1
        for v in range(n):
            if clash[v, colour[v]] < least[v] + 1e-9:
                continue
            for c in range(k):
                change = clash[v, c] - clash[v, colour[v]]
                if c == colour[v] or (rest_until[v, c] > step and excess + change > best - 1e-9):
                    continue
                if change == chosen_change:
                    ties += 1
                if change < chosen_change or (change == chosen_change and next_random(state) * ties < 1):
                    ties = 1 if change < chosen_change else ties
                    chosen, target, chosen_change = v, c, change
        if chosen < 0:
            continue
        old = colour[chosen]
        rest_until[chosen, old] = step + 10 + np.int64(0.6 * excess + next_random(state) * 10)
        colour[chosen] = target
        excess += chosen_change
        for a in range(indptr[chosen], indptr[chosen + 1]):
            clash[indices[a], old] -= relations[a]
            clash[indices[a], target] += relations[a]
        if excess < best - 1e-9:
            best = excess
            for v in range(len(colour)):
                best_colour[v] = colour[v]
    for v in range(len(colour)):
        colour[v] = best_colour[v]
    return best
