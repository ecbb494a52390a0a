"""How much is settled, and what more answers would bring."""

from __future__ import annotations

import numpy as np

from tightcut.ask.beliefs import Beliefs
from tightcut.ask.evidence import SURE
from tightcut.ask.records import Progress


def measure(beliefs: Beliefs, degrees: np.ndarray) -> Progress:
    """Settled volume, and the accuracy that the beliefs expect."""
    top = beliefs.shares[:, :-1].max(axis=1)
    settled = float(degrees[top > SURE].sum() / degrees.sum())
    expected = float(np.mean(np.clip(top, 0, 1)))
    asked = max(1, len(beliefs.evidence.answers))
    spread = 1.6 * np.sqrt(expected * (1 - expected) / asked)
    gain = (1 - expected) * min(1.0, 50 / (50 + asked))
    return Progress(settled, expected, max(0.0, expected - spread), min(1.0, expected + spread), gain)
