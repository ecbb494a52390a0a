"""`ClusteringResult` and `Audit`: what `cluster` and `audit` return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from tightcut.exceptions import LopsidedClustersWarning
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import cluster_cuts
from tightcut.problem.violations import Violations
from tightcut.utils.display import count_noun, html_view, shown_sizes
from tightcut.utils.extras import require_package
from tightcut.utils.sequences import RowSequence
from tightcut.utils.warning import warn

if TYPE_CHECKING:
    import pandas as pd

# How a price was found; rows of equal price are listed in this order.
PRICING = ("solved", "estimated", "implied", "violated", "skipped")
ROWS_SHOWN = 20


@dataclass(frozen=True)
class Lopsided:
    """When a cluster is so small, and so well connected to others, that it is worth a warning."""

    share: float = 0.4  # of the mean size: it has fewer points
    ratio: float = 5.0  # the largest cluster has more times its points
    leaving: float = 0.01  # of its weight leaves it, or more; a genuine small cluster is hardly connected to others
    mean_size: float = 10.0  # below it, sizes say little


LOPSIDED = Lopsided()


@dataclass(frozen=True, eq=False, repr=False)
class ClusteringResult:
    """A clustering, its cut and the constraints that it violates.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each vertex, 0, ..., k - 1, numbered by first appearance, or as in `init`.
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
    bound : float or None
        No clustering into as many clusters that respects the pairs has a smaller cut; None until that is proven, by
        `COSC.certify`.
    """

    labels: np.ndarray
    cut: float
    violations: Violations
    violated_belief_bound: float | None = None
    history: tuple[float, ...] | None = None
    hierarchy: tuple[np.ndarray, ...] | None = None
    bound: float | None = None

    def __repr__(self) -> str:
        sizes = np.unique(self.labels, return_counts=True)[1].tolist()
        return (
            f"ClusteringResult({len(sizes):,} clusters of {shown_sizes(sizes)} points; cut {self.cut:.6g}, "
            f"{self.n_violations:,} violated)"
        )

    def _repr_html_(self) -> str:
        numbers, sizes = np.unique(self.labels, return_counts=True)
        facts = {"cut": f"{self.cut:.6g}", "violated": f"{self.n_violations:,}"}
        rows = zip(numbers[:ROWS_SHOWN].tolist(), sizes[:ROWS_SHOWN].tolist(), strict=True)
        return html_view("Clustering", facts, ("cluster", "points"), rows)

    @property
    def n_violations(self) -> int:
        return self.violations.n_violations

    @property
    def violated_belief(self) -> float:
        return self.violations.belief


@dataclass(frozen=True)
class ConstraintPrice:
    """A constraint and its price.

    Attributes
    ----------
    kind : {"must", "cannot"}
    first, second : int
        The two points.
    belief : float
    price : float
        How much the cut falls without this constraint, all others kept; at least 0.
    cut_without : float
        The cut found without it.
    method : {"solved", "estimated", "implied", "violated", "skipped"}
        Solved again; estimated by local search; 0 because other constraints imply this one; 0 because the clustering
        violates it anyway; 0 because there were too many constraints to look at.
    """

    kind: str
    first: int
    second: int
    belief: float
    price: float
    cut_without: float
    method: str

    def proven(self, bound: float) -> float:
        """What this constraint costs at least, given a proven bound of the cuts of all clusterings with every constraint.

        The clustering found without it may not be the best one, which makes the price an estimate. The smallest cut with
        every constraint is at least the bound and the smallest one without is at most `cut_without`, so their difference
        is at least that of these two.

        Examples
        --------
        >>> from tightcut.clustering.result import ConstraintPrice
        >>> price = ConstraintPrice("must", 0, 1, 1.0, 0.25, 0.5, "solved")
        >>> price.proven(0.625), price.proven(0.375)
        (0.125, 0.0)
        """
        return max(bound - self.cut_without, 0.0)


@dataclass(frozen=True, repr=False)
class Audit(RowSequence[ConstraintPrice]):
    """Constraints with their prices, most expensive first: a sequence of `ConstraintPrice`.

    Attributes
    ----------
    rows : tuple of ConstraintPrice
    cut : float
        What prices are measured against: the cut of the given clustering, or of a better one with the same
        constraints that the search found.
    free_cut : float
        The cut found without any constraint: what all of them together cost is `cut - free_cut`.
    bound : float or None
        What `COSC.certify` has proven of the cut with all constraints: prices are at least `row.proven(bound)`.
    """

    rows: tuple[ConstraintPrice, ...]
    cut: float
    free_cut: float
    bound: float | None = None

    def __repr__(self) -> str:
        top = f", the most expensive {self.rows[0].price:.3g}" if self.rows else ""
        return f"Audit({count_noun(len(self), 'constraint')}{top}; cut {self.cut:.6g}, {self.free_cut:.6g} without any)"

    def _repr_html_(self) -> str:
        facts = {"constraints": f"{len(self):,}", "cut": f"{self.cut:.6g}", "without any": f"{self.free_cut:.6g}"}
        rows = [(f"{r.kind}-link", r.first, r.second, f"{r.price:.4g}", r.method) for r in self.rows[:ROWS_SHOWN]]
        return html_view("Audit", facts, ("type", "first", "second", "price", "method"), rows)

    def to_dataframe(self, ids: Sequence[Any] | None = None) -> pd.DataFrame:
        """The table as a pandas frame, with the i-th of `ids` in place of point i if given.

        With a bound it has a column `proven`, which prices are at least.
        """
        pd = require_package("pandas", "to_dataframe", "frames")
        frame = pd.DataFrame(list(map(astuple, self.rows)), columns=[field.name for field in fields(ConstraintPrice)])
        if self.bound is not None:
            frame["proven"] = [row.proven(self.bound) for row in self.rows]
        if ids is not None:
            names = list(ids)  # a pandas Series would be indexed by its labels
            for column in ("first", "second"):
                frame[column] = [names[point] for point in frame[column]]
        return frame


def warn_if_lopsided(graph: Graph, labels: np.ndarray, constraints: Constraints) -> None:
    """Warn of a cluster that is far too small and well connected to the others, where no constraint can have forced it.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from tightcut import Constraints, Graph
    >>> from tightcut.clustering.result import warn_if_lopsided
    >>> path = Graph.from_affinity(np.eye(40, k=1) + np.eye(40, k=-1))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_lopsided(path, (np.arange(40) < 3).astype(int), Constraints.from_pairs(40))
    >>> print(str(caught[0].message).partition(":")[0])
    Cluster 1 has 3 of 40 points, the largest cluster 37, and 20.0% of its edge weight leaves it
    """
    numbers, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    mean_size = len(labels) / len(sizes)
    if len(sizes) == 1 or mean_size < LOPSIDED.mean_size or not constraints.is_empty:
        return
    leaving, volume = cluster_cuts(graph, labels)
    small = (sizes < LOPSIDED.share * mean_size) & (LOPSIDED.ratio * sizes < sizes.max())
    small &= leaving > LOPSIDED.leaving * volume
    if small.any():
        cluster = int(np.argmin(np.where(small, sizes, len(labels))))
        part = float(leaving[cluster] / volume[cluster])
        warn(LopsidedClustersWarning(int(numbers[cluster]), int(sizes[cluster]), int(sizes.max()), len(labels), part))
