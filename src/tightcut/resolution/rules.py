"""Hard rules: must-links, cannot-links, labels and groups (at most one record per cluster), and their contradictions.

Must-linked records become one unit. Records with the same label are must-linked, and all labels together form one more
group, since different labels are different entities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse.csgraph import connected_components

from tightcut.exceptions import InconsistentConstraintsError, Link
from tightcut.problem.two_colouring import link_graph, must_link_witness
from tightcut.utils.codes import look_up, ranges

NO_RULE, CANNOT_LINK, GROUPS, LABELS = range(4)
RULE_NAMES = np.array(["evidence", "cannot_link", "groups", "labels"])
LINKS_SHOWN = 8  # of a contradiction, in its message


@dataclass(frozen=True, eq=False)
class Named:
    """Known groups or labels: their names, and which record has which."""

    names: list[str]
    records: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules among n records: members of a group are never together, equal labels together, different ones apart."""

    n_records: int
    must_link: np.ndarray
    cannot_link: np.ndarray
    groups: Named
    labels: Named

    @cached_property
    def joined(self) -> np.ndarray:
        """All must-links: those that were given, and from the first record of each label to its others."""
        first = np.full(len(self.labels.names), -1)
        first[self.labels.values[::-1]] = self.labels.records[::-1]
        stars = np.stack([first[self.labels.values], self.labels.records], axis=1)
        return np.concatenate([self.must_link, stars[stars[:, 0] != stars[:, 1]]])

    @cached_property
    def units(self) -> np.ndarray:
        """The must-linked unit of each record, numbered in the order of first records."""
        if len(self.joined) == 0:
            return np.arange(self.n_records)
        return connected_components(link_graph(self.n_records, self.joined), directed=False)[1].astype(np.int64)

    @property
    def n_units(self) -> int:
        return int(self.units.max()) + 1 if self.n_records else 0

    @cached_property
    def memberships(self) -> tuple[np.ndarray, np.ndarray]:
        """Records and their groups; the last group has one record of each label."""
        _, representative = np.unique(self.labels.values, return_index=True)
        labelled = self.labels.records[representative]
        records = np.concatenate([self.groups.records, labelled])
        return records, np.concatenate([self.groups.values, np.full(len(labelled), len(self.groups.names))])

    @property
    def n_groups(self) -> int:
        return len(self.groups.names) + 1

    def between(
        self, homes: np.ndarray, left: np.ndarray, right: np.ndarray, others: np.ndarray | None = None
    ) -> Found:
        """The rule that keeps left[k] and right[k] apart, for all k.

        Parameters
        ----------
        homes : ndarray of shape (n_records,)
            The unit of each record, or its cluster. `left` consists of these.
        left, right : ndarray
        others : ndarray of shape (n_records,), optional
            The same for `right`, if these are of the other kind.
        """
        others = homes if others is None else others
        found = Found.nothing(len(left))
        if len(left) and (len(self.cannot_link) or len(self.memberships[0])):
            self._find_groups(found, homes, others, left, right)
            pairs = np.concatenate([self.cannot_link, self.cannot_link[:, ::-1]])
            width = int(others.max()) + 1
            hit, row = look_up(homes[pairs[:, 0]] * width + others[pairs[:, 1]], left * width + right)
            found.set(hit, CANNOT_LINK, pairs[row, 0], pairs[row, 1])
        return found

    def _find_groups(
        self, found: Found, homes: np.ndarray, others: np.ndarray, left: np.ndarray, right: np.ndarray
    ) -> None:
        records, values = self.memberships
        order = np.argsort(homes[records], kind="stable")
        places = homes[records][order]
        begin, end = np.searchsorted(places, left), np.searchsorted(places, left, side="right")
        asked, entry = ranges(begin, end - begin)
        entry = order[entry]
        hit, row = look_up(others[records] * self.n_groups + values, right[asked] * self.n_groups + values[entry])
        kind = np.where(values[row] == len(self.groups.names), LABELS, GROUPS)
        # The last assignment wins, so assigning backwards leaves the first of several rules.
        found.set(asked[hit][::-1], kind[::-1], records[entry[hit]][::-1], records[row][::-1])

    def check(self, spell: Callable[[int], str]) -> None:
        """Raise InconsistentConstraintsError if the rules contradict each other; `spell` names a record."""
        units = self.units[self.cannot_link]
        conflicts = np.concatenate(
            [self.cannot_link[units[:, 0] == units[:, 1]], self._same_group_within(), self._labels_within()]
        )
        if len(conflicts):
            witness = must_link_witness(self.n_records, self.joined, conflicts, conflicts)
            raise InconsistentConstraintsError(witness, self._story(witness, spell), reason="contradiction")

    def _same_group_within(self) -> np.ndarray:
        """Pairs of consecutive members of a group in one unit."""
        records, values = self.groups.records, self.groups.values
        keys = self.units[records] * self.n_groups + values
        order = np.argsort(keys, kind="stable")
        pairs = np.stack([records[order][:-1], records[order][1:]], axis=1)
        return pairs[(keys[order][1:] == keys[order][:-1]) & (pairs[:, 0] != pairs[:, 1])]

    def _labels_within(self) -> np.ndarray:
        """Pairs of consecutive records of one unit whose labels differ."""
        records, units = self.labels.records, self.units[self.labels.records]
        order = np.lexsort((self.labels.values, units))
        pairs = np.stack([records[order][:-1], records[order][1:]], axis=1)
        units, values = units[order], self.labels.values[order]
        return pairs[(units[1:] == units[:-1]) & (values[1:] != values[:-1])]

    def _story(self, witness: list[Link], spell: Callable[[int], str]) -> str:
        *path, (_, end, start) = witness
        steps = [f"{spell(i)} is {spell(j)}{self._because_together(i, j)}" for _, i, j in path[:LINKS_SHOWN]]
        more = f", ... and {len(path) - LINKS_SHOWN} more" if len(path) > LINKS_SHOWN else ""
        apart = f"{spell(start)} is not {spell(end)}{self._because_apart(start, end)}"
        return (
            f"The rules contradict each other: {', '.join(steps)}{more}, but {apart}. Remove one of these rules, or turn "
            "it into a scored pair, which other evidence may outweigh."
        )

    def _because_together(self, i: int, j: int) -> str:
        if _has_pair(self.must_link, i, j):
            return " (must_link)"
        shared = self._of(self.labels, i) & self._of(self.labels, j)
        return f" (both have the label {', '.join(sorted(shared))})"

    def _because_apart(self, i: int, j: int) -> str:
        if _has_pair(self.cannot_link, i, j):
            return " (cannot_link)"
        shared = self._of(self.groups, i) & self._of(self.groups, j)
        if shared:
            return f" (both are in the group {min(shared)})"
        return f" (labels {', '.join(sorted(self._of(self.labels, i) | self._of(self.labels, j)))})"

    @staticmethod
    def _of(named: Named, record: int) -> set[str]:
        return {named.names[value] for value in named.values[named.records == record].tolist()}


@dataclass(frozen=True, eq=False)
class Found:
    """For each of several pairs, the rule that keeps it apart and the two records of the rule; -1 without a rule."""

    kind: np.ndarray
    first: np.ndarray
    second: np.ndarray

    @classmethod
    def nothing(cls, count: int) -> Found:
        return cls(np.zeros(count, np.int64), np.full(count, -1), np.full(count, -1))

    def set(self, rows: np.ndarray, kind: np.ndarray | int, first: np.ndarray, second: np.ndarray) -> None:
        self.kind[rows], self.first[rows], self.second[rows] = kind, first, second

    @property
    def any(self) -> np.ndarray:
        return self.kind > NO_RULE


def _has_pair(pairs: np.ndarray, i: int, j: int) -> bool:
    return bool(((pairs == (i, j)) | (pairs == (j, i))).all(axis=1).any())
