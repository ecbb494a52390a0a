"""Answers as evidence: what they say together about the groups of the answered points.

An answer is true with probability 1 - doubt. The belief b_i(g) that answered point i belongs to group g is the product of
what its answers say and of what its neighbours say (the `unary` argument of `weigh`):

    b_i(g)  ~  unary_i(g) * prod over pairs (i, j) of  P(answer | g, b_j)  *  prod over picks of  P(pick | g)

which is iterated from the answers in the order in which they came (mean field). The last column of every belief stands for
"a group that nobody has named yet". m answers about groups 0, ..., k - 1 cost O(m k) for each sweep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tightcut.ask.records import Answer
from tightcut.constraints import Constraints

SURE = 0.8  # an answer or a group believed that much is settled
MOST_DOUBT = 0.06  # where the columns and the graph know little, true answers look wrong
DOUBT, STRENGTH = 0.02, 25  # share of wrong answers to begin with, as if seen in so many answers
LEAST_DOUBT = 0.02  # neighbours are never certain
PATIENCE = 3.0  # errors of the neighbours, as expected, to begin with
SWEEPS = 10
COMPARE = "two groups may be one"  # the reason of a question whose answer is a vote on two groups


@dataclass(frozen=True, eq=False)
class Evidence:
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
    """

    answers: tuple[Answer, ...]
    points: np.ndarray
    pairs: np.ndarray
    picks: np.ndarray
    founders: dict[int, int]
    named: dict[int, int]
    votes: np.ndarray
    home: np.ndarray

    @property
    def n_groups(self) -> int:
        return len(self.home)


def gather(answers: Sequence[Answer], anchor: int) -> Evidence:
    """Sort answers into arrays."""
    position, founders, named = {anchor: 0}, {0: 0}, {0: 0}
    pairs, picks, votes = [], [], []
    highest = 0
    for answer in answers:
        i = position.setdefault(answer.first, len(position))
        if answer.founds is not None:
            founders[answer.founds] = i
            if answer.kind == "move":
                named[i] = answer.founds
            highest = max(highest, answer.founds)
        if answer.kind == "pair":
            j = position.setdefault(answer.second, len(position))  # type: ignore[arg-type]
            if answer.choice != "unsure":
                pairs.append((i, j, int(answer.choice == "same")))
                votes += [pairs[-1]] if answer.reason == COMPARE else []
        elif isinstance(answer.choice, int):
            picks.append((i, answer.choice, 1))
            highest = max(highest, answer.choice)
        elif answer.choice == "none":
            picks += [(i, group, 0) for group in answer.shown]
            highest = max(highest, *answer.shown, 0)
    return Evidence(
        tuple(answers),
        np.fromiter(position, np.int64, len(position)),
        np.array(pairs, np.int64).reshape(-1, 3),
        np.array(picks, np.int64).reshape(-1, 3),
        founders,
        named,
        np.array(votes, np.int64).reshape(-1, 3),
        np.arange(highest + 1),
    )


def weigh(
    evidence: Evidence,
    unary: np.ndarray | None = None,
    start: np.ndarray | None = None,
    doubt: float = DOUBT,
    boldness: float = 1.0,
    *,
    in_order: bool = True,
) -> np.ndarray:
    """Belief of every answered point in every group and, last, in a group that is not known yet.

    Parameters
    ----------
    evidence : Evidence
    unary : ndarray of shape (m, n_groups + 1), optional
        What the neighbours of each point say; nothing if not given.
    start : ndarray of shape (m, n_groups + 1), optional
        Beliefs to begin with.
    doubt : float
        Probability that an answer is wrong.
    boldness : float
        How much more often the neighbours mislead than they expect themselves.
    in_order : bool
        Without `start`: read the answers once in their order, or begin with knowing nothing.
    """
    k, m = evidence.n_groups, len(evidence.points)
    sure = np.log((1 - doubt) / doubt)
    said = np.ones((m, k + 1)) / (k + 1) if unary is None else heard(unary)
    for group, i in evidence.founders.items():
        said[i, evidence.home[group]] += said[i, -1] * k
        said[i, -1] = 0.0
    base = np.log(tempered(said, boldness))
    base[:, :-1][:, evidence.home != np.arange(k)] = -30.0  # merged into another
    for i in evidence.named:
        base[i, evidence.home[evidence.named[i]]] += sure
    for i, group, chosen in evidence.picks:
        # A wrong pick is one of several, though not of all alike: some groups are more easily mistaken.
        base[i, evidence.home[group]] += sure + np.log(k) / 2 if chosen else -sure
    if start is None:
        start = _in_order(evidence, base, doubt) if in_order else normalize(base)
    belief = start
    one, other, same = evidence.pairs.T
    for _ in range(SWEEPS):
        log = base.copy()
        for to, by in ((one, other), (other, one)):
            np.add.at(log, to, _message(belief[by], same[:, None], doubt))
        # All at once and undamped, two points that deny each other would change sides forever.
        belief = normalize((log + np.log(belief + 1e-12)) / 2)
    return belief


def _in_order(evidence: Evidence, base: np.ndarray, doubt: float) -> np.ndarray:
    """Beliefs after reading the answers once, in their order: each point learns from the one it was compared with.

    What a chain of answers says would need as many sweeps as the chain is long.
    """
    log, belief = base.copy(), normalize(base)
    for i, j, same in evidence.pairs.tolist():
        log[i] += _message(belief[j : j + 1], np.array([[same]]), doubt)[0]
        belief[i] = normalize(log[i : i + 1])[0]
    return belief


def _message(belief: np.ndarray, same: np.ndarray, doubt: float) -> np.ndarray:
    """Logarithm of the probability of an answer, for each group of one point, given the belief about the other."""
    agree = doubt + (1 - 2 * doubt) * belief
    agree[:, -1] = np.where(same[:, 0] == 1, doubt, 0.0)
    return np.where(same == 1, np.log(np.maximum(agree, 1e-12)), np.log(np.maximum(1 - agree, 1e-12)))


def normalize(log: np.ndarray) -> np.ndarray:
    """Probabilities, one row each, from their logarithms."""
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


def truth_of(evidence: Evidence, belief: np.ndarray) -> np.ndarray:
    """Probability that each answer is true; 1 for those that say nothing."""
    position = {row: i for i, row in enumerate(evidence.points.tolist())}
    truth = np.ones(len(evidence.answers))
    for number, answer in enumerate(evidence.answers):
        here = belief[position[answer.first]]
        if answer.choice == "unsure":
            continue
        if answer.kind == "pair":
            assert answer.second is not None  # noqa: S101
            together = here[:-1] @ belief[position[answer.second], :-1]
            truth[number] = together if answer.choice == "same" else 1 - together
        elif answer.choice == "none":
            denied = {int(evidence.home[g]) for g in answer.shown}
            if answer.founds is not None:
                denied.discard(int(evidence.home[answer.founds]))
            truth[number] = 1 - sum(here[g] for g in denied)
        else:
            truth[number] = here[evidence.home[int(answer.choice)]]
    return truth


def judge(evidence: Evidence, belief: np.ndarray) -> tuple[Answer, ...]:
    """The answers, each marked as believed if it is probably true and the likeliest groups follow it."""
    needed = np.array([SURE if answer.kind == "pair" else 0.5 for answer in evidence.answers])
    probable, group = truth_of(evidence, belief) > needed, belief.argmax(axis=1)
    position = {row: i for i, row in enumerate(evidence.points.tolist())}
    return tuple(
        replace(a, believed=bool(sure and _followed(a, position, group, evidence.home)))
        for a, sure in zip(evidence.answers, probable, strict=True)
    )


def _followed(answer: Answer, position: dict[int, int], group: np.ndarray, home: np.ndarray) -> bool:
    here = group[position[answer.first]]
    if answer.choice == "unsure":
        return True
    if answer.kind == "pair":
        assert answer.second is not None  # noqa: S101
        together = here == group[position[answer.second]] < len(home)
        return bool(together == (answer.choice == "same"))
    if answer.choice == "none":
        own = None if answer.founds is None else home[answer.founds]
        return all(here != home[g] for g in answer.shown if home[g] != own)
    return bool(here == home[int(answer.choice)])


def believed_constraints(evidence: Evidence, belief: np.ndarray, n_points: int) -> Constraints:
    """The believed answers as must-links and cannot-links; consistent, since the likeliest groups satisfy them all."""
    must: list[tuple[int, int]] = []
    cannot: list[tuple[int, int]] = []
    group = belief.argmax(axis=1)
    position = {row: i for i, row in enumerate(evidence.points.tolist())}
    first: dict[int, int] = {}
    for i, g in enumerate(group.tolist()):
        first.setdefault(g, i)
    for answer in judge(evidence, belief):
        i = position[answer.first]
        if not answer.believed or answer.choice == "unsure":
            continue
        if answer.kind == "pair" and answer.second is not None:
            (must if answer.choice == "same" else cannot).append((answer.first, answer.second))
        elif answer.choice == "none":
            shown = {int(evidence.home[g]) for g in answer.shown} - {int(group[i])}
            cannot += [(answer.first, evidence.points[first[g]]) for g in shown if g in first]
        elif first[group[i]] != i:
            must.append((answer.first, evidence.points[first[group[i]]]))
    return Constraints.from_pairs(n_points, must or None, cannot or None)


def share_of_errors(evidence: Evidence, belief: np.ndarray) -> float:
    """How many answers are wrong, as far as the beliefs can tell."""
    wrong = 1 - truth_of(evidence, belief)
    return min(MOST_DOUBT, float((DOUBT * STRENGTH + wrong.sum()) / (STRENGTH + len(wrong))))


def plausibility(evidence: Evidence, belief: np.ndarray, foreseen: np.ndarray) -> float:
    """How well beliefs explain the answers and agree with what was foreseen (a log-likelihood)."""
    agreed = (belief * tempered(heard(foreseen), 1.0)).sum(axis=1)
    return float(np.log(np.maximum(truth_of(evidence, belief), DOUBT)).sum() + np.log(agreed).sum())


def heard(foreseen: np.ndarray) -> np.ndarray:
    """What was foreseen; where that is not known, it speaks for no group, and against none."""
    foreseen = np.clip(foreseen, 0, 1)
    return np.c_[foreseen[:, :-1], np.zeros(len(foreseen))] + foreseen[:, -1:] / foreseen.shape[1]


def tempered(said: np.ndarray, boldness: float) -> np.ndarray:
    """Probabilities whose doubts about the likeliest group are larger by a factor, and half of them spread evenly."""
    said = said / said.sum(axis=1, keepdims=True)
    rows, top = np.arange(len(said)), said.argmax(axis=1)
    doubt = 1 - said[rows, top]
    wanted = np.minimum(boldness * doubt + LEAST_DOUBT, np.maximum(doubt, 0.9))
    rest = said * (0.5 * wanted / np.maximum(doubt, 1e-9))[:, None]
    rest += ((0.5 * wanted + np.where(doubt > 1e-9, 0, 0.5 * wanted)) / (said.shape[1] - 1))[:, None]
    rest[rows, top] = 1 - wanted
    return rest


def boldness_of(target: np.ndarray, foreseen: np.ndarray) -> float:
    """How much more often the likeliest group that was foreseen is wrong than its probability says.

    Parameters
    ----------
    target : ndarray of shape (m, k + 1)
        What the answers alone say.
    foreseen : ndarray of shape (m, k + 1)
    """
    said = heard(foreseen)
    top = said.argmax(axis=1)
    rows = np.arange(len(said))
    wrong, expected = (1 - target[rows, top]).sum(), (1 - said[rows, top]).sum()
    return float(np.clip((PATIENCE + wrong) / (PATIENCE + expected), 1, 5))


def tally(evidence: Evidence, belief: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many answers say of every two groups that they are one, and that they are two; symmetric."""
    k, group, sure = evidence.n_groups, belief.argmax(axis=1), belief.max(axis=1) > SURE
    one, two = np.zeros((k, k), int), np.zeros((k, k), int)
    said_one = evidence.votes[evidence.votes[:, 2] == 1]
    said_two = evidence.pairs[evidence.pairs[:, 2] == 0]
    for pairs, table in ((said_one, one), (said_two, two)):
        for i, j, _ in pairs.tolist():
            g, h = int(group[i]), int(group[j])
            if g != h and k not in (g, h):
                table[g, h] += 1
                table[h, g] += 1
    for i, h, chosen in evidence.picks.tolist():
        g = int(group[i])
        if not chosen and k != g != h and sure[i]:
            two[g, h] += 1
            two[h, g] += 1
    return one, two


def merge(evidence: Evidence, belief: np.ndarray) -> tuple[Evidence, np.ndarray]:
    """The same evidence and beliefs, with groups merged that the votes show to be one."""
    one, two = tally(evidence, belief)
    size, home = belief[:, :-1].sum(axis=0), evidence.home.copy()
    for g, h in np.argwhere((one >= 2) & (one > two)).tolist():
        if (size[g], -g) < (size[h], -h):
            home[home == g] = home[h]
    moved = np.zeros_like(belief)
    np.add.at(moved.T, np.append(home, len(home)), belief.T)
    return replace(evidence, home=home), moved
