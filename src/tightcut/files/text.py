"""Tables of text as columns of cells, with the line that each row ends on.

Plain text is split at once, several times as fast as by the csv module, which reads the rest: rows as lists of cells keep
Python's garbage collector busy with every one of a million rows; one list of all cells does not. Text costs about 60
bytes of memory per cell.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import chain, islice

import numpy as np

from tightcut.files.cells import is_number
from tightcut.files.errors import InputError
from tightcut.files.sources import DataFile
from tightcut.utils.display import count_noun


def read_columns(source: DataFile) -> tuple[list[list[str]], Sequence[int]]:
    """The columns of a text file, header and all, and the line that each row ends on."""
    text = decode(source)
    first, second = islice(chain((line for line in io.StringIO(text, newline=None) if line.strip()), ("", "")), 2)
    if not first:
        raise InputError(f"{source} contains only blank lines.")
    separator = delimiter(first, source.suffix, second)
    lines: Sequence[int]
    columns = split_plain(text, separator)
    if columns is not None:
        lines = range(1, len(columns[0]) + 1)
    else:
        rows, lines = read_rows(source, text, separator)
        _check_even(source, rows, lines, separator)
        columns = list(map(list, zip(*rows, strict=True)))
    if len(columns) > 1 and not any(cell.strip() for cell in columns[-1]):
        columns.pop()  # a separator at the end of every line
    return columns, lines


def decode(source: DataFile) -> str:
    """The text of a file: UTF-8 with or without a byte-order mark, or UTF-16 with one."""
    content = source.read_bytes()
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{source}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8 text. Save the file as UTF-8 "
            '(in Excel: "CSV UTF-8"), or is it not a text file?'
        ) from None


def delimiter(line: str, suffix: str, following: str = "") -> str:
    """What separates the cells of a line, outside quotes: tab, semicolon, comma, bar, or spaces.

    Spaces do between numbers, and in a header if the line that follows has as many parts and ends with a number.

    Examples
    --------
    >>> from tightcut.files.text import delimiter
    >>> delimiter('"a, b";1,5', ".csv"), delimiter("a,b", ".csv"), delimiter("1.5 2.5", ".txt")
    (';', ',', ' ')
    >>> delimiter("name x", ".txt", "ann 1.5"), delimiter("full name", ".txt", "Ann Lee")
    (' ', ',')
    """
    if suffix in {".tsv", ".tab"}:
        return "\t"
    plain = "".join(line.split('"')[::2])
    for candidate in "\t;,|":
        if candidate in plain:
            return candidate
    parts, others = plain.split(), following.split()
    if len(parts) < 2:
        return ","
    ends_with_number = len(others) == len(parts) and is_number(others[-1])
    return " " if ends_with_number or all(map(is_number, parts)) else ","


def split_plain(text: str, separator: str) -> list[list[str]] | None:
    r"""The columns of a table, or None if it is not plain.

    Plain is ASCII with no quotes, no white space within or around cells, no blank rows, and as many cells in each row.

    Examples
    --------
    >>> from tightcut.files.text import split_plain
    >>> split_plain("ann,1\nbob,2\n", ",")
    [['ann', 'bob'], ['1', '2']]
    >>> split_plain("ann,1\nbob\n", ",") is None
    True
    """
    text = text.replace("\r\n", "\n").removesuffix("\n")
    if separator == " " or not text.isascii() or '"' in text:
        return None
    symbols = np.frombuffer(f"{text}\n".encode(), np.uint8)
    is_mark = (symbols == ord(separator)) | (symbols == ord("\n"))
    if ((symbols <= ord(" ")) & ~is_mark).any():
        return None
    places = np.flatnonzero(is_mark)
    width = text.partition("\n")[0].count(separator) + 1
    if len(places) % width:
        return None
    ends_row = (symbols[places] == ord("\n")).reshape(-1, width)
    # A row as long as its marks alone has only empty cells: the csv module's way of skipping it decides.
    lengths = np.diff(places[width - 1 :: width], prepend=-1)
    if ends_row[:, :-1].any() or not ends_row[:, -1].all() or lengths.min() <= width:
        return None
    cells = text.replace("\n", separator).split(separator)
    return [cells[column::width] for column in range(width)]


def read_rows(source: DataFile, text: str, separator: str) -> tuple[list[list[str]], list[int]]:
    """The rows with at least one cell that is not blank, and the line that each ends on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    rows, lines = [], []
    limit = csv.field_size_limit(max(len(text), csv.field_size_limit()))  # a cell may be a whole document
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append([cell for cell in row if cell] if separator == " " else row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"{source}, line {reader.line_num}: {error}.") from None
    finally:
        csv.field_size_limit(limit)
    if not rows:
        raise InputError(f"{source} contains only empty cells.")
    return rows, lines


def _check_even(source: DataFile, rows: list[list[str]], lines: Sequence[int], separator: str) -> None:
    width = len(rows[0])
    uneven = next((number for number, row in enumerate(rows) if len(row) != width), None)
    if uneven is None:
        return
    count = len(rows[uneven])
    hint = "Quote cells that contain the separator." if count > width else "Is a cell or a line cut off?"
    if uneven == 1 and all(len(row) == width + 1 for row in rows[1:]):
        hint = "If the first cell of each row is its name, give the header a name for it, too."
    name = {"\t": "tabs", " ": "spaces"}.get(separator, repr(separator))
    raise InputError(
        f"{source}, line {lines[uneven]}: {count_noun(count, 'cell')} where line {lines[0]} has {width} "
        f"(separated by {name}). {hint}"
    )
