"""Cannot-links are a colouring problem."""

import matplotlib.pyplot as plt
import numpy as np
from drawing import draw_link, plain

from tightcut.plots import MARKERS, PALETTE, VIOLATED

angle = np.pi / 2 + 2 * np.pi * np.arange(3) / 3
triangle = np.column_stack([np.cos(angle), np.sin(angle)])
square = np.array([(-1, 0.9), (1, 0.9), (1, -0.7), (-1, -0.7)])
cases = [
    ("two clusters, three points\nall apart: impossible", triangle, [0, 1, 1]),
    ("three clusters: one each", triangle, [0, 1, 2]),
    ("four points in a ring:\ntwo clusters will do", square, [0, 1, 0, 1]),
]

figure, axes = plt.subplots(1, 3, figsize=(9, 2.7), layout="constrained")
for ax, (title, places, colours) in zip(axes, cases, strict=True):
    n = len(places)
    for i in range(n):
        j = (i + 1) % n
        draw_link(ax, places[i], places[j], "cannot", bend=0)
        if colours[i] == colours[j]:
            ax.plot(*places[[i, j]].T, color=VIOLATED, lw=9, alpha=0.4, zorder=1, solid_capstyle="round")
    for place, c in zip(places, colours, strict=True):
        ax.scatter(*place, s=260, c=PALETTE[c], marker=MARKERS[c], edgecolors="black", zorder=4)
    ax.set_title(title, fontsize=10)
    ax.set(xlim=(-1.6, 1.6), ylim=(-1.2, 1.5))
    plain(ax)
