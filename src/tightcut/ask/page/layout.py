"""Where the points stand on the map: principal components at once, t-SNE when it is ready."""

from __future__ import annotations

from typing import Any

import numpy as np

DRAWN = 3000  # points: more are thinned out, evenly at random


def drawn_rows(n: int) -> np.ndarray:
    """The rows that the map shows."""
    if n <= DRAWN:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, DRAWN, replace=False))


def first_layout(X: Any, affinity: str, rows: np.ndarray) -> np.ndarray:
    """A layout that costs little: principal components, or for a graph its leading eigenvectors."""
    if affinity == "precomputed":
        from tightcut import Graph
        from tightcut.report.map import spectral_layout

        return unit(spectral_layout(Graph.from_affinity(X))[rows])
    points = np.asarray(X, dtype=np.float64)[rows]
    points = points - points.mean(axis=0)
    if points.shape[1] < 2:
        return unit(np.column_stack([points, np.zeros(len(points))]))
    left, lengths, _ = np.linalg.svd(points, full_matrices=False)
    return unit(left[:, :2] * lengths[:2])


def better_layout(X: Any, rows: np.ndarray) -> np.ndarray | None:
    """Neighbours next to each other (t-SNE of the points drawn); None where that shows no more."""
    from sklearn.manifold import TSNE

    points = np.asarray(X, dtype=np.float64)[rows]
    if len(points) < 50 or points.shape[1] <= 2:
        return None
    return unit(TSNE(init="pca", random_state=0, perplexity=min(30, len(points) // 4)).fit_transform(points))


def unit(positions: np.ndarray) -> np.ndarray:
    """Positions from 0 to 1 in both directions, to three decimals."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    return np.round((positions - low) / np.where(high > low, high - low, 1), 3)
