"""`tightcut.relaxation.prox.FistaProx` on a device, for `method="paper"`."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

from tightcut.gpu.sparse import DeviceCsr, send
from tightcut.relaxation.prox import CHECK_EVERY, warn_if_unfinished


class DeviceFistaProx:
    """The iterates of `FistaProx`, up to rounding; the flow stays on the device between calls.

    Parameters and attributes are those of `FistaProx`, and `device` is a PyTorch device.
    """

    def __init__(
        self,
        weights: sp.csr_array,
        vertex_weights: np.ndarray,
        tolerance: float = 1e-10,
        max_iterations: int = 20_000,
        *,
        device: str = "cuda",
    ) -> None:
        self.tolerance, self.max_iterations = tolerance, max_iterations
        self.n_iterations, self.gap = 0, np.inf
        self._weights, self._vertex_weights = DeviceCsr.from_scipy(weights, device), send(vertex_weights, device)
        crowding = self._weights.indptr.diff() / self._vertex_weights
        self._step = 1.0 / (crowding[self._weights.sources] + crowding[self._weights.indices])
        self._flow = torch.zeros_like(self._weights.data)

    def prox(self, target: np.ndarray) -> np.ndarray:
        goal, limit, momentum = send(target, self._step.device), self._weights.data, 1.0
        scale = max(0.5 * float((goal.square() / self._vertex_weights).sum()), np.finfo(float).tiny)
        flow = ahead = self._flow
        for _ in range(0, self.max_iterations, CHECK_EVERY):
            for _ in range(CHECK_EVERY):
                following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
                inertia, momentum = (momentum - 1.0) / following, following
                rise = self._difference(self._value(ahead, goal))
                moved = torch.addcmul(ahead, self._step, rise).clamp_(-limit, limit)
                ahead, flow = torch.add(moved, moved - flow, alpha=inertia), moved
            self.n_iterations += CHECK_EVERY
            value = self._value(flow, goal)
            rise = self._difference(value)
            self.gap = 0.5 * float((limit * rise.abs() - flow * rise).sum()) / scale
            if self.gap <= self.tolerance:
                break
        else:
            warn_if_unfinished(self.gap, self.tolerance, self.max_iterations)
        self._flow = flow
        return value.cpu().numpy()

    def _value(self, flow: torch.Tensor, goal: torch.Tensor) -> torch.Tensor:
        """The primal vector that belongs to a flow."""
        return (goal - self._weights.row_sums(flow)) / self._vertex_weights

    def _difference(self, value: torch.Tensor) -> torch.Tensor:
        """What each arc descends: the value where it begins minus that where it ends."""
        return value[self._weights.sources] - value[self._weights.indices]
