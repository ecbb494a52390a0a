"""How much is settled, and the expected gain of more answers."""

from __future__ import annotations

import numpy as np

from tightcut.ask.beliefs.evidence import SURE
from tightcut.ask.beliefs.feature_models import ROWS_AT_ONCE
from tightcut.ask.beliefs.inference import weigh, without_unknown
from tightcut.ask.beliefs.labels import columns_lead, hit_rate, unknown_points
from tightcut.ask.beliefs.mixture import Beliefs
from tightcut.ask.questions.placing import EXPLORE
from tightcut.ask.records import Progress

# Chosen on one or two draws of every set of benchmarks/asking.py but MNIST.
POWERS = (1.0, 2.0, 3.0, 4.0, 6.0)
FLOOR = 0.02  # smallest probability of being wrong
ATYPICAL = 0.1  # weight of an answered point that was chosen because it is doubtful
PURE, PARTS = 3.0, 4.0  # prior that a part of a plain cut is one group: 3 in 4
HITS, CASES = 1.5, 2.0  # prior that a forecast from columns is right: 1.5 in 2
# Chosen on sentences from documentation, eleven synthetic sets and samples of MNIST, covertype and the tables of UCI.
DEFERENCE = 10.0  # answered points from which beliefs count more than forecasts did
# Chosen on one draw of twelve other sets, where 1 would have held in 98 of 110 states.
WIDENING = 1.1  # of the interval


def measure(beliefs: Beliefs, confidence: np.ndarray) -> Progress:
    """The settled share of points, and the accuracy to expect, the mean of the `confidence` in each label."""
    settled = float(np.mean(beliefs.shares[:, :-1].max(axis=1) > SURE))
    expected, n_points = float(confidence.mean()), len(beliefs.evidence.points)
    # The points in the middle of regions say as much as half as many random ones.
    n_typical = central_points(beliefs).sum()
    deviation = 1.64 * float(np.sqrt(expected * (1 - expected) / (1 + n_typical / 2)))
    # How far what is believed and how often forecasts were right are apart: where they disagree, neither is certain.
    gap = (expected - forecasts_right(beliefs)) / (1 - deference(n_points))
    spread = WIDENING * float(np.hypot(deviation, gap))
    low, high = max(0.0, expected - spread), min(1.0, expected + spread)
    # If errors fall as the inverse of the number of answered points:
    more = 50 * (n_points + 1) / (len(beliefs.evidence.answers) + 1)
    return Progress(settled, expected, low, high, (1 - expected) * more / (n_points + more + 1))


def confidence_of(beliefs: Beliefs) -> np.ndarray:
    """Probability that the label of each point is right, as far as the session itself shows.

    It shows how often labels are right: every answered point had a forecast without its own answers. Points that were asked
    about in the middle of a region stand for the points around them. Points at the smallest margins stand for few others,
    and count little. While few were asked about, how often all these forecasts were right counts beside what is believed of
    each point.
    """
    points, coarse = beliefs.evidence.points, beliefs.coarse
    typical = central_points(beliefs)
    if columns_lead(beliefs):
        hits = forecast_hits(beliefs)[typical]
        right = np.full(len(coarse), min(1.0, (hits.sum() + HITS) / (len(hits) + CASES)))
    else:
        right = _right_by_graph(beliefs, typical)
    unknown, met = unknown_points(beliefs), np.isin(coarse, coarse[points])
    right[unknown] = hit_rate(beliefs, PURE, PARTS, typical)
    n_groups = len(np.setdiff1d(beliefs.group, [beliefs.evidence.n_groups]))
    right[unknown & ~met] *= (n_groups + 0.5) / (len(points) + 1)  # a part may belong to a known group
    weight = deference(len(points))
    right = (1 - weight) * right + weight * forecasts_right(beliefs)
    right[points] = beliefs.answered.max(axis=1)
    return right


def forecasts_right(beliefs: Beliefs) -> float:
    """How often the group that was foreseen of an answered point was right; to begin with, in 1 of 2 cases."""
    weight = np.where(central_points(beliefs), 1.0, ATYPICAL)
    weight[0] = 0  # nothing was foreseen of the first point
    return float((weight @ forecast_hits(beliefs) + 1) / (weight.sum() + 2))


def forecast_hits(beliefs: Beliefs) -> np.ndarray:
    """Probability that the group that was foreseen of each answered point is right."""
    return beliefs.answered[np.arange(len(beliefs.answered)), beliefs.foreseen[:, :-1].argmax(axis=1)]


def deference(n_points: int) -> float:
    """The weight of the forecasts that were right, beside what is believed, after answers about some points."""
    return DEFERENCE / (DEFERENCE + n_points)


def central_points(beliefs: Beliefs) -> np.ndarray:
    """Which of the answered points were chosen in the middle of an unknown region, not because they were doubtful."""
    explored = {answer.first for answer in beliefs.evidence.answers if answer.reason == EXPLORE}
    middle = np.array([row in explored for row in beliefs.evidence.points.tolist()])
    middle[0] = True  # the first point of the first group
    return middle


def _right_by_graph(beliefs: Beliefs, typical: np.ndarray) -> np.ndarray:
    """Probability that the label of each point is right, where the graph gives the labels.

    Harmonic beliefs are cautious: a group with a share of one half is mostly the right one. They are raised to the power
    under which the forecasts of the answered points were likeliest.
    """
    target, shares = weigh(beliefs.evidence), beliefs.shares
    alone = target[:, :-1].sum(axis=0) < 1.5  # nobody could have foreseen a group of one point
    weight = np.where(typical, 1.0, ATYPICAL) * ~np.append(alone, False)[target.argmax(axis=1)]
    foreseen = without_unknown(beliefs.foreseen)
    fit = [weight @ np.log((sharpen(foreseen, power) * target).sum(axis=1)) for power in POWERS]
    power = POWERS[int(np.argmax(fit))]
    blocks = range(0, len(shares), ROWS_AT_ONCE)
    return np.concatenate([sharpen(without_unknown(shares[i : i + ROWS_AT_ONCE]), power).max(axis=1) for i in blocks])


def sharpen(shares: np.ndarray, power: float) -> np.ndarray:
    """Probabilities in proportion to a power of the shares, none above 1 - FLOOR.

    Examples
    --------
    >>> import numpy as np
    >>> sharpen(np.array([[0.6, 0.3, 0.1]]), 2.0).round(2).tolist()
    [[0.77, 0.2, 0.03]]
    """
    raised = np.maximum(shares, 1e-6) ** power
    raised /= raised.sum(axis=1, keepdims=True)
    return (1 - FLOOR) * raised + FLOOR / shares.shape[1]
