"""RatioDCA, the paper's Algorithm 1: minimise (R1 - R2) / S by a sequence of convex problems.

Monotone by construction: a step is taken only if F falls. With the exact inner solver no tolerance is involved: the
iteration stops where the exact step brings no descent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tightcut.relaxation import Relaxation
from tightcut.relaxation.inner import clip_range, inner_solver

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
    inner: str = "flow",
    device: str = "cpu",
    tie: np.ndarray | None = None,
    max_steps: int = 100,
) -> Descent:
    """Descend from any non-constant vector, such as the indicator of a partition.

    Parameters
    ----------
    start : array of shape (n,)
        A boolean array stands for its indicator.
    inner : {"flow", "fista"}, default="flow"
        The solver of the inner problem.
    device : {"cpu", "cuda"}, default="cpu"
        Where FISTA runs; minimum cuts stay on the CPU.
    tie : array of shape (n_cannot_links,), optional
        Direction in which to pull apart a cannot-link pair that the iterate does not separate.

    Notes
    -----
    After every inner step the better of the vector and its best threshold set goes on; both moves can only lower F.
    Started from a consistent partition with a penalty at `penalty_bound`, the result is consistent and its cut
    smaller, or the same partition comes back (the paper's last theorem).
    """
    steps = _steps(relaxation, inner, device)
    f = steps.vector(start)
    side, value = steps.threshold(f)
    lam = steps.F(f)
    history = [lam]
    if value < lam * (1 - LEAST_DESCENT):
        f, lam = steps.vector(side), value
        history.append(lam)
    for _ in range(max_steps):
        if lam == 0:
            break
        h = steps.inner(f, lam, tie)
        if float(h.max() - h.min()) <= LEAST_DESCENT * float(abs(h).max()):
            break
        candidate, candidate_value = steps.threshold(h)
        if candidate_value < value * (1 - LEAST_DESCENT):
            side, value = candidate, candidate_value
        relaxed_value = steps.F(h)
        descended = min(relaxed_value, candidate_value)
        if descended >= lam * (1 - LEAST_DESCENT):
            break
        f, lam = (steps.vector(candidate), candidate_value) if candidate_value <= relaxed_value else (h, relaxed_value)
        history.append(lam)
    return Descent(steps.host(side), value, tuple(history))


class Steps:
    """What RatioDCA does with vectors; on the CPU. `tightcut.gpu.steps` does the same on a GPU."""

    def __init__(self, relaxation: Relaxation, inner: str) -> None:
        self._relaxation = relaxation
        self._solver = inner_solver(inner)(relaxation.weights, relaxation.graph.vertex_weights)
        self.threshold, self.F = relaxation.threshold, relaxation.F

    def vector(self, start: np.ndarray) -> np.ndarray:
        return np.asarray(start, dtype=np.float64)

    def inner(self, f: np.ndarray, lam: float, tie: np.ndarray | None) -> np.ndarray:
        """The minimiser of the convex problem that F poses at f (up to its length)."""
        h = self._solver.prox(lam * self._relaxation.s(f) + self._relaxation.r2(f, tie))
        return clip_range(h, self._relaxation.c, self._relaxation.graph.vertex_weights)

    def host(self, side: np.ndarray) -> np.ndarray:
        return side


def _steps(relaxation: Relaxation, inner: str, device: str) -> Any:
    if inner == "fista" and device == "cuda":
        from tightcut.gpu.steps import DeviceSteps

        return DeviceSteps(relaxation)
    return Steps(relaxation, inner)
