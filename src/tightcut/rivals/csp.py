"""Flexible constrained spectral clustering: a spectral relaxation with a lower bound on satisfied constraints."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.utils import check_scalar

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.rivals._base import GraphClusterer, belief_matrices, kmeans_labels, normalized_affinity

NULL_TOLERANCE = 1e-10  # eigenvalues below it are 0


class CSP(GraphClusterer):
    r"""Flexible constrained spectral clustering (Wang and Davidson 2010; for k clusters Wang, Qian and Davidson 2014).

    Parameters
    ----------
    beta : float in [0, 1), optional
        How much must be satisfied, as a share of the (k - 1)-th largest eigenvalue of :math:`\bar Q`, up to which a
        solution exists. By default the choice of the paper's experiments, 0.5 + 0.4 m / n^2 with m the number of
        nonzero entries of Q; see the limits below.
    max_points : int, default=3000
        Refuse more points than this, because the eigenproblem is dense.
    n_clusters, affinity, n_neighbors, random_state
        As in `tightcut.COSC`.

    Attributes
    ----------
    vectors_ : ndarray of shape (n_samples, m)
        The chosen v, unit length, by increasing cost; m = n_clusters - 1, or fewer where fewer are feasible.
    eigenvalues_ : ndarray of shape (m,)
    beta_ : float
        The paper's :math:`\beta`, the bound itself.

    Notes
    -----
    With :math:`\bar L = I - D^{-1/2} A D^{-1/2}`, :math:`\bar Q = D^{-1/2} Q D^{-1/2}` and Q the beliefs, positive
    for must-links and negative for cannot-links, the relaxation

    .. math:: \min_v v^T \bar L v \quad \text{s.t.} \quad v^T \bar Q v \ge \alpha, \; v^T v = \mathrm{vol},
              \; v \ne D^{1/2} 1

    has the optimality condition :math:`\bar L v = \lambda (\bar Q - \tfrac{\beta}{\mathrm{vol}} I) v` with
    :math:`\lambda > 0`. Among its eigenvectors with :math:`\lambda > 0` the n_clusters - 1 of least cost
    :math:`v^T \bar L v` are taken. Two clusters are the signs of :math:`D^{-1/2} v`; for more, the vectors are scaled
    by one minus their cost and the rows of :math:`D^{-1/2} V` clustered by k-means. Without constraints this is the
    plain spectral relaxation.

    *Beliefs* are used. *Cost*: dense symmetric eigenproblems, O(n^3) time and six matrices of n^2 numbers; an error
    beyond `max_points` (0.4 GiB at 3,000 points, 219 GiB at 70,000). *Limits*: :math:`\bar Q` weighs pairs by inverse
    degrees, and on a nearest-neighbour graph the default bound is met by vectors concentrated on few points. Signs
    survive that, k-means does not: for more than two clusters try `beta=0.1` (digits, 500 pairs: error 0.04, not 0.89).

    References
    ----------
    X. Wang and I. Davidson, "Flexible Constrained Spectral Clustering", KDD 2010.
    X. Wang, B. Qian and I. Davidson, "On Constrained Spectral Clustering and Its Applications", DMKD 28, 2014.
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        beta: float | None = None,
        max_points: int = 3000,
        affinity: str = "knn",
        n_neighbors: int = 10,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, affinity=affinity, n_neighbors=n_neighbors, random_state=random_state)
        self.beta = beta
        self.max_points = max_points

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.beta is not None:
            check_scalar(self.beta, "beta", Real, min_val=0, max_val=1, include_boundaries="left")

    def _partition(self, data: Graph, constraints: Constraints, rng: np.random.Generator) -> np.ndarray:
        n = data.n_vertices
        if n > self.max_points:
            raise ValueError(
                f"CSP solves a dense eigenproblem: {n} points need about {48 * n**2 / 2**30:.1f} GiB and O(n^3) time, "
                f"beyond max_points={self.max_points}. Raise it if you have both, or use another, such as FastGE."
            )
        degrees = data.vertex_weights
        laplacian = np.eye(n) - normalized_affinity(data.weights, degrees).toarray()
        n_vectors = max(1, self.n_clusters - 1)
        if constraints.is_empty:
            values, vectors = scipy.linalg.eigh(laplacian, subset_by_index=[0, min(n_vectors, n - 1)])
            self.beta_, self.eigenvalues_, self.vectors_ = 0.0, values[1:], vectors[:, 1:]
        else:
            must, cannot = belief_matrices(constraints)
            links = must - cannot
            scale = 1 / np.sqrt(degrees)
            target = scale[:, None] * links.toarray() * scale
            share = 0.5 + 0.4 * links.nnz / n**2 if self.beta is None else self.beta
            place = max(0, n - n_vectors)
            largest = float(scipy.linalg.eigvalsh(target, subset_by_index=[place, place])[0])
            self.beta_ = share * data.volume * max(0.0, largest)  # up to share 1 there are `n_vectors` solutions
            target[np.diag_indices(n)] -= self.beta_ / data.volume
            values, vectors = feasible_eigenvectors(laplacian, target)
            if len(values) == 0:
                raise ValueError(
                    f"Only the trivial vector satisfies the constraints to the degree {self.beta_ / data.volume:g} "
                    f"(beta={share:g}); raise beta, or add cannot-links."
                )
            cost = np.einsum("ij,ij->j", vectors, laplacian @ vectors)
            best = np.argsort(cost, kind="stable")[:n_vectors]
            self.eigenvalues_, self.vectors_ = values[best], vectors[:, best]
        indicators = self.vectors_ / np.sqrt(degrees)[:, None]
        if self.n_clusters == 2:
            return (indicators[:, 0] > 0).astype(np.int64)
        cost = np.einsum("ij,ij->j", self.vectors_, laplacian @ self.vectors_)
        return kmeans_labels(indicators * (1 - cost), self.n_clusters, rng)


def feasible_eigenvectors(laplacian: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All solutions of laplacian v = lambda target v with lambda > 0, unit length, for a semi-definite Laplacian.

    The target is indefinite, and the papers use a general (QZ) solver. Split v into its parts in the null space Z and
    the range R of the Laplacian: the null rows of the equation give z = -(T_zz)^+ T_zr r, and what is left,
    S r = (1/lambda) diag(l) r with the Schur complement S, is symmetric and definite.
    """
    values, basis = scipy.linalg.eigh(laplacian)
    null = int(np.searchsorted(values, NULL_TOLERANCE))
    rotated = basis.T @ target @ basis
    lift = -scipy.linalg.pinvh(rotated[:null, :null]) @ rotated[:null, null:]
    root = 1 / np.sqrt(values[null:])
    inner = rotated[null:, null:] + rotated[null:, :null] @ lift
    inverse, reduced = scipy.linalg.eigh(root[:, None] * (inner + inner.T) / 2 * root)
    keep = inverse > NULL_TOLERANCE * abs(inverse).max(initial=0.0)
    reduced = root[:, None] * reduced[:, keep]
    vectors = basis @ np.vstack([lift @ reduced, reduced])
    return 1 / inverse[keep], vectors / np.linalg.norm(vectors, axis=0)
