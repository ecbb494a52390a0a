"""
Two moons in a hundred dimensions
=================================

A few pairs reveal the border that noise had hidden.

Two half circles lie in the first two of a hundred features; the other 98 are noise. The neighbourhood graph of such
points has many cheap cuts, and the cheapest is not the one between the moons.
"""

# %%
# Two features are shown, but all hundred are used. Without constraints the smallest normalized cut splits off a part of one
# moon.
import matplotlib.pyplot as plt

from tightcut import COSC
from tightcut.datasets import load_two_moons, sample_constraints
from tightcut.metrics import clustering_error
from tightcut.plots import plot_clusters

moons = load_two_moons(n_points=400, random_state=1)
free = COSC(random_state=0).fit(moons.X)

# %%
# Now somebody looks at a few pairs of points and says whether they belong together. The result is guaranteed to respect all of
# these statements.
pairs = sample_constraints(moons.y, 20, random_state=0)
model = COSC(random_state=0).fit(moons.X, constraints=pairs)
assert model.n_violations_ == 0

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, fitted, title in zip(axes, (free, model), ("no pairs", f"{pairs.n_pairs} pairs"), strict=True):
    plot_clusters(moons.X[:, :2], fitted.labels_, pairs, ax=ax)
    ax.set_title(f"{title}: {clustering_error(moons.y, fitted.labels_):.0%} wrong, cut {fitted.cut_:.3f}")
plt.show()
