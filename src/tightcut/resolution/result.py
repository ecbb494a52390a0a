"""The result of `resolve`, and the problem it solves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tightcut.resolution.edges import BETWEEN, PairScores
from tightcut.resolution.ids import WHOLE
from tightcut.resolution.review import Review
from tightcut.resolution.rules import Rules
from tightcut.resolution.solver import edges_between_units, solve
from tightcut.resolution.tables import Columns
from tightcut.utils.compiling import compiling_reported

if TYPE_CHECKING:
    from tightcut.resolution.session import ResolutionSession


@dataclass(frozen=True, eq=False)
class Resolution:
    """Which records are the same, and how certain that is.

    Attributes
    ----------
    clusters : Columns
        Table of `id` and `cluster`, and for ids of several datasets also `source_dataset` and `unique_id`.
    cut_edges : Columns
        The matches that were cut: `a`, `b`, `probability`, `cluster_a`, `cluster_b`, the `reason`
        ("cannot_link", "groups", "labels" or "evidence"), the pair `because_a`, `because_b` to which the rule applies or
        which is the strongest evidence against the match, and the `margin`.
    doubtful : Columns
        The least certain joins and cuts, smallest margin first: `a`, `b`, `type` ("must" for a join, "cannot" for a
        cut), `probability`, `cluster_a`, `cluster_b`, `margin`. Correct the column `type` where it is wrong, and the
        table can be used as rules.
    disagreement : float
        Evidence that the clusters contradict, in log odds; under the rules, no clustering contradicts less than
        `lower_bound`.
    lower_bound : float
    n_components : int
        Independent problems of two or more records.
    n_proven : int
        How many of them have a proven optimum.
    n_unpaired : int
        Records that are in no pair; see `with_records`.
    """

    clusters: Columns = field(repr=False)
    cut_edges: Columns = field(repr=False)
    doubtful: Columns = field(repr=False)
    disagreement: float
    lower_bound: float
    n_components: int
    n_proven: int
    _problem: ScoredPairs | None = field(default=None, repr=False)

    @property
    def ids(self) -> np.ndarray:
        """The records, in order."""
        return self.clusters["id"]

    @property
    def labels(self) -> np.ndarray:
        """The cluster of each of the `ids`, 0, 1, ... by order of their first members."""
        return self.clusters["cluster"]

    @property
    def n_clusters(self) -> int:
        return int(self.labels.max(initial=-1)) + 1

    @property
    def n_unpaired(self) -> int:
        return 0 if self._problem is None else len(self.ids) - len(self._problem.ids)

    def with_records(self, ids: Sequence[Any]) -> Resolution:
        """The same clusters, and one cluster for each of some further records that are in no pair.

        Ids of datasets are DATASET-__-ID, as in `ids`.

        Examples
        --------
        >>> from tightcut import resolve
        >>> resolve([("ann", "anna", 0.9)]).with_records(["bob"]).clusters
           id  cluster
          ann        0
         anna        0
          bob        1
        """
        if not len(ids):
            return self
        more: dict[str, Sequence[Any]] = {
            "id": list(ids),
            "cluster": range(self.n_clusters, self.n_clusters + len(ids)),
        }
        if "unique_id" in self.clusters:
            parts = [str(one).partition(BETWEEN) for one in ids]
            more |= {"source_dataset": [part[0] for part in parts], "unique_id": [part[2] for part in parts]}
        columns = {name: _extended(column, more[name]) for name, column in self.clusters.items()}
        return replace(self, clusters=Columns(**columns))

    def session(self, answers: Any = None) -> ResolutionSession:
        """Ask a person about the doubtful decisions, one by one, the least certain first.

        Parameters
        ----------
        answers : path-like, optional
            Journal of the answers (JSON lines), created or continued. By default they are only kept in memory.

        Returns
        -------
        ResolutionSession

        Examples
        --------
        >>> from tightcut import resolve
        >>> session = resolve([("ann", "anna", 0.9), ("anna", "anne", 0.6), ("ann", "anne", 0.45)]).session()
        >>> question = session.question()
        >>> session.ids[question.first], session.ids[question.second]
        ('anna', 'anne')
        >>> session.answer(question, "different")
        >>> session.resolution().labels.tolist()
        [0, 0, 1]
        """
        from tightcut.resolution.session import ResolutionSession

        if self._problem is None:
            raise ValueError("A session needs a Resolution that resolve has returned.")
        return ResolutionSession(self._problem, answers)


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Records, the evidence on pairs of them, and rules; ids that combine several columns come with those columns."""

    columns: Columns
    evidence: PairScores
    rules: Rules

    @property
    def ids(self) -> np.ndarray:
        return self.columns["id"]

    def with_links(self, must_link: np.ndarray, cannot_link: np.ndarray) -> ScoredPairs:
        """The same problem with more rules. Raises InconsistentConstraintsError if they contradict each other."""
        must, cannot = (
            np.unique(np.sort(np.concatenate([links, more.reshape(-1, 2)]), axis=1), axis=0)
            for links, more in ((self.rules.must_link, must_link), (self.rules.cannot_link, cannot_link))
        )
        rules = replace(self.rules, must_link=must, cannot_link=cannot)
        rules.check(lambda record: spell(self.ids[record]))
        return replace(self, rules=rules)

    def solved(self) -> Resolution:
        evidence, rules = self.evidence, self.rules
        between = edges_between_units(evidence, rules)
        with compiling_reported(None):
            solution = solve(between, rules)
            cut_edges, doubtful = Review(self.ids, solution.labels, evidence, rules, between).tables()
        together = np.equal(*solution.labels[evidence.pairs].T)
        disagreement = float(np.abs(evidence.weight[together != (evidence.weight > 0)]).sum())
        return Resolution(
            Columns(**self.columns, cluster=solution.labels),
            cut_edges,
            doubtful,
            disagreement,
            max(disagreement - solution.gap, 0.0),
            solution.n_components,
            solution.n_proven,
            self,
        )


def spell(identifier: Any) -> str:
    """An id as messages show it."""
    return repr(identifier) if isinstance(identifier, str) else str(identifier)


def _extended(column: np.ndarray, more: Sequence[Any]) -> np.ndarray:
    """A column with more cells: whole numbers if all of them are, else texts."""
    if column.dtype.kind in "iu":
        if all(WHOLE.fullmatch(str(cell)) for cell in more):
            return np.concatenate([column, np.array([int(cell) for cell in more], dtype=column.dtype)])
        column = column.astype(str)
    return np.array([*column.tolist(), *map(str, more)], dtype=object)
