"""Connected components of positive evidence and must-links, which can be solved independently.

The best clusters of a part do not depend on the records outside it, so a new rule affects only the parts of its two
records, and the work depends on their size.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse.csgraph import connected_components

from tightcut.problem.two_colouring import link_graph
from tightcut.resolution.edges import PairScores
from tightcut.resolution.result import ScoredPairs
from tightcut.resolution.rules import Named, Rules
from tightcut.resolution.tables import Columns
from tightcut.utils.codes import ranges


class Parts:
    """The parts of a problem, by number; a rule may join parts.

    Attributes
    ----------
    part : ndarray of shape (n_records,)
        The part of each record.
    """

    def __init__(self, problem: ScoredPairs) -> None:
        rules, evidence = problem.rules, problem.evidence
        n = rules.n_records
        links = np.concatenate([evidence.pairs[evidence.weight > 0], rules.joined])
        self._problem = problem
        self.part = connected_components(link_graph(n, links), directed=False)[1].astype(np.int64)
        order = np.argsort(self.part, kind="stable")
        ends = np.cumsum(np.bincount(self.part, minlength=1))
        self._members = dict(enumerate(np.split(order, ends[:-1])))
        self._scored = _Rows(evidence.pairs, n)
        self._must, self._cannot = _Rows(rules.must_link, n), _Rows(rules.cannot_link, n)
        self._groups, self._labels = _Rows(rules.groups.records[:, None], n), _Rows(rules.labels.records[:, None], n)

    def members(self, part: int) -> np.ndarray:
        """The records of a part, in order."""
        return self._members[part]

    def together(self, records: Iterable[int]) -> np.ndarray:
        """All records in the parts of the given ones, in order."""
        return np.sort(np.concatenate([self._members[part] for part in self._of(records)]))

    def join(self, records: Iterable[int]) -> tuple[int, list[int]]:
        """Join the parts of some records; returns the number of the joint part, and those no longer used."""
        first, *others = self._of(records)
        for other in others:
            self.part[self._members[other]] = first
            self._members[first] = np.sort(np.concatenate([self._members[first], self._members.pop(other)]))
        return first, others

    def problem(self, records: np.ndarray) -> ScoredPairs:
        """The problem restricted to these records; their ids are their numbers."""
        whole = self._problem
        scored = self._scored.inside(records)
        evidence = PairScores(
            np.searchsorted(records, whole.evidence.pairs[scored]),
            whole.evidence.weight[scored],
            whole.evidence.probability[scored],
        )
        rules = Rules(
            len(records),
            np.searchsorted(records, whole.rules.must_link[self._must.inside(records)]),
            np.searchsorted(records, whole.rules.cannot_link[self._cannot.inside(records)]),
            _restricted(whole.rules.groups, self._groups.inside(records), records),
            _restricted(whole.rules.labels, self._labels.inside(records), records),
        )
        return ScoredPairs(Columns(id=records), evidence, rules)

    def _of(self, records: Iterable[int]) -> list[int]:
        """The parts of some records, the largest first."""
        found = {int(self.part[record]) for record in records}
        return sorted(found, key=lambda part: (-len(self._members[part]), part))


class _Rows:
    """Which rows of a table of records mention a record."""

    def __init__(self, ends: np.ndarray, n_records: int) -> None:
        self._ends = ends
        flat = ends.ravel()
        self._order = np.argsort(flat, kind="stable") // ends.shape[1]
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=n_records))])

    def inside(self, records: np.ndarray) -> np.ndarray:
        """The rows that mention only these records, which are sorted."""
        begin, counts = self._starts[records], self._starts[records + 1] - self._starts[records]
        rows, times = np.unique(self._order[ranges(begin, counts)[1]], return_counts=True)
        return rows[times == self._ends.shape[1]]


def _restricted(named: Named, rows: np.ndarray, records: np.ndarray) -> Named:
    used, values = np.unique(named.values[rows], return_inverse=True)
    return Named([named.names[value] for value in used], np.searchsorted(records, named.records[rows]), values)
