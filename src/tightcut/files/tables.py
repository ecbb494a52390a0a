"""Tables of text: CSV, TSV and Parquet as columns, with the line that each row stands on.

Plain text is split at once, the csv module reads the rest, and numpy converts whole columns; only a column that fails
is looked at cell by cell. Text costs about 60 bytes of memory per cell on the way; NPY and Parquet do not.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.files.errors import InputError, check_readable, did_you_mean, listed
from tightcut.files.plain_text import split_plain

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "nil", "?", "<na>"})
TEXT_SUFFIXES = frozenset({".csv", ".tsv", ".tab", ".txt", ".dat", ".edges", ""})
PARQUET_SUFFIXES = frozenset({".parquet", ".pq"})


@dataclass(frozen=True)
class TableOptions:
    """How to read a table of text.

    Parameters
    ----------
    header : bool, optional
        Whether the first row names the columns. None looks: it does if none of its cells is a number.
    decimal : str, default="."
        What parts a number from its decimals.
    """

    header: bool | None = None
    decimal: str = "."


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of equal length.

    Parameters
    ----------
    path : Path
    names : tuple of str
        Of the columns; "1", "2", ... where the file has no header.
    cells : tuple of list or ndarray
        One per column: text from text files, whatever the file holds otherwise.
    lines : sequence of int, optional
        Line of the file that each row ends on; None where there are no lines.
    has_header : bool
    options : TableOptions
    """

    path: Path
    names: tuple[str, ...]
    cells: tuple[Sequence[Any], ...]
    lines: Sequence[int] | None = None
    has_header: bool = True
    options: TableOptions = field(default_factory=TableOptions)

    @property
    def n_rows(self) -> int:
        return len(self.cells[0])

    def where(self, row: int | None = None, name: str | None = None) -> str:
        """The place of a cell, for a message."""
        place = str(self.path)
        if row is not None:
            place += f", row {row}" if self.lines is None else f", line {self.lines[row]}"
        return place if name is None else f"{place}, column {name!r}"

    def find(self, name: str, option: str) -> int:
        """Position of a column, or an error that says what columns there are."""
        if name in self.names:
            return self.names.index(name)
        kind = "columns" if self.has_header else "columns, numbered because there is no header,"
        hint = did_you_mean(name, self.names)
        if len(self.names) == 1 and " " in self.names[0]:
            hint = " Separate cells by commas, semicolons, tabs or bars."
        raise InputError(f"{self.path} has no column {name!r} ({option}); its {kind} are {listed(self.names)}.{hint}")

    def texts(self, name: str) -> list[str]:
        """A column as stripped text; missing values of typed columns are empty."""
        return [_text(cell) for cell in self.cells[self.names.index(name)]]

    def distinct(self, name: str) -> tuple[list[str], np.ndarray]:
        """The distinct texts of a column, as in `texts`, and which of them each row holds."""
        cells: Sequence[Any] = self.cells[self.names.index(name)]
        values: Iterable[Any]
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
            values, place = _distinct_numbers(cells)
        else:
            try:
                values = dict.fromkeys(cells)
            except TypeError:
                raise InputError(f"{self.path}: column {name!r} holds lists, not texts or numbers.") from None
            position = {value: row for row, value in enumerate(values)}
            place = np.fromiter(map(position.__getitem__, cells), np.int64, len(cells))
        code: dict[str, int] = {}
        codes = np.array([code.setdefault(_text(value), len(code)) for value in values], dtype=np.int64)
        return list(code), codes[place]

    def select(self, mask: np.ndarray) -> Table:
        """The rows where a mask is True."""
        rows = np.flatnonzero(mask).tolist()
        cells = tuple([column[row] for row in rows] for column in self.cells)
        return replace(self, cells=cells, lines=None if self.lines is None else [self.lines[row] for row in rows])

    def with_header(self) -> Table:
        """The same file with its first row as the names of the columns."""
        if self.n_rows == 1:
            raise InputError(f"{self.path} holds a header and no rows. If its only line is data, use --no-header.")
        names = _column_names(self.path, [column[0] for column in self.cells])
        cells = tuple(column[1:] for column in self.cells)
        return replace(
            self, names=names, cells=cells, lines=None if self.lines is None else self.lines[1:], has_header=True
        )

    def numbers(self, names: Sequence[str], *, droppable: bool = False) -> np.ndarray:
        """Columns as an array of shape (n_rows, n_columns), all finite.

        Parameters
        ----------
        droppable : bool
            Whether columns can be left out, which messages then suggest.
        """
        result = np.empty((self.n_rows, len(names)))
        textual = []
        for place, name in enumerate(names):
            converted = self._convert(name, droppable=droppable)
            if converted is None:
                textual.append(name)
            else:
                result[:, place] = converted
        if textual:
            example = next(text for text in self.texts(textual[0]) if not is_missing(text))
            one = len(textual) == 1
            raise InputError(
                f"{self.path}: {'column' if one else 'columns'} {listed(textual)} {'holds' if one else 'hold'} text "
                f"such as {example!r}, not numbers. {_advice('Leave', textual) if droppable else ''}".rstrip()
            )
        return result

    def _convert(self, name: str, *, droppable: bool) -> np.ndarray | None:
        """A column as finite numbers; None if no cell is a number; an error if some are."""
        cells = self.cells[self.names.index(name)]
        try:
            values = np.asarray(_points_for_commas(cells, self.options.decimal), dtype=np.float64)
        except (TypeError, ValueError):
            values = np.array([_number(cell, self.options.decimal) for cell in cells])
        bad = ~np.isfinite(values)
        if not bad.any():
            return values
        texts = self.texts(name)
        wrong = [row for row in np.flatnonzero(bad).tolist() if not is_missing(texts[row])]
        n_present = len(values) - sum(map(is_missing, texts))
        if wrong and len(wrong) == n_present and not any(_is_nearly_a_number(texts[row]) for row in wrong):
            return None
        row = wrong[0] if wrong else int(np.argmax(bad))
        message = f"{self.where(row, name)}: {_complaint(texts[row])}"
        if row == 0 and len(wrong) == 1 and not self.has_header and self.lines is not None:
            message += " If this line names the columns, use --header."
        raise InputError(f"{message} {_advice('Or leave', [name])}" if droppable else message)


def read_table(path: Path, options: TableOptions | None = None) -> Table:
    r"""Read CSV, TSV or Parquet. Text may be separated by commas, semicolons, tabs or bars: the first line decides.

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
    check_readable(path)
    suffix = path.suffix.lower()
    if suffix in PARQUET_SUFFIXES:
        return _read_parquet(path)
    if suffix not in TEXT_SUFFIXES:
        raise InputError(f"{path}: {suffix} is no kind of table that tightcut reads; use CSV, TSV or Parquet.")
    return _read_text(path, options or TableOptions())


def is_missing(text: str) -> bool:
    return text.strip().lower() in MISSING


def is_number(text: str, decimal: str = ".") -> bool:
    return _number(text, decimal) == _number(text, decimal)


def decode(path: Path) -> str:
    """The text of a file: UTF-8 with or without a byte-order mark, or UTF-16 with one."""
    content = path.read_bytes()
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8 text. Save the file as UTF-8 "
            '(in Excel: "CSV UTF-8"), or is it not a text file?'
        ) from None


def delimiter(line: str, suffix: str) -> str:
    """What parts the cells of a line, outside quotes: tab, semicolon, comma, bar, or spaces between numbers.

    Examples
    --------
    >>> from tightcut.files.tables import delimiter
    >>> delimiter('"a, b";1,5', ".csv"), delimiter("a,b", ".csv"), delimiter("1.5 2.5", ".txt")
    (';', ',', ' ')
    """
    if suffix in {".tsv", ".tab"}:
        return "\t"
    plain = "".join(line.split('"')[::2])
    for candidate in "\t;,|":
        if candidate in plain:
            return candidate
    parts = plain.split()
    return " " if len(parts) > 1 and all(map(is_number, parts)) else ","


def _read_text(path: Path, options: TableOptions) -> Table:
    text = decode(path)
    first = next((line for line in io.StringIO(text, newline=None) if line.strip()), None)
    if first is None:
        raise InputError(f"{path} holds nothing but blank lines.")
    separator = delimiter(first, path.suffix.lower())
    columns = split_plain(text, separator)
    lines: Sequence[int]
    if columns is not None:
        lines = range(1, len(columns[0]) + 1)
    else:
        rows, lines = _read_rows(path, text, separator)
        _check_even(path, rows, lines, separator)
        columns = list(map(list, zip(*rows, strict=True)))
    if len(columns) > 1 and not any(cell.strip() for cell in columns[-1]):
        columns.pop()  # a separator at the end of every line
    header = options.header
    if header is None:
        header = not any(is_number(column[0], options.decimal) for column in columns)
    names = tuple(str(number + 1) for number in range(len(columns)))
    table = Table(path, names, tuple(columns), lines, has_header=False, options=options)
    return table.with_header() if header else table


def _read_rows(path: Path, text: str, separator: str) -> tuple[list[list[str]], list[int]]:
    """The rows that are not blank, and the line that each ends on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    rows, lines = [], []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append([cell for cell in row if cell] if separator == " " else row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}.") from None
    return rows, lines


def _check_even(path: Path, rows: list[list[str]], lines: Sequence[int], separator: str) -> None:
    width = len(rows[0])
    uneven = next((number for number, row in enumerate(rows) if len(row) != width), None)
    if uneven is None:
        return
    hint = "Quote cells that contain the separator." if len(rows[uneven]) > width else "Is a cell or a line cut off?"
    if uneven == 1 and all(len(row) == width + 1 for row in rows[1:]):
        hint = "If the first cell of each row is its name, give the header a name for it, too."
    name = {"\t": "tabs", " ": "spaces"}.get(separator, repr(separator))
    raise InputError(
        f"{path}, line {lines[uneven]}: {_cells(len(rows[uneven]))} where line {lines[0]} has {width} "
        f"(separated by {name}). {hint}"
    )


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _column_names(path: Path, header: list[str]) -> tuple[str, ...]:
    names = [name.strip() or f"column {number}" for number, name in enumerate(header, 1)]
    twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if twice is not None:
        raise InputError(f"{path} has two columns named {twice!r}; rename one of them.")
    return tuple(names)


def _read_parquet(path: Path) -> Table:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise InputError(f'{path}: reading Parquet needs pyarrow: pip install "tightcut[frames]"') from None
    try:
        table = parquet.read_table(path)
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} is not a Parquet file: {str(error).splitlines()[0]}") from None
    if table.num_rows == 0 or table.num_columns == 0:
        raise InputError(f"{path} holds no rows.")
    cells = tuple(column.to_numpy(zero_copy_only=False) for column in table.columns)
    return Table(path, _column_names(path, table.column_names), cells)


def _distinct_numbers(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted distinct values and the place of each cell among them; row numbers are counted and not sorted."""
    if cells.dtype.kind not in "iu" or cells.min() < 0 or cells.max() > 4 * len(cells):
        return np.unique(cells, return_inverse=True)
    cells = cells.astype(np.int64)
    present = np.bincount(cells) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[cells]


def _text(cell: Any) -> str:
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return str(cell).strip()


def _points_for_commas(cells: Sequence[Any], decimal: str) -> Sequence[Any]:
    return cells if decimal == "." or isinstance(cells, np.ndarray) else [cell.replace(decimal, ".") for cell in cells]


def _number(cell: Any, decimal: str) -> float:
    """The value of a cell; NaN if it is not a number."""
    try:
        return float(cell.replace(decimal, ".") if isinstance(cell, str) else cell)
    except (TypeError, ValueError):
        return float("nan")


def _advice(leave: str, names: list[str]) -> str:
    """What to do about columns that do not belong."""
    one = len(names) == 1
    return (
        f"{leave} {'the column' if one else 'these columns'} out: --drop {shlex.quote(','.join(names))}; or, if "
        f"{'it' if one else 'one'} names the rows: --id {shlex.quote(names[0])}"
    )


def _complaint(text: str) -> str:
    if is_missing(text):
        shown = "the cell is empty" if not text else f"{text!r} means a missing value"
        return f"{shown}; every value is needed. Fill it in or remove the row."
    if _is_infinite(text):
        return f"{text!r} is not a finite number."
    if _decimal_comma(text):
        return f'{text!r} has a comma where a number has its decimal point. Use --decimal "," if all have.'
    return f"{text!r} is not a number. Correct the cell."


def _is_nearly_a_number(text: str) -> bool:
    return _is_infinite(text) or _decimal_comma(text)


def _is_infinite(text: str) -> bool:
    return text.strip().lower().lstrip("+-") in {"inf", "infinity"}


def _decimal_comma(text: str) -> bool:
    return text.count(",") == 1 and is_number(text, ",")
