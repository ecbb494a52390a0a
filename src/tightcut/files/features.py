"""From the columns of a table to points: which are identifiers, known classes and features, and what becomes of each.

Numbers are taken as they are; categories become columns of 0 and 1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from tightcut.files.cells import is_missing, is_unknown_class
from tightcut.files.errors import InputError, listed
from tightcut.files.tables import SUGGESTIONS, Table, TableOptions
from tightcut.utils.display import counted
from tightcut.utils.validation import check_choice

MISSING = ("error", "drop", "mean")
MOST_CATEGORIES = 100
# Columns of classes are usually called so, in upper or lower case.
CLASS_NAMES = frozenset({
    "answer", "category", "class", "classes", "cluster", "clusters", "group", "ground_truth", "groundtruth", "label",
    "labels", "outcome", "segment", "species", "target", "truth", "y", "y_true",
})  # fmt: skip
MOST_CLASSES = 50
ROWS_EXAMINED = 100_000


@dataclass(frozen=True, kw_only=True)
class DataOptions(TableOptions):
    """Which part of a file is what.

    Parameters
    ----------
    id, labels : str, optional
        Columns of identifiers and of known classes.
    columns, drop : tuple of str
        Features to use, or not to use; all if both are empty.
    encode : tuple of str
        Features that are categories: each value becomes a column of 0 and 1.
    missing : {"error", "drop", "mean"}, default="error"
        Refuse missing values, leave out their rows, or fill in the mean of the column.
    graph : bool, optional
        Whether the file is a graph; None looks.
    distances : bool, default=False
        Whether the file is a square matrix of distances, which become the `points`; a graph is refused.
    features : bool, default=True
        False reads identifiers and labels alone.
    suggest : collection of str
        Options that messages may suggest, of `tightcut.files.tables.SUGGESTIONS`: those that the command has.
    header, decimal, asked_by
        As in `TableOptions`.
    """

    id: str | None = None
    labels: str | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    encode: tuple[str, ...] = ()
    missing: str = "error"
    graph: bool | None = None
    distances: bool = False
    features: bool = True
    suggest: Collection[str] = SUGGESTIONS


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
    parts |= {name: _indicators(table, name, suggest, allowed=missing != "error") for name in encode}
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


def _indicators(
    table: Table, name: str, suggest: Collection[str], *, allowed: bool
) -> tuple[tuple[str, ...], np.ndarray]:
    """One column of 0 and 1 for each value, NaN in rows where it is missing."""
    texts, rows = table.distinct(name)
    absent = np.array([is_missing(text) for text in texts])
    if absent[rows].any() and not allowed:
        ways = " --missing drop gives those rows no label, --missing mean the shares of the others."
        raise InputError(
            f"{table.where(int(np.argmax(absent[rows])), name)}: the value is missing, as in {absent[rows].sum():,} of "
            f"{table.n_rows:,} rows.{ways if 'missing drop' in suggest else ''}"
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


def id_column(table: Table, options: DataOptions) -> tuple[str | None, set[str | None], tuple[str, ...]]:
    """The column of identifiers, given or implied; the columns that are not measurements; notes for the user."""
    implied = None if options.columns else _implied_id(table)
    if options.id is None:
        note = f"Column {implied!r} is taken for identifiers; --columns would use it as data."
        return implied, {implied}, () if implied is None else (note,)
    table.find(options.id, "--id")
    note = f"Column {implied!r} is left out, as it seems to number the rows; --columns would use it as data."
    return options.id, {options.id, implied}, () if implied in {None, options.id} else (note,)


def _implied_id(table: Table) -> str | None:
    """A column that is clearly not a measurement: named id, or an unnamed first one, as pandas writes its index."""
    named = next((name for name in table.names if name.lower() == "id"), None)
    if named is None and table.has_header and table.names[0] == "column 1":
        return table.names[0]
    return named


def chosen_columns(
    table: Table, options: DataOptions, taken: set[str | None], features: Sequence[str] | None
) -> list[str]:
    dropped = set(split_names(table, options.drop, "--drop"))
    if options.columns:
        chosen = split_names(table, options.columns, "--columns")
    else:
        chosen = [name for name in features or table.names if name not in taken]
    chosen = [name for name in chosen if name not in dropped]
    if options.features and not chosen:
        raise InputError(f"{table.path} has no columns left to cluster by; it has {listed(table.names)}.")
    return chosen


def suspected_answers(points: np.ndarray, columns: Sequence[str], encode: Sequence[str]) -> list[str]:
    """Columns that look like the answer: named as classes are, and categories, or whole numbers of few values.

    Examines the first `ROWS_EXAMINED` rows of `points`. Beside an x, y is a coordinate.
    """
    some = np.asarray(points[:ROWS_EXAMINED])
    usual = CLASS_NAMES - ({"y"} if "x" in map(str.lower, columns) else set())
    suspects = [name for name in encode if name.lower() in usual]
    for place, name in enumerate(columns):
        if name.lower() in usual:
            values = np.unique(some[:, place])
            if len(values) <= min(MOST_CLASSES, len(some) / 2) and np.all(values % 1 == 0):
                suspects.append(name)
    return suspects


def split_names(table: Table, given: tuple[str, ...], option: str) -> list[str]:
    """Column names, given one by one or separated by commas."""
    names = []
    for text in given:
        parts = [text] if text in table.names else [part.strip() for part in text.split(",")]
        names += [table.names[table.find(part, option)] for part in parts]
    return list(dict.fromkeys(names))


def known_labels(table: Table, name: str) -> list[str | None]:
    texts = table.texts(name)
    labels = [None if is_unknown_class(text) else text for text in texts]
    if all(label is None for label in labels):
        raise InputError(f"{table.path}, column {name!r}: no row has a label; leave out --labels.")
    return labels
