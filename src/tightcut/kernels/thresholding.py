"""Passes over the edges: the total variation of a vector, and how a cut changes along an order."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled


@compiled
def total_variation(indptr, indices, weights, f):
    """Sum over edges of weight * |f_u - f_v|; both directions of an edge are stored."""
    total = 0.0
    for u in range(len(f)):
        row = 0.0
        for a in range(indptr[u], indptr[u + 1]):
            row += weights[a] * abs(f[u] - f[indices[a]])
        total += row
    return 0.5 * total


@compiled
def cut_changes(indptr, indices, weights, place):
    """By how much the cut grows when the vertex at each place of an order joins those before it.

    It grows by the weight of the vertex's edges to vertices behind it and falls by that to those before it.
    """
    n = len(place)
    change = np.empty(n)
    for u in range(n):
        total = 0.0
        for a in range(indptr[u], indptr[u + 1]):
            total += weights[a] if place[indices[a]] > place[u] else -weights[a]
        change[place[u]] = total
    return change
