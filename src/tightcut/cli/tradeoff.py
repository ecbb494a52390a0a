"""`tightcut tradeoff`: how the cut falls as constraints are violated."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console
from tightcut.cli._inputs import read_inputs
from tightcut.utils.extras import missing_package

HEADER = ("n_violations", "violated_belief", "cut")
PICTURES = (".png", ".svg", ".pdf")


@click.command(cls=opt.Command, short_help="Trade the cut of two clusters against violated constraints.")
@click.argument("data", type=opt.FILE)
@opt.option("-o", "--output", type=opt.FILE, metavar="CSV", help="Where to write the table.")
@opt.option("--plot", type=opt.FILE, metavar="PNG", help="Draw the curve (PNG, SVG or PDF).")
@opt.problem_options
@opt.console_options("as_json", "force", "quiet")
def tradeoff(data: Path, output: Path | None, plot: Path | None, console: Console, **options: Any) -> None:
    """Find every trade-off between the cut of two clusters and the violated constraints.

    The first line violates as little as possible, the last is the cut without constraints. A steep fall says that the
    constraints violated there disagree with the data; that is a good value for --max-violations.
    """
    if options["constraints"] is None and options["labels"] is None:
        raise click.UsageError("There is nothing to trade: give --constraints PAIRS or --labels COL.")
    console.check_files([data, options["constraints"]], tables=[output], others=[plot])
    if plot is not None:
        _check_picture(plot)
    from tightcut import tradeoff_path

    # One cluster takes no search: this builds the graph and gathers the constraints.
    model = read_inputs(data, console, options).fit({**options, "n_clusters": 1, "max_violations": "fewest"})
    settings = {name: options[name] for name in ("effort", "n_jobs", "random_state", "device")}
    points = tradeoff_path(model.graph, model.constraints, progress=console.progress(), **settings)
    rows = [(point.n_violations, point.violated_belief, point.cut) for point in points]
    console.write_rows(output, HEADER, rows)
    if plot is not None:
        _draw(points, plot, force=console.force)
    for path in filter(None, (output, plot)):
        console.note(f"Wrote {path}.")
    lines = [f"{count:8,}  {belief:8g}  {cut:.6g}" for count, belief, cut in rows]
    console.show(
        [dict(zip(HEADER, row, strict=True)) for row in rows], [f"{'violated':>8}  {'belief':>8}  cut", *lines]
    )


def _check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn in the end."""
    if find_spec("matplotlib") is None:
        raise missing_package("--plot", "plots", "matplotlib")
    if path.suffix.lower() not in PICTURES:
        raise click.UsageError(
            f"--plot cannot write {path.suffix or 'a file without a suffix'}; use .png, .svg or .pdf."
        )


def _draw(points: Any, path: Path, *, force: bool) -> None:
    from tightcut.files import atomic_writer
    from tightcut.plots import new_figure, plot_tradeoff

    figure = new_figure(figsize=(7, 4.5))
    plot_tradeoff(points, ax=figure.subplots())
    with atomic_writer(path, "wb", force=force) as stream:
        figure.savefig(stream, format=path.suffix.lower().lstrip("."), dpi=150)
