"""Which columns of a table are what: identifiers, known classes, features."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from tightcut.files.cells import is_unknown_class
from tightcut.files.errors import InputError, listed
from tightcut.files.tables import SUGGESTIONS, Table, TableOptions

# Names of columns of classes, in lower case.
ANSWERS = frozenset(
    {
        "answer",
        "category",
        "class",
        "classes",
        "cluster",
        "clusters",
        "group",
        "ground_truth",
        "groundtruth",
        "label",
        "labels",
        "outcome",
        "segment",
        "species",
        "target",
        "truth",
        "y",
        "y_true",
    }
)
MOST_CLASSES = 50
LOOKED_AT = 100_000  # rows


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
    header, decimal
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

    Looks at the first `LOOKED_AT` rows of `points`. Beside an x, y is a coordinate.
    """
    some = np.asarray(points[:LOOKED_AT])
    usual = ANSWERS - ({"y"} if "x" in map(str.lower, columns) else set())
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
