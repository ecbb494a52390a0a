"""The inner convex problem of RatioDCA: its reduction to a total-variation prox, and the interface of its solvers.

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


def inner_solver(name: str | InnerSolver) -> InnerSolver:
    """The solver behind "flow" (exact, by minimum cuts) or "fista" (the paper's first-order method), or the one given."""
    from tightcut.relaxation.fista import FistaProx
    from tightcut.relaxation.flow import FlowProx

    if callable(name):
        return name
    solvers: dict[str, InnerSolver] = {"flow": FlowProx, "fista": FistaProx}
    if name not in solvers:
        raise ValueError(f"Unknown inner solver {name!r}; choose one of {sorted(solvers)}.")
    return solvers[name]
