"""From the columns of a table to points: which are identifiers, known classes and features, and what becomes of each.

Numbers are taken as they are; categories become columns of 0 and 1.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.files.cells import is_missing, is_unknown_class
from tightcut.files.errors import InputError, listed
from tightcut.files.sources import DataFile
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
class Data:
    """What a file holds: `points` or `affinity`, and a name for each row.

    Parameters
    ----------
    path : DataFile
    ids : list of str
        Row numbers from 0, where the file has no identifiers.
    id_name : str
        Column they come from; "row" for row numbers, "vertex" for the ends of edges.
    points : ndarray of shape (n, d), optional
    affinity : csr_array of shape (n, n), optional
    columns : tuple of str
        Names of the features.
    labels : list, optional
        Known classes, None where unknown.
    notes : tuple of str
        How the file was understood, for the user.
    left_out : dict of int to str
        Rows of the file that were left out for missing values: position in the file, and identifier.
    suspects : tuple of str
        Features that look like the answer, such as a column of classes, and were not asked for by name.
    """

    path: DataFile
    ids: list[str]
    id_name: str = "row"
    points: np.ndarray | None = None
    affinity: sp.csr_array | None = None
    columns: tuple[str, ...] = ()
    labels: list[str | None] | None = None
    notes: tuple[str, ...] = ()
    left_out: dict[int, str] = field(default_factory=dict)
    suspects: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        return len(self.ids)

    @property
    def is_graph(self) -> bool:
        return self.affinity is not None

    @property
    def has_ids(self) -> bool:
        return self.id_name != "row"

    def in_file_order(self, values: Sequence[Any], absent: Any = "") -> Iterator[tuple[str, Any]]:
        """Every row of the file with its identifier and value; `absent` for rows that were left out."""
        rest = zip(self.ids, values, strict=True)
        for place in range(self.n_rows + len(self.left_out)):
            yield (self.left_out[place], absent) if place in self.left_out else next(rest)


def read_points(
    table: Table,
    options: DataOptions,
    features: Sequence[str] | None = None,
    read: Callable[[list[str]], np.ndarray] | None = None,
) -> Data:
    """Identifiers, known classes and points from the columns of a table.

    Parameters
    ----------
    features : sequence of str, optional
        Columns that are features unless the options name others; by default all that have no other use.
    read : callable, optional
        From the names of the chosen features to the points, where these stay in a file.
    """
    named, taken, notes = id_column(table, options)
    if options.labels is not None:
        table.find(options.labels, "--labels")
    chosen = _chosen_columns(table, options, {*taken, options.labels}, features)
    ids = row_numbers(table.n_rows) if named is None else table.identifiers(named)
    labels = None if options.labels is None else _known_labels(table, options.labels)
    data = Data(table.path, ids, "row" if named is None else named, None, None, tuple(chosen), labels, notes)
    if not options.features:
        return data
    if read is not None:
        return _with_suspects(replace(data, points=read(chosen)), options, ())
    encode = _split_names(table, options.encode, "--encode")
    unused = [name for name in encode if name not in chosen]
    if unused:
        raise InputError(
            f"{table.path}: column {listed(unused)} is not used for clustering, so there is nothing to encode: it is named by "
            "both --encode and --drop, --id or --labels, or not named by --columns."
        )
    return _with_suspects(_with_points(data, table, encode, options), options, encode)


def _with_points(data: Data, table: Table, encode: Sequence[str], options: DataOptions) -> Data:
    """The data with its columns as points, of which those of categories become several."""
    check_choice("missing", options.missing, MISSING)
    may_miss = options.missing != "error"
    plain = [name for name in data.columns if name not in encode]
    values = table.numbers(plain, suggest=options.suggest, missing=may_miss)
    parts: dict[str, tuple[tuple[str, ...], np.ndarray]]
    parts = {name: ((name,), values[:, [place]]) for place, name in enumerate(plain)}
    parts |= {name: _indicators(table, name, options.suggest, allowed=may_miss) for name in encode}
    notes = [f"Column {name!r} became {len(parts[name][0])} columns of 0 and 1, one for each value." for name in encode]
    data = replace(
        data,
        points=np.column_stack([parts[name][1] for name in data.columns]),
        columns=tuple(column for name in data.columns for column in parts[name][0]),
        notes=(*data.notes, *notes),
    )
    return _without_missing(data, options.missing)


def _without_missing(data: Data, missing: str) -> Data:
    """The data with missing values filled in by the mean of the column, or without the rows that have one."""
    points = np.asarray(data.points)
    absent = np.isnan(points)
    if not absent.any():
        return data
    empty = [column for column, gone in zip(data.columns, absent.all(axis=0), strict=True) if gone]
    if empty:
        raise InputError(f"{data.path}: no row has a value in column {listed(empty)}. Leave it out: --drop {empty[0]}")
    rows = absent.any(axis=1)
    if missing == "mean":
        filled = counted(int(absent.sum()), "missing value")
        note = f"Filled in the mean of the column for {filled} in {counted(int(rows.sum()), 'row')}."
        return replace(data, points=np.where(absent, np.nanmean(points, axis=0), points), notes=(*data.notes, note))
    if rows.all():
        raise InputError(f"{data.path}: every row has a missing value; use --missing mean.")
    kept = (~rows).tolist()
    note = f"Left out {rows.sum():,} of {len(rows):,} rows, which have missing values; they get no label."
    return replace(
        data,
        points=points[~rows],
        ids=list(compress(data.ids, kept)),
        labels=None if data.labels is None else list(compress(data.labels, kept)),
        left_out={row: data.ids[row] for row in np.flatnonzero(rows).tolist()},
        notes=(*data.notes, note),
    )


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
    named = table.one(["id"])
    if named is None and table.has_header and table.names[0] == "column 1":
        return table.names[0]
    return named


def _chosen_columns(
    table: Table, options: DataOptions, taken: set[str | None], features: Sequence[str] | None
) -> list[str]:
    dropped = set(_split_names(table, options.drop, "--drop"))
    if options.columns:
        chosen = _split_names(table, options.columns, "--columns")
    else:
        chosen = [name for name in features or table.names if name not in taken]
    chosen = [name for name in chosen if name not in dropped]
    if options.features and not chosen:
        raise InputError(f"{table.path} has no columns left to cluster by; it has {listed(table.names)}.")
    return chosen


def _with_suspects(data: Data, options: DataOptions, encode: Sequence[str]) -> Data:
    """The data with a note on features that look like the answer, unless the features were named one by one.

    These are named as classes are, and hold categories, or whole numbers of few values in the first rows. Beside an x, y
    is a coordinate.
    """
    if options.columns or options.distances or data.points is None:
        return data
    some = np.asarray(data.points[:ROWS_EXAMINED])
    usual = CLASS_NAMES - ({"y"} if "x" in map(str.lower, data.columns) else set())
    suspects = [name for name in encode if name.lower() in usual]
    for place, name in enumerate(data.columns):
        if name.lower() in usual:
            values = np.unique(some[:, place])
            if len(values) <= min(MOST_CLASSES, len(some) / 2) and np.all(values % 1 == 0):
                suspects.append(name)
    if not suspects:
        return data
    one, drop = len(suspects) == 1, shlex.quote(",".join(suspects))
    note = (
        f"{'Column' if one else 'Columns'} {listed(suspects)} {'looks' if one else 'look'} like the answer, and "
        f"{'is' if one else 'are'} clustered by like any other; to leave {'it' if one else 'them'} out: --drop {drop}"
    )
    return replace(data, suspects=tuple(suspects), notes=(*data.notes, note))


def _split_names(table: Table, given: tuple[str, ...], option: str) -> list[str]:
    """Column names, given one by one or separated by commas."""
    names = []
    for text in given:
        parts = [text] if text in table.names else [part.strip() for part in text.split(",")]
        names += [table.find(part, option) for part in parts]
    return list(dict.fromkeys(names))


def _known_labels(table: Table, name: str) -> list[str | None]:
    texts = table.texts(name)
    labels = [None if is_unknown_class(text) else text for text in texts]
    if all(label is None for label in labels):
        raise InputError(f"{table.path}, column {name!r}: no row has a label; leave out --labels.")
    return labels


def row_numbers(count: int) -> list[str]:
    return list(map(str, range(count)))
