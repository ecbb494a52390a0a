"""Number the ids of records (whole numbers or texts) in an order that does not depend on the order of rows.

Numbers are sorted by value, and so are texts that all spell whole numbers; other texts are sorted alphabetically. A text
file does not say which of the two a column contains: its ids are numbers if those of other tables are or, if all tables
are text files, if all ids spell whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from tightcut.files import InputError
from tightcut.problem.sources import is_none
from tightcut.resolution.tables import TableView
from tightcut.utils.codes import distinct_places, factorize

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # as Python prints it, and within 64 bits
MISSING = "the id is missing; every row needs two."


@dataclass(frozen=True, eq=False)
class IdColumn:
    """A column of ids: int64 values, or a list of texts.

    Parameters
    ----------
    values : ndarray or list of str
    loose : bool
        Whether these texts may be numbers; see above.
    where : callable
        The place of a row, for messages.
    """

    values: np.ndarray | list[str]
    loose: bool
    where: Callable[[int], str]

    @property
    def is_text(self) -> bool:
        return isinstance(self.values, list)

    def to_numbers(self) -> np.ndarray:
        """The ids as int64; an error names the first that is no whole number."""
        if isinstance(self.values, np.ndarray):
            return self.values
        wrong = next((row for row, text in enumerate(self.values) if not WHOLE.fullmatch(text)), None)
        if wrong is not None:
            raise InputError(
                f"{self.where(wrong)}: {self.values[wrong]!r} is not a whole number, and the other ids are."
            )
        return np.array(list(map(int, self.values)), dtype=np.int64)


def read_ids(view: TableView, column: str) -> IdColumn:
    """Read and check a column of ids."""

    def where(row: int) -> str:
        return view.where(row, column)

    def refuse(bad: Callable[[Any], bool], reason: str) -> None:
        row = next((row for row, value in enumerate(values) if bad(value)), None)
        if row is not None:
            raise InputError(f"{where(row)}: {reason.format(value=values[row])}")

    cells = view.column(column)
    if cells.dtype.kind in "iu":
        if cells.dtype == np.uint64 and len(cells) and cells.max() > np.iinfo(np.int64).max:
            raise InputError(f"{view.where(name=column)}: ids above 2^63 do not fit; convert them to text.")
        return IdColumn(cells.astype(np.int64), False, where)
    values: list[Any] = view.texts(column) if view.loose else cells.tolist()
    kinds = set(map(type, values))
    if kinds <= {str}:
        if not all(map(str.strip, values)):
            refuse(lambda text: not text.strip(), MISSING)
        return IdColumn(values, view.loose, where)
    refuse(is_none, MISSING)
    if kinds <= {int, float} and all(isinstance(value, int) or value.is_integer() for value in values):
        refuse(lambda value: abs(value) >= 2**63, "{value!r} does not fit into 64 bits; convert the ids to text.")
        return IdColumn(np.array(list(map(int, values)), dtype=np.int64), False, where)
    refuse(lambda value: type(value) not in (int, str), "{value!r} is not an id; use whole numbers or texts.")
    raise InputError(f"{view.where(name=column)}: ids are all whole numbers or all texts, not both.")


def number_ids(columns: Mapping[str, Sequence[IdColumn]]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """All distinct ids, sorted, and the columns of each table, one row each, as positions among them."""
    every = list(chain.from_iterable(columns.values()))
    typed = [column for column in every if len(column.values) and not column.loose]
    text = next((column for column in typed if column.is_text), None)
    number = next((column for column in typed if not column.is_text), None)
    if text is not None and number is not None:
        raise InputError(
            f"{text.where(0)}: the id {text.values[0]!r} is text, but {number.where(0)} holds the whole number "
            f"{int(number.values[0])}. Convert one of the two: a record needs the same id everywhere."
        )
    if number is not None:
        ids, codes = distinct_places(np.concatenate([column.to_numbers() for column in every]))
    else:
        texts, places = factorize(list(chain.from_iterable(column.values for column in every)))
        whole = all(map(WHOLE.fullmatch, texts))
        values: list[Any] = list(map(int, texts)) if whole else texts
        order = sorted(range(len(texts)), key=values.__getitem__)
        codes = np.argsort(order)[places]
        ids = np.array(values, np.int64)[order] if whole and text is None else np.array(texts, object)[order]
    parts = iter(np.split(codes, np.cumsum([len(column.values) for column in every])[:-1]))
    return ids, {name: np.stack([next(parts) for _ in several]) for name, several in columns.items()}
