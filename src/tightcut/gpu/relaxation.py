"""`tightcut.relaxation.Relaxation` for vectors on a device: only numbers go back to the host.

Running sums over a sorted vector need no edge list: passing vertex u, the cut grows by the weight of u's edges to the
vertices still ahead and falls by that to the vertices behind.
"""

from __future__ import annotations

import numpy as np
import torch

from tightcut.gpu.sparse import DeviceCsr, send
from tightcut.relaxation import Relaxation


class DeviceRelaxation:
    """F, its subgradients and its thresholding, in float64; letters as in `tightcut.relaxation`.

    Parameters
    ----------
    relaxation : Relaxation
        Transferred once.
    device : str, default="cuda"
        A PyTorch device.

    Attributes
    ----------
    weights : DeviceCsr
        w'.
    b : Tensor
        The vertex weights.
    """

    def __init__(self, relaxation: Relaxation, device: str = "cuda") -> None:
        self.weights = DeviceCsr.from_scipy(relaxation.weights, device)
        self.b = send(relaxation.graph.vertex_weights, device)
        self.volume, self.c = relaxation.graph.volume, relaxation.c
        self._apart, self._order = _both_ways(relaxation, device)

    def R1(self, f: torch.Tensor) -> float:
        spread = (f[self.weights.sources] - f[self.weights.indices]).abs()
        return float(self.weights.data @ spread) / 2 + self.c * float(f.max() - f.min())

    def R2(self, f: torch.Tensor) -> float:
        return float(self._apart.data @ (f[self._apart.sources] - f[self._apart.indices]).abs()) / 2

    def S(self, f: torch.Tensor) -> float:
        return float(self.b @ (f - (self.b @ f) / self.volume).abs()) / 2

    def F(self, f: torch.Tensor) -> float:
        R1 = self.R1(f)
        numerator = R1 - self.R2(f)
        if numerator <= 1e-14 * R1:
            return 0.0
        S = self.S(f)
        return numerator / S if S > 0 else np.inf

    def s(self, f: torch.Tensor) -> torch.Tensor:
        signs = self.b * (f - (self.b @ f) / self.volume).sign()
        return (signs - self.b * (signs.sum() / self.volume)) / 2

    def r2(self, f: torch.Tensor, tie: np.ndarray | None = None) -> torch.Tensor:
        direction = (f[self._apart.sources] - f[self._apart.indices]).sign()
        if tie is not None:
            pull = send(np.clip(tie, -1, 1), f.device, f.dtype)
            direction = torch.where(direction == 0, torch.cat([pull, -pull])[self._order], direction)
        return self._apart.row_sums(self._apart.data * direction)

    def threshold(self, f: torch.Tensor) -> tuple[torch.Tensor, float]:
        """The best set {f > t} and its penalised cut."""
        ordered, order = f.sort(descending=True, stable=True)
        place = torch.empty_like(order)
        place[order] = torch.arange(len(f), device=f.device)
        numerator = self._crossing(self.weights, place, order) + self.c - self._crossing(self._apart, place, order)
        inside = self.b[order].cumsum(0)[:-1]
        balance = inside * (self.volume - inside)
        differs = ordered[:-1] > ordered[1:]
        if not differs.any():
            raise ValueError("Thresholding needs a vector that is not constant.")
        # Where one side weighs less than the rounding error of the whole, no ratio is known.
        value = (numerator.clamp(min=0) * self.volume / balance).masked_fill(~differs | (balance <= 0), torch.inf)
        best = value.argmin() if torch.isfinite(value.min()) else differs.int().argmax()
        side = place <= best
        return side, self.F(side.double())

    def clip(self, f: torch.Tensor) -> torch.Tensor:
        """The clip of `tightcut.relaxation.inner.clip_range`."""
        if self.c <= 0:
            return f
        high, low = self._clip_level(f), -self._clip_level(-f)
        return f.clamp(low, high) if high > low else torch.full_like(f, float(self.b @ f / self.b.sum()))

    def _crossing(self, matrix: DeviceCsr, place: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
        """For every proper prefix of the order, the weight between it and the rest."""
        ahead = (place[matrix.indices] - place[matrix.sources]).sign()
        return matrix.row_sums(matrix.data * ahead)[order].cumsum(0)[:-1]

    def _clip_level(self, f: torch.Tensor) -> float:
        ordered, order = f.sort(descending=True, stable=True)
        b = self.b[order]
        level = ((b * ordered).cumsum(0) - self.c) / b.cumsum(0)
        below = torch.cat([ordered[1:], ordered.new_full((1,), -torch.inf)])
        return float(level[(level >= below).nonzero()[0, 0]])


def _both_ways(relaxation: Relaxation, device: str) -> tuple[DeviceCsr, torch.Tensor]:
    """The cannot-links at their price as arcs in both directions, and the order that sorted (p to q, q to p)."""
    constraints, n = relaxation.constraints, relaxation.graph.n_vertices
    p, q = (send(end.astype(np.int64), device) for end in constraints.cannot_link.T)
    price = send(relaxation.penalty * constraints.cannot_link_belief, device)
    keys, order = torch.cat([p * n + q, q * n + p]).sort(stable=True)
    return DeviceCsr.from_keys(keys, torch.cat([price, price])[order], n), order
