"""The way from points to labels, and the rooms of the package that each step is in."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from drawing import EDGES, PLACES, affinity, draw_link, plain
from matplotlib.patches import ConnectionPatch

from tightcut import COSC
from tightcut.plots import MARKERS, PALETTE, VIOLATED

MUST, CANNOT = (5, 8), (3, 5)
# What a random coarsening might merge, each group near each other; 5 and 8 are one vertex already.
GROUPS = [(0, 1, 2), (3, 4), (5, 8), (6, 7), (9, 10, 11)]


def draw_merged(ax, groups, labels=None):
    """Each group as one vertex at its centre, larger the more it holds; edges between groups add up, those cut are dotted."""
    group = np.empty(len(PLACES), int)
    for number, members in enumerate(groups):
        group[list(members)] = number
    centre = np.array([PLACES[list(members)].mean(axis=0) for members in groups])
    size = np.array([len(members) for members in groups])
    weight = np.zeros((len(groups), len(groups)))
    for i, j in group[np.array(EDGES)]:
        weight[i, j] += i != j
    weight += weight.T
    for i, j in zip(*np.nonzero(np.triu(weight)), strict=True):
        cut = labels is not None and labels[groups[i][0]] != labels[groups[j][0]]
        ax.plot(*centre[[i, j]].T, color=VIOLATED if cut else "0.6", ls=":" if cut else "-", lw=weight[i, j], zorder=1)
    for number, members in enumerate(groups):
        label = None if labels is None else labels[members[0]]
        colour, marker = ("0.45", "o") if label is None else (PALETTE[label], MARKERS[label])
        ax.scatter(*centre[number], s=12 + 20 * size[number], color=colour, marker=marker, edgecolors="white", zorder=2)
    plain(ax)


labels = COSC(affinity="precomputed", random_state=0).fit_predict(affinity(), must_link=[MUST], cannot_link=[CANNOT])
alone = [(vertex,) for vertex in range(len(PLACES)) if vertex not in MUST]

figure, axes = plt.subplots(1, 5, figsize=(9, 1.2), layout="constrained")
figure.get_layout_engine().set(wspace=0.12)
axes[0].scatter(*PLACES.T, s=32, color="0.45", edgecolors="white", zorder=2)
for link, kind, bend in ((MUST, "must", -0.25), (CANNOT, "cannot", -0.4)):
    draw_link(axes[0], *PLACES[list(link)], kind, bend=bend)
plain(axes[0])
for i, j in EDGES:
    axes[1].plot(*PLACES[[i, j]].T, color="0.6", lw=1.1, zorder=1)
axes[1].scatter(*PLACES.T, s=32, color="0.45", edgecolors="white", zorder=2)
plain(axes[1])
draw_merged(axes[2], [MUST, *alone])
draw_merged(axes[3], GROUPS, labels)
draw_merged(axes[4], [(vertex,) for vertex in range(len(PLACES))], labels)

steps = [
    ("points and pairs", "files/, problem/"),
    ("a graph of neighbours", "selection/, neighbors/"),
    ("linked points merged", "search/"),
    ("coarsened, cut, refined", "search/, relaxation/"),
    ("labels", "clustering/, fitted/"),
]
for ax, (title, rooms) in zip(axes, steps, strict=True):
    ax.set(xlim=(-0.5, 9.7), ylim=(-0.5, 2.8))
    ax.set_title(title, fontsize=9)
    ax.text(0.5, -0.05, rooms, transform=ax.transAxes, ha="center", va="top", fontsize=7, family="monospace")
for left, right in pairwise(axes):
    ends = {"axesA": left, "axesB": right, "coordsA": "axes fraction", "coordsB": "axes fraction"}
    figure.add_artist(
        ConnectionPatch((1.02, 0.5), (-0.02, 0.5), **ends, arrowstyle="-|>", mutation_scale=11, lw=1.2, color="0.3")
    )
