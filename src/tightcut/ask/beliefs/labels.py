"""From beliefs to labels, and labels where nothing is known."""

from __future__ import annotations

import numpy as np

from tightcut.ask.beliefs.mixture import Beliefs, top_two

# Times the second likeliest group: a point that may belong to several says nothing about its part.
CLEARLY_LIKELIEST = 2.0
RIGHT, CASES = 1.0, 1.5  # prior that a part of a plain cut is one group: 1 in 1.5


def labels_of(beliefs: Beliefs) -> np.ndarray:
    """The likeliest group of each point; where nothing is known, the part of the plain cut.

    A point of an unknown region has the commonest group of its coarse part or, if nobody was asked about that part, the
    number of the part after the groups' numbers. Answered points have the group that is believed, so that every believed
    answer is satisfied.
    """
    k, points, group, coarse = beliefs.evidence.n_groups, beliefs.evidence.points, beliefs.group, beliefs.coarse
    # Where the columns lead, the plain cut has nothing to say.
    labels = (beliefs.shares[:, :k] if columns_lead(beliefs) else beliefs.filled()).argmax(axis=1)
    unknown = unknown_points(beliefs)
    likeliest, second = top_two(beliefs.answered)
    known = np.where(likeliest > CLEARLY_LIKELIEST * second, group, k)
    for part in np.unique(coarse[unknown]):
        inside = known[(coarse[points] == part) & (known < k)]
        labels[unknown & (coarse == part)] = np.bincount(inside).argmax() if len(inside) else k + part
    labels[points] = np.where(group < k, group, k + coarse.max() + 1 + np.arange(len(points)))
    return labels


def unknown_points(beliefs: Beliefs) -> np.ndarray:
    """Points about which the graphs know nothing, unless the columns predicted answers better than the plain cut."""
    if columns_lead(beliefs):
        return np.zeros(len(beliefs.coarse), bool)
    shares = beliefs.mapped
    return shares[:, -1] > shares[:, :-1].max(axis=1)


def columns_lead(beliefs: Beliefs) -> bool:
    """Whether the columns predicted the answers better than the graphs, or than the commonest group in a coarse part."""
    if not beliefs.predictors:
        return False
    answered, weights = beliefs.answered[:, :-1], beliefs.weights[len(beliefs.graphs) :]
    foreseen = np.tensordot(weights, [predictor.foreseen[:, :-1] for predictor in beliefs.predictors], 1)
    learned = answered[np.arange(len(answered)), foreseen.argmax(axis=1)].mean()
    return bool(weights.sum() > 0.5 or learned > hit_rate(beliefs, RIGHT, CASES))


def hit_rate(beliefs: Beliefs, right: float, of: float, among: np.ndarray | None = None) -> float:
    """How often the commonest group of the other answered points in a coarse part was the right one.

    To begin with, as if `right` of `of` cases had been seen. `among` chooses the answered points that count.
    """
    answered, part = beliefs.answered[:, :-1], beliefs.coarse[beliefs.evidence.points]
    count = np.zeros((int(beliefs.coarse.max()) + 1, answered.shape[1]))
    np.add.at(count, part, answered)
    others = count[part] - answered
    heard = others.sum(axis=1) > 0.5
    if among is not None:
        heard &= among
    hits = answered[np.arange(len(part)), others.argmax(axis=1)][heard].sum()
    return float((hits + right) / (heard.sum() + of))
