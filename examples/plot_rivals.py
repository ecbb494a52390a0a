"""
Seven methods side by side
==========================

Seven methods get the same points and the same eighty pairs; the pairs that each of them violates are marked.

The methods of the paper's comparison, and two others, are in :mod:`tightcut.rivals`, with the interface of
:class:`tightcut.COSC`. All but PCKMeans use the same graph. None of them promises to satisfy the constraints; SCLC, which ties
its eigenvector to them, often does. This is one draw of the pairs, chosen to show differences; means over many draws are among
the :doc:`/results`.
"""

# %%
# Two moons in a hundred dimensions, two of which are shown. Lines are violated pairs; the others are not drawn.
import matplotlib.pyplot as plt

from tightcut import COSC, Constraints, KnnAffinity
from tightcut.datasets import load_two_moons, sample_constraints
from tightcut.metrics import clustering_error
from tightcut.plots import plot_clusters
from tightcut.rivals import CCSR, CSP, SCLC, FastGE, PCKMeans, SpectralLearning

moons = load_two_moons(400, random_state=0)
pairs = sample_constraints(moons.y, 80, random_state=1)
rivals = [SpectralLearning, CSP, CCSR, SCLC, FastGE, PCKMeans]
same_graph = KnnAffinity(learn_distances=False, symmetrize="maximum", diffusion=0)  # that of the paper
cosc = COSC(2, scale="none", affinity=same_graph, random_state=0)
models = [cosc, *(rival(n_clusters=2, random_state=0) for rival in rivals)]

figure, axes = plt.subplots(2, 4, figsize=(13, 6.4), layout="constrained")
for ax, model in zip(axes.flat, models, strict=False):
    model.fit(moons.X, must_link=pairs.must_link, cannot_link=pairs.cannot_link)
    violated = pairs.violations(model.labels_)
    broken = Constraints.from_pairs(len(moons.X), violated.must_link, violated.cannot_link)
    plot_clusters(moons.X[:, :2], model.labels_ != model.labels_[0], broken, ax=ax)
    ax.get_legend().remove()
    error = clustering_error(moons.y, model.labels_)
    ax.set_title(f"{type(model).__name__}\n{error:.0%} wrong, {violated.n_violations} of 80 violated", fontsize=10)

# The last panel holds the legend of all others.
entries = {text: handle for ax in axes.flat for handle, text in zip(*ax.get_legend_handles_labels(), strict=True)}
kinds = {text.rsplit(" (", 1)[0]: handle for text, handle in entries.items() if not text.startswith("cluster")}
axes.flat[-1].legend(kinds.values(), kinds.keys(), loc="center", frameon=False)
axes.flat[-1].axis("off")
plt.show()
