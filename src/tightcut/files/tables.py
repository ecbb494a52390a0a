"""Tables as named columns, with the line number of each row.

numpy converts whole columns; only a column that fails is looked at cell by cell.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.files.cells import as_numbers, as_text, brief, complaint, is_missing, is_nearly_a_number, is_number
from tightcut.files.errors import InputError, listed
from tightcut.files.formats import READERS, TABLES
from tightcut.files.sources import DataFile, check_readable
from tightcut.utils.codes import factorize, first_places
from tightcut.utils.validation import did_you_mean

COLUMNS_SHOWN = 6
NUMBERED = 4  # columns named 0, 1, 2, ... that make a header; fewer may be an edge or a point
# What messages about cells may suggest: the options that a command has.
SUGGESTIONS = frozenset({"drop", "encode", "missing drop", "missing mean", "decimal", "text"})


@dataclass(frozen=True)
class TableOptions:
    """How to read a table of text.

    Parameters
    ----------
    header : bool, optional
        Whether the first row names the columns. None looks: it does if none of its cells is a number, or if they count
        from 0 as the columns of a frame without names do.
    decimal : str, default="."
        What separates a number from its decimals.
    asked_by : mapping
        Why a column is needed that an option such as "--id" names, where the person did not name it; for messages.
    """

    header: bool | None = None
    decimal: str = "."
    asked_by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of equal length.

    Parameters
    ----------
    path : DataFile
    names : tuple of str
        Of the columns; "1", "2", ... where the file has no header.
    cells : tuple of list or ndarray
        One per column: text from text files, whatever the file holds otherwise.
    lines : sequence of int, optional
        Line of the file that each row ends on; None where there are no lines.
    has_header : bool
    options : TableOptions
    rows : ndarray of int, optional
        Which rows of the file the table holds, for messages; all by default.
    """

    path: DataFile
    names: tuple[str, ...]
    cells: tuple[Any, ...]
    lines: Sequence[int] | None = None
    has_header: bool = True
    options: TableOptions = field(default_factory=TableOptions)
    rows: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return len(self.cells[0])

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    def column(self, name: str) -> Sequence[Any]:
        """The cells of a column."""
        return self.cells[self._position[name]]

    def where(self, row: int | None = None, name: str | None = None) -> str:
        """The place of a cell, for a message."""
        place = str(self.path)
        if row is not None:
            row = row if self.rows is None else int(self.rows[row])
            place += f", row {row}" if self.lines is None else f", line {self.lines[row]}"
        return place if name is None else f"{place}, column {name!r}"

    def one(self, wanted: Iterable[str]) -> str | None:
        """The first of the wanted names that is a column, in upper or lower case."""
        lower = {name.lower(): name for name in self.names}
        return next((lower[name] for name in wanted if name in lower), None)

    def find(self, name: str, option: str) -> str:
        """The name, if it is that of a column; else an error that lists the columns."""
        if name in self._position:
            return name
        kind = "columns" if self.has_header else "columns, numbered because there is no header,"
        hint = did_you_mean(name, self.names)
        if len(self.names) == 1 and " " in self.names[0]:
            hint = " Separate cells by commas, semicolons, tabs or bars."
        reason = self.options.asked_by.get(option, f" ({option})")
        raise InputError(f"{self.path} has no column {name!r}{reason}; its {kind} are {listed(self.names)}.{hint}")

    def find_all(self, given: Iterable[str], option: str) -> list[str]:
        """Names of columns, given one by one or separated by commas."""
        names = []
        for text in given:
            parts = [text] if text in self.names else [part.strip() for part in text.split(",")]
            names += [self.find(part, option) for part in parts]
        return list(dict.fromkeys(names))

    def texts(self, name: str) -> list[str]:
        """A column as stripped text; missing values of typed columns are empty."""
        return [as_text(cell) for cell in self.column(name)]

    def distinct(self, name: str) -> tuple[list[str], np.ndarray]:
        """The distinct texts of a column, as in `texts`, and which of them each row holds."""
        cells: Sequence[Any] = self.column(name)
        values: Iterable[Any]
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
            values, place = np.unique(cells, return_inverse=True)
        else:
            try:
                values, place = factorize(cells)
            except TypeError:
                raise InputError(f"{self.path}: column {name!r} holds lists, not texts or numbers.") from None
        texts, codes = factorize(list(map(as_text, values)))
        return texts, codes[place]

    def identifiers(self, name: str) -> list[str]:
        """A column of texts that name the rows: none is missing, none occurs twice."""
        ids = self.texts(name)
        seen: dict[str, int] = {}
        for row, identifier in enumerate(ids):
            if not identifier:
                raise InputError(f"{self.where(row, name)}: the identifier is missing; every row needs one.")
            if seen.setdefault(identifier, row) != row:
                earlier = self.where(seen[identifier]).rpartition(", ")[2]
                raise InputError(
                    f"{self.where(row, name)}: {identifier!r} already occurs in {earlier}. Identifiers must differ: "
                    "remove one of the rows, or use another column: --id."
                )
        return ids

    def ends(self, first: str, second: str) -> tuple[list[str], np.ndarray]:
        """The distinct names of two columns in order of appearance, and each row's two as positions among them."""
        code: dict[str, int] = {}
        columns = []
        for name in (first, second):
            texts, rows = self.distinct(name)
            if "" in texts:
                raise InputError(f"{self.where(int(np.argmax(rows == texts.index(''))), name)}: a name is missing.")
            columns.append(np.array([code.setdefault(text, len(code)) for text in texts])[rows])
        pairs = np.stack(columns, axis=1)
        order = np.argsort(first_places(pairs.ravel(), len(code)))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        texts = list(code)
        return [texts[position] for position in order.tolist()], rank[pairs]

    def first_row(self) -> list[str]:
        return [str(column[0]).strip() for column in self.cells]

    def select(self, mask: np.ndarray) -> Table:
        """The rows where a mask is True."""
        rows = np.flatnonzero(mask)
        cells = tuple([column[row] for row in rows.tolist()] for column in self.cells)
        return replace(self, cells=cells, rows=rows if self.rows is None else self.rows[rows])

    def with_header(self) -> Table:
        """The same file with its first row as the names of the columns."""
        if self.n_rows == 1:
            raise InputError(f"{self.path} holds a header and no rows.")
        names = _column_names(self.path, [column[0] for column in self.cells])
        cells = tuple(column[1:] for column in self.cells)
        return replace(
            self, names=names, cells=cells, lines=None if self.lines is None else self.lines[1:], has_header=True
        )

    def numbers(self, names: Sequence[str], *, suggest: Collection[str] = (), missing: bool = False) -> np.ndarray:
        """Columns as an array of shape (n_rows, n_columns), all finite.

        Parameters
        ----------
        suggest : collection of str
            Those of `SUGGESTIONS` that messages make.
        missing : bool
            Whether values may be missing; they are NaN in the result.
        """
        converted = {name: self._convert(name, suggest) for name in names}
        textual = [name for name in names if converted[name] is None]
        if textual:
            example = next(text for text in self.texts(textual[0]) if not is_missing(text))
            one = len(textual) == 1
            raise InputError(
                f"{self.path}: {'column' if one else 'columns'} {listed(textual)} {'holds' if one else 'hold'} text "
                f"such as {brief(example)!r}, not numbers. {_advice('Leave', textual, suggest, encode=True)}".rstrip()
            )
        result = np.empty((self.n_rows, len(names)))
        for place, name in enumerate(names):
            result[:, place] = converted[name]
        if not missing and np.isnan(result).any():
            raise InputError(self._missing_message(names, np.isnan(result), suggest))
        return result

    def _convert(self, name: str, suggest: Collection[str]) -> np.ndarray | None:
        """A column as finite numbers, NaN where missing; None if no cell is a number; an error if only some are."""
        values = as_numbers(self.column(name), self.options.decimal)
        bad = ~np.isfinite(values)
        if not bad.any():
            return values
        texts = self.texts(name)
        wrong = [row for row in np.flatnonzero(bad).tolist() if not is_missing(texts[row])]
        if not wrong:
            return values
        n_present = len(values) - sum(map(is_missing, texts))
        if len(wrong) == n_present and not any(is_nearly_a_number(texts[row]) for row in wrong):
            return None
        message = f"{self.where(wrong[0], name)}: {complaint(texts[wrong[0]], 'decimal' in suggest)}"
        if wrong == [0] and not self.has_header and self.lines is not None:
            message += " If this line names the columns, use --header."
        raise InputError(f"{message} {_advice('Or leave', [name], suggest)}".rstrip())

    def _missing_message(self, names: Sequence[str], absent: np.ndarray, suggest: Collection[str]) -> str:
        """The first missing value, and how many there are in the whole table."""
        row, place = divmod(int(np.argmax(absent)), len(names))
        message = f"{self.where(row, names[place])}: {complaint(self.texts(names[place])[row])}"
        counts = {name: int(count) for name, count in zip(names, absent.sum(axis=0), strict=True) if count}
        most = sorted(counts, key=lambda name: -counts[name])
        shown = ", ".join(f"{counts[name]:,} in {name!r}" for name in most[:COLUMNS_SHOWN])
        shown += f" and others in {len(most) - COLUMNS_SHOWN:,} more columns" if len(most) > COLUMNS_SHOWN else ""
        count, rows = int(absent.sum()), int(absent.any(axis=1).sum())
        if count > 1:
            message += f" Missing in all: {count:,} values ({shown}), in {rows:,} of {self.n_rows:,} rows."
        ways = {
            "missing drop": f"--missing drop gives {'the row' if rows == 1 else 'those rows'} no label",
            "missing mean": "--missing mean fills in the mean of the column",
        }
        possible = ", ".join(text for way, text in ways.items() if way in suggest)
        message += f" {possible}." if possible else ""
        return f"{message} {_advice('Or leave', most[:1], suggest)}".rstrip()


def read_table(
    path: str | Path | DataFile, options: TableOptions | None = None, is_header: Callable[[Table], bool] | None = None
) -> Table:
    r"""Read a table of any kind that `tightcut.files.formats` knows; `path` may be "-" for standard input.

    Text may be separated by commas, semicolons, tabs or bars: the first line decides. Whether that line is a header is
    for `is_header` to say, if the options leave it open: it gets the table with the first line as a row.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tightcut.files import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("name;height\nann;1.70\nbob;1.82\n")
    ...     people = read_table(path)
    >>> people.names, people.numbers(["height"]).tolist()
    (('name', 'height'), [[1.7], [1.82]])
    """
    source = DataFile.of(path)
    check_readable(source)
    options = options or TableOptions()
    if source.suffix not in READERS:
        raise InputError(f"{source}: tightcut does not read {source.suffix} files as tables; use {TABLES}.")
    columns, names, lines = READERS[source.suffix](source)
    if names is not None:
        return Table(source, _column_names(source, list(names)), tuple(columns), lines, options=options)
    numbers = tuple(str(number + 1) for number in range(len(columns)))
    table = Table(source, numbers, tuple(columns), lines, has_header=False, options=options)
    header = (is_header or names_columns)(table) if options.header is None else options.header
    return table.with_header() if header else table


def names_columns(table: Table) -> bool:
    """Whether the first row of a table has no number in it, or the names 0, 1, 2, ... that pandas gives to columns."""
    first = table.first_row()
    numbers = [cell for cell in first if is_number(cell, table.options.decimal)]
    square = len(first) == table.n_rows  # distances of points on a line also begin with 0, 1, 2, ...
    counted = len(numbers) >= NUMBERED and numbers == [str(number) for number in range(len(numbers))]
    return not numbers or (counted and not square)


def _column_names(path: DataFile, header: list[str]) -> tuple[str, ...]:
    names = [name.strip() or f"column {number}" for number, name in enumerate(header, 1)]
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise InputError(f"{path} has two columns named {twice!r}; rename one of them.")
    return tuple(names)


def _advice(leave: str, names: list[str], suggest: Collection[str], *, encode: bool = False) -> str:
    """What to do about columns that do not belong."""
    if "drop" not in suggest:
        return ""
    one = len(names) == 1
    together = shlex.quote(",".join(names))
    text = (
        f"{leave} {'the column' if one else 'these columns'} out: --drop {together}; or, if {'it' if one else 'one'} names "
        f"the rows: --id {shlex.quote(names[0])}"
    )
    if encode and "encode" in suggest:
        text += f"; or, for categories, make a column of 0 and 1 of each value: --encode {together}"
    if encode and "text" in suggest:
        text += f"; or, to cluster by what {'it says' if one else 'they say'}: --text {together}"
    return text
