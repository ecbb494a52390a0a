"""What `cluster` returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tightcut.constraints.violations import Violations


@dataclass(frozen=True, eq=False)
class ClusteringResult:
    """A clustering with its price.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each vertex, 0, ..., k - 1, numbered by first appearance, or as in `init`.
    cut : float
        Sum over clusters of cut(C, rest) / vol(C).
    violations : Violations
        The violated pairs, their number and their total belief.
    history : tuple of float or None
        For two clusters: the penalised cut F at the start of the final RatioDCA and after each of its steps.
    hierarchy : tuple of ndarray or None
        With `method="paper"` and more clusters: the recursive clusterings into 2, 3, ..., k parts.
    """

    labels: np.ndarray
    cut: float
    violations: Violations
    history: tuple[float, ...] | None = field(default=None, repr=False)
    hierarchy: tuple[np.ndarray, ...] | None = field(default=None, repr=False)

    @property
    def n_violations(self) -> int:
        return self.violations.n_violations

    @property
    def violated_belief(self) -> float:
        return self.violations.belief


def number_by_appearance(labels: np.ndarray) -> np.ndarray:
    """The same partition with clusters numbered 0, 1, ... in order of their first member."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def number_like(labels: np.ndarray, given: np.ndarray) -> np.ndarray:
    """The same partition, with the numbers of the given one where clusters have most in common, and new ones elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.result import number_like
    >>> number_like(np.array([0, 0, 1, 1, 2]), np.array([7, 7, 7, 3, 3])).tolist()
    [7, 7, 3, 3, 8]
    """
    from scipy.optimize import linear_sum_assignment

    numbers, old = np.unique(given, return_inverse=True)
    found, new = np.unique(labels, return_inverse=True)
    common = np.bincount(new * len(numbers) + old, minlength=len(found) * len(numbers)).reshape(len(found), -1)
    rows, columns = linear_sum_assignment(common, maximize=True)
    paired = common[rows, columns] > 0
    result = np.full(len(found), -1)
    result[rows[paired]] = numbers[columns[paired]]
    unpaired = result < 0
    result[unpaired] = numbers.max() + 1 + np.arange(int(unpaired.sum()))
    return result[new]
