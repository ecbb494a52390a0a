"""`tightcut.relaxation.fista` on a GPU: one fused pass over the arcs per iteration."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.sparse as sp
import torch

from tightcut.gpu import fista_kernels as kernels
from tightcut.gpu.slices import SLICE, Slices
from tightcut.gpu.sparse import DeviceCsr, send
from tightcut.relaxation.fista import CHECK_EVERY, warn_if_unfinished

TILE = {"SLICE": SLICE, "DEEP": 2, "num_warps": 4}
TOLERANCE = {"float64": 1e-10, "float32": 1e-6}


class CudaFistaProx:
    """The algorithm of `FistaProx`, step by step the same, on a GPU.

    The graph is transferred once; each call of `prox` transfers a target in and a vector out, and `prox_there` neither.
    The flow stays on the device between calls.

    Parameters
    ----------
    weights : csr_array or DeviceCsr of shape (n, n)
    vertex_weights : ndarray of shape (n,)
    tolerance : float, optional
        As in `FistaProx`: 1e-10; in single precision 1e-6, a little above what rounding allows.
    max_iterations : int, default=20000
    precision : {"float64", "float32"}, default="float64"
        float64 gives what the CPU gives, up to rounding.
    device : str, default="cuda"
        A PyTorch device.

    Attributes
    ----------
    n_iterations : int
        Iterations so far.
    gap : float
        Relative duality gap of the last call.

    Notes
    -----
    The extrapolated flow is not stored but formed from the last two flows. An iteration reads 4 + 4 s bytes per arc and
    writes s, where a number has s bytes; the neighbours' values come from the cache.
    """

    def __init__(
        self,
        weights: sp.csr_array | DeviceCsr,
        vertex_weights: np.ndarray,
        tolerance: float | None = None,
        max_iterations: int = 20_000,
        *,
        precision: str = "float64",
        device: str = "cuda",
    ) -> None:
        self.tolerance = TOLERANCE[precision] if tolerance is None else tolerance
        self.max_iterations = max_iterations
        self.n_iterations = 0
        self.gap = np.inf
        self._device, self._dtype = torch.device(device), getattr(torch, precision)
        matrix = weights if isinstance(weights, DeviceCsr) else DeviceCsr.from_scipy(weights, self._device)
        self._vertex_weights = send(vertex_weights, self._device, torch.float64)
        self._slices = Slices.from_indptr(matrix.indptr)
        self._whole_rows = self._slices.whole_rows
        renumber, spread = self._slices.renumber, self._slices.spread
        indices = self._slices.rank[matrix.indices]
        self._indices = spread(indices.int())
        self._weights = spread(matrix.data.to(self._dtype))
        self._vertex_weights_there = renumber(self._vertex_weights.to(self._dtype), 1.0)
        crowding = renumber((matrix.indptr.diff() / self._vertex_weights).to(self._dtype))
        self._steps = spread(1.0 / (crowding[self._slices.sources] + crowding[indices]))
        self._inertia = send(_inertia(max_iterations + CHECK_EVERY), self._device, self._dtype)
        self._flow, self._past = torch.zeros_like(self._weights), torch.zeros_like(self._weights)
        self._value, self._outflow = (
            torch.zeros_like(self._vertex_weights_there),
            torch.zeros_like(self._vertex_weights_there),
        )
        self._gaps = torch.zeros_like(self._vertex_weights_there, dtype=torch.float64)

    def prox(self, target: np.ndarray) -> np.ndarray:
        return self.prox_there(send(target, self._device, torch.float64)).cpu().numpy()

    def prox_there(self, target: torch.Tensor) -> torch.Tensor:
        """`prox` of a float64 target on the device; so is the answer."""
        goal, result = self._slices.renumber(target.to(self._dtype)), torch.zeros_like(self._value)
        scale = max(0.5 * float((target.square() / self._vertex_weights).sum()), np.finfo(float).tiny)
        self._past.copy_(self._flow)
        self._settle(goal, self._value)
        for start in range(0, self.max_iterations, CHECK_EVERY):
            self._advance(goal, start, CHECK_EVERY)
            self.n_iterations += CHECK_EVERY
            self._settle(goal, result)
            self.gap = self._duality_gap(result) / scale
            if self.gap <= self.tolerance:
                break
        else:
            warn_if_unfinished(self.gap, self.tolerance, self.max_iterations)
        return result[self._slices.rank].double()

    def _advance(self, goal: torch.Tensor, start: int, count: int) -> None:
        """Some iterations; `_value` belongs to the extrapolated flow before and after."""
        for iteration in range(start, start + count):
            kernels.advance[(self._slices.n_slices,)](
                self._slices.bases,
                self._slices.widths,
                self._slices.rows,
                self._indices,
                self._weights,
                self._steps,
                self._inertia,
                goal,
                self._vertex_weights_there,
                self._value,
                self._flow,
                self._past,
                self._outflow,
                iteration,
                WHOLE=self._whole_rows,
                **TILE,
            )
            self._flow, self._past = self._past, self._flow
            if self._whole_rows:
                self._value, self._outflow = self._outflow, self._value
            else:
                self._collect(goal, self._value)

    def _settle(self, goal: torch.Tensor, value: torch.Tensor) -> None:
        """The vector that belongs to the flow itself."""
        slices = self._slices
        kernels.flow_out[(slices.n_slices,)](slices.bases, slices.widths, self._flow, self._outflow, **TILE)
        self._collect(goal, value)

    def _collect(self, goal: torch.Tensor, value: torch.Tensor) -> None:
        n, (rows, width) = len(self._vertex_weights), (256, 1) if self._whole_rows else (64, 16)
        kernels.settle[(-(-n // rows),)](
            self._slices.pieces, self._outflow, goal, self._vertex_weights_there, value, n, ROWS=rows, WIDTH=width
        )

    def _duality_gap(self, value: torch.Tensor) -> float:
        slices = self._slices
        kernels.duality_gap[(slices.n_slices,)](
            slices.bases,
            slices.widths,
            slices.rows,
            self._indices,
            self._weights,
            self._flow,
            value,
            self._gaps,
            **TILE,
        )
        return float(self._gaps.sum())


@lru_cache
def _inertia(count: int) -> np.ndarray:
    """The factors of the extrapolation: that of iteration t stands at t + 1."""
    factors, momentum = np.zeros(count + 1), 1.0
    for t in range(count):
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        factors[t + 1] = (momentum - 1.0) / following
        momentum = following
    return factors
