"""Two-dimensional layouts of points: graph layout, principal components, t-SNE.

The report draws `graph_layout` or `principal_components`. The page of a session begins with what is computed quickly, and
replaces it by t-SNE.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.problem.graph import Graph
from tightcut.problem.spectral import largest_eigenpairs

# Of the graph's layout.
EPOCHS, FEWEST_EPOCHS = 200, 30
WORK = 20_000_000  # edges and repelled pairs, over all epochs, from which on there are fewer epochs
REPELLED = 5  # random vertices that repel each vertex, per epoch
WIDTH = 10.0  # of half the start; attraction is strongest at distance 1
STEP = 0.15  # share of the force that a vertex moves by at first; it falls to 0
LARGEST_FORCE = 4.0  # of one repelling vertex; twice that of all forces together

# Of the layout of points.
UNEVEN = 50  # times: columns whose deviations differ more are measured in different units
FEWEST_FOR_TSNE, COMPONENTS = 50, 30  # points; principal components that t-SNE is given


def graph_layout(graph: Graph) -> np.ndarray:
    """Two coordinates per vertex: edges attract their ends, and random vertices repel each other.

    The forces are those of UMAP with a = b = 1: a pull of 2 w d / (1 + d²) along an edge of weight w, and a push of
    2 d / ((0.001 + d²) (1 + d²)). It starts from `spectral_layout`, and `WORK` limits arcs times epochs.
    """
    n, rng = graph.n_vertices, np.random.default_rng(0)
    start = spectral_layout(graph)
    edges = sp.triu(graph.weights, k=1).tocoo()
    if n < 4 or edges.nnz == 0:
        return start
    x = WIDTH * start + rng.normal(scale=1e-2, size=start.shape)
    ends, weight = np.stack([edges.row, edges.col]), edges.data / edges.data.max()
    epochs = int(np.clip(WORK / (edges.nnz + REPELLED * n), FEWEST_EPOCHS, EPOCHS))
    for epoch in range(epochs):
        apart = x[ends[0]] - x[ends[1]]
        pull = -2 * weight / (1 + np.square(apart).sum(axis=1))
        force = _summed(ends, apart * pull[:, None], n)
        for other in rng.integers(n, size=(REPELLED, n)):
            apart = x - x[other]
            squared = np.square(apart).sum(axis=1)
            force += np.clip(apart * (2 / ((0.001 + squared) * (1 + squared)))[:, None], -LARGEST_FORCE, LARGEST_FORCE)
        x += (1 - epoch / epochs) * STEP * np.clip(force, -2 * LARGEST_FORCE, 2 * LARGEST_FORCE)
    return x


def spectral_layout(graph: Graph) -> np.ndarray:
    """Two coordinates per vertex: eigenvectors 2 and 3 of the normalized Laplacian, half-way between values and ranks.

    Eigenvectors of a graph with clear clusters put almost all vertices in a few places. The mean of a coordinate and
    its rank pulls these apart and keeps the order.
    """
    n = graph.n_vertices
    if n < 4:
        return np.stack([np.arange(n), np.zeros(n)], axis=1).astype(float)
    scale = 1 / np.sqrt(np.where(graph.degrees > 0, graph.degrees, 1))
    # The positive diagonal keeps the wanted eigenvalues the largest in size.
    lazy = sp.diags_array(scale) @ graph.weights @ sp.diags_array(scale) + sp.eye_array(n)
    vectors = _leading_vectors(sp.csr_array(lazy), 3)[:, 1:] * scale[:, None]
    spread = np.abs(vectors).max(axis=0)
    unit = vectors / np.where(spread > 0, spread, 1)
    ranks = unit.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") / (n - 1) * 2 - 1
    return (unit + ranks) / 2


def principal_components(points: np.ndarray, count: int = 2) -> np.ndarray:
    """Coordinates of every point: as they are, or along the directions of largest variance, with a fixed sign."""
    centred = np.asarray(points, dtype=np.float64) - np.mean(points, axis=0)
    n, d = centred.shape
    if d <= count:
        return np.pad(centred, ((0, 0), (0, count - d)))
    if n < d:  # the smaller of the two matrices of products
        vectors = np.linalg.svd(centred, full_matrices=False)[2][:count].T
        vectors = np.pad(vectors, ((0, 0), (0, count - vectors.shape[1])))
    else:
        vectors = np.linalg.eigh(centred.T @ centred)[1][:, : -count - 1 : -1]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)])
    return centred @ (vectors * signs)


def first_layout(X: Any, affinity: str, rows: np.ndarray) -> np.ndarray:
    """A layout of some rows that is computed quickly: principal components, or for a graph its leading eigenvectors."""
    if affinity == "precomputed":
        return unit(spectral_layout(Graph.from_affinity(X))[rows])
    return unit(principal_components(in_like_units(X[rows])))


def better_layout(X: Any, rows: np.ndarray) -> np.ndarray | None:
    """Neighbours next to each other (t-SNE of the rows drawn); None where that shows no more."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    if len(rows) < FEWEST_FOR_TSNE or X.shape[1] <= 2:
        return None
    points = principal_components(in_like_units(X[rows]), COMPONENTS)
    # One thread; the others are needed for answers.
    with threadpool_limits(1):
        model = TSNE(init="pca", random_state=0, perplexity=min(30, len(points) // 4), max_iter=500)
        return unit(model.fit_transform(points))


def in_like_units(points: np.ndarray) -> np.ndarray:
    """The columns with deviation 1 where they seem to be measured in different units, as they are otherwise."""
    points = np.asarray(points, dtype=np.float64)
    deviation = points.std(axis=0)
    varying = deviation[deviation > 0]
    if len(varying) and varying.max() > UNEVEN * np.percentile(varying, 25, method="lower"):
        return points / np.where(deviation > 0, deviation, 1)
    return points


def unit(positions: np.ndarray) -> np.ndarray:
    """Positions from 0 to 1 in both directions, to three decimals."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    return np.round((positions - low) / np.where(high > low, high - low, 1), 3)


def _summed(ends: np.ndarray, forces: np.ndarray, n: int) -> np.ndarray:
    """The sum of the forces on each vertex: on the first end of an edge, and against it on the second."""
    first, second = (np.stack([np.bincount(side, part, n) for part in forces.T], axis=1) for side in (ends[0], ends[1]))
    return first - second


def _leading_vectors(matrix: Any, count: int) -> np.ndarray:
    """Eigenvectors of the largest eigenvalues, largest first, with a fixed sign; zeros for those that do not converge."""
    _, vectors = largest_eigenpairs(matrix, count, lambda: np.random.default_rng(0).random(matrix.shape[0]), tol=1e-4)
    vectors = np.pad(vectors, ((0, 0), (0, count - vectors.shape[1])))
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(count)] < 0, -1, 1)
