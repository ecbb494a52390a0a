"""A clustering on one page: a self-contained HTML file that needs no network, for light and dark screens and for print.

`render` returns the page as text, `write_report` and ``tightcut cluster --report`` write it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from tightcut import __version__
from tightcut.audit import Audit, ConstraintPrice, audit
from tightcut.certificates import Certificate
from tightcut.drawing.pictures import ArrayPictures
from tightcut.fitted.changes import Changes
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import cluster_cuts
from tightcut.report.changes import change_section
from tightcut.report.clusters import CLUSTERS_SHOWN, cluster_section
from tightcut.report.html import Cell, Place, Row, Subject, heading, line, section, shorten, table
from tightcut.report.map import MARKERS, PALETTES, draw_map, legend_marker
from tightcut.report.pairs import COSTLY_SHARE, costly, price_section, violation_section
from tightcut.report.proof import proof_section
from tightcut.utils.atomic import replace_file
from tightcut.utils.display import count_noun

TOOLS = (
    '<div class="tools" hidden><input type="search" aria-label="Find points by name" placeholder="Find points">'
    '<button type="button" data-zoom="1.5" aria-label="Closer">+</button>'
    '<button type="button" data-zoom="0.667" aria-label="Farther">&minus;</button>'
    '<button type="button" data-zoom="0">Show all</button><output></output></div>'
)
HOVER = '<span class="click">Hover over a marker to see its name, click it to see its cluster; zoom by a double click.</span>'
MEMBERS = '<div id="members" hidden><h3></h3><p class="quiet"></p><div></div></div>'
CRITERIA = {"ncut": "normalized cut", "rcut": "ratio cut"}
MEMBERS_LISTED = 20_000  # points whose names are included in a page


def render(
    graph: Graph,
    labels: Any,
    constraints: Constraints | None = None,
    *,
    points: Any = None,
    columns: Sequence[str] = (),
    texts: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    names: Mapping[int, str] | None = None,
    changes: Changes | None = None,
    prices: Audit | None = None,
    free_cut: float | None = None,
    certificate: Certificate | None = None,
    places: Place | None = None,
    images: Any = None,
    layout: str = "auto",
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
        For the map, and for the means of each cluster in its most distinctive columns.
    columns : sequence of str
        Names of the features of `points`.
    texts : sequence of str, optional
        What the points were made of; each cluster is then described by its most distinctive words.
    ids : sequence, optional
        Names of the points; row numbers if not given.
    names : mapping, optional
        Names of clusters, by number.
    changes : Changes, optional
        The changes of `COSC.update`.
    prices : Audit, optional
        The result of `tightcut.audit.audit`; adds the price of each constraint.
    free_cut : float, optional
        The cut without constraints; by default that of `prices`.
    certificate : Certificate, optional
        The result of `tightcut.certificates.certify`: a proven bound on the cut.
    places : callable, optional
        Called with ("must" or "cannot", i, j); returns the source of the pair, for example a line of a file.
    images : array-like of shape (n, height, width) or (n, height, width, 3), optional
        Pictures of the points, shown for typical members.
    layout : {"auto", "graph", "pca"}, default="auto"
        How the map is drawn: by the graph, by the principal components of `points`, or ("auto") by `points` themselves
        if they have at most two features and otherwise by the graph.
    title, criterion, created : str
        Heading, name of the objective, and a date for the footer.
    facts : mapping, optional
        Further rows of the table "What was clustered", such as the file and the settings.

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
    if texts is not None and len(texts) != n:
        raise ValueError(f"texts must have one entry per vertex, {n}; got {len(texts)}.")
    known = Constraints.from_pairs(n) if constraints is None else constraints
    points = None if points is None else np.asarray(points)
    pictures = None if images is None else ArrayPictures(np.asarray(images))
    if pictures is not None and len(pictures.pixels) != n:
        raise ValueError(f"images must have one entry per vertex, {n}; got {len(pictures.pixels)}.")
    numbers, codes = np.unique(labels, return_inverse=True)
    titles = [(names or {}).get(number, str(number)) for number in numbers.tolist()]
    subject = Subject(graph, codes, known, rows, titles, points, columns, texts, pictures, places)
    free_cut = prices.free_cut if free_cut is None and prices is not None else free_cut
    sections = [
        _map_section(subject, [] if prices is None else costly(prices), layout),
        proof_section(certificate),
        cluster_section(subject),
        change_section(changes, subject, names or {}),
        violation_section(subject),
        price_section(subject, prices),
        _fact_section(subject, facts or {}),
    ]
    template = Template(resources.files("tightcut.report").joinpath("report.html").read_text("utf-8"))
    return template.substitute(
        title=escape(title),
        lead=_lead(subject),
        cards=_cards(subject, criterion, free_cut),
        markers=MARKERS,
        members=_members(subject),
        **PALETTES,
        sections="\n".join(filter(None, sections)),
        version=__version__,
        created=escape(f" on {created}" if created else ""),
    )


@dataclass(frozen=True, repr=False)
class Report:
    """A page as HTML. In a notebook it is shown in a frame of its own.

    Parameters
    ----------
    html : str
    """

    html: str

    def __repr__(self) -> str:
        return f"Report({len(self.html):,} characters of HTML)"

    def _repr_html_(self) -> str:
        page = escape(self.html)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width: 100%; height: 640px; border: 0"></iframe>'
        )


def write_report(
    path: str | Path | None,
    graph: Graph,
    labels: Any,
    constraints: Constraints | None = None,
    *,
    prices: Audit | bool = True,
    **page: Any,
) -> Report:
    """Write the page of `render` to a file, and replace it if it exists.

    Parameters
    ----------
    path : str, Path or None
        None only returns the page.
    graph, labels, constraints, **page
        As in `render`.
    prices : Audit or bool, default=True
        Prices of the constraints. True computes them, which takes about as long as the clustering; False omits them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from tightcut import Graph
    >>> from tightcut.report import write_report
    >>> ring = Graph.from_affinity(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(Path(folder, "ring.html"), ring, [0, 0, 0, 1, 1, 1], title="A ring")
    ...     "<h1>A ring</h1>" in Path(folder, "ring.html").read_text("utf-8")
    True
    """
    found = prices if isinstance(prices, Audit) else None
    if prices is True and constraints is not None and not constraints.is_empty:
        found = audit(graph, constraints, labels)
    text = render(graph, labels, constraints, prices=found, **page)
    if path is not None:
        with replace_file(Path(path)) as stream:
            stream.write(text)
    return Report(text)


def _members(subject: Subject) -> str:
    """The data of the script as JSON: names of the clusters and, unless there are too many, of the points.

    No text can end the element.
    """
    content: dict[str, Any] = {"titles": list(map(shorten, subject.titles))}
    if len(subject.ids) <= MEMBERS_LISTED:
        content |= {"ids": list(map(shorten, subject.ids)), "labels": subject.labels.tolist()}
    return (
        json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c").replace("&", "\\u0026")
    )


def _lead(subject: Subject) -> str:
    text = f"{len(subject.ids):,} points in {count_noun(len(subject.sizes), 'cluster')}"
    known = subject.constraints
    if known.is_empty:
        return f"{text}, found without constraints."
    text += f", found with {count_noun(known.n_must_link, 'must-link')} and {count_noun(known.n_cannot_link, 'cannot-link')}"
    count = subject.violations.n_violations
    if count == 0:
        return f"{text}, all of them satisfied."
    return f"{text}. {count:,} of them {'is' if count == 1 else 'are'} violated."


def _cards(subject: Subject, criterion: str, free_cut: float | None) -> str:
    leaving, volume = cluster_cuts(subject.graph, subject.labels)
    sizes, n_violated = subject.sizes, subject.violations.n_violations
    span = f"{sizes.min():,} to {sizes.max():,} points" if np.ptp(sizes) else f"{count_noun(sizes[0], 'point')} each"
    n_pairs = subject.constraints.n_pairs
    aside = f"of at most {len(sizes)}" * ("norm" in criterion)
    aside = aside if free_cut is None else f"{free_cut:.4g} without constraints"
    cards = [
        ("Points", f"{len(subject.ids):,}", "", ""),
        ("Clusters", f"{len(sizes):,}", span, ""),
        (criterion.capitalize(), f"{(leaving / volume).sum():.4g}", aside, ""),
    ]
    if n_pairs:
        alarm = "alarm" if n_violated else ""
        cards.append(("Violated constraints", f"{n_violated:,}", f"of {count_noun(n_pairs, 'pair')}", alarm))
    return "".join(
        f'<div class="{alarm}"><dt>{escape(name)}</dt><dd>{value}<small>{note}</small></dd></div>'
        for name, value, note, alarm in cards
    )


def _map_section(subject: Subject, expensive: list[ConstraintPrice], layout: str) -> str:
    svg, caption = draw_map(subject, expensive, layout)
    known, violations = subject.constraints, subject.violations
    entries = [
        f'<li data-cluster="{cluster}" tabindex="0">{legend_marker(cluster)} {subject.title(cluster)} '
        f"<small>{size:,}</small></li>"
        for cluster, size in enumerate(subject.sizes[:CLUSTERS_SHOWN])
    ]
    lines = [
        ("must", "must-link", known.n_must_link - len(violations.must_link)),
        ("cannot", "cannot-link", known.n_cannot_link - len(violations.cannot_link)),
        ("costly", f"expensive: more than {COSTLY_SHARE:.0%} of the cut", len(expensive)),
        ("must violated", "violated must-link", len(violations.must_link)),
        ("cannot violated", "violated cannot-link", len(violations.cannot_link)),
    ]
    entries += [f"<li>{line(kind)} {text} ({count:,})</li>" for kind, text, count in lines if count]
    return section(
        "map",
        "Map",
        f'<figure>{TOOLS}{svg}<ul class="legend">{"".join(entries)}</ul>'
        f"<figcaption>{escape(caption)} {HOVER}</figcaption>{MEMBERS}</figure>",
    )


def _fact_section(subject: Subject, facts: Mapping[str, Any]) -> str:
    graph, known = subject.graph, subject.constraints
    lines = {**facts, "Graph": f"{graph.n_vertices:,} vertices, {graph.n_edges:,} edges"}
    if not known.is_empty:
        lines["Constraints"] = (
            f"{count_noun(known.n_must_link, 'must-link')}, {count_noun(known.n_cannot_link, 'cannot-link')}"
        )
    rows = [Row([heading(escape(name)), Cell(escape(str(value)))]) for name, value in lines.items()]
    return section("subject", "What was clustered", table("Data, graph and settings.", (), rows, "facts"))
