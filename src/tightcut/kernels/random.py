"""xorshift64* random numbers; the caller passes the state, so that threads do not share one."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled


@compiled
def next_random(state):
    """xorshift64*: a uniform 53-bit number in [0, 1); `state` is a uint64 array of length 1, never zero."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return ((x * np.uint64(2685821657736338717)) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
