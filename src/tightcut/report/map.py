"""The map of a report as inline SVG: its colours follow the page, light or dark, and names appear on hovering.

Markers repeat what colours say, for print in black and white.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from tightcut.audit import ConstraintPrice
from tightcut.constraints import Constraints
from tightcut.graph import Graph

WIDTH, HEIGHT, MARGIN = 960.0, 560.0, 16.0
POINTS_DRAWN, LINES_DRAWN = 4000, 1500
ROOMY = 1000  # points that have room for large markers
N_COLOURS = 6

SHAPES = (
    '<circle r="4"/>',
    '<path d="M0-4.6 4.4 3.4-4.4 3.4Z"/>',
    '<path d="M-3.6-3.6H3.6V3.6H-3.6Z"/>',
    '<path d="M0-5 5 0 0 5-5 0Z"/>',
    '<path d="M0 4.6 4.4-3.4-4.4-3.4Z"/>',
    '<path d="M-1.6-4.4H1.6V-1.6H4.4V1.6H1.6V4.4H-1.6V1.6H-4.4V-1.6H-1.6Z"/>',
    '<path d="M0-5 1.5-1.5 5 0 1.5 1.5 0 5-1.5 1.5-5 0-1.5-1.5Z"/>',
)
MARKERS = "".join(f'<g id="m{number}">{shape}</g>' for number, shape in enumerate(SHAPES))


def draw_map(
    graph: Graph,
    labels: np.ndarray,
    constraints: Constraints,
    ids: Sequence[str],
    points: np.ndarray | None,
    costly: Sequence[ConstraintPrice] = (),
) -> tuple[str, str]:
    """Points coloured by cluster, with constraints as lines; large data is thinned out. Also the caption."""
    lines = _chosen_lines(constraints, labels, costly)
    shown = _chosen_points(len(labels), lines)
    positions, how = _positions(graph, points, shown)
    # On a larger sheet the markers are smaller.
    zoom = 1.0 if len(shown) <= ROOMY else 1.6
    positions *= zoom
    place = {point: positions[number] for number, point in enumerate(shown.tolist())}
    height = float(positions[:, 1].max(initial=0) + zoom * MARGIN)
    n_clusters = int(labels.max()) + 1
    groups = [
        f'<g class="points k{cluster % N_COLOURS}">'
        + "".join(_marker(cluster, place[point], ids[point]) for point in shown[labels[shown] == cluster].tolist())
        + "</g>"
        for cluster in range(n_clusters)
    ]
    below = "".join(_segment(kind, place[i], place[j]) for kind, i, j in lines if " " not in kind)
    above = "".join(_segment(kind, place[i], place[j]) for kind, i, j in lines if " " in kind)
    alternative = f"Map of {len(shown):,} points in {n_clusters} clusters with {len(lines):,} constraints as lines."
    svg = (
        f'<svg viewBox="0 0 {zoom * WIDTH:.0f} {height:.0f}" role="img" aria-label="{escape(alternative)}">'
        f"<title>{escape(alternative)}</title>{below}{''.join(groups)}{above}</svg>"
    )
    thinned = [f"{len(shown):,} of {len(labels):,} points"] if len(shown) < len(labels) else []
    if len(lines) < constraints.n_pairs:
        thinned.append(f"{len(lines):,} of {constraints.n_pairs:,} constraints")
    caption = f"{how} Hover over a marker to see its name."
    return svg, f"{caption} Drawn: {' and '.join(thinned)}." if thinned else caption


def key(cluster: int) -> str:
    """The marker of a cluster, for legends."""
    shape = f'<use href="#m{cluster % len(SHAPES)}" x="12" y="7"/>'
    return f'<svg viewBox="0 0 24 12" class="key k{cluster % N_COLOURS}" aria-hidden="true">{shape}</svg>'


def spectral_layout(graph: Graph) -> np.ndarray:
    """Two coordinates per vertex: eigenvectors 2 and 3 of the normalized Laplacian, ranked half-way to uniform.

    Eigenvectors of a graph with clear clusters put almost all vertices in a few places. The mean of a coordinate and
    its rank pulls these apart and keeps the order.
    """
    import scipy.sparse as sp

    n = graph.n_vertices
    if n < 4:
        return np.stack([np.arange(n), np.zeros(n)], axis=1).astype(float)
    scale = 1 / np.sqrt(np.where(graph.degrees > 0, graph.degrees, 1))
    # The positive diagonal keeps the wanted eigenvalues the largest in size.
    lazy = sp.diags_array(scale) @ graph.weights @ sp.diags_array(scale) + sp.eye_array(n)
    vectors = _leading_vectors(sp.csr_array(lazy), 3)[:, 1:] * scale[:, None]
    spread = np.abs(vectors).max(axis=0)
    unit = vectors / np.where(spread > 0, spread, 1)
    ranks = unit.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") / (n - 1) * 2 - 1
    return (unit + ranks) / 2


def _leading_vectors(matrix: Any, count: int) -> np.ndarray:
    """Eigenvectors of the largest eigenvalues, largest first, with a fixed sign."""
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = matrix.shape[0]
    if n <= 400:
        vectors = np.linalg.eigh(matrix.toarray())[1][:, ::-1][:, :count]
    else:
        start = np.random.default_rng(0).random(n)
        try:
            values, vectors = eigsh(matrix, count, which="LA", v0=start, tol=1e-4)
        except ArpackNoConvergence as error:  # whatever converged is enough for a picture
            values, vectors = error.eigenvalues, error.eigenvectors
        vectors = vectors[:, np.argsort(-values)]
        vectors = np.pad(vectors, ((0, 0), (0, count - vectors.shape[1])))
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(count)] < 0, -1, 1)


def _positions(graph: Graph, points: np.ndarray | None, shown: np.ndarray) -> tuple[np.ndarray, str]:
    """Where to draw the chosen points, inside the frame, and how that was decided."""
    if points is None:
        raw, how = spectral_layout(graph)[shown], "Spectral layout of the graph: close vertices are well connected."
        return _fit(raw, keep_aspect=False), how
    from tightcut.plots import embed_2d

    chosen = points[shown]
    features = points.shape[1]
    how = f"The first two principal components of {features} columns." if features > 2 else "The data as they are."
    return _fit(embed_2d(chosen) if len(chosen) > 1 else np.zeros((len(chosen), 2)), keep_aspect=True), how


def _fit(raw: np.ndarray, *, keep_aspect: bool) -> np.ndarray:
    low, span = raw.min(axis=0), np.ptp(raw, axis=0)
    scales = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN]) / np.where(span > 0, span, 1)
    if keep_aspect and (span > 0).all():
        # Up to a factor of three, so that a long cloud does not become a line.
        scales = np.minimum(scales, 3 * scales.min()) if scales.max() > 3 * scales.min() else np.full(2, scales.min())
    scaled = (raw - low) * scales
    scaled[:, 1] = scaled[:, 1].max(initial=0) - scaled[:, 1]
    width = scaled[:, 0].max(initial=0)
    return scaled + np.array([(WIDTH - width) / 2, MARGIN])


def _chosen_lines(
    constraints: Constraints, labels: np.ndarray, costly: Sequence[ConstraintPrice]
) -> list[tuple[str, int, int]]:
    """Constraints to draw as (class, i, j): violated and expensive ones always, then a sample of the others."""
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


def _marker(cluster: int, position: np.ndarray, name: str) -> str:
    x, y = position
    return f'<use href="#m{cluster % len(SHAPES)}" x="{x:.1f}" y="{y:.1f}"><title>{escape(name)}</title></use>'


def _segment(kind: str, start: np.ndarray, end: np.ndarray) -> str:
    return f'<line class="{kind}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"/>'
