"""A unit has two states, one the mirror of the other."""

import matplotlib.pyplot as plt
import numpy as np
from drawing import draw_link, plain

from tightcut.plots import PALETTE

BLUE, ORANGE = PALETTE[:2]

places = np.array([(0, 1.2), (1, 1.9), (2.1, 1.2), (1.1, 0.2)])
links = [(0, 1, "must"), (1, 2, "cannot"), (2, 3, "must"), (0, 3, "cannot")]
colour = np.array([0, 0, 1, 1])

figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), layout="constrained")
titles = ("four linked points", "spin +1", "spin -1: the mirror image")
for ax, title, colours in zip(axes, titles, ([None] * 2, [BLUE, ORANGE], [ORANGE, BLUE]), strict=True):
    for i, j, kind in links:
        draw_link(ax, places[i], places[j], kind, bend=0.1)
    for point, side in zip(places, colour, strict=True):
        fill = colours[side]
        marker = "o" if fill in (None, BLUE) else "^"
        ax.scatter(*point, s=260, c=fill or "0.8", marker=marker, edgecolors="black", zorder=4)
    ax.set_title(title, fontsize=10)
    ax.set(xlim=(-0.5, 2.6), ylim=(-0.2, 2.3))
    plain(ax)
