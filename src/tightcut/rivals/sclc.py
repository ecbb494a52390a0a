"""Spectral clustering with linear constraints: the spectral relaxation where linked points take tied values."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.rivals._base import GraphClusterer, laplacian, largest_eigenvectors


class SCLC(GraphClusterer):
    r"""Spectral clustering with linear constraints (Xu, Li and Schuurmans 2009). Two clusters.

    Parameters
    ----------
    n_clusters : {1, 2}, default=2
    balanced : bool, default=True
        Keep the condition f^T D 1 = 0 of the spectral relaxation. False drops it where a cannot-link excludes constant
        vectors anyway: usually better with many pairs, sometimes a cluster of a few points where there are few.
    affinity, n_neighbors, random_state
        As in `tightcut.COSC`.

    Attributes
    ----------
    indicator_ : ndarray of shape (n_samples,)
        The minimiser f, with :math:`f^T D f = 1`.
    cost_ : float
        :math:`f^T L f / f^T D f`, the minimum.

    Notes
    -----
    .. math:: \min_f \frac{f^T L f}{f^T D f} \quad \text{s.t.} \quad f^T D 1 = 0, \;
              f_p = f_q \; (must), \; f_p = -f_q \; (cannot).

    Pairs are solved for: with f = S g, one column of S per set of linked points and entries of 1 and -1 by colour, a
    pencil :math:`(S^T L S, S^T D S)` with one linear constraint is left. The paper iterates with the projected power
    method; Lanczos on the same projected matrix has the same limit and needs fewer products.

    The clusters are the *signs* of f, which satisfy every pair whose values are not 0. Where linked points contradict
    each other f is 0; they follow the sign of their neighbours' weighted mean. *Beliefs* are ignored. *Cost*: one
    eigenproblem. *Limits*: two clusters; opposite values for cannot-links together with f^T D 1 = 0 favour clusters of
    equal volume (the COSC paper, Section 6).

    References
    ----------
    L. Xu, W. Li and D. Schuurmans, "Fast Normalized Cut with Linear Constraints", CVPR 2009.
    A. Eriksson, C. Olsson and F. Kahl, "Normalized Cuts Revisited", ICCV 2007: this encoding of pairs.
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        affinity: str = "knn",
        n_neighbors: int = 10,
        balanced: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, affinity=affinity, n_neighbors=n_neighbors, random_state=random_state)
        self.balanced = balanced

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_clusters > 2:
            raise ValueError(f"SCLC clusters by the sign of f: n_clusters must be at most 2; got {self.n_clusters}.")

    def _partition(self, data: Graph, constraints: Constraints, rng: np.random.Generator) -> np.ndarray:
        degrees = data.vertex_weights
        ties = tie_matrix(constraints)
        if ties.shape[1] == 0:
            raise ValueError("Every point belongs to a contradiction of the constraints, so only f = 0 satisfies them.")
        scale = 1 / np.sqrt(ties.T**2 @ degrees)
        stiffness = sp.csr_array(ties.T @ laplacian(data.weights) @ ties)
        moment = scale * (ties.T @ degrees) * (self.balanced or constraints.n_cannot_link == 0)
        reduced = smallest_orthogonal(stiffness, scale, moment, rng)
        f = ties @ (scale * reduced)
        # Eigenvectors have no sign of their own: the first point that is not zero is on the negative side.
        self.indicator_ = -f * np.sign(f[np.flatnonzero(f)[0]])
        self.cost_ = float(f @ (laplacian(data.weights) @ f))
        undecided = self.indicator_ == 0
        votes = np.where(undecided, data.weights @ self.indicator_, self.indicator_)
        return ((votes > 0) & (self.n_clusters == 2)).astype(np.int64)


def tie_matrix(constraints: Constraints) -> sp.csr_array:
    """S of shape (n, m): all f that satisfy the pairs are f = S g. Contradictory sets have zero rows."""
    n = constraints.n_points
    colouring = constraints.two_colouring()
    i, j = constraints.cannot_link.T
    free = np.ones(colouring.n_components, dtype=bool)
    free[colouring.component[i[colouring.colour[i] == colouring.colour[j]]]] = False
    column = np.cumsum(free) - 1
    rows = np.flatnonzero(free[colouring.component])
    signs = 1.0 - 2.0 * colouring.colour[rows]
    return sp.csr_array((signs, (rows, column[colouring.component[rows]])), shape=(n, int(free.sum())))


def smallest_orthogonal(
    stiffness: sp.csr_array, scale: np.ndarray, moment: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The unit h orthogonal to `moment` of least h^T (scale stiffness scale) h, as the largest of 2 minus that.

    L <= 2 D, so the shifted matrix has no negative eigenvalue, and projected directions, at 0, come last.
    """
    m = len(scale)
    if m == 1:
        return np.ones(1)
    scaled = sp.csr_array(sp.diags_array(scale) @ stiffness @ sp.diags_array(scale))
    length = np.linalg.norm(moment)
    normal = (moment / length if length > 1e-12 * np.sqrt(m) else np.zeros(m))[:, None]

    def project(h: np.ndarray) -> np.ndarray:
        return h - normal @ (normal.T @ h)

    def shifted(h: np.ndarray) -> np.ndarray:
        h = project(h.reshape(m, -1))
        return project(2 * h - scaled @ h)

    operator = LinearOperator((m, m), matvec=lambda h: shifted(h).ravel(), matmat=shifted, dtype=np.float64)
    return largest_eigenvectors(operator, 1, rng)[1][:, 0]
