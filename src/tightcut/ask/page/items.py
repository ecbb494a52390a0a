"""What a person sees of a row: a picture, a text, the fields of a table, or at least a name."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any

import numpy as np

from tightcut.drawing.pictures import Pictures

Pieces = list[tuple[str, bool]]

MOST_COMPARED = 1_000  # characters of a text that is compared character by character
TEXT_SHOWN = 20_000  # characters
LARGEST_WRITTEN_OUT = 1e15  # numbers above it are shown as powers of ten


@dataclass(frozen=True, eq=False)
class Things:
    """What is shown of the rows of some data.

    Parameters
    ----------
    names : sequence of str
        An identifier for each row, as tables to download have it. Where they only count the rows, a person sees "row 3".
    texts : sequence of str, optional
        A longer text for each row.
    fields : mapping from str to sequence
        Columns of a table, shown as name and value.
    pictures : Pictures, optional
    noun : str, optional
        What a row is called: "flower", or "person/people" where the plural takes more than an s. By default a picture, a
        text or a row, as it is shown.

    Examples
    --------
    >>> things = Things(["ann", "bob"], fields={"age": [31, 30], "town": ["Ulm", "Bonn"]})
    >>> things.describe(0)
    {'row': 0, 'name': 'ann', 'fields': [['age', '31'], ['town', 'Ulm']]}
    >>> things.differences(0, 1)[0]
    ([('3', False), ('1', True)], [('3', False), ('0', True)])
    """

    names: Sequence[str]
    texts: Sequence[str] | None = None
    fields: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    pictures: Pictures | None = None
    noun: str = ""

    @classmethod
    def numbered(cls, n: int) -> Things:
        """Nothing but row numbers."""
        return cls([str(row) for row in range(n)])

    def __len__(self) -> int:
        return len(self.names)

    def describe(self, row: int, address: Callable[[int], str] | None = None) -> dict[str, Any]:
        """A row for the page; `address` says where its picture is found."""
        name = f"row {row}" if self._only_numbered else str(self.names[row])
        shown: dict[str, Any] = {"row": row, "name": name}
        if self.texts is not None:
            shown["text"] = str(self.texts[row])[:TEXT_SHOWN]
        if self.fields:
            shown["fields"] = [[name, as_shown(column[row])] for name, column in self.fields.items()]
        if address is not None and self.pictures is not None and self.pictures.has(row):
            shown["image"] = address(row)
        return shown

    @property
    def nouns(self) -> tuple[str, str]:
        """What one row is called, and several."""
        shown_as = "picture" if self.pictures is not None else "text" if self.texts is not None else "row"
        one, _, several = (self.noun or shown_as).partition("/")
        return one, several or f"{one}s"

    def differences(self, first: int, second: int) -> dict[int, tuple[Pieces, Pieces]]:
        """Of the fields that are shown differently for two rows, by position, the pieces of both."""
        shown = [(as_shown(column[first]), as_shown(column[second])) for column in self.fields.values()]
        return {place: pieces(one, other) for place, (one, other) in enumerate(shown) if one != other}

    @cached_property
    def _only_numbered(self) -> bool:
        return all(str(name) == str(row) for row, name in enumerate(self.names))


def pieces(one: str, other: str) -> tuple[Pieces, Pieces]:
    """Two texts cut into pieces, each with whether the other text has something else in its place.

    Examples
    --------
    >>> pieces("Anna", "Hanna")
    ([('A', True), ('nna', False)], [('Ha', True), ('nna', False)])
    """
    if max(len(one), len(other)) > MOST_COMPARED:
        return [(one, True)], [(other, True)]
    cuts = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    first = [(one[start:end], kind != "equal") for kind, start, end, _, _ in cuts if start < end]
    second = [(other[start:end], kind != "equal") for kind, _, _, start, end in cuts if start < end]
    return first, second


def as_shown(value: Any) -> str:
    """A cell as text; numbers with the digits that matter."""
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_, numbers.Integral)):
        text = f"{float(value):.6g}"
        return f"{float(value):.0f}" if "e+" in text and abs(float(value)) < LARGEST_WRITTEN_OUT else text
    return str(value)[:TEXT_SHOWN]
