"""`tightcut cluster`: from a file to labels and a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console, in_columns
from tightcut.cli._inputs import Inputs, read_inputs
from tightcut.cli._known import with_names
from tightcut.cli._labels import label_table, read_labels
from tightcut.cli._models import proven_model, write_model
from tightcut.cli._outcome import Outcome, pictures

if TYPE_CHECKING:
    from tightcut.fitted.state import FittedState


@click.command(cls=opt.Command)
@click.argument("data", type=opt.FILE)
@opt.n_clusters_option(auto=True, required=True)
@opt.problem_options
@opt.option("-o", "--output", type=opt.FILE, metavar="CSV", help="Where to write labels; - for standard output.")
@opt.option("--report", type=opt.FILE, metavar="HTML", help="Write a page with a map, typical members and prices.")
@opt.option(
    "--certify",
    type=opt.Finite(0),
    metavar="SECONDS",
    help="Prove how good the cut is, and take a better clustering if the work finds one; --save keeps it for tightcut certify.",
)
@opt.option("--save", type=opt.FILE, metavar="MODEL", help="Write the model, for tightcut update, predict and ask.")
@opt.option(
    "--init",
    type=opt.FILE,
    metavar="CSV",
    help="Labels of an earlier run to improve. Clusters keep their numbers and names.",
)
@opt.choice("--map", "auto graph pca", "How the report's map is drawn: by the graph, or by principal components.")
@opt.option(
    "--images",
    metavar="HEIGHTxWIDTH",
    callback=opt.picture_shape,
    help="Size of pictures whose pixels are the rows; the report shows them.",
)
@opt.option(
    "--no-prices",
    is_flag=True,
    help="Leave out what the pairs cost: the cut without them, and the price of each in the report.",
)
@opt.limit_option
@opt.choice(
    "--method",
    "search paper",
    "Search for the smallest cut, or use the paper's algorithm; for K > 2 that may violate pairs.",
)
@opt.option(
    "--influence",
    type=opt.NumberOr("auto", opt.Finite(0)),
    default="auto",
    metavar="NUMBER|auto",
    help="How strongly a cannot-link also counts for the neighbours of its points.",
)
@opt.folder_options_moved
@opt.console_options("spreadsheet", "as_json", "force", "quiet")
def cluster(
    data: Path,
    output: Path | None,
    report: Path | None,
    no_prices: bool,
    save: Path | None,
    init: Path | None,
    certify: float | None,
    console: Console,
    **options: Any,
) -> None:
    """Cluster the rows of DATA, or the vertices of a graph.

    DATA is a table of numbers, or with --text of texts (CSV, TSV, Parquet, Feather, XLSX, JSONL, FILE.db::TABLE of SQLite,
    FILE.duckdb::TABLE), a folder of pictures (JPEG, PNG, WebP, TIFF), an array (NPY, or X in NPZ), cells (H5AD, or
    FILE.h5ad::X_pca), or a graph: a Matrix Market file (MTX), a sparse matrix (NPZ of scipy), or a table whose header
    begins with source,target. With --graph any table of two or three columns is a list of edges, and a square table or
    array a matrix of similarities. Files may be compressed (.gz, .zst); - is standard input. A graph or points larger than
    memory are for tightcut cluster-graph.

    PAIRS is a table with a header: two columns of identifiers (or of row numbers from 0, without --id), a column `type`
    that says must or cannot (same, different, 1, 0, ...), and perhaps a column `belief` in (0, 1].
    """
    _check_together(options, report)
    if save is not None and (options["text"] or data.is_dir()):
        raise click.UsageError(
            "--save keeps points, and a model of texts or pictures could not read new ones. Keep the labels, -o labels.csv; "
            "--init labels.csv continues from them when there are more."
        )
    console.check_files([data, options["constraints"], init], output, others=[save], page=report)
    started = time.perf_counter()
    inputs = read_inputs(data, console, options)
    images = pictures(inputs.data, options["images"])
    model, certificate = _fitted(inputs, options, init, data), None
    if certify is not None:
        model, certificate = proven_model(model, certify, console)
    labelled = inputs.data.in_file_order(model.labels.tolist())
    console.write_rows(output, *label_table(inputs.data.id_name, labelled, model.names))
    if save is not None:
        write_model(model, inputs.data, save)
    if output is not None and report is not None:
        console.note("The labels are written; the report follows.")
    outcome = Outcome(inputs, model, options, images, certificate=certificate)
    if not (no_prices or model.constraints.is_empty):
        outcome = outcome.priced(each=report is not None)
    if report is not None:
        console.write_page(report, outcome.page(time.perf_counter() - started))
    files = {"labels": output, "report": report, "model": save}
    found = outcome.summary(time.perf_counter() - started)
    lines = [*in_columns(outcome.facts(found) | files), *outcome.described(), *outcome.violated()]
    console.show(found | files, lines)
    if not any(files.values()):
        console.note("Nothing was written; to keep the labels, add -o labels.csv")
    for doubt in outcome.doubts():
        console.note(doubt)


def _check_together(options: dict[str, Any], report: Path | None) -> None:
    """Refuse combinations of options in which one would have no effect."""
    paper = options["method"] == "paper"
    if paper and (options["influence"] not in ("auto", 0) or options["max_violations"] == "fewest"):
        raise click.UsageError("--method paper takes neither --influence nor --max-violations fewest.")
    if report is None:
        opt.refuse(("images", "map"), "is for the report; name the file to write: --report report.html")


def _fitted(inputs: Inputs, options: dict[str, Any], init: Path | None, data: Path) -> FittedState:
    """The model; clusters that continue earlier labels keep their names, and others are named as in a journal of answers."""
    known, names = (None, {}) if init is None else read_labels(init, inputs.data.ids, data)
    model = inputs.fit(options, known)
    for cluster_id, name in names.items():
        if (model.labels == cluster_id).any():
            model = model.named(cluster_id, name)
    answers = inputs.pairs.answers
    return model if answers is None else with_names(model, answers, inputs.console)
