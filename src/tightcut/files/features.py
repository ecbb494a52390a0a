"""From columns to points: numbers as they are, categories as columns of 0 and 1, and what to do where values are missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from tightcut.files.cells import is_missing
from tightcut.files.errors import InputError, listed
from tightcut.files.tables import SUGGESTIONS, Table
from tightcut.utils.display import counted
from tightcut.utils.validation import check_choice

MISSING = ("error", "drop", "mean")
MOST_CATEGORIES = 100


@dataclass(frozen=True, eq=False)
class Features:
    """Points of the rows that are kept, with the names of their columns.

    Parameters
    ----------
    points : ndarray of shape (n_kept, d)
    columns : tuple of str
    kept : ndarray of bool, shape (n_rows,)
    notes : tuple of str
    """

    points: np.ndarray
    columns: tuple[str, ...]
    kept: np.ndarray
    notes: tuple[str, ...]


def read_features(
    table: Table, names: Sequence[str], encode: Sequence[str], missing: str, suggest: Collection[str] = SUGGESTIONS
) -> Features:
    """The columns `names`, of which `encode` hold categories.

    Parameters
    ----------
    missing : {"error", "drop", "mean"}
        Refuse missing values, leave out the rows that have one, or fill in the mean of the column; for categories that is
        the share of each.
    suggest : collection of str
        What messages may suggest; all by default.
    """
    check_choice("missing", missing, MISSING)
    plain = [name for name in names if name not in encode]
    values = table.numbers(plain, suggest=suggest, missing=missing != "error")
    parts: dict[str, tuple[tuple[str, ...], np.ndarray]]
    parts = {name: ((name,), values[:, [place]]) for place, name in enumerate(plain)}
    parts |= {name: _indicators(table, name, allowed=missing != "error") for name in encode}
    points = np.column_stack([parts[name][1] for name in names])
    columns = tuple(column for name in names for column in parts[name][0])
    notes = [f"Column {name!r} became {len(parts[name][0])} columns of 0 and 1, one for each value." for name in encode]
    absent = np.isnan(points)
    kept = np.ones(len(points), bool)
    if absent.any():
        empty = [column for column, gone in zip(columns, absent.all(axis=0), strict=True) if gone]
        if empty:
            raise InputError(
                f"{table.path}: no row has a value in column {listed(empty)}. Leave it out: --drop {empty[0]}"
            )
        rows = int(absent.any(axis=1).sum())
        if missing == "mean":
            points = np.where(absent, np.nanmean(points, axis=0), points)
            filled = counted(int(absent.sum()), "missing value")
            notes.append(f"Filled in the mean of the column for {filled} in {counted(rows, 'row')}.")
        else:
            kept = ~absent.any(axis=1)
            points = points[kept]
            notes.append(f"Left out {rows:,} of {len(kept):,} rows, which have missing values; they get no label.")
            if not kept.any():
                raise InputError(f"{table.path}: every row has a missing value; use --missing mean.")
    return Features(points, columns, kept, tuple(notes))


def _indicators(table: Table, name: str, *, allowed: bool) -> tuple[tuple[str, ...], np.ndarray]:
    """One column of 0 and 1 for each value, NaN in rows where it is missing."""
    texts, rows = table.distinct(name)
    absent = np.array([is_missing(text) for text in texts])
    if absent[rows].any() and not allowed:
        raise InputError(
            f"{table.where(int(np.argmax(absent[rows])), name)}: the value is missing, as in {absent[rows].sum():,} of "
            f"{table.n_rows:,} rows. --missing drop gives those rows no label, --missing mean the shares of the others."
        )
    order = sorted(np.flatnonzero(~absent).tolist(), key=lambda code: texts[code])
    if len(order) > MOST_CATEGORIES:
        raise InputError(
            f"{table.path}: column {name!r} has {len(order):,} different values, such as {texts[order[0]]!r}; --encode is "
            f"for at most {MOST_CATEGORIES} categories. Leave it out: --drop {name}; or, if it names the rows: --id {name}"
        )
    values = (rows[:, None] == np.array(order, dtype=np.int64)).astype(float)
    values[absent[rows]] = np.nan
    return tuple(f"{name}={texts[code]}" for code in order), values
