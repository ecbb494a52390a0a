"""Decisions that a person may want to check: the edges that were cut, and the least certain joins and cuts.

The margin of a decision is the increase in disagreement, in log odds, if it alone were reversed. For a cut: if the two
clusters were joined, or one of the two units moved to the other cluster, whichever is cheapest and allowed. For a join:
if the cluster were split in two at the weakest edge of a maximum spanning tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tightcut.problem.pairs import pair_keys
from tightcut.resolution.edges import PairScores
from tightcut.resolution.rules import RULE_NAMES, Rules
from tightcut.resolution.solver import UnitEdges
from tightcut.resolution.tables import Columns
from tightcut.utils.codes import distinct_places, look_up
from tightcut.utils.interruption import interruptible

DOUBTFUL = float(np.log(19))  # margins below this: odds of less than 19 to 1, or 95 %


@dataclass(frozen=True, eq=False)
class Review:
    """The data from which both tables are made."""

    ids: np.ndarray
    labels: np.ndarray
    scores: PairScores
    rules: Rules
    edges: UnitEdges

    def tables(self) -> tuple[Columns, Columns]:
        """The edges that were cut, in order, and the doubtful decisions, by increasing margin."""
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
        """The additional cost of the best alternative to each cut edge; inf where rules leave none."""
        units, labels, pairs = self.rules.units, self.labels, self.scores.pairs[cut]
        k = int(labels.max(initial=0)) + 1
        of_units, of_clusters = self._sums(pairs, k)
        margin = np.full(len(cut), np.inf)
        for one, other in (pairs.T, pairs[:, ::-1].T):
            unit, own, there = units[one], labels[one], labels[other]
            moved = of_units[unit * k + own] - of_units[unit * k + there]
            forbidden = self.rules.between(units, unit, there, others=labels).any
            margin = np.minimum(margin, np.where(forbidden, np.inf, moved))
        forbidden = self.rules.between(labels, *labels[pairs].T).any
        joined = np.where(forbidden, np.inf, -of_clusters[pair_keys(labels[pairs], k)])
        return np.maximum(np.minimum(margin, joined), 0.0)

    def _sums(self, pairs: np.ndarray, k: int) -> tuple[_Sums, _Sums]:
        """The weight between units and the k clusters, and between clusters, for the clusters of some pairs.

        Edges that a rule forbids count as 0.
        """
        labels, edges = self._unit_labels, self.edges
        concerned = np.zeros(k, bool)
        concerned[self.labels[pairs]] = True
        chosen = concerned[labels[edges.first]] & concerned[labels[edges.second]] & np.isfinite(edges.weight)
        ends, weight = np.stack([edges.first[chosen], edges.second[chosen]], axis=1), edges.weight[chosen]
        keys = ends * k + labels[ends[:, ::-1]]
        return _Sums(keys.T.ravel(), np.tile(weight, 2)), _Sums(pair_keys(labels[ends], k), weight)

    def _cut_edges(self, cut: np.ndarray, margin: np.ndarray) -> Columns:
        i, j = self.scores.pairs[cut].T
        units = self.rules.units
        reason = self.rules.between(units, units[i], units[j])
        of_clusters = self.rules.between(self.labels, self.labels[i], self.labels[j])
        rows = np.flatnonzero(~reason.any & of_clusters.any)
        reason.set(rows, of_clusters.kind[rows], of_clusters.first[rows], of_clusters.second[rows])
        rows = np.flatnonzero(~reason.any)
        against = self.scores.pairs[self._strongest_against(cut[rows])]
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

    def _strongest_against(self, cut: np.ndarray) -> np.ndarray:
        """The row of the lowest score between the two clusters of each cut edge; its own row if all speak for a match."""
        clusters = self.labels[self.scores.pairs]
        against = np.flatnonzero((self.scores.weight < 0) & (clusters[:, 0] != clusters[:, 1]))
        against = against[np.argsort(self.scores.weight[against], kind="stable")]
        n = int(self.labels.max(initial=0)) + 1
        hit, row = look_up(pair_keys(clusters[against], n), pair_keys(clusters[cut], n))
        found = cut.copy()
        found[hit] = against[row]
        return found

    def _doubtful(self, cut: np.ndarray, margin: np.ndarray) -> Columns:
        rows, margins = self._join_margins()
        near = np.flatnonzero(margin < DOUBTFUL)
        a, b = np.sort(self.labels[self.scores.pairs[cut[near]]], axis=1).T
        # One question per pair of clusters: the smallest margin decides, then the highest score.
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
        """The rows of the weakest links of clusters, and their margins."""
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
        """The row of the highest score between each two units."""
        keys = pair_keys(self.rules.units[self.scores.pairs], self.rules.n_units)
        if len(self.rules.joined) == 0:  # each unit is a record, and pairs are sorted
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
    """Sums of values by key; 0 for keys without a value."""

    def __init__(self, keys: np.ndarray, values: np.ndarray) -> None:
        self.keys, place = distinct_places(keys)
        self.sums = np.bincount(place, values, len(self.keys))

    def __getitem__(self, keys: np.ndarray) -> np.ndarray:
        found = np.zeros(len(keys))
        hit, place = look_up(self.keys, keys)
        found[hit] = self.sums[place]
        return found
