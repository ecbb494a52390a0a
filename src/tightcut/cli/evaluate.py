"""`tightcut evaluate`: labels against the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tightcut.cli._console import Console, in_columns
from tightcut.cli._options import FILE, console_options, option
from tightcut.utils.display import count_noun

if TYPE_CHECKING:
    from tightcut.files import Table

LABEL_NAMES = ("cluster", "label", "labels")
TRUTH_NAMES = ("class", "truth", "label", "target", "species", "category", "y")
TABLE_LIMIT = 12


@click.command(short_help="Compare LABELS with the classes in TRUTH.")
@click.argument("labels", type=FILE)
@click.argument("truth", type=FILE)
@option("--id", "id_", metavar="COL", help="Column of identifiers in both files.")
@option("--labels-column", metavar="COL", help="Column of LABELS.  [default: cluster, label, or the last]")
@option("--truth-column", metavar="COL", help="Column of TRUTH.  [default: class, truth, label, ..., or the last]")
@console_options("as_json", "quiet")
def evaluate(
    labels: Path, truth: Path, id_: str | None, labels_column: str | None, truth_column: str | None, console: Console
) -> None:
    """Compare LABELS, as written by tightcut cluster, with the classes in TRUTH.

    Rows are matched by the identifiers that both files have, or by their order. Rows without a class (empty or -1) do
    not count.
    """
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    from tightcut.files import read_table
    from tightcut.metrics import clustering_error

    found, known = read_table(labels), read_table(truth)
    label_name = _column(found, labels_column, LABEL_NAMES, "--labels-column")
    truth_name = _column(known, truth_column, TRUTH_NAMES, "--truth-column")
    if truth_column is None:
        _refuse_measurements(known, truth_name)
    pairs = match_rows(found, label_name, known, truth_name, id_, console)
    clusters, classes = zip(*pairs, strict=True)
    measures = {
        "points": len(pairs),
        "clusters": len(set(clusters)),
        "classes": len(set(classes)),
        "clustering_error": clustering_error(classes, clusters),
        "adjusted_rand": float(adjusted_rand_score(classes, clusters)),
        "normalized_mutual_info": float(normalized_mutual_info_score(classes, clusters)),
    }
    facts = {
        name.replace("_", " "): f"{value:.4f}" if isinstance(value, float) else value
        for name, value in measures.items()
    }
    console.show(measures, [*in_columns(facts), *_contingency(pairs)])


def match_rows(
    found: Table, label_name: str, known: Table, truth_name: str, id_: str | None, console: Console
) -> list[tuple[str, str]]:
    """(cluster, class) of every row that has a class."""
    from tightcut.files import InputError
    from tightcut.files.cells import is_unknown_class

    clusters, classes = found.texts(label_name), known.texts(truth_name)
    shared = id_ or _shared_id(found, known, {label_name, truth_name})
    if shared is not None:
        for table in (found, known):
            table.find(shared, "--id")
        truth_of = dict(zip(known.identifiers(shared), classes, strict=True))
        names = found.identifiers(shared)
        missing = [name for name in names if name not in truth_of]
        if missing:
            row = names.index(missing[0])
            raise InputError(
                f"{found.where(row, shared)}: {missing[0]!r} is not in column {shared!r} of {known.path} "
                f"({len(missing):,} of {len(names):,} are not)."
            )
        classes = [truth_of[name] for name in names]
        console.note(f"Matched by {shared!r}: classes from {truth_name!r}, clusters from {label_name!r}.")
    elif found.n_rows != known.n_rows:
        raise InputError(
            f"{found.path} has {count_noun(found.n_rows, 'row')} and {known.path} has {known.n_rows:,}, and no column of "
            "identifiers is named the same in both. Name it: --id COL"
        )
    else:
        console.note(f"Matched row by row: classes from {truth_name!r}, clusters from {label_name!r}.")
    pairs = [pair for pair in zip(clusters, classes, strict=True) if not is_unknown_class(pair[1])]
    if not pairs:
        raise InputError(f"{known.path}, column {truth_name!r}: no row has a class.")
    if len(pairs) < len(classes):
        console.note(f"Left out {count_noun(len(classes) - len(pairs), 'row')} without a class.")
    return pairs


def _column(table: Table, given: str | None, usual: tuple[str, ...], option: str) -> str:
    if given is not None:
        return table.find(given, option)
    lower = {name.lower(): name for name in table.names}
    return next((lower[name] for name in usual if name in lower), table.names[-1])


def _refuse_measurements(known: Table, name: str) -> None:
    """A column that was not named, but found by its name or place, may be a coordinate y."""
    from tightcut.files import InputError
    from tightcut.files.cells import as_number

    fraction = next((text for text in known.texts(name) if as_number(text) % 1 > 0), None)
    if fraction is not None:
        raise InputError(
            f"{known.path}: column {name!r} holds measurements such as {fraction}, not classes. Name the column of "
            "classes: --truth-column COL"
        )


def _shared_id(found: Table, known: Table, taken: set[str]) -> str | None:
    """The first column of LABELS, if TRUTH has one of the same name. Columns without names prove nothing."""
    name = found.names[0]
    return name if found.has_header and known.has_header and name in known.names and name not in taken else None


def _contingency(pairs: list[tuple[str, str]]) -> Iterator[str]:
    """How many rows of each class each cluster has, unless there are many of either."""
    counts = Counter(pairs)
    clusters, classes = (sorted(set(names)) for names in zip(*pairs, strict=True))
    if max(len(clusters), len(classes)) > TABLE_LIMIT:
        return
    width = max(7, *map(len, clusters))
    widths = [max(5, len(name)) for name in classes]
    rows = {"cluster": classes} | {own: [counts[own, name] for name in classes] for own in clusters}
    yield ""
    for title, cells in rows.items():
        yield f"{title:<{width}}  " + "  ".join(f"{cell:>{size}}" for cell, size in zip(cells, widths, strict=True))
