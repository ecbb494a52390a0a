"""Kernels run by a team: Python threads that claim blocks of rows from an atomic counter and wait at barriers.

A kernel for a team takes `sync`, an array of int64 for this team alone, and `p`, the number of threads that call it at the
same time; see `tightcut.search.team`. Its work is a list of phases. Invariants that make the result the same for every p:

* What a block of a phase writes depends on the state before the phase alone, and no two blocks write the same place.
* Floats are added up per block, and over the blocks in their order by the last thread to arrive at the barrier.
* Where blocks begin depends on the number of rows alone.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import types
from numba.extending import intrinsic

from tightcut.kernels.compiled import compiled_for_team

# Places in `sync`, a cache line apart: threads at the barrier, barriers passed, next block, a sum for the kernel.
_ARRIVED, _PASSED, _NEXT, TALLY = 0, 8, 16, 24
SYNC_SIZE = 32
SPINS = 200  # looks at a barrier before a thread offers its core to others
MOST_BLOCKS, FEWEST_ROWS = 256, 128  # of a phase, of a block
ONE = np.uint64(1)  # the sum of an unsigned and a signed number would be a float


def _pointer(context, builder, signature, args):
    return builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])


@intrinsic
def add_atomically(typingctx, array, place, value):  # noqa: ARG001 - numba's signature
    """Add to an entry of an int64 array; returns what it was before."""

    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("add", _pointer(context, builder, signature, args), args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), codegen


@intrinsic
def load_atomically(typingctx, array, place):  # noqa: ARG001
    """An entry of an int64 array."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(_pointer(context, builder, signature, args), "seq_cst", 8)

    return types.int64(array, types.intp), codegen


@intrinsic
def replace_atomically(typingctx, array, place, old, new):  # noqa: ARG001
    """Replace an entry if it has the old value; returns whether it had."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature, args)
        return builder.extract_value(builder.cmpxchg(pointer, args[2], args[3], "seq_cst", "seq_cst"), 1)

    return types.boolean(array, types.intp, array.dtype, array.dtype), codegen


_offer_core = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())


@compiled_for_team
def claim(sync):
    """The next block that no thread has claimed in this phase."""
    return add_atomically(sync, _NEXT, 1)


@compiled_for_team
def is_last(sync, p):
    """Wait for the others; true in the last thread to arrive, for which they wait until it calls `go_on`."""
    passed = load_atomically(sync, _PASSED)
    if add_atomically(sync, _ARRIVED, 1) == p - 1:
        return True
    spins = 0
    while load_atomically(sync, _PASSED) == passed:
        spins += 1
        if spins > SPINS:
            _offer_core()
    return False


@compiled_for_team
def go_on(sync):
    """End a phase: no thread waits and no block is claimed."""
    sync[_ARRIVED], sync[_NEXT] = 0, 0
    add_atomically(sync, _PASSED, 1)


@compiled_for_team
def barrier(sync, p):
    if is_last(sync, p):
        go_on(sync)


@compiled_for_team
def blocks_of(n):
    """Number of blocks of n rows."""
    rows = _rows_of_a_block(n)
    return (n + rows - 1) // rows


@compiled_for_team
def _rows_of_a_block(n):
    return max(FEWEST_ROWS, (n + MOST_BLOCKS - 1) // MOST_BLOCKS)


@compiled_for_team
def rows_of(b, n):
    """The first row of a block and the first after it: unsigned, as an index that may be negative costs a look at its sign."""
    rows = _rows_of_a_block(n)
    return np.uint64(b * rows), np.uint64(min(n, (b + 1) * rows))


@compiled_for_team
def cumulate(sync, p, counts, n_blocks):
    """A barrier that turns the counts of the blocks into where each begins; counts[n_blocks] becomes their sum."""
    if is_last(sync, p):
        total = 0
        for b in range(n_blocks):
            total, counts[b] = total + counts[b], total
        counts[n_blocks] = total
        go_on(sync)
