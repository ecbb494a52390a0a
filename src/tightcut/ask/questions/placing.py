"""Progress of placing each answered point: which groups it must still be compared with, and what is in doubt."""

from __future__ import annotations

import numpy as np

from tightcut.ask.beliefs.evidence import COMPARE, SURE, AnswerEvidence
from tightcut.ask.beliefs.mixture import Beliefs

EXPLORE = "in the middle of what is not known yet"
# Chosen on digits, USPS, COIL-20 and letter.
WORTH = 0.15  # a second answer must protect this share of what an answer about a new point decides
RECENT = 10  # new points from which that is learned
TRIES = 4  # times that one point is compared with one group
DENIALS = 2  # groups, the likeliest, that must deny a point before it may found one
LATE = 0.1  # a point founds a group when the chance that a group not asked yet would take it is below this


class PlacementProgress:
    """How far the placing of each answered point has come, read from its answers alone."""

    def __init__(self, beliefs: Beliefs) -> None:
        self.beliefs = beliefs
        evidence = beliefs.evidence
        k = evidence.n_groups
        self.group, self.sureness = beliefs.group, beliefs.answered.max(axis=1)
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
        self.compared = {frozenset(a.rows) for a in evidence.answers if a.kind == "pair"}
        self.founders = set(evidence.founders.values())
        self.denials = denials_before_placed(evidence)
        self.merged = k - len(set(evidence.home.tolist()))
        self.explorers = {a.first for a in evidence.answers if a.reason == EXPLORE}

    def groups_left(self, row: int) -> list[int] | None:
        """The groups to compare a row with, likeliest first: none of them if it may found one, None if it is placed."""
        i = self.beliefs.evidence.position.get(row)
        shares = self.beliefs.filled(np.array([row]))[0] if i is None else self.beliefs.answered[i, :-1]
        alive = [g for g in np.argsort(-shares, kind="stable").tolist() if self.partners(g, row)]
        if i is None:
            return alive
        if row in self.unsure or i == 0:  # the anchor is in group 0 by definition
            return None
        own, asked = self.beliefs.answered[i], self.yes[i] + self.no[i]
        placed = self.yes[i].any() or i in self.founders
        if asked.sum() > 2 * len(asked) + TRIES or (placed and own[:-1].max() > SURE):
            return None
        # What an answer says of a group is asked again, with another member, only while it is in doubt.
        new = placed or (row in self.explorers and self._denied_enough(int((self.no[i] > 0).sum())))
        again = [(asked[g] > 0 or placed) and own[g] > 1 - SURE and asked[g] < TRIES for g in alive]
        left = [g for g, doubted in zip(alive, again, strict=True) if doubted or (asked[g] == 0 and not new)]
        return None if placed and not left else left

    def _denied_enough(self, denials: int) -> bool:
        """Whether enough groups have denied a point for it to belong, probably, to none of the others either.

        Groups are asked in the order of their likelihood. How many of the points that found their group had been denied
        as often before, and how many groups were founded that turned out to be one of the others, tells how far that
        order can be trusted.
        """
        late = sum(number >= denials for number in self.denials) + self.merged + 0.5
        return denials >= DENIALS and late < LATE * (late + len(self.founders) + 0.5)

    def unplaced(self) -> list[int]:
        """Rows that were asked about and need more answers, the one asked about last first."""
        rows = dict.fromkeys(a.first for a in reversed(self.beliefs.evidence.answers))
        return [row for row in rows if self.groups_left(row) is not None]

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
