"""`tightcut predict`: the clusters of new rows."""

from __future__ import annotations

from operator import add
from pathlib import Path
from typing import Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console
from tightcut.cli._labels import label_table
from tightcut.cli._models import read_model, read_new, rows_of
from tightcut.utils.display import count_noun

NAMES_SHOWN = 5


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

    Every row gets the cluster that most of its neighbours are in, by weight; `confidence` is their share of that weight. It
    compares clusters, and is no calibrated probability. `far` marks rows that are far from all rows of the model, and may
    belong to none of its clusters. To add the rows to the model, use tightcut update.
    """
    import numpy as np

    from tightcut.files.errors import listed
    from tightcut.fitted.predict import far_rows, vote_shares

    console.check_files([model, new], output)
    fitted = read_model(model)
    data = read_new(new, fitted, rows_of(fitted), options, console)
    with console.warnings_as_notes():
        shares = vote_shares(fitted, data.points)
    far = np.isin(np.arange(data.n_rows), far_rows(fitted, data.points))
    if far.any():
        names = listed([data.ids[row] for row in np.flatnonzero(far)], NAMES_SHOWN)
        console.note(f"Note: {count_noun(far.sum(), 'row is', 'rows are')} far from all rows of the model: {names}.")
    clusters = np.unique(fitted.labels)[shares.argmax(axis=1)].tolist()
    header, rows = label_table(data.id_name, zip(data.ids, clusters, strict=True), fitted.names)
    added = zip(shares.max(axis=1).round(4).tolist(), np.where(far, "yes", "").tolist(), strict=True)
    console.write_rows(output, [*header, "confidence", "far"], map(add, rows, added))
