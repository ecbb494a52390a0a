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
    f : ndarray
        The last iterate.
    """

    side: np.ndarray
    value: float
    history: tuple[float, ...]
    f: np.ndarray


def ratio_dca(
    relaxation: Relaxation,
    start: np.ndarray,
    *,
    inner: str | InnerSolver = "flow",
    by_sets: bool = True,
    rng: np.random.Generator | None = None,
    max_steps: int = 100,
) -> Descent:
    """Descend from any non-constant vector, such as the indicator of a partition.

    Parameters
    ----------
    start : array of shape (n,)
        A boolean array stands for its indicator.
    inner : {"flow", "fista"} or callable, default="flow"
        The solver of the inner problem; see `tightcut.relaxation.prox`. A GPU has one of its own.
    by_sets : bool, default=True
        Go on from the best level set wherever its F is below that of the vector. That ends sooner; Algorithm 1 as
        printed goes on from the vector, and ends at a better place.
    rng : Generator, optional
        Draws subgradients where there are several: signs of zeros, directions of cannot-links with equal ends.

    Notes
    -----
    Every move can only lower F. Started from a consistent partition with a penalty above `penalty_bound`, the result is
    consistent and its cut smaller, or the same partition comes back (the paper's last theorem).
    """
    solver = inner_solver(inner)(relaxation.weights, relaxation.graph.vertex_weights)
    f = np.asarray(start, dtype=np.float64)
    side, value = relaxation.threshold(f)
    lam = relaxation.F(f)
    history = [lam]
    if by_sets and value < lam * (1 - LEAST_DESCENT):
        f, lam = side.astype(np.float64), value
        history.append(lam)
    for _ in range(max_steps):
        if min(lam, value) == 0:  # of a set that nothing is cut by: F has no smaller value
            break
        # The minimiser of the convex problem that F poses at f, up to its length.
        h = solver.prox(lam * relaxation.s(f, rng) + relaxation.r2(f, rng))
        h = clip_range(h, relaxation.c, relaxation.graph.vertex_weights)
        if float(np.ptp(h)) <= LEAST_DESCENT * float(np.abs(h).max()):
            break
        candidate, candidate_value = relaxation.threshold(h)
        if candidate_value < value * (1 - LEAST_DESCENT):
            side, value = candidate, candidate_value
        descended = relaxation.F(h)
        if by_sets and candidate_value <= descended:
            h, descended = candidate.astype(np.float64), candidate_value
        if descended >= lam * (1 - LEAST_DESCENT):
            break
        f, lam = h, descended
        history.append(lam)
    return Descent(side, value, tuple(history), f)
