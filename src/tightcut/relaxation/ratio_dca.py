"""RatioDCA, the paper's Algorithm 1: minimise (R1 - R2) / S by a sequence of convex problems.

Monotone by construction: a step is taken only if F falls. With the exact inner solver no tolerance is involved: the
iteration stops where the exact step brings no descent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightcut.relaxation import Relaxation
from tightcut.relaxation.prox import InnerSolver, clip_range, inner_solver

# Less than this relative descent is rounding.
LEAST_DESCENT = 1e-12


@dataclass(frozen=True, eq=False)
class Descent:
    """Where RatioDCA ended.

    Attributes
    ----------
    side : ndarray of bool
        The best partition met, by thresholding every iterate.
    value : float
        Its penalised cut.
    history : tuple of float
        F at the start and after every step; strictly falling.
    """

    side: np.ndarray
    value: float
    history: tuple[float, ...]


def ratio_dca(
    relaxation: Relaxation,
    start: np.ndarray,
    *,
    inner: str | InnerSolver = "flow",
    tie: np.ndarray | None = None,
    max_steps: int = 100,
) -> Descent:
    """Descend from any non-constant vector, such as the indicator of a partition.

    Parameters
    ----------
    start : array of shape (n,)
        A boolean array stands for its indicator.
    inner : {"flow", "fista"} or callable, default="flow"
        The solver of the inner problem; see `tightcut.relaxation.prox`. A GPU has one of its own.
    tie : array of shape (n_cannot_links,), optional
        Direction in which to pull apart a cannot-link pair that the iterate does not separate.

    Notes
    -----
    After every inner step the better of the vector and its best threshold set goes on; both moves can only lower F.
    Started from a consistent partition with a penalty at `penalty_bound`, the result is consistent and its cut
    smaller, or the same partition comes back (the paper's last theorem).
    """
    solver = inner_solver(inner)(relaxation.weights, relaxation.graph.vertex_weights)
    f = np.asarray(start, dtype=np.float64)
    side, value = relaxation.threshold(f)
    lam = relaxation.F(f)
    history = [lam]
    if value < lam * (1 - LEAST_DESCENT):
        f, lam = side.astype(np.float64), value
        history.append(lam)
    for _ in range(max_steps):
        if lam == 0:
            break
        # The minimiser of the convex problem that F poses at f, up to its length.
        h = solver.prox(lam * relaxation.s(f) + relaxation.r2(f, tie))
        h = clip_range(h, relaxation.c, relaxation.graph.vertex_weights)
        if float(np.ptp(h)) <= LEAST_DESCENT * float(np.abs(h).max()):
            break
        candidate, candidate_value = relaxation.threshold(h)
        if candidate_value < value * (1 - LEAST_DESCENT):
            side, value = candidate, candidate_value
        relaxed_value = relaxation.F(h)
        descended = min(relaxed_value, candidate_value)
        if descended >= lam * (1 - LEAST_DESCENT):
            break
        by_threshold = candidate_value <= relaxed_value
        f, lam = (candidate.astype(np.float64), candidate_value) if by_threshold else (h, relaxed_value)
        history.append(lam)
    return Descent(side, value, tuple(history))
