"""Files that appear whole or not at all."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

from tightcut.files.cells import is_number
from tightcut.files.errors import InputError
from tightcut.files.folders import check_folder
from tightcut.files.formats import TEXT_SUFFIXES
from tightcut.utils.atomic import replaced

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # first characters of a cell that a spreadsheet may take for a formula


def check_writable(path: Path, *, force: bool = False) -> None:
    """Raise InputError if `path` cannot be written, or exists and `force` is False."""
    if str(path) == "-":
        raise InputError("- is standard output, which this option cannot write to; name a file.")
    if path.is_dir():
        raise InputError(f"{path} is a directory; name a file in it.")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a regular file; use -o - for standard output.")
    if path.exists() and not force:
        raise InputError(f"{path} already exists. Use --force to replace it, or choose another name.")
    check_folder(path)


def check_table_writable(path: Path, *, force: bool = False) -> None:
    """As `check_writable`, for a table; the ending of its name must be that of a text file."""
    if path.suffix.lower() not in TEXT_SUFFIXES:
        raise InputError(f"{path}: tables are written as CSV or TSV; name it {path.with_suffix('.csv').name}.")
    check_writable(path, force=force)


@contextmanager
def atomic_writer(path: Path, mode: str = "w", *, force: bool = False) -> Iterator[IO[Any]]:
    """A stream whose content appears at `path` when the block ends, and not at all if the block raises.

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
    # Checked again at the end: the file may have been created in the meantime.
    with replaced(path, mode, check=lambda: check_writable(path, force=force)) as stream:
        yield stream


def write_rows(
    path: Path,
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    force: bool = False,
    spreadsheet: bool = False,
) -> None:
    """A CSV file; separated by tabs if it is named .tsv. See `print_rows` for `spreadsheet`."""
    check_table_writable(path, force=force)
    separator = "\t" if path.suffix.lower() in {".tsv", ".tab"} else ","
    with atomic_writer(path, force=force) as stream:
        print_rows(stream, header, rows, separator, spreadsheet=spreadsheet)


def print_rows(
    stream: IO[str],
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    separator: str = ",",
    *,
    spreadsheet: bool = False,
) -> None:
    """A header and rows. With `spreadsheet`, cells that look like formulas are preceded by an apostrophe."""
    writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
    for row in chain([header], rows):
        writer.writerow([harmless(cell) for cell in row] if spreadsheet else row)


def harmless(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula.

    Examples
    --------
    >>> from tightcut.files.writing import harmless
    >>> harmless("=1+2"), harmless("-0.5"), harmless("ann")
    ("'=1+2", '-0.5', 'ann')
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) and not is_number(cell) else cell
