"""Records by number: ids of any table, whole numbers or texts, in one order that does not depend on the rows.

Numbers are sorted by value, and so are texts that all spell whole numbers; other texts alphabetically. Files of text
do not say which of the two a column holds: their ids are numbers if those of the other tables are, and, where all tables
are such files, if all of their ids spell whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from tightcut.files import InputError
from tightcut.files.cells import as_text
from tightcut.problem.sources import is_none
from tightcut.resolution.keys import distinct_places
from tightcut.resolution.tables import Source

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # as Python prints it, and within 64 bits


@dataclass(frozen=True, eq=False)
class IdColumn:
    """A column of ids: int64 values, or a list of texts.

    Parameters
    ----------
    values : ndarray or list of str
    loose : bool
        Whether these texts may be numbers; see above.
    where : callable
        From a row to its place, for messages.
    """

    values: np.ndarray | list[str]
    loose: bool
    where: Callable[[int], str]

    @property
    def is_text(self) -> bool:
        return isinstance(self.values, list)


def id_column(source: Source, column: str) -> IdColumn:
    """Read and check a column of ids."""

    def where(row: int) -> str:
        return f"{source.where(row)}, column {column!r}"

    cells = source.cells(column)
    if source.loose:
        texts = [as_text(cell) for cell in cells]
        _refuse(texts, lambda text: text == "", where, "the id is missing; every row needs two.")
        return IdColumn(texts, True, where)
    if cells.dtype.kind in "iu":
        if cells.dtype == np.uint64 and len(cells) and cells.max() > np.iinfo(np.int64).max:
            raise InputError(f"{source.name}, column {column!r}: ids above 2^63 do not fit; convert them to text.")
        return IdColumn(cells.astype(np.int64), False, where)
    values = cells.tolist()
    kinds = set(map(type, values))
    if kinds <= {str}:
        _refuse(values, lambda text: not text.strip(), where, "the id is missing; every row needs two.")
        return IdColumn(values, False, where)
    _refuse(values, is_none, where, "the id is missing; every row needs two.")
    if kinds <= {int, float} and all(isinstance(value, int) or value.is_integer() for value in values):
        _refuse(values, lambda value: abs(value) >= 2**63, where, "does not fit into 64 bits; convert the ids to text.")
        return IdColumn(np.array(list(map(int, values)), dtype=np.int64), False, where)
    _refuse(values, lambda value: type(value) not in (int, str), where, "is not an id; use whole numbers or texts.")
    raise InputError(f"{source.name}, column {column!r}: ids are all whole numbers or all texts, not both.")


def _refuse(values: list[Any], bad: Callable[[Any], bool], where: Callable[[int], str], reason: str) -> None:
    row = next((row for row, value in enumerate(values) if bad(value)), None)
    if row is not None:
        shown = "" if reason.startswith("the id") else f"{values[row]!r} "
        raise InputError(f"{where(row)}: {shown}{reason}")


def number_ids(columns: list[IdColumn]) -> tuple[np.ndarray, list[np.ndarray]]:
    """All distinct ids in order, and each column as positions among them."""
    columns = _of_one_kind(columns)
    if columns and not columns[0].is_text:
        ids, codes = distinct_places(np.concatenate([column.values for column in columns]))
    else:
        known = dict.fromkeys(chain.from_iterable(column.values for column in columns))
        texts = sorted(known, key=int) if all(map(WHOLE.fullmatch, known)) else sorted(known)
        position = {text: code for code, text in enumerate(texts)}
        found = [
            np.fromiter(map(position.__getitem__, column.values), np.int64, len(column.values)) for column in columns
        ]
        ids, codes = np.array(texts, dtype=object), np.concatenate([np.empty(0, np.int64), *found])
    ends = np.cumsum([len(column.values) for column in columns])[:-1]
    return ids, np.split(codes, ends) if columns else []


def _of_one_kind(columns: list[IdColumn]) -> list[IdColumn]:
    """All columns as numbers or all as texts."""
    filled = [column for column in columns if len(column.values)]
    typed = [column for column in filled if not column.loose]
    if typed and any(column.is_text != typed[0].is_text for column in typed):
        one = next(column for column in typed if column.is_text)
        other = next(column for column in typed if not column.is_text)
        raise InputError(
            f"{one.where(0)}: the id {one.values[0]!r} is text, but {other.where(0)} holds the whole number "
            f"{int(other.values[0])}. Convert one of the two, so that the same record has the same id everywhere."
        )
    if typed:
        whole = not typed[0].is_text
    else:
        whole = all(map(WHOLE.fullmatch, chain.from_iterable(column.values for column in filled)))
    return [_whole(column) if whole else _text(column) for column in columns]


def _text(column: IdColumn) -> IdColumn:
    return column if column.is_text else IdColumn([], column.loose, column.where)  # without rows, or it would be text


def _whole(column: IdColumn) -> IdColumn:
    if not column.is_text:
        return column
    wrong = next((row for row, text in enumerate(column.values) if not WHOLE.fullmatch(text)), None)
    if wrong is not None:
        raise InputError(
            f"{column.where(wrong)}: {column.values[wrong]!r} is not a whole number, and the other ids are."
        )
    return IdColumn(np.array(list(map(int, column.values)), dtype=np.int64), False, column.where)
