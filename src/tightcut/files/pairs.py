"""Judgements on pairs: who belongs with whom, and who does not, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tightcut.constraint_sources import CANNOT_SPELLINGS, MUST_SPELLINGS, _spelling
from tightcut.constraints import Constraints
from tightcut.files.errors import InputError, listed
from tightcut.files.tables import Table, TableOptions, is_missing, read_table

TYPE_NAMES = ("type", "kind", "link", "constraint")
BELIEF_NAMES = ("belief", "confidence", "weight")


@dataclass(frozen=True, eq=False)
class Judgements:
    """The pairs of a file, in its order, as names of points.

    Parameters
    ----------
    table : Table
        Where they come from; for messages.
    first, second : list of str
    must : ndarray of bool
        True for must-links, False for cannot-links.
    belief : ndarray of shape (m,)
        In (0, 1].
    """

    table: Table
    first: list[str]
    second: list[str]
    must: np.ndarray
    belief: np.ndarray

    @property
    def path(self) -> Path:
        return self.table.path

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def names(self) -> list[str]:
        """Every point that is named, in order of appearance."""
        return list(dict.fromkeys(name for pair in zip(self.first, self.second, strict=True) for name in pair))

    def unknown(self, known: Mapping[str, int]) -> dict[str, str]:
        """Names that are not known, and where each stands first."""
        places: dict[str, str] = {}
        for row, pair in enumerate(zip(self.first, self.second, strict=True)):
            for name, column in zip(pair, self.table.names, strict=False):
                if name not in known:
                    places.setdefault(name, self.table.where(row, column))
        return places

    def self_pairs(self) -> list[int]:
        return [row for row, (a, b) in enumerate(zip(self.first, self.second, strict=True)) if a == b]

    def repeated(self) -> list[list[int]]:
        """Rows that say the same of the same pair, in either order; each list has two or more."""
        rows: dict[tuple[str, str, bool], list[int]] = {}
        for row, (a, b, must) in enumerate(zip(self.first, self.second, self.must.tolist(), strict=True)):
            rows.setdefault((min(a, b), max(a, b), must), []).append(row)
        return [group for group in rows.values() if len(group) > 1]

    def constraints(self, ids: Sequence[str], source: str = "the data") -> Constraints:
        """The pairs as row numbers of `ids`; an error if one is unknown or paired with itself."""
        position = {identifier: row for row, identifier in enumerate(ids)}
        places = self.unknown(position)
        if places:
            raise InputError(self._unknown_message(places, ids, source))
        own = self.self_pairs()
        if own:
            raise InputError(
                f"{self.table.where(own[0])}: {self.first[own[0]]!r} is paired with itself; remove the line."
            )
        pairs = np.array([[position[a], position[b]] for a, b in zip(self.first, self.second, strict=True)])
        must = self.must
        return Constraints.from_pairs(len(position), pairs[must], pairs[~must], self.belief[must], self.belief[~must])

    def places(self, ids: Sequence[str]) -> dict[tuple[str, int, int], str]:
        """Where each link stands in the file, by kind and row numbers (smaller first)."""
        position = {identifier: row for row, identifier in enumerate(ids)}
        found: dict[tuple[str, int, int], str] = {}
        for row, (a, b, must) in enumerate(zip(self.first, self.second, self.must.tolist(), strict=True)):
            i, j = sorted((position[a], position[b]))
            found.setdefault(("must" if must else "cannot", i, j), self.table.where(row))
        return found

    def _unknown_message(self, places: dict[str, str], ids: Sequence[str], source: str) -> str:
        name, place = next(iter(places.items()))
        more = "" if len(places) == 1 else f" {len(places)} such names in all: {listed(places, 6)}."
        numbered = list(ids) == [str(row) for row in range(len(ids))]
        if not numbered:
            known = f"an identifier of {source} (they look like {listed(ids[:2])})"
            return f"{place}: {name!r} is not {known}.{more}"
        text = f"{place}: {name!r} is not a row of {source}, which are numbered 0 to {len(ids) - 1}.{more}"
        if all(other.isdecimal() for other in self.names):
            values = list(map(int, self.names))
            return text + (
                " Do yours start at 1? Then subtract 1." if min(values) >= 1 and max(values) == len(ids) else ""
            )
        return text + " If a column holds the names, say which: --id COLUMN."


def read_pairs(path: Path) -> Judgements:
    r"""Read a table of pairs: two columns of names, a `type` and perhaps a `belief`.

    Without a header the columns are first, second, type, belief, in this order.

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
    table = read_table(path, TableOptions(header=False))
    if table.lines is not None and _has_header(table):
        table = read_table(path, TableOptions(header=True))
    first, second, kind, belief = _roles(table)
    ends = [table.texts(first), table.texts(second)]
    for name, column in zip((first, second), ends, strict=True):
        if "" in column:
            raise InputError(f"{table.where(column.index(''), name)}: the name of a point is missing.")
    must = _is_must(table, kind)
    beliefs = np.ones(table.n_rows) if belief is None else _beliefs(table, belief)
    # Names first, in this order, so that messages find their columns.
    names = (first, second, kind)
    ordered = Table(path, names, tuple(table.cells[table.names.index(name)] for name in names), table.lines)
    return Judgements(ordered, ends[0], ends[1], must, beliefs)


def _has_header(table: Table) -> bool:
    first = [str(column[0]).strip().lower() for column in table.cells]
    if any(name in first for name in TYPE_NAMES):
        return True
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
    lower = {name.lower(): name for name in table.names}
    kind = next((lower[name] for name in TYPE_NAMES if name in lower), None)
    if kind is None:
        raise InputError(
            f"{table.path} has no column named type; its columns are {listed(table.names)}. Name the column that says "
            "must or cannot: type"
        )
    belief = next((lower[name] for name in BELIEF_NAMES if name in lower), None)
    ends = [name for name in table.names if name not in (kind, belief)]
    if len(ends) < 2:
        raise InputError(f"{table.path} needs two columns of names beside {kind!r}; it has {listed(ends)}.")
    return ends[0], ends[1], kind, belief


def _is_must(table: Table, column: str) -> np.ndarray:
    kinds = table.texts(column)
    meaning = {kind: _spelling(kind) for kind in Counter(kinds)}
    for kind, spelling in meaning.items():
        if spelling not in MUST_SPELLINGS and spelling not in CANNOT_SPELLINGS:
            said = "the type is missing" if is_missing(kind) else f"{kind!r} is neither a must-link nor a cannot-link"
            raise InputError(
                f"{table.where(kinds.index(kind), column)}: {said}. Write must (or same, ml, 1) or cannot (or different, "
                "cl, 0, -1)."
            )
    return np.array([meaning[kind] in MUST_SPELLINGS for kind in kinds])


def _beliefs(table: Table, column: str) -> np.ndarray:
    beliefs = table.numbers([column])[:, 0]
    bad = ~((beliefs > 0) & (beliefs <= 1))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{table.where(row, column)}: {beliefs[row]:g} is not a belief, which is above 0 and at most 1. Remove pairs "
            "that you do not believe at all."
        )
    return beliefs
