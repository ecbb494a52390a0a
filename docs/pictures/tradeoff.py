"""Each violation buys a smaller cut."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from tightcut import Graph, knn_affinity, tradeoff_path
from tightcut.datasets import sample_constraints
from tightcut.plots import plot_tradeoff

X, y = load_iris(return_X_y=True)
X, y = X[50:], y[50:]
pairs = sample_constraints(y, 40, random_state=1, noise=0.15)
path = tradeoff_path(Graph.from_affinity(knn_affinity(X)), pairs, random_state=0)

figure, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
plot_tradeoff(path, y, ax=ax)
ax.axvline(6, color="0.6", ls="--", lw=1)
ax.text(6.2, ax.get_ylim()[1] * 0.93, "6 of the 40 pairs are wrong", va="top", fontsize=9)
