"""`tightcut certify`: how good the cut of a saved model is, proven."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console
from tightcut.cli._models import proven_model, read_model, rows_of


@click.command(cls=opt.Command, short_help="Prove how good the cut of a saved MODEL is.")
@click.argument("model", type=opt.FILE)
@opt.option("--seconds", type=opt.Finite(0), default=30, help="Seconds after which no further round begins.")
@opt.option("-o", "--output", type=opt.FILE, metavar="NPZ", help="Where to write the proof, for tightcut verify.")
@opt.option(
    "--save",
    type=opt.FILE,
    metavar="MODEL",
    help="Where to write the model with the better clustering, if one is found.",
)
@opt.seed_option
@opt.console_options("as_json", "force", "quiet")
def certify(
    model: Path, seconds: float, output: Path | None, save: Path | None, random_state: int, console: Console
) -> None:
    """Prove a lower bound on the cut of all clusterings of the graph of MODEL that respect its pairs.

    The bound is of this graph and this number of clusters. Ctrl-C ends the rounds and proves what they have found.
    """
    console.check_files([model], others=[output, save])
    from tightcut.fitted.storage import save as save_model

    fitted = read_model(model)
    better, certificate = proven_model(fitted, seconds, console, take=save is not None, random_state=random_state)
    if output is not None:
        certificate.save(output)
        console.note(f"Wrote {output}.")
    if save is not None and better is not fitted:
        save_model(replace(better, rows=rows_of(fitted)), save)
        console.note(f"Wrote {save}.")
    elif certificate.improved and save is None:
        console.note(
            f"Note: there is a better clustering, with a cut of {certificate.cut:.6g}; --save MODEL writes it."
        )
    facts = {"cut": certificate.cut, "bound": certificate.bound, "gap": certificate.gap, "form": certificate.form}
    facts |= {"cut_of_model": certificate.given_cut, "n_clusters": certificate.n_clusters}
    console.show(facts, [str(certificate)])
