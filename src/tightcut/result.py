"""What `cluster` returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tightcut._support.warning import warn
from tightcut.constraints import Constraints
from tightcut.constraints.violations import Violations
from tightcut.exceptions import LopsidedClustersWarning
from tightcut.graph import Graph
from tightcut.relaxation.objective import cluster_cuts

# A cluster is suspiciously small with less than two fifths of its share of the points and less than a fifth of the largest,
# if at least a hundredth of its weight leaves it: a small cluster of its own is hardly tied to others. Where clusters have
# fewer than ten points on average, sizes say little.
SMALL_SHARE, SMALL_RATIO, TIED, FEWEST_EXPECTED = 0.4, 5, 0.01, 10


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


def warn_if_lopsided(graph: Graph, labels: np.ndarray, constraints: Constraints) -> None:
    """Warn of a cluster far smaller than its share that is tied to the others, unless a cannot-link may have forced it.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from tightcut import Constraints, Graph
    >>> from tightcut.result import warn_if_lopsided
    >>> path = Graph.from_affinity(np.eye(40, k=1) + np.eye(40, k=-1))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_lopsided(path, (np.arange(40) < 3).astype(int), Constraints.from_pairs(40))
    >>> print(str(caught[0].message).partition(":")[0])
    Cluster 1 has 3 of 40 points, the largest cluster 37, and 20.0% of its edge weight leaves it
    """
    sizes = np.bincount(labels)
    share = len(labels) / len(sizes)
    if len(sizes) == 1 or share < FEWEST_EXPECTED:
        return
    leaving, volume = cluster_cuts(graph, labels)
    forced = np.bincount(labels[constraints.cannot_link.ravel()], minlength=len(sizes)) > 0
    small = (sizes < SMALL_SHARE * share) & (SMALL_RATIO * sizes < sizes.max()) & (leaving > TIED * volume) & ~forced
    if small.any():
        cluster = int(np.argmin(np.where(small, sizes, len(labels))))
        part = float(leaving[cluster] / volume[cluster])
        warn(LopsidedClustersWarning(cluster, int(sizes[cluster]), int(sizes.max()), len(labels), part))


def number_by_appearance(labels: np.ndarray) -> np.ndarray:
    """The same partition with clusters numbered 0, 1, ... in order of their first member."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
