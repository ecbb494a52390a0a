"""Positions of the points on the map: principal components at first, t-SNE when it is ready."""

from __future__ import annotations

from typing import Any

import numpy as np

DRAWN = 2500  # points: more are thinned out, evenly at random

UNEVEN = 50  # times: columns whose deviations differ more than this are measured in different units


def drawn_rows(n: int) -> np.ndarray:
    """The rows that the map shows."""
    if n <= DRAWN:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, DRAWN, replace=False))


def first_layout(X: Any, affinity: str, rows: np.ndarray) -> np.ndarray:
    """A layout that is computed quickly: principal components, or for a graph its leading eigenvectors."""
    if affinity == "precomputed":
        from tightcut import Graph
        from tightcut.report.layout import spectral_layout

        return unit(spectral_layout(Graph.from_affinity(X))[rows])
    components = _components(X, rows, 2)
    if components.shape[1] < 2:
        components = np.column_stack([components, np.zeros(len(components))])
    return unit(components)


def better_layout(X: Any, rows: np.ndarray) -> np.ndarray | None:
    """Neighbours next to each other (t-SNE of the points drawn); None where that shows no more."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    if len(rows) < 50 or X.shape[1] <= 2:
        return None
    points = _components(X, rows, 30)
    # One thread; the others are needed for answers.
    with threadpool_limits(1):
        model = TSNE(init="pca", random_state=0, perplexity=min(30, len(points) // 4), max_iter=500)
        return unit(model.fit_transform(points))


def _components(X: Any, rows: np.ndarray, count: int) -> np.ndarray:
    """The first principal components of the points drawn."""
    points = np.asarray(X[rows], dtype=np.float64)
    points = points - points.mean(axis=0)
    spread = points.std(axis=0)
    varying = spread[spread > 0]
    if len(varying) and varying.max() > UNEVEN * np.percentile(varying, 25, method="lower"):
        points /= np.where(spread > 0, spread, 1)
    left, lengths, _ = np.linalg.svd(points, full_matrices=False)
    return left[:, :count] * lengths[:count]


def unit(positions: np.ndarray) -> np.ndarray:
    """Positions from 0 to 1 in both directions, to three decimals."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    return np.round((positions - low) / np.where(high > low, high - low, 1), 3)
