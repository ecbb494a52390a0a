"""The page of results: what the tables say, in words. Every number is computed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.claims import write_claims
from experiments.compare import compare, unfinished
from experiments.dataset_page import write_dataset_page
from experiments.record import STAMP, read_table
from experiments.studies import STUDIES, Study
from experiments.words import counted, listed, markdown, means_and_spreads, statement

INTRODUCTION = """\
# The paper's experiments

Each method clusters the same graphs with the same random pairs. There is a page for each dataset, and [one of the paper's \
claims](claims.md) with what we found.

| line | what it is |
|---|---|
| *COSC* | today's search for the smallest cut on the graph that all share, asked to satisfy every pair |
| *paper* | `method="paper"`: the paper's own algorithm as we read it, on that graph |
| *default* | what a user gets who gives points and pairs alone; its graph is its own, so its cuts are not compared |
| *SL*, *CSP*, *CCSR*, *SCLC* | the rivals of the paper |
| *FAST-GE*, *PCKMeans* | two others |

**The rivals are our own implementations** of what their publications describe, not the programs that the paper used; \
[their pages](../api.md#rivals) say how each works. This is what the publications promise about the pairs:

| rival | publication | promise |
|---|---|---|
| SL | Kamvar, Klein and Manning 2003 | none: pairs edit single affinities |
| CSP | Wang and Davidson 2010 | the relaxed vector satisfies a given share of them; the clusters need not |
| CCSR | Li, Liu and Tang 2009 | none: the spectral embedding is adapted to them by least squares |
| SCLC | Xu, Li and Schuurmans 2009 | the relaxed vector satisfies all, so two clusters do, by its signs, where no value is 0 |
| FAST-GE | Cucuringu and others 2016 | none for a single pair: what is cut of the pairs counts in the objective |
| PCKMeans | Basu, Banerjee and Mooney 2004 | none: a violated pair has a price |

*Error* is by majority vote, *cut* the normalized cut of all clusters. Lines in the figures are means over the trials, bands \
one standard deviation. A line that cannot be seen lies under another: *paper* mostly under COSC.

Wins, ties and losses are of COSC, counted over the numbers of pairs: a win or a loss where the mean paired difference \
over the trials is outside its 95 % t interval (with fewer than three trials: larger than 0.001). A method that violates pairs \
solves an easier problem and may have a smaller cut, so cuts are compared over those trials alone in which the rival satisfies \
all pairs.

Written by the folder `experiments/` of the repository; no number is typed by hand. `make reproduce` makes all tables, \
figures and pages again, and goes on where it was interrupted; `python -m experiments NAME --output docs/results` \
does one study. The data are those of `tightcut.datasets`.
"""

MINIATURE = "**A miniature** (`--quick`), on other data and in fewer trials than described here. "


def write_index(folder: str | os.PathLike[str]) -> Path:
    """Write ``index.md`` about all studies that the folder has results of."""
    folder = Path(folder)
    parts = [INTRODUCTION]
    for name, study in STUDIES.items():
        if all((folder / f"{name}.{kind}").exists() for kind in ("csv", "json")):
            facts = json.loads((folder / f"{name}.json").read_text())
            versions = ", ".join(f"{package} {number}" for package, number in facts["versions"].items())
            versions += "".join(f", commit {commit}" for commit in facts.get("commits", []))
            about = f"{MINIATURE if facts['quick'] else ''}{study.about}\n"
            parts += [f"## {study.title}\n", about, *SECTIONS[name](folder, name)]
            parts += [
                f"Table: [{name}.csv]({name}.csv), made by `{facts['command']}` with {versions}; {facts['machine']}.\n"
            ]
    write_claims(folder)
    page = folder / "index.md"
    page.write_text("\n".join(parts))
    return page


def comparison_section(folder: Path, name: str) -> list[str]:
    """What holds over all datasets, and a page of its own for each of them."""
    table, problems = read_study(folder, name), json.loads((folder / f"{name}.json").read_text()).get("problems", {})
    outcomes = compare(table)
    overall = outcomes.groupby(["rival", "measure"], sort=False)[["wins", "ties", "losses"]].sum().reset_index()
    lines = [
        f"Over all datasets: {statement(overall, 'error')} {statement(overall, 'cut_if_satisfied')}\n",
        *violation_lines(table),
    ]
    rows, rivals = [], list(dict.fromkeys(outcomes["rival"]))
    for dataset in dict.fromkeys(table["dataset"]):
        write_dataset_page(folder, name, table[table["dataset"] == dataset], problems.get(dataset, {}))
        error = outcomes[(outcomes["dataset"] == dataset) & (outcomes["measure"] == "error")].set_index("rival")
        counts = {row.Index: f"{row.wins}/{row.ties}/{row.losses}" for row in error.itertuples()}
        rows.append([f"[{dataset}]({name}_{dataset}.md)", *(counts.get(rival, "-") for rival in rivals)])
    lines += ["Error, COSC against (wins/ties/losses):\n", *markdown(["dataset", *rivals], rows)]
    return [*lines, *absent_lines(table, STUDIES[name], name), *unfinished_lines(table), *time_lines(table)]


def absent_lines(table: Any, study: Study, name: str) -> list[str]:
    """Datasets of the study that nothing was fitted to, and the command that does it."""
    absent = [own for own in study.datasets if own not in set(table["dataset"])]
    if not absent or not set(table["dataset"]) <= set(study.datasets):  # of a miniature, none
        return []
    command = f"`python -m experiments {name} --output docs/results --datasets {' '.join(absent)}`"
    them = "it" if len(absent) == 1 else "them"
    return [f"Not run here: {listed(absent)}. On a machine that is large enough, {command} adds {them}.\n"]


def violation_lines(table: Any) -> list[str]:
    finished = table[(table["status"] == "ok") & table["method"].isin(["COSC", "paper", "default"])]
    counts = [
        f"{method} violates a pair in {(own['violated'] > 0).sum()} of {len(own)} fits"
        for method, own in finished.groupby("method", sort=False)
    ]
    return [f"{'; '.join(counts)}.\n"] if counts else []


def noise_section(folder: Path, name: str) -> list[str]:
    table = read_study(folder, name)
    methods = list(STUDIES[name].methods())
    rows, lowest = [], dict.fromkeys(methods, 0)
    groups = table[table["status"] == "ok"].groupby(["dataset", "noise", "n_pairs"], sort=False)
    for (dataset, noise, pairs), own in groups:
        means = own.groupby("method")["error"].mean()
        for method in methods:
            lowest[method] += method in means and means[method] <= means.min() + 1e-9
        rows.append([dataset, f"{noise:.0%}", pairs, own["trial"].nunique(), *means_and_spreads(own, "error", methods)])
    errors = compare(table, "hard").query("measure == 'error'")
    outcomes = []
    for method, own in errors.groupby("rival", sort=False):  # from the point of view of the other method
        outcomes.append(f"{method} against hard: {own['losses'].sum()}, {own['ties'].sum()}, {own['wins'].sum()}")
    summary = (
        f"Lowest mean error, of {len(rows)} settings: {', '.join(f'{m} {n}' for m, n in lowest.items())}. "
        f"{'; '.join(outcomes)} (wins, ties, losses in error).\n"
    )
    picture = f"![error by method]({name}_error.png)\n"
    cells = markdown(["dataset", "wrong", "pairs", "trials", *methods], rows)
    own_page(folder, name, [summary, picture, "Mean error, with the standard deviation over the trials:\n", *cells])
    return [summary, f"[The figure, and every setting]({name}.md).\n", *unfinished_lines(table)]


def picture_section(folder: Path, name: str) -> list[str]:
    table = pd.read_csv(folder / f"{name}.csv").drop(columns=list(STAMP), errors="ignore")
    lines = []
    if "violated_pairs" in table:
        best = table.loc[table["error"].idxmin()]
        where = f"with {best['violated_pairs']:.0f} violated pairs; with none it is {table['error'].iloc[0]:.4f}"
        where = where if best["violated_pairs"] else "with no violated pair"
        lines.append(
            f"{counted(len(table), 'point')}. The smallest error, {best['error']:.4f}, is that {where}, and at the smallest "
            f"cut it is {table['error'].iloc[-1]:.4f}.\n"
        )
    rows = table.map(lambda value: f"{value:.4f}" if isinstance(value, float) else value)
    picture = f"![{STUDIES[name].title}]({name}.png)\n"
    own_page(folder, name, [*lines, picture, *markdown(table.columns, rows.itertuples(index=False))])
    return [*lines, f"[The figure, and its numbers]({name}.md).\n"]


def own_page(folder: Path, name: str, lines: list[str]) -> None:
    """A study that is not split by dataset."""
    study = STUDIES[name]
    text = [f"# {study.title}\n", f"{study.about}\n", *lines, f"[All results](index.md), the [table]({name}.csv).\n"]
    (folder / f"{name}.md").write_text("\n".join(text))


SECTIONS: dict[str, Callable[[Path, str], list[str]]] = {
    "binary": comparison_section,
    "multiway": comparison_section,
    "noise": noise_section,
    "tradeoff": picture_section,
    "toy": picture_section,
}


def read_study(folder: Path, name: str) -> Any:
    return STUDIES[name].in_order(read_table(folder / f"{name}.csv"))


def unfinished_lines(table: Any) -> list[str]:
    """What could not be run, and why."""
    odd = unfinished(table)
    if len(odd) == 0:
        return ["Every cell was solved.\n"]
    rows = [[row.dataset, row.method, row.cells, row.status, row.message] for row in odd.itertuples()]
    return ["Cells without a result:\n", *markdown(["dataset", "method", "cells", "status", "reason"], rows)]


def time_lines(table: Any) -> list[str]:
    """Median processor seconds per fit; the graph is given."""
    finished = table[table["status"] == "ok"]
    seconds = finished.pivot_table("seconds", "dataset", "method", "median", sort=False)
    rows = [[name, *("-" if value != value else f"{value:.2g}" for value in row)] for name, row in seconds.iterrows()]
    heading = "Median processor seconds per fit, on one thread, given the graph:\n"
    return [heading, *markdown(["dataset", *seconds.columns], rows)]
