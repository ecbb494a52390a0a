"""
Image segmentation by scribbles
===============================

A few strokes of a brush become constraints, and the smallest cut of the pixel graph follows the outlines.

Each pixel is a vertex, joined to its eight neighbours, more strongly to similar ones. The pixels of all scribbles of one
colour belong together, and those of different colours apart.
"""

# %%
# A photograph that ships with scikit-learn, reduced to 106 by 71 pixels, and its graph.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from tightcut import COSC, pixel_affinity
from tightcut.plots import PALETTE

photograph = load_sample_image("china.jpg")[:426, :636] / 255
image = photograph.reshape(71, 6, 106, 6, 3).mean(axis=(1, 3))
height, width = image.shape[:2]

graph = pixel_affinity(image, contrast=0.12)

# %%
# Scribbles of three colours: sky and water, the building, the trees. Everything else is unknown, -1.
scribbles = np.full((height, width), -1)
scribbles[2:4, 8:95] = 0
scribbles[44:46, 65:85] = 0
scribbles[8:60, 33:35] = 1
scribbles[52:54, 16:56] = 1
scribbles[66:68, 5:100] = 2
scribbles[28:66, 3:5] = 2
scribbles[32:66, 99:101] = 2
free = COSC(n_clusters=3, affinity="precomputed", random_state=0).fit(graph)
model = COSC(n_clusters=3, affinity="precomputed", random_state=0).fit(graph, partial_labels=scribbles.ravel())
print(f"{(scribbles >= 0).sum()} of {scribbles.size} pixels are known; {model.n_violations_} constraints violated")

# %%
# Without scribbles the smallest cut into three parts isolates small patches of colour. With them, it follows the outlines.
colours = np.array([[int(PALETTE[c][i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in range(3)])


def show(ax, labels, title):
    ax.imshow(0.45 * image + 0.55 * colours[labels.reshape(height, width)])
    ax.contour(labels.reshape(height, width) == 0, levels=[0.5], colors="white", linewidths=0.8)
    ax.contour(labels.reshape(height, width) == 1, levels=[0.5], colors="white", linewidths=0.8)
    ax.set_title(title)


figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
axes[0].imshow(image)
for part, name in enumerate(("sky and water", "building", "trees")):
    y, x = np.nonzero(scribbles == part)
    axes[0].scatter(x, y, s=5, color=PALETTE[part], marker="s", label=f"scribble: {name}")
axes[0].set_title("scribbles")
figure.legend(loc="outside lower center", ncols=3, frameon=False, markerscale=2)
show(axes[1], free.labels_, f"no constraints, cut {free.cut_:.4f}")
# Colour each cluster like the scribble that lies in it.
part_of = np.array([scribbles.ravel()[(model.labels_ == c) & (scribbles.ravel() >= 0)][0] for c in range(3)])
show(axes[2], part_of[model.labels_], f"scribbles respected, cut {model.cut_:.4f}")
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
