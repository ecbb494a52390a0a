"""From beliefs to labels."""

from __future__ import annotations

import numpy as np

from tightcut.ask.beliefs import Beliefs


def labels_of(beliefs: Beliefs, coarse: np.ndarray) -> np.ndarray:
    """The likeliest group of each point; where nothing is known, what the plain cut says.

    A point of an unknown region has the commonest group of its coarse part or, if nobody was asked about that part, the
    number of the part after the groups' numbers. Answered points have the group that is believed, so that every believed
    answer is satisfied.
    """
    k, shares, points = beliefs.evidence.n_groups, beliefs.shares, beliefs.evidence.points
    labels = shares[:, :k].argmax(axis=1)
    unknown = shares[:, k] > shares[:, :k].max(axis=1)
    group = beliefs.group
    for part in np.unique(coarse[unknown]):
        inside = group[(coarse[points] == part) & (group < k)]
        labels[unknown & (coarse == part)] = np.bincount(inside).argmax() if len(inside) else k + part
    labels[points] = np.where(group < k, group, k + coarse.max() + 1 + np.arange(len(points)))
    return labels
