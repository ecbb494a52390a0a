"""How every kernel is compiled."""

from __future__ import annotations

from functools import partial

from numba import njit, types
from numba.core.dispatcher import Dispatcher

from tightcut._kernels.cache import KernelCache


def compiled(function, **options):
    """Compile at first use and keep the code on disk.

    Division by zero gives infinity or NaN, as in numpy, and no branch.
    """
    # Nobody calls a kernel from C; the wrapper for that would be a tenth of what is compiled.
    kernel = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    if isinstance(kernel, Dispatcher):  # NUMBA_DISABLE_JIT=1 leaves the function as it is
        kernel._cache = KernelCache(kernel)  # noqa: SLF001 - numba chooses the class itself
        kernel.get_call_template = partial(_with_wide_integers, kernel.get_call_template)
    return kernel


def _with_wide_integers(get_call_template, arguments, keywords):
    """The type of a call by another kernel: one for all signed integers, not one for 0, one for int32 and so on."""
    return get_call_template([_wide(types.unliteral(kind)) for kind in arguments], keywords)


def _wide(kind):
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind


# A sum in any order, so that it can be made in vector registers.
compiled_sum = partial(compiled, fastmath={"reassoc"})
