"""What a person may want to check: the edges that were cut, and the least certain decisions.

The margin of a decision is the increase of the disagreement, in log odds, if it were reversed and the rest unchanged.
For a cut: if the two clusters were joined, or one of the two units moved over, whichever is cheapest and allowed. For a
join: if the cluster were split in two at the weakest place of a maximum spanning tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tightcut.resolution.edges import PairScores
from tightcut.resolution.ids import distinct_places
from tightcut.resolution.rules import RULE_NAMES, Rules, look_up
from tightcut.resolution.solver import UnitEdges
from tightcut.resolution.tables import Columns
from tightcut.utils.interruption import interruptible

DOUBTFUL = float(np.log(19))  # margins below this: odds of less than 19 to 1, or 95 %


@dataclass(frozen=True, eq=False)
class Review:
    """The data from which the tables are made."""

    ids: np.ndarray
    labels: np.ndarray
    scores: PairScores
    rules: Rules
    edges: UnitEdges

    def tables(self) -> tuple[Columns, Columns]:
        """The edges that were cut, in order; and the doubtful decisions, the smallest margin first."""
        i, j = self.scores.pairs.T
        cut = np.flatnonzero((self.scores.weight > 0) & (self.labels[i] != self.labels[j]))
        margin = self._cut_margins(cut)
        return self._cut_edges(cut, margin), self._doubtful(cut, margin)

    @cached_property
    def _unit_labels(self) -> np.ndarray:
        labels = np.empty(self.rules.n_units, np.int64)
        labels[self.rules.units] = self.labels
        return labels

    def _cut_margins(self, cut: np.ndarray) -> np.ndarray:
        """How much more each cut edge's best alternative would cost; inf where rules leave none."""
        units, labels, unit_labels = self.rules.units, self.labels, self._unit_labels
        weights = _Sums(self.edges, unit_labels, units[self.scores.pairs[cut]])
        margin = np.full(len(cut), np.inf)
        for one, other in (self.scores.pairs[cut].T, self.scores.pairs[cut, ::-1].T):
            unit, own, there = units[one], labels[one], labels[other]
            moved = weights.to_cluster(unit, own) - weights.to_cluster(unit, there)
            forbidden = self.rules.between(units, unit, there, others=labels).any
            margin = np.minimum(margin, np.where(forbidden, np.inf, moved))
        a, b = labels[self.scores.pairs[cut]].T
        joined = np.where(self.rules.between(labels, a, b).any, np.inf, -weights.between(a, b))
        return np.maximum(np.minimum(margin, joined), 0.0)

    def _cut_edges(self, cut: np.ndarray, margin: np.ndarray) -> Columns:
        i, j = self.scores.pairs[cut].T
        units = self.rules.units
        reason = self.rules.between(units, units[i], units[j])
        of_clusters = self.rules.between(self.labels, self.labels[i], self.labels[j])
        rows = np.flatnonzero(~reason.any & of_clusters.any)
        reason.set(rows, of_clusters.kind[rows], of_clusters.first[rows], of_clusters.second[rows])
        rows = np.flatnonzero(~reason.any)
        against = self.scores.pairs[self._strongest_against(self.labels[i[rows]], self.labels[j[rows]], cut[rows])]
        swapped = self.labels[against[:, 0]] != self.labels[i[rows]]
        against[swapped] = against[swapped, ::-1]
        reason.set(rows, 0, against[:, 0], against[:, 1])
        return Columns(
            **self._pairs(cut),
            reason=RULE_NAMES[reason.kind].astype(object),
            because_a=self.ids[reason.first],
            because_b=self.ids[reason.second],
            margin=margin,
        )

    def _strongest_against(self, a: np.ndarray, b: np.ndarray, itself: np.ndarray) -> np.ndarray:
        """Of the pairs between two clusters, the row of the one with the lowest score; `itself` if none is against."""
        i, j = self.labels[self.scores.pairs].T
        against = np.flatnonzero((self.scores.weight < 0) & (i != j))
        against = against[np.argsort(self.scores.weight[against], kind="stable")]
        n = int(self.labels.max(initial=0)) + 1
        hit, row = look_up(_pair_keys(i[against], j[against], n), _pair_keys(a, b, n))
        found = itself.copy()
        found[hit] = against[row]
        return found

    def _doubtful(self, cut: np.ndarray, margin: np.ndarray) -> Columns:
        rows, margins = self._join_margins()
        near = np.flatnonzero(margin < DOUBTFUL)
        a, b = np.sort(self.labels[self.scores.pairs[cut[near]]], axis=1).T
        # One question per two clusters: the pair with the smallest margin, then the one with the highest score.
        order = np.lexsort((-self.scores.weight[cut[near]], margin[near], b, a))
        new = np.flatnonzero((np.diff(a[order], prepend=-1) != 0) | (np.diff(b[order], prepend=-1) != 0))
        near = near[order[new]]
        pairs, margins = np.concatenate([rows, cut[near]]), np.concatenate([margins, margin[near]])
        kinds = np.repeat(np.array(["must", "cannot"], dtype=object), [len(rows), len(near)])
        order = np.lexsort((pairs, margins))
        columns = self._pairs(pairs[order])
        ends = {name: columns.pop(name) for name in ("a", "b")}
        return Columns(**ends, type=kinds[order], **columns, margin=margins[order])

    def _join_margins(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the pairs that are the weakest links of clusters, and their margins."""
        from tightcut import kernels

        labels, edges, n = self._unit_labels, self.edges, self.rules.n_units
        inside = np.flatnonzero(labels[edges.first] == labels[edges.second])
        inside = inside[np.argsort(-edges.weight[inside], kind="stable")]
        ends = [end[inside].astype(np.int32) for end in (edges.first, edges.second)]
        with interruptible():
            position, between = kernels.weigh_branches(*ends, edges.weight[inside], n)
        weak = between < DOUBTFUL
        chosen = inside[position[weak]]
        rows = self._strongest_between_units(edges.first[chosen] * n + edges.second[chosen])
        return rows, np.maximum(between[weak], 0)

    def _strongest_between_units(self, wanted: np.ndarray) -> np.ndarray:
        """Of the pairs between two units, the row of the one with the highest score."""
        keys = _pair_keys(*self.rules.units[self.scores.pairs].T, self.rules.n_units)
        if len(self.rules.joined) == 0:  # each unit is a record, and pairs are in order
            return np.searchsorted(keys, wanted)
        order = np.argsort(-self.scores.weight, kind="stable")
        return order[look_up(keys[order], wanted)[1]]

    def _pairs(self, rows: np.ndarray) -> Columns:
        i, j = self.scores.pairs[rows].T
        return Columns(
            a=self.ids[i],
            b=self.ids[j],
            probability=self.scores.probability[rows],
            cluster_a=self.labels[i],
            cluster_b=self.labels[j],
        )


class _Sums:
    """The evidence between some units and all clusters, and between their clusters; what is forbidden counts 0."""

    def __init__(self, edges: UnitEdges, unit_labels: np.ndarray, units: np.ndarray) -> None:
        self.width = int(unit_labels.max(initial=0)) + 1
        concerned = np.zeros(self.width, bool)
        concerned[unit_labels[units]] = True
        chosen = concerned[unit_labels[edges.first]] & concerned[unit_labels[edges.second]] & np.isfinite(edges.weight)
        first, second, weight = edges.first[chosen], edges.second[chosen], edges.weight[chosen]
        a, b = unit_labels[first], unit_labels[second]
        ends = np.concatenate([first * self.width + b, second * self.width + a])
        self.of_units = _totals(ends, np.concatenate([weight, weight]))
        self.of_clusters = _totals(_pair_keys(a, b, self.width), weight)

    def to_cluster(self, unit: np.ndarray, cluster: np.ndarray) -> np.ndarray:
        return _read(self.of_units, unit * self.width + cluster)

    def between(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return _read(self.of_clusters, _pair_keys(a, b, self.width))


def _pair_keys(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    """Unordered pairs of 0, ..., n - 1 as numbers."""
    return np.minimum(a, b) * n + np.maximum(a, b)


def _totals(keys: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known, place = distinct_places(keys)
    return known, np.bincount(place, weight, len(known))


def _read(totals: tuple[np.ndarray, np.ndarray], keys: np.ndarray) -> np.ndarray:
    known, values = totals
    if len(known) == 0:
        return np.zeros(len(keys))
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, values[place], 0.0)
