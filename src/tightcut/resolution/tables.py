"""Tables as columns: input of any kind, and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.files import InputError, read_table
from tightcut.files.cells import as_number, as_text, complaint
from tightcut.files.tables import Table
from tightcut.problem.pairs import to_array
from tightcut.utils.extras import required

ROWS_SHOWN = 6


class Columns(dict[str, np.ndarray]):
    """A table as a dict from names to columns, all of one length: `pandas.DataFrame(table)` makes it a frame.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.resolution import Columns
    >>> table = Columns(id=np.array(["ann", "bob"]), cluster=np.array([0, 1]))
    >>> table
      id  cluster
     ann        0
     bob        1
    >>> list(table.rows())
    [('ann', 0), ('bob', 1)]
    """

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.values()), ()))

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Row by row, as Python values."""
        return zip(*(column.tolist() for column in self.values()), strict=True)

    def select(self, chosen: np.ndarray) -> Columns:
        """The rows of a mask or a list of row numbers."""
        return Columns({name: column[chosen] for name, column in self.items()})

    def to_dataframe(self) -> Any:
        """The table as a pandas frame; needs pandas."""
        return required("pandas", "to_dataframe", "frames").DataFrame(dict(self))

    def __repr__(self) -> str:
        cells = {name: [_shown(value) for value in column[:ROWS_SHOWN].tolist()] for name, column in self.items()}
        widths = {name: max(map(len, [name, *texts])) for name, texts in cells.items()}
        lines = [" " + "  ".join(f"{name:>{widths[name]}}" for name in self)]
        shown = min(self.n_rows, ROWS_SHOWN)
        lines += [" " + "  ".join(f"{cells[name][row]:>{widths[name]}}" for name in self) for row in range(shown)]
        return "\n".join([*lines, f" ... {self.n_rows:,} rows"] if self.n_rows > shown else lines)


@dataclass(frozen=True, eq=False)
class Source:
    """A table given by the caller.

    Parameters
    ----------
    name : str
        What messages call it: a path, or the name of an argument.
    names : tuple of str
        Of the columns.
    cells : callable
        From the name of a column to an array.
    loose : bool
        Whether the cells are text only because they come from a file of text.
    where : callable
        From a row to its place, for messages.
    """

    name: str
    names: tuple[str, ...]
    cells: Callable[[str], np.ndarray] = field(repr=False)
    loose: bool
    where: Callable[[int], str] = field(repr=False)

    def one(self, wanted: Iterable[str]) -> str | None:
        """The first of the wanted names that is a column, in any case."""
        lower = {name.lower(): name for name in self.names}
        return next((lower[name] for name in wanted if name in lower), None)

    def texts(self, name: str) -> list[str]:
        """The values of a column as text."""
        return [str(value) for value in self.cells(name).tolist()]


def read_source(table: Any, name: str, default_names: Sequence[str]) -> Source:
    """Columns of a frame, a mapping, an array, a sequence of rows or a file.

    Parameters
    ----------
    table : Any
    name : str
        What messages call it.
    default_names : sequence of str
        Names of the columns of rows and arrays, which have none.
    """
    if isinstance(table, Source):
        return table
    if isinstance(table, (str, Path)):
        return from_table(read_table(Path(table)))
    for method in ("as_pandas_dataframe", "fetchnumpy"):  # splink, and DuckDB's relations
        if hasattr(table, method):
            table = getattr(table, method)()
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):  # a lazy frame of polars
        table = table.collect()
    if hasattr(table, "column_names"):  # pyarrow
        return _in_memory(name, table.column_names, lambda column: table[column].to_numpy())
    if isinstance(table, np.ndarray) and table.dtype.names:
        return _from_records(name, table, default_names)
    if isinstance(table, Mapping) or hasattr(table, "columns"):
        own = list(table) if isinstance(table, Mapping) else list(table.columns)
        keys = {str(key): key for key in own}
        return _in_memory(name, list(keys), lambda column: to_array(table[keys[column]]))
    return _from_rows(name, table, default_names)


def from_table(table: Table) -> Source:
    """A table that was read from a file."""

    def cells(column: str) -> np.ndarray:
        values = table.column(column)
        return values if isinstance(values, np.ndarray) else np.array(values, dtype=object)

    return Source(str(table.path), table.names, cells, table.lines is not None, table.where)


def _in_memory(name: str, names: Sequence[str], cells: Callable[[str], np.ndarray]) -> Source:
    def column(wanted: str) -> np.ndarray:
        values = np.asarray(cells(wanted))
        if values.ndim != 1:
            raise ValueError(f"{name}: column {wanted!r} must have one value per row; got shape {values.shape}.")
        return values

    source = Source(name, tuple(map(str, names)), column, False, lambda row: f"{name} row {row}")
    lengths = {wanted: len(column(wanted)) for wanted in source.names}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"The columns of {name} have different lengths: {lengths}.")
    return source


def _from_records(name: str, records: np.ndarray, default_names: Sequence[str]) -> Source:
    """A structured array; dedupe's scores have the two ids of a pair in one field."""
    fields = list(records.dtype.names or ())
    if fields == ["pairs", "score"] and records["pairs"].ndim == 2:
        values = [records["pairs"][:, 0], records["pairs"][:, 1], records["score"]]
        columns = dict(zip(default_names, values, strict=True))
        return _in_memory(name, list(columns), columns.__getitem__)
    return _in_memory(name, fields, lambda column: records[column])


def _from_rows(name: str, table: Any, default_names: Sequence[str]) -> Source:
    if isinstance(table, np.ndarray):
        columns = list(table.T) if table.ndim == 2 else []
        width = table.shape[1] if table.ndim == 2 else -1
    else:
        try:
            rows = [tuple(row) if not isinstance(row, str) else (row,) for row in table]
        except TypeError:
            raise TypeError(f"{name} must be a table, or rows of {_rows(default_names)}; got {table!r}.") from None
        odd = next((number for number, row in enumerate(rows) if len(row) != len(default_names)), None)
        if odd is not None:
            raise ValueError(f"{name} row {odd}: expected {_rows(default_names)}; got {rows[odd]!r}.")
        width = len(default_names)
        columns = [_column(values) for values in zip(*rows, strict=True)] or [np.empty(0, object)] * width
    if width != len(default_names):
        raise ValueError(f"{name} must be a table, or rows of {_rows(default_names)}; got shape {np.shape(table)}.")
    named = dict(zip(default_names, columns, strict=True))
    return _in_memory(name, default_names, named.__getitem__)


def _column(values: Sequence[Any]) -> np.ndarray:
    """Numbers stay numbers and texts texts: an object array unless all are numbers of one kind."""
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    if len(set(map(type, values))) == 1 and isinstance(values[0], (int, float)):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def numbers_of(source: Source, column: str) -> np.ndarray:
    """A column as float64, not NaN; an error names the row."""
    cells = source.cells(column)
    try:
        values = np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array([as_number(cell) for cell in cells.tolist()])
    bad = np.isnan(values)
    if bad.any():
        row = int(np.argmax(bad))
        cell = as_text(cells[row : row + 1].tolist()[0])
        raise InputError(f"{source.where(row)}, column {column!r}: {complaint(cell)}")
    return values


def _rows(names: Sequence[str]) -> str:
    return f"({', '.join(names)})"


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
