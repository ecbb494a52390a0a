"""The paper's dual: accelerated projected gradient on the total-variation prox, one fused pass per iteration."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled


@compiled
def fista_steps(indptr, indices, weights, target, vertex_weights, step, flow, ahead, momentum, n_steps, value):
    """`n_steps` iterations on the dual flow; returns (momentum, duality gap at `value`).

    Both directions of an edge are stored and updated alike with opposite signs, so a vertex writes only its own
    arcs. `flow`, `ahead` (the extrapolated point) and `value` are changed in place.
    """
    n = len(target)
    for _ in range(n_steps):
        for u in range(n):
            total = 0.0
            for a in range(indptr[u], indptr[u + 1]):
                total += ahead[a]
            value[u] = (target[u] - total) / vertex_weights[u]
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        inertia = (momentum - 1.0) / following
        momentum = following
        for u in range(n):
            for a in range(indptr[u], indptr[u + 1]):
                moved = ahead[a] + step[a] * (value[u] - value[indices[a]])
                moved = min(max(moved, -weights[a]), weights[a])
                ahead[a] = moved + inertia * (moved - flow[a])
                flow[a] = moved
    gap = 0.0
    for u in range(n):
        total = 0.0
        for a in range(indptr[u], indptr[u + 1]):
            total += flow[a]
        value[u] = (target[u] - total) / vertex_weights[u]
    for u in range(n):
        for a in range(indptr[u], indptr[u + 1]):
            difference = value[u] - value[indices[a]]
            gap += 0.5 * (weights[a] * abs(difference) - flow[a] * difference)
    return momentum, gap
