"""What a person sees of a row: a picture, a text, the fields of a table, or at least a name."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tightcut.drawing.pictures import Pictures

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

    Examples
    --------
    >>> things = Things(["ann", "bob"], fields={"age": [31, 30], "town": ["Ulm", "Bonn"]})
    >>> things.describe(0)
    {'row': 0, 'name': 'ann', 'fields': [['age', '31'], ['town', 'Ulm']]}
    >>> things.differing(0, 1)
    [0, 1]
    """

    names: Sequence[str]
    texts: Sequence[str] | None = None
    fields: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    pictures: Pictures | None = None

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

    def differing(self, first: int, second: int) -> list[int]:
        """Positions of the fields that are shown differently for two rows."""
        columns = enumerate(self.fields.values())
        return [position for position, column in columns if as_shown(column[first]) != as_shown(column[second])]

    @cached_property
    def _only_numbered(self) -> bool:
        return all(str(name) == str(row) for row, name in enumerate(self.names))


def as_shown(value: Any) -> str:
    """A cell as text; numbers with the digits that matter."""
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_, numbers.Integral)):
        text = f"{float(value):.6g}"
        return f"{float(value):.0f}" if "e+" in text and abs(float(value)) < LARGEST_WRITTEN_OUT else text
    return str(value)[:TEXT_SHOWN]
