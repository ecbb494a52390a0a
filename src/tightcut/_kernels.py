"""All compiled code: free functions on flat arrays, compiled by numba at first use and cached on disk.

Graphs come as CSR with both directions of every edge stored: the arcs of vertex u are
`indptr[u]:indptr[u + 1]`, arc a leads to `indices[a]`, and `reverse[a]` is the same edge seen from the other end.

| symbol | meaning |
|---|---|
| flow[a] | signed dual flow of arc a, flow[reverse[a]] = -flow[a], at most weights[a] in size |
| excess[u] | what vertex u holds above (surplus) or below (deficit) its share |
| spins[u] | +1 or -1, the orientation of unit u of a signed graph |
| field[u] | by how much the cut grows when unit u flips |
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Division by zero gives infinity or NaN, as in numpy, and no branch in the inner loops.
compiled = njit(cache=True, nogil=True, error_model="numpy")

UNREACHED = np.int32(2**31 - 1)
ABSENT, LOCKED = -1, -2  # places of units that are not in a heap


# --------------------------------------------------------------------------------------------------------------------
# Minimum cuts: surplus is routed to deficits by push-relabel; what stays behind is the source side of a minimum cut.
# --------------------------------------------------------------------------------------------------------------------


@compiled
def reverse_arcs(indptr, indices):
    """For every arc the index of its opposite arc. Needs a symmetric pattern with sorted indices. O(arcs)."""
    reverse = np.empty(len(indices), np.int64)
    cursor = indptr[:-1].copy()
    for u in range(len(indptr) - 1):
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            reverse[a] = cursor[v]
            cursor[v] += 1
    return reverse


@compiled
def _measure_heights(indptr, indices, reverse, weights, flow, excess, part, members, tolerance, height, queue):
    """Residual distance of each member to the nearest deficit of its part (backward breadth-first search)."""
    head, tail = 0, 0
    for u in members:
        if excess[u] < -tolerance:
            height[u] = 0
            queue[tail] = u
            tail += 1
        else:
            height[u] = UNREACHED
    while head < tail:
        u = queue[head]
        head += 1
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if height[v] == UNREACHED and part[v] == part[u] and weights[a] - flow[reverse[a]] > tolerance:
                height[v] = height[u] + 1
                queue[tail] = v
                tail += 1


@compiled
def route_excess(indptr, indices, reverse, weights, flow, excess, part, members, tolerance, height, queue, arc, queued):
    """Push surplus to deficits inside each part, as far as residual arcs allow (first-in-first-out push-relabel).

    Changes `flow` and `excess` in place. On return `height` is UNREACHED exactly on the vertices that no residual
    path joins to a deficit of their part: the source side of a minimum cut.
    """
    n_members = len(members)
    work_limit = 4 * n_members
    for u in members:
        work_limit += indptr[u + 1] - indptr[u]
    while True:
        _measure_heights(indptr, indices, reverse, weights, flow, excess, part, members, tolerance, height, queue)
        head, size = 0, 0
        for u in members:
            arc[u] = indptr[u]
            queued[u] = excess[u] > tolerance and height[u] != UNREACHED
            if queued[u]:
                queue[size] = u
                size += 1
        if size == 0:
            return
        work = 0
        while size > 0 and work < work_limit:
            u = queue[head]
            head = head + 1 if head + 1 < n_members else 0
            size -= 1
            queued[u] = False
            while excess[u] > tolerance and height[u] < n_members:
                if arc[u] == indptr[u + 1]:
                    lowest = UNREACHED
                    for a in range(indptr[u], indptr[u + 1]):
                        v = indices[a]
                        if part[v] == part[u] and height[v] < lowest and weights[a] - flow[a] > tolerance:
                            lowest = height[v]
                    work += indptr[u + 1] - indptr[u] + 4
                    arc[u] = indptr[u]
                    height[u] = lowest + 1 if lowest < n_members else UNREACHED
                    continue
                a = arc[u]
                v = indices[a]
                residual = weights[a] - flow[a]
                if height[v] == height[u] - 1 and part[v] == part[u] and residual > tolerance:
                    amount = min(excess[u], residual)
                    flow[a] += amount
                    flow[reverse[a]] -= amount
                    excess[u] -= amount
                    excess[v] += amount
                    if excess[v] > tolerance and not queued[v]:
                        queued[v] = True
                        last = head + size
                        queue[last if last < n_members else last - n_members] = v
                        size += 1
                    if amount == residual:
                        arc[u] += 1
                else:
                    arc[u] += 1


@compiled
def total_variation_prox(indptr, indices, reverse, weights, target, norm, flow, tolerance):
    """Minimise sum_u norm_u/2 f_u^2 - target_u f_u + sum_edges weights |f_u - f_v| exactly; returns (f, flows).

    Divide and conquer: all vertices of a part share one value, the mean that balances the part; a minimum cut either
    splits the part or proves the value right. Cut edges stay saturated, so `flow` (the dual solution, updated in
    place) carries over from level to level and from call to call.
    """
    n = len(target)
    value = np.zeros(n)
    part = np.zeros(n, np.int32)
    excess = np.empty(n)
    for u in range(n):
        outflow = 0.0
        for a in range(indptr[u], indptr[u + 1]):
            outflow += flow[a]
        excess[u] = target[u] - outflow
    height = np.empty(n, np.int32)
    queue = np.empty(n, np.int32)
    arc = np.empty(n, np.int64)
    queued = np.zeros(n, np.bool_)
    members = np.arange(n).astype(np.int32)
    first_part, n_parts, flows = 0, 1, 0
    total_excess = np.zeros(n + 1)
    total_norm = np.zeros(n + 1)
    surplus_left, reached = np.zeros(n + 1, np.bool_), np.zeros(n + 1, np.bool_)
    child = np.empty(n + 1, np.int32)
    while len(members) > 0:
        # The parts of this level are first_part, ..., n_parts - 1; every member belongs to one of them.
        for p in range(n_parts - first_part):
            total_excess[p], total_norm[p], child[p] = 0.0, 0.0, -1
            surplus_left[p], reached[p] = False, False
        for u in members:
            p = part[u] - first_part
            total_excess[p] += excess[u]
            total_norm[p] += norm[u]
        for u in members:
            p = part[u] - first_part
            shift = total_excess[p] / total_norm[p]
            value[u] += shift
            excess[u] -= norm[u] * shift
        route_excess(
            indptr, indices, reverse, weights, flow, excess, part, members, tolerance, height, queue, arc, queued
        )
        flows += 1
        for u in members:
            if height[u] != UNREACHED:
                reached[part[u] - first_part] = True
            elif excess[u] > tolerance:
                surplus_left[part[u] - first_part] = True
        # A part that keeps surplus splits into its two sides. Surplus with no deficit to go to is rounding.
        kept, next_part = 0, n_parts
        for u in members:
            p = part[u] - first_part
            if surplus_left[p] and reached[p]:
                if child[p] < 0:
                    child[p] = next_part
                    next_part += 2
                members[kept] = u
                part[u] = child[p] + (1 if height[u] == UNREACHED else 0)
                kept += 1
        members = members[:kept]
        first_part, n_parts = n_parts, next_part
    return value, flows


# --------------------------------------------------------------------------------------------------------------------
# Local search on signed graphs (see signed.py): flip one unit at a time, watch the ratio.
#
# With D = sum moment_u spins_u and H = sum external_u spins_u the two sides weigh (volume +- D)/2 and send
# cut + (outside +- H)/2 to the rest of the graph, so one flip is judged in constant time.
# --------------------------------------------------------------------------------------------------------------------


@compiled
def _ratio(cut, imbalance, tilt, volume, outside):
    """The two-cluster objective; what rounding makes negative is zero."""
    plus, minus = 0.5 * (volume + imbalance), 0.5 * (volume - imbalance)
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
def _sift_up(heap, key, place, at):
    u = heap[at]
    while at > 0:
        above = (at - 1) >> 1
        if key[heap[above]] <= key[u]:
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    heap[at] = u
    place[u] = at


@compiled
def _sift_down(heap, size, key, place, at):
    u = heap[at]
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and key[heap[below + 1]] < key[heap[below]]:
            below += 1
        if key[heap[below]] >= key[u]:
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = u
    place[u] = at


@compiled
def refine(
    indptr, indices, coupling, moment, external, offset, volume, outside, two_sided, spins, patience, max_passes
):
    """Fiduccia-Mattheyses passes: flip the best unit even if it hurts, lock it, keep the best prefix of the pass.

    Changes `spins` in place and returns the ratio reached. Never worse than the start. O(arcs log n) per pass at
    most; only units at the cut enter the heap, so a pass over a good cut costs far less.
    """
    n = len(spins)
    field = np.empty(n)
    key = np.empty(n)
    heap = np.empty(n, np.int32)
    place = np.empty(n, np.int32)
    touched = np.empty(n, np.int32)
    cut, imbalance, tilt, n_plus = measure(indptr, indices, coupling, moment, external, spins, field)
    cut += offset
    current = _ratio(cut, imbalance, tilt, volume, outside)
    for _ in range(max_passes):
        before = current
        size = 0
        for u in range(n):
            place[u] = ABSENT
            boundary = indptr[u] == indptr[u + 1]
            for a in range(indptr[u], indptr[u + 1]):
                if coupling[a] * spins[u] * spins[indices[a]] < 0:
                    boundary = True
                    break
            if boundary:
                key[u] = _ratio(
                    cut + field[u],
                    imbalance - 2 * moment[u] * spins[u],
                    tilt - 2 * external[u] * spins[u],
                    volume,
                    outside,
                )
                heap[size] = u
                place[u] = size
                size += 1
        for at in range(size // 2 - 1, -1, -1):
            _sift_down(heap, size, key, place, at)
        n_touched, n_best, since_best, best = 0, 0, 0, current
        while size > 0 and since_best < patience:
            u = heap[0]
            fresh = _ratio(
                cut + field[u], imbalance - 2 * moment[u] * spins[u], tilt - 2 * external[u] * spins[u], volume, outside
            )
            if fresh > key[u] * (1 + 1e-12):
                key[u] = fresh
                _sift_down(heap, size, key, place, 0)
                if heap[0] != u:
                    continue
            size -= 1
            place[u] = LOCKED
            if size > 0:
                heap[0] = heap[size]
                _sift_down(heap, size, key, place, 0)
            if not two_sided and (n_plus == 1 if spins[u] > 0 else n_plus == n - 1):
                continue
            cut += field[u]
            imbalance -= 2 * moment[u] * spins[u]
            tilt -= 2 * external[u] * spins[u]
            n_plus -= spins[u]
            current = fresh
            _flip(u, indptr, indices, coupling, spins, field)
            touched[n_touched] = u
            n_touched += 1
            since_best += 1
            if current < best * (1 - 1e-13):
                best, n_best, since_best = current, n_touched, 0
            for a in range(indptr[u], indptr[u + 1]):
                v = indices[a]
                if place[v] == LOCKED:
                    continue
                key[v] = _ratio(
                    cut + field[v],
                    imbalance - 2 * moment[v] * spins[v],
                    tilt - 2 * external[v] * spins[v],
                    volume,
                    outside,
                )
                if place[v] == ABSENT:
                    heap[size] = v
                    place[v] = size
                    size += 1
                    _sift_up(heap, key, place, size - 1)
                else:
                    _sift_up(heap, key, place, place[v])
                    _sift_down(heap, size, key, place, place[v])
        for t in range(n_touched - 1, n_best - 1, -1):
            u = touched[t]
            _flip(u, indptr, indices, coupling, spins, field)
        cut, imbalance, tilt, n_plus = measure(indptr, indices, coupling, moment, external, spins, field)
        cut += offset
        current = _ratio(cut, imbalance, tilt, volume, outside)
        if not current < before * (1 - 1e-12):
            break
    return current


@compiled
def _next_random(state):
    """xorshift64*: a uniform 53-bit number in [0, 1); `state` is a uint64 array of length 1, never zero."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return ((x * np.uint64(2685821657736338717)) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def tabu_search(
    indptr, indices, coupling, moment, external, offset, volume, outside, two_sided, spins, patience, state
):
    """One-flip tabu search: always take the best flip that is not forbidden; a flipped unit rests for a while.

    Changes `spins` to the best orientation seen and returns its ratio; stops after `patience` flips without a new
    best. Every flip scans all units, which beats a heap up to a few thousand of them.
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
        step += 1
        since_best += 1
        chosen, chosen_value = -1, np.inf
        for u in range(n):
            value = _ratio(
                cut + field[u], imbalance - 2 * moment[u] * spins[u], tilt - 2 * external[u] * spins[u], volume, outside
            )
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
        rest_until[u] = step + tenure + np.int64(_next_random(state) * 10)
        if chosen_value < best * (1 - 1e-12):
            best, since_best = chosen_value, 0
            best_spins[:] = spins
    spins[:] = best_spins
    return best


@compiled
def heavy_edge_matching(indptr, indices, coupling, mass, order, heaviest, apart_indptr, apart_indices):
    """Match each unit with the neighbour it is tied to most tightly for its mass; returns (unit, sign).

    Two matched units get one number; the sign is their relative orientation. No pair weighs more than `heaviest`,
    and no two units that the second graph lists as apart are matched (pass an empty graph if there are none).
    """
    n = len(mass)
    unit = np.full(n, -1, np.int32)
    sign = np.ones(n, np.int8)
    forbidden = np.full(n, -1, np.int32)
    count = 0
    for u in order:
        if unit[u] >= 0:
            continue
        for a in range(apart_indptr[u], apart_indptr[u + 1]):
            forbidden[apart_indices[a]] = u
        best, best_rating = -1, 0.0
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if unit[v] < 0 and forbidden[v] != u and mass[u] + mass[v] <= heaviest:
                rating = abs(coupling[a]) / mass[v]
                if rating > best_rating:
                    best, best_rating = v, rating
                    sign[u] = 1 if coupling[a] > 0 else -1
        unit[u] = count
        if best >= 0:
            unit[best] = count
        else:
            sign[u] = 1
        count += 1
    return unit, sign


@compiled
def contract(indptr, indices, coupling, unit, sign, n_units):
    """Merge vertices into units with signs: arcs of the same two units add up, arcs inside a unit disappear.

    Returns (indptr, indices, coupling, offset) with sorted indices. `offset` is the weight that stays cut whatever
    the spins of the units: opposite arcs between two units, and frustrated arcs inside one. O(arcs).
    """
    n = len(unit)
    start = np.zeros(n_units + 1, np.int64)
    for v in range(n):
        start[unit[v] + 1] += 1
    for u in range(n_units):
        start[u + 1] += start[u]
    members = np.empty(n, np.int32)
    cursor = start[:-1].copy()
    for v in range(n):
        members[cursor[unit[v]]] = v
        cursor[unit[v]] += 1
    positive, negative = np.zeros(n_units), np.zeros(n_units)
    seen = np.full(n_units, -1, np.int32)
    neighbours = np.empty(n_units, np.int32)
    out_indptr = np.zeros(n_units + 1, np.int32)
    out_indices = np.empty(len(indices), np.int32)
    out_coupling = np.empty(len(indices))
    offset, size = 0.0, 0
    for u in range(n_units):
        count = 0
        for t in range(start[u], start[u + 1]):
            v = members[t]
            for a in range(indptr[v], indptr[v + 1]):
                other = unit[indices[a]]
                value = coupling[a] * sign[v] * sign[indices[a]]
                if other == u:
                    offset -= 0.5 * min(value, 0.0)
                    continue
                if seen[other] != u:
                    seen[other] = u
                    positive[other], negative[other] = 0.0, 0.0
                    neighbours[count] = other
                    count += 1
                positive[other] += max(value, 0.0)
                negative[other] += min(value, 0.0)
        neighbours[:count].sort()
        for t in range(count):
            other = neighbours[t]
            total = positive[other] + negative[other]
            offset += 0.5 * min(positive[other], -negative[other])
            if total != 0.0:
                out_indices[size] = other
                out_coupling[size] = total
                size += 1
        out_indptr[u + 1] = size
    return out_indptr, out_indices[:size].copy(), out_coupling[:size].copy(), offset


# --------------------------------------------------------------------------------------------------------------------
# Local search on partitions into k clusters (see partition.py).
#
# leaving[c] is the edge weight that leaves cluster c, volume[c] its vertex weight; the objective is the sum of
# leaving / volume plus price * (relation weight inside clusters). Relations are positive for cannot-links and
# negative for must-links.
# --------------------------------------------------------------------------------------------------------------------


@compiled
def measure_partition(indptr, indices, weights, mass, labels, leaving, volume, count):
    """Fill the totals of every cluster. O(arcs)."""
    leaving[:] = 0.0
    volume[:] = 0.0
    count[:] = 0
    for v in range(len(labels)):
        own = labels[v]
        volume[own] += mass[v]
        count[own] += 1
        for a in range(indptr[v], indptr[v + 1]):
            if labels[indices[a]] != own:
                leaving[own] += weights[a]


@compiled
def relation_inside(indptr, indices, weights, labels):
    """Total weight of the relations whose two ends share a cluster."""
    total = 0.0
    for v in range(len(labels)):
        for a in range(indptr[v], indptr[v + 1]):
            if labels[indices[a]] == labels[v]:
                total += 0.5 * weights[a]
    return total


@compiled
def _best_move(v, graph, price, state, towards, clash):
    """The cluster that vertex v should move to and the change of the objective; (-1, inf) if it cannot move."""
    indptr, indices, weights, mass, degree, rel_indptr, rel_indices, rel_weights = graph
    labels, leaving, volume, count = state
    own, k = labels[v], len(leaving)
    if count[own] == 1:
        return -1, np.inf
    towards[:] = 0.0
    clash[:] = 0.0
    for a in range(indptr[v], indptr[v + 1]):
        towards[labels[indices[a]]] += weights[a]
    for a in range(rel_indptr[v], rel_indptr[v + 1]):
        clash[labels[rel_indices[a]]] += rel_weights[a]
    gain = (leaving[own] - degree[v] + 2 * towards[own]) / (volume[own] - mass[v]) - leaving[own] / volume[own]
    best, best_change = -1, np.inf
    for c in range(k):
        if c == own:
            continue
        change = (leaving[c] + degree[v] - 2 * towards[c]) / (volume[c] + mass[v]) - leaving[c] / volume[c]
        change += price * (clash[c] - clash[own])
        if change < best_change:
            best, best_change = c, change
    return best, gain + best_change


@compiled
def _enter_boundary(graph, price, state, towards, clash, key, heap, place):
    """Fill the heap with every vertex that has a neighbour in another cluster, or a relation; returns its size."""
    indptr, indices, _, _, _, rel_indptr, _, _ = graph
    labels = state[0]
    size = 0
    for v in range(len(labels)):
        place[v] = ABSENT
        boundary = rel_indptr[v] < rel_indptr[v + 1] or indptr[v] == indptr[v + 1]
        for a in range(indptr[v], indptr[v + 1]):
            if boundary:
                break
            boundary = labels[indices[a]] != labels[v]
        if boundary:
            _, key[v] = _best_move(v, graph, price, state, towards, clash)
            heap[size] = v
            place[v] = size
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        _sift_down(heap, size, key, place, at)
    return size


@compiled
def _update_neighbours(v, indptr, indices, graph, price, state, towards, clash, key, heap, place, size):
    """Renew the keys of v's neighbours in one of the two graphs; those not in the heap enter it. Returns its size."""
    for a in range(indptr[v], indptr[v + 1]):
        u = indices[a]
        if place[u] == LOCKED:
            continue
        _, key[u] = _best_move(u, graph, price, state, towards, clash)
        if place[u] == ABSENT:
            heap[size] = u
            place[u] = size
            size += 1
            _sift_up(heap, key, place, size - 1)
        else:
            _sift_up(heap, key, place, place[u])
            _sift_down(heap, size, key, place, place[u])
    return size


@compiled
def refine_partition(
    indptr, indices, weights, mass, degree, rel_indptr, rel_indices, rel_weights, price, labels, k, patience, max_passes
):  # fmt: skip
    """Fiduccia-Mattheyses passes on k clusters; changes `labels` in place, never empties a cluster.

    Returns the objective (up to the constant of the must-links). Never worse than the start.
    """
    n = len(labels)
    leaving, volume, count = np.empty(k), np.empty(k), np.empty(k, np.int64)
    towards, clash = np.empty(k), np.empty(k)
    key = np.empty(n)
    heap, place = np.empty(n, np.int32), np.empty(n, np.int32)
    touched, origin = np.empty(n, np.int32), np.empty(n, np.int32)
    graph = (indptr, indices, weights, mass, degree, rel_indptr, rel_indices, rel_weights)
    state = (labels, leaving, volume, count)
    best = np.inf
    for _ in range(max_passes):
        measure_partition(indptr, indices, weights, mass, labels, leaving, volume, count)
        current = (leaving / volume).sum() + price * relation_inside(rel_indptr, rel_indices, rel_weights, labels)
        before = current
        size = _enter_boundary(graph, price, state, towards, clash, key, heap, place)
        n_touched, n_best, since_best, best = 0, 0, 0, current
        while size > 0 and since_best < patience:
            v = heap[0]
            target, fresh = _best_move(v, graph, price, state, towards, clash)
            if fresh > key[v] + 1e-12 * abs(current):
                key[v] = fresh
                _sift_down(heap, size, key, place, 0)
                continue
            size -= 1
            place[v] = LOCKED
            if size > 0:
                heap[0] = heap[size]
                _sift_down(heap, size, key, place, 0)
            if target < 0:
                continue
            own = labels[v]
            leaving[own] += 2 * towards[own] - degree[v]
            leaving[target] += degree[v] - 2 * towards[target]
            volume[own] -= mass[v]
            volume[target] += mass[v]
            count[own] -= 1
            count[target] += 1
            labels[v] = target
            current += fresh
            touched[n_touched], origin[n_touched] = v, own
            n_touched += 1
            since_best += 1
            if current < best - 1e-12 * abs(best):
                best, n_best, since_best = current, n_touched, 0
            size = _update_neighbours(v, indptr, indices, graph, price, state, towards, clash, key, heap, place, size)
            size = _update_neighbours(
                v, rel_indptr, rel_indices, graph, price, state, towards, clash, key, heap, place, size
            )
        for t in range(n_touched - 1, n_best - 1, -1):
            labels[touched[t]] = origin[t]
        if not best < before - 1e-12 * abs(before):
            break
    return best


@compiled
def agglomerate(joint, leaving, volume, relation, price, k):
    """Merge clusters greedily, best change of the objective first, until k are left; returns their labels.

    `joint` and `relation` are dense symmetric matrices between the m initial clusters and are used up. O(m^3).
    """
    m = len(leaving)
    labels = np.arange(m).astype(np.int32)
    alive = np.ones(m, np.bool_)
    for _ in range(m - k):
        best_a, best_b, best_change = -1, -1, np.inf
        for a in range(m):
            if not alive[a]:
                continue
            for b in range(a + 1, m):
                if not alive[b]:
                    continue
                change = (
                    (leaving[a] + leaving[b] - 2 * joint[a, b]) / (volume[a] + volume[b])
                    - leaving[a] / volume[a] - leaving[b] / volume[b] + price * relation[a, b]
                )  # fmt: skip
                if change < best_change:
                    best_a, best_b, best_change = a, b, change
        a, b = best_a, best_b
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
    return labels


# --------------------------------------------------------------------------------------------------------------------
# Colouring of cannot-link graphs: can k clusters satisfy them at all?
# --------------------------------------------------------------------------------------------------------------------


@compiled
def peel(indptr, indices, k):
    """Remove vertices with fewer than k neighbours left until none remains; returns (removal order, core mask).

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
def _most_saturated(colour, blocked, indptr, k):
    """The uncoloured vertex with the most forbidden colours, ties by degree; -1 if all are coloured."""
    best, best_saturation, best_degree = -1, -1, -1
    for v in range(len(colour)):
        if colour[v] >= 0:
            continue
        saturation = 0
        for c in range(k):
            saturation += blocked[v, c] > 0
        degree = indptr[v + 1] - indptr[v]
        if saturation > best_saturation or (saturation == best_saturation and degree > best_degree):
            best, best_saturation, best_degree = v, saturation, degree
    return best


@compiled
def colour_exactly(indptr, indices, k, node_limit):
    """Backtracking on the most saturated vertex (DSATUR); returns (status, colours).

    Status 1: coloured. 0: the search is exhausted, there is no colouring. -1: the limit of nodes was reached.
    """
    n = len(indptr) - 1
    colour = np.full(n, -1, np.int32)
    blocked = np.zeros((n, k), np.int32)
    chosen = np.empty(n, np.int32)
    highest = np.zeros(n + 1, np.int32)  # colours in use before each depth; new colours enter one at a time
    depth, nodes = 0, 0
    if n == 0:
        return 1, colour
    chosen[0] = _most_saturated(colour, blocked, indptr, k)
    while True:
        v = chosen[depth]
        previous = colour[v]
        if previous >= 0:
            for a in range(indptr[v], indptr[v + 1]):
                blocked[indices[a], previous] -= 1
            colour[v] = -1
        following = -1
        for c in range(previous + 1, min(k, highest[depth] + 1)):
            if blocked[v, c] == 0:
                following = c
                break
        if following < 0:
            depth -= 1
            if depth < 0:
                return 0, colour
            continue
        nodes += 1
        if nodes > node_limit:
            return -1, colour
        colour[v] = following
        for a in range(indptr[v], indptr[v + 1]):
            blocked[indices[a], following] += 1
        highest[depth + 1] = max(highest[depth], following + 1)
        depth += 1
        if depth == n:
            return 1, colour
        chosen[depth] = _most_saturated(colour, blocked, indptr, k)


@compiled
def colour_by_tabu(indptr, indices, k, colour, max_steps, state):
    """Tabu search for a proper colouring, from any colouring; changes `colour`, returns the conflicts left."""
    n = len(indptr) - 1
    clash = np.zeros((n, k), np.int32)
    rest_until = np.zeros((n, k), np.int64)
    conflicts = 0
    for v in range(n):
        for a in range(indptr[v], indptr[v + 1]):
            clash[v, colour[indices[a]]] += 1
            conflicts += colour[indices[a]] == colour[v]
    conflicts //= 2
    best, best_colour = conflicts, colour.copy()
    for step in range(max_steps):
        if best == 0:
            break
        chosen, target, chosen_change, ties = -1, -1, n, 1
        for v in range(n):
            if clash[v, colour[v]] == 0:
                continue
            for c in range(k):
                change = clash[v, c] - clash[v, colour[v]]
                if c == colour[v] or (rest_until[v, c] > step and conflicts + change >= best):
                    continue
                if change == chosen_change:
                    ties += 1
                if change < chosen_change or (change == chosen_change and _next_random(state) * ties < 1):
                    ties = 1 if change < chosen_change else ties
                    chosen, target, chosen_change = v, c, change
        if chosen < 0:
            continue
        old = colour[chosen]
        rest_until[chosen, old] = step + 10 + np.int64(0.6 * conflicts + _next_random(state) * 10)
        colour[chosen] = target
        conflicts += chosen_change
        for a in range(indptr[chosen], indptr[chosen + 1]):
            clash[indices[a], old] -= 1
            clash[indices[a], target] += 1
        if conflicts < best:
            best = conflicts
            best_colour[:] = colour
    colour[:] = best_colour
    return best


# --------------------------------------------------------------------------------------------------------------------
# The paper's dual: accelerated projected gradient on the total-variation prox, one fused pass per iteration.
# --------------------------------------------------------------------------------------------------------------------


@compiled
def fista_steps(indptr, indices, weights, target, norm, step, flow, ahead, momentum, n_steps, value):
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
            value[u] = (target[u] - total) / norm[u]
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
        value[u] = (target[u] - total) / norm[u]
    for u in range(n):
        for a in range(indptr[u], indptr[u + 1]):
            difference = value[u] - value[indices[a]]
            gap += 0.5 * (weights[a] * abs(difference) - flow[a] * difference)
    return momentum, gap
