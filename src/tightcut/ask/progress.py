"""How much is settled, and what more answers would bring."""

from __future__ import annotations

import numpy as np

from tightcut.ask.beliefs import Beliefs
from tightcut.ask.evidence import SURE, boldness_of, heard, tempered, weigh
from tightcut.ask.records import Progress

ROWS_AT_ONCE = 8192


def measure(beliefs: Beliefs, degrees: np.ndarray) -> Progress:
    """Settled volume, and the accuracy that the beliefs lead to expect.

    The beliefs are tempered by how often they were wrong about answered points. Those were mostly asked where the beliefs
    were least sure, so that the estimate errs on the low side; the interval reflects how few the answered points are.
    """
    evidence, shares = beliefs.evidence, beliefs.shares
    settled = float(degrees[shares[:, :-1].max(axis=1) > SURE].sum() / degrees.sum())
    boldness = boldness_of(weigh(evidence), beliefs.foreseen)
    top = np.concatenate(
        [
            tempered(heard(shares[start : start + ROWS_AT_ONCE]), boldness).max(axis=1)
            for start in range(0, len(shares), ROWS_AT_ONCE)
        ]
    )
    top[evidence.points] = beliefs.answered.max(axis=1)
    expected = float(top.mean())
    spread = 1.64 * float(np.sqrt(expected * (1 - expected) / (1 + len(evidence.points))))
    low, high = max(0.0, expected - spread), min(1.0, expected + spread)
    return Progress(settled, expected, low, high, _gain(top, len(evidence.points), len(evidence.answers)))


def _gain(top: np.ndarray, n_points: int, n_answers: int) -> float:
    """What 50 more answers settle: as many points as 50 answers have settled so far, the least sure ones, and their like.

    Errors have fallen about as the inverse of the number of answered points on the sets this was tried on.
    """
    more = 50 * (n_points + 1) / (n_answers + 1)
    return float((1 - top.mean()) * more / (n_points + more + 1))
