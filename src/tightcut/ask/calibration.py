"""How sure a forecast may be: as sure as earlier forecasts of the same kind deserved to be.

Harmonic beliefs are cautious, since a group with a share of one half is mostly the right one; a forest of few trees is bold. A
power of the shares mends both: above 1 it makes them surer, below 1 less sure.
"""

from __future__ import annotations

import numpy as np

POWERS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
FLOOR = 0.02  # smallest probability of being wrong
RELUCTANCE = 0.3  # log-likelihood that a power must gain for each factor e between it and 1


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


def likeliest_power(foreseen: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None) -> float:
    """The power of the forecasts under which what came true was likeliest.

    Parameters
    ----------
    foreseen : ndarray of shape (m, k + 1)
        What was foreseen of each answered point.
    target : ndarray of shape (m, k + 1)
        What came true. Points of a group with no other member do not count: nobody could have foreseen it.
    weight : ndarray of shape (m,), optional
        How much each point counts.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.tile([1.0, 0.0], (40, 1))
    >>> likeliest_power(np.tile([0.6, 0.4], (40, 1)), truth)
    6.0
    """
    alone = target[:, :-1].sum(axis=0) < 1.5
    counts = ~np.append(alone, False)[target.argmax(axis=1)] * (1.0 if weight is None else weight)
    scores = [
        counts @ np.log((sharpened(foreseen, power) * target).sum(axis=1)) - RELUCTANCE * abs(np.log(power))
        for power in POWERS
    ]
    return POWERS[int(np.argmax(scores))]
