"""`tightcut reproduce`: the experiments of the paper, again."""

from __future__ import annotations

from pathlib import Path

import click

from tightcut.cli._console import print_facts
from tightcut.cli._options import Jobs, option, quiet_option

# Named here, so that the help needs no import of the experiments; a test compares.
STUDIES = ("binary", "multiway", "noise", "pccc", "tradeoff", "toy")


@click.command(short_help="Reproduce a STUDY of the paper in a folder.")
@click.argument("study", type=click.Choice(STUDIES))
@option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default="results",
    metavar="FOLDER",
    help="Where to write.",
)
@option("--trials", type=click.IntRange(1), metavar="N", help="Draws of pairs, instead of the study's own number.")
@option("--jobs", type=Jobs(), default=1, metavar="N", help="Cells at the same time.")
@option("--time-limit", type=float, default=120.0, metavar="S", help="Seconds per fit.")
@option("--quick", is_flag=True, help="A miniature on data that needs no download.")
@quiet_option
def reproduce(
    study: str, output: Path, trials: int | None, jobs: int, time_limit: float, quick: bool, quiet: bool
) -> None:
    """Run a STUDY of the paper: tables, figures and a page in a folder.

    An interrupted study resumes where it stopped. Data come from the folder TIGHTCUT_DATA or from OpenML.
    """
    from tightcut.experiments import reproduce as run_study

    table = run_study(study, output, trials=trials, quick=quick, n_jobs=jobs, time_limit=time_limit, progress=not quiet)
    print_facts({"study": study, "rows": f"{len(table):,}", "page": str(Path(output) / "index.md")})
