"""Better clusters of a signed graph: moves of single vertices, and exchanges between two clusters (see joining.py).

A Kernighan-Lin exchange is a sequence of moves, each the best one left, of which the best
beginning is kept. On the way it may break a rule, so that two vertices of one group can change places; at its end every
rule holds.
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.arrays import filled
from tightcut.kernels.compiled import compiled

EPSILON = 1e-9  # gains below this are rounding errors
MOST_ROUNDS, MOST_SWEEPS = 10, 20
LARGEST = 600  # vertices of two clusters between which a sequence is tried
PATIENCE = 20  # moves since the best beginning of a sequence
WORK_PER_ARC = 300  # arcs and members that exchanges may look at, for each arc of the component
CLASH = 1e9  # more than any gain


@compiled
def improve_clusters(first, n, graph, groups, mark, label):
    """Move vertices between the clusters of n vertices from `first` on until no move or exchange helps."""
    if n < 2:
        return
    lists = member_lists(n, label)
    scratch = (np.zeros(n), filled(n, 0), filled(n, 0))
    state = (label, lists, filled(n, -1), np.zeros((2, len(mark)), np.int32))
    active, following = filled(n, 1), filled(n, 0)
    work = np.zeros(1)
    work[0] = WORK_PER_ARC * (1000.0 + graph[0][first + n] - graph[0][first])
    for _ in range(MOST_ROUNDS):
        for _ in range(MOST_SWEEPS):
            if not _move_each(first, n, graph, groups, mark, label, lists, scratch, active):
                break
        changed = False
        for a in range(n):
            if lists[3][a] > 0:
                changed |= _exchange_with_all(a, first, graph, groups, state, scratch, active, following, work)
        if not changed:
            return
        for a in range(n):
            active[a], following[a] = following[a], 0


@compiled
def member_lists(n, label):
    """Doubly linked lists of the members of n clusters, some empty.

    Arrays of heads, next and previous members and sizes, and a stack of the empty clusters, whose height is its last
    entry.
    """
    head, count = filled(n, -1), filled(n, 0)
    after, before = filled(n, -1), filled(n, -1)
    for v in range(n):
        count[label[v]] += 1
    empty = filled(n + 1, 0)
    for c in range(n - 1, -1, -1):
        if count[c] == 0:
            empty[empty[n]] = c
            empty[n] += 1
    lists = (head, after, before, count, empty)
    for v in range(n - 1, -1, -1):
        link(v, label[v], lists)
    return lists


@compiled
def link(v, c, lists):
    head, after, before = lists[0], lists[1], lists[2]
    after[v], before[v] = head[c], -1
    if head[c] >= 0:
        before[head[c]] = v
    head[c] = v


@compiled
def _move(v, c, label, lists):
    """Take v from its cluster to cluster c; if that is empty, it is the top of the stack."""
    head, after, before, count, empty = lists
    own, n = label[v], len(count)
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        head[own] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]
    empty[n] -= count[c] == 0
    count[own] -= 1
    count[c] += 1
    if count[own] == 0:
        empty[empty[n]] = own
        empty[n] += 1
    label[v] = c
    link(v, c, lists)


@compiled
def _empty_cluster(lists):
    """There is one whenever a cluster has two members."""
    empty = lists[4]
    return empty[empty[len(empty) - 1] - 1]


@compiled
def _sum_by_cluster(v, first, graph, label, scratch):
    """Fill the weight from v to each cluster; returns how many clusters were touched. `_clear` undoes it."""
    indptr, indices, weights = graph
    sums, known, touched = scratch
    found = 0
    for arc in range(indptr[first + v], indptr[first + v + 1]):
        c = label[indices[arc] - first]
        if known[c] == 0:
            known[c] = 1
            touched[found] = c
            found += 1
        sums[c] += weights[arc]
    return found


@compiled
def _clear(found, scratch):
    sums, known, touched = scratch
    for t in range(found):
        sums[touched[t]] = 0.0
        known[touched[t]] = 0


@compiled
def _group_allows(v, c, first, groups, mark, lists):
    """Whether no member of cluster c shares a group with v."""
    starts, values = groups
    if starts[first + v] == starts[first + v + 1]:
        return True
    for entry in range(starts[first + v], starts[first + v + 1]):
        mark[values[entry]] = 1
    allowed = True
    u = lists[0][c]
    while u >= 0 and allowed:
        for entry in range(starts[first + u], starts[first + u + 1]):
            allowed &= mark[values[entry]] == 0
        u = lists[1][u]
    for entry in range(starts[first + v], starts[first + v + 1]):
        mark[values[entry]] = 0
    return allowed


@compiled
def _move_each(first, n, graph, groups, mark, label, lists, scratch, active):
    """Move each vertex to the cluster that it belongs to most, or to one of its own; returns whether any moved."""
    sums, _, touched = scratch
    moved = False
    for v in range(n):
        own = label[v]
        found = _sum_by_cluster(v, first, graph, label, scratch)
        best, gain = -1, EPSILON
        if lists[3][own] > 1 and -sums[own] > gain:
            best, gain = _empty_cluster(lists), -sums[own]
        for t in range(found):
            c = touched[t]
            if c != own and sums[c] - sums[own] > gain and _group_allows(v, c, first, groups, mark, lists):
                best, gain = c, sums[c] - sums[own]
        _clear(found, scratch)
        if best >= 0:
            active[own] = active[best] = 1
            _move(v, best, label, lists)
            moved = True
    return moved


@compiled
def _exchange_with_all(a, first, graph, groups, state, scratch, active, following, work):
    """Exchanges of cluster a with each later one that has a positive edge to it, and with an empty one."""
    label, lists = state[0], state[1]
    partners = _partners(a, first, graph, label, lists, scratch)
    changed = False
    for b in partners:
        fits = 0 < lists[3][b] <= LARGEST - lists[3][a]
        if lists[3][a] > 0 and fits and (active[a] or active[b]) and _exchange(a, b, first, graph, groups, state, work):
            following[a] = following[b] = 1
            changed = True
    if active[a] and 2 < lists[3][a] <= LARGEST:
        b = _empty_cluster(lists)
        if _exchange(a, b, first, graph, groups, state, work):
            following[a] = following[b] = 1
            changed = True
    return changed


@compiled
def _partners(a, first, graph, label, lists, scratch):
    """The clusters after a that have a positive edge to it."""
    indptr, indices, weights = graph
    _, known, touched = scratch
    found = 0
    v = lists[0][a]
    while v >= 0:
        for arc in range(indptr[first + v], indptr[first + v + 1]):
            c = label[indices[arc] - first]
            if weights[arc] > 0 and c > a and known[c] == 0:
                known[c] = 1
                touched[found] = c
                found += 1
        v = lists[1][v]
    partners = filled(found, 0)
    for t in range(found):
        partners[t] = touched[t]
    _clear(found, scratch)
    return partners


@compiled
def _exchange(a, b, first, graph, groups, state, work):
    """Whether a sequence of moves between clusters a and b makes them better; it is then made."""
    label, lists, position, counts = state
    if work[0] < 0:
        return False
    members = filled(lists[3][a] + lists[3][b], 0)
    side = filled(len(members), 0)
    start = filled(len(members), 0)
    size = 0
    for c in (a, b):
        v = lists[0][c]
        while v >= 0:
            members[size], position[v] = v, size
            side[size] = start[size] = c == b
            for entry in range(groups[0][first + v], groups[0][first + v + 1]):
                counts[side[size], groups[1][entry]] += 1
            size += 1
            work[0] -= graph[0][first + v + 1] - graph[0][first + v]
            v = lists[1][v]
    work[0] -= PATIENCE * size
    balance, clash = _balances(members, side, position, first, graph)
    order, kept = _best_sequence(members, side, (balance, clash), position, first, graph, groups, counts)
    if _joins(start, members, position, first, graph, groups, counts, kept[1]):
        for i in range(size):
            if start[i] == 1:
                _move(members[i], a, label, lists)
        found = True
    else:
        for t in range(kept[0]):
            _move(members[order[t]], b if start[order[t]] == 0 else a, label, lists)
        found = kept[0] > 0
    for i in range(size):
        v = members[i]
        position[v] = -1
        for entry in range(groups[0][first + v], groups[0][first + v + 1]):
            counts[0, groups[1][entry]] = counts[1, groups[1][entry]] = 0
    return found


@compiled
def _balances(members, side, position, first, graph):
    """What each member would gain by changing sides, and how many more members it would clash with by -inf edges."""
    indptr, indices, weights = graph
    balance, clash = np.zeros(len(members)), filled(len(members), 0)
    for i in range(len(members)):
        v = members[i]
        for arc in range(indptr[first + v], indptr[first + v + 1]):
            j = position[indices[arc] - first]
            if j >= 0:
                sign = 1 if side[j] != side[i] else -1
                if weights[arc] == -np.inf:
                    clash[i] += sign
                else:
                    balance[i] += sign * weights[arc]
    return balance, clash


@compiled
def _best_sequence(members, side, balances, position, first, graph, groups, counts):
    """The moves in order, and of the best beginning that breaks no rule: its length, 0 if none helps, and its gain."""
    indptr, indices, weights = graph
    balance, clash = balances
    size = len(members)
    order, locked = filled(size, 0), filled(size, 0)
    gain, clashes, kept, best = 0.0, 0, 0, EPSILON
    for t in range(size):
        chosen, highest, chosen_clash = -1, -np.inf, 0
        for i in range(size):
            if locked[i] == 0:
                more = clash[i] + _group_clashes(members[i], side[i], first, groups, counts)
                if balance[i] - CLASH * more > highest:
                    chosen, highest, chosen_clash = i, balance[i] - CLASH * more, more
        v = members[chosen]
        gain += balance[chosen]
        clashes += chosen_clash
        locked[chosen] = 1
        order[t] = chosen
        for entry in range(groups[0][first + v], groups[0][first + v + 1]):
            counts[side[chosen], groups[1][entry]] -= 1
            counts[1 - side[chosen], groups[1][entry]] += 1
        side[chosen] = 1 - side[chosen]
        for arc in range(indptr[first + v], indptr[first + v + 1]):
            j = position[indices[arc] - first]
            if j >= 0:
                sign = 2 if side[j] != side[chosen] else -2
                if weights[arc] == -np.inf:
                    clash[j] += sign
                else:
                    balance[j] += sign * weights[arc]
        if clashes == 0 and gain > best:
            kept, best = t + 1, gain
        if t + 1 - kept >= PATIENCE:
            break
    return order, (kept, best)


@compiled
def _group_clashes(v, side, first, groups, counts):
    more = 0
    for entry in range(groups[0][first + v], groups[0][first + v + 1]):
        g = groups[1][entry]
        more += counts[1 - side, g] - counts[side, g] + 1
    return more


@compiled
def _joins(side, members, position, first, graph, groups, counts, at_least):
    """Whether one cluster of all members would gain more than `at_least` and break no rule."""
    indptr, indices, weights = graph
    between = 0.0
    for i in range(len(members)):
        v = members[i]
        for entry in range(groups[0][first + v], groups[0][first + v + 1]):
            g = groups[1][entry]
            if counts[0, g] + counts[1, g] > 1:
                return False
        for arc in range(indptr[first + v], indptr[first + v + 1]):
            j = position[indices[arc] - first]
            if side[i] == 0 and j >= 0 and side[j] == 1:
                between += weights[arc]
    return between > at_least
