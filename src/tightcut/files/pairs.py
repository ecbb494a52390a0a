"""Pairs from a file: which points belong together and which do not, line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tightcut.files.cells import is_missing, is_whole
from tightcut.files.errors import InputError, listed
from tightcut.files.sources import DataFile
from tightcut.files.tables import Table, TableOptions, read_table
from tightcut.problem import Constraints
from tightcut.problem.pairs import pair_keys
from tightcut.problem.sources import CANNOT_SPELLINGS, MUST_SPELLINGS, _spelling
from tightcut.utils.codes import first_places

TYPE_NAMES = ("type", "kind", "link", "constraint")
NUMBERS = frozenset({"0", "1", "+1", "-1", "true", "false"})  # spellings that are values of a column named must, say
WORDS = (MUST_SPELLINGS | CANNOT_SPELLINGS) - NUMBERS
BELIEF_NAMES = ("belief", "confidence", "weight")


@dataclass(frozen=True, eq=False)
class Judgements:
    """The pairs of a file, in its order, as names of points.

    Parameters
    ----------
    table : Table
        Where they come from; for messages.
    names : list of str
        Points in order of appearance in the file: all those of these pairs, and perhaps more.
    ends : int64 ndarray of shape (m, 2)
        The two points of each pair, as positions in `names`.
    must : ndarray of bool
        True for must-links, False for cannot-links.
    belief : ndarray of shape (m,)
        In (0, 1].
    """

    table: Table
    names: list[str]
    ends: np.ndarray
    must: np.ndarray
    belief: np.ndarray

    @property
    def path(self) -> DataFile:
        return self.table.path

    def __len__(self) -> int:
        return len(self.ends)

    def pair(self, row: int) -> tuple[str, str]:
        """The names of a pair."""
        first, second = self.ends[row].tolist()
        return self.names[first], self.names[second]

    def unknown(self, known: Mapping[str, int]) -> dict[str, str]:
        """Names that are not known, and where each stands first."""
        strange = {name: code for code, name in enumerate(self.names) if name not in known}
        if not strange:
            return {}
        cell = first_places(self.ends.ravel(), len(self.names))
        place = {name: divmod(int(cell[code]), 2) for name, code in strange.items() if cell[code] < self.ends.size}
        return {name: self.table.where(row, self.table.names[side]) for name, (row, side) in place.items()}

    def self_pairs(self) -> list[int]:
        return np.flatnonzero(self.ends[:, 0] == self.ends[:, 1]).tolist()

    def repeated(self) -> list[list[int]]:
        """Rows that say the same of the same pair, in either order; each list has two or more."""
        keys = 2 * pair_keys(self.ends, len(self.names)) + self.must
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        ends = np.append(starts[1:], len(keys))
        several = ends - starts > 1
        runs = zip(starts[several].tolist(), ends[several].tolist(), strict=True)
        return sorted(order[start:end].tolist() for start, end in runs)

    def select(self, mask: np.ndarray) -> Judgements:
        """The rows where a mask is True."""
        if mask.all():
            return self
        kept = {name: getattr(self, name)[mask] for name in ("ends", "must", "belief")}
        return replace(self, table=self.table.select(mask), **kept)

    def rows(self, known: Mapping[str, int]) -> np.ndarray:
        """The pairs as row numbers of the data; -1 for names that are not known."""
        return np.array([known.get(name, -1) for name in self.names], dtype=np.int64)[self.ends]

    def constraints(self, ids: Sequence[str], source: str = "the data") -> Constraints:
        """The pairs as row numbers of `ids`; an error if one is unknown or paired with itself."""
        position = {identifier: row for row, identifier in enumerate(ids)}
        places = self.unknown(position)
        if places:
            raise InputError(self._unknown_message(places, ids, source))
        own = self.self_pairs()
        if own:
            raise InputError(
                f"{self.table.where(own[0])}: {self.pair(own[0])[0]!r} is paired with itself; remove the line."
            )
        pairs, must = self.rows(position), self.must
        return Constraints.from_pairs(len(position), pairs[must], pairs[~must], self.belief[must], self.belief[~must])

    def places(self, ids: Sequence[str]) -> Callable[[str, int, int], str | None]:
        """A function that says where a link stands first in the file, by kind, "must" or "cannot", and rows of `ids`."""
        n = len(ids)
        keys = 2 * pair_keys(self.rows({identifier: row for row, identifier in enumerate(ids)}), n) + self.must
        order = np.argsort(keys, kind="stable")
        keys = keys[order]

        def find(kind: str, i: int, j: int) -> str | None:
            key = 2 * (min(i, j) * n + max(i, j)) + (kind == "must")
            position = int(np.searchsorted(keys, key))
            found = position < len(keys) and keys[position] == key
            return self.table.where(int(order[position])) if found else None

        return find

    def _unknown_message(self, places: dict[str, str], ids: Sequence[str], source: str) -> str:
        name, place = next(iter(places.items()))
        more = "" if len(places) == 1 else f" {len(places)} such names in all: {listed(places, 6)}."
        numbered = list(ids) == [str(row) for row in range(len(ids))]
        if not numbered:
            known = f"an identifier of {source} (they look like {listed(ids[:2])})"
            return f"{place}: {name!r} is not {known}.{more}"
        text = f"{place}: {name!r} is not a row of {source}, which are numbered 0 to {len(ids) - 1}.{more}"
        if all(map(is_whole, self.names)):
            values = list(map(int, self.names))
            return text + (
                " Do yours start at 1? Then subtract 1." if min(values) >= 1 and max(values) == len(ids) else ""
            )
        return text + " If a column holds the names, name it: --id COLUMN."


def read_pairs(path: str | Path | DataFile, decimal: str | None = None) -> Judgements:
    r"""Read a table of pairs: two columns of names, a `type` and perhaps a `belief`.

    Without a header the columns are first, second, type, belief, in this order. `decimal` separates beliefs from their
    decimals; None is a point that no option changes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tightcut.files import read_pairs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "pairs.csv")
    ...     _ = path.write_text("a,b,type\nann,bob,must\nbob,eve,different\n")
    ...     pairs = read_pairs(path)
    >>> pairs.names, pairs.must.tolist()
    (['ann', 'bob', 'eve'], [True, False])
    """
    table = read_table(path, TableOptions(decimal=decimal or "."), _names_columns)
    first, second, kind, belief = _roles(table)
    names, ends = table.ends(first, second)
    must = _is_must(table, kind)
    beliefs = (
        np.ones(table.n_rows) if belief is None else _beliefs(table, belief, () if decimal is None else ("decimal",))
    )
    # Names first, in this order, so that messages find their columns.
    named = (first, second, kind)
    ordered = Table(table.path, named, tuple(table.column(name) for name in named), table.lines)
    return Judgements(ordered, names, ends, must, beliefs)


def _names_columns(table: Table) -> bool:
    first = [cell.lower() for cell in table.first_row()]
    if any(name in first for name in TYPE_NAMES):
        return True
    if len(first) > 2 and _spelling(first[2]) in WORDS and table.n_rows > 1:
        # Words in the first line and numbers below: a header such as a,b,must_link. Does 1 mean must or cannot then?
        others = {_spelling(cell) for cell in table.cells[2][1:]}
        if others <= NUMBERS:
            raise InputError(
                f"{table.where(0)}: a column named {first[2]!r} above numbers. Write must or cannot in the column, and name it "
                "type; a first line could read: a,b,type"
            )
    return len(first) > 2 and _spelling(first[2]) not in MUST_SPELLINGS | CANNOT_SPELLINGS


def _roles(table: Table) -> tuple[str, str, str, str | None]:
    """The columns of the two ends, of the type, and of the belief if there is one."""
    if len(table.names) < 3:
        raise InputError(
            f"{table.path} has {len(table.names)} columns; pairs need three: two names and a type, must or cannot. "
            "A first line could read: a,b,type"
        )
    if not table.has_header:
        return table.names[0], table.names[1], table.names[2], table.names[3] if len(table.names) > 3 else None
    kind, belief = table.one(TYPE_NAMES), table.one(BELIEF_NAMES)
    if kind is None:
        raise InputError(
            f"{table.path} has no column named type; its columns are {listed(table.names)}. Name the column that says "
            "must or cannot: type"
        )
    ends = [name for name in table.names if name not in (kind, belief)]
    if len(ends) < 2:
        raise InputError(f"{table.path} needs two columns of names besides {kind!r}; it has {listed(ends)}.")
    return ends[0], ends[1], kind, belief


def _is_must(table: Table, column: str) -> np.ndarray:
    kinds, rows = table.distinct(column)
    spellings = list(map(_spelling, kinds))
    known = np.array([spelling in MUST_SPELLINGS or spelling in CANNOT_SPELLINGS for spelling in spellings])[rows]
    if not known.all():
        row = int(np.argmin(known))
        kind = kinds[rows[row]]
        said = "the type is missing" if is_missing(kind) else f"{kind!r} is neither a must-link nor a cannot-link"
        raise InputError(
            f"{table.where(row, column)}: {said}. Write must (or same, ml, 1) or cannot (or different, cl, 0, -1)."
        )
    return np.array([spelling in MUST_SPELLINGS for spelling in spellings])[rows]


def _beliefs(table: Table, column: str, suggest: Sequence[str]) -> np.ndarray:
    beliefs = table.numbers([column], suggest=suggest)[:, 0]
    bad = ~((beliefs > 0) & (beliefs <= 1))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{table.where(row, column)}: {beliefs[row]:g} is not a belief, which is above 0 and at most 1. Remove pairs "
            "that you do not believe at all."
        )
    return beliefs
