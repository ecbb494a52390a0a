"""The map of a report as inline SVG: its colours follow the page, light or dark, and names appear on hovering.

Markers differ in shape, too, for print in black and white.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from tightcut.audit import ConstraintPrice
from tightcut.drawing.layout import graph_layout, principal_components
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.report.html import Subject
from tightcut.utils.validation import check_choice

WIDTH, HEIGHT, MARGIN = 960.0, 560.0, 16.0
POINTS_DRAWN, LINES_DRAWN = 4000, 1500
ROOMY = 1000  # points that have room for large markers
NUMBERED = 60  # clusters whose numbers fit on the map
LAYOUTS = ("auto", "graph", "pca")
# Twenty colours that can be told apart, on white and on black; with seven shapes, 140 clusters all look different.
LIGHT = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#b8a900", "#8c4a2f", "#7d3fb2", "#c2185b", "#5b8c1f",
    "#00868b", "#5c6bc0", "#7f7f7f", "#f06a6a", "#1f3f5b", "#93cf3a", "#b894f0", "#d3b083", "#ee4bcf", "#124d33",
)  # fmt: skip
DARK = (
    "#4aa3df", "#f0b429", "#2cc295", "#e29cc4", "#8fd0f7", "#f0e442", "#c07a58", "#a873dc", "#ee5c93", "#8fc04a",
    "#2fb9be", "#929df0", "#b0b0b0", "#ff9c92", "#5f84a6", "#c3f078", "#d9c2ff", "#f0dab8", "#ff8ae6", "#3f9468",
)  # fmt: skip
N_COLOURS = len(LIGHT)

SHAPES = (
    '<circle r="4"/>',
    '<path d="M0-4.6 4.4 3.4-4.4 3.4Z"/>',
    '<path d="M-3.6-3.6H3.6V3.6H-3.6Z"/>',
    '<path d="M0-5 5 0 0 5-5 0Z"/>',
    '<path d="M0 4.6 4.4-3.4-4.4-3.4Z"/>',
    '<path d="M-1.6-4.4H1.6V-1.6H4.4V1.6H1.6V4.4H-1.6V1.6H-4.4V-1.6H-1.6Z"/>',
    '<path d="M0-5 1.5-1.5 5 0 1.5 1.5 0 5-1.5 1.5-5 0-1.5-1.5Z"/>',
)
PALETTES = {
    name: "".join(f"--c{number}:{colour};" for number, colour in enumerate(colours))
    for name, colours in (("light", LIGHT), ("dark", DARK))
}
PALETTES["fills"] = "".join(f".k{number}{{fill:var(--c{number})}}" for number in range(N_COLOURS))
MARKERS = "".join(f'<g id="m{number}">{shape}</g>' for number, shape in enumerate(SHAPES))


def draw_map(subject: Subject, costly: Sequence[ConstraintPrice], layout: str) -> tuple[str, str]:
    """Points coloured by cluster, with constraints as lines, a sample of both for large data; and the caption."""
    labels, constraints, n_clusters = subject.labels, subject.constraints, len(subject.sizes)
    lines = _chosen_lines(constraints, labels, costly)
    shown = _chosen_points(len(labels), lines)
    positions, how = _positions(subject.graph, subject.points, shown, layout)
    # Markers are smaller on a larger sheet.
    zoom = 1.0 if len(shown) <= ROOMY else 1.6
    positions *= zoom
    place = {point: positions[number] for number, point in enumerate(shown.tolist())}
    height = float(positions[:, 1].max(initial=0) + zoom * MARGIN)
    groups = [
        f'<g class="points k{cluster % N_COLOURS}" data-cluster="{cluster}">'
        + "".join(
            _marker(cluster, point, place[point], subject.ids[point])
            for point in shown[labels[shown] == cluster].tolist()
        )
        + "</g>"
        for cluster in range(n_clusters)
    ]
    below = "".join(_segment(line, place) for line in lines if " " not in line[0])
    above = "".join(_segment(line, place) for line in lines if " " in line[0])
    numbers = "".join(_number(c, positions[labels[shown] == c], zoom) for c in range(n_clusters)) * (
        n_clusters <= NUMBERED
    )
    alternative = f"Map of {len(shown):,} points in {n_clusters} clusters with {len(lines):,} constraints as lines."
    svg = (
        f'<svg viewBox="0 0 {zoom * WIDTH:.0f} {height:.0f}" role="img" aria-label="{escape(alternative)}">'
        f"<title>{escape(alternative)}</title>{below}{''.join(groups)}{above}{numbers}</svg>"
    )
    thinned = [f"{len(shown):,} of {len(labels):,} points"] if len(shown) < len(labels) else []
    if len(lines) < constraints.n_pairs:
        thinned.append(f"{len(lines):,} of {constraints.n_pairs:,} constraints")
    return svg, f"{how} Drawn: {' and '.join(thinned)}." if thinned else how


def legend_marker(cluster: int) -> str:
    """The marker of a cluster, for legends."""
    shape = f'<use href="#m{cluster % len(SHAPES)}" x="12" y="7"/>'
    return f'<svg viewBox="0 0 24 12" class="key k{cluster % N_COLOURS}" aria-hidden="true">{shape}</svg>'


def _positions(graph: Graph, points: np.ndarray | None, shown: np.ndarray, layout: str) -> tuple[np.ndarray, str]:
    """Positions of the chosen points inside the frame, and how they were found."""
    check_choice("layout", layout, LAYOUTS)
    if points is None and layout == "pca":
        raise ValueError('layout="pca" draws points, and points were not given; use layout="graph".')
    if points is None or layout == "graph" or (layout == "auto" and points.shape[1] > 2):
        return _fit(graph_layout(graph)[shown]), "Laid out by the graph: well connected points are close to each other."
    features = points.shape[1]
    how = f"The first two principal components of {features} columns." if features > 2 else "The data as they are."
    return _fit(principal_components(points[shown])), how


def _fit(raw: np.ndarray) -> np.ndarray:
    low, span = raw.min(axis=0), np.ptp(raw, axis=0)
    scales = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN]) / np.where(span > 0, span, 1)
    if (span > 0).all():
        # The axes differ by up to a factor of three: a long cloud would otherwise become a line.
        scales = np.minimum(scales, 3 * scales.min()) if scales.max() > 3 * scales.min() else np.full(2, scales.min())
    scaled = (raw - low) * scales
    scaled[:, 1] = scaled[:, 1].max(initial=0) - scaled[:, 1]
    width = scaled[:, 0].max(initial=0)
    return scaled + np.array([(WIDTH - width) / 2, MARGIN])


def _chosen_lines(
    constraints: Constraints, labels: np.ndarray, costly: Sequence[ConstraintPrice]
) -> list[tuple[str, int, int]]:
    """Constraints to draw, as (class, i, j): all violated and expensive ones, and a sample of the others."""
    marked = {(row.kind, row.first, row.second) for row in costly}
    plain, special = [], []
    for kind, pairs in (("must", constraints.must_link), ("cannot", constraints.cannot_link)):
        for i, j in pairs.tolist():
            if (labels[i] == labels[j]) != (kind == "must"):
                special.append((f"{kind} violated", i, j))
            elif (kind, i, j) in marked:
                special.append((f"{kind} costly", i, j))
            else:
                plain.append((kind, i, j))
    room = max(LINES_DRAWN - len(special), 0)
    if len(plain) > room:
        kept = np.random.default_rng(0).choice(len(plain), room, replace=False)
        plain = [plain[place] for place in np.sort(kept)]
    return plain + special[:LINES_DRAWN]


def _chosen_points(n: int, lines: list[tuple[str, int, int]]) -> np.ndarray:
    if n <= POINTS_DRAWN:
        return np.arange(n)
    ends = {point for _, i, j in lines for point in (i, j)}
    sample = np.random.default_rng(0).choice(n, max(POINTS_DRAWN - len(ends), 0), replace=False)
    return np.array(sorted(ends.union(sample.tolist())))


def _marker(cluster: int, point: int, position: np.ndarray, name: str) -> str:
    x, y = position
    shape = f'href="#m{cluster % len(SHAPES)}" x="{x:.1f}" y="{y:.1f}"'
    return f'<use {shape} data-point="{point}"><title>{escape(name)}</title></use>'


def _segment(line: tuple[str, int, int], place: dict[int, np.ndarray]) -> str:
    kind, i, j = line
    (x1, y1), (x2, y2) = place[i], place[j]
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line class="{kind}" data-pair="{i} {j}" {ends}/>'


def _number(cluster: int, positions: np.ndarray, zoom: float) -> str:
    """The number of a cluster, at the point nearest to the median of its points."""
    if len(positions) == 0:
        return ""
    x, y = positions[np.square(positions - np.median(positions, axis=0)).sum(axis=1).argmin()]
    return f'<text class="number" x="{x:.1f}" y="{y:.1f}" font-size="{15 * zoom:.0f}">{cluster}</text>'
