"""Tables of DuckDB files, addressed as FILE.duckdb::TABLE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.files.errors import InputError, check_readable, did_you_mean, listed

SUFFIXES = (".duckdb", ".ddb")


def address(path: Path) -> tuple[Path, str] | None:
    """The file and the table of an address; None if it is none.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tightcut.files.databases import address
    >>> address(Path("people.duckdb::edges"))[1], address(Path("edges.csv"))
    ('edges', None)
    """
    file, mark, table = str(path).rpartition("::")
    if mark and file.lower().endswith(SUFFIXES):
        if not table.strip():
            raise InputError(f"{path}: name a table of the file: {file}::TABLE")
        return Path(file), table
    if str(path).lower().endswith(SUFFIXES):
        raise InputError(f"{path} is a database; name a table of it: {path}::TABLE")
    return None


def read_columns(file: Path, table: str) -> tuple[list[str], list[np.ndarray]]:
    """Names and cells of all columns; empty cells are None."""
    check_readable(file)
    with _connected(file, read_only=True) as connection:
        _check_known(connection, file, table)
        columns = connection.sql(f"SELECT * FROM {_quoted(table)}").fetchnumpy()  # noqa: S608 (quoted)
    if len(next(iter(columns.values()))) == 0:
        raise InputError(f"{file}::{table} holds no rows.")
    return list(columns), [_unmasked(column) for column in columns.values()]


def check_writable(file: Path, table: str, *, force: bool) -> None:
    """Raise InputError if the table exists and `force` is False, or the file is none."""
    if not file.resolve().parent.is_dir():
        raise InputError(f"The folder {file.resolve().parent} does not exist. Create it first.")
    if not file.exists():
        _duckdb(file)
        return
    with _connected(file, read_only=True) as connection:
        if table in _tables(connection) and not force:
            raise InputError(
                f"{file} already has a table {table!r}. Use --force to replace it, or choose another name."
            )


def write_columns(file: Path, table: str, columns: Mapping[str, np.ndarray], *, force: bool) -> None:
    """Create the table, or replace it."""
    check_writable(file, table, force=force)
    with _connected(file, read_only=False) as connection:
        tightcut_columns = dict(columns)  # noqa: F841 - DuckDB finds variables by their names
        connection.execute(f"CREATE OR REPLACE TABLE {_quoted(table)} AS SELECT * FROM tightcut_columns")  # noqa: S608


def _duckdb(file: Path) -> Any:
    try:
        import duckdb
    except ImportError:
        raise InputError(f'{file}: DuckDB files need duckdb: pip install "tightcut[duckdb]"') from None
    return duckdb


@contextmanager
def _connected(file: Path, *, read_only: bool) -> Iterator[Any]:
    duckdb = _duckdb(file)
    try:
        with duckdb.connect(str(file), read_only=read_only) as connection:
            yield connection
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise InputError(f"{file} cannot be used as a DuckDB file: {reason}.") from None


def _tables(connection: Any) -> list[str]:
    names = connection.execute("SELECT table_name FROM information_schema.tables ORDER BY table_name").fetchall()
    return [name for (name,) in names]


def _check_known(connection: Any, file: Path, table: str) -> None:
    known = _tables(connection)
    if table not in known:
        raise InputError(
            f"{file} has no table {table!r}; it has {listed(known) or 'none'}.{did_you_mean(table, known)}"
        )


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _unmasked(column: np.ndarray) -> np.ndarray:
    if not np.ma.isMaskedArray(column):
        return column
    values = np.ma.getdata(column)
    mask = np.ma.getmaskarray(column)
    if mask.any():
        values = values.astype(object)
        values[mask] = None
    return values
