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
        Cluster of each vertex, 0, ..., k - 1, numbered by first appearance.
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
    n = len(labels)
    if not (n and labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < n):
        labels = np.unique(labels, return_inverse=True)[1]
    first = np.full(int(labels.max()) + 1 if n else 0, n)
    first[labels[::-1]] = np.arange(n)[::-1]  # of the members of a cluster the first is written last
    used = np.flatnonzero(first < n)
    rank = np.empty(len(first), np.int64)
    rank[used[np.argsort(first[used])]] = np.arange(len(used))
    return rank[labels]
