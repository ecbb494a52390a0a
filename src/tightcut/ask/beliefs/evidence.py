"""Answers as arrays, and which of them are probably true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tightcut.ask.records import Answer

SURE = 0.8  # probability from which an answer or a group is settled
COMPARE = "two groups may be one"  # the reason of a question whose answer is a vote on two groups


@dataclass(frozen=True, eq=False)
class AnswerEvidence:
    """Answers in arrays.

    Parameters
    ----------
    answers : tuple of Answer
        Those that count, in order.
    points : int ndarray of shape (m,)
        The rows with answers, in the order of their first one; the anchor of group 0 first.
    pairs : int ndarray of shape (p, 3)
        Positions of two points, and 1 for same, 0 for different.
    picks : int ndarray of shape (q, 3)
        Position of a point, a group, and 1 for a pick of it, 0 for a denial.
    founders : dict
        The position of the point that founded each group.
    named : dict
        The group that a person gave to a point: the anchor's, and those founded by a move.
    votes : int ndarray of shape (v, 3)
        Those of the pairs that were asked to learn whether two groups are one.
    home : int ndarray of shape (n_groups,)
        The group into which each group was merged; itself for most.
    outdated : frozenset of int
        The numbers of answers that told groups apart which the person has joined since.
    """

    answers: tuple[Answer, ...]
    points: np.ndarray
    pairs: np.ndarray
    picks: np.ndarray
    founders: dict[int, int]
    named: dict[int, int]
    votes: np.ndarray
    home: np.ndarray
    outdated: frozenset[int] = frozenset()

    @property
    def n_groups(self) -> int:
        return len(self.home)

    @cached_property
    def position(self) -> dict[int, int]:
        """The place of each row in `points`."""
        return {row: i for i, row in enumerate(self.points.tolist())}


def gather(answers: Sequence[Answer], anchor: int, joined: Mapping[int, int] | None = None) -> AnswerEvidence:
    """Sort answers into arrays. `joined` says of each group that a person has joined to another to which."""
    position, founders, named = {anchor: 0}, {0: 0}, {0: 0}
    pairs, picks, votes = [], [], []
    highest = 0
    for answer in answers:
        i, *other = [position.setdefault(row, len(position)) for row in answer.rows]
        if answer.kind == "move":
            # Moving the founder of a group says that it belongs to another one.
            founders = {group: first for group, first in founders.items() if first != i}
            named.pop(i, None)
        if answer.founds is not None:
            founders[answer.founds] = i
            if answer.kind == "move":
                named[i] = answer.founds
            highest = max(highest, answer.founds)
        if answer.kind == "pair":
            if answer.choice != "unsure":
                pairs.append((i, *other, int(answer.choice == "same")))
                votes += [pairs[-1]] if answer.reason == COMPARE else []
        elif isinstance(answer.choice, int):
            picks.append((i, answer.choice, 1))
            highest = max(highest, answer.choice)
        elif answer.choice == "none":
            picks += [(i, group, 0) for group in answer.shown]
            highest = max(highest, *answer.shown, 0)
    evidence = AnswerEvidence(
        tuple(answers),
        np.fromiter(position, np.int64, len(position)),
        np.array(pairs, np.int64).reshape(-1, 3),
        np.array(picks, np.int64).reshape(-1, 3),
        founders,
        named,
        np.array(votes, np.int64).reshape(-1, 3),
        np.arange(highest + 1),
    )
    return _with_joined(evidence, joined) if joined else evidence


def _with_joined(evidence: AnswerEvidence, joined: Mapping[int, int]) -> AnswerEvidence:
    """The evidence with some groups as one: their founders are together, and what told them apart says nothing."""
    m, position = len(evidence.points), evidence.position
    home = np.arange(max(evidence.n_groups, *(group + 1 for pair in joined.items() for group in pair)))
    home[list(joined)] = list(joined.values())
    # Points and groups that answers have put together, each with one number; the groups after the points.
    together = [(i, j) for i, j, same in evidence.pairs.tolist() if same]
    together += [(i, m + group) for i, group, chosen in evidence.picks.tolist() if chosen]
    together += [(i, m + group) for group, i in evidence.founders.items()]
    ends = np.array(together).T
    links = sp.coo_array((np.ones(len(together)), ends), shape=(m + len(home),) * 2)
    component = connected_components(links, directed=False)[1]
    whole = np.full(component.max() + 1, -1)  # the joined group that a component is a part of
    for group in {*joined, *joined.values()}:
        whole[component[m + group]] = home[group]
    own = whole[component]

    def apart(i: int, j: int) -> bool:
        """Whether two points, or a point and a group, were parts of one joined group and not yet together."""
        return own[i] == own[j] != -1 and component[i] != component[j]

    kept = [(i, j, same) for i, j, same in evidence.pairs.tolist() if same or not apart(i, j)]
    picks = [(i, g, chosen) for i, g, chosen in evidence.picks.tolist() if chosen or not apart(i, m + g)]
    picks += [(evidence.founders[part], group, 1) for part, group in joined.items() if part in evidence.founders]
    outdated = {
        answer.number
        for answer in evidence.answers
        if answer.choice == "different" and apart(*(position[row] for row in answer.rows))
    }
    return replace(
        evidence,
        pairs=np.array(kept, np.int64).reshape(-1, 3),
        picks=np.array(picks, np.int64).reshape(-1, 3),
        home=home,
        outdated=frozenset(outdated),
    )


def truth_of(evidence: AnswerEvidence, belief: np.ndarray) -> np.ndarray:
    """Probability that each answer is true; 1 for those that say nothing."""
    position, truth = evidence.position, np.ones(len(evidence.answers))
    for number, answer in enumerate(evidence.answers):
        if answer.choice == "unsure" or answer.number in evidence.outdated:
            continue
        here, *other = belief[[position[row] for row in answer.rows], :-1]
        if answer.kind == "pair":
            together = here @ other[0]
            truth[number] = together if answer.choice == "same" else 1 - together
        elif answer.choice == "none":
            denied = {int(evidence.home[g]) for g in answer.shown}
            if answer.founds is not None:
                denied.discard(int(evidence.home[answer.founds]))
            truth[number] = 1 - sum(here[g] for g in denied)
        else:
            truth[number] = here[evidence.home[int(answer.choice)]]
    return truth


def judge(evidence: AnswerEvidence, belief: np.ndarray) -> tuple[Answer, ...]:
    """The answers, each marked as believed if it is probably true and the likeliest groups follow it."""
    needed = np.array([SURE if answer.kind == "pair" else 0.5 for answer in evidence.answers])
    probable, group = truth_of(evidence, belief) > needed, belief.argmax(axis=1)
    return tuple(
        a if sure and _followed(a, evidence, group) else replace(a, believed=False)
        for a, sure in zip(evidence.answers, probable, strict=True)
    )


def _followed(answer: Answer, evidence: AnswerEvidence, group: np.ndarray) -> bool:
    home = evidence.home
    if answer.choice == "unsure":
        return True
    here, *other = group[[evidence.position[row] for row in answer.rows]]
    if answer.kind == "pair":
        together = here == other[0] < len(home)
        return bool(together == (answer.choice == "same"))
    if answer.choice == "none":
        own = None if answer.founds is None else home[answer.founds]
        return all(here != home[g] for g in answer.shown if home[g] != own)
    return bool(here == home[int(answer.choice)])
