"""
How many clusters?
==================

The eigenvalues of the graph suggest a number of clusters, and the constraints correct it.

The sum of the k smallest eigenvalues is a lower bound on the cut into k clusters, so a jump after the k-th says that one
more cluster would be expensive. `n_clusters="auto"` takes the largest jump between square roots of eigenvalues, or the first
that is nearly as large, among the numbers that cannot-links do not rule out. (Many small clusters are found differently; see
:doc:`/howto/choosing_k`.)
"""

# %%
# There are five groups of points, but four of them form two pairs so close that the graph shows only three groups. Somebody
# knows one member of each group, and that these five points are all in different groups.
import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.csgraph import laplacian
from sklearn.datasets import make_blobs

from tightcut import COSC
from tightcut.plots import plot_clusters

centers = [(0, 0), (2.2, 0), (5.6, 0.6), (5.6, 2.8), (2, 4.2)]
X, y = make_blobs(400, centers=centers, cluster_std=0.75, random_state=3)
known = np.full(len(X), -1)
for c in range(5):
    known[np.flatnonzero(y == c)[0]] = c

free = COSC(n_clusters="auto", random_state=0).fit(X)
model = COSC(n_clusters="auto", random_state=0).fit(X, partial_labels=known)
print(free.n_clusters_reason_)
print(model.n_clusters_reason_)

# %%
# The lower panels show the eigenvalues and the jump that was taken; the five cannot-linked points rule out the shaded numbers.
# There are no must-links, so both models have the same graph and the same eigenvalues.
height = np.sqrt(np.linalg.eigvalsh(laplacian(free.affinity_matrix_, normed=True).toarray())[:12].clip(0))
figure, axes = plt.subplots(2, 2, figsize=(10, 7.6), height_ratios=(3, 2), layout="constrained")
panels = (free, "no constraints", 2), (model, "five known points", 5)
for (top, bottom), (fitted, title, at_least) in zip(axes.T, panels, strict=True):
    plot_clusters(X, fitted.labels_, fitted.constraints_, ax=top)
    top.set_title(f"{title}: {fitted.n_clusters_} clusters")
    k = fitted.n_clusters_
    bottom.plot(range(1, len(height) + 1), height, "o", color="#0072B2", label="eigenvalue (square root)")
    bottom.plot([k, k + 1], height[k - 1 : k + 1], "-", lw=3, color="#E69F00", label="the jump taken")
    if at_least > 2:
        bottom.axvspan(0.5, at_least - 0.5, color="0.9", label="ruled out by cannot-links")
    bottom.set(xlabel="number of clusters", xticks=range(1, len(height) + 1), xlim=(0.5, len(height) + 0.5))
figure.legend(*axes[1, 1].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()
