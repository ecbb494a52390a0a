"""Tables written into DuckDB files, addressed as FILE.duckdb::TABLE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.files.errors import InputError
from tightcut.files.folders import check_folder
from tightcut.utils.extras import required

SUFFIX = ".duckdb"


def address(path: Path) -> tuple[Path, str] | None:
    """The file and the table of an address; None if it is not one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tightcut.files.databases import address
    >>> address(Path("people.duckdb::edges"))[1], address(Path("edges.csv"))
    ('edges', None)
    """
    file, mark, table = str(path).rpartition("::")
    if mark and file.lower().endswith(SUFFIX):
        if not table.strip():
            raise InputError(f"{path}: name a table of the file: {file}::TABLE")
        return Path(file), table
    if str(path).lower().endswith(SUFFIX):
        raise InputError(f"{path} is a database; name a table of it: {path}::TABLE")
    return None


def check_writable(file: Path, table: str, *, force: bool) -> None:
    """Raise InputError if the table exists and `force` is False, or the file is not a database."""
    check_folder(file)
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
        connection.execute(f"CREATE OR REPLACE TABLE {quoted(table)} AS SELECT * FROM tightcut_columns")  # noqa: S608


def _duckdb(file: Path) -> Any:
    return required("duckdb", f"{file}: writing .duckdb", "files")


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


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
