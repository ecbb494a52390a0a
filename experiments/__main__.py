"""``python -m experiments``: the studies by name, into a folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.reproduce import fit_study, reproduce
from experiments.studies import STUDIES


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=f"{', '.join(STUDIES)}; all, if none is given")
    parser.add_argument("-o", "--output", type=Path, default=Path("results"), metavar="FOLDER", help="where to write")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="only these; a later run does the others")
    parser.add_argument("--trials", type=int, metavar="N", help="draws of pairs, instead of the study's own number")
    parser.add_argument("--jobs", dest="n_jobs", type=int, default=1, metavar="N", help="fits at the same time")
    parser.add_argument("--time-limit", type=float, default=120.0, metavar="S", help="seconds per fit")
    parser.add_argument("--memory-limit", type=float, default=8.0, metavar="GIB", help="memory per fit, on Linux")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="keep data and graphs there for the next run")
    parser.add_argument("--retry", action="store_true", help="run those fits again that have no result")
    parser.add_argument(
        "--fits", action="store_true", help="tables only: no figures and pages, no pandas, no matplotlib"
    )
    parser.add_argument("--quick", action="store_true", help="a miniature on data that need no download")
    arguments = vars(parser.parse_args())
    output, make = arguments.pop("output"), fit_study if arguments.pop("fits") else reproduce
    names = arguments.pop("studies") or [name for name, study in STUDIES.items() if make is reproduce or study.plans]
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        parser.error(f"unknown study {unknown[0]!r}; there are {', '.join(STUDIES)}")
    if make is fit_study and (pictures := [name for name in names if not STUDIES[name].plans]):
        parser.error(f"{pictures[0]} is a single picture, without fits of its own; leave out --fits")
    for name in names:
        table = make(name, output, progress=True, **arguments)
        print(f"{name}: {len(table):,} rows in {output / name}.csv")  # noqa: T201 (what a command shows)


if __name__ == "__main__":
    main()
