"""FAST-GE: constrained clustering as a generalized eigenproblem of two Laplacians."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg, eigsh
from sklearn.preprocessing import normalize

from tightcut.experiments.rivals._base import GraphClusterer
from tightcut.experiments.rivals._spectral import DENSE_LIMIT, belief_matrices, kmeans_labels, laplacian
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph

GROUND = 1e-9
SOLVE_TOLERANCE = 1e-8
EIGEN_TOLERANCE = 1e-5


class FastGE(GraphClusterer):
    r"""FAST-GE (Cucuringu, Koutis, Chawla, Miller and Peng 2016).

    Parameters
    ----------
    n_clusters, affinity, n_neighbors, random_state
        As in `tightcut.COSC`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    embedding_ : ndarray of shape (n_samples, n_clusters)
        The first generalized eigenvectors that are not constant, before their rows are scaled to length 1.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Increasing.

    Notes
    -----
    Cut as little as possible of what joins, as much as possible of what separates:

    .. math:: L_G x = \lambda L_H x, \qquad G = A + \text{must-links}, \qquad H = \text{cannot-links} + K / n

    where a pair with belief q weighs :math:`q \, d_i d_j / (d_{\min} d_{\max})` and K is the demand graph
    :math:`K_{ij} = d_i d_j / \mathrm{vol}`, with which the problem without pairs is the normalized cut. The rows of
    the first `n_clusters` eigenvectors are scaled to length 1 and clustered by k-means.

    *Beliefs* are used. *Cost*: some tens of linear systems in :math:`L_G`. The paper solves them in nearly linear time
    by a combinatorial multigrid; here conjugate gradients with the diagonal as preconditioner do it, which is slower
    but needs no further package. *Limits*: weights of pairs are a rule of thumb: they dominate where degrees differ
    much.

    References
    ----------
    M. Cucuringu, I. Koutis, S. Chawla, G. Miller and R. Peng, "Simple and Scalable Constrained Clustering: a
    Generalized Spectral Method", AISTATS 2016.
    """

    def _partition(self, data: Graph, constraints: Constraints, rng: np.random.Generator) -> np.ndarray:
        joined, cannot = two_laplacians(data, constraints)
        n_vectors = min(self.n_clusters, data.n_vertices - 1)
        self.eigenvalues_, self.embedding_ = smallest_generalized(joined, cannot, data.vertex_weights, n_vectors, rng)
        return kmeans_labels(normalize(self.embedding_), self.n_clusters, rng)


def two_laplacians(graph: Graph, constraints: Constraints) -> tuple[sp.csr_array, sp.csr_array]:
    """Laplacians of affinities plus must-links, and of the cannot-links."""
    degrees = graph.vertex_weights
    scale = sp.diags_array(degrees / np.sqrt(degrees.min() * degrees.max()))
    must, cannot = (sp.csr_array(scale @ beliefs @ scale) for beliefs in belief_matrices(constraints))
    return laplacian(sp.csr_array(graph.weights + must)), laplacian(cannot)


def demand_operator(cannot: sp.csr_array, degrees: np.ndarray) -> LinearOperator:
    """L_H, whose demand part (D - d d^T / vol) / n is dense as a matrix and cheap as a product."""
    n, column = len(degrees), degrees[:, None]

    def multiply(x: np.ndarray) -> np.ndarray:
        x = x.reshape(n, -1)
        return cannot @ x + (column * x - column @ (column.T @ x) / degrees.sum()) / n

    return LinearOperator((n, n), matvec=lambda x: multiply(x).ravel(), matmat=multiply, dtype=np.float64)


def smallest_generalized(
    joined: sp.csr_array, cannot: sp.csr_array, degrees: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The smallest lambda of L_G x = lambda L_H x without the constant vector, from the largest 1/lambda.

    L_G is singular on constants, as L_H is, and on the components of a disconnected graph. A small multiple of D makes
    it definite, gives constants a 1/lambda of 0, and lets components come first.
    """
    n = len(degrees)
    grounded = sp.csr_array(joined + sp.diags_array(GROUND * degrees))
    demand = demand_operator(cannot, degrees)
    if n <= max(DENSE_LIMIT, 2 * count + 2):
        dense = demand @ np.eye(n)
        inverse, vectors = scipy.linalg.eigh(
            (dense + dense.T) / 2, grounded.toarray(), subset_by_index=[n - count, n - 1]
        )
    else:
        diagonal = sp.diags_array(1 / grounded.diagonal())

        def solve(x: np.ndarray) -> np.ndarray:
            return cg(grounded, x, rtol=SOLVE_TOLERANCE, M=diagonal, maxiter=10 * n)[0]

        inverse, vectors = eigsh(
            demand,
            count,
            M=grounded,
            Minv=LinearOperator((n, n), matvec=solve, dtype=np.float64),
            which="LA",
            v0=demand @ rng.normal(size=n),
            tol=EIGEN_TOLERANCE,
        )
    order = np.argsort(-inverse)
    return 1 / inverse[order], vectors[:, order]
