"""Constrained clustering via spectral regularization: pairs reshape the spectral embedding by a semidefinite program."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.utils import check_scalar

from tightcut.experiments.rivals._base import GraphClusterer
from tightcut.experiments.rivals._spectral import kmeans_labels, largest_eigenvectors, normalized_affinity
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph


class CCSR(GraphClusterer):
    r"""Constrained clustering via spectral regularization (Li, Liu and Tang 2009). Needs ``tightcut[rivals]``.

    Parameters
    ----------
    n_clusters : int, default=2
    n_components : int, default=15
        Eigenvectors m to build the embedding from; the paper uses 15. At least `n_clusters` are taken.
    affinity, n_neighbors, random_state
        As in `tightcut.COSC`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    eigenvectors_ : ndarray of shape (n_samples, m)
        The smoothest eigenvectors Y of the normalized Laplacian, scaled by the root of n_samples.
    metric_ : ndarray of shape (m, m)
        The positive semidefinite M.
    embedding_ : ndarray of shape (n_samples, m)
        Y M^(1/2), what k-means clusters.
    objective_ : float
        The sum of squares at M.

    Notes
    -----
    The rows :math:`y_i` of the first m eigenvectors of :math:`I - D^{-1/2} A D^{-1/2}` vary slowly over the graph, and
    so does every :math:`M^{1/2} y_i`. M is chosen so that points come to lie on the unit sphere, must-linked ones
    together and cannot-linked ones orthogonal:

    .. math:: \min_{M \succeq 0} \sum_i (y_i^T M y_i - 1)^2 + \sum_{must} (y_i^T M y_j - 1)^2
              + \sum_{cannot} (y_i^T M y_j)^2.

    This is a quadratic in the m(m + 1)/2 entries of M, so the semidefinite program does not grow with the data.

    *Beliefs* are ignored. *Cost*: m eigenvectors, O(n m^4) to set up, then an interior-point solve of O(m^6): seconds
    at m = 15, minutes at m = 50. *Limits*: must-linked points that no m smooth vectors bring together stay apart.
    Without cannot-links all points may meet in one; without any pair M is not determined at all, and plain spectral
    clustering with the first `n_clusters` eigenvectors takes its place.

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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_scalar(self.n_components, "n_components", Integral, min_val=1)

    def _partition(self, data: Graph, constraints: Constraints, rng: np.random.Generator) -> np.ndarray:
        count = max(self.n_clusters, self.n_components)
        _, vectors = largest_eigenvectors(normalized_affinity(data.weights, data.vertex_weights), count, rng)
        self.eigenvectors_ = vectors * np.sqrt(data.n_vertices)
        design, wanted = pair_equations(self.eigenvectors_, constraints)
        size = self.eigenvectors_.shape[1]
        if constraints.is_empty:
            self.metric_ = np.diag((np.arange(size) < self.n_clusters).astype(np.float64))
        else:
            self.metric_ = fit_metric(design, wanted, size)
        residual = design @ symmetric_vector(self.metric_) - wanted
        self.objective_ = float(residual @ residual)
        self.embedding_ = self.eigenvectors_ @ square_root(self.metric_)
        return kmeans_labels(self.embedding_, self.n_clusters, rng)


def pair_equations(rows: np.ndarray, constraints: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """The linear map from M to all y_i^T M y_j that the objective speaks about, and their wanted values."""
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
    try:
        import cvxpy as cp
    except ImportError as error:
        raise ImportError('CCSR needs cvxpy and clarabel: pip install "tightcut[rivals]"') from error
    # Only R and Q^T b of a QR factorisation matter: the program does not grow with the number of points.
    q, r = scipy.linalg.qr(design, mode="economic")
    metric = cp.Variable((size, size), PSD=True)
    first, second = np.triu_indices(size)
    entries = cp.multiply(metric[first, second], np.where(first == second, 1, np.sqrt(2)))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(r @ entries - q.T @ wanted)))
    problem.solve(solver=cp.CLARABEL)
    if metric.value is None:
        raise RuntimeError(f"The semidefinite program of CCSR ended with status {problem.status!r}.")
    values, vectors = scipy.linalg.eigh((metric.value + metric.value.T) / 2)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def square_root(matrix: np.ndarray) -> np.ndarray:
    values, vectors = scipy.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
