"""The clusters of a report: sizes, cuts, distinctive columns, and typical members, as pictures if there are any."""

from __future__ import annotations

import base64
from html import escape

import numpy as np

from tightcut.audit import own_share
from tightcut.drawing.png import png
from tightcut.problem.objective import cluster_cuts
from tightcut.report.html import Cell, Row, Subject, heading, number, section, table
from tightcut.report.map import key

TYPICAL, BORDERLINE = 5, 3  # members named per cluster
COLUMNS_TOLD, LEAST_DIFFERENCE = 3, 0.5  # columns per cluster; standard deviations
CLUSTERS_SHOWN = 60
NONE = '<span class="quiet">none</span>'
ABOUT = (
    '<span class="click">Click a cluster to see its members. </span>'
    "Cut is the edge weight that leaves a cluster over the weight of the cluster; the "
    "cuts add up to the total. Typical members have the largest share of their connections inside the cluster, those at "
    "the border the smallest."
)
DISTINGUISHED = (
    " A cluster is distinguished by the columns in which its mean is farthest from that of all points, in standard "
    "deviations."
)


def cluster_section(subject: Subject) -> str:
    graph, labels = subject.graph, subject.labels
    leaving, volume = cluster_cuts(graph, labels)
    share = own_share(graph, labels)
    # Many points have all their neighbours in their own cluster; the best connected of them come first.
    order = np.lexsort((-graph.degrees, -share))
    distinguished = distinctions(subject)
    rows = []
    for cluster, cut in enumerate((leaving / volume)[:CLUSTERS_SHOWN].tolist()):
        members = order[labels[order] == cluster]
        border = [point for point in members[::-1][:BORDERLINE].tolist() if share[point] < 1]
        cells = [
            heading(f"{key(cluster)} {subject.title(cluster)}"),
            number(f"{len(members):,} <small>{len(members) / len(labels):.0%}</small>"),
            number(f"{cut:.3g}"),
            *([Cell(distinguished[cluster] or NONE)] if distinguished else []),
            Cell(_members(subject, members[:TYPICAL].tolist())),
            Cell(_members(subject, border) or NONE),
        ]
        rows.append(Row(cells, f'data-cluster="{cluster}"'))
    described = ["What distinguishes it"] * bool(distinguished)
    headings = ["Cluster", "Points#", "Cut#", *described, "Typical members", "At the border"]
    if len(leaving) > CLUSTERS_SHOWN:
        more = f"and {len(leaving) - CLUSTERS_SHOWN:,} more clusters"
        rows.append(Row([Cell(more, f'colspan="{len(headings)}" class="quiet"')]))
    return section("clusters", "Clusters", table(ABOUT + DISTINGUISHED * bool(distinguished), headings, rows))


def distinctions(subject: Subject) -> list[str]:
    """For each cluster, the columns whose mean is farthest from that of all points, as HTML; empty without names."""
    if subject.points is None or len(subject.columns) != subject.points.shape[1]:
        return []
    deviation = np.std(subject.points, axis=0, dtype=np.float64)
    mean = np.mean(subject.points, axis=0, dtype=np.float64)
    distinguished = []
    for cluster in range(min(len(subject.sizes), CLUSTERS_SHOWN)):
        own = np.mean(subject.points[subject.labels == cluster], axis=0, dtype=np.float64)
        differences = np.divide(own - mean, deviation, out=np.zeros_like(mean), where=deviation > 0)
        top = np.argsort(-np.abs(differences), kind="stable")[:COLUMNS_TOLD].tolist()
        distinguished.append(
            "".join(
                f'<span class="told">{escape(str(subject.columns[column]))} <b>{differences[column]:+.1f}</b></span>'
                for column in top
                if abs(differences[column]) >= LEAST_DIFFERENCE
            )
        )
    return distinguished


def _members(subject: Subject, points: list[int]) -> str:
    if subject.images is None:
        return subject.chips(points)
    return "".join(
        f'<img alt="{escape(subject.ids[point])}" title="{escape(subject.ids[point])}" data-point="{point}" '
        f'src="data:image/png;base64,{base64.b64encode(png(stretched(subject.images[point]))).decode()}">'
        for point in points
    )


def stretched(pixels: np.ndarray) -> np.ndarray:
    """A picture as bytes, its smallest value black and its largest white.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.report.clusters import stretched
    >>> stretched(np.array([[-1.0, 3.0]])).tolist()
    [[0, 255]]
    """
    values = np.asarray(pixels, dtype=np.float64)
    low, high = np.nanmin(values), np.nanmax(values)
    return np.nan_to_num(255 * (values - low) / ((high - low) or 1)).round().astype(np.uint8)
