"""Every compiled kernel on arrays of the right shapes that hold any numbers.

Promised: no index out of bounds, an end, and labels and numbers of units within their range. What a kernel computes from
infinite numbers or NaN is not promised.
"""

from itertools import pairwise

import numpy as np
from fuzz.draw import (
    any_numbers,
    assert_labels,
    assert_numbered,
    clusters,
    csr,
    graph,
    labels,
    number,
    order,
    positive,
    seed,
    size,
    symmetric,
)

from tightcut import kernels
from tightcut.kernels import neighbors

CHECKS = {}  # by the name of the kernel


def assert_bounds_are_checked():
    """Or a run would find nothing and mean nothing."""
    indptr, beyond = np.array([0, 1], np.int32), np.array([7], np.int32)
    try:
        kernels.relation_inside(indptr, beyond, np.ones(1), np.zeros(1, np.int32))
    except IndexError:
        return
    raise AssertionError(
        "The kernels were compiled without bounds checks; set NUMBA_BOUNDSCHECK=1 before numba is imported."
    )


def checks(*names):
    def register(check):
        CHECKS.update(dict.fromkeys(names, check))
        return check

    return register


def constrained(rng):
    """The arguments of the kernels of many clusters, k and labels."""
    n = size(rng)
    k = clusters(rng, n)
    arcs = graph(rng, n)
    with np.errstate(all="ignore"):
        degrees = np.bincount(np.repeat(np.arange(n), np.diff(arcs[0])), arcs[2], n)
    return (*arcs, any_numbers(rng, n), degrees, *graph(rng, n, signed=True)), k, labels(rng, n, k)


def signed(rng):
    """The arguments of the kernels of two clusters, and spins of both kinds where there are two units."""
    n = size(rng)
    spins = (1 - 2 * labels(rng, n, min(n, 2))).astype(np.int8)
    moment, external = any_numbers(rng, n), any_numbers(rng, n)
    with np.errstate(all="ignore"):
        totals = number(rng), float(moment.sum()), float(external.sum())
    return (*graph(rng, n, signed=True), moment, external, *totals, bool(rng.random() < 0.3)), spins


@checks("agglomerate")
def agglomerate(rng):
    n = size(rng)
    k = clusters(rng, n)
    joint, relation = symmetric(rng, n, any_numbers), symmetric(rng, n, any_numbers, signed=True)
    found = kernels.agglomerate(joint, any_numbers(rng, n), any_numbers(rng, n), relation, number(rng), k)
    assert_labels(found, n)
    assert len(np.unique(found)) == k, (found, k)


@checks("refine_partition", "measure_partition", "relation_inside", "near_boundary", "add_up_between")
def partition(rng):
    arrays, k, found = constrained(rng)
    kernels.refine_partition(*arrays, number(rng), found, k, 50, 10)
    assert_labels(found, k, all_used=True)
    kernels.measure_partition(*arrays[:4], found, np.empty(k), np.empty(k), np.empty(k, np.int64))
    kernels.relation_inside(*arrays[5:], found)
    kernels.add_up_between(*arrays[:3], found, np.zeros((k, k)))
    near = kernels.near_boundary(*arrays[:2], found, 0, k - 1, arrays[5], int(rng.integers(1, 30)))
    assert_labels(near, len(found))


@checks("walk_front", "enter_front")
def front(rng):
    arrays, k, found = constrained(rng)
    amounts, cuts, stored = np.empty(6), np.empty(6), np.empty((6, len(found)), np.int32)
    count = 0
    for _ in range(8):
        count = kernels.enter_front(amounts, cuts, stored, count, number(rng), number(rng), labels(rng, len(found), k))
    rest = amounts, cuts, stored, count, seed(rng)
    count = kernels.walk_front(*arrays, found, k, number(rng), number(rng), number(rng), 30, *rest)
    assert 0 < count <= 6
    assert_labels(found, k, all_used=True)
    assert_labels(stored[:count].ravel(), k)


@checks("heavy_edge_matching", "members_of", "contract", "contract_signed", "connected_regions")
def coarsening(rng):
    n = size(rng)
    arcs, apart = graph(rng, n, signed=bool(rng.random() < 0.5)), graph(rng, n, positive)
    if rng.random() < 0.5:
        apart = np.zeros(n + 1, np.int32), np.zeros(0, np.int32), None
    group = labels(rng, n, clusters(rng, n)) if rng.random() < 0.5 else np.zeros(0, np.int32)
    weakest = float(rng.choice([0.0, 0.1]))
    limits = order(rng, n), number(rng), weakest, apart[0], apart[1], group
    unit, sign = kernels.heavy_edge_matching(*arcs, any_numbers(rng, n), *limits)
    assert_numbered(unit)
    assert np.bincount(unit).max() <= 2
    assert set(sign.tolist()) <= {-1, 1}
    start, members = kernels.members_of(unit, int(unit.max()) + 1)
    assert sorted(members.tolist()) == list(range(n))
    for merged in (
        kernels.contract(*arcs, unit, start, members),
        kernels.contract_signed(*arcs, unit, sign, start, members),
    ):
        assert_labels(merged[1], len(start) - 1)
        assert len(merged[1]) == merged[0][-1] == len(merged[2])
    assert_numbered(kernels.connected_regions(*arcs[:2], rng.integers(3, size=n)))


@checks("peel", "complete_labels", "colour_exactly", "colour_by_tabu")
def colouring(rng):
    arrays, k, found = constrained(rng)
    n = len(found)
    indptr, indices, relations = arrays[5:]
    removed, core = kernels.peel(indptr, indices, k)
    assert sorted(removed.tolist()) == np.flatnonzero(~core).tolist()
    kernels.colour_by_tabu(indptr, indices, relations, k, found, 0.0, 200, seed(rng))
    assert_labels(found, k)
    status, colours = kernels.colour_exactly(indptr, indices, k, 500)
    if status == 1:
        assert_labels(colours, k)
        assert (colours[indices] != np.repeat(colours, np.diff(indptr))).all()
    wished = np.where(rng.random(n) < 0.5, found, -1).astype(np.int32)
    found[removed] = -1
    kernels.complete_labels(*arrays[:3], indptr, indices, relations, found, removed[::-1].copy(), wished, k)
    assert_labels(found, k)


@checks("refine", "tabu_search", "measure", "near_the_cut")
def spins(rng):
    arrays, found = signed(rng)
    mixed = np.unique(found).tolist()
    kernels.measure(*arrays[:5], found, np.empty(len(found)))
    kernels.near_the_cut(*arrays[:3], found, int(rng.integers(1, 30)))
    for search in (
        lambda: kernels.refine(*arrays, found, 50, 10),
        lambda: kernels.tabu_search(*arrays, found, 30, seed(rng)),
    ):
        search()
        assert set(found.tolist()) <= {-1, 1}
        assert arrays[-1] or np.unique(found).tolist() == mixed or len(mixed) == 1


@checks("reverse_arcs", "route_excess", "total_variation_prox", "total_variation", "cut_changes", "fista_steps")
def relaxation(rng):
    n = size(rng)
    indptr, indices, weights = arcs = graph(rng, n)
    reverse = kernels.reverse_arcs(indptr, indices)
    assert_labels(reverse, max(len(indices), 1))
    target, mass = any_numbers(rng, n) * rng.choice([-1, 1], n), any_numbers(rng, n)
    with np.errstate(all="ignore"):
        tolerance = float(1e-14 * np.abs(target).sum())
    value, _ = kernels.total_variation_prox(
        indptr, indices, reverse, weights, target, mass, np.zeros(len(indices)), tolerance
    )
    kernels.total_variation(*arcs, value)
    kernels.cut_changes(*arcs, order(rng, n))
    flow = np.zeros(len(indices))
    kernels.fista_steps(*arcs, target, mass, any_numbers(rng, len(indices)), flow, flow.copy(), 1.0, 10, np.empty(n))


@checks("add_up_arcs", "best_neighbours", "join_units", "leaving_shares", "spread_shares")
def blocks_joined(rng):
    n = size(rng)
    block, first = _block(rng, n)
    row, kind = np.repeat(np.arange(len(block[0]) - 1, dtype=np.int32), np.diff(block[0])), rng.random(n) < 0.3
    shuffled = rng.permutation(len(row))
    indptr, columns, _ = kernels.add_up_arcs(row[shuffled], block[1][shuffled], block[2][shuffled], len(block[0]) - 1)
    assert indptr[-1] == len(columns) == len(row)
    mass, heaviest = any_numbers(rng, n), number(rng)
    some, _ = kernels.best_neighbours(first, *block, mass, kind, heaviest, seed(rng)[0])
    assert_labels(some[some >= 0], n)
    best = np.full(n, -1, np.int32)
    best[first : first + len(some)] = some
    assert_numbered(kernels.join_units(order(rng, n), best, mass, kind, heaviest, int(rng.integers(1, n + 1))))
    own = labels(rng, n, clusters(rng, n))
    kernels.leaving_shares(first, *block, own)
    kernels.spread_shares(first, *block, any_numbers(rng, n))


@checks("measure_block", "best_moves", "confirmed_moves", "make_moves")
def blocks_moved(rng):
    n = size(rng)
    k = clusters(rng, n)
    block, first = _block(rng, n)
    own, mass, (apart, others, _) = labels(rng, n, k), any_numbers(rng, n), graph(rng, n, positive)
    leaving, volume = any_numbers(rng, k), any_numbers(rng, k)
    kernels.measure_block(first, *block, own, leaving)
    apart = apart.astype(np.int64)
    to, by = kernels.best_moves(first, *block, mass, own, leaving, volume, apart, others)
    assert_labels(to[to >= 0], k)
    wanted, change = np.full(n, -1, np.int32), np.zeros(n)
    wanted[first : first + len(to)], change[first : first + len(to)] = to, by
    kernels.confirmed_moves(first, *block, mass, own, leaving, volume, wanted, change)
    kernels.make_moves(np.flatnonzero(wanted >= 0).astype(np.int32), wanted, own, np.bincount(own), apart, others)
    assert_labels(own, k, all_used=True)


def _block(rng, n):
    """Some vertices with their arcs, in the types in which they are read from disk, and the first of them."""
    indptr, indices, weights = graph(rng, n)
    first, last = np.sort(rng.integers(n + 1, size=2))
    arcs = slice(indptr[first], indptr[last])
    return (indptr[first : last + 1].astype(np.int64) - indptr[first], indices[arcs].copy(), weights[arcs].copy()), int(
        first
    )


@checks(
    "join_components", "improve_components", "solve_components", "solve_parts", "bound_components", "resolve_components"
)
def resolving(rng):
    sizes = [size(rng, 16) for _ in range(rng.integers(1, 4))]
    n, starts = sum(sizes), np.append(0, np.cumsum(sizes)).astype(np.int32)
    matrix = np.zeros((n, n))
    for first, last in pairwise(starts):
        matrix[first:last, first:last] = symmetric(rng, last - first, any_numbers, signed=True)
    upper = np.triu(rng.random((n, n)) < 0.05, 1) & (matrix != 0)
    matrix[upper | upper.T] = -np.inf
    n_groups = int(rng.integers(1, 5))
    member = np.argwhere(rng.random((n, n_groups)) < rng.choice([0, 0.2]))
    groups = (
        np.append(0, np.cumsum(np.bincount(member[:, 0], minlength=n))).astype(np.int32),
        member[:, 1].astype(np.int32),
    )
    exact = int(rng.choice([0, 6, 20]))
    own, _, _ = kernels.resolve_components(starts, *csr(matrix), *groups, n_groups, exact, 500)
    assert_labels(own, int(max(sizes)))
    for first, last in pairwise(starts):
        assert_labels(own[first:last], last - first)


@checks("weigh_branches")
def splitting(rng):
    n = size(rng)
    first, second = np.nonzero(np.triu(symmetric(rng, n), 1))
    weight = any_numbers(rng, len(first))
    falling = np.argsort(-weight)
    ends = first[falling].astype(np.int32), second[falling].astype(np.int32)
    position, between = kernels.weigh_branches(*ends, weight[falling], n)
    assert len(position) == len(between) < n
    assert_labels(position, max(len(first), 1))


@checks(
    "spin_lagrangian",
    "partition_lagrangian",
    "worst_spin_triangles",
    "worst_near_spin_triangles",
    "worst_near_partition_triangles",
)
def semidefinite(rng):
    n, rank = size(rng), int(rng.integers(1, 5))
    X = any_numbers(rng, n * rank).reshape(n, rank)
    near = symmetric(rng, n)
    indptr, indices, _ = csr(near)
    head, tail = (ends.astype(np.int32) for ends in np.nonzero(np.triu(near)))
    m = len(head)
    t, some = (int(rng.integers(1, 6)), int(rng.integers(m + 1))) if m else (0, 0)
    sides = rng.integers(max(m, 1), size=(t, 3)).astype(np.int32)
    gradient, inner, slope = np.empty_like(X), np.empty(m), np.empty(m)
    pairs = X, head, tail, any_numbers(rng, m)
    pull = any_numbers(rng, n), number(rng)
    duals = sides, rng.choice([-1.0, 1.0], (t, 3)), any_numbers(rng, t), number(rng)
    belief = any_numbers(rng, m), number(rng), number(rng)
    kernels.spin_lagrangian(*pairs, *duals, *belief, *pull, gradient, inner, slope)
    corners = np.column_stack([rng.integers(n, size=t), sides]).astype(np.int32)
    places, free = rng.permutation(m)[:some].astype(np.int32), rng.random(some) < 0.5
    duals = any_numbers(rng, t), positive(rng, t), places, free, any_numbers(rng, some), positive(rng, some)
    own, own_slope = np.empty(n), np.empty(n)
    filled = gradient, inner, own, slope, own_slope
    constant = number(rng)
    kernels.partition_lagrangian(X, constant, *pairs[1:], any_numbers(rng, n), corners, *duals, *filled)
    third, corner = np.full(m, -1, np.int32), np.full(m, -1, np.int32)
    first, last = np.sort(rng.integers(m + 1, size=2)).tolist()
    with np.errstate(all="ignore"):
        flat = X.astype(np.float32)
        gram = flat @ flat.T
    kernels.worst_spin_triangles(gram, head, tail, first, last, 0.02, third)
    kernels.worst_near_spin_triangles(X, head, tail, indptr, indices, first, last, 0.02, third)
    assert_labels(third[third >= 0], n)
    kernels.worst_near_partition_triangles(
        X, constant, head, tail, own, indptr, indices, first, last, 0.02, corner, third
    )
    assert_labels(corner[corner >= 0], n)


@checks("grow_trees", "average_votes")
def trees(rng):
    m, d, n_groups = size(rng), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    with np.errstate(all="ignore"):
        X = any_numbers(rng, m * d).reshape(m, d).astype(np.float32)
    kept = rng.random((3, m)) < 0.7
    kept[:, 0] = True
    group = rng.integers(n_groups, size=m).astype(np.int32)
    feature, child, threshold, value = kernels.grow_trees(
        X, group, n_groups, kept, int(rng.integers(1, d + 1)), seed(rng)
    )
    assert_labels(child.ravel(), 2 * m)
    assert feature.max() < d
    kernels.average_votes(X, feature, child, threshold, value, rng.random((3, m)) < 0.7)


@checks("pair_half_squares", "sparse_pair_half_squares", "sparse_nearest", "update_lists", "replace_worst")
def nearest(rng):
    n, d = size(rng), int(rng.integers(1, 6))
    k = int(rng.integers(1, n + 1))
    points = any_numbers(rng, n * d).reshape(n, d)
    rows, candidates = rng.integers(n, size=n), rng.integers(n, size=(n, k))
    neighbors.pair_half_squares(points, rows, points, candidates, 1.0, np.empty((n, k)))
    sparse, postings = (_sparse(matrix) for matrix in (points, points.T))
    neighbors.sparse_pair_half_squares(sparse, rows, sparse, candidates, np.empty((n, k)))
    half_norms, found, half_squares = any_numbers(rng, n), np.zeros((n, k), np.int64), np.empty((n, k))
    sides = sparse, half_norms, sparse, half_norms, postings
    neighbors.sparse_nearest(*sides, 0, n, bool(rng.random() < 0.5), 1e-15, half_squares, found)
    assert_labels(found.ravel(), n)
    lists = np.full((n, k), np.inf, np.float32), np.full((n, k), n, np.int32), np.full(n, np.inf, np.float32)
    nothing = np.zeros((0, 0), np.float32)
    ids = rng.permutation(n)
    with np.errstate(all="ignore"):
        products, norms = any_numbers(rng, n * n).reshape(n, n).astype(np.float32), half_norms.astype(np.float32)
    left = norms, np.arange(n), ids
    neighbors.update_lists(products, left, left, nothing, nothing, 1.0, True, bool(rng.random() < 0.5), *lists)
    assert_labels(lists[1].ravel(), n + 1)


def _sparse(matrix):
    indptr, indices, values = csr(matrix)
    return indptr.astype(np.int64), indices, values
