"""Infer which answers are true, from the other answers and from the neighbours in the graph.

An answer is true with probability 1 - doubt. The belief b_i(g) that answered point i belongs to group g is the product of
what its answers say and of what its neighbours say (the `foreseen` argument of `weigh`):

    b_i(g)  ~  foreseen_i(g) * prod over pairs (i, j) of  P(answer | g, b_j)  *  prod over picks of  P(pick | g)

which is iterated from the answers in the order in which they came (mean field). The last column of every belief stands for
"a group that nobody has named yet". m answers about groups 0, ..., k - 1 cost O(m k) for each sweep.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tightcut.ask.beliefs.evidence import SURE, AnswerEvidence, truth_of

# Chosen on digits, USPS, COIL-20 and letter.
MOST_DOUBT = 0.06  # where the columns and the graph know little, true answers look wrong
DOUBT, STRENGTH = 0.02, 25  # prior share of wrong answers, and the number of answers that it is worth
LEAST_DOUBT = 0.02  # neighbours are never certain
EXPECTED_ERRORS = 3.0  # of the neighbours: prior number, both of those made and of those expected
IMPOSSIBLE = -30.0  # logarithm of a probability
SWEEPS = 10


def weigh(
    evidence: AnswerEvidence,
    foreseen: np.ndarray | None = None,
    start: np.ndarray | None = None,
    doubt: float = DOUBT,
    boldness: float = 1.0,
) -> np.ndarray:
    """Belief of every answered point in every group and, last, in a group that is not known yet.

    Parameters
    ----------
    evidence : AnswerEvidence
    foreseen : ndarray of shape (m, n_groups + 1), optional
        What the neighbours of each point say; nothing if not given.
    start : ndarray of shape (m, n_groups + 1), optional
        Beliefs to begin with; those after reading the answers once in their order, if not given.
    doubt : float
        Probability that an answer is wrong.
    boldness : float
        How much more often the neighbours mislead than they expect themselves.
    """
    k, m = evidence.n_groups, len(evidence.points)
    sure = np.log((1 - doubt) / doubt)
    said = np.ones((m, k + 1)) / (k + 1) if foreseen is None else without_unknown(foreseen)
    for group, i in evidence.founders.items():
        said[i, evidence.home[group]] += said[i, -1] * k
        said[i, -1] = 0.0
    base = np.log(temper(said, boldness))
    base[:, :-1][:, evidence.home != np.arange(k)] = IMPOSSIBLE  # merged into another
    for i in evidence.named:
        base[i, evidence.home[evidence.named[i]]] += sure
    for i, group, chosen in evidence.picks:
        # A wrong pick is one of several, though not of all alike: some groups are more easily mistaken.
        base[i, evidence.home[group]] += sure + np.log(k) / 2 if chosen else -sure
    for i, group in _not_in_later_groups(evidence):
        base[i, group] -= sure
    belief = _in_order(evidence, base, doubt) if start is None else start
    to, by, same = np.r_[evidence.pairs, evidence.pairs[:, [1, 0, 2]]].T
    received = sp.csr_array((np.ones(len(to)), (to, np.arange(len(to)))), shape=(m, len(to)))
    for _ in range(SWEEPS):
        log = base + received @ _message(belief[by], same[:, None], doubt)
        # All at once and undamped, two points that deny each other would change sides forever.
        belief = normalize((log + np.log(belief + 1e-12)) / 2)
    return belief


def _not_in_later_groups(evidence: AnswerEvidence) -> list[tuple[int, int]]:
    """Founders of groups, each with a group that was founded later by a point that is in none of the earlier ones.

    Who says that a thing belongs to none of the groups shown also says that their founders are not in its group.
    """
    founded = {i: int(evidence.home[group]) for group, i in evidence.founders.items()}
    denials = [(i, int(evidence.home[g])) for i, g, chosen in evidence.picks.tolist() if not chosen and i in founded]
    return [(evidence.founders[g], founded[i]) for i, g in denials if g in evidence.founders and g != founded[i]]


def _in_order(evidence: AnswerEvidence, base: np.ndarray, doubt: float) -> np.ndarray:
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
    return np.log(np.where(same == 1, agree, 1 - agree))


def normalize(log: np.ndarray) -> np.ndarray:
    """Probabilities, one row each, from their logarithms."""
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


def without_unknown(foreseen: np.ndarray) -> np.ndarray:
    """What was foreseen, the share of "not known yet" spread evenly: it speaks for no group, and against none."""
    foreseen = np.clip(foreseen, 0, 1)
    return np.c_[foreseen[:, :-1], np.zeros(len(foreseen))] + foreseen[:, -1:] / foreseen.shape[1]


def temper(said: np.ndarray, boldness: float) -> np.ndarray:
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
    """How much more often the likeliest group that was foreseen is wrong, by the answers alone, than its probability says."""
    said = without_unknown(foreseen)
    top = said.argmax(axis=1)
    rows = np.arange(len(said))
    wrong, expected = (1 - target[rows, top]).sum(), (1 - said[rows, top]).sum()
    return float(np.clip((EXPECTED_ERRORS + wrong) / (EXPECTED_ERRORS + expected), 1, 5))


def share_of_errors(evidence: AnswerEvidence, belief: np.ndarray) -> float:
    """How many answers are wrong, as far as the beliefs can tell.

    A pick that is believed counts as wrong with the probability to begin with: it is one of many groups, and how surely it is
    believed says more about the forecasts than about the person.
    """
    wrong = 1 - truth_of(evidence, belief)
    believed_pick = np.array([answer.kind != "pair" for answer in evidence.answers], bool) & (wrong < 0.5)
    wrong[believed_pick] = DOUBT
    return min(MOST_DOUBT, float((DOUBT * STRENGTH + wrong.sum()) / (STRENGTH + len(wrong))))


def plausibility(evidence: AnswerEvidence, belief: np.ndarray, foreseen: np.ndarray) -> float:
    """How well beliefs explain the answers and agree with what was foreseen (a log-likelihood)."""
    agreed = (belief * temper(without_unknown(foreseen), 1.0)).sum(axis=1)
    return float(np.log(np.maximum(truth_of(evidence, belief), DOUBT)).sum() + np.log(agreed).sum())


def tally(evidence: AnswerEvidence, belief: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many answers say of every two groups that they are one, and that they are two; symmetric.

    The third table counts only those of the latter that were asked in order to learn it.
    """
    k, group, sure = evidence.n_groups, belief.argmax(axis=1), belief.max(axis=1) > SURE
    one, two, voted_two = (np.zeros((k, k), int) for _ in range(3))
    same = evidence.votes[:, 2] == 1
    said_two = evidence.pairs[evidence.pairs[:, 2] == 0]
    for pairs, table in ((evidence.votes[same], one), (said_two, two), (evidence.votes[~same], voted_two)):
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
    return one, two, voted_two


def merge(evidence: AnswerEvidence, belief: np.ndarray) -> tuple[AnswerEvidence, np.ndarray]:
    """The same evidence and beliefs, with groups merged that the votes show to be one: two at least, since one may be wrong."""
    one, two, _ = tally(evidence, belief)
    size, home = belief[:, :-1].sum(axis=0), evidence.home.copy()
    for g, h in np.argwhere((one >= 2) & (one > two)).tolist():
        if (size[g], -g) < (size[h], -h):
            home[home == g] = home[h]
    moved = np.zeros_like(belief)
    np.add.at(moved.T, np.append(home, len(home)), belief.T)
    return replace(evidence, home=home), moved
