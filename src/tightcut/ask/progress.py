"""How much is settled, and the expected gain of more answers."""

from __future__ import annotations

import numpy as np

from tightcut.ask.beliefs import Beliefs
from tightcut.ask.evidence import SURE
from tightcut.ask.records import Progress
from tightcut.ask.weighing import heard, weigh

POWERS = (1.0, 2.0, 3.0, 4.0, 6.0)
FLOOR = 0.02  # smallest probability of being wrong
ROWS_AT_ONCE = 8192


def measure(beliefs: Beliefs, degrees: np.ndarray, unknown: np.ndarray, hit_rate: float) -> Progress:
    """Settled volume, and the accuracy that the beliefs lead to expect.

    Harmonic beliefs are cautious: a group with a share of one half is mostly the right one. They are raised to the power
    under which the answers that were foreseen without a point's own answers were likeliest. With few answers, or where
    many groups have not been met yet, the estimate can be far too high; the interval reflects only how few answered
    points there are.

    Parameters
    ----------
    beliefs : Beliefs
    degrees : ndarray of shape (n,)
    unknown : bool ndarray of shape (n,)
        Where the labels are those of the plain cut.
    hit_rate : float
        How often the plain cut was right about answered points.
    """
    evidence, shares = beliefs.evidence, beliefs.shares
    settled = float(degrees[shares[:, :-1].max(axis=1) > SURE].sum() / degrees.sum())
    power = _likeliest_power(heard(beliefs.foreseen), weigh(evidence))
    blocks = range(0, len(shares), ROWS_AT_ONCE)
    top = np.concatenate([sharpened(heard(shares[i : i + ROWS_AT_ONCE]), power).max(axis=1) for i in blocks])
    top[unknown] = hit_rate
    top[evidence.points] = beliefs.answered.max(axis=1)
    expected = float(top.mean())
    spread = 1.64 * float(np.sqrt(expected * (1 - expected) / (1 + len(evidence.points))))
    low, high = max(0.0, expected - spread), min(1.0, expected + spread)
    return Progress(settled, expected, low, high, _gain(expected, len(evidence.points), len(evidence.answers)))


def sharpened(shares: np.ndarray, power: float) -> np.ndarray:
    """Probabilities in proportion to a power of the shares, none above 1 - FLOOR.

    Examples
    --------
    >>> import numpy as np
    >>> sharpened(np.array([[0.6, 0.3, 0.1]]), 2.0).round(2).tolist()
    [[0.77, 0.2, 0.03]]
    """
    raised = np.maximum(shares, 1e-6) ** power
    raised /= raised.sum(axis=1, keepdims=True)
    return (1 - FLOOR) * raised + FLOOR / shares.shape[1]


def _likeliest_power(foreseen: np.ndarray, target: np.ndarray) -> float:
    scores = [np.log((sharpened(foreseen, power) * target).sum(axis=1)).sum() for power in POWERS]
    return POWERS[int(np.argmax(scores))]


def _gain(expected: float, n_points: int, n_answers: int) -> float:
    """What 50 more answers would add, if errors fall as the inverse of the number of answered points."""
    more = 50 * (n_points + 1) / (n_answers + 1)
    return (1 - expected) * more / (n_points + more + 1)
