"""What the pictures of the ideas share: a small graph, and how links are drawn."""

import numpy as np
from matplotlib.patches import FancyArrowPatch

from tightcut.plots import MARKERS, PALETTE, VIOLATED

# Two groups of six and five, one straggler; distances decide which points are joined.
PLACES = np.array(
    [
        *[(0, 1), (0.9, 1.9), (1.0, 0.2), (1.9, 1.1), (2.7, 2.0), (2.8, 0.3)],
        *[(4.6, 1.2), (5.4, 2.1), (5.5, 0.2), (6.4, 1.2), (7.2, 2.0)],
        (9.2, 1.1),
    ],
    dtype=float,
)
EDGES = [
    *[(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (1, 4), (3, 4), (3, 5), (2, 5), (4, 5)],
    *[(4, 6), (5, 6), (5, 8)],
    *[(6, 7), (6, 8), (7, 8), (7, 9), (8, 9), (7, 10), (9, 10)],
    (10, 11),
]


def affinity():
    weights = np.zeros((len(PLACES), len(PLACES)))
    for i, j in EDGES:
        weights[i, j] = weights[j, i] = 1
    return weights


def draw_graph(ax, labels, title=""):
    """Points with the colour and the marker of their cluster; edges that the clustering cuts are dotted."""
    labels = np.asarray(labels)
    for i, j in EDGES:
        cut = labels[i] != labels[j]
        ax.plot(
            *PLACES[[i, j]].T, color=VIOLATED if cut else "0.6", ls=":" if cut else "-", lw=2 if cut else 1.2, zorder=1
        )
    for c in np.unique(labels):
        ax.scatter(*PLACES[labels == c].T, s=120, c=PALETTE[c], marker=MARKERS[c], edgecolors="white", zorder=2)
    ax.set_title(title, fontsize=10)
    plain(ax)


def draw_link(ax, first, second, kind, bend=0.25):
    """A must-link as a thick solid bow, a cannot-link as a dashed one."""
    style = "solid" if kind == "must" else (0, (4, 2))
    bow = f"arc3,rad={bend}"
    ax.add_patch(
        FancyArrowPatch(first, second, connectionstyle=bow, arrowstyle="-", lw=2.2, ls=style, color="black", zorder=3)
    )


def plain(ax):
    ax.set_aspect("equal")
    ax.margins(0.08)
    ax.axis("off")
