"""The FISTA pass as Triton kernels, on the sliced rows of `tightcut.gpu.slices`.

A program takes one slice: `SLICE` pieces of rows side by side, stored column by column, so that neighbouring threads
read neighbouring numbers. It walks along them `DEEP` arcs at a time. Both directions of an edge are stored, so a
program writes only its own arcs and no atomic operation is needed. Padding has weight 0 and stays at flow 0.

| array | meaning |
|---|---|
| bases, widths | first arc of each slice, and the length of its longest piece |
| rows | vertex of each piece |
| flow, past | the dual flow after the last iteration and after the one before |
| value | the primal vector that belongs to the extrapolated flow, flow + inertia * (flow - past) |
| outflow | per piece, the sum of the (extrapolated) flow |

Arrays with one number per vertex have room for one per piece.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["iteration"])
def advance(
    bases, widths, rows, indices, weights, steps, inertia, target, norm, value, flow, past, outflow,
    iteration, SLICE: tl.constexpr, DEEP: tl.constexpr, WHOLE: tl.constexpr
):  # fmt: skip
    """One iteration: overwrite `past` by the new flow, and set `outflow` to the sums of the extrapolated new flow.

    If rows are whole, `outflow` is set to the next `value` instead, which spares a pass over the vertices.
    """
    lane = tl.arange(0, SLICE)
    piece = tl.program_id(0) * SLICE + lane
    base, width = tl.load(bases + tl.program_id(0)), tl.load(widths + tl.program_id(0))
    own = tl.load(value + piece) if WHOLE else tl.load(value + tl.load(rows + piece))
    inertia_before, inertia_now = tl.load(inertia + iteration), tl.load(inertia + iteration + 1)
    total = tl.zeros([DEEP, SLICE], dtype=outflow.dtype.element_ty)
    for start in range(0, width, DEEP):
        column = start + tl.arange(0, DEEP)
        arc = base + column[:, None] * SLICE + lane[None, :]
        there = (column < width)[:, None] & (lane >= 0)[None, :]
        other = tl.load(value + tl.load(indices + arc, mask=there, other=0), mask=there, other=0.0)
        limit = tl.load(weights + arc, mask=there, other=0.0)
        step = tl.load(steps + arc, mask=there, other=0.0)
        current = tl.load(flow + arc, mask=there, other=0.0)
        ahead = current + inertia_before * (current - tl.load(past + arc, mask=there, other=0.0))
        moved = ahead + step * (own[None, :] - other)
        moved = tl.minimum(tl.maximum(moved, -limit), limit)
        tl.store(past + arc, moved, mask=there)
        total += moved + inertia_now * (moved - current)
    result = tl.sum(total, axis=0)
    if WHOLE:
        result = (tl.load(target + piece) - result) / tl.load(norm + piece)
    tl.store(outflow + piece, result)


@triton.jit
def flow_out(bases, widths, flow, outflow, SLICE: tl.constexpr, DEEP: tl.constexpr):
    """Set `outflow` to the sums of the flow itself."""
    lane = tl.arange(0, SLICE)
    base, width = tl.load(bases + tl.program_id(0)), tl.load(widths + tl.program_id(0))
    total = tl.zeros([DEEP, SLICE], dtype=outflow.dtype.element_ty)
    for start in range(0, width, DEEP):
        column = start + tl.arange(0, DEEP)
        arc = base + column[:, None] * SLICE + lane[None, :]
        there = (column < width)[:, None] & (lane >= 0)[None, :]
        total += tl.load(flow + arc, mask=there, other=0.0)
    tl.store(outflow + tl.program_id(0) * SLICE + lane, tl.sum(total, axis=0))


@triton.jit
def settle(pieces, outflow, target, norm, value, n, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Set `value` to (target - outflow) / norm, with the pieces of each vertex (pieces[u] up to pieces[u + 1]) added up."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    exists = row < n
    begin = tl.load(pieces + row, mask=exists, other=0)
    end = tl.load(pieces + row + 1, mask=exists, other=0)
    total = tl.zeros([ROWS, WIDTH], dtype=outflow.dtype.element_ty)
    for offset in range(0, tl.max(end - begin, axis=0), WIDTH):
        piece = begin[:, None] + offset + tl.arange(0, WIDTH)[None, :]
        total += tl.load(outflow + piece, mask=piece < end[:, None], other=0.0)
    missing = tl.load(target + row, mask=exists, other=0.0) - tl.sum(total, axis=1)
    tl.store(value + row, missing / tl.load(norm + row, mask=exists, other=1.0), mask=exists)


@triton.jit
def duality_gap(
    bases, widths, rows, indices, weights, flow, value, gaps, SLICE: tl.constexpr, DEEP: tl.constexpr
):  # fmt: skip
    """Each piece's share of the duality gap, in float64."""
    lane = tl.arange(0, SLICE)
    piece = tl.program_id(0) * SLICE + lane
    base, width = tl.load(bases + tl.program_id(0)), tl.load(widths + tl.program_id(0))
    own = tl.load(value + tl.load(rows + piece)).to(tl.float64)
    total = tl.zeros([DEEP, SLICE], dtype=tl.float64)
    for start in range(0, width, DEEP):
        column = start + tl.arange(0, DEEP)
        arc = base + column[:, None] * SLICE + lane[None, :]
        there = (column < width)[:, None] & (lane >= 0)[None, :]
        other = tl.load(value + tl.load(indices + arc, mask=there, other=0), mask=there, other=0.0).to(tl.float64)
        difference = own[None, :] - other
        limit = tl.load(weights + arc, mask=there, other=0.0).to(tl.float64)
        current = tl.load(flow + arc, mask=there, other=0.0).to(tl.float64)
        total += limit * tl.abs(difference) - current * difference
    tl.store(gaps + piece, 0.5 * tl.sum(total, axis=0))
