"""
The trade-off between cut and violations
========================================

The more pairs may be violated, the smaller is the cut; the path shows by how much, and where to stop.

:func:`tightcut.tradeoff_path` finds partitions for every number of violations, from the fewest possible to those of the
unconstrained cut. For comparison, the paper's algorithm starts from random vectors and increases the penalty of a violation
until few enough are left.
"""

# %%
# The data are wines of two kinds, with 60 judged pairs, ten of which are wrong.
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from tightcut import Graph, cluster, knn_affinity, tradeoff_path
from tightcut.datasets import sample_constraints
from tightcut.metrics import clustering_error

X, y = load_wine(return_X_y=True)
X, y = StandardScaler().fit_transform(X[y > 0]), y[y > 0]
graph = Graph.from_affinity(knn_affinity(X))
pairs = sample_constraints(y, 60, random_state=0, noise=1 / 6)
path = tradeoff_path(graph, pairs, random_state=0)

# %%
# We run the paper's algorithm with as many violations allowed as every second of these partitions has.
limits = [point.n_violations for point in path[::2]]
papers = [cluster(graph, pairs, max_violations=limit, method="paper", random_state=0) for limit in limits]

# %%
# The error is smallest where ten pairs are violated: the wrong ones. Respecting all pairs leads to a large cut and a large
# error. If the true classes are not known, look for the steep fall of the cut: the pairs violated there disagree with the
# graph.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for results, style, name in ((path, "o-", "tradeoff_path"), (papers, "s", "the paper's algorithm")):
    look = {"color": "#0072B2"} if results is path else {"color": "#E69F00", "mfc": "none", "ms": 9, "mew": 2}
    violated = [result.n_violations for result in results]
    axes[0].plot(violated, [result.cut for result in results], style, label=name, **look)
    axes[1].plot(violated, [100 * clustering_error(y, result.labels) for result in results], style, **look)
for ax, quantity in zip(axes, ("normalized cut", "clustering error (%)"), strict=True):
    ax.axvline(10, color="0.6", ls=":", label="number of wrong pairs")
    ax.set(xlabel="violated pairs (of 60)", ylabel=quantity, xticks=range(0, 17, 2), ylim=(0, None))
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()
