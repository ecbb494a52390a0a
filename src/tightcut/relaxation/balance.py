"""The denominator S: two tight extensions of the balance vol(C) vol(rest) / vol(V) from sets to vectors.

Both are convex, even and one-homogeneous, do not change when a constant is added, and agree with the balance on
indicators, so that Theorem 2.2 holds with either. The paper's is the smaller one; the Lovasz extension is the largest
convex function that agrees on indicators (tests/paper, Theorem 2.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

ROUNDING = 1e-12  # of the range of f: what is below counts as zero where signs are drawn


class Balance(Protocol):
    """S for one set of vertex weights."""

    def value(self, f: np.ndarray) -> float:
        """S(f)."""

    def subgradient(self, f: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
        """A subgradient of S at f that sums to zero; with a generator a random one where there are several."""


BalanceOf = Callable[[np.ndarray], Balance]  # of the vertex weights


class MeanDeviation:
    """Half the weighted mean absolute deviation, sum b_i abs(f_i - mean) / 2, as the paper prints it."""

    def __init__(self, vertex_weights: np.ndarray) -> None:
        self.b, self.volume = vertex_weights, float(vertex_weights.sum())

    def value(self, f: np.ndarray) -> float:
        return float(self.b @ np.abs(f - (self.b @ f) / self.volume)) / 2

    def subgradient(self, f: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
        """The signs of f - mean, made to sum to zero. Where f is the mean, any number in [-1, 1] is a sign: 0 or drawn."""
        deviation = f - (self.b @ f) / self.volume
        sign = np.sign(deviation)
        if rng is not None:
            sign = np.where(np.abs(deviation) <= ROUNDING * np.ptp(f), rng.choice([-1.0, 1.0], len(f)), sign)
        signs = self.b * sign
        return (signs - self.b * (signs.sum() / self.volume)) / 2


class LovaszBalance:
    """The Lovasz extension, sum over pairs b_i b_j abs(f_i - f_j) / vol(V).

    Unlike the mean deviation it tells apart all entries on one side of the mean.
    """

    def __init__(self, vertex_weights: np.ndarray) -> None:
        self.b, self.volume = vertex_weights, float(vertex_weights.sum())

    def value(self, f: np.ndarray) -> float:
        return float(self.subgradient(f) @ f)

    def subgradient(self, f: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
        """b_i (weight below f_i - weight above f_i) / vol(V), equal entries in any order."""
        order = np.argsort(f, kind="stable") if rng is None else np.lexsort((rng.random(len(f)), f))
        upto = np.cumsum(self.b[order])
        result = np.empty(len(f))
        result[order] = self.b[order] * (2 * upto - self.b[order] - self.volume) / self.volume
        return result
