"""Tables of every kind of file: one row of `READERS` each, through the library made for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tightcut.files import text
from tightcut.files.cells import as_text
from tightcut.files.errors import InputError, listed, parsing
from tightcut.files.sources import DataFile
from tightcut.utils.extras import require_package
from tightcut.utils.validation import did_you_mean

TEXT = frozenset({".csv", ".tsv", ".tab", ".txt", ".dat", ".edges", ""})
PARQUET = frozenset({".parquet", ".pq"})
DATABASE = ".duckdb"


class Content(NamedTuple):
    """The columns of a table; their names, if the kind of file has any; the line of each row, if it has lines."""

    columns: Sequence[Any]
    names: Sequence[str] | None = None
    lines: Sequence[int] | None = None


def read_text(source: DataFile) -> Content:
    columns, lines = text.read_columns(source)
    return Content(columns, lines=lines)


def open_parquet(source: DataFile) -> Any:
    """A `pyarrow.parquet.ParquetFile` that has rows and columns."""
    parquet = reader(source, "pyarrow.parquet", "frames")
    with parsing(source, "a Parquet file"):
        file = parquet.ParquetFile(source.open())
        if file.metadata.num_rows == 0 or file.metadata.num_columns == 0:
            raise InputError(f"{source} holds no rows.")
        return file


def read_parquet(source: DataFile, names: Sequence[str] | None = None) -> Content:
    """Some columns, all by default, in the order of the file."""
    file = open_parquet(source)
    with parsing(source, "a Parquet file"):
        return _of_arrow(file.read(columns=names))


def read_feather(source: DataFile) -> Content:
    feather = reader(source, "pyarrow.feather", "frames")
    with parsing(source, "a Feather file"):
        return _of_arrow(feather.read_table(source.open(), memory_map=False))


def _of_arrow(table: Any) -> Content:
    table.validate(full=True)  # text that is not UTF-8, lists that end beyond their values
    return Content([column.to_numpy() for column in table.columns], table.column_names)


def read_excel(source: DataFile) -> Content:
    """The first sheet of a workbook, or the one named behind ``::``, as cells of text."""
    load_workbook = reader(source, "openpyxl").load_workbook
    with parsing(source, "an Excel workbook"):
        book = load_workbook(source.open(), read_only=True, data_only=True)
        try:
            name = _part(source, book.sheetnames, "sheet") if source.part else book.sheetnames[0]
            rows = [[as_text(cell) for cell in row] for row in book[name].iter_rows(values_only=True)]
        finally:
            book.close()
    lines = [number for number, row in enumerate(rows, 1) if any(row)]
    rows = [rows[line - 1] for line in lines]
    width = max((last for row in rows for last, cell in enumerate(row, 1) if cell), default=0)
    if width == 0:
        raise InputError(f"{source} holds no cells in sheet {name!r}.")
    return Content([[row[place] if place < len(row) else "" for row in rows] for place in range(width)], lines=lines)


def read_json_lines(source: DataFile) -> Content:
    """One object per line; a name that an object lacks is a missing value."""
    records, lines = [], []
    for number, line in enumerate(text.decode(source).splitlines(), 1):
        if line.strip():
            try:
                record = json.loads(line)
            except ValueError as error:
                raise InputError(f"{source}, line {number}: not JSON: {error}.") from None
            if not isinstance(record, dict):
                raise InputError(f'{source}, line {number}: an object such as {{"x": 1.5}} is needed, one per line.')
            records.append(record)
            lines.append(number)
    if records and records[0].keys() >= {"event", "rows", "fingerprint"}:
        raise InputError(
            f"{source} holds the answers of tightcut ask, which are no table; tightcut cluster, tradeoff, audit and update "
            "take them with --constraints."
        )
    names = list(dict.fromkeys(name for record in records for name in record))
    if not names:
        raise InputError(f"{source} holds no values.")
    return Content([[record.get(name) for record in records] for name in names], names, lines)


def read_sqlite(source: DataFile) -> Content:
    """A table or view of a database; the only one there is, or the one named behind ``::``."""
    import sqlite3
    from contextlib import closing

    address = f"{source.local_file().resolve().as_uri()}?mode=ro"
    own = "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite~_%' escape '~'"
    with parsing(source, "an SQLite database"), closing(sqlite3.connect(address, uri=True)) as database:
        name = _part(source, [row[0] for row in database.execute(own)], "table")
        return _rows(source, database.execute(f"select * from {quoted(name)}"))  # noqa: S608 (quoted)


def read_duckdb(source: DataFile) -> Content:
    """As `read_sqlite`."""
    duckdb = reader(source, "duckdb")
    with parsing(source, "a DuckDB database"), duckdb.connect(str(source.local_file()), read_only=True) as database:
        name = _part(source, [row[0] for row in database.execute("show tables").fetchall()], "table")
        columns = database.sql(f"select * from {quoted(name)}").fetchnumpy()  # noqa: S608 (quoted)
    if not len(next(iter(columns.values()))):
        raise InputError(f"{source} holds no rows.")
    return Content([_unmasked(column) for column in columns.values()], list(columns))


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _unmasked(column: np.ndarray) -> np.ndarray:
    """A column with None where the database has no value."""
    mask = np.ma.getmaskarray(column)
    values = np.ma.getdata(column)
    if mask.any():
        values = values.astype(object)
        values[mask] = None
    return values


READERS: dict[str, Callable[[DataFile], Content]] = {
    **dict.fromkeys(TEXT, read_text),
    **dict.fromkeys(PARQUET, read_parquet),
    **dict.fromkeys((".feather", ".arrow"), read_feather),
    ".xlsx": read_excel,
    **dict.fromkeys((".jsonl", ".ndjson"), read_json_lines),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), read_sqlite),
    DATABASE: read_duckdb,
}
TABLES = (
    "CSV, TSV, Parquet, Feather, Excel (.xlsx), JSON Lines (.jsonl), SQLite (.db::table) or DuckDB (.duckdb::table)"
)


def reader(source: DataFile, module: str, extra: str = "files") -> Any:
    """The library that reads a kind of file."""
    return require_package(module, f"{source}: reading {source.suffix}", extra)


def _rows(source: DataFile, answer: Any) -> Content:
    names = [column[0] for column in answer.description]
    rows: Iterable[Any] = answer.fetchall()
    if not rows:
        raise InputError(f"{source} holds no rows.")
    return Content([list(column) for column in zip(*rows, strict=True)], names)


def _part(source: DataFile, known: list[str], noun: str) -> str:
    """The table or sheet that is meant."""
    if source.part in known:
        return str(source.part)
    if source.part is None and len(known) == 1:
        return known[0]
    if not known:
        raise InputError(f"{source} holds no {noun}.")
    if source.part is None:
        raise InputError(f"{source} has several {noun}s: {listed(known)}. Say which: {source}::{known[0]}")
    raise InputError(
        f"{source.path} has no {noun} {source.part!r}, but {listed(known)}.{did_you_mean(source.part, known)}"
    )
