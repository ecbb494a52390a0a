"""How every kernel is compiled.

Compiling is what a first use waits for, so nothing is compiled that nobody calls: no wrappers for C, none for Python
around the private parts of kernels, and one version of a part for integers of any width. Python's garbage collector
waits meanwhile: numba makes hundreds of thousands of small objects that are all still needed, and looking through them
again and again takes a sixth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from numba import njit, types
from numba.core import dispatcher

from tightcut.kernels.cache import KernelCache


def compiled(function, **options):
    """Compile at first use and keep the code on disk. Only other kernels can call one whose name begins with `_`.

    Division by zero gives infinity or NaN, as in numpy, and no branch.
    """
    private = function.__name__.startswith("_")
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "no_cpython_wrapper": private}
    kernel = njit(**options)(function)
    if not isinstance(kernel, dispatcher.Dispatcher):  # NUMBA_DISABLE_JIT=1 leaves the function as it is
        return kernel
    kernel._cache = KernelCache(kernel)  # noqa: SLF001 - numba offers no choice of cache
    kernel.compile = _without_garbage_collection()(kernel.compile)
    kernel.get_call_template = partial(_call_with_wide_integers, kernel.get_call_template)
    if private:
        _hide_from_python(kernel)
    return kernel


# A sum in any order, so that it can be made in vector registers.
compiled_sum = partial(compiled, fastmath={"reassoc"})
# Copied into every kernel that calls it: for what is called for single vertices with many arrays.
compiled_inline = partial(compiled, forceinline=True)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _call_with_wide_integers(get_call_template, arguments, keywords):
    """The type of a call by another kernel: one for all signed integers, not one for 0, one for int32 and so on."""
    return get_call_template([_wide(types.unliteral(kind)) for kind in arguments], keywords)


def _wide(kind):
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind


def _hide_from_python(kernel):
    """Without a wrapper, a call from Python would run into a null pointer: keep compiled versions out of its table."""

    def add_overload(result):
        kernel.overloads[tuple(result.signature.args)] = result

    def refuse(*_arguments, **_keywords):
        raise TypeError(f"{kernel.py_func.__name__} is a part of other kernels; call its py_func from Python.")

    kernel.add_overload = add_overload
    kernel._compile_for_args = refuse  # noqa: SLF001 - what numba calls for arguments that are not in the table
