"""From the columns of a table to points: which are identifiers, known classes and features, and what becomes of each.

Numbers are taken as they are; categories become columns of 0 and 1.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from tightcut.files.cells import is_missing, is_unknown_class
from tightcut.files.content import Data, DataOptions, row_numbers, without_rows
from tightcut.files.errors import InputError, listed
from tightcut.files.raw import with_texts
from tightcut.files.tables import Table
from tightcut.utils.display import count_noun
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
    chosen = [] if options.text else _chosen_columns(table, options, {*taken, options.labels}, features)
    ids = row_numbers(table.n_rows) if named is None else table.identifiers(named)
    labels = None if options.labels is None else _known_labels(table, options.labels)
    data = Data(table.path, ids, "row" if named is None else named, None, None, tuple(chosen), labels, notes)
    if not options.features:
        return data
    if options.text:
        return with_texts(data, table, options)
    if read is not None:
        return _with_suspects(replace(data, points=read(chosen)), options, ())
    encode = table.find_all(options.encode, "--encode")
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
        filled = count_noun(int(absent.sum()), "missing value")
        note = f"Filled in the mean of the column for {filled} in {count_noun(int(rows.sum()), 'row')}."
        return replace(data, points=np.where(absent, np.nanmean(points, axis=0), points), notes=(*data.notes, note))
    if rows.all():
        raise InputError(f"{data.path}: every row has a missing value; use --missing mean.")
    note = f"Left out {rows.sum():,} of {len(rows):,} rows, which have missing values; they get no label."
    return without_rows(data, rows, note)


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
    dropped = set(table.find_all(options.drop, "--drop"))
    if options.columns:
        chosen = table.find_all(options.columns, "--columns")
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


def _known_labels(table: Table, name: str) -> list[str | None]:
    texts = table.texts(name)
    labels = [None if is_unknown_class(text) else text for text in texts]
    if all(label is None for label in labels):
        raise InputError(f"{table.path}, column {name!r}: no row has a label; leave out --labels.")
    return labels
