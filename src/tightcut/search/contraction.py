"""Contraction: units of a graph or a problem merged into fewer, and states carried from one to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

Small = TypeVar("Small")


@dataclass(frozen=True, eq=False)
class Contraction(Generic[Small]):
    """A smaller graph or problem, and how the units it came from sit in it.

    A *state* is an array with one small integer per unit: a label, or a spin where merged units have an orientation.

    Attributes
    ----------
    small : graph or Problem
        Every state of it has the score of the state that `lift` makes of it.
    unit : ndarray of shape (n_units,)
        The unit 0, ..., m - 1 that each unit has become part of.
    sign : ndarray of int8, shape (n_units,), or None
        The orientation of each unit there; None for labels.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Contraction(None, np.array([0, 1, 0]), np.array([1, 1, -1], np.int8))
    >>> pairs.lift(np.array([-1, 1], np.int8)).tolist()
    [-1, 1, 1]
    """

    small: Small
    unit: np.ndarray
    sign: np.ndarray | None = None

    @property
    def n_units(self) -> int:
        """Units of the smaller one."""
        return int(self.unit.max()) + 1

    def lift(self, state: np.ndarray) -> np.ndarray:
        """A state of the smaller one as one of the larger."""
        return state[self.unit] if self.sign is None else state[self.unit] * self.sign

    def project(self, state: np.ndarray) -> np.ndarray:
        """The inverse, for states that respect the units; of others, a unit takes the label of its last member."""
        small = np.empty(self.n_units, np.int32 if self.sign is None else np.int8)
        small[self.unit] = state if self.sign is None else state * self.sign
        return small

    def followed_by(self, smaller: Contraction[Small]) -> Contraction[Small]:
        """Both contractions in one; what lies between them is forgotten."""
        sign = None if self.sign is None or smaller.sign is None else smaller.sign[self.unit] * self.sign
        return Contraction(smaller.small, smaller.unit[self.unit], sign)
