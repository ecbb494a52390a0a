"""Let Ctrl-C stop a computation while kernels run or are compiled."""

from __future__ import annotations

import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SECONDS_UNTIL_REPEATED = 0.05  # long enough for a callback to end


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `KeyboardInterrupt` for Ctrl-C, whatever it has interrupted.

    numba wraps one that meets a kernel in SystemErrors. Python drops one that meets a finaliser or a callback of the
    compiler, which may fail for lack of it later on; such an interrupt is repeated.
    """
    with _repeated() as dropped:
        try:
            yield
        except Exception as error:
            if dropped or _disguises_an_interrupt(error):
                raise KeyboardInterrupt from None
            raise


@contextmanager
def _repeated() -> Iterator[list[threading.Timer]]:
    """Repeat interrupts that Python drops; the list has an entry for each. Only the main thread is ever interrupted."""
    repeats: list[threading.Timer] = []
    if threading.current_thread() is not threading.main_thread():
        yield repeats
        return

    def hook(dropped: Any) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            former(dropped)
            return
        for repeat in repeats:
            repeat.cancel()
        # Not at once: that would be within the callback, and dropped again.
        repeats.append(threading.Timer(SECONDS_UNTIL_REPEATED, interrupt_main))
        repeats[-1].start()

    former, sys.unraisablehook = sys.unraisablehook, hook
    try:
        yield repeats
    finally:
        sys.unraisablehook = former
        for repeat in repeats:
            repeat.cancel()


def _disguises_an_interrupt(error: BaseException | None) -> bool:
    while isinstance(error, SystemError):
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)
