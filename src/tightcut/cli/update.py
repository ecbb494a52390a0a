"""`tightcut update`: new rows, and new constraints, for a saved model."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console, in_columns
from tightcut.cli._known import KnownPairs, contradictions_explained, with_names
from tightcut.cli._labels import label_table
from tightcut.cli._models import read_model, read_new, rows_of, with_new
from tightcut.cli._outcome import model_page, violated_pairs

if TYPE_CHECKING:
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
CHANGES = ("change", "row", "cluster", "source", "name", "reason")  # columns of --changes


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
@opt.new_rows_options
@opt.console_options("spreadsheet", "as_json", "force", "quiet")
def update(
    model: Path,
    new: Path | None,
    output: Path | None,
    changes: Path | None,
    report: Path | None,
    save: Path | None,
    console: Console,
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

    if new is None and options["constraints"] is None:
        raise click.UsageError("There is nothing to do: name a file of new rows, or --constraints.")
    inputs = [model, new, options["constraints"]]
    console.check_files(inputs, output, tables=[changes], others=[save], page=report)
    if save is None:
        check_writable(model, force=True)
    before = read_model(model)
    started = time.perf_counter()
    fitted = _updated(before, new, options, console)
    seconds, rows = time.perf_counter() - started, rows_of(fitted)
    shown = {"columns": rows.columns or (), "changes": fitted.changes}
    page = "" if report is None else model_page(fitted, rows.ids, model.stem, {"Model": model.name}, **shown)
    labelled = zip(rows.ids, fitted.labels.tolist(), strict=True)
    console.write_rows(output, *label_table(rows.id_name, labelled, fitted.names))
    console.write_rows(changes, CHANGES, _change_lines(fitted, rows))
    if report is not None:
        console.write_page(report, page)
    write(fitted, save or model)
    found = _summary(fitted, rows, seconds)
    named = [name for cluster, name in fitted.names.items() if cluster not in before.names]
    files = {"labels": output, "changes_file": changes, "report": report, "model": save or model}
    facts = _facts(found, fitted, named) | {name.replace("_", " "): path for name, path in files.items()}
    console.show(found | files, in_columns(facts))


def _updated(model: FittedState, new: Path | None, options: dict[str, Any], console: Console) -> FittedState:
    from tightcut.fitted.update import update as updated

    old = rows_of(model)
    pairs = KnownPairs.read(options["constraints"], options["decimal"])
    data = None if new is None else read_new(new, model, old, options, console)
    rows = with_new(old, data)
    source = "the model" if data is None else "the model and the new rows"
    asked = (model.graph.weights, "precomputed") if model.points is None else (model.points, "knn")
    known = pairs.constraints(rows.ids, source, *asked)
    with (
        contradictions_explained(rows.ids, lambda: pairs.places(rows.ids, "the model"), model.n_clusters, ADVICE),
        console.warnings_as_notes(),
    ):
        points = None if data is None else data.points
        model = updated(model, points, constraints=known, keep=options["keep"], full=options["full"])
    model = replace(model, rows=rows)
    return model if pairs.answers is None else with_names(model, pairs.answers, console)


def _change_lines(model: FittedState, rows: Rows) -> list[tuple[Any, ...]]:
    """A line for each point that has changed."""
    return [
        (kind, point, cluster, "" if source is None else source, name or "", reason)
        for kind, cluster, source, name, _, points, reason in model.changes.table(rows.ids)
        for point in points
    ]


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
