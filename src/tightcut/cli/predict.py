"""`tightcut predict`: the clusters of new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console
from tightcut.cli._labels import label_table
from tightcut.cli._models import read_model, read_new, rows_of


@click.command(cls=opt.Command, short_help="Assign new rows to the clusters of a saved MODEL.")
@click.argument("model", type=opt.FILE)
@click.argument("new", type=opt.FILE)
@opt.option(
    "-o",
    "--output",
    type=opt.FILE,
    default="-",
    show_default="standard output",
    metavar="CSV",
    help="Where to write labels.",
)
@opt.new_rows_options
@opt.console_options("spreadsheet", "force", "quiet")
def predict(model: Path, new: Path, output: Path, console: Console, **options: Any) -> None:
    """Assign the rows of NEW to the clusters of a saved MODEL, without changing the model.

    Every row gets the cluster that most of its neighbours are in, by weight. To add the rows to the model, use tightcut
    update.
    """
    from tightcut.fitted.predict import predict as predicted

    console.check_files([model, new], output)
    fitted = read_model(model)
    data = read_new(new, fitted, rows_of(fitted), options, console)
    labelled = data.in_file_order(predicted(fitted, data.points).tolist())
    console.write_rows(output, *label_table(data.id_name, labelled, fitted.names))
