"""Ctrl-C is never lost, wherever it arrives."""

import ctypes
import signal
import sys
import threading
import time

import pytest

from tightcut.utils.interruption import interruptible


@pytest.fixture(autouse=True)
def ordinary_handler():
    """A shell that starts its commands in the background tells them to ignore the signal."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def interrupt():
    raise KeyboardInterrupt


def drop_an_interrupt():
    """As the compiler does: exceptions do not pass through its callbacks."""
    ctypes.CFUNCTYPE(None)(interrupt)()


def drop_interrupts_and_wait(times):
    for _ in range(times):
        drop_an_interrupt()
    for _ in range(6000):
        time.sleep(0.01)


def drop_an_interrupt_and_fail():
    drop_an_interrupt()
    raise RuntimeError("no compiled object yet")


@pytest.mark.parametrize("times", [1, 2])
def test_a_dropped_interrupt_is_repeated(times):
    former = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), interruptible():
        drop_interrupts_and_wait(times)
    assert sys.unraisablehook is former


def test_an_error_that_a_dropped_interrupt_has_caused():
    with pytest.raises(KeyboardInterrupt), interruptible():
        drop_an_interrupt_and_fail()


@pytest.mark.parametrize("disguises", [0, 1, 3])
def test_an_interrupt_in_disguise(disguises):
    error = KeyboardInterrupt()
    for _ in range(disguises):
        error, cause = SystemError("a result with an exception set"), error
        error.__cause__ = cause
    with pytest.raises(KeyboardInterrupt), interruptible():
        raise error


@pytest.mark.parametrize("error", [SystemError("a bug"), RuntimeError("another")])
def test_other_errors_pass(error):
    with pytest.raises(type(error), match=str(error)), interruptible():
        raise error


def test_other_errors_in_finalisers_are_told_as_before(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(unraisable.exc_type))

    def fail():
        raise OSError

    with interruptible():
        ctypes.CFUNCTYPE(None)(fail)()
    assert told == [OSError]


def test_other_threads_leave_the_hook_alone():
    former = sys.unraisablehook
    seen = []

    def work():
        with interruptible():
            seen.append(sys.unraisablehook)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [former]
