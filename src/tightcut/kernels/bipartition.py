"""Local search on signed graphs (see search/signed_graph.py): flip one unit at a time, watch the ratio.

With D = sum moment_u spins_u and H = sum external_u spins_u the two sides weigh (volume +- D)/2 and send
cut + (outside +- H)/2 to the rest of the graph, so one flip is judged in constant time.

| symbol | meaning |
|---|---|
| spins[u] | +1 or -1, the orientation of unit u |
| field[u] | by how much the cut grows when unit u flips |
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled
from tightcut.kernels.heap import ABSENT, LOCKED, heapify, pop, renew, sift_down
from tightcut.kernels.random import next_random


@compiled
def _ratio(cut, imbalance, tilt, volume, outside):
    """The two-cluster objective; what rounding makes negative is zero, a side that it makes empty is no cluster."""
    plus, minus = 0.5 * (volume + imbalance), 0.5 * (volume - imbalance)
    if not (plus > 0.0 and minus > 0.0):
        return np.inf
    return max(cut + 0.5 * (outside + tilt), 0.0) / plus + max(cut + 0.5 * (outside - tilt), 0.0) / minus


@compiled
def measure(indptr, indices, coupling, moment, external, spins, field):
    """Fill `field`; return (frustrated coupling weight, imbalance, tilt, number of plus units). O(arcs)."""
    frustrated, imbalance, tilt, n_plus = 0.0, 0.0, 0.0, 0
    for u in range(len(spins)):
        total = 0.0
        for a in range(indptr[u], indptr[u + 1]):
            agreement = coupling[a] * spins[u] * spins[indices[a]]
            total += agreement
            if agreement < 0:
                frustrated -= 0.5 * agreement
        field[u] = total
        imbalance += moment[u] * spins[u]
        tilt += external[u] * spins[u]
        n_plus += spins[u] > 0
    return frustrated, imbalance, tilt, n_plus


@compiled
def _flip(u, indptr, indices, coupling, spins, field):
    spins[u] = -spins[u]
    field[u] = -field[u]
    for a in range(indptr[u], indptr[u + 1]):
        v = indices[a]
        field[v] += 2.0 * coupling[a] * spins[u] * spins[v]


@compiled
def _ratio_after(u, cut, imbalance, tilt, spins, field, moment, external, volume, outside):
    """The objective after a flip of unit u."""
    turned = 2 * spins[u]
    return _ratio(cut + field[u], imbalance - turned * moment[u], tilt - turned * external[u], volume, outside)


@compiled
def _at_the_cut(u, indptr, indices, coupling, spins):
    """Whether some coupling of unit u is frustrated, or it has none at all."""
    for a in range(indptr[u], indptr[u + 1]):
        if coupling[a] * spins[u] * spins[indices[a]] < 0:
            return True
    return indptr[u] == indptr[u + 1]


@compiled
def near_the_cut(indptr, indices, coupling, spins, limit):
    """A mask of the units at the cut and of those nearest to them, about `limit` in all unless the cut is longer."""
    n = len(spins)
    near = np.zeros(n, np.bool_)
    queue = np.empty(n, np.int32)
    head, tail = 0, 0
    for u in range(n):
        if _at_the_cut(u, indptr, indices, coupling, spins):
            near[u] = True
            queue[tail] = u
            tail += 1
    while head < tail < limit:
        u = queue[head]
        head += 1
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if not near[v]:
                near[v] = True
                queue[tail] = v
                tail += 1
    return near


@compiled
def _flip_and_renew(u, graph, totals, state, key, heap, place, size):
    """Flip unit u, and renew the keys of its neighbours; those not in the heap enter it. Returns its size.

    `totals` are those after the flip.
    """
    indptr, indices, coupling, moment, external, volume, outside = graph
    cut, imbalance, tilt = totals
    spins, field = state
    _flip(u, indptr, indices, coupling, spins, field)
    for a in range(indptr[u], indptr[u + 1]):
        v = indices[a]
        if place[v] != LOCKED:
            key[v] = _ratio_after(v, cut, imbalance, tilt, spins, field, moment, external, volume, outside)
            size = renew(v, heap, size, key, place)
    return size


@compiled
def _one_pass(graph, totals, n_plus, two_sided, state, key, heap, place, size, touched, patience):
    """Flip the best unit even if it hurts, and lock it, until `patience` flips brought no new best ratio.

    Returns the number of flips until the best, the totals and the number of plus units then, the number of all flips,
    and the size of the heap.
    """
    _, _, _, moment, external, volume, outside = graph
    spins, field = state
    cut, imbalance, tilt = totals
    n_touched, n_best, best = 0, 0, _ratio(cut, imbalance, tilt, volume, outside)
    best_totals, best_plus = totals, n_plus
    while size > 0 and n_touched - n_best < patience:
        u = heap[0]
        fresh = _ratio_after(u, cut, imbalance, tilt, spins, field, moment, external, volume, outside)
        # Keys age as the balance moves; one that was too low goes back to its place.
        if fresh > key[u] * (1 + 1e-12):
            key[u] = fresh
            sift_down(heap, size, key, place, 0)
            if heap[0] != u:
                continue
        size = pop(heap, size, key, place)
        if not two_sided and (n_plus == 1 if spins[u] > 0 else n_plus == len(spins) - 1):
            continue
        cut += field[u]
        imbalance -= 2 * moment[u] * spins[u]
        tilt -= 2 * external[u] * spins[u]
        n_plus -= spins[u]
        touched[n_touched] = u
        n_touched += 1
        if fresh < best * (1 - 1e-13):
            best, n_best = fresh, n_touched
            best_totals, best_plus = (cut, imbalance, tilt), n_plus
        size = _flip_and_renew(u, graph, (cut, imbalance, tilt), state, key, heap, place, size)
    return n_best, best_totals, best_plus, n_touched, size


@compiled
def refine(
    indptr, indices, coupling, moment, external, offset, volume, outside, two_sided, spins, patience, max_passes
):
    """Fiduccia-Mattheyses passes: flip the best unit even if it hurts, lock it, keep the best prefix of the pass.

    Changes `spins` in place and returns the ratio reached. Never worse than the start. Only the first pass looks at all
    arcs: what it has not flipped is still in the heap when it ends, and the next one begins there.
    """
    n = len(spins)
    field, key = np.empty(n), np.empty(n)
    heap, place, touched = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    graph, state = (indptr, indices, coupling, moment, external, volume, outside), (spins, field)
    cut, imbalance, tilt, n_plus = measure(indptr, indices, coupling, moment, external, spins, field)
    totals, size = (cut + offset, imbalance, tilt), 0
    for u in range(n):
        place[u] = LOCKED if _at_the_cut(u, indptr, indices, coupling, spins) else ABSENT
    for _ in range(max_passes):
        for u in range(n):
            if place[u] == LOCKED:
                heap[size], place[u] = u, size
                size += 1
        for t in range(size):
            key[heap[t]] = _ratio_after(heap[t], *totals, spins, field, moment, external, volume, outside)
        heapify(heap, size, key, place)
        n_best, totals, n_plus, n_touched, size = _one_pass(
            graph, totals, n_plus, two_sided, state, key, heap, place, size, touched, patience
        )
        if n_best == 0:
            for t in range(n_touched):
                spins[touched[t]] = -spins[touched[t]]
            break
        for t in range(n_touched - 1, n_best - 1, -1):
            _flip(touched[t], indptr, indices, coupling, spins, field)
    cut, imbalance, tilt, n_plus = measure(indptr, indices, coupling, moment, external, spins, field)
    return _ratio(cut + offset, imbalance, tilt, volume, outside)


@compiled
def tabu_search(
    indptr, indices, coupling, moment, external, offset, volume, outside, two_sided, spins, patience, state
):
    """One-flip tabu search: always take the best flip that is not forbidden; a flipped unit rests for a while.

    Changes `spins` to the best orientation seen and returns its ratio; stops after `patience` flips without a new
    best. Every flip scans all units, which beats a heap up to a few thousand of them. The cut is measured again after
    every `patience` flips: where it is tiny, rounding errors that add up would go on finding "better" ones forever.
    """
    n = len(spins)
    field = np.empty(n)
    rest_until = np.zeros(n, np.int64)
    cut, imbalance, tilt, n_plus = measure(indptr, indices, coupling, moment, external, spins, field)
    cut += offset
    best = _ratio(cut, imbalance, tilt, volume, outside)
    best_spins = spins.copy()
    tenure = min(10 + n // 100, n // 4)
    step, since_best = 0, 0
    while since_best < patience:
        if step > 0 and step % patience == 0:
            cut, imbalance, tilt, n_plus = measure(indptr, indices, coupling, moment, external, spins, field)
            cut += offset
        step += 1
        since_best += 1
        chosen, chosen_value = -1, np.inf
        for u in range(n):
            value = _ratio_after(u, cut, imbalance, tilt, spins, field, moment, external, volume, outside)
            if value < chosen_value and (rest_until[u] < step or value < best * (1 - 1e-12)):
                if two_sided or not (n_plus == 1 if spins[u] > 0 else n_plus == n - 1):
                    chosen, chosen_value = u, value
        if chosen < 0:
            continue
        u = chosen
        cut += field[u]
        imbalance -= 2 * moment[u] * spins[u]
        tilt -= 2 * external[u] * spins[u]
        n_plus -= spins[u]
        _flip(u, indptr, indices, coupling, spins, field)
        rest_until[u] = step + tenure + np.int64(next_random(state) * 10)
        if chosen_value < best * (1 - 1e-12):
            best, since_best = chosen_value, 0
            for v in range(n):  # assigning a slice would compile numba's error message too, for two seconds
                best_spins[v] = spins[v]
    for v in range(n):
        spins[v] = best_spins[v]
    cut, imbalance, tilt, n_plus = measure(indptr, indices, coupling, moment, external, spins, field)
    return _ratio(cut + offset, imbalance, tilt, volume, outside)
