"""A clustering on one page: a self-contained HTML file that needs no network, in light and dark and on paper.

`render` returns the page as text; ``tightcut cluster --report`` writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template
from typing import Any

import numpy as np

from tightcut import __version__
from tightcut.audit import Audit, ConstraintPrice, own_share
from tightcut.constraints import Constraints
from tightcut.constraints.violations import Violations
from tightcut.graph import Graph
from tightcut.relaxation.objective import cluster_cuts
from tightcut.report.changes import change_section
from tightcut.report.map import MARKERS, N_COLOURS, draw_map, key
from tightcut.report.parts import section, shorten, table
from tightcut.updates import Changes

TYPICAL, BORDERLINE = 5, 3  # members named per cluster
PRICES_SHOWN = 20
VIOLATIONS_SHOWN = 30
CLUSTERS_SHOWN = 60
COSTLY_SHARE = 0.05  # of the cut, from which a constraint is marked on the map
COSTLY_SHOWN = 5
NONE = '<span class="quiet">none</span>'
ABOUT_PRICES = (
    "How much the cut would fall without one constraint, all others kept. A correct constraint usually asks for what the "
    "data show anyway and costs little: check the first ones of this list. Constraints that ask for the same thing hide "
    "each other, as no single one of them changes anything."
)
ALL_FREE = "No constraint was found to cost anything: the data agree with all of them."
METHODS = {
    "solved": "solved again",
    "estimated": "estimated",
    "implied": "implied by others",
    "violated": "violated anyway",
    "skipped": "not examined",
}


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about; `points` are drawn, or the graph is laid out by its eigenvectors."""

    graph: Graph
    labels: np.ndarray  # 0, ..., k - 1
    constraints: Constraints
    ids: Sequence[str]
    titles: Sequence[str]  # of the clusters: their names, or numbers
    points: np.ndarray | None = None


def render(
    graph: Graph,
    labels: Any,
    constraints: Constraints | None = None,
    *,
    points: Any = None,
    ids: Sequence[Any] | None = None,
    names: Mapping[int, str] | None = None,
    changes: Changes | None = None,
    prices: Audit | None = None,
    title: str = "Clustering",
    criterion: str = "normalized cut",
    facts: Mapping[str, Any] | None = None,
    created: str = "",
) -> str:
    """One HTML page about a clustering.

    Parameters
    ----------
    graph : Graph
    labels : array-like of shape (n,)
        The number of each point's cluster.
    constraints : Constraints, optional
    points : array-like of shape (n, d), optional
        For the map: more than two features are projected on their principal components. Without points the map is a
        spectral layout of the graph.
    ids : sequence, optional
        Names of the points; row numbers if not given.
    names : mapping, optional
        Names of clusters, by number.
    changes : Changes, optional
        What `COSC.update` has changed.
    prices : Audit, optional
        What `tightcut.audit.audit` returns; adds the price of each constraint.
    title, criterion, created : str
        Heading, name of what was minimised, and a date for the footer.
    facts : mapping, optional
        Further lines of the table "What was clustered", such as the file and the settings.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Graph
    >>> from tightcut.report import render
    >>> ring = Graph.from_affinity(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    >>> page = render(ring, [0, 0, 0, 1, 1, 1], title="A ring")
    >>> page.splitlines()[0], "<h1>A ring</h1>" in page
    ('<!DOCTYPE html>', True)
    """
    n = graph.n_vertices
    labels = np.asarray(labels)
    rows = list(map(str, range(n) if ids is None else ids))
    if labels.shape != (n,) or len(rows) != n:
        raise ValueError(f"labels and ids must have one entry per vertex, {n}; got {labels.shape} and {len(rows)}.")
    known = Constraints.from_pairs(n) if constraints is None else constraints
    numbers, codes = np.unique(labels, return_inverse=True)
    titles = [(names or {}).get(number, str(number)) for number in numbers.tolist()]
    subject = Subject(graph, codes, known, rows, titles, None if points is None else np.asarray(points))
    violations = known.violations(labels)
    sections = [
        _map_section(subject, [] if prices is None else _costly(prices)),
        _cluster_section(subject),
        change_section(changes, rows, names or {}),
        _violation_section(subject, violations),
        _price_section(subject, prices),
        _fact_section(subject, facts or {}),
    ]
    template = Template(resources.files("tightcut.report").joinpath("report.html").read_text("utf-8"))
    return template.substitute(
        title=escape(title),
        lead=_lead(subject, violations),
        cards=_cards(subject, violations, criterion),
        markers=MARKERS,
        sections="\n".join(filter(None, sections)),
        version=__version__,
        created=escape(f" on {created}" if created else ""),
    )


def _lead(subject: Subject, violations: Violations) -> str:
    sizes = np.bincount(subject.labels)
    text = f"{len(subject.ids):,} points in {_count(len(sizes), 'cluster')}"
    known = subject.constraints
    if known.is_empty:
        return f"{text}, found without constraints."
    text += f", found with {_count(known.n_must_link, 'must-link')} and {_count(known.n_cannot_link, 'cannot-link')}"
    if violations.n_violations == 0:
        return f"{text}, all of them satisfied."
    return f"{text}. {violations.n_violations:,} of them {'is' if violations.n_violations == 1 else 'are'} violated."


def _cards(subject: Subject, violations: Violations, criterion: str) -> str:
    leaving, volume = cluster_cuts(subject.graph, subject.labels)
    sizes = np.bincount(subject.labels)
    span = f"{sizes.min():,} to {sizes.max():,} points" if np.ptp(sizes) else f"{sizes[0]:,} points each"
    n_pairs = subject.constraints.n_pairs
    cards = [
        ("Points", f"{len(subject.ids):,}", "", ""),
        ("Clusters", f"{len(sizes):,}", span, ""),
        (
            criterion.capitalize(),
            f"{(leaving / volume).sum():.4g}",
            f"of at most {len(sizes)}" * ("norm" in criterion),
            "",
        ),
    ]
    if n_pairs:
        alarm = "alarm" if violations.n_violations else ""
        cards.append(("Violated constraints", f"{violations.n_violations:,}", f"of {n_pairs:,} pairs", alarm))
    return "".join(
        f'<div class="{alarm}"><dt>{escape(name)}</dt><dd>{value}<small>{note}</small></dd></div>'
        for name, value, note, alarm in cards
    )


def _map_section(subject: Subject, costly: list[ConstraintPrice]) -> str:
    svg, caption = draw_map(subject.graph, subject.labels, subject.constraints, subject.ids, subject.points, costly)
    known, sizes = subject.constraints, np.bincount(subject.labels)
    entries = [
        f"<li>{key(cluster)} cluster {escape(shorten(subject.titles[cluster]))} ({size:,})</li>"
        for cluster, size in enumerate(sizes[:CLUSTERS_SHOWN])
    ]
    violations = known.violations(subject.labels)
    lines = [
        ("must", "must-link", known.n_must_link - len(violations.must_link)),
        ("cannot", "cannot-link", known.n_cannot_link - len(violations.cannot_link)),
        ("costly", f"expensive: more than {COSTLY_SHARE:.0%} of the cut", len(costly)),
        ("must violated", "violated must-link", len(violations.must_link)),
        ("cannot violated", "violated cannot-link", len(violations.cannot_link)),
    ]
    entries += [f"<li>{_line(kind)} {text} ({count:,})</li>" for kind, text, count in lines if count]
    repeat = " Colours and shapes repeat." if len(sizes) > N_COLOURS else ""
    return section(
        "map",
        "Map",
        f'<figure>{svg}<ul class="legend">{"".join(entries)}</ul>'
        f"<figcaption>{escape(caption)}{repeat}</figcaption></figure>",
    )


def _cluster_section(subject: Subject) -> str:
    graph, labels = subject.graph, subject.labels
    leaving, volume = cluster_cuts(graph, labels)
    share = own_share(graph, labels)
    # Many points have all their neighbours in their own cluster; among them the best connected come first.
    order = np.lexsort((-graph.degrees, -share))
    rows = []
    for cluster, cut in enumerate((leaving / volume)[:CLUSTERS_SHOWN].tolist()):
        members = order[labels[order] == cluster]
        border = [point for point in members[::-1][:BORDERLINE] if share[point] < 1]
        rows.append(
            f'<th scope="row">{key(cluster)} {escape(shorten(subject.titles[cluster]))}</th><td class="n">{len(members):,} '
            f"<small>{len(members) / len(labels):.0%}</small></td>"
            f'<td class="n">{cut:.3g}</td><td>{_chips(subject, members[:TYPICAL])}</td>'
            f"<td>{_chips(subject, border) or NONE}</td>"
        )
    if len(leaving) > CLUSTERS_SHOWN:
        rows.append(f'<td colspan="5" class="quiet">and {len(leaving) - CLUSTERS_SHOWN:,} more clusters</td>')
    caption = (
        "Cut is the edge weight that leaves a cluster over the weight of the cluster; the cuts add up to the total. "
        "Typical members have the largest share of their connections inside the cluster, those at the border the "
        "smallest."
    )
    headings = ("Cluster", "Points#", "Cut#", "Most typical members", "At the border")
    return section("clusters", "Clusters", table(caption, headings, rows))


def _violation_section(subject: Subject, violations: Violations) -> str:
    if not violations.n_violations:
        return ""
    pairs = [("must", pair) for pair in violations.must_link.tolist()]
    pairs += [("cannot", pair) for pair in violations.cannot_link.tolist()]
    rows = [
        f'<td>{_line(f"{kind} violated")} {kind}-link</td><td class="pair">{_chips(subject, pair)}</td>'
        f'<td class="n">{_title(subject, pair[0])}</td><td class="n">{_title(subject, pair[1])}</td>'
        for kind, pair in pairs[:VIOLATIONS_SHOWN]
    ]
    hidden = len(pairs) - len(rows)
    caption = f"Total belief violated: {violations.belief:g}." + (f" {hidden:,} more are not shown." if hidden else "")
    headings = ("Type", "Pair", "Cluster of the first#", "of the second#")
    return section("violations", "Violated constraints", table(caption, headings, rows))


def _price_section(subject: Subject, prices: Audit | None) -> str:
    if prices is None or len(prices) == 0:
        return ""
    shown = [row for row in prices[:PRICES_SHOWN] if row.price > 0]
    largest = max((row.price for row in shown), default=1.0)
    rows = [
        f'<td>{_line(row.kind)} {row.kind}-link</td><td class="pair">{_chips(subject, (row.first, row.second))}</td>'
        f'<td class="n">{row.belief:g}</td><td class="n">{row.price:.4g} <small>{row.price / prices.cut:.1%}</small></td>'
        f'<td class="bar"><i style="width:{100 * row.price / largest:.1f}%"></i></td><td>{METHODS[row.method]}</td>'
        for row in shown
    ]
    counts = {method: sum(row.method == method for row in prices) for method in METHODS}
    tally = ", ".join(f"{count:,} {METHODS[method]}" for method, count in counts.items() if count)
    free = sum(row.price == 0 and row.method != "skipped" for row in prices)
    hidden = sum(row.price > 0 for row in prices) - len(shown)
    caption = f"Prices are savings that were found, so they are lower bounds. Of {len(prices):,} constraints: {tally}. "
    caption += f"{free:,} cost nothing" + (f", {hidden:,} more are not shown." if hidden else ".")
    headings = ("Type", "Pair", "Belief#", "Price, of the cut#", '<span class="quiet">relative</span>', "How found")
    body = table(caption, headings, rows) if shown else f"<p>{ALL_FREE}</p>"
    return section("prices", "Price of each constraint", f"<p>{ABOUT_PRICES}</p>{body}")


def _fact_section(subject: Subject, facts: Mapping[str, Any]) -> str:
    graph, known = subject.graph, subject.constraints
    lines = {**facts, "Graph": f"{graph.n_vertices:,} vertices, {graph.n_edges:,} edges"}
    if not known.is_empty:
        lines["Constraints"] = f"{known.n_must_link:,} must-links, {known.n_cannot_link:,} cannot-links"
    rows = [f'<th scope="row">{escape(name)}</th><td>{escape(str(value))}</td>' for name, value in lines.items()]
    return section("subject", "What was clustered", table("Data, graph and settings.", (), rows, "facts"))


def _costly(prices: Audit) -> list[ConstraintPrice]:
    return [row for row in prices[:COSTLY_SHOWN] if row.price > COSTLY_SHARE * prices.cut]


def _chips(subject: Subject, points: Iterable[int]) -> str:
    return "".join(f'<span class="id">{escape(shorten(subject.ids[point]))}</span>' for point in points)


def _title(subject: Subject, point: int) -> str:
    return escape(shorten(subject.titles[subject.labels[point]]))


def _line(kind: str) -> str:
    return f'<svg viewBox="0 0 24 12" aria-hidden="true"><line class="{kind}" x1="0" y1="7" x2="24" y2="7"/></svg>'


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
