"""The clusters of a report: sizes, cuts, distinctive columns or words, and typical members, as texts or pictures."""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from tightcut.audit import own_share
from tightcut.features.words import distinctive_words
from tightcut.problem.objective import cluster_cuts
from tightcut.report.html import Cell, Row, Subject, heading, number, section, table
from tightcut.report.map import legend_marker

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
ABOUT_COLUMNS = (
    " A cluster is distinguished by the columns in which its mean, printed bold, is farthest from that of all points; the "
    "distance is counted in standard deviations."
)
ABOUT_WORDS = " A cluster is distinguished by the words that many of its texts have, and few others."
TEXT_QUOTED = 90  # characters


def cluster_section(subject: Subject) -> str:
    graph, labels = subject.graph, subject.labels
    leaving, volume = cluster_cuts(graph, labels)
    share = own_share(graph, labels)
    # Many points have all their neighbours in their own cluster; the best connected of them come first.
    order = np.lexsort((-graph.degrees, -share))
    distinguished, about = _described(subject)
    rows = []
    for cluster, cut in enumerate((leaving / volume)[:CLUSTERS_SHOWN].tolist()):
        members = order[labels[order] == cluster]
        border = [point for point in members[::-1][:BORDERLINE].tolist() if share[point] < 1]
        cells = [
            heading(f"{legend_marker(cluster)} {subject.title(cluster)}"),
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
    return section("clusters", "Clusters", table(ABOUT + about, headings, rows))


class ColumnMean(NamedTuple):
    """What a cluster is like in one column."""

    column: str
    mean: float
    difference: float  # from the mean of all points, in standard deviations


def distinctive_columns(points: np.ndarray, columns: Sequence[str], labels: np.ndarray) -> list[list[ColumnMean]]:
    """For each of the first clusters, the columns whose mean is farthest from that of all points.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.report.clusters import distinctive_columns
    >>> points = np.array([[20.0, 1.0], [22.0, 3.0], [70.0, 2.0], [72.0, 2.0]])
    >>> for found in distinctive_columns(points, ["age", "size"], np.array([0, 0, 1, 1])):
    ...     print([(column, mean, round(difference, 2)) for column, mean, difference in found])
    [('age', 21.0, -1.0)]
    [('age', 71.0, 1.0)]
    """
    deviation, mean = (np.asarray(of(points, axis=0, dtype=np.float64)) for of in (np.std, np.mean))
    found = []
    for cluster in range(min(int(labels.max()) + 1, CLUSTERS_SHOWN)):
        own = np.asarray(np.mean(points[labels == cluster], axis=0, dtype=np.float64))
        differences = np.divide(own - mean, deviation, out=np.zeros_like(mean), where=deviation > 0)
        top = np.argsort(-np.abs(differences), kind="stable")[:COLUMNS_TOLD].tolist()
        found.append(
            [
                ColumnMean(str(columns[column]), float(own[column]), float(differences[column]))
                for column in top
                if abs(differences[column]) >= LEAST_DIFFERENCE
            ]
        )
    return found


def _described(subject: Subject) -> tuple[list[str], str]:
    """What distinguishes each cluster, as HTML, and what that is; empty for points without names of columns."""
    if subject.texts is not None:
        words = distinctive_words(subject.texts, subject.labels).values()
        return ["".join(f'<span class="told">{escape(word)}</span>' for word in own) for own in words], ABOUT_WORDS
    if subject.points is None or len(subject.columns) != subject.points.shape[1]:
        return [], ""
    found = distinctive_columns(subject.points, subject.columns, subject.labels)
    return [
        "".join(
            f'<span class="told">{escape(name)} <b>{mean:.4g}</b> <small>{difference:+.1f}</small></span>'
            for name, mean, difference in own
        )
        for own in found
    ], ABOUT_COLUMNS


def _members(subject: Subject, points: list[int]) -> str:
    if subject.texts is not None:
        begins = [textwrap.shorten(subject.texts[point], TEXT_QUOTED, placeholder=" …") for point in points]
        return "".join(
            f"<div>{subject.chips([point])}{escape(begin)}</div>" for point, begin in zip(points, begins, strict=True)
        )
    if subject.images is None:
        return subject.chips(points)
    return "".join(
        f'<img alt="{escape(subject.ids[point])}" title="{escape(subject.ids[point])}" data-point="{point}" '
        f'src="data:image/png;base64,{base64.b64encode(subject.images.read(point).content).decode()}">'
        for point in points
    )
