"""`tightcut cluster`: from a file to labels and a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tightcut.cli._console import Console, Progress, print_facts, print_json
from tightcut.cli._options import (
    FILE,
    constraint_options,
    data_options,
    graph_options,
    limit_options,
    n_clusters_option,
    output_options,
    search_options,
)
from tightcut.cli._problem import CRITERIA, Problem, check_targets, no_overlap, read_problem

if TYPE_CHECKING:
    from tightcut import ClusteringResult

SIZES_SHOWN = 20
# A report should not take much longer than the clustering: this limits the prices that are estimated to some ten seconds.
EDGES_LOOKED_AT, FEWEST_PRICED = 20_000_000, 50


@click.command()
@click.argument("data", type=FILE)
@n_clusters_option(auto=True, required=True)
@constraint_options
@click.option("-o", "--output", type=FILE, metavar="CSV", help="Where to write labels; - for standard output.")
@click.option("--report", type=FILE, metavar="HTML", help="Write a page with a map, typical members and prices.")
@data_options
@graph_options
@limit_options
@click.option(
    "--strategy",
    type=click.Choice(["direct", "recursive", "spread"]),
    default="direct",
    show_default=True,
    help="The smallest cut; the paper's recursion, which may violate pairs; or clusters near a few known labels.",
)
@click.option(
    "--influence",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="How strongly a cannot-link speaks for the neighbours of its points; try 1 if pairs are few.",
)
@search_options
@output_options
def cluster(
    data: Path,
    n_clusters: int | str,
    output: Path | None,
    report: Path | None,
    as_json: bool,
    force: bool,
    quiet: bool,
    constraints: Path | None,
    max_violations: float,
    on_inconsistent: str,
    strategy: str,
    influence: float,
    effort: float,
    seed: int,
    jobs: int,
    device: str,
    criterion: str,
    scale: str,
    n_neighbors: int,
    symmetrize: str,
    **reading: Any,
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
    target = None if to_stdout else output
    no_overlap(data, constraints, target, report)
    check_targets(target, report, force=force)
    console = Console(quiet=quiet)
    started = time.perf_counter()
    problem = read_problem(
        data,
        console,
        constraints=constraints,
        scale=scale,
        n_neighbors=n_neighbors,
        symmetrize=symmetrize,
        criterion=criterion,
        jobs=jobs,
        device=device,
        **reading,
    )
    count = _choose(problem, console) if n_clusters == "auto" else int(n_clusters)
    settings = {
        "max_violations": max_violations,
        "on_inconsistent": on_inconsistent,
        "strategy": strategy,
        "influence": influence,
        "effort": effort,
        "n_jobs": jobs,
        "random_state": seed,
        "device": device,
    }
    with console.progress() as progress:
        result = solve(problem, count, progress, settings)
        seconds = time.perf_counter() - started
        page = None
        if report is not None:
            graph = {"criterion": criterion, "scale": scale, "n_neighbors": n_neighbors, "symmetrize": symmetrize}
            page = _page(problem, result, progress, {"seconds": seconds, **graph, **settings})
    _write(problem, result, target, report, page, force=force)
    if to_stdout:
        _print_labels(problem, result)
    elif as_json:
        print_json(_summary(problem, result, criterion, seconds, seed, target, report))
    else:
        print_facts(_facts(problem, result, criterion, seconds, target, report))


def solve(problem: Problem, n_clusters: int, progress: Progress | None, settings: dict[str, Any]) -> ClusteringResult:
    """Cluster; contradictions are told in the user's names."""
    from tightcut import cluster as search
    from tightcut.cli._contradiction import named

    with named(problem.data.ids, n_clusters, problem.place):
        return search(problem.graph, problem.constraints, n_clusters, progress=progress, **settings)


def _choose(problem: Problem, console: Console) -> int:
    """The number of clusters by the eigengap, with a note that says why."""
    from tightcut.cli._contradiction import named
    from tightcut.search.choose_k import choose_n_clusters

    with named(problem.data.ids, 2, problem.place):
        choice = choose_n_clusters(problem.graph, problem.constraints)
    console.note(f"{choice.n_clusters} clusters. {choice.reason}")
    return choice.n_clusters


def _write(
    problem: Problem,
    result: ClusteringResult,
    output: Path | None,
    report: Path | None,
    page: str | None,
    *,
    force: bool,
) -> None:
    from tightcut.files.writing import atomic_writer, write_rows

    if output is not None:
        rows = zip(problem.data.ids, result.labels.tolist(), strict=True)
        write_rows(output, [problem.data.id_name, "cluster"], rows, force=force)
    if report is not None and page is not None:
        with atomic_writer(report, force=force) as stream:
            stream.write(page)


def _print_labels(problem: Problem, result: ClusteringResult) -> None:
    import sys

    from tightcut.files.writing import print_rows

    print_rows(
        sys.stdout, [problem.data.id_name, "cluster"], zip(problem.data.ids, result.labels.tolist(), strict=True)
    )


def _page(problem: Problem, result: ClusteringResult, progress: Progress | None, settings: dict[str, Any]) -> str:
    from datetime import datetime

    from tightcut.audit import audit
    from tightcut.report import render

    data = problem.data
    prices = None
    if not problem.constraints.is_empty:
        prices = audit(
            problem.graph,
            problem.constraints,
            result.labels,
            max_pairs=max(FEWEST_PRICED, EDGES_LOOKED_AT // max(problem.graph.n_edges, 1)),
            n_jobs=settings["n_jobs"],
            random_state=settings["random_state"],
            progress=progress,
        )
    facts = {"File": data.path.name}
    if not data.is_graph:
        scaled = "scaled to variance 1" if settings["scale"] == "standard" else "not scaled"
        facts["Columns"] = f"{_few(data.columns)} ({scaled})"
        facts["Neighbours of each point"] = str(settings["n_neighbors"])
        if settings["symmetrize"] == "mean":
            facts["Weight of an edge"] = "mean of its two ends"
        if problem.neighbor_recall is not None and problem.neighbor_recall < 1:
            facts["Share of them that are true neighbours"] = f"{problem.neighbor_recall:.1%}"
    if problem.judgements is not None:
        facts["Pairs"] = f"{problem.judgements.path.name}, {len(problem.judgements):,} lines"
    if problem.labels_column is not None:
        facts["Known classes"] = f"column {problem.labels_column!r}"
    if prices is not None:
        facts["Violations allowed"] = f"{settings['max_violations']:g}"
    if settings["strategy"] != "direct":
        facts["Strategy"] = settings["strategy"]
    if settings["influence"] > 0:
        facts["Influence on neighbours"] = f"{settings['influence']:g}"
    facts["Effort, seed"] = f"{settings['effort']:g}, {settings['random_state']}"
    facts["Time"] = f"{settings['seconds']:.1f} s"
    return render(
        problem.graph,
        result.labels,
        problem.constraints,
        points=problem.points,
        ids=data.ids,
        prices=prices,
        title=f"Clusters of {data.path.stem}",
        criterion=CRITERIA[settings["criterion"]],
        facts=facts,
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
    )


def _few(names: tuple[str, ...], limit: int = 15) -> str:
    hidden = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {hidden} more" if hidden > 0 else "")


def _sizes(result: ClusteringResult) -> list[int]:
    import numpy as np

    return np.bincount(result.labels).tolist()


def _facts(
    problem: Problem, result: ClusteringResult, criterion: str, seconds: float, output: Path | None, report: Path | None
) -> dict[str, Any]:
    sizes = _sizes(result)
    shown = ", ".join(f"{size:,}" for size in sizes[:SIZES_SHOWN]) + (", ..." if len(sizes) > SIZES_SHOWN else "")
    violated = f"{result.n_violations:,} of {problem.constraints.n_pairs:,} constraints"
    if result.violations.belief != result.n_violations:
        violated += f" (belief {result.violations.belief:g})"
    facts = {
        "points": f"{problem.data.n_rows:,}",
        "clusters": f"{len(sizes):,} of {shown} points",
        "cut": f"{result.cut:.6g} ({CRITERIA[criterion]})",
        "violated": violated if problem.constraints.n_pairs else "no constraints given",
        "seconds": f"{seconds:.2f}",
    }
    if output is not None:
        facts["labels"] = str(output)
    if report is not None:
        facts["report"] = str(report)
    return facts


def _summary(
    problem: Problem,
    result: ClusteringResult,
    criterion: str,
    seconds: float,
    seed: int,
    output: Path | None,
    report: Path | None,
) -> dict[str, Any]:
    ids = problem.data.ids
    return {
        "data": str(problem.data.path),
        "n_points": problem.data.n_rows,
        "n_edges": problem.graph.n_edges,
        "neighbor_recall": problem.neighbor_recall,
        "n_clusters": len(_sizes(result)),
        "sizes": _sizes(result),
        "criterion": criterion,
        "cut": result.cut,
        "n_must_link": problem.constraints.n_must_link,
        "n_cannot_link": problem.constraints.n_cannot_link,
        "n_violations": result.n_violations,
        "violated_belief": result.violations.belief,
        "violated_must_link": [[ids[i], ids[j]] for i, j in result.violations.must_link.tolist()],
        "violated_cannot_link": [[ids[i], ids[j]] for i, j in result.violations.cannot_link.tolist()],
        "seconds": round(seconds, 3),
        "seed": seed,
        "labels": None if output is None else str(output),
        "report": None if report is None else str(report),
    }
