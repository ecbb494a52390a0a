"""The five-minute start as a picture: two moons without pairs, and with five."""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from tightcut import COSC, Constraints
from tightcut.metrics import clustering_error
from tightcut.plots import plot_clusters

X, y = make_moons(200, shuffle=False, noise=0.15, random_state=0)
pairs = Constraints.from_pairs(len(X), [(0, 50), (50, 99), (100, 150), (150, 199)], [(50, 150)])

figure, axes = plt.subplots(1, 2, figsize=(9, 3.9), layout="constrained")
for ax, known, title in zip(axes, (None, pairs), ("no pairs", "five pairs"), strict=True):
    model = COSC(n_clusters=2, random_state=0).fit(X, constraints=known)
    plot_clusters(X, model.labels_, pairs, ax=ax)
    ax.set_title(f"{title}: cut {model.cut_:.3f}, {clustering_error(y, model.labels_):.1%} wrong", fontsize=11)
