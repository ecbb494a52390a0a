"""The steps of RatioDCA on a device: the vectors stay there, numbers and at last the labels come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tightcut.gpu.fista import CudaFistaProx
from tightcut.gpu.relaxation import DeviceRelaxation
from tightcut.relaxation import Relaxation


class DeviceSteps:
    """`tightcut.relaxation.ratio_dca.Steps` with FISTA as the inner solver, on a device."""

    def __init__(self, relaxation: Relaxation, device: str = "cuda") -> None:
        self._relaxation = DeviceRelaxation(relaxation, device)
        self._device = device
        self._solver = CudaFistaProx(self._relaxation.weights, relaxation.graph.vertex_weights, device=device)
        self.threshold, self.F = self._relaxation.threshold, self._relaxation.F

    def vector(self, start: Any) -> torch.Tensor:
        return torch.as_tensor(start, device=self._device).double()

    def inner(self, f: torch.Tensor, lam: float, tie: np.ndarray | None) -> torch.Tensor:
        target = lam * self._relaxation.s(f) + self._relaxation.r2(f, tie)
        return self._relaxation.clip(self._solver.prox_there(target))

    def host(self, side: torch.Tensor) -> np.ndarray:
        return side.cpu().numpy()
