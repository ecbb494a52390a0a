"""Low-rank semidefinite programs: unit i of a clustering is a row x_i of X, and pairs of units have inner products.

| symbol | meaning |
|---|---|
| head[p], tail[p] | the units of pair p, head < tail, in lexicographic order |
| cost[p], inner[p], slope[p] | cost of the inner product of the pair, its value, derivative of the Lagrangian by it |
| triangles[t] | pairs of a triangle inequality, as numbers p |
| multipliers[t], penalty | of the augmented Lagrangian; with penalty 0 it is the plain one |
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled, compiled_sum


@compiled_sum
def _products(X, head, tail, constant, inner):
    """inner[p] = constant + <x_head, x_tail>."""
    for p in range(len(head)):
        i, j = head[p], tail[p]
        total = constant
        for q in range(X.shape[1]):
            total += X[i, q] * X[j, q]
        inner[p] = total


@compiled_sum
def _pull_pairs(X, head, tail, slope, gradient):
    """Add the gradient of sum slope <x_head, x_tail>."""
    for p in range(len(head)):
        i, j, factor = head[p], tail[p], slope[p]
        for q in range(X.shape[1]):
            gradient[i, q] += factor * X[j, q]
            gradient[j, q] += factor * X[i, q]


@compiled
def _priced(multiplier, penalty, kept):
    """Minus the derivative, and the term of the Lagrangian, of an inequality kept >= 0."""
    if penalty == 0:
        return multiplier, -multiplier * kept
    m = max(multiplier - penalty * kept, 0.0)
    return m, (m * m - multiplier * multiplier) / (2 * penalty)


@compiled
def spin_lagrangian(
    X, head, tail, cost, triangles, signs, multipliers, penalty, belief, least, price, moment, pull,
    gradient, inner, slope,
):  # fmt: skip
    """Lagrangian of the Z form, augmented unless the penalty is 0, pull |X'moment|^2 included; O((pairs + units) rank).

    Fills `gradient`, `inner` and `slope`. The inequality of triangle t is sum_s signs[t, s] inner >= -1; that of the
    violated belief, with the multiplier `price`, is <belief, inner> >= least.
    """
    _products(X, head, tail, 0.0, inner)
    value, kept = 0.0, -least
    for p in range(len(head)):
        slope[p] = cost[p]
        value += cost[p] * inner[p]
        kept += belief[p] * inner[p]
    m, term = _priced(price, penalty, kept)
    value += term
    for p in range(len(head)):
        slope[p] -= m * belief[p]
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        kept = 1 + signs[t, 0] * inner[a] + signs[t, 1] * inner[b] + signs[t, 2] * inner[c]
        m, term = _priced(multipliers[t], penalty, kept)
        value += term
        slope[a] -= m * signs[t, 0]
        slope[b] -= m * signs[t, 1]
        slope[c] -= m * signs[t, 2]
    total = np.zeros(X.shape[1])
    for i in range(len(X)):
        for q in range(X.shape[1]):
            total[q] += moment[i] * X[i, q]
    for q in range(X.shape[1]):
        value += pull * total[q] * total[q]
    for i in range(len(X)):
        for q in range(X.shape[1]):
            gradient[i, q] = 2 * pull * moment[i] * total[q]
    _pull_pairs(X, head, tail, slope, gradient)
    return value


@compiled
def partition_lagrangian(
    X, constant, head, tail, cost, own_cost, triangles, multipliers, step, pairs, free, pair_multipliers, pair_step,
    gradient, inner, own, slope, own_slope,
):  # fmt: skip
    """Augmented Lagrangian of the P form, P = constant + XX'; O((pairs + units) rank).

    Row t of `triangles` is a unit u and the pairs uv, uw, vw with P_uu - P_uv - P_uw + P_vw >= 0; `pairs` have
    P >= 0, or P = 0 where `free`. Their penalties are `step` and `pair_step`. Fills all arrays from `gradient` on.
    """
    _products(X, head, tail, constant, inner)
    value = 0.0
    for i in range(len(X)):
        total = constant
        for q in range(X.shape[1]):
            total += X[i, q] * X[i, q]
        own[i] = total
        own_slope[i] = own_cost[i]
        value += own_cost[i] * total
    for p in range(len(head)):
        slope[p] = cost[p]
        value += cost[p] * inner[p]
    for t in range(len(triangles)):
        u, a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2], triangles[t, 3]
        m, term = _priced(multipliers[t], step[t], own[u] - inner[a] - inner[b] + inner[c])
        value += term
        own_slope[u] -= m
        slope[a] += m
        slope[b] += m
        slope[c] -= m
    for t in range(len(pairs)):
        p = pairs[t]
        m = pair_multipliers[t] - pair_step[t] * inner[p]
        if m < 0 and not free[t]:
            m = 0.0
        value += (m * m - pair_multipliers[t] ** 2) / (2 * pair_step[t])
        slope[p] -= m
    for i in range(len(X)):
        for q in range(X.shape[1]):
            gradient[i, q] = 2 * own_slope[i] * X[i, q]
    _pull_pairs(X, head, tail, slope, gradient)
    return value


@compiled
def worst_spin_triangles(gram, head, tail, first, last, least, third):
    """For each pair from `first` to `last` the unit with which it violates a triangle of the Z form most, -1 for none.

    The violation is max(|a + b| - c, |a - b| + c) - 1 for inner products a, b with the unit and c of the pair.
    """
    for p in range(first, last):
        i, j = head[p], tail[p]
        together = gram[i, j]
        worst, found = least, -1
        for h in range(gram.shape[0]):
            a, b = gram[i, h], gram[j, h]
            violation = max(abs(a + b) - together, abs(a - b) + together) - 1
            if violation > worst and h not in (i, j):
                worst, found = violation, h
        third[p] = found


@compiled
def worst_near_spin_triangles(X, head, tail, indptr, indices, first, last, least, third):
    """`worst_spin_triangles` among the neighbours of the two units in a graph; O(degree rank) for each pair."""
    for p in range(first, last):
        i, j = head[p], tail[p]
        together = _product(X, i, j)
        worst, found = least, -1
        for end in (i, j):
            for e in range(indptr[end], indptr[end + 1]):
                h = indices[e]
                if h in (i, j):
                    continue
                a, b = _product(X, i, h), _product(X, j, h)
                violation = max(abs(a + b) - together, abs(a - b) + together) - 1
                if violation > worst:
                    worst, found = violation, h
        third[p] = found


@compiled
def worst_near_partition_triangles(X, constant, head, tail, own, indptr, indices, first, last, least, corner, third):
    """For each pair the triangle of the P form that is violated most, among neighbours of the pair.

    `third[p]` is the unit beside the pair, -1 for none, and `corner[p]` the unit of the triangle that is u.
    """
    for p in range(first, last):
        i, j = head[p], tail[p]
        together = constant + _product(X, i, j)
        worst, found, which = least, -1, -1
        for end in (i, j):
            for e in range(indptr[end], indptr[end + 1]):
                h = indices[e]
                if h in (i, j):
                    continue
                a, b = constant + _product(X, i, h), constant + _product(X, j, h)
                for u, violation in (
                    (i, together + a - b - own[i]),
                    (j, together + b - a - own[j]),
                    (h, a + b - together - own[h]),
                ):
                    if violation > worst:
                        worst, found, which = violation, h, u
        third[p], corner[p] = found, which


@compiled_sum
def _product(X, i, j):
    total = 0.0
    for q in range(X.shape[1]):
        total += X[i, q] * X[j, q]
    return total
