"""`tightcut cluster`: from a file to labels and a report."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console, print_facts, print_json, printable
from tightcut.cli._problem import Problem, check_targets, graph_of, points_of, read_problem

if TYPE_CHECKING:
    from tightcut import COSC
    from tightcut.audit import Audit

CRITERIA = {"ncut": "normalized cut", "rcut": "ratio cut"}
SIZES_SHOWN, COLUMNS_SHOWN = 20, 15
# A report should not take much longer than the clustering: this limits the prices that are estimated to some ten seconds.
EDGES_LOOKED_AT, FEWEST_PRICED = 20_000_000, 50


@click.command()
@click.argument("data", type=opt.FILE)
@opt.n_clusters_option(auto=True, required=True)
@opt.constraint_options
@opt.option("-o", "--output", type=opt.FILE, metavar="CSV", help="Where to write labels; - for standard output.")
@opt.spreadsheet_option
@opt.option("--report", type=opt.FILE, metavar="HTML", help="Write a page with a map, typical members and prices.")
@opt.data_options
@opt.graph_options
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
    help="How strongly a cannot-link also speaks for the neighbours of its points.",
)
@opt.search_options
@opt.output_options
def cluster(
    data: Path,
    output: Path | None,
    spreadsheet: bool,
    report: Path | None,
    as_json: bool,
    force: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Cluster the rows of DATA, or the vertices of a graph.

    DATA is a table of numbers (CSV, TSV, Parquet), an array (NPY, or X in NPZ), or a graph: a Matrix Market file (MTX),
    a sparse matrix (NPZ of scipy), or a table whose header begins with source,target. With --graph any table of two or
    three columns is a list of edges, and a square table or array a matrix of similarities.

    PAIRS is a table with a header: two columns of identifiers (or of row numbers from 0, without --id), a column `type`
    that says must or cannot (same, different, 1, 0, ...), and perhaps a column `belief` in (0, 1].
    """
    to_stdout = output is not None and str(output) == "-"
    if to_stdout and as_json:
        raise click.UsageError("-o - and --json both write to standard output; choose one.")
    if options["method"] == "paper" and (
        options["influence"] not in ("auto", 0) or options["max_violations"] == "fewest"
    ):
        raise click.UsageError("--method paper takes neither --influence nor --max-violations fewest.")
    table = None if to_stdout else output
    check_targets([data, options["constraints"]], table, report, force=force)
    started = time.perf_counter()
    problem = read_problem(data, Console(quiet=quiet), options)
    model = problem.fit(options)
    seconds = time.perf_counter() - started
    # Drawn before anything is written: a failure leaves no file.
    page = None if report is None else _page(problem, model, options, seconds)
    _write(problem, model, table, to_stdout=to_stdout, spreadsheet=spreadsheet, force=force)
    if report is not None:
        from tightcut.files import atomic_writer

        with atomic_writer(report, force=force) as stream:
            stream.write(page)
    files = {"labels": table, "report": report}
    if as_json:
        print_json({**_summary(problem, model, seconds), **{name: path and str(path) for name, path in files.items()}})
    elif not to_stdout:
        print_facts({**_facts(problem, model, seconds), **{name: path for name, path in files.items() if path}})


def _write(
    problem: Problem, model: COSC, table: Path | None, *, to_stdout: bool, spreadsheet: bool, force: bool
) -> None:
    from tightcut.files.writing import print_rows, write_rows

    header, names = [problem.data.id_name, "cluster"], problem.data.ids
    if to_stdout and sys.stdout.isatty():
        header, names = list(map(printable, header)), list(map(printable, names))
    rows = zip(names, model.labels_.tolist(), strict=True)
    if to_stdout:
        print_rows(sys.stdout, header, rows, spreadsheet=spreadsheet)
    elif table is not None:
        write_rows(table, header, rows, force=force, spreadsheet=spreadsheet)


def _page(problem: Problem, model: COSC, options: dict[str, Any], seconds: float) -> str:
    from datetime import datetime

    from tightcut.report import render

    prices, graph = None, graph_of(model)
    if not model.constraints_.is_empty:
        prices = model.audit(
            max_pairs=max(FEWEST_PRICED, EDGES_LOOKED_AT // max(graph.n_edges, 1)),
            random_state=options["random_state"],
            progress=problem.console.progress(),
        )
    return render(
        graph,
        model.labels_,
        model.constraints_,
        points=points_of(model),
        ids=problem.data.ids,
        prices=prices,
        title=f"Clusters of {problem.data.path.stem}",
        criterion=CRITERIA[model.criterion],
        facts={**_page_facts(problem, model, options, prices), "Time": f"{seconds:.1f} s"},
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
    )


def _page_facts(problem: Problem, model: COSC, options: dict[str, Any], prices: Audit | None) -> dict[str, str]:
    from tightcut.choosing import SCALED_TO

    data, facts, setting = problem.data, {"File": problem.data.path.name}, model.choice_.setting
    if not data.is_graph:
        hidden = len(data.columns) - COLUMNS_SHOWN
        columns = ", ".join(data.columns[:COLUMNS_SHOWN]) + (f" and {hidden} more" if hidden > 0 else "")
        learned = ", distances learned from must-links" if setting.learn_distances else ""
        facts["Columns"] = f"{columns} ({SCALED_TO[setting.scale]}{learned})"
        facts["Neighbours of each point"] = str(setting.n_neighbors)
        if setting.symmetrize == "mean":
            facts["Weight of an edge"] = "mean of its two ends"
        if setting.diffusion > 0:
            facts["Steps of diffusion"] = str(setting.diffusion)
        if model.neighbor_recall_ < 1:
            facts["Share of them that are true neighbours"] = f"{model.neighbor_recall_:.1%}"
    if problem.judgements is not None:
        facts["Pairs"] = f"{problem.judgements.path.name}, {len(problem.judgements):,} lines"
    if problem.labels_column is not None:
        facts["Known classes"] = f"column {problem.labels_column!r}"
    if prices is not None:
        limit = options["max_violations"]
        facts["Violations allowed"] = "as few as possible" if limit == "fewest" else f"{limit:g}"
    if options["method"] == "paper":
        facts["Method"] = "the paper's algorithm"
    if setting.influence > 0:
        facts["Influence on neighbours"] = f"{setting.influence:g}"
    facts["Chosen"] = model.choice_.reason
    facts["Effort, seed"] = f"{options['effort']:g}, {options['random_state']}"
    return facts


def _facts(problem: Problem, model: COSC, seconds: float) -> dict[str, Any]:
    sizes, n_pairs = _sizes(model), model.constraints_.n_pairs
    shown = ", ".join(f"{size:,}" for size in sizes[:SIZES_SHOWN]) + (", ..." if len(sizes) > SIZES_SHOWN else "")
    violated = f"{model.n_violations_:,} of {n_pairs:,} constraints"
    if model.violated_belief_ != model.n_violations_:
        violated += f" (belief {model.violated_belief_:g})"
    return {
        "points": f"{problem.data.n_rows:,}",
        "clusters": f"{len(sizes):,} of {shown} points",
        "cut": f"{model.cut_:.6g} ({CRITERIA[model.criterion]})",
        "violated": violated if n_pairs else "no constraints given",
        "seconds": f"{seconds:.2f}",
    }


def _summary(problem: Problem, model: COSC, seconds: float) -> dict[str, Any]:
    ids = problem.data.ids
    return {
        "data": str(problem.data.path),
        "n_points": problem.data.n_rows,
        "n_edges": model.affinity_matrix_.nnz // 2,
        "neighbor_recall": None if problem.data.is_graph else model.neighbor_recall_,
        "n_clusters": model.n_clusters_,
        "sizes": _sizes(model),
        "criterion": model.criterion,
        "cut": model.cut_,
        "n_must_link": model.constraints_.n_must_link,
        "n_cannot_link": model.constraints_.n_cannot_link,
        "n_violations": model.n_violations_,
        "violated_belief": model.violated_belief_,
        "violated_must_link": [[ids[i], ids[j]] for i, j in model.violated_must_link_.tolist()],
        "violated_cannot_link": [[ids[i], ids[j]] for i, j in model.violated_cannot_link_.tolist()],
        "settings": asdict(model.choice_.setting),
        "settings_reason": model.choice_.reason,
        "seconds": round(seconds, 3),
        "seed": model.random_state,
    }


def _sizes(model: COSC) -> list[int]:
    import numpy as np

    return np.bincount(model.labels_).tolist()
