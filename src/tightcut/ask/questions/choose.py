"""The next questions, the most valuable first: which point, and with which group to compare it.

A point that was asked about and not placed yet comes first; then answers worth checking, and groups that may be one; then new
points: while much is unknown, those in the middle of what is undecided, and afterwards those with the smallest margins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from tightcut.ask.beliefs.evidence import COMPARE
from tightcut.ask.beliefs.inference import tally
from tightcut.ask.beliefs.labels import unknown_points
from tightcut.ask.beliefs.mixture import Beliefs, top_two
from tightcut.ask.questions.placing import EXPLORE, PlacementProgress
from tightcut.ask.records import Answer

PLACE = "not placed yet"
CHECK = "an earlier answer may be wrong"
CLAIMED = "two groups claim it"
UNNAMED = "its group has no name yet"
# Chosen on digits, USPS, COIL-20 and letter.
EXPLORED = 0.02  # share of the points that may stay unknown before margins are asked about
COMPARISONS, NEAREST = 9, 4  # of two groups at most; groups that a small one is compared with several times

Item = tuple[int, int | None, str]  # a row, the row to compare it with, and the reason


class Planner:
    """Chooses questions from what is believed now.

    The seed changes with every event, so that the same journal leads to the same questions.
    """

    def __init__(self, placing: PlacementProgress, seed: tuple[int, int]) -> None:
        self.placing, self.beliefs, self.seed = placing, placing.beliefs, seed
        self.exploring = bool(unknown_points(self.beliefs).mean() > EXPLORED)
        self.items: list[Item] = []

    def pairs(self, n: int) -> list[Item]:
        """Up to n pairs: points not placed yet, answers worth checking, groups that may be one, new points."""
        for row in self.placing.unplaced()[:n]:
            self._place(row, PLACE)
        if len(self.items) < n:
            for row, group in self.placing.worth_checking()[:n]:
                self._add(row, self.placing.partners(group, row), CHECK)
        if len(self.items) < n and not self.exploring:
            two = groups_to_compare(self.placing)
            if two is not None:
                first = self._one_of(two[0])
                self._add(first, self.placing.not_compared(two[1], first), COMPARE)
        if len(self.items) < n:
            rows, reason = self._new_points(n)
            for row in rows:
                self._place(row, reason)
        return self.items[:n]

    def picks(self, n: int, answers: Sequence[Answer], skipped_groups: Sequence[int] = ()) -> list[Item]:
        """Up to n rows to pick a group for: occasionally one whose pick is not believed, and new points.

        Before them comes one of each group that was passed over when a name was typed: it may be the group of that name.
        """
        told = {answer.first for answer in answers if answer.reason == UNNAMED}
        for group in skipped_groups:
            rows = self.placing.members.get(group, [])
            if rows and told.isdisjoint(rows):
                self.items.append((self.beliefs.typical_members(rows, group, 1)[0], None, UNNAMED))
        # Not at once, since the same person would say the same, and not more often than every fourth time.
        recent = answers[-4:]
        doubted = {answer.first for answer in answers if not answer.believed} - {answer.first for answer in recent}
        if not any(answer.reason == PLACE for answer in recent[1:]):
            self.items += [(row, None, PLACE) for row in self.placing.unplaced() if row in doubted][:1]
        rows, reason = self._new_points(n)
        return [*self.items, *((row, None, reason) for row in rows)][:n]

    def _new_points(self, n: int) -> tuple[list[int], str]:
        """Up to n rows to ask about, apart from each other, and the reason."""
        if self.exploring:
            return undecided_points(self.beliefs, n), EXPLORE
        return claimed_points(self.beliefs, n), CLAIMED

    def _place(self, row: int, reason: str) -> None:
        groups = self.placing.groups_left(row)
        if groups:
            self._add(row, self.placing.partners(groups[0], row), reason)

    def _add(self, row: int, partners: list[int], reason: str) -> None:
        if row not in {item[0] for item in self.items}:
            self.items.append((row, self._one_of(partners), reason))

    def _one_of(self, rows: list[int]) -> int:
        """A random one of some rows."""
        return rows[int(np.random.default_rng([*self.seed, len(self.items)]).integers(len(rows)))]


def claimed_points(beliefs: Beliefs, n: int) -> list[int]:
    """Up to n rows that two groups claim by nearly equal shares, none of them a neighbour of another."""
    # Relative to what is known of each point: where one of the predictors knows nothing, the others decide.
    shares = beliefs.shares[:, :-1]
    top, second = (share / np.maximum(shares.sum(axis=1), 1e-9) for share in top_two(shares))
    taken = set(beliefs.evidence.points.tolist())
    return _apart(second - top, beliefs.view.graph.weights, taken, n, second_neighbors=False)


def undecided_points(beliefs: Beliefs, n: int) -> list[int]:
    """Up to n rows in the middle of what is not known yet, apart from each other.

    First one in each coarse part that was not met yet; then others in the middle of what is still undecided.
    """
    graph, shares, points = beliefs.view.graph, beliefs.mapped, beliefs.evidence.points
    degrees, weights = np.maximum(graph.vertex_weights, 1e-300), graph.weights
    top, second = top_two(shares[:, :-1])
    score = 1 - np.clip(top - np.maximum(second, shares[:, -1]), 0, 1)
    score[points] = 0
    for _ in range(2):
        score = (score + weights @ (score / degrees)) / 2
    score[points] = 0
    rows = _middles(score, top, beliefs.coarse, np.unique(beliefs.coarse[points]), n)
    if len(rows) < n:
        taken = {*points.tolist(), *rows, *weights[np.array(rows, int)].indices.tolist()}
        rows += _apart(score, weights, taken, n - len(rows), second_neighbors=True)
    return rows


def _middles(score: np.ndarray, near: np.ndarray, coarse: np.ndarray, met: np.ndarray, n: int) -> list[int]:
    """The row of the largest score in each of n coarse parts that were not met yet, those nearest to known groups first."""
    nearness = np.bincount(coarse, near) + 1e-12
    nearness[met] = 0
    first = np.argsort(-nearness, kind="stable")[:n]
    inside = [np.flatnonzero(coarse == part) for part in first[nearness[first] > 0].tolist()]
    return [int(rows[score[rows].argmax()]) for rows in inside]


def _apart(score: np.ndarray, weights: sp.csr_array, taken: set[int], n: int, *, second_neighbors: bool) -> list[int]:
    """The rows of the largest scores, none of them a neighbour (or, if asked, at two steps) of another."""
    chosen: list[int] = []
    near = set(taken)
    # Few candidates are enough: 100 for each row to choose, and those that are taken already.
    limit = min(len(score), 100 * n + len(taken))
    best = np.argpartition(-score, limit - 1)[:limit]
    for i in best[np.lexsort((best, -score[best]))].tolist():
        if i in near:
            continue
        chosen.append(i)
        if len(chosen) == n:
            break
        around = weights[[i]].indices
        near |= {i, *around.tolist()}
        if second_neighbors:
            near |= set(weights[around].indices.tolist())
    return chosen


def groups_to_compare(placing: PlacementProgress) -> tuple[list[int], list[int]] | None:
    """Members of a group, and of one that it touches and may belong to; None if there is nothing left to ask.

    A small group is told apart from every other; where answers were found to be wrong, several times from the nearest.
    Otherwise a larger one is told apart from the nearest, too. Where answers were found to be wrong, only the two larger
    ones that touch most are, and only what was asked to learn it counts: an answer that keeps them apart may be the wrong
    one that began one of them.
    """
    beliefs, graph = placing.beliefs, placing.beliefs.view.graph
    shares = beliefs.shares[:, :-1]
    size, volume = shares.sum(axis=0), graph.vertex_weights @ shares
    touch = shares.T @ (graph.weights @ shares) / (volume[:, None] * volume + 1e-9)
    alive = sorted(placing.members)
    between = touch[np.ix_(alive, alive)]
    most = between[~np.eye(len(alive), dtype=bool)].max(initial=0)
    one, two, voted_two = tally(beliefs.evidence, beliefs.answered)
    for g in sorted(alive, key=lambda g: size[g]):
        small = size[g] <= len(shares) / len(alive) / 2
        nearest = sorted(set(alive) - {g}, key=lambda h: -touch[g, h])
        if not small:
            nearest = [h for h in nearest[:1] if not beliefs.erring or touch[g, h] == most]
        for rank, h in enumerate(nearest):
            denials = 3 if beliefs.erring and small and rank < NEAREST else 1
            against = voted_two if beliefs.erring and not small else two
            if against[g, h] - one[g, h] < denials and one[g, h] + two[g, h] < COMPARISONS:
                first = [i for i in placing.members[g] if placing.partners(h, i)]
                if first:
                    return first, placing.members[h]
    return None
