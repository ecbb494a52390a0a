"""`tightcut audit`: the price of each constraint, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console, echo, print_json
from tightcut.cli._inputs import read_inputs
from tightcut.cli._targets import check_targets
from tightcut.utils.display import counted

HEADER = ("type", "first", "second", "belief", "price", "cut_without", "method")
SHOWN = 20


@click.command(cls=opt.Command, short_help="Show what each constraint costs.")
@click.argument("data", type=opt.FILE)
@opt.n_clusters_option(required=True)
@opt.constraint_options
@opt.option("-o", "--output", type=opt.FILE, metavar="CSV", help="Where to write the whole table.")
@opt.spreadsheet_option
@opt.option(
    "--solve",
    "n_solved",
    type=click.IntRange(0),
    metavar="N",
    help="How many of the most expensive are solved again without them; the others are estimated.  [default: 10, or 3 if K "
    "is above 10]",
)
@opt.data_options
@opt.value_options
@opt.graph_options
@opt.limit_option
@opt.search_options
@opt.output_options
def audit(
    data: Path,
    output: Path | None,
    spreadsheet: bool,
    n_solved: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Cluster DATA and show what each constraint costs: how much the cut would fall without it.

    Wrong constraints tend to be expensive. DATA and PAIRS are those of tightcut cluster.
    """
    if options["constraints"] is None and options["labels"] is None:
        raise click.UsageError("There is nothing to audit: give --constraints PAIRS or --labels COL.")
    check_targets([data, options["constraints"]], [output], force=force)
    console = Console(quiet=quiet)
    inputs = read_inputs(data, console, options)
    model = inputs.fit(options)
    prices = model.audit(n_solved=n_solved, random_state=options["random_state"], progress=console.progress())
    ids = inputs.data.ids
    listed = sorted(prices, key=lambda row: row.method != "violated")
    n_violated = sum(row.method == "violated" for row in prices)
    rows = [
        (row.kind, ids[row.first], ids[row.second], row.belief, row.price, row.cut_without, row.method)
        for row in listed
    ]
    if output is not None:
        from tightcut.files import write_rows

        write_rows(output, HEADER, rows, force=force, spreadsheet=spreadsheet)
        console.note(f"Wrote {output}.")
    if as_json:
        print_json(
            {
                "cut": prices.cut,
                "cut_without_pairs": prices.free_cut,
                "constraints": [dict(zip(HEADER, row, strict=True)) for row in rows],
            }
        )
        return
    first_violated = f" ({n_violated:,} violated, listed first)" if n_violated else ""
    echo(
        f"cut {prices.cut:.6g}, without pairs {prices.free_cut:.6g}; how much it would fall without each of "
        f"{counted(len(rows), 'constraint')}{first_violated}:"
    )
    for (kind, first, second, _, price, _, method), row in zip(rows[:SHOWN], listed, strict=False):
        place = inputs.place(kind, row.first, row.second)
        share = price / (prices.cut or 1)
        echo(f"{price:12.6g}  {share:4.0%}  {method:9}  {first} {kind}-link {second}  ({place})")
    if len(rows) > SHOWN:
        echo(f"... and {len(rows) - SHOWN:,} more" + ("" if output is None else f" in {output}"))
