"""Constrained clustering via spectral regularization: pairs reshape the spectral embedding by a semidefinite program."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.rivals._base import GraphClusterer, kmeans_labels, largest_eigenvectors, normalized_affinity
from tightcut.utils.extras import require_package


class CCSR(GraphClusterer):
    r"""Constrained clustering via spectral regularization (Li, Liu and Tang 2009). Needs ``tightcut[rivals]``.

    Parameters
    ----------
    n_components : int, default=15
        Eigenvectors m to build the embedding from; the paper uses 15. At least `n_clusters` are taken.
    n_clusters, affinity, n_neighbors, random_state
        As in `tightcut.COSC`.

    Attributes
    ----------
    eigenvectors_ : ndarray of shape (n_samples, m)
        The smoothest eigenvectors Y of the normalized Laplacian, scaled by the root of n_samples.
    metric_ : ndarray of shape (m, m)
        The positive semidefinite M.
    embedding_ : ndarray of shape (n_samples, m)
        Y M^(1/2), what k-means clusters.
    objective_ : float

    Notes
    -----
    The rows :math:`y_i` of the first m eigenvectors of :math:`I - D^{-1/2} A D^{-1/2}` vary slowly over the graph, and
    so does every :math:`M^{1/2} y_i`. M is chosen so that points come to lie on the unit sphere, must-linked ones
    together and cannot-linked ones orthogonal:

    .. math:: \min_{M \succeq 0} \sum_i (y_i^T M y_i - 1)^2 + \sum_{must} (y_i^T M y_j - 1)^2
              + \sum_{cannot} (y_i^T M y_j)^2.

    *Beliefs* are ignored. *Cost*: m eigenvectors, O(n m^4) to set up, then an interior-point solve of O(m^6), whatever
    the number of points: seconds at m = 15, minutes at m = 50. *Limits*: must-linked points that no m smooth vectors
    bring together stay apart. Without cannot-links all points may meet in one; without any pair M is not determined,
    and plain spectral clustering with the first `n_clusters` eigenvectors takes its place.

    References
    ----------
    Z. Li, J. Liu and X. Tang, "Constrained Clustering via Spectral Regularization", CVPR 2009.
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_components: int = 15,
        affinity: str = "knn",
        n_neighbors: int = 10,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, affinity=affinity, n_neighbors=n_neighbors, random_state=random_state)
        self.n_components = n_components

    def _partition(self, data: Graph, constraints: Constraints, rng: np.random.Generator) -> np.ndarray:
        count = max(self.n_clusters, self.n_components)
        _, vectors = largest_eigenvectors(normalized_affinity(data.weights, data.vertex_weights), count, rng)
        self.eigenvectors_ = vectors * np.sqrt(data.n_vertices)
        design, wanted = pair_equations(self.eigenvectors_, constraints)
        size = self.eigenvectors_.shape[1]
        plain = np.diag((np.arange(size) < self.n_clusters).astype(np.float64))
        self.metric_ = plain if constraints.is_empty else fit_metric(design, wanted, size)
        residual = design @ symmetric_vector(self.metric_) - wanted
        self.objective_ = float(residual @ residual)
        self.embedding_ = self.eigenvectors_ @ positive_power(self.metric_, 0.5)
        return kmeans_labels(self.embedding_, self.n_clusters, rng)


def pair_equations(rows: np.ndarray, constraints: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """The linear map from M to all y_i^T M y_j in the objective, and their wanted values."""
    n = len(rows)
    alone = np.repeat(np.arange(n), 2).reshape(n, 2)
    i, j = np.concatenate([alone, constraints.must_link, constraints.cannot_link]).T
    first, second = np.triu_indices(rows.shape[1])
    design = rows[i][:, first] * rows[j][:, second] + rows[i][:, second] * rows[j][:, first]
    # <y_j y_i^T, M> in the coordinates of `symmetric_vector`.
    design *= np.where(first == second, 0.5, np.sqrt(0.5))
    wanted = np.concatenate([np.ones(n + constraints.n_must_link), np.zeros(constraints.n_cannot_link)])
    return design, wanted


def symmetric_vector(matrix: np.ndarray) -> np.ndarray:
    """The upper triangle with its off-diagonal entries times root 2, so that inner products are kept."""
    first, second = np.triu_indices(len(matrix))
    return matrix[first, second] * np.where(first == second, 1, np.sqrt(2))


def fit_metric(design: np.ndarray, wanted: np.ndarray, size: int) -> np.ndarray:
    """The positive semidefinite matrix of least squared error."""
    cp = require_package("cvxpy", "CCSR", "rivals")
    # Only R and Q^T b of a QR factorisation matter: the program does not grow with the number of points.
    q, r = scipy.linalg.qr(design, mode="economic")
    metric = cp.Variable((size, size), PSD=True)
    first, second = np.triu_indices(size)
    entries = cp.multiply(metric[first, second], np.where(first == second, 1, np.sqrt(2)))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(r @ entries - q.T @ wanted)))
    problem.solve(solver=cp.CLARABEL)
    if metric.value is None:
        raise RuntimeError(f"The semidefinite program of CCSR ended with status {problem.status!r}.")
    return positive_power((metric.value + metric.value.T) / 2, 1)


def positive_power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    """A power of a symmetric matrix, with negative eigenvalues taken for 0."""
    values, vectors = scipy.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 0) ** exponent) @ vectors.T
