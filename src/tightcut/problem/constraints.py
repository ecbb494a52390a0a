"""Must-links and cannot-links between points: the user's knowledge about the clustering.

A must-link says that two points belong together, a cannot-link that they do not; each carries a belief in (0, 1],
its weight where constraints may be violated. Reading m pairs takes a sort, O(m log m); components and two-colouring
are O(n + m).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from tightcut.exceptions import InconsistentConstraintsError, Link
from tightcut.problem.closure import implied_pairs
from tightcut.problem.pairs import read_believed_pairs, read_mask, read_n_points, read_subset, to_array
from tightcut.problem.sources import pairs_from_frame, pairs_from_groups, pairs_from_labels
from tightcut.problem.two_colouring import TwoColouring, link_graph, must_link_witness, two_colour
from tightcut.problem.violations import Violations


@dataclass(frozen=True, eq=False, repr=False)
class Constraints:
    """Pairs of points that belong together and pairs that do not.

    Build one with `from_pairs`, `from_labels`, `from_groups` or `from_dataframe`, which validate; the plain
    constructor trusts its arguments.

    Parameters
    ----------
    n_points : int
        Number of points of the data; pairs hold indices below it.
    must_link, cannot_link : int64 ndarray of shape (m, 2)
        Unique pairs (i, j) with i < j, in lexicographic order.
    must_link_belief, cannot_link_belief : float64 ndarray of shape (m,)
        Belief in each pair, in (0, 1].

    Examples
    --------
    >>> from tightcut import Constraints
    >>> known = Constraints.from_pairs(6, must_link=[(0, 1), (2, 1)], cannot_link=[(5, 2)])
    >>> known
    Constraints(n_points=6, n_must_link=2, n_cannot_link=1)
    >>> known.closure().cannot_link.tolist()
    [[0, 5], [1, 5], [2, 5]]
    >>> known.violations([0, 0, 1, 1, 1, 1]).n_violations
    2
    """

    n_points: int
    must_link: np.ndarray
    cannot_link: np.ndarray
    must_link_belief: np.ndarray
    cannot_link_belief: np.ndarray

    @classmethod
    def from_pairs(
        cls,
        n_points: int,
        must_link: Any = None,
        cannot_link: Any = None,
        must_link_belief: Any = None,
        cannot_link_belief: Any = None,
    ) -> Constraints:
        """Read and check pairs of points.

        Parameters
        ----------
        n_points : int
            Number of points of the data.
        must_link, cannot_link : sequence of pairs, array of shape (m, 2), data frame, sparse (n, n) matrix or None
            Pairs of row numbers of the data. Repeated and reversed pairs are one pair with the largest belief.
            The values of a sparse matrix are beliefs unless they are all 1.
        must_link_belief, cannot_link_belief : float or array-like of shape (m,), optional
            Belief in each pair, in (0, 1]; 1 if not given.

        Examples
        --------
        >>> from tightcut import Constraints
        >>> doubtful = Constraints.from_pairs(4, [(0, 1), (1, 0), (2, 3)], must_link_belief=[0.6, 0.8, 1])
        >>> doubtful.must_link.tolist(), doubtful.must_link_belief.tolist()
        ([[0, 1], [2, 3]], [0.8, 1.0])
        """
        n_points = read_n_points(n_points)
        must, must_weight = read_believed_pairs(must_link, must_link_belief, n_points, "must_link")
        cannot, cannot_weight = read_believed_pairs(cannot_link, cannot_link_belief, n_points, "cannot_link")
        return cls(n_points, must, cannot, must_weight, cannot_weight)

    @classmethod
    def from_labels(cls, labels: Any) -> Constraints:
        """Constraints equivalent to partial labels: points are together exactly if their labels are equal.

        Parameters
        ----------
        labels : array-like of shape (n_points,)
            Whole numbers or names of classes; -1, None and NaN mean unknown.

        Notes
        -----
        A class of c points gives c - 1 must-links to its first point, and each two classes one cannot-link between
        their first points: O(n + K^2) pairs whose closure is all O(n^2) of them. Soft constraints count these
        representative pairs, so a point that leaves its class costs one violation, not one for each of the others.

        Examples
        --------
        >>> from tightcut import Constraints
        >>> labelled = Constraints.from_labels([7, -1, 7, 9, 7])
        >>> labelled.must_link.tolist(), labelled.cannot_link.tolist()
        ([[0, 2], [0, 4]], [[0, 3]])
        """
        return cls.from_pairs(*pairs_from_labels(labels))

    @classmethod
    def from_groups(cls, groups: Any, n_points: int | None = None) -> Constraints:
        """Constraints that separate the members of each group, such as the faces in one photograph.

        Parameters
        ----------
        groups : array-like of shape (n_points,), or sequence of sequences of points
            Without `n_points`: the group of each point, where -1, None and NaN mean none.
            With `n_points`: the points of each group; groups may overlap.
        n_points : int, optional
            Number of points of the data; to be given if `groups` lists members.

        Examples
        --------
        >>> from tightcut import Constraints
        >>> Constraints.from_groups(["photo 1", "photo 1", None, "photo 2", "photo 2"]).cannot_link.tolist()
        [[0, 1], [3, 4]]
        >>> Constraints.from_groups([[0, 1], [1, 3, 4]], n_points=5).cannot_link.tolist()
        [[0, 1], [1, 3], [1, 4], [3, 4]]
        """
        n_points, apart = pairs_from_groups(groups, None if n_points is None else read_n_points(n_points))
        return cls.from_pairs(n_points, cannot_link=apart)

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        ids: Any,
        *,
        first: Any = None,
        second: Any = None,
        kind: Any = "type",
        belief: Any = None,
    ) -> Constraints:
        """Constraints from a pandas or polars frame of judgements on named points.

        Parameters
        ----------
        frame : data frame
            One pair per row: two identifiers and a kind. Spellings of the kind, in any case: must, must-link,
            must_link, ml, same, 1, true for must-links; cannot, cannot-link, cannot_link, cl, different, diff,
            0, -1, false for cannot-links.
        ids : sequence of length n_points
            The identifier of each row of the data, each once.
        first, second : column name or position, optional
            Columns of identifiers. By default the first columns without another role.
        kind : column name or position, default="type"
        belief : column name or position, optional
            Column of beliefs in (0, 1].

        Examples
        --------
        >>> import pandas as pd
        >>> from tightcut import Constraints
        >>> judgements = pd.DataFrame({"a": ["ann", "bob"], "b": ["eve", "eve"], "type": ["same", "different"]})
        >>> named = Constraints.from_dataframe(judgements, ids=["ann", "bob", "eve"])
        >>> named.must_link.tolist(), named.cannot_link.tolist()
        ([[0, 2]], [[1, 2]])
        """
        n_points, pairs, must, beliefs = pairs_from_frame(frame, ids, first, second, kind, belief)
        return cls.from_pairs(n_points, pairs[must], pairs[~must], beliefs[must], beliefs[~must])

    @property
    def n_must_link(self) -> int:
        return len(self.must_link)

    @property
    def n_cannot_link(self) -> int:
        return len(self.cannot_link)

    @property
    def n_pairs(self) -> int:
        return self.n_must_link + self.n_cannot_link

    @property
    def is_empty(self) -> bool:
        return self.n_pairs == 0

    def __repr__(self) -> str:
        counts = f"n_must_link={self.n_must_link}, n_cannot_link={self.n_cannot_link}"
        return f"Constraints(n_points={self.n_points}, {counts})"

    def __or__(self, other: Constraints) -> Constraints:
        return self.merge(other) if isinstance(other, Constraints) else NotImplemented

    def merge(self, other: Constraints) -> Constraints:
        """The pairs of both sets, which are over the same points; common pairs keep the larger belief. Also `a | b`."""
        if other.n_points != self.n_points:
            raise ValueError(f"Constraints over {self.n_points} and over {other.n_points} points cannot be merged.")
        return self.from_pairs(
            self.n_points,
            np.concatenate([self.must_link, other.must_link]),
            np.concatenate([self.cannot_link, other.cannot_link]),
            np.concatenate([self.must_link_belief, other.must_link_belief]),
            np.concatenate([self.cannot_link_belief, other.cannot_link_belief]),
        )

    def select(self, must_mask: Any = None, cannot_mask: Any = None) -> Constraints:
        """The pairs where a boolean mask with one entry per pair is True; without a mask, all pairs of that kind."""
        must = read_mask(must_mask, self.n_must_link, "must_mask")
        cannot = read_mask(cannot_mask, self.n_cannot_link, "cannot_mask")
        return Constraints(
            self.n_points,
            self.must_link[must],
            self.cannot_link[cannot],
            self.must_link_belief[must],
            self.cannot_link_belief[cannot],
        )

    def satisfied_by(self, labels: np.ndarray) -> Constraints:
        """The pairs that a clustering satisfies."""
        must, cannot = self.must_link, self.cannot_link
        return self.select(labels[must[:, 0]] == labels[must[:, 1]], labels[cannot[:, 0]] != labels[cannot[:, 1]])

    def subset(self, points: Any) -> Constraints:
        """The constraints among some points, numbered by their position in `points`; all other pairs are dropped.

        Parameters
        ----------
        points : array of distinct indices, or boolean mask of shape (n_points,)

        Examples
        --------
        >>> from tightcut import Constraints
        >>> Constraints.from_pairs(5, [(0, 4), (1, 2)], [(2, 4)]).subset([4, 3, 2]).cannot_link.tolist()
        [[0, 2]]
        """
        chosen, place = read_subset(points, self.n_points)
        must, cannot = place[self.must_link], place[self.cannot_link]
        kept = self.select((must >= 0).all(axis=1), (cannot >= 0).all(axis=1))
        return self.from_pairs(
            len(chosen), place[kept.must_link], place[kept.cannot_link], kept.must_link_belief, kept.cannot_link_belief
        )

    def components(self) -> tuple[int, np.ndarray]:
        """Number of sets of must-linked points, single points included, and the set of each point."""
        return connected_components(link_graph(self.n_points, self.must_link), directed=False)

    def conflicts(self) -> np.ndarray:
        """The cannot-links whose ends are joined by must-links: contradictions for any number of clusters.

        Examples
        --------
        >>> from tightcut import Constraints
        >>> torn = Constraints.from_pairs(4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (0, 3)])
        >>> torn.conflicts().tolist()
        [[0, 2]]
        >>> torn.conflict_witness()
        [('must', 0, 1), ('must', 1, 2), ('cannot', 2, 0)]
        """
        _, labels = self.components()
        return self.cannot_link[labels[self.cannot_link[:, 0]] == labels[self.cannot_link[:, 1]]]

    def conflict_witness(self) -> list[Link] | None:
        """A short closed walk of must-links and one cannot-link that contradict each other, or None.

        It is the shortest if conflicts start at up to 32 points, and otherwise the shortest of a sample.
        """
        conflicts = self.conflicts()
        if len(conflicts) == 0:
            return None
        return must_link_witness(self.n_points, self.must_link, self.cannot_link, conflicts)

    def closure(self) -> Constraints:
        """Every pair that the constraints imply, whatever the number of clusters.

        Raises
        ------
        InconsistentConstraintsError
            If a cannot-link lies within a set of must-linked points: a contradiction implies everything.

        Notes
        -----
        Must-links are transitive, and a cannot-link between two must-linked sets separates all their points. An
        implied must-link is believed as much as the weakest must-link of its set; an implied cannot-link as much as
        the weakest must-link of its two sets and the strongest cannot-link between them. No given pair loses belief.

        Examples
        --------
        >>> from tightcut import Constraints
        >>> closed = Constraints.from_pairs(4, [(0, 1), (1, 2)], [(2, 3)], must_link_belief=[1, 0.5]).closure()
        >>> closed.must_link.tolist(), closed.must_link_belief.tolist()
        ([[0, 1], [0, 2], [1, 2]], [1.0, 0.5, 0.5])
        >>> closed.cannot_link_belief.tolist()
        [0.5, 0.5, 1.0]
        """
        witness = self.conflict_witness()
        if witness is not None:
            raise InconsistentConstraintsError(witness)
        _, labels = self.components()
        beliefs = self.must_link_belief, self.cannot_link_belief
        return self.merge(
            self.from_pairs(self.n_points, *implied_pairs(labels, self.must_link, self.cannot_link, *beliefs))
        )

    def two_colouring(self) -> TwoColouring:
        """How two clusters must split each set of linked points, or a short proof that they cannot.

        Examples
        --------
        >>> from tightcut import Constraints
        >>> Constraints.from_pairs(4, [(0, 1)], [(1, 2)]).two_colouring().colour.tolist()
        [0, 0, 1, 0]
        >>> Constraints.from_pairs(3, cannot_link=[(0, 1), (1, 2), (0, 2)]).two_colouring().witness
        [('cannot', 0, 1), ('cannot', 1, 2), ('cannot', 2, 0)]
        """
        return two_colour(self.n_points, self.must_link, self.cannot_link)

    def require_two_colourable(self) -> TwoColouring:
        """The two-colouring, or an `InconsistentConstraintsError` that carries the contradiction."""
        colouring = self.two_colouring()
        if not colouring.consistent:
            raise InconsistentConstraintsError(colouring.witness or ())
        return colouring

    def violations(self, labels: Any) -> Violations:
        """The pairs violated by a clustering, given by one label per point."""
        values = to_array(labels)
        if values.shape != (self.n_points,):
            raise ValueError(
                f"labels must have one entry per point, shape ({self.n_points},); got shape {values.shape}."
            )
        split = values[self.must_link[:, 0]] != values[self.must_link[:, 1]]
        joined = values[self.cannot_link[:, 0]] == values[self.cannot_link[:, 1]]
        belief = self.must_link_belief[split].sum() + self.cannot_link_belief[joined].sum()
        count = int(split.sum() + joined.sum())
        return Violations(self.must_link[split], self.cannot_link[joined], count, float(belief))
