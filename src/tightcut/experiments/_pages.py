"""The page of results: what the tables say, in words. Every number is computed."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from tightcut.experiments._record import read_table
from tightcut.experiments._studies import STUDIES
from tightcut.experiments._summary import compare
from tightcut.experiments._wording import (
    extent,
    in_order,
    markdown,
    outcome_table,
    statement,
    time_lines,
    unfinished_lines,
)

INTRODUCTION = """\
# Results

Written by `tightcut.experiments`; no number is typed by hand. `tightcut reproduce NAME --output docs/results` makes a \
table, its figures and this page again, and goes on where it was interrupted (from Python: \
`tightcut.experiments.reproduce`). The data are those of `tightcut.datasets`.

*Error* is by majority vote, *cut* the normalized cut of all clusters. All methods see the same graph and the same \
pairs. Lines in the figures are means over the trials, bands one standard deviation.

Wins, ties and losses are of COSC, counted over the numbers of pairs: a win or a loss where the mean paired difference \
over the trials is outside its 95 % t interval (with fewer than three trials: larger than 0.001). COSC is asked to \
satisfy all pairs. A method that violates some solves an easier problem and may have a smaller cut, so the cut is also \
compared over those trials alone in which the rival satisfies all pairs.
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
            about = f"{MINIATURE if facts['quick'] else ''}{study.about}\n"
            parts += [f"## {study.title}\n", about, *SECTIONS[name](folder, name)]
            parts += [
                f"Table: [{name}.csv]({name}.csv), made by `{facts['command']}` with {versions}; {facts['machine']}.\n"
            ]
    page = folder / "index.md"
    page.write_text("\n".join(parts))
    return page


def comparison_section(folder: Path, name: str) -> list[str]:
    table = in_order(read_table(folder / f"{name}.csv"), STUDIES[name])
    outcomes = compare(table)
    overall = outcomes.groupby(["rival", "measure"], sort=False)[["wins", "ties", "losses"]].sum().reset_index()
    violated = table[(table["method"] == "COSC") & (table["status"] == "ok")]["violated"]
    lines = [
        f"Over all datasets: {statement(overall, 'error')} {statement(overall, 'cut_if_satisfied')}\n",
        f"COSC violates a pair in {(violated > 0).sum()} of {len(violated)} cells.\n",
    ]
    for dataset in dict.fromkeys(table["dataset"]):
        own, won = table[table["dataset"] == dataset], outcomes[outcomes["dataset"] == dataset]
        lines += [f"### {dataset}\n", f"{extent(own)} {statement(won, 'error')} {statement(won, 'cut')}\n"]
        if (folder / f"{name}_{dataset}.png").exists():
            lines += [f"![{dataset}: error, cut and violated fraction]({name}_{dataset}.png)\n"]
        lines += [*outcome_table(won), ""]
    return [*lines, *unfinished_lines(table), *time_lines(table)]


def noise_section(folder: Path, name: str) -> list[str]:
    table = in_order(read_table(folder / f"{name}.csv"), STUDIES[name])
    finished = table[table["status"] == "ok"]
    methods = list(STUDIES[name].methods())
    rows = []
    lowest = dict.fromkeys(methods, 0)
    for (dataset, noise, pairs), own in finished.groupby(["dataset", "noise", "n_pairs"], sort=False):
        means = own.groupby("method")["error"].mean()
        best = [method for method in methods if method in means and means[method] <= means.min() + 1e-9]
        for method in best:
            lowest[method] += 1
        spread = own.groupby("method")["error"].std(ddof=0)
        cells = [f"{means[m]:.3f} ± {spread[m]:.3f}" if m in means else "-" for m in methods]
        rows.append([dataset, f"{noise:.0%}", pairs, own["trial"].nunique(), *cells])
    outcomes = [
        f"{method} against hard: {statement_counts(compare(table, 'hard'), method)}"
        for method in methods
        if method != "hard"
    ]
    summary = (
        f"Lowest mean error, of {len(rows)} settings: {', '.join(f'{m} {n}' for m, n in lowest.items())}. "
        f"{'; '.join(outcomes)} (wins, ties, losses in error).\n"
    )
    return [
        summary,
        f"![error by method]({name}_error.png)\n",
        *markdown(["dataset", "wrong", "pairs", "trials", *methods], rows),
        "",
        *unfinished_lines(table),
    ]


def statement_counts(outcomes: Any, rival: str) -> str:
    """Counts over all datasets from the point of view of the other method."""
    own = outcomes[(outcomes["rival"] == rival) & (outcomes["measure"] == "error")]
    return f"{own['losses'].sum()}, {own['ties'].sum()}, {own['wins'].sum()}"


def published_section(folder: Path, name: str) -> list[str]:
    """Adjusted Rand indices beside those of the PCCC paper."""
    table = in_order(read_table(folder / f"{name}.csv"), STUDIES[name])
    order = list(dict.fromkeys(table["method"]))
    rows, verdicts = [], {"above": 0, "below": 0}
    for (dataset, fraction), own in table[table["status"] == "ok"].groupby(["dataset", "fraction"], sort=False):
        ari = own.groupby("method")["ari"]
        mean, spread, count = ari.mean(), ari.std(ddof=0), ari.size()
        cells = [
            "-" if m not in mean else f"{mean[m]:.3f} ± {spread[m]:.3f}" if count[m] > 1 else f"{mean[m]:.3f}"
            for m in order
        ]
        known = published(dataset, fraction)
        if known and "COSC" in mean:
            verdicts["above" if mean["COSC"] >= max(value for _, value in known) else "below"] += 1
        texts = ", ".join(f"{method} {value:.3f}" for method, value in known) or "-"
        rows.append([dataset, f"{fraction:.1%}", own["trial"].nunique(), *cells, texts])
    summary = (
        f"Of {sum(verdicts.values())} settings with a published figure, the mean adjusted Rand index of COSC is at or "
        f"above the best published one in {verdicts['above']} and below it in {verdicts['below']}.\n"
    )
    return [
        summary,
        *markdown(["dataset", "points", "trials", *order, "published"], rows),
        "",
        *unfinished_lines(table),
    ]


def published(dataset: str, fraction: float) -> list[tuple[str, float]]:
    """Methods and their published adjusted Rand indices.

    Examples
    --------
    >>> published("sonar", 0.1)
    [('PCCC', 0.742)]
    """
    with (files("tightcut.experiments") / "published.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] == dataset]
    return [(row["method"], float(row["ari"])) for row in rows if abs(float(row["pairs"][:-1]) / 100 - fraction) < 1e-9]


def picture_section(folder: Path, name: str) -> list[str]:
    import pandas as pd

    table = pd.read_csv(folder / f"{name}.csv")
    rows = [
        [f"{value:.4f}" if isinstance(value, float) else value for value in row]
        for row in table.itertuples(index=False, name=None)
    ]
    lines = [f"![{STUDIES[name].title}]({name}.png)\n"]
    if "violated_pairs" in table:
        best = table.loc[table["error"].idxmin()]
        lines.append(
            f"The smallest error, {best['error']:.4f}, is reached with {best['violated_pairs']:.0f} violated pairs; with "
            f"none it is {table['error'].iloc[0]:.4f}, and at the smallest cut {table['error'].iloc[-1]:.4f}.\n"
        )
    return [*lines, *markdown(list(table.columns), rows), ""]


SECTIONS: dict[str, Callable[[Path, str], list[str]]] = {
    "binary": comparison_section,
    "multiway": comparison_section,
    "noise": noise_section,
    "pccc": published_section,
    "tradeoff": picture_section,
    "toy": picture_section,
}
