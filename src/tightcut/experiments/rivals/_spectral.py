"""Matrices and eigenvectors that the spectral rivals share.

| name | meaning |
|---|---|
| A, D, L | affinities, diagonal of their row sums, Laplacian D - A |
| normalized affinity | D^-1/2 A D^-1/2, whose spectrum lies in [-1, 1] |
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from tightcut.problem import Constraints
from tightcut.utils.warning import warn

DENSE_LIMIT = 500
TOLERANCE = 1e-8


def laplacian(weights: sp.csr_array) -> sp.csr_array:
    """D - A."""
    return sp.csr_array(sp.diags_array(np.asarray(weights.sum(axis=1)).ravel()) - weights)


def pair_matrix(n_points: int, pairs: np.ndarray, values: Any) -> sp.csr_array:
    """Symmetric sparse matrix with a value at each pair, at (i, j) and (j, i)."""
    i, j = pairs.T
    half = sp.csr_array((np.broadcast_to(values, len(pairs)).astype(np.float64), (i, j)), shape=(n_points, n_points))
    return sp.csr_array(half + half.T)


def belief_matrices(constraints: Constraints) -> tuple[sp.csr_array, sp.csr_array]:
    """The beliefs of the must-links and of the cannot-links, each as a symmetric matrix."""
    n = constraints.n_points
    must = pair_matrix(n, constraints.must_link, constraints.must_link_belief)
    return must, pair_matrix(n, constraints.cannot_link, constraints.cannot_link_belief)


def normalized_affinity(weights: sp.csr_array, degrees: np.ndarray) -> sp.csr_array:
    """D^-1/2 A D^-1/2; `degrees` are positive, so that an isolated vertex has a zero row."""
    scale = sp.diags_array(1 / np.sqrt(degrees))
    return sp.csr_array(scale @ weights @ scale)


def largest_eigenvectors(matrix: Any, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of a symmetric matrix or `LinearOperator`, decreasing, and their unit eigenvectors.

    Dense up to `DENSE_LIMIT` rows, else Lanczos; a run that does not converge warns and returns what it has.
    """
    n = matrix.shape[0]
    count = min(count, n)
    if n <= max(DENSE_LIMIT, 2 * count):
        dense = matrix @ np.eye(n) if isinstance(matrix, LinearOperator) else matrix.toarray()
        values, vectors = scipy.linalg.eigh((dense + dense.T) / 2, subset_by_index=[n - count, n - 1])
    else:
        start = matrix @ rng.normal(size=n)
        try:
            values, vectors = eigsh(matrix, k=count, which="LA", v0=start, ncv=min(n, 3 * count + 20), tol=TOLERANCE)
        except ArpackNoConvergence as error:
            values, vectors = error.eigenvalues, error.eigenvectors
            if len(values) == 0:
                raise
            warn(
                f"Only {len(values)} of {count} eigenvectors converged; the embedding uses those.",
                ConvergenceWarning,
            )
    order = np.argsort(-values)
    return values[order], vectors[:, order]


def kmeans_labels(embedding: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Labels of the best of ten k-means runs."""
    # Signs of eigenvectors are arbitrary and do not matter to k-means beyond its random starts.
    model = KMeans(n_clusters, n_init=10, random_state=int(rng.integers(2**31)))
    return model.fit(embedding).labels_
