"""What to ask next: which point, and with which group to compare it.

While much is unknown, the middle of what is undecided; then the smallest margins. A point that was asked about and not placed
yet comes first, then groups that may be one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightcut.ask.beliefs import Beliefs, Spreading
from tightcut.ask.evidence import SURE, Evidence
from tightcut.ask.records import Answer

EXPLORED = 0.02  # share of the volume that may stay unknown before margins are asked about
COMPARE = "two groups may be one"
PLACE = "not placed yet"
ERRING = 0.015  # share of wrong answers from which on groups are compared once more
TRIES = 4  # times that one point is compared with one group


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
        self.founders = set(evidence.founders.values())

    def step(self, row: int) -> Step:
        """The groups to compare a row with, likeliest first."""
        shares = self.beliefs.shares[row, :-1]
        alive = [g for g in np.argsort(-shares, kind="stable").tolist() if self._others(g, row)]
        i = self.position.get(row)
        if i is None:
            return Step(row, tuple(alive), True)
        yes, no, best = self.yes[i], self.no[i], int(self.group[i])
        if row in self.unsure or i in self.founders:
            return Step(row, (), False)
        if yes.any():
            again = best in alive and self.sureness[i] < SURE and yes[best] + no[best] < TRIES
            return Step(row, (best,) if again else (), again)
        # A denial by a group that the neighbours speak for is asked again, with another member.
        own = self.beliefs.answered[i]
        left = [g for g in alive if no[g] == 0] or [g for g in alive if own[g] > 1 - SURE and no[g] < TRIES]
        return Step(row, tuple(left), True)

    def unplaced(self) -> list[int]:
        """Rows that were asked about and need more answers, the one asked about last first."""
        rows = dict.fromkeys(a.first for a in reversed(self.beliefs.evidence.answers))
        return [row for row in rows if self.step(row).open]

    def _others(self, group: int, row: int) -> bool:
        members = self.members.get(group, [])
        return len(members) > (row in members)


def points_to_ask(beliefs: Beliefs, spreading: Spreading, n: int) -> list[tuple[int, str]]:
    """Up to n rows to ask about, apart from each other, each with the reason."""
    shares, degrees, weights = beliefs.shares, spreading.degrees, spreading.weights
    ranked = np.sort(np.c_[np.zeros(len(shares)), shares[:, :-1]], axis=1)
    top, second, unknown = ranked[:, -1], ranked[:, -2], shares[:, -1]
    points = beliefs.evidence.points
    exploring = degrees[unknown > top].sum() > EXPLORED * degrees.sum()
    if exploring:
        score = degrees * (1 - np.clip(top - np.maximum(second, unknown), 0, 1))
        score[points] = 0
        for _ in range(2):
            score = (score + weights @ (score / degrees)) / 2
        reason = "in the middle of what is not known yet"
    else:
        score = second - top
        reason = "two groups claim it"
    return [(i, reason) for i in _apart(score, weights, set(points.tolist()), n, wide=exploring)]


def _apart(score: np.ndarray, weights: sp.csr_array, taken: set[int], n: int, *, wide: bool) -> list[int]:
    """The rows of the largest scores, none of them a neighbour of another."""
    chosen: list[int] = []
    near = set(taken)
    for i in np.argsort(-score, kind="stable").tolist():
        if i in near:
            continue
        chosen.append(i)
        if len(chosen) == n:
            break
        around = weights[[i]].indices
        near |= {i, *around.tolist()}
        if wide:
            near |= set(weights[around].indices.tolist())
    return chosen


def groups_to_compare(beliefs: Beliefs, spreading: Spreading, placing: Placing) -> tuple[int, int] | None:
    """A small group and one that it touches and that it may belong to; None if all such pairs were asked about."""
    if beliefs.doubt < ERRING:
        return None
    k = beliefs.evidence.n_groups
    shares, evidence = beliefs.shares[:, :k], beliefs.evidence
    volume = spreading.degrees @ shares
    touch = shares.T @ (spreading.weights @ shares) / (volume[:, None] * volume + 1e-9)
    alive = sorted(placing.members)
    asked = _comparisons(evidence, placing)
    for g in sorted(alive, key=lambda g: volume[g]):
        if volume[g] > spreading.degrees.sum() / len(alive) / 2:
            return None
        for h in sorted(set(alive) - {g}, key=lambda h: -touch[g, h])[:4]:
            yes, no = asked.get(frozenset((g, h)), (0, 0))
            if yes + no == 0 or (yes - no < 2 and no <= yes and yes + no < 5):
                return g, h
    return None


def _comparisons(evidence: Evidence, placing: Placing) -> dict[frozenset[int], tuple[int, int]]:
    """How often two groups were compared, and said to be one and two."""
    tally: dict[frozenset[int], tuple[int, int]] = {}
    for answer in evidence.answers:
        if answer.kind == "pair" and answer.reason == COMPARE and answer.choice != "unsure":
            key = frozenset(int(placing.group[placing.position[r]]) for r in (answer.first, answer.second))
            yes, no = tally.get(key, (0, 0))
            same = answer.choice == "same"
            tally[key] = (yes + same, no + (not same))
    return tally


def merged_by(answer: Answer, placing: Placing) -> tuple[int, int] | None:
    """The two groups that an answer shows to be one: of their comparisons two more say so than not."""
    if answer.reason != COMPARE:
        return None
    for key, (yes, no) in _comparisons(placing.beliefs.evidence, placing).items():
        if len(key) == 2 and yes - no >= 2:
            small, large = sorted(key, key=lambda g: len(placing.members.get(g, ())))
            return small, large
    return None
