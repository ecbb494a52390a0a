"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EISDIR, ELOOP, ENOENT
from pathlib import Path
from typing import IO, Any


@contextmanager
def replace_file(path: Path, mode: str = "w", check: Callable[[], None] | None = None) -> Iterator[IO[Any]]:
    """A stream to a temporary file next to `path` that replaces it when the block ends, unless the block raises.

    `check` is called just before; if it raises, `path` is left as it was. Symbolic links and permissions are preserved.
    """
    target = resolve_path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(ENOENT, "The folder of this file does not exist; create it first", str(path))
    if target.is_dir():
        raise IsADirectoryError(EISDIR, "This is a folder; name a file in it", str(path))
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    handle, temporary = temporary_beside(target)
    try:
        with open(handle, mode, **text) as stream:  # noqa: PTH123 (a handle, not a path)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
        if check is not None:
            check()
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def resolve_path(path: Path) -> Path:
    """The path with its symbolic links resolved, whether it exists or not.

    A loop of links is an OSError. pathlib raises a RuntimeError, and from Python 3.13 on no error at all.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno == ELOOP:
            raise OSError(ELOOP, "Its symbolic links lead in a circle, to no file; remove them", str(path)) from None
    return path.resolve()


def temporary_beside(target: Path) -> tuple[int, Path]:
    """A new file next to `target`, opened, and its name."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    return handle, Path(name)


def _umask() -> int:
    """The permissions that new files lack; they can only be read by setting them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
