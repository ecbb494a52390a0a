"""What tables say, in words and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tightcut.experiments._studies import Study
from tightcut.experiments._summary import unfinished

MEASURES = {
    "error": "error",
    "cut": "cut",
    "cut_if_satisfied": "cut where the rival violates nothing",
    "violated": "violated fraction",
}


def in_order(table: Any, study: Study) -> Any:
    """Datasets and methods as the study names them; the file has them in the order of the alphabet."""
    datasets = [name for plan in study.plans for name in plan.datasets]
    methods = list(study.methods())

    def place(column: Any) -> Any:
        known = datasets if column.name == "dataset" else methods
        return column.map(lambda name: known.index(name) if name in known else len(known))

    return table.sort_values(["dataset", "method"], key=place, kind="stable")


def extent(table: Any) -> str:
    """What was run for a dataset.

    Trials are those of a method that has most, and the methods that have fewer are named.
    """
    sizes = sorted(set(table["n_pairs"].dropna()))
    trials = table.groupby("method")["trial"].nunique()
    fewer = [f"{method}: {count}" for method, count in trials.items() if count < trials.max()]
    also = f" ({', '.join(fewer)})" if fewer else ""
    given = f"{len(sizes)} numbers of pairs from {sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]} pairs"
    return f"{given}, {_count(trials.max(), 'trial')}{also}."


def statement(outcomes: Any, measure: str) -> str:
    """A sentence on where the reference wins, ties and loses: by more wins than losses, and so on.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("A", "error", 3, 1, 0), ("B", "error", 0, 4, 0), ("C", "error", 1, 0, 3)]
    >>> outcomes = pd.DataFrame(rows, columns=["rival", "measure", "wins", "ties", "losses"])
    >>> statement(outcomes, "error")
    'In error, COSC wins against A (3 wins, 1 tie, 0 losses); ties with B (0, 4, 0); loses to C (1, 0, 3).'
    """
    groups: dict[str, list[str]] = {"wins against": [], "ties with": [], "loses to": []}
    spelled = False
    for row in outcomes[outcomes["measure"] == measure].itertuples():
        if row.wins + row.ties + row.losses == 0:
            continue
        key = "wins against" if row.wins > row.losses else "ties with" if row.wins == row.losses else "loses to"
        counts = f"{row.wins}, {row.ties}, {row.losses}"
        if not spelled:
            counts = f"{_count(row.wins, 'win')}, {_count(row.ties, 'tie')}, {_count(row.losses, 'loss', 'losses')}"
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
    return ["Cells without a result:\n", *markdown(["dataset", "method", "cells", "status", "reason"], rows), ""]


def time_lines(table: Any) -> list[str]:
    """Median seconds per fit; the graph is given."""
    finished = table[table["status"] == "ok"]
    seconds = finished.groupby(["dataset", "method"], sort=False)["seconds"].median().unstack(sort=False)
    rows = [
        [dataset, *("-" if value != value else f"{value:.2g}" for value in row)] for dataset, row in seconds.iterrows()
    ]
    return [
        "Median seconds per fit, given the graph (a hint: the machine may have had other work):\n",
        *markdown(["dataset", *seconds.columns], rows),
        "",
    ]


def markdown(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> list[str]:
    lines = [[str(value).replace("|", "\\|") for value in row] for row in (header, *rows)]
    text = [f"| {' | '.join(line)} |" for line in lines]
    return [text[0], "|---" * len(lines[0]) + "|", *text[1:]]


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"
