"""
More than two clusters
======================

Three clusters are found at once, although the graph alone suggests to cut a long class in the middle.

The two round classes touch, and a cut through the thin class is cheaper than a cut between them. Sixty pairs of points
rule that out. For three or more clusters the cannot-links are a colouring problem; see :doc:`/ideas`.
"""

# %%
# The cut of the truth is larger than that of either clustering: a small cut is a guide, not the goal.
import matplotlib.pyplot as plt

from tightcut import COSC, Graph
from tightcut.datasets import load_gaussian_toy, sample_constraints
from tightcut.metrics import clustering_error, normalized_cut
from tightcut.plots import plot_clusters

toy = load_gaussian_toy()
pairs = sample_constraints(toy.y, 60, random_state=0)
free = COSC(n_clusters=3, random_state=0).fit(toy.X)
model = COSC(n_clusters=3, random_state=0).fit(toy.X, constraints=pairs)
graph = Graph.from_affinity(model.affinity_matrix_)

panels = {"truth": toy.y, "no pairs": free.labels_, "60 pairs": model.labels_}
figure, axes = plt.subplots(1, 3, figsize=(13, 4.8), layout="constrained")
for ax, (title, labels) in zip(axes, panels.items(), strict=True):
    plot_clusters(toy.X, labels, None if title == "truth" else pairs, ax=ax)
    wrong, cut = clustering_error(toy.y, labels), normalized_cut(graph, labels)
    ax.set_title(f"{title}: cut {cut:.3f}" if title == "truth" else f"{title}: cut {cut:.3f}, {wrong:.0%} wrong")
plt.show()
