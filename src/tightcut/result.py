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
    violated_belief_bound : float or None
        No clustering into as many clusters violates less belief than this: where it equals `violated_belief`, that is
        proven to be the least. None where nothing is known. With `max_violations="fewest"` and pairs that contradict
        each other it is known if the extra `tightcut[exact]` is installed.
    history : tuple of float or None
        For two clusters: the penalised cut F at the start of the final RatioDCA and after each of its steps.
    hierarchy : tuple of ndarray or None
        With `method="paper"` and more clusters: the recursive clusterings into 2, 3, ..., k parts.
    """

    labels: np.ndarray
    cut: float
    violations: Violations
    violated_belief_bound: float | None = None
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
