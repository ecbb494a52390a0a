"""FAST-GE: constrained clustering as a generalized eigenproblem of two Laplacians."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.preprocessing import normalize

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.rivals._base import GraphClusterer, belief_matrices, kmeans_labels, laplacian, largest_eigenvectors

GROUND = 1e-9  # multiple of the degrees that makes a Laplacian definite
SOLVE_TOLERANCE, EIGEN_TOLERANCE = 1e-8, 1e-5


class FastGE(GraphClusterer):
    r"""FAST-GE (Cucuringu, Koutis, Chawla, Miller and Peng 2016).

    Parameters
    ----------
    n_clusters, affinity, n_neighbors, random_state
        As in `tightcut.COSC`.

    Attributes
    ----------
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

    *Beliefs* are used. *Cost*: some tens of linear systems in :math:`L_G`, solved by conjugate gradients with the
    diagonal as preconditioner, where the paper has a combinatorial multigrid, which is faster. *Limits*: weights of
    pairs are a rule of thumb: they dominate where degrees differ much.

    References
    ----------
    M. Cucuringu, I. Koutis, S. Chawla, G. Miller and R. Peng, "Simple and Scalable Constrained Clustering: a
    Generalized Spectral Method", AISTATS 2016.
    """

    def _partition(self, data: Graph, constraints: Constraints, rng: np.random.Generator) -> np.ndarray:
        joined, cannot = two_laplacians(data, constraints)
        demand = demand_operator(cannot, data.vertex_weights)
        inverse, self.embedding_ = largest_inverses(demand, joined, min(self.n_clusters, data.n_vertices - 1), rng)
        self.eigenvalues_ = 1 / inverse
        return kmeans_labels(normalize(self.embedding_), self.n_clusters, rng)


def two_laplacians(graph: Graph, constraints: Constraints) -> tuple[sp.csr_array, sp.csr_array]:
    """Laplacians of affinities plus must-links, made definite, and of the cannot-links.

    The first is singular on constants, as L_H is, and on the components of a disconnected graph. A small multiple of D
    gives constants a 1/lambda of 0, and lets components come first.
    """
    degrees = graph.vertex_weights
    scale = sp.diags_array(degrees / np.sqrt(degrees.min() * degrees.max()))
    must, cannot = (sp.csr_array(scale @ beliefs @ scale) for beliefs in belief_matrices(constraints))
    joined = laplacian(sp.csr_array(graph.weights + must))
    return sp.csr_array(joined + sp.diags_array(GROUND * degrees)), laplacian(cannot)


def demand_operator(cannot: sp.csr_array, degrees: np.ndarray) -> LinearOperator:
    """L_H, whose demand part (D - d d^T / vol) / n is dense as a matrix and cheap as a product."""
    n, column = len(degrees), degrees[:, None]

    def multiply(x: np.ndarray) -> np.ndarray:
        x = x.reshape(n, -1)
        return cannot @ x + (column * x - column @ (column.T @ x) / degrees.sum()) / n

    return LinearOperator((n, n), matvec=lambda x: multiply(x).ravel(), matmat=multiply, dtype=np.float64)


def largest_inverses(
    demand: LinearOperator, joined: sp.csr_array, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The largest 1/lambda of L_G x = lambda L_H x, decreasing, and their eigenvectors."""
    n = joined.shape[0]
    diagonal = sp.diags_array(1 / joined.diagonal())

    def solve(x: np.ndarray) -> np.ndarray:
        return cg(joined, x, rtol=SOLVE_TOLERANCE, M=diagonal, maxiter=10 * n)[0]

    inverse = LinearOperator((n, n), matvec=solve, dtype=np.float64)
    return largest_eigenvectors(demand, count, rng, joined, Minv=inverse, ncv=None, tol=EIGEN_TOLERANCE)
