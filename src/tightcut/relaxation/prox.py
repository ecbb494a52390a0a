"""The inner convex problem of RatioDCA: its reduction to a total-variation prox, and two solvers of that.

RatioDCA minimises Phi(f) - <f, g> over a unit ball, with Phi(f) = sum w' |f_i - f_j| + c (max f - min f). Phi is
convex and one-homogeneous, so the minimiser is h / ||h|| with h = prox_Phi(g). The norm may be weighted; weighting
by the vertex weights, as here, suits normalized cuts. The range term costs the same for every non-trivial level
set, so it only clips: prox_Phi(g) = clip(prox_TV(g)). A solver therefore needs to know total variation alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from tightcut import kernels
from tightcut.utils.warning import warn

CHECK_EVERY = 10  # iterations of FISTA


class TotalVariationProx(Protocol):
    """A solver of min_f sum b_i/2 f_i^2 - target_i f_i + sum_edges weight |f_i - f_j|."""

    def prox(self, target: np.ndarray) -> np.ndarray:
        """The minimiser. May start from the dual solution of the last call."""


InnerSolver = Callable[[sp.csr_array, np.ndarray], TotalVariationProx]  # of weights and vertex weights


def clip_range(f: np.ndarray, c: float, vertex_weights: np.ndarray) -> np.ndarray:
    """The prox of c (max f - min f) after the total-variation prox: a clip that moves weight c at each end.

    Constant when the two clips would meet.

    Examples
    --------
    >>> import numpy as np
    >>> clip_range(np.array([0.0, 1.0, 5.0]), 2.0, np.ones(3)).tolist()
    [1.5, 1.5, 3.0]
    """
    if c <= 0:
        return f
    high, low = _clip_level(f, c, vertex_weights), -_clip_level(-f, c, vertex_weights)
    return np.clip(f, low, high) if high > low else np.full_like(f, vertex_weights @ f / vertex_weights.sum())


def _clip_level(f: np.ndarray, c: float, vertex_weights: np.ndarray) -> float:
    """The level with sum b (f - level)_+ = c."""
    order = np.argsort(-f)
    weights = vertex_weights[order]
    level = (np.cumsum(weights * f[order]) - c) / np.cumsum(weights)
    return float(level[np.argmax(level >= np.append(f[order][1:], -np.inf))])


class FlowProx:
    """The exact prox: divide and conquer over minimum cuts, all parts of a level in one maximum flow.

    The dual flow is kept between calls, so a target close to the last one costs little.

    Attributes
    ----------
    n_flows : int
        Maximum flows computed so far.
    """

    def __init__(self, weights: sp.csr_array, vertex_weights: np.ndarray) -> None:
        self.weights = weights
        self.vertex_weights = vertex_weights
        self.n_flows = 0
        self._reverse = kernels.reverse_arcs(weights.indptr, weights.indices)
        self._flow = np.zeros(weights.nnz)

    def prox(self, target: np.ndarray) -> np.ndarray:
        # Amounts below this are rounding: they neither move flow nor split a part.
        tolerance = 1e-14 * float(np.abs(target).sum())
        w = self.weights
        f, n_flows = kernels.total_variation_prox(
            w.indptr, w.indices, self._reverse, w.data, target, self.vertex_weights, self._flow, tolerance
        )
        self.n_flows += n_flows
        return f


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
            with np.errstate(over="ignore"):  # the flow of another target may be far from a target near 0
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


SOLVERS: dict[str, InnerSolver] = {"flow": FlowProx, "fista": FistaProx}


def inner_solver(solver: str | InnerSolver) -> InnerSolver:
    """The solver behind "flow" (exact, by minimum cuts) or "fista" (the paper's first-order method), or the one given."""
    if callable(solver):
        return solver
    if solver not in SOLVERS:
        raise ValueError(f"Unknown inner solver {solver!r}; choose one of {sorted(SOLVERS)}.")
    return SOLVERS[solver]
