"""Tell the user when kernels are being compiled, which takes seconds on first use."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

SECONDS_OF_COMPILING = 10  # for a first fit, on one core

log = logging.getLogger("tightcut")
_listeners: list[Callable[[], None]] = []


@contextmanager
def compiling_reported(progress: Callable[[str, int, int, float], None] | None) -> Iterator[None]:
    """Call ``progress("compiling", 0, 1, inf)`` as soon as a kernel must be compiled, once.

    Without progress it is logged, unless another listener reports it.

    Examples
    --------
    >>> with compiling_reported(print):
    ...     report_compiling()
    ...     report_compiling()
    compiling 0 1 inf
    """
    reported = False

    def listener() -> None:
        nonlocal reported
        if progress is None:
            if len(_listeners) == 1:
                _log_once()
        elif not reported:
            reported = True
            progress("compiling", 0, 1, float("inf"))

    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@cache
def _log_once() -> None:
    log.warning(
        "tightcut: compiling once, about %d s; tightcut.warmup.warmup() does it ahead of time", SECONDS_OF_COMPILING
    )


def report_compiling() -> None:
    """Tell every listener that a kernel was not found in the cache; called from any thread."""
    for listener in tuple(_listeners):
        listener()
