"""The decorator `compiled`, with the numba options that all kernels share.

Compiling is what a first use waits for, so nothing is compiled that nobody calls: no wrappers for C, none for Python
around the private parts of kernels, and one version of a part for integers of any width. Python's garbage collector
waits meanwhile: numba makes hundreds of thousands of small objects that are all still needed, and looking through them
again and again takes a sixth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial

import numba
from numba import njit, types

from tightcut.utils.warning import warn


def compiled(function, **options):
    """Compile at first use and keep the code on disk. Only other kernels can call one whose name begins with `_`.

    Division by zero gives infinity or NaN, as in numpy, and no branch.
    """
    options |= {"nogil": True, "error_model": "numpy"}
    if numba.config.DISABLE_JIT:
        return njit(**options)(function)
    try:
        return _tuned(function, options)
    except (ImportError, AttributeError, TypeError) as error:
        _warn_once(str(error))
        return _plain(function, options)


def _tuned(function, options):
    """By parts of numba that are not public."""
    from tightcut.kernels.cache import KernelCache

    private = function.__name__.startswith("_")
    kernel = njit(**options, no_cfunc_wrapper=True, no_cpython_wrapper=private)(function)
    if not hasattr(kernel, "_cache"):
        raise AttributeError("dispatchers have no cache")
    kernel._cache = KernelCache(function)  # noqa: SLF001 - numba offers no choice of cache
    kernel.compile = _without_garbage_collection()(kernel.compile)
    kernel.get_call_template = partial(_call_with_wide_integers, kernel.get_call_template)
    if private:
        _hide_from_python(kernel)
    return kernel


def _plain(function, options):
    """By what numba promises: other kernels may miss an edit, and private ones may be called from Python."""
    try:
        return njit(**options, cache=True)(function)
    except RuntimeError:  # no folder that can be written
        return njit(**options)(function)


@cache
def _warn_once(reason):
    warn(
        f"numba {numba.__version__} lacks what kernels are compiled with ({reason}): they are compiled and kept in numba's own "
        "way, which takes longer at first. Install the numba that tightcut was tested with, or a newer tightcut."
    )


# A sum in any order, so that it can be made in vector registers.
compiled_sum = partial(compiled, fastmath={"reassoc"})
# Copied into every kernel that calls it: for what is called for single vertices with many arrays.
compiled_inline = partial(compiled, forceinline=True)
# For threads that work on the same arrays: these are not counted, each call by each thread, as Python's objects are, and no
# array is made. Counting takes longer than a step on a vertex, and all threads would queue for the one counter.
compiled_for_team = partial(compiled, _nrt=False)


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
