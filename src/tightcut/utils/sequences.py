"""`RowSequence`: base of results that are tuples of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

Row = TypeVar("Row")


class RowSequence(Sequence[Row]):
    """Base of frozen dataclasses with a field `rows`."""

    rows: tuple[Row, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[index]
