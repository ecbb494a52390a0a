"""`tightcut audit`: the price of each constraint, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console
from tightcut.cli._inputs import read_inputs
from tightcut.cli._models import proven_model
from tightcut.utils.display import count_noun

HEADER = ("type", "first", "second", "belief", "price", "cut_without", "method")
SHOWN = 20


@click.command(cls=opt.Command, short_help="Show what each constraint costs.")
@click.argument("data", type=opt.FILE)
@opt.n_clusters_option(required=True)
@opt.problem_options
@opt.option("-o", "--output", type=opt.FILE, metavar="CSV", help="Where to write the whole table.")
@opt.option(
    "--solve",
    "n_solved",
    type=opt.Whole(0),
    metavar="N",
    help="How many of the most expensive are solved again without them; the others are estimated.  [default: 10, or 3 if K "
    "is above 10]",
)
@opt.option(
    "--certify",
    "seconds",
    type=opt.Finite(0),
    metavar="SECONDS",
    help="Prove a bound on the cut first, and say what each constraint costs at least.",
)
@opt.limit_option
@opt.console_options("spreadsheet", "as_json", "force", "quiet")
def audit(
    data: Path, output: Path | None, n_solved: int | None, seconds: float | None, console: Console, **options: Any
) -> None:
    """Cluster DATA and show what each constraint costs: how much the cut would fall without it.

    Wrong constraints tend to be expensive. DATA and PAIRS are those of tightcut cluster.
    """
    if options["constraints"] is None and options["labels"] is None:
        raise click.UsageError("There is nothing to audit: give --constraints PAIRS or --labels COL.")
    console.check_files([data, options["constraints"]], tables=[output])
    inputs = read_inputs(data, console, options)
    model = inputs.fit(options)
    if seconds is not None:
        model, _ = proven_model(model, seconds, console)
    prices = model.audit(n_solved=n_solved, random_state=options["random_state"], progress=console.progress())
    listed = sorted(prices, key=lambda row: row.method != "violated")
    ids = inputs.data.ids
    rows = [
        (row.kind, ids[row.first], ids[row.second], row.belief, row.price, row.cut_without, row.method)
        + (() if prices.bound is None else (row.proven(prices.bound),))
        for row in listed
    ]
    header = HEADER if prices.bound is None else (*HEADER, "proven")
    if output is not None:
        console.write_rows(output, header, rows)
        console.note(f"Wrote {output}.")
    found = {
        "cut": prices.cut,
        "cut_without_pairs": prices.free_cut,
        "constraints": [dict(zip(header, row, strict=True)) for row in rows],
    } | ({} if prices.bound is None else {"bound": prices.bound})
    places = [inputs.place(row.kind, row.first, row.second) for row in listed[:SHOWN]]
    console.show(found, _lines(found, places, output))


def _lines(found: dict[str, Any], places: list[str], output: Path | None) -> Iterator[str]:
    """The constraints with a place, which are the first, and how many more there are."""
    cut, rows = found["cut"], found["constraints"]
    n_violated = sum(row["method"] == "violated" for row in rows)
    first = f" ({n_violated:,} violated, listed first)" if n_violated else ""
    yield (
        f"cut {cut:.6g}, without pairs {found['cut_without_pairs']:.6g}; how much it would fall without each of "
        f"{count_noun(len(rows), 'constraint')}{first}:"
    )
    for row, place in zip(rows, places, strict=False):
        pair = f"{row['first']} {row['type']}-link {row['second']}"
        proven = f", at least {row['proven']:.4g} proven" if row.get("proven") else ""
        yield f"{row['price']:12.6g}  {row['price'] / (cut or 1):4.0%}  {row['method']:9}  {pair}  ({place}){proven}"
    if len(rows) > SHOWN:
        yield f"... and {len(rows) - SHOWN:,} more" + ("" if output is None else f" in {output}")
