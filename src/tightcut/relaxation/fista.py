"""The paper's inner solver: FISTA on the dual of the total-variation prox, stopped by the duality gap."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tightcut import kernels
from tightcut.utils.warning import warn

CHECK_EVERY = 25


class FistaProx:
    """Accelerated projected gradient on the edge flow.

    Each edge has its own step 1 / (deg_u / b_u + deg_v / b_v), deg counting neighbours and b being the vertex weights:
    the row sums of the dual Hessian's absolute values, so the steps majorise it. (The paper's single Lipschitz constant
    is the special case of equal steps.) The flow is kept between calls.

    Parameters
    ----------
    tolerance : float, default=1e-10
        Stop when the duality gap is below this share of the objective at the zero vector's dual, half the squared
        norm of the target.
    max_iterations : int, default=20000

    Attributes
    ----------
    n_iterations : int
        Iterations so far.
    gap : float
        Relative duality gap of the last call.
    """

    def __init__(
        self, weights: sp.csr_array, vertex_weights: np.ndarray, tolerance: float = 1e-10, max_iterations: int = 20_000
    ) -> None:
        self.weights = weights
        self.vertex_weights = vertex_weights
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.n_iterations = 0
        self.gap = np.inf
        crowding = np.diff(weights.indptr) / vertex_weights
        self._step = 1.0 / (np.repeat(crowding, np.diff(weights.indptr)) + crowding[weights.indices])
        self._flow = np.zeros(weights.nnz)

    def prox(self, target: np.ndarray) -> np.ndarray:
        w, value, momentum = self.weights, np.empty_like(target), 1.0
        ahead = self._flow.copy()
        scale = max(0.5 * float(target**2 @ (1 / self.vertex_weights)), np.finfo(float).tiny)
        for _ in range(0, self.max_iterations, CHECK_EVERY):
            momentum, gap = kernels.fista_steps(
                w.indptr,
                w.indices,
                w.data,
                target,
                self.vertex_weights,
                self._step,
                self._flow,
                ahead,
                momentum,
                CHECK_EVERY,
                value,
            )
            self.n_iterations += CHECK_EVERY
            self.gap = gap / scale
            if self.gap <= self.tolerance:
                return value
        warn_if_unfinished(self.gap, self.tolerance, self.max_iterations)
        return value


def warn_if_unfinished(gap: float, tolerance: float, max_iterations: int) -> None:
    if gap > 1e3 * tolerance:
        warn(
            f"FISTA stopped after {max_iterations} iterations at a relative duality gap of {gap:.1e}; "
            'the step is still a descent step. method="search" solves it exactly.',
            RuntimeWarning,
        )
