"""`Violations`: the pairs that a clustering violates, and their belief."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Violations:
    """The pairs that a clustering violates.

    Parameters
    ----------
    must_link : ndarray of shape (a, 2)
        Must-links whose ends have different labels.
    cannot_link : ndarray of shape (b, 2)
        Cannot-links whose ends have the same label.
    n_violations : int
        a + b.
    belief : float
        Sum of the beliefs of these pairs, what soft constraints minimise.
    """

    must_link: np.ndarray
    cannot_link: np.ndarray
    n_violations: int
    belief: float
