"""Files that appear whole or not at all."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tightcut.files.errors import InputError
from tightcut.files.tables import TEXT_SUFFIXES


def check_writable(path: Path, *, force: bool = False) -> None:
    """Raise InputError if `path` cannot be written, or exists and `force` is False: before hours are spent on it."""
    if path.is_dir():
        raise InputError(f"{path} is a directory; name a file in it.")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a regular file; use -o - for standard output.")
    if path.exists() and not force:
        raise InputError(f"{path} exists already. Use --force to replace it, or choose another name.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError(f"The folder {folder} does not exist. Create it first: mkdir -p {folder}")
    if not os.access(folder, os.W_OK):
        raise InputError(f"You may not write to the folder {folder}; choose another one.")


def check_table_writable(path: Path, *, force: bool = False) -> None:
    """As `check_writable`, for a table; its name must not promise anything but text."""
    if path.suffix.lower() not in TEXT_SUFFIXES:
        raise InputError(f"{path}: tables are written as CSV or TSV; name it {path.with_suffix('.csv').name}.")
    check_writable(path, force=force)


@contextmanager
def atomic_writer(path: Path, mode: str = "w", *, force: bool = False) -> Iterator[IO[Any]]:
    """A stream whose content appears under `path` when the block ends, and nowhere if it fails.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tightcut.files import atomic_writer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_writer(Path(folder, "result.txt")) as stream:
    ...         _ = stream.write("42")
    ...     [path.name for path in Path(folder).iterdir()]
    ['result.txt']
    """
    check_writable(path, force=force)
    target = path.resolve()  # a link stays a link
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with open(handle, mode, **text) as stream:  # noqa: PTH123 (a handle, not a path)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())
        if not force:
            check_writable(path)  # someone may have been faster
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_rows(
    path: Path,
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    force: bool = False,
    separator: str | None = None,
) -> None:
    """A CSV file; separated by tabs if it is named .tsv."""
    check_table_writable(path, force=force)
    separator = separator or ("\t" if path.suffix.lower() in {".tsv", ".tab"} else ",")
    with atomic_writer(path, force=force) as stream:
        print_rows(stream, header, rows, separator)


def print_rows(stream: IO[str], header: Sequence[str], rows: Iterable[Sequence[Any]], separator: str = ",") -> None:
    writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)


def _umask() -> int:
    """The permissions that new files do without; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
