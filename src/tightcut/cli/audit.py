"""`tightcut audit`: the price of each constraint, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tightcut.cli._console import Console, print_json
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
from tightcut.cli._problem import check_targets, no_overlap, read_problem

HEADER = ("type", "first", "second", "belief", "price", "cut_without", "method")
SHOWN = 20


@click.command(short_help="Tell the price of each constraint.")
@click.argument("data", type=FILE)
@n_clusters_option(required=True)
@constraint_options
@click.option("-o", "--output", type=FILE, metavar="CSV", help="Where to write the whole table.")
@click.option(
    "--solve",
    "n_solved",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="How many of the most expensive are solved anew; the others are estimated.",
)
@data_options
@graph_options
@limit_options
@search_options
@output_options
def audit(
    data: Path,
    n_clusters: int,
    constraints: Path | None,
    labels: str | None,
    output: Path | None,
    n_solved: int,
    as_json: bool,
    force: bool,
    quiet: bool,
    max_violations: float,
    on_inconsistent: str,
    effort: float,
    seed: int,
    jobs: int,
    device: str,
    **reading: Any,
) -> None:
    """Cluster DATA and tell the price of each constraint: how much the cut would fall without it.

    Wrong constraints are mostly expensive ones. DATA and PAIRS are those of tightcut cluster.
    """
    if constraints is None and labels is None:
        raise click.UsageError("There is nothing to audit: give --constraints PAIRS or --labels COL.")
    no_overlap(data, constraints, output)
    from tightcut.audit import audit as find_prices
    from tightcut.cli.cluster import solve
    from tightcut.files.writing import write_rows

    check_targets(output, force=force)
    console = Console(quiet=quiet)
    problem = read_problem(data, console, constraints=constraints, labels=labels, jobs=jobs, device=device, **reading)
    settings = {
        "max_violations": max_violations,
        "on_inconsistent": on_inconsistent,
        "effort": effort,
        "n_jobs": jobs,
        "random_state": seed,
        "device": device,
    }
    with console.progress() as progress:
        result = solve(problem, n_clusters, progress, settings)
        prices = find_prices(
            problem.graph,
            problem.constraints,
            result.labels,
            n_solved=n_solved,
            n_jobs=jobs,
            random_state=seed,
            progress=progress,
        )
    ids = problem.data.ids
    rows = [
        (row.kind, ids[row.first], ids[row.second], row.belief, row.price, row.cut_without, row.method)
        for row in prices
    ]
    if output is not None:
        write_rows(output, HEADER, rows, force=force)
    if as_json:
        print_json({"cut": prices.cut, "constraints": [dict(zip(HEADER, row, strict=True)) for row in rows]})
        return
    click.echo(f"cut {prices.cut:.6g}; what it would fall by without each of {len(rows):,} constraints:")
    for (kind, first, second, _, price, _, method), row in zip(rows[:SHOWN], prices, strict=False):
        place = problem.place(kind, row.first, row.second)
        click.echo(
            f"{price:12.6g}  {price / (prices.cut or 1):4.0%}  {method:9}  {first} {kind}-link {second}  ({place})"
        )
    if len(rows) > SHOWN:
        click.echo(f"... and {len(rows) - SHOWN:,} more" + ("" if output is None else f" in {output}"))
