"""What to ask next: which point, and with which group to compare it.

While much is unknown, the middle of what is undecided; then the smallest margins. A point that was asked about and not placed
yet comes first, then groups that may be one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightcut.ask.beliefs.evidence import COMPARE, SURE, AnswerEvidence
from tightcut.ask.beliefs.inference import tally
from tightcut.ask.beliefs.mixture import Beliefs, top_two
from tightcut.problem.graph import Graph

EXPLORED = 0.02  # share of the points that may stay unknown before margins are asked about
PLACE = "not placed yet"
EXPLORE = "in the middle of what is not known yet"
COMPARISONS, NEAREST = 9, 4  # of two groups at most; groups that a small one is compared with several times
CHECK = "an earlier answer may be wrong"
WORTH = 0.15  # a second answer must protect this share of what an answer about a new point decides
RECENT = 10  # new points from which that is learned
TRIES = 4  # times that one point is compared with one group
DENIALS = 2  # groups, the likeliest, that must deny a point before it may found one
LATE = 0.1  # a point founds a group when the chance that a group not asked yet would take it is below this


@dataclass(frozen=True)
class Step:
    """What to do about a point: compare it with a group, or nothing, or let it found a group.

    Parameters
    ----------
    row : int
    groups : tuple of int
        The groups still in question, likeliest first; empty if none is left.
    open : bool
        Whether anything is left to ask about it.
    """

    row: int
    groups: tuple[int, ...]
    open: bool


class Placing:
    """How far the placing of each answered point has come, read from its answers alone.

    Parameters
    ----------
    beliefs : Beliefs
    """

    def __init__(self, beliefs: Beliefs) -> None:
        self.beliefs = beliefs
        evidence = beliefs.evidence
        k = evidence.n_groups
        self.position = {row: i for i, row in enumerate(evidence.points.tolist())}
        self.group, self.sureness = beliefs.answered.argmax(axis=1), beliefs.answered.max(axis=1)
        self.members: dict[int, list[int]] = {}
        surest = {g: self.beliefs.answered[:, g].argmax() for g in range(k)}
        for i, g in enumerate(self.group.tolist()):
            if g < k and (self.sureness[i] > SURE or surest[g] == i):
                self.members.setdefault(g, []).append(int(evidence.points[i]))
        self.yes, self.no = np.zeros((len(evidence.points), k), int), np.zeros((len(evidence.points), k), int)
        self.unsure = {a.first for a in evidence.answers if a.choice == "unsure"}
        for i, j, same in evidence.pairs.tolist():
            for one, other in ((i, j), (j, i)):
                if self.group[other] < k:
                    (self.yes if same else self.no)[one, self.group[other]] += 1
        for i, group, chosen in evidence.picks.tolist():
            (self.yes if chosen else self.no)[i, evidence.home[group]] += 1
        self.compared = {frozenset((a.first, a.second)) for a in evidence.answers if a.kind == "pair"}
        self.founders = set(evidence.founders.values())
        self.denials = denials_before_placed(evidence)
        self.merged = k - len(set(evidence.home.tolist()))
        self.explorers = {a.first for a in evidence.answers if a.reason == EXPLORE}

    def step(self, row: int) -> Step:
        """The groups to compare a row with, likeliest first."""
        i = self.position.get(row)
        shares = self.beliefs.filled(np.array([row]))[0] if i is None else self.beliefs.answered[i, :-1]
        alive = [g for g in np.argsort(-shares, kind="stable").tolist() if self.partners(g, row)]
        if i is None:
            return Step(row, tuple(alive), True)
        if row in self.unsure or i == 0:  # the anchor is in group 0 by definition
            return Step(row, (), False)
        own, asked = self.beliefs.answered[i], self.yes[i] + self.no[i]
        placed = self.yes[i].any() or i in self.founders
        if asked.sum() > 2 * len(asked) + TRIES or (placed and own[:-1].max() > SURE):
            return Step(row, (), False)
        # What an answer says of a group is asked again, with another member, only while it is in doubt.
        new = placed or (row in self.explorers and self._denied_enough(int((self.no[i] > 0).sum())))
        again = [(asked[g] > 0 or placed) and own[g] > 1 - SURE and asked[g] < TRIES for g in alive]
        left = [g for g, doubted in zip(alive, again, strict=True) if doubted or (asked[g] == 0 and not new)]
        return Step(row, tuple(left), bool(left) or not placed)

    def _denied_enough(self, denials: int) -> bool:
        """Whether so many groups have denied a point that it probably belongs to none of the others either.

        Groups are asked in the order of their likelihood. How many of the points that found their group had been denied
        as often before, and how many groups were founded that turned out to be one of the others, tells how far that
        order can be trusted.
        """
        late = sum(number >= denials for number in self.denials) + self.merged + 0.5
        return denials >= DENIALS and late < LATE * (late + len(self.founders) + 0.5)

    def unplaced(self) -> list[int]:
        """Rows that were asked about and need more answers, the one asked about last first."""
        rows = dict.fromkeys(a.first for a in reversed(self.beliefs.evidence.answers))
        return [row for row in rows if self.step(row).open]

    def worth_checking(self) -> list[tuple[int, int]]:
        """Rows that a wrong answer may have misplaced, and their groups; those that would mislead most first.

        How sure the answers about a row are depends on how many of this person's answers were found to be wrong, and on
        what its neighbours say. A second answer is worth asking for if the share of points that follow the row, times the
        probability that the row is misplaced, is not small against what an answer about a new point decides.
        """
        points, k = self.beliefs.evidence.points, self.beliefs.evidence.n_groups
        risk = (1 - self.sureness) * self.beliefs.reach
        risk[0] = 0
        worth = WORTH * self._value_of_new_point()
        rows = []
        for i in np.argsort(-risk, kind="stable").tolist():
            if risk[i] <= worth:
                break
            row, g = int(points[i]), int(self.group[i])
            if g < k and self.yes[i, g] + self.no[i, g] < TRIES and self.partners(g, row):
                rows.append((row, g))
        return rows

    def _value_of_new_point(self) -> float:
        """Share of the points about which the last few new points have decided: what followed them unforeseen."""
        m = len(self.group)
        last = np.arange(max(1, m - RECENT), m)
        if not len(last):
            return 1.0
        unforeseen = 1 - self.beliefs.foreseen[last, self.group[last]]
        return float(np.mean(unforeseen * self.beliefs.reach[last]))

    def partners(self, group: int, row: int) -> list[int]:
        """Members of a group to compare a row with: nobody is asked about the same two things twice."""
        return [] if row in self.unsure else self.not_compared(self.members.get(group, []), row)

    def not_compared(self, rows: list[int], row: int) -> list[int]:
        """The rows among some that a row was not compared with yet."""
        return [j for j in rows if j != row and frozenset((row, j)) not in self.compared]


def denials_before_placed(evidence: AnswerEvidence) -> list[int]:
    """How often each point that was compared with the members of groups was denied before it found its group."""
    denied: dict[int, int] = {}
    found: dict[int, int] = {}
    for answer in evidence.answers:
        if answer.kind != "pair" or answer.reason == COMPARE or answer.first in found:
            continue
        if answer.choice == "same":
            found[answer.first] = denied.get(answer.first, 0)
        elif answer.choice == "different":
            denied[answer.first] = denied.get(answer.first, 0) + 1
    return list(found.values())


def is_exploring(unknown: np.ndarray) -> bool:
    """Whether so much is unknown that the questions go there first."""
    return bool(unknown.mean() > EXPLORED)


def points_to_ask(
    beliefs: Beliefs, graph: Graph, coarse: np.ndarray, unknown: np.ndarray, n: int
) -> list[tuple[int, str]]:
    """Up to n rows to ask about, apart from each other, each with the reason.

    First one in the middle of each coarse part, the largest part first; then in the middle of what is still undecided;
    and when little is unknown, at the smallest margins.
    """
    degrees, weights, points = np.maximum(graph.vertex_weights, 1e-300), graph.weights, beliefs.evidence.points
    exploring = is_exploring(unknown)
    shares = beliefs.mapped if exploring else beliefs.shares
    top, second = top_two(shares[:, :-1])
    if not exploring:
        # Relative to what is known of each point: where one of the predictors knows nothing, the others decide.
        known = np.maximum(shares[:, :-1].sum(axis=1), 1e-9)
        top, second = top / known, second / known
        return [
            (i, "two groups claim it")
            for i in _apart(second - top, weights, set(points.tolist()), n, second_neighbors=False)
        ]
    score = 1 - np.clip(top - np.maximum(second, shares[:, -1]), 0, 1)
    score[points] = 0
    for _ in range(2):
        score = (score + weights @ (score / degrees)) / 2
    score[points] = 0
    rows = _middles(score, top, coarse, np.unique(coarse[points]), n)
    if len(rows) < n:
        taken = {*points.tolist(), *rows, *weights[np.array(rows, int)].indices.tolist()}
        rows += _apart(score, weights, taken, n - len(rows), second_neighbors=True)
    return [(i, EXPLORE) for i in rows]


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


def groups_to_compare(beliefs: Beliefs, graph: Graph, placing: Placing) -> tuple[list[int], list[int]] | None:
    """Members of a group, and of one that it touches and may belong to; None if there is nothing left to ask.

    A small group is told apart from every other; where answers were found to be wrong, several times from the nearest.
    Otherwise a larger one is told apart from the nearest, too. Where answers were found to be wrong, only the two larger
    ones that touch most are, and only what was asked to learn it counts: an answer that keeps them apart may be the wrong
    one that began one of them.
    """
    k = beliefs.evidence.n_groups
    shares = beliefs.shares[:, :k]
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
