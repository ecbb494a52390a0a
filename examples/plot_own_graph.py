"""
A graph of your own: tables for the karate club
===============================================

Thirty-four members of a club are seated at four tables, friends together, one host at each.

Zachary recorded who met whom outside the lessons of a karate club. There are no points here, only a graph, so we use
`affinity="precomputed"`. The four members with the most friends are the hosts: a group whose members must not share a table.
"""

# %%
# Each member's friends with a higher number; 78 friendships.
import matplotlib.pyplot as plt
import numpy as np

from tightcut import COSC
from tightcut.plots import MARKERS, PALETTE

friends = """
1 2 3 4 5 6 7 8 9 11 12 13 14 18 20 22 32; 2 3 4 8 14 18 20 22 31; 3 4 8 9 10 14 28 29 33; 4 8 13 14; 5 7 11; 6 7 11 17
7 17; 9 31 33 34; 10 34; 14 34; 15 33 34; 16 33 34; 19 33 34; 20 34; 21 33 34; 23 33 34; 24 26 28 30 33 34; 25 26 28 32
26 32; 27 30 34; 28 34; 29 32 34; 30 33 34; 31 33 34; 32 33 34; 33 34
"""
graph = np.zeros((34, 34))
for entry in friends.strip().replace("\n", ";").split(";"):
    member, *others = (int(number) - 1 for number in entry.split())
    graph[member, others] = graph[others, member] = 1

hosts = np.argsort(-graph.sum(axis=1), kind="stable")[:4]
group = np.full(34, -1)
group[hosts] = 0

# %%
# Tables should seat about equally many people, so we use the ratio cut, which balances numbers of people, not friendships.
tables = COSC(n_clusters=4, affinity="precomputed", criterion="rcut", random_state=0)
free = tables.fit_predict(graph)
hosted = tables.fit_predict(graph, cannot_link_groups=group)

# %%
# For the picture, friends attract and all members repel each other. Dotted lines are friendships cut.
place = np.random.default_rng(0).normal(size=(34, 2))
for step in np.linspace(0.3, 0.002, 400):
    apart = place[:, None] - place
    distance = np.linalg.norm(apart, axis=2) + np.eye(34)
    force = ((0.6 / distance**2 - graph * distance)[:, :, None] * apart).sum(axis=1)
    place += step * force / np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1)


def show(ax, table, title):
    for i, j in zip(*np.nonzero(np.triu(graph)), strict=True):
        cut = table[i] != table[j]
        ax.plot(*place[[i, j]].T, color="0.75" if cut else "0.35", lw=0.8, ls=":" if cut else "-", zorder=1)
    for t in range(4):
        x, y = place[table == t].T
        ax.scatter(x, y, s=170, c=PALETTE[t], marker=MARKERS[t], edgecolors="white", label=f"table {t + 1}: {len(x)}")
    for i, (x, y) in enumerate(place):
        ax.text(x, y, i + 1, ha="center", va="center", fontsize=7)
    ax.scatter(*place[hosts].T, s=330, facecolors="none", edgecolors="black", lw=1.6, label="host")
    ax.set(xticks=[], yticks=[])
    ax.set_title(title)
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=3, frameon=False, fontsize="small", markerscale=0.6
    )


figure, axes = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
show(axes[0], free, "friendships only")
show(axes[1], hosted, "one host at each table")
plt.show()
