"""Exclusive access to a file, for one process at a time.

The lock is that of the operating system on the open file (`flock`, on Windows a byte far behind the end): it ends with
the process that holds it, however that ends. It is advisory on POSIX, and on a network file system it reaches other
machines only where server and mount support it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EAGAIN, ETIMEDOUT
from functools import partial
from io import FileIO
from pathlib import Path

PATIENCE = 5  # seconds: a turn takes milliseconds, unless its process was stopped or the disk hangs
PAUSE = 0.001

if sys.platform == "win32":
    import msvcrt

    PLACE = 1 << 30  # Windows refuses others to read what is locked, so a byte that no journal has

    def _take(file: FileIO) -> None:
        file.seek(PLACE)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    def _release(file: FileIO) -> None:
        file.seek(PLACE)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _release(file: FileIO) -> None:
        # Closing would not do: a child that was forked meanwhile has the same open file.
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def lock_file(path: Path, *, create: bool = False) -> Iterator[FileIO]:
    """The file at `path`, for reading and appending, locked until the block ends; `create` makes an empty one if it is absent.

    Raises
    ------
    FileNotFoundError
        Without `create`, if there is no file.
    TimeoutError
        If another process holds the lock for `PATIENCE` seconds.
    OSError
        If the file system has no locks.
    """
    flags = os.O_APPEND | (os.O_CREAT if create else 0)
    opener = partial(_open, flags)
    while True:
        with open(path, "r+b", buffering=0, opener=opener) as file:
            _wait(file)
            try:
                if leads_to(path, file):
                    yield file
                    return
            finally:
                _release(file)
        # Between opening and locking the file lost its name: the next round opens what is there now.


def leads_to(path: Path, file: FileIO) -> bool:
    """Whether a path still names an open file."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    return False


def sync_folder(folder: Path) -> None:
    """Put the names of new files in a folder on disk, where the system can."""
    if sys.platform == "win32":
        return
    with suppress(OSError):  # a folder that may not be listed; network file systems that know no such call
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _open(flags: int, path: str, mode: int) -> int:
    return os.open(path, mode | flags, 0o666)


def _wait(file: FileIO) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            _take(file)
        except OSError as error:
            if error.errno not in (EAGAIN, EACCES):
                reason = f"{error.strerror}: its file system has no locks, so keep it in another folder"
                raise OSError(error.errno, reason, str(file.name)) from None
        else:
            return
        if time.monotonic() > end:
            reason = f"another process has been writing to it for {PATIENCE} seconds"
            raise TimeoutError(ETIMEDOUT, reason, str(file.name))
        time.sleep(PAUSE)
