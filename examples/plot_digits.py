"""
Handwritten digits with a few hundred pairs
===========================================

Mean images of clusters of handwritten digits, without and with knowledge about some pairs of images.

There are 1797 images of ten digits. The graph alone confuses some of them: one digit written in two ways may look like
two digits, and two digits like one. It helps to say which of some pairs of images show the same digit; nobody has to name
the digits.
"""

# %%
# Ten clusters, without pairs and with 300 random ones (of 1.6 million). Without pairs one cluster is tiny; tightcut warns about
# it, but here this is what we want to show.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from tightcut import COSC
from tightcut.datasets import sample_constraints
from tightcut.exceptions import LopsidedClustersWarning
from tightcut.metrics import clustering_error

images, digits = load_digits(return_X_y=True)
pairs = sample_constraints(digits, 300, random_state=0)
warnings.simplefilter("ignore", LopsidedClustersWarning)
free = COSC(n_clusters=10, random_state=0).fit(images)
model = COSC(n_clusters=10, random_state=0).fit(images, constraints=pairs)
print(f"{pairs.n_must_link} must-links and {pairs.n_cannot_link} cannot-links, {model.n_violations_} violated")

# %%
# The mean image of each cluster, ordered by its most frequent digit. A blurred mean and a low share mark a cluster that
# mixes digits; a digit that appears twice was split in two.
figure = plt.figure(figsize=(11, 3.9), layout="constrained")
for part, fitted, title in zip(figure.subfigures(2), (free, model), ("No pairs", "300 pairs"), strict=True):
    counts = np.array([np.bincount(digits[fitted.labels_ == c], minlength=10) for c in range(10)])
    for ax, c in zip(part.subplots(1, 10), np.argsort(counts.argmax(axis=1), kind="stable"), strict=True):
        ax.imshow(images[fitted.labels_ == c].mean(axis=0).reshape(8, 8), cmap="cividis")
        ax.set(xticks=[], yticks=[])
        ax.set_xlabel(f"{counts[c].argmax()}: {counts[c].max() / counts[c].sum():.0%}\nof {counts[c].sum()}")
    part.suptitle(f"{title}: {clustering_error(digits, fitted.labels_):.1%} of the images in the wrong cluster")
plt.show()
