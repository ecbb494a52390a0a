"""Starting points: smooth vectors from the spectral relaxation of a signed graph, thresholded into spins.

Substituting f_q = -f_p for every cannot-link pair turns the graph Laplacian into the signed Laplacian of the units;
its first eigenvectors solve the spectral relaxation with linear constraints (Xu, Li and Schuurmans 2009).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from tightcut import _kernels as kernels
from tightcut.signed import SignedGraph

DENSE_LIMIT = 600
N_VECTORS = 8


def spectral_basis(graph: SignedGraph, n_vectors: int = N_VECTORS) -> tuple[np.ndarray, np.ndarray]:
    """The smallest eigenvalues of the pencil (signed Laplacian, masses) and their eigenvectors."""
    n = graph.n_units
    n_vectors = min(n_vectors, n)
    scale = 1 / np.sqrt(graph.mass)
    stiffness = abs(graph.couplings).sum(axis=1) * scale**2
    if n <= DENSE_LIMIT:
        dense = -scale[:, None] * graph.couplings.toarray() * scale
        dense[np.diag_indices(n)] += stiffness
        values, vectors = scipy.linalg.eigh(dense, subset_by_index=[0, n_vectors - 1])
        return np.maximum(values, 0), scale[:, None] * vectors
    # Lanczos converges to the largest end; rough vectors are enough to start from.
    top = 2 * float(stiffness.max())
    laplacian = sp.diags_array(stiffness) - sp.diags_array(scale) @ graph.couplings @ sp.diags_array(scale)
    shifted = sp.csr_array(sp.eye_array(n) * top - laplacian)
    first_guess = np.random.default_rng(0).normal(size=n)
    try:
        values, vectors = eigsh(shifted, k=n_vectors, which="LA", tol=1e-3, v0=first_guess)
    except ArpackNoConvergence as error:
        values, vectors = error.eigenvalues, error.eigenvectors
        if len(values) == 0:
            return np.zeros(1), first_guess[:, None]
    order = np.argsort(-values)
    return np.maximum(top - values[order], 0), scale[:, None] * vectors[:, order]


def smooth_vectors(
    graph: SignedGraph, count: int, rng: np.random.Generator, n_vectors: int = N_VECTORS
) -> Iterator[np.ndarray]:
    """The first eigenvectors, then random combinations of all, each weighted by the inverse root of its eigenvalue."""
    values, vectors = spectral_basis(graph, n_vectors)
    # Without mixed units the first eigenvector is constant.
    first = 0 if graph.mixed.any() else 1
    damping = 1 / np.sqrt(values + 1e-3 * values.max() + np.finfo(float).tiny)
    for t in range(first, first + count):
        yield vectors[:, t] if t < min(3, vectors.shape[1]) else vectors @ (rng.normal(size=len(values)) * damping)


def threshold(graph: SignedGraph, f: np.ndarray) -> tuple[float, np.ndarray]:
    """The best spins of the form: mixed units by the sign of f, the others by f > t. Returns (ratio, spins)."""
    spins = np.where(graph.mixed & (f > 0), 1, -1).astype(np.int8)
    order = np.argsort(-f, kind="stable").astype(np.int32)
    ratio = kernels.sweep(*graph.arrays, spins, order[~graph.mixed[order]])
    return ratio, spins
