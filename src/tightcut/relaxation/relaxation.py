"""The tight continuous relaxation of the penalised cut (the paper's Section 2.1) and its thresholding.

F(f) = (R1(f) - R2(f)) / S(f) for a vector f with one entry per vertex:

| letter | meaning |
|---|---|
| f | a real number per vertex; an indicator of C has F(f) = penalised cut of C |
| R1 | sum over edges w' abs(f_i - f_j) + c (max f - min f), w' = weight + penalty * must-link belief |
| c | penalty * total cannot-link belief |
| R2 | penalty * sum over cannot-links belief abs(f_i - f_j) (the paper's line drops the penalty) |
| S | the balance of f, see `tightcut.relaxation.balance`: half the weighted mean absolute deviation |
| r2, s | subgradients of R2 and S at f; both sum to zero |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from tightcut import kernels
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph, without_diagonal
from tightcut.relaxation.balance import ROUNDING, Balance, BalanceOf, MeanDeviation


@dataclass(frozen=True, eq=False)
class Relaxation:
    """F for one graph, one set of constraints, one penalty and, if told so, another S than the paper's."""

    graph: Graph
    constraints: Constraints
    penalty: float
    balance: BalanceOf = MeanDeviation

    @cached_property
    def weights(self) -> sp.csr_array:
        """w': edge weights with the must-links added at the price of the penalty."""
        links, belief = self.constraints.must_link, self.constraints.must_link_belief
        if self.penalty == 0 or len(links) == 0:
            return self.graph.weights
        extra = sp.csr_array((self.penalty * belief, (links[:, 0], links[:, 1])), shape=self.graph.weights.shape)
        return without_diagonal(sp.csr_array(self.graph.weights + extra + extra.T))

    @property
    def c(self) -> float:
        return self.penalty * float(self.constraints.cannot_link_belief.sum())

    def R1(self, f: np.ndarray) -> float:
        w = self.weights
        return kernels.total_variation(w.indptr, w.indices, w.data, f) + self.c * float(np.ptp(f))

    def R2(self, f: np.ndarray) -> float:
        p, q = self.constraints.cannot_link.T
        return self.penalty * float(self.constraints.cannot_link_belief @ np.abs(f[p] - f[q]))

    @cached_property
    def _balance(self) -> Balance:
        return self.balance(self.graph.vertex_weights)

    def S(self, f: np.ndarray) -> float:
        return self._balance.value(f)

    def F(self, f: np.ndarray) -> float:
        """The ratio; a numerator of rounding size is zero."""
        R1 = self.R1(f)
        numerator = R1 - self.R2(f)
        if numerator <= 1e-14 * R1:
            return 0.0
        S = self.S(f)
        return numerator / S if S > 0 else np.inf

    def s(self, f: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
        """A subgradient of S at f; it sums to zero. With a generator, a random one where there are several."""
        return self._balance.subgradient(f, rng)

    def r2(self, f: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
        """A subgradient of R2 at f; it sums to zero.

        Where f does not separate a cannot-link pair, any number in [-1, 1] may stand for the sign: a generator draws -1 or
        1, without one it is 0, from which the iteration cannot separate the pair.
        """
        p, q = self.constraints.cannot_link.T
        difference = f[p] - f[q]
        direction = np.sign(difference)
        if rng is not None:
            drawn = rng.choice([-1.0, 1.0], len(p))
            direction = np.where(np.abs(difference) <= ROUNDING * np.ptp(f), drawn, direction)
        pull = self.penalty * self.constraints.cannot_link_belief * direction
        n = self.graph.n_vertices
        return np.bincount(p, pull, n) - np.bincount(q, pull, n)

    def threshold(self, f: np.ndarray) -> tuple[np.ndarray, float]:
        """Optimal thresholding: the best set {f > t} and its penalised cut. O(m + n log n).

        Theorem 2.2's key step: the value is at most F(f).
        """
        n, b, volume = self.graph.n_vertices, self.graph.vertex_weights, self.graph.volume
        order = np.argsort(-f, kind="stable")
        place = np.empty(n, self.weights.indices.dtype)
        place[order] = np.arange(n, dtype=place.dtype)
        w, ends = self.weights, place[self.constraints.cannot_link]
        belief = self.penalty * self.constraints.cannot_link_belief
        separated = np.bincount(ends.min(axis=1), belief, n) - np.bincount(ends.max(axis=1), belief, n)
        change = kernels.cut_changes(w.indptr, w.indices, w.data, place) - separated
        numerator = belief.sum() + np.cumsum(change)[:-1]
        inside = np.cumsum(b[order])[:-1]
        # A side lighter than the rounding error of the whole has no ratio that could be trusted.
        balance = np.maximum(inside * (volume - inside), 0)
        value = np.divide(np.maximum(numerator, 0) * volume, balance, out=np.full(n - 1, np.inf), where=balance > 0)
        differs = f[order[:-1]] > f[order[1:]]
        if not differs.any():
            raise ValueError("Thresholding needs a vector that is not constant.")
        value[~differs] = np.inf
        best = int(np.argmin(value))
        if not np.isfinite(value[best]):
            best = int(np.argmax(differs))
        side = np.zeros(n, bool)
        side[order[: best + 1]] = True
        # The running sums are off by rounding; a free cut must come out as exactly zero.
        return side, self.F(side.astype(np.float64))
