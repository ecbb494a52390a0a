"""What a person may want to check: the edges that were cut, and the least certain decisions.

The margin of a decision is the increase of the disagreement, in log odds, if it were reversed and the rest unchanged.
For a cut: if the two clusters were joined, or one of the two units moved over, whichever is cheapest and allowed. For a
join: if the cluster were split in two at the weakest place of a maximum spanning tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightcut.resolution.edges import PairScores
from tightcut.resolution.ids import distinct_places
from tightcut.resolution.rules import RULE_NAMES, Rules
from tightcut.resolution.solver import UnitEdges
from tightcut.resolution.tables import Columns
from tightcut.utils.interruption import interruptible

DOUBTFUL = float(np.log(19))  # margins below this: odds of less than 19 to 1, or 95 %


@dataclass(frozen=True, eq=False)
class Review:
    """The data from which the tables are made."""

    ids: np.ndarray
    labels: np.ndarray
    evidence: PairScores
    rules: Rules
    edges: UnitEdges

    def tables(self) -> tuple[Columns, Columns]:
        """The edges that were cut, in order; and the doubtful decisions, the smallest margin first."""
        i, j = self.evidence.pairs.T
        cut = np.flatnonzero((self.evidence.weight > 0) & (self.labels[i] != self.labels[j]))
        margin = self._cut_margins(cut)
        return self._cut_edges(cut, margin), self._doubtful(cut, margin)

    @property
    def _unit_labels(self) -> np.ndarray:
        labels = np.empty(self.rules.n_units, np.int64)
        labels[self.rules.units] = self.labels
        return labels

    def _cut_margins(self, cut: np.ndarray) -> np.ndarray:
        """How much more each cut edge's best alternative would cost; inf where rules leave none."""
        units, labels, unit_labels = self.rules.units, self.labels, self._unit_labels
        weights = _Sums(self.edges, unit_labels, units[self.evidence.pairs[cut]])
        margin = np.full(len(cut), np.inf)
        for one, other in (self.evidence.pairs[cut].T, self.evidence.pairs[cut, ::-1].T):
            unit, own, there = units[one], labels[one], labels[other]
            moved = weights.to_cluster(unit, own) - weights.to_cluster(unit, there)
            forbidden = self.rules.between(units, unit, there, others=labels).any
            margin = np.minimum(margin, np.where(forbidden, np.inf, moved))
        a, b = labels[self.evidence.pairs[cut]].T
        joined = np.where(self.rules.between(labels, a, b).any, np.inf, -weights.between(a, b))
        return np.maximum(np.minimum(margin, joined), 0.0)

    def _cut_edges(self, cut: np.ndarray, margin: np.ndarray) -> Columns:
        i, j = self.evidence.pairs[cut].T
        units = self.rules.units
        reason = self.rules.between(units, units[i], units[j])
        of_clusters = self.rules.between(self.labels, self.labels[i], self.labels[j])
        rows = np.flatnonzero(~reason.any & of_clusters.any)
        reason.set(rows, of_clusters.kind[rows], of_clusters.first[rows], of_clusters.second[rows])
        rows = np.flatnonzero(~reason.any)
        against = self.evidence.pairs[self._strongest_against(self.labels[i[rows]], self.labels[j[rows]], cut[rows])]
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
        """Of the pairs between two clusters, the row of the one with the lowest score."""
        i, j = self.labels[self.evidence.pairs].T
        n = int(self.labels.max(initial=0)) + 1
        negative = np.flatnonzero((self.evidence.weight < 0) & (i != j))
        keys = np.minimum(i, j)[negative] * n + np.maximum(i, j)[negative]
        order = np.lexsort((negative, self.evidence.weight[negative], keys))
        wanted = np.minimum(a, b) * n + np.maximum(a, b)
        if len(keys) == 0:
            return itself
        place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        return np.where(keys[order][place] == wanted, negative[order][place], itself)

    def _doubtful(self, cut: np.ndarray, margin: np.ndarray) -> Columns:
        rows, margins = self._join_margins()
        near = np.flatnonzero(margin < DOUBTFUL)
        a, b = np.sort(self.labels[self.evidence.pairs[cut[near]]], axis=1).T
        # One question per two clusters: the pair with the smallest margin, then the one with the highest score.
        order = np.lexsort((-self.evidence.weight[cut[near]], margin[near], b, a))
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
        return self._strongest_between_units(edges.first[chosen] * n + edges.second[chosen]), np.maximum(
            between[weak], 0
        )

    def _strongest_between_units(self, wanted: np.ndarray) -> np.ndarray:
        """Of the pairs between two units, the row of the one with the highest score."""
        if len(wanted) == 0:
            return np.empty(0, np.int64)
        units = self.rules.units[self.evidence.pairs]
        keys = np.minimum(units[:, 0], units[:, 1]) * self.rules.n_units + np.maximum(units[:, 0], units[:, 1])
        if len(self.rules.joined) == 0:  # each unit is a record, and pairs are in order
            return np.searchsorted(keys, wanted)
        order = np.lexsort((-self.evidence.weight, keys))
        return order[np.searchsorted(keys[order], wanted)]

    def _pairs(self, rows: np.ndarray) -> Columns:
        i, j = self.evidence.pairs[rows].T
        return Columns(
            a=self.ids[i],
            b=self.ids[j],
            probability=self.evidence.probability[rows],
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
        self.of_clusters = _totals(np.minimum(a, b) * self.width + np.maximum(a, b), weight)

    def to_cluster(self, unit: np.ndarray, cluster: np.ndarray) -> np.ndarray:
        return _read(self.of_units, unit * self.width + cluster)

    def between(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return _read(self.of_clusters, np.minimum(a, b) * self.width + np.maximum(a, b))


def _totals(keys: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known, place = distinct_places(keys)
    return known, np.bincount(place, weight, len(known))


def _read(totals: tuple[np.ndarray, np.ndarray], keys: np.ndarray) -> np.ndarray:
    known, values = totals
    if len(known) == 0:
        return np.zeros(len(keys))
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, values[place], 0.0)
