"""Triton kernels of the search: each program takes `ROWS` rows of a matrix in CSR order, `WIDTH` arcs of each at a time.

Every result is one sum, maximum or choice per row, or one sum per block and label, made in a fixed order and without
atomic operations: the same bits every time. Weights and sums are float64, labels and indices int32.

| kernel | what it reads |
|---|---|
| favourite | ranks and arcs of the free rows, once |
| sum_within | the arcs, once |
| best_label | the arcs of the active rows, once for each `LABELS` labels |
| confirm | the arcs of the candidates, once |
| sum_by_label | labels and values, once; labels are compared with all k |
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n"])
def favourite(indptr, indices, rank, free, wish, n, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Set `wish` to the arc of largest positive rank from each free row to a free row, or to -1."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    open_ = tl.load(free + row, mask=row < n, other=0) != 0
    begin = tl.load(indptr + row, mask=open_, other=0)
    end = tl.load(indptr + row + 1, mask=open_, other=0)
    best = tl.zeros([ROWS], dtype=tl.int64)
    chosen = tl.full([ROWS], -1, dtype=tl.int64)
    for offset in range(0, tl.max(end - begin, axis=0), WIDTH):
        arc = begin[:, None] + offset + tl.arange(0, WIDTH)[None, :]
        there = arc < end[:, None]
        other = tl.load(indices + arc, mask=there, other=0)
        reachable = tl.load(free + other, mask=there, other=0) != 0
        ranked = tl.load(rank + arc, mask=there & reachable, other=0)
        largest = tl.max(ranked, axis=1)
        place = tl.max(tl.where(ranked == largest[:, None], arc, -1), axis=1)
        better = largest > best
        best = tl.where(better, largest, best)
        chosen = tl.where(better, place, chosen)
    tl.store(wish + row, chosen, mask=row < n)


@triton.jit(do_not_specialize=["n"])
def sum_within(indptr, indices, weights, labels, within, n, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Set `within` to the weight of the arcs from each row to rows of its own label."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    exists = row < n
    begin = tl.load(indptr + row, mask=exists, other=0)
    end = tl.load(indptr + row + 1, mask=exists, other=0)
    own = tl.load(labels + row, mask=exists, other=0)
    total = tl.zeros([ROWS, WIDTH], dtype=tl.float64)
    for offset in range(0, tl.max(end - begin, axis=0), WIDTH):
        arc = begin[:, None] + offset + tl.arange(0, WIDTH)[None, :]
        there = arc < end[:, None]
        other = tl.load(labels + tl.load(indices + arc, mask=there, other=0), mask=there, other=-1)
        weight = tl.load(weights + arc, mask=there, other=0.0)
        total += tl.where(other == own[:, None], weight, 0.0)
    tl.store(within + row, tl.sum(total, axis=1), mask=exists)


@triton.jit
def _towards(
    indptr, indices, weights, labels, row, wanted, label, ROWS: tl.constexpr, WIDTH: tl.constexpr, LABELS: tl.constexpr
):  # fmt: skip
    """The weight from each wanted row to each of some labels."""
    begin = tl.load(indptr + row, mask=wanted, other=0)
    end = tl.load(indptr + row + 1, mask=wanted, other=0)
    total = tl.zeros([ROWS, LABELS], dtype=tl.float64)
    for offset in range(0, tl.max(end - begin, axis=0), WIDTH):
        arc = begin[:, None] + offset + tl.arange(0, WIDTH)[None, :]
        there = arc < end[:, None]
        other = tl.load(labels + tl.load(indices + arc, mask=there, other=0), mask=there, other=-1)
        weight = tl.load(weights + arc, mask=there, other=0.0)
        total += tl.sum(tl.where(other[:, :, None] == label[None, None, :], weight[:, :, None], 0.0), axis=1)
    return total


@triton.jit
def _quotient(leaving, volume):
    """The quotient leaving / volume, infinite where nothing would be left to divide by."""
    return tl.where(volume > 0, leaving / tl.where(volume > 0, volume, 1.0), float("inf"))


@triton.jit(do_not_specialize=["n", "k"])
def best_label(
    indptr, indices, weights, rel_indptr, rel_indices, rel_weights, labels, active, mass, degrees, within, clash,
    leaving, volume, change, target, terms, n, k, ROWS: tl.constexpr, WIDTH: tl.constexpr, LABELS: tl.constexpr
):  # fmt: skip
    """Set `target` to the label that each active row should take, and `change` to how the objective changes if it does.

    Infinite if the row is not active, or if it loses more than a share of what its arcs within are worth. `terms` holds
    the price of a relation and that share.
    """
    price, patience = tl.load(terms), tl.load(terms + 1)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    exists = row < n
    wanted = tl.load(active + row, mask=exists, other=0) != 0
    own = tl.load(labels + row, mask=exists, other=0)
    weight = tl.load(mass + row, mask=exists, other=0.0)
    degree = tl.load(degrees + row, mask=exists, other=0.0)
    inside = tl.load(within + row, mask=exists, other=0.0)
    best = tl.full([ROWS], float("inf"), dtype=tl.float64)
    chosen = own
    for first in range(0, k, LABELS):
        label = first + tl.arange(0, LABELS)
        towards = _towards(indptr, indices, weights, labels, row, wanted, label, ROWS, WIDTH, LABELS)
        clashes = _towards(rel_indptr, rel_indices, rel_weights, labels, row, wanted, label, ROWS, WIDTH, LABELS)
        out = tl.load(leaving + label, mask=label < k, other=0.0)[None, :]
        size = tl.load(volume + label, mask=label < k, other=1.0)[None, :]
        moved = _quotient(out + degree[:, None] - 2 * towards, size + weight[:, None]) - _quotient(out, size)
        moved += price * clashes
        moved = tl.where((label[None, :] == own[:, None]) | (label >= k)[None, :], float("inf"), moved)
        least = tl.min(moved, axis=1)
        place = tl.min(tl.where(moved == least[:, None], label[None, :], k), axis=1)
        better = least < best
        best = tl.where(better, least, best)
        chosen = tl.where(better, place, chosen)
    out = tl.load(leaving + own, mask=exists, other=0.0)
    size = tl.load(volume + own, mask=exists, other=1.0)
    left = _quotient(out - degree + 2 * inside, size - weight) - _quotient(out, size)
    left -= price * tl.load(clash + row, mask=exists, other=0.0)
    best = tl.where(wanted, best + left, float("inf"))
    worth = 2 * tl.maximum(inside, 0.0) / tl.where(size > 0, size, 1.0)
    best = tl.where(best < patience * worth, best, float("inf"))
    tl.store(change + row, best, mask=exists)
    tl.store(target + row, chosen, mask=exists)


@triton.jit
def _afterwards(
    indptr, indices, weights, labels, change, target, row, wanted, own, goal, key, ROWS: tl.constexpr,
    WIDTH: tl.constexpr
):  # fmt: skip
    """The weight from each wanted row to its own label and to its goal, once the better candidates have moved."""
    begin = tl.load(indptr + row, mask=wanted, other=0)
    end = tl.load(indptr + row + 1, mask=wanted, other=0)
    stays = tl.zeros([ROWS, WIDTH], dtype=tl.float64)
    goes = tl.zeros([ROWS, WIDTH], dtype=tl.float64)
    for offset in range(0, tl.max(end - begin, axis=0), WIDTH):
        arc = begin[:, None] + offset + tl.arange(0, WIDTH)[None, :]
        there = arc < end[:, None]
        other = tl.load(indices + arc, mask=there, other=0)
        rival = tl.load(change + other, mask=there, other=float("inf"))
        first = (rival < key[:, None]) | ((rival == key[:, None]) & (other < row[:, None]))
        before = tl.load(labels + other, mask=there, other=-1)
        after = tl.load(target + other, mask=there & first, other=-1)
        found = tl.where(first & there, after, before)
        weight = tl.load(weights + arc, mask=there, other=0.0)
        stays += tl.where(found == own[:, None], weight, 0.0)
        goes += tl.where(found == goal[:, None], weight, 0.0)
    return tl.sum(stays, axis=1), tl.sum(goes, axis=1)


@triton.jit(do_not_specialize=["n"])
def confirm(
    indptr, indices, weights, rel_indptr, rel_indices, rel_weights, labels, change, target, mass, degrees, leaving,
    volume, terms, moves, n, ROWS: tl.constexpr, WIDTH: tl.constexpr
):  # fmt: skip
    """Set `moves` to 1 for the candidates that still gain once every better candidate has moved, and to 0 for the rest.

    A candidate is a row of finite change; of two with the same change the one of smaller number is the better.
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    exists = row < n
    key = tl.load(change + row, mask=exists, other=float("inf"))
    wanted = key < float("inf")
    own = tl.load(labels + row, mask=exists, other=0)
    goal = tl.load(target + row, mask=exists, other=0)
    stays, goes = _afterwards(
        indptr, indices, weights, labels, change, target, row, wanted, own, goal, key, ROWS, WIDTH
    )
    clash, clashes = _afterwards(
        rel_indptr, rel_indices, rel_weights, labels, change, target, row, wanted, own, goal, key, ROWS, WIDTH
    )
    weight = tl.load(mass + row, mask=exists, other=0.0)
    degree = tl.load(degrees + row, mask=exists, other=0.0)
    out, size = tl.load(leaving + own), tl.load(volume + own)
    total = _quotient(out - degree + 2 * stays, size - weight) - _quotient(out, size)
    out, size = tl.load(leaving + goal), tl.load(volume + goal)
    total += _quotient(out + degree - 2 * goes, size + weight) - _quotient(out, size)
    total += tl.load(terms) * (clashes - clash)
    tl.store(moves + row, (wanted & (total < 0)).to(tl.int8), mask=exists)


@triton.jit(do_not_specialize=["n", "k"])
def sum_by_label(values, labels, sums, n, k, BLOCK: tl.constexpr, LABELS: tl.constexpr):
    """Sums of several arrays of n values, one below the other, over the rows of each label, block by block."""
    block, which = tl.program_id(0), tl.program_id(1)
    row = block * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(values + which.to(tl.int64) * n + row, mask=row < n, other=0.0)
    own = tl.load(labels + row, mask=row < n, other=-1)
    for first in range(0, k, LABELS):
        label = first + tl.arange(0, LABELS)
        total = tl.sum(tl.where(own[:, None] == label[None, :], value[:, None], 0.0), axis=0)
        tl.store(sums + (which * tl.num_programs(0) + block) * k + label, total, mask=label < k)
