"""Tables and sentences of the pages, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MEASURES = {
    "error": "error",
    "cut": "cut",
    "cut_if_satisfied": "cut where the rival violates nothing",
    "violated": "violated fraction",
}


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


def means_and_spreads(table: Any, measure: str, methods: Iterable[str]) -> list[str]:
    """For each method the mean of a measure and, over several trials, its standard deviation."""
    groups = table.groupby("method")[measure]
    mean, spread, count = groups.mean(), groups.std(ddof=0), groups.size()
    return [
        "-" if m not in mean else f"{mean[m]:.3f} ± {spread[m]:.3f}" if count[m] > 1 else f"{mean[m]:.3f}"
        for m in methods
    ]


def counted(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def markdown(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> list[str]:
    """The lines of a table, and an empty one."""
    lines = [[str(value).replace("|", "\\|") for value in row] for row in (header, *rows)]
    text = [f"| {' | '.join(line)} |" for line in lines]
    return [text[0], "|---" * len(lines[0]) + "|", *text[1:], ""]


def listed(items: Iterable[Any]) -> str:
    """Words as a list in a sentence.

    Examples
    --------
    >>> listed([5, 10, 20]), listed(["one", "two"])
    ('5, 10 and 20', 'one and two')
    """
    *others, last = (f"{item:,}" if isinstance(item, int) else str(item) for item in items)
    return f"{', '.join(others)} and {last}" if others else last
