"""`tightcut update` and `tightcut predict`: new rows, and new constraints, for a saved model."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console, print_facts, print_json
from tightcut.cli._labels import write_labels
from tightcut.cli._models import read_model, read_new, rows_of, with_new
from tightcut.cli._outcome import model_page, violated_pairs
from tightcut.cli._targets import check_targets, is_standard_output, write_page

if TYPE_CHECKING:
    from tightcut import Constraints
    from tightcut.files import Judgements
    from tightcut.fitted.state import FittedState, Rows

ADVICE = (
    "The model is as it was. Correct or remove new pairs, or cluster all rows again: tightcut cluster has -k and "
    "--max-violations."
)

PHRASES = {
    "born": "in new clusters",
    "split": "split off into new clusters",
    "merged": "from clusters that ended",
    "moved": "moved",
    "joined": "joined",
}

new_options = opt.together(
    opt.option("--id", metavar="COL", help="Column of identifiers in NEW.  [default: as in the model]"),
    opt.option(
        "--header/--no-header", default=None, help="Whether the first row names the columns.  [default: detected]"
    ),
    opt.decimal_option,
)


@click.command(cls=opt.Command, short_help="Add new rows and new pairs to a saved MODEL.")
@click.argument("model", type=opt.FILE)
@click.argument("new", type=opt.FILE, required=False)
@opt.option(
    "--constraints",
    type=opt.FILE,
    metavar="PAIRS",
    help="Table of new pairs, of old and new rows: two names, a type. Or the answers (.jsonl) of tightcut ask.",
)
@opt.choice(
    "--keep",
    "named all none",
    "Which rows leave their cluster only if a constraint forces them to: those of clusters with a name, all, or none.",
)
@opt.option(
    "--full", is_flag=True, help="Search again among all rows that need not be kept, and not only near new ones."
)
@opt.option("-o", "--output", type=opt.FILE, metavar="CSV", help="Where to write labels; - for standard output.")
@opt.option("--changes", type=opt.FILE, metavar="CSV", help="Where to write what changed, and why.")
@opt.option("--report", type=opt.FILE, metavar="HTML", help="Write a page with a map, typical members and the changes.")
@opt.option("--save", type=opt.FILE, metavar="MODEL", help="Write the updated model here, and leave MODEL as it is.")
@opt.spreadsheet_option
@new_options
@opt.output_options
def update(
    model: Path,
    new: Path | None,
    constraints: Path | None,
    keep: str,
    full: bool,
    output: Path | None,
    changes: Path | None,
    report: Path | None,
    save: Path | None,
    spreadsheet: bool,
    as_json: bool,
    force: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Add new rows and new pairs to a MODEL that tightcut cluster --save has written.

    Clusters keep their numbers and names, and rows stay where they are, unless a pair forces them to move or the cut
    becomes clearly smaller. MODEL is replaced by the updated one, unless --save names another file. NEW has the columns
    of the original data; without it only pairs are added.

    \b
      tightcut cluster monday.csv -k 5 --id name --save model.tcut -o labels.csv
      tightcut update model.tcut tuesday.csv --constraints pairs.csv -o labels.csv --force
    """  # noqa: D301 (\b is for click)
    from tightcut.files.write import check_writable
    from tightcut.fitted.storage import save as write

    to_stdout = is_standard_output(output, as_json=as_json)
    if new is None and constraints is None:
        raise click.UsageError("There is nothing to do: name a file of new rows, or --constraints.")
    table = None if to_stdout else output
    check_targets([model, new, constraints], [table, changes], [save], page=report, force=force)
    console = Console(quiet=quiet)
    fitted = read_model(model)
    if save is None:
        check_writable(model, force=True)
    started = time.perf_counter()
    fitted, named = _updated(fitted, new, constraints, keep, full, options, console)
    seconds, rows = time.perf_counter() - started, rows_of(fitted)
    facts = {"Model": model.name}
    shown = {"columns": rows.columns or (), "changes": fitted.changes}
    page = "" if report is None else model_page(fitted, rows.ids, model.stem, facts, **shown)
    labelled = zip(rows.ids, fitted.labels.tolist(), strict=True)
    write_labels(output, rows.id_name, labelled, fitted.names, spreadsheet=spreadsheet, force=force)
    if changes is not None:
        _write_changes(changes, fitted, rows, spreadsheet=spreadsheet, force=force)
    if report is not None:
        write_page(report, page, force=force)
    write(fitted, save or model)
    found = _summary(fitted, rows, seconds)
    files = {"labels": table, "changes_file": changes, "report": report, "model": save or model}
    if as_json:
        print_json(found | files)
    elif not to_stdout:
        print_facts(_facts(found, fitted, named) | {name.replace("_", " "): path for name, path in files.items()})


def _updated(
    model: FittedState,
    new: Path | None,
    pairs: Path | None,
    keep: str,
    full: bool,
    options: dict[str, Any],
    console: Console,
) -> tuple[FittedState, list[str]]:
    """The updated model, and the names that answers have given to clusters."""
    from tightcut.exceptions import InconsistentConstraintsError
    from tightcut.files import read_pairs
    from tightcut.fitted.update import update as updated
    from tightcut.utils.contradictions import explain

    old = rows_of(model)
    answers = pairs if pairs is not None and pairs.suffix == ".jsonl" else None
    judgements = None if pairs is None or answers is not None else read_pairs(pairs, options["decimal"])
    data, points = (None, None) if new is None else read_new(new, model, old, options, console)
    rows = with_new(old, data)
    known = _constraints(judgements, answers, rows, model)
    try:
        with console.warnings_as_notes():
            model = updated(model, points, constraints=known, keep=keep, full=full)
    except InconsistentConstraintsError as error:
        places = None if judgements is None else judgements.places(rows.ids)

        def place(kind: str, i: int, j: int) -> str:
            return (places and places(kind, i, j)) or str(answers or "the model")

        error.n_clusters = model.n_clusters
        error.args = (explain(error, rows.ids.__getitem__, place, advice=ADVICE),)
        raise
    model = replace(model, rows=rows)
    return (model, []) if answers is None else _with_names(model, answers, console)


def _constraints(
    judgements: Judgements | None, answers: Path | None, rows: Rows, model: FittedState
) -> Constraints | None:
    from tightcut import Constraints
    from tightcut.ask import read_constraints
    from tightcut.files import InputError

    if judgements is not None:
        return judgements.constraints(rows.ids, "the model and the new rows")
    if answers is None:
        return None
    try:
        X, affinity = (model.graph.weights, "precomputed") if model.points is None else (model.points, "knn")
        known = read_constraints(answers, X.shape[0], X=X, affinity=affinity)
    except (OSError, ValueError) as error:
        raise InputError(str(error)) from error
    return Constraints.from_pairs(
        len(rows.ids), known.must_link, known.cannot_link, known.must_link_belief, known.cannot_link_belief
    )


def _with_names(model: FittedState, answers: Path, console: Console) -> tuple[FittedState, list[str]]:
    """Name clusters as the answers name groups, where neither has a name yet."""
    import numpy as np

    from tightcut.ask.journal.replay import read_named_rows

    given = []
    for name, members in read_named_rows(answers).items():
        ids, counts = np.unique(model.labels[members], return_counts=True)
        cluster = int(ids[counts.argmax()])
        if cluster not in model.names and name not in model.names.values():
            model = model.named(cluster, name)
            given.append(name)
        elif model.names.get(cluster) != name:
            console.note(f"Note: group {name!r} of {answers} is in cluster {cluster}, which keeps its name.")
    return model, given


def _write_changes(path: Path, model: FittedState, rows: Rows, *, spreadsheet: bool, force: bool) -> None:
    from tightcut.files.write import write_rows

    header = ["change", "row", "cluster", "source", "name", "reason"]
    lines = [
        (kind, point, cluster, "" if source is None else source, name or "", reason)
        for kind, cluster, source, name, _, points, reason in model.changes.table(rows.ids)
        for point in points
    ]
    write_rows(path, header, lines, force=force, spreadsheet=spreadsheet)


def _facts(found: dict[str, Any], model: FittedState, named: list[str]) -> dict[str, Any]:
    """What a person is shown of a summary."""
    counts = Counter[str]()
    for change in found["changes"]:
        counts[change["kind"]] += len(change["rows"])
    return {
        "points": found["n_points"],
        "clusters": found["n_clusters"],
        "changes": ", ".join(f"{counts[kind]:,} {text}" for kind, text in PHRASES.items() if counts[kind]) or "none",
        "violated": violated_pairs(model),
        "cut": found["cut"],
        "named": ", ".join(named) or None,
        "seconds": found["seconds"],
    }


def _summary(model: FittedState, rows: Rows, seconds: float) -> dict[str, Any]:
    ids = rows.ids
    changes = [
        {
            "kind": row.kind,
            "cluster": row.cluster,
            "source": row.source,
            "name": row.name,
            "rows": [ids[point] for point in row.points],
            "constraint": row.constraint and [row.constraint[0], ids[row.constraint[1]], ids[row.constraint[2]]],
        }
        for row in model.changes
    ]
    return {
        "n_points": len(model.labels),
        "n_clusters": model.n_clusters,
        "names": {str(cluster): name for cluster, name in sorted(model.names.items())},
        "changes": changes,
        "cut": model.result.cut,
        "n_violations": model.result.n_violations,
        "seconds": round(seconds, 3),
    }


@click.command(cls=opt.Command, short_help="Assign new rows to the clusters of a saved MODEL.")
@click.argument("model", type=opt.FILE)
@click.argument("new", type=opt.FILE)
@opt.option("-o", "--output", type=opt.FILE, metavar="CSV", help="Where to write labels.  [default: standard output]")
@opt.spreadsheet_option
@new_options
@opt.option("--force", is_flag=True, help="Replace output files that exist.")
@opt.quiet_option
def predict(
    model: Path, new: Path, output: Path | None, spreadsheet: bool, force: bool, quiet: bool, **options: Any
) -> None:
    """Assign the rows of NEW to the clusters of a saved MODEL, without changing the model.

    Every row gets the cluster that most of its neighbours are in, by weight. To add the rows to the model, use tightcut
    update.
    """
    from tightcut.fitted.predict import predict as predicted

    output = output or Path("-")
    check_targets([model, new], [] if is_standard_output(output, as_json=False) else [output], force=force)
    console = Console(quiet=quiet)
    fitted = read_model(model)
    rows = rows_of(fitted)
    data, points = read_new(new, fitted, rows, options, console)
    labelled = data.in_file_order(predicted(fitted, points).tolist())
    write_labels(output, data.id_name, labelled, fitted.names, spreadsheet=spreadsheet, force=force)
