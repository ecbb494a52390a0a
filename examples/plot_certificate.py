"""
How good is this cut?
=====================

A search finds a cut; a proof says how far it is from the smallest one, whatever anybody else may find.

The two kinds of tumours of the Wisconsin data are told apart with 40 pairs. `certify` raises a bound below which no cut is
until it meets the cut, or the time is up.
"""

# %%
# Fit, then prove. The sentence is exact: digits of the bound are cut off, not rounded.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from tightcut import COSC, Constraints, Graph, cluster
from tightcut.certificates import certify
from tightcut.datasets import sample_constraints

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
pairs = sample_constraints(y, 40, random_state=0)
model = COSC(influence=0, random_state=0).fit(X, constraints=pairs)
certificate = model.certify(seconds=20)
print(certificate)

# %%
# Anybody can check that, with the graph, the pairs and a program of less than 120 lines, without the search.
graph = Graph(model.affinity_matrix_, model.vertex_weights_)
print("verified:", certificate.verify(graph, model.constraints_))

# %%
# The bound is of all clusterings that respect the pairs, and so of those that other searches find. It says nothing of one
# that violates pairs.
free = cluster(graph, Constraints.from_pairs(len(y)), random_state=0)
print(
    f"without the pairs the cut is {free.cut:.4f}, which violates {pairs.violations(free.labels).n_violations} of them"
)
quick = cluster(graph, model.constraints_, effort=0, random_state=1)
print(f"a quick search: another one could save at most {1 - certificate.bound / quick.cut:.1%} of the cut")

# %%
# Bound and cut while the proof was made. The last bound is proven, those before it are estimates.
seconds, bound, cut = certify(graph, model.constraints_, quick.labels, random_state=0, gap=1e-4).history.T
figure, axes = plt.subplots(figsize=(6, 3))
axes.step(seconds, cut, where="post", label="cut")
axes.step(seconds, bound, where="post", linestyle="--", label="bound")
axes.set(xlabel="seconds", ylabel="normalized cut", ylim=(0, 1.1 * cut.max()))
axes.legend(loc="lower right")
plt.tight_layout()
