"""The pairs of a report: violated ones, and the price of each."""

from __future__ import annotations

from collections.abc import Sequence

from tightcut.audit import Audit, ConstraintPrice
from tightcut.report.html import Cell, Row, Subject, line, number, section, table
from tightcut.utils.contradictions import Link
from tightcut.utils.display import count_noun

PRICES_SHOWN = 20
CLICK = '<span class="click">Click a pair to see it on the map.</span>'
VIOLATIONS_SHOWN = 30
COSTLY_SHARE = 0.05  # of the cut, from which a constraint is marked on the map
COSTLY_SHOWN = 5
ABOUT_PRICES = (
    "How much the cut would fall without one constraint if all others were kept. A correct constraint usually agrees with "
    "the data and costs little: check the first ones of this list. Constraints that ask for the same thing hide each "
    "other, as no single one of them changes anything."
)
FREE = "No constraint was found to cost anything: the data agree with all {}."
METHODS = {
    "solved": "solved again",
    "estimated": "estimated",
    "implied": "implied by others",
    "violated": "violated anyway",
    "skipped": "not examined",
}


def violation_section(subject: Subject) -> str:
    violations = subject.violations
    if not violations.n_violations:
        return ""
    links = [("must", i, j) for i, j in violations.must_link.tolist()]
    links += [("cannot", i, j) for i, j in violations.cannot_link.tolist()]
    rows = [
        _row(subject, link, f"{link[0]} violated", [number(subject.title(subject.labels[end])) for end in link[1:]])
        for link in links[:VIOLATIONS_SHOWN]
    ]
    hidden = len(links) - len(rows)
    caption = f"{CLICK} Total belief violated: {violations.belief:g}." + (
        f" {hidden:,} more are not shown." if hidden else ""
    )
    headings = ("Type", "Pair", "Cluster of the first#", "of the second#", "Source")
    return section("violations", "Violated constraints", table(caption, headings, rows))


def price_section(subject: Subject, prices: Audit | None) -> str:
    if prices is None or len(prices) == 0:
        return ""
    shown = [row for row in prices[:PRICES_SHOWN] if row.price > 0]
    largest = max((row.price for row in shown), default=1.0)
    rows = []
    for row in shown:
        cells = [_bar(row, prices.cut, largest), number(f"{row.belief:g}"), Cell(METHODS[row.method])]
        rows.append(_row(subject, (row.kind, row.first, row.second), row.kind, cells))
    counts = {method: sum(row.method == method for row in prices) for method in METHODS}
    tally = ", ".join(f"{count:,} {METHODS[method]}" for method, count in counts.items() if count)
    free = sum(row.price == 0 and row.method != "skipped" for row in prices)
    hidden = sum(row.price > 0 for row in prices) - len(shown)
    caption = f"{CLICK} Prices are savings that were found, so they are lower bounds. Of "
    caption += f"{count_noun(len(prices), 'constraint')}: {tally}. {count_noun(free, 'costs nothing', 'cost nothing')}"
    caption += f", {hidden:,} more {'is' if hidden == 1 else 'are'} not shown." if hidden else "."
    headings = ("Type", "Pair", "Price, of the cut#", "Belief#", "How found", "Source")
    held = "that are satisfied" if counts["violated"] else "of them"
    body = table(caption, headings, rows) if shown else f"<p>{FREE.format(held)}</p>"
    return section("prices", "Price of each constraint", f"<p>{ABOUT_PRICES}</p>{body}")


def _row(subject: Subject, link: Link, drawn: str, cells: Sequence[Cell]) -> Row:
    """A pair: its kind, as it is drawn, its points, further cells, and its source."""
    kind, i, j = link
    pair = Cell(subject.chips((i, j)), 'class="pair"')
    return Row([Cell(f"{line(drawn)} {kind}-link"), pair, *cells, subject.place(*link)], f'data-pair="{i} {j}"')


def _bar(row: ConstraintPrice, cut: float, largest: float) -> Cell:
    """A price, its share of the cut, and a bar as long as its share of the largest price."""
    bar = f'<i style="width:{100 * row.price / largest:.1f}%"></i>'
    return Cell(f"{row.price:.4g} <small>{row.price / cut:.1%}</small>{bar}", 'class="n bar"')


def costly(prices: Audit) -> list[ConstraintPrice]:
    return [row for row in prices[:COSTLY_SHOWN] if row.price > COSTLY_SHARE * prices.cut]
