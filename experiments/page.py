"""The page of results: what the tables say, in words. Every number is computed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.claims import write_claims
from experiments.compare import compare, unfinished
from experiments.record import STAMP, read_table
from experiments.studies import STUDIES

INTRODUCTION = """\
# Results

Written by the folder `experiments/` of the repository; no number is typed by hand. `make reproduce` makes all tables, \
figures and this page again, and goes on where it was interrupted; `python -m experiments NAME --output docs/results` \
does one study. The data are those of `tightcut.datasets`. The rivals are our own implementations of what their \
publications describe ([their pages](../api.md) say what each promises): SL, CSP, CCSR and SCLC are those of the paper, \
FAST-GE and PCKMeans are others. *COSC* is the search for the smallest cut on the graph that all share, *paper* the paper's \
own algorithm on it, and *default* what a user gets who gives points and pairs and nothing else.

*Error* is by majority vote, *cut* the normalized cut of all clusters. All methods see the same graph and the same \
pairs. Lines in the figures are means over the trials, bands one standard deviation.

Wins, ties and losses are of COSC, counted over the numbers of pairs: a win or a loss where the mean paired difference \
over the trials is outside its 95 % t interval (with fewer than three trials: larger than 0.001). COSC is asked to \
satisfy all pairs. A method that violates some solves an easier problem and may have a smaller cut, so the cut is also \
compared over those trials alone in which the rival satisfies all pairs.
"""

MEASURES = {
    "error": "error",
    "cut": "cut",
    "cut_if_satisfied": "cut where the rival violates nothing",
    "violated": "violated fraction",
}
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
    if write_claims(folder):
        parts.insert(1, "[What the paper claims, and what we found](claims.md) sums up.\n")
    page = folder / "index.md"
    page.write_text("\n".join(parts))
    return page


def comparison_section(folder: Path, name: str) -> list[str]:
    """What holds over all datasets, and a page of its own for each of them."""
    table = read_study(folder, name)
    outcomes = compare(table)
    overall = outcomes.groupby(["rival", "measure"], sort=False)[["wins", "ties", "losses"]].sum().reset_index()
    lines = [
        f"Over all datasets: {statement(overall, 'error')} {statement(overall, 'cut_if_satisfied')}\n",
        *violation_lines(table),
    ]
    rows = []
    for dataset in dict.fromkeys(table["dataset"]):
        own, won = table[table["dataset"] == dataset], outcomes[outcomes["dataset"] == dataset]
        write_dataset_page(folder, name, own, won)
        error = won[won["measure"] == "error"].set_index("rival")
        cells = (f"{row.wins}/{row.ties}/{row.losses}" for row in error.itertuples())
        rows.append([f"[{dataset}]({name}_{dataset}.md)", *cells])
    rivals = dict.fromkeys(outcomes["rival"])
    lines += ["Error, COSC against (wins/ties/losses):\n", *markdown(["dataset", *rivals], rows)]
    return [*lines, *unfinished_lines(table), *time_lines(table)]


def write_dataset_page(folder: Path, name: str, own: Any, won: Any) -> None:
    """A figure, who wins, ties and loses, and what the cuts look like with the fewest pairs."""
    dataset = own["dataset"].iloc[0]
    lines = [
        f"# {dataset}\n",
        f"{extent(own)} {statement(won, 'error')} {statement(won, 'cut')}\n",
        *balance_lines(own),
    ]
    if (folder / f"{name}_{dataset}.png").exists():
        lines += [f"![{dataset}: error, cut and violated fraction]({name}_{dataset}.png)\n"]
    lines += [*outcome_table(won), f"[All results](index.md), the [table]({name}.csv).\n"]
    (folder / f"{name}_{dataset}.md").write_text("\n".join(lines))


def balance_lines(own: Any) -> list[str]:
    """How even the clusters are: a cut that splits off a corner is the objective's doing, and no failure of a search."""
    finished = own[(own["method"] == "COSC") & (own["status"] == "ok") & own["smallest"].notna()]
    if len(finished) == 0:
        return []
    numbers = sorted(set(finished["n_pairs"]))
    shares = finished.groupby("n_pairs")["smallest"].mean()
    given = f"With {numbers[0]} pairs the smallest cluster of COSC holds {shares[numbers[0]]:.1%} of the points"
    return [f"{given}, with {numbers[-1]} it holds {shares[numbers[-1]]:.1%} (means over the trials).\n"]


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
    return [summary, picture, *cells, *unfinished_lines(table)]


def picture_section(folder: Path, name: str) -> list[str]:
    table = pd.read_csv(folder / f"{name}.csv").drop(columns=list(STAMP), errors="ignore")
    lines = [f"![{STUDIES[name].title}]({name}.png)\n"]
    if "violated_pairs" in table:
        best = table.loc[table["error"].idxmin()]
        lines.append(
            f"The smallest error, {best['error']:.4f}, is reached with {best['violated_pairs']:.0f} violated pairs; with "
            f"none it is {table['error'].iloc[0]:.4f}, and at the smallest cut {table['error'].iloc[-1]:.4f}.\n"
        )
    rows = table.map(lambda value: f"{value:.4f}" if isinstance(value, float) else value)
    return [*lines, *markdown(table.columns, rows.itertuples(index=False))]


SECTIONS: dict[str, Callable[[Path, str], list[str]]] = {
    "binary": comparison_section,
    "multiway": comparison_section,
    "noise": noise_section,
    "tradeoff": picture_section,
    "toy": picture_section,
}


def read_study(folder: Path, name: str) -> Any:
    return STUDIES[name].in_order(read_table(folder / f"{name}.csv"))


def means_and_spreads(table: Any, measure: str, methods: Iterable[str]) -> list[str]:
    """For each method the mean of a measure and, over several trials, its standard deviation."""
    groups = table.groupby("method")[measure]
    mean, spread, count = groups.mean(), groups.std(ddof=0), groups.size()
    return [
        "-" if m not in mean else f"{mean[m]:.3f} ± {spread[m]:.3f}" if count[m] > 1 else f"{mean[m]:.3f}"
        for m in methods
    ]


def extent(table: Any) -> str:
    """What was run for a dataset: the most trials that a method has, and the methods that have fewer."""
    sizes = sorted(set(table["n_pairs"].dropna()))
    trials = table.groupby("method")["trial"].nunique()
    fewer = [f"{method}: {count}" for method, count in trials.items() if count < trials.max()]
    also = f" ({', '.join(fewer)})" if fewer else ""
    given = f"{len(sizes)} numbers of pairs from {sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]} pairs"
    return f"{given}, {counted(trials.max(), 'trial')}{also}."


def statement(outcomes: Any, measure: str) -> str:
    """A sentence on where the reference wins, ties and loses: by more wins than losses, and so on."""
    groups: dict[str, list[str]] = {"wins against": [], "ties with": [], "loses to": []}
    spelled = False
    for row in outcomes[outcomes["measure"] == measure].itertuples():
        if row.wins + row.ties + row.losses == 0:
            continue
        key = "wins against" if row.wins > row.losses else "ties with" if row.wins == row.losses else "loses to"
        counts = f"{row.wins}, {row.ties}, {row.losses}"
        if not spelled:
            counts = f"{counted(row.wins, 'win')}, {counted(row.ties, 'tie')}, {counted(row.losses, 'loss', 'losses')}"
            spelled = True
        groups[key].append(f"{row.rival} ({counts})")
    clauses = [f"{verb} {', '.join(names)}" for verb, names in groups.items() if names]
    begin = f"In {MEASURES[measure]}"
    return f"{begin}, COSC {'; '.join(clauses)}." if clauses else f"{begin}, there is nothing to compare."


def outcome_table(outcomes: Any) -> list[str]:
    rows = []
    for rival in dict.fromkeys(outcomes["rival"]):
        own = outcomes[outcomes["rival"] == rival].set_index("measure")
        counts = [tuple(own.loc[measure, ["wins", "ties", "losses"]]) for measure in MEASURES]
        rows.append([rival, *("/".join(map(str, count)) if sum(count) else "-" for count in counts)])
    return markdown(["COSC against (wins/ties/losses)", *MEASURES.values()], rows)


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


def counted(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def markdown(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> list[str]:
    """The lines of a table, and an empty one."""
    lines = [[str(value).replace("|", "\\|") for value in row] for row in (header, *rows)]
    text = [f"| {' | '.join(line)} |" for line in lines]
    return [text[0], "|---" * len(lines[0]) + "|", *text[1:], ""]
