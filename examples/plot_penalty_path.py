"""
The trade-off between cut and violations
========================================

Every violated pair buys a smaller cut; the path shows at what price, and where to stop.

The paper raises the penalty of a violation step by step, each time from the last partition.
:func:`tightcut.tradeoff_path` searches at each penalty and improves every partition it meets; its partitions are never
worse in both respects.
"""

# %%
# Wines of two kinds, 60 judged pairs, ten of them wrong.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from tightcut import Graph, cluster, knn_affinity, tradeoff_path
from tightcut.datasets import sample_constraints
from tightcut.metrics import clustering_error, normalized_cut
from tightcut.relaxation.objective import penalty_bound
from tightcut.relaxation.penalty_path import penalty_path

X, y = load_wine(return_X_y=True)
X, y = StandardScaler().fit_transform(X[y > 0]), y[y > 0]
graph = Graph.from_affinity(knn_affinity(X))
pairs = sample_constraints(y, 60, random_state=0, noise=1 / 6)
path = tradeoff_path(graph, pairs, random_state=0)

# %%
# The paper's schedule: from the cut without constraints, the penalty doubles up to the one that guarantees the fewest
# violations.
free = cluster(graph, random_state=0)
certified = penalty_bound(graph, pairs, path[0].cut)
steps = list(penalty_path(graph, pairs, free.labels == 0, certified * 2.0 ** np.arange(-12, 1)))

# %%
# The error is smallest where ten pairs are violated: the wrong ones. To respect them all costs a large cut and a large
# error. Where the truth is not known, the steep fall of the cut is the sign: what is violated there disagrees with the
# graph.
figure, (cuts, errors, penalties) = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
violated = [point.n_violations for point in path]
for ax, value in ((cuts, normalized_cut), (errors, lambda _, side: 100 * clustering_error(y, side))):
    ax.plot(violated, [value(graph, point.side) for point in path], "o-", color="#0072B2", label="tradeoff_path")
    ax.plot(
        [pairs.violations(side).n_violations for _, side in steps],
        [value(graph, side) for _, side in steps],
        "s",
        color="#E69F00",
        mfc="none",
        ms=9,
        mew=2,
        label="the paper's schedule",
    )
    ax.axvline(10, color="0.6", ls=":", label="number of wrong pairs")
    ax.set(xlabel="violated pairs (of 60)", xticks=range(0, 17, 2), ylim=(0, None))
cuts.set_ylabel("normalized cut")
errors.set_ylabel("clustering error (%)")
share = [penalty / certified for penalty, _ in steps]
penalties.semilogx(
    share, [pairs.violations(side).n_violations for _, side in steps], "s-", color="#E69F00", mfc="none", mew=2, base=2
)
penalties.set(xlabel="penalty / certified penalty", ylabel="violated pairs", ylim=(-0.5, None))
figure.legend(*cuts.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()
