"""Arrays made inside kernels."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled


@compiled
def filled(n, value):
    """An int32 array of n equal entries. `np.full` takes longer to compile than all the rest of a small kernel."""
    array = np.empty(n, np.int32)
    for at in range(n):
        array[at] = value
    return array
