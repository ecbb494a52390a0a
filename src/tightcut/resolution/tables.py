"""Column-wise access to input tables of any kind, and result tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.files import read_table
from tightcut.files.sources import DataFile
from tightcut.files.tables import Table
from tightcut.problem.pairs import to_array
from tightcut.utils.extras import require_package

ROWS_SHOWN = 6  # of a table, by repr


class Columns(dict[str, np.ndarray]):
    """A table as a dict from names to columns of equal length; `pandas.DataFrame(table)` makes it a frame.

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
        """The rows given by a mask or by their numbers."""
        return Columns({name: column[chosen] for name, column in self.items()})

    def to_dataframe(self) -> Any:
        """The table as a pandas frame; needs pandas."""
        return require_package("pandas", "to_dataframe", "frames").DataFrame(dict(self))

    def __repr__(self) -> str:
        shown = self.select(np.arange(min(self.n_rows, ROWS_SHOWN)))
        lines = [list(self), *([f"{x:.4g}" if isinstance(x, float) else str(x) for x in row] for row in shown.rows())]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        texts = [
            " " + "  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines
        ]
        return "\n".join([*texts, f" ... {self.n_rows:,} rows"] if self.n_rows > ROWS_SHOWN else texts)


@dataclass(frozen=True, eq=False)
class TableView(Table):
    """A table from the caller; a column becomes an array when it is used.

    Parameters
    ----------
    loose : bool
        Whether the cells are texts only because they come from a text file.
    """

    loose: bool = False

    def column(self, name: str) -> Any:
        cells = super().column(name)
        values = np.array(cells, dtype=object) if isinstance(cells, list) else to_array(cells)
        if values.ndim != 1:
            raise ValueError(f"{self.path}: column {name!r} must have one value per row; got shape {values.shape}.")
        return values


def read_view(table: Any, name: str, default_names: Sequence[str]) -> TableView:
    """Columns of a frame, a mapping, an array, a sequence of rows or a file.

    Parameters
    ----------
    table : Any
    name : str
        The name of the table in messages.
    default_names : sequence of str
        Names of the columns of rows and arrays, which come without.
    """
    if isinstance(table, TableView):
        return table
    if isinstance(table, (str, Path)):
        read = read_table(Path(table))
        return TableView(read.path, read.names, read.cells, read.lines, read.has_header, loose=read.lines is not None)
    for method in ("as_pandas_dataframe", "fetchnumpy", "collect"):  # splink, DuckDB's relations, polars' lazy frames
        if hasattr(table, method):
            table = getattr(table, method)()
    is_frame = hasattr(table, "columns") and not isinstance(table, Mapping)
    if is_frame:  # pyarrow calls the names column_names, and the values columns
        columns = {str(key): table[key] for key in getattr(table, "column_names", table.columns)}
    else:
        named = table if isinstance(table, Mapping) else _unnamed(table, name, default_names)
        columns = {str(key): to_array(cells) for key, cells in named.items()}
    view = TableView(DataFile(Path(name)), tuple(columns), tuple(columns.values()))
    lengths = {} if is_frame else {key: len(view.column(key)) for key in columns}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"The columns of {name} have different lengths: {lengths}.")
    return view


def _unnamed(table: Any, name: str, default_names: Sequence[str]) -> dict[str, np.ndarray]:
    """The columns of an array or of rows. In dedupe's scores, one field contains both ids of a pair."""
    wanted = f"({', '.join(default_names)})"
    if isinstance(table, np.ndarray):
        fields = table.dtype.names
        if fields == ("pairs", "score") and table["pairs"].ndim == 2:
            columns = [*table["pairs"].T, table["score"]]
        elif fields:
            return {field: table[field] for field in fields}
        else:
            columns = list(table.T) if table.ndim == 2 else []
        if len(columns) != len(default_names):
            raise ValueError(f"{name} must be a table, or rows of {wanted}; got shape {table.shape}.")
        return dict(zip(default_names, columns, strict=True))
    try:
        rows = [(row,) if isinstance(row, str) else tuple(row) for row in table]
    except TypeError:
        raise TypeError(f"{name} must be a table, or rows of {wanted}; got {table!r}.") from None
    odd = next((number for number, row in enumerate(rows) if len(row) != len(default_names)), None)
    if odd is not None:
        raise ValueError(f"{name}, row {odd}: expected {wanted}; got {rows[odd]!r}.")
    columns = [_column(values) for values in zip(*rows, strict=True)] or [np.empty(0, object)] * len(default_names)
    return dict(zip(default_names, columns, strict=True))


def _column(values: Sequence[Any]) -> np.ndarray:
    """An array of numbers if all values are numbers of one kind, otherwise of objects."""
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    if len(set(map(type, values))) == 1 and isinstance(values[0], (int, float)):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
