"""How every kernel is compiled."""

from __future__ import annotations

from numba import njit

# Compiled at first use and cached on disk. Division by zero gives infinity or NaN, as in numpy, and no branch.
compiled = njit(cache=True, nogil=True, error_model="numpy")

# A sum in any order, so that it can be made in vector registers.
compiled_sum = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc"})
