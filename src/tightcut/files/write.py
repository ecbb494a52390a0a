"""Write tables and other files atomically; check beforehand that they can be written.

A table is CSV or TSV by its name; where columns are written, also Parquet, or a table of a database, FILE.duckdb::TABLE.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from tightcut.files.cells import is_number
from tightcut.files.errors import InputError
from tightcut.files.formats import DATABASE, PARQUET, TEXT, quoted
from tightcut.utils.atomic import replace_file, resolve_path, temporary_beside
from tightcut.utils.extras import require_package

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # first characters of a cell that a spreadsheet may take for a formula


def check_folder(path: Path) -> None:
    """Raise InputError if no file of this name can be written in its folder, existing or new.

    Permissions alone do not tell: a file system may be read-only, or the name too long. So a file is made, and removed.
    """
    target = resolve_path(path)
    folder = target.parent
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{path} cannot be written: {folder} is a file, not a folder. Choose another name.")
    if not folder.is_dir():
        raise InputError(f"The folder {folder} does not exist. Create it first: mkdir -p {folder}")
    try:
        handle, temporary = temporary_beside(target)
    except PermissionError:
        raise InputError(f"You have no permission to write to the folder {folder}; choose another one.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}. Choose another name or folder.") from error
    os.close(handle)
    temporary.unlink()


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
    if path.suffix.lower() not in TEXT:
        raise InputError(f"{path}: tables are written as CSV or TSV; name it {path.with_suffix('.csv').name}.")
    check_writable(path, force=force)


def check_columns_writable(path: Path, *, force: bool = False) -> None:
    """As `check_table_writable`, for a table that may also be Parquet or in a database."""
    place = _in_database(path)
    if place is not None:
        _check_in_database(*place, force=force)
        return
    if path.suffix.lower() in PARQUET:
        require_package("pyarrow.parquet", f"{path}: writing Parquet", "frames")
    elif path.suffix.lower() not in TEXT:
        raise InputError(f"{path}: tables are written as CSV, TSV, Parquet or FILE.duckdb::TABLE; choose such a name.")
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
    with replace_file(path, mode, check=lambda: check_writable(path, force=force)) as stream:
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
    >>> from tightcut.files.write import harmless
    >>> harmless("=1+2"), harmless("-0.5"), harmless("ann")
    ("'=1+2", '-0.5', 'ann')
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) and not is_number(cell) else cell


def write_columns(
    path: Path, columns: Mapping[str, np.ndarray], *, force: bool = False, spreadsheet: bool = False
) -> None:
    """Write a table whole or not at all. See `print_rows` for `spreadsheet`, which concerns text only.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from tightcut.files.write import write_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_columns(Path(folder, "clusters.csv"), {"id": np.array(["ann", "bob"]), "cluster": np.array([0, 0])})
    ...     Path(folder, "clusters.csv").read_text().split()
    ['id,cluster', 'ann,0', 'bob,0']
    """
    check_columns_writable(path, force=force)
    place = _in_database(path)
    if place is not None:
        file, name = place
        with _connected(file, read_only=False) as connection:
            tightcut_columns = dict(columns)  # noqa: F841 - DuckDB finds variables by their names
            connection.execute(f"CREATE OR REPLACE TABLE {quoted(name)} AS SELECT * FROM tightcut_columns")  # noqa: S608
    elif path.suffix.lower() in PARQUET:
        from pyarrow import parquet, table

        with atomic_writer(path, "wb", force=force) as stream:
            parquet.write_table(table(dict(columns)), stream)
    else:
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        write_rows(path, list(columns), rows, force=force, spreadsheet=spreadsheet)


def _in_database(path: Path) -> tuple[Path, str] | None:
    """The file and the table of FILE.duckdb::TABLE; None for other paths."""
    file, mark, table = str(path).rpartition("::")
    if mark and file.lower().endswith(DATABASE):
        if not table.strip():
            raise InputError(f"{path}: name a table of the file: {file}::TABLE")
        return Path(file), table
    if str(path).lower().endswith(DATABASE):
        raise InputError(f"{path} is a database; name a table of it: {path}::TABLE")
    return None


def _check_in_database(file: Path, table: str, *, force: bool) -> None:
    """Raise InputError if the table exists and `force` is False, or the file is not a database."""
    check_folder(file)
    if not file.exists():
        require_package("duckdb", f"{file}: writing .duckdb", "files")
        return
    with _connected(file, read_only=True) as connection:
        known = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
        if (table,) in known and not force:
            raise InputError(
                f"{file} already has a table {table!r}. Use --force to replace it, or choose another name."
            )


@contextmanager
def _connected(file: Path, *, read_only: bool) -> Iterator[Any]:
    duckdb = require_package("duckdb", f"{file}: writing .duckdb", "files")
    try:
        with duckdb.connect(str(file), read_only=read_only) as connection:
            yield connection
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise InputError(f"{file} cannot be used as a DuckDB file: {reason}.") from None
