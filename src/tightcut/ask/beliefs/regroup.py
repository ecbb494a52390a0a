r"""Regroup all answered points jointly, in best agreement with the answers and the graph.

Beliefs that are improved a little at a time may stay where an early wrong answer has put them: two classes joined, or one
class in two groups. Here the answered points are regrouped. The score of a clustering is

.. math:: \sum_{i < j,\ \text{together}} s_{ij} + c \cdot \text{number of groups},

where :math:`s_{ij}` adds up the answers about i and j (as logarithms of odds, positive for "same") and how near they are to
each other in the graph. Nearness never keeps points apart, so without the reward c for each group all groups that were never
compared would become one. For the same reason nearness counts between two groups as at most two answers: points are asked
about where classes meet, and the more there are, the nearer the classes seem.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from tightcut.ask.beliefs.evidence import AnswerEvidence
from tightcut.ask.beliefs.harmonic import Harmonic

# Chosen on digits and USPS, with wrong answers.
ANSWER = 3.9  # odds of 49 to 1
REWARD = ANSWER / 2  # for each group
NEAR = ANSWER  # what all neighbours of a point say together
MOST_NEAR = 2 * ANSWER  # what nearness says of two groups
SHARE = 0.9  # belief in the group that was found


def start_from_groups(
    evidence: AnswerEvidence, graphs: Sequence[Harmonic], weights: np.ndarray, group: np.ndarray
) -> np.ndarray:
    """Beliefs of the answered points to begin with, of shape (m, k + 1): the best groups that a local search finds.

    The search begins at the groups as they are, k where a point has none. Points of a cluster that was not known as a group
    before belong to a group that is not known yet. `weights` are those of all opinions, the graphs first.
    """
    k, m = evidence.n_groups, len(evidence.points)
    share = weights[: len(graphs)] / weights[: len(graphs)].sum()
    near = NEAR * np.sum([weight * graph.nearness() for weight, graph in zip(share, graphs, strict=True)], axis=0)
    clusters = improve(_told(evidence), near, np.where(group < k, group, k + np.arange(m)))
    beliefs = np.full((m, k + 1), (1 - SHARE) / (k + 1))
    beliefs[np.arange(m), _ids(clusters, evidence, group)[clusters]] += SHARE
    return beliefs


def _ids(clusters: np.ndarray, evidence: AnswerEvidence, group: np.ndarray) -> np.ndarray:
    """The group that each cluster is: the one with which it has most points in common, no group twice; k if there is none."""
    k = evidence.n_groups
    common = np.zeros((clusters.max() + 1, k + 1))
    np.add.at(common, (clusters, group), 1.0)
    ids = np.full(len(common), k)
    taken, given = linear_sum_assignment(common[:, :k], maximize=True)
    shared = common[taken, given] > 0
    ids[taken[shared]] = given[shared]
    return ids


def _told(evidence: AnswerEvidence) -> np.ndarray:
    """What the answers say for putting two answered points together, less what they say against it."""
    m = len(evidence.points)
    told = np.zeros((m, m))
    picked = [(i, evidence.founders.get(int(evidence.home[g]), i), chosen) for i, g, chosen in evidence.picks.tolist()]
    for i, j, same in [*evidence.pairs.tolist(), *picked]:
        told[i, j] += ANSWER if same else -ANSWER
        told[j, i] += ANSWER if same else -ANSWER
    np.fill_diagonal(told, 0)
    return told


def improve(told: np.ndarray, near: np.ndarray, start: np.ndarray) -> np.ndarray:
    """A clustering that no move of a point and no union of two clusters improves; clusters numbered 0, 1, ...

    Parameters
    ----------
    told, near : ndarray of shape (m, m)
        What the answers say of any two points, and how near they are; symmetric, with zeros in the diagonal.
    start : int ndarray of shape (m,)
        Clusters to begin with.

    Examples
    --------
    >>> import numpy as np
    >>> told = np.array([[0, 5, -5], [5, 0, -5], [-5, -5, 0.0]])
    >>> improve(told, np.zeros((3, 3)), np.arange(3)).tolist()
    [0, 0, 1]
    """
    scores = told + near
    cluster = np.unique(start, return_inverse=True)[1]
    improved = True
    while improved:  # what all scores add up to grows with every move and every union
        moved = _move_points(scores, cluster)
        improved = _unite(told, near, cluster) or moved
    return np.unique(cluster, return_inverse=True)[1]


def _move_points(scores: np.ndarray, cluster: np.ndarray) -> bool:
    """Move each point to the cluster with which it has most in common, or to one of its own."""
    m, moved = len(cluster), False
    size = np.bincount(cluster, minlength=m + 1)
    common = _added_up(scores, cluster, m + 1)  # of each cluster with each point
    for i in range(m):
        here = cluster[i]
        worth = np.where(size > 0, common[:, i], -np.inf)
        worth[here if size[here] == 1 else int(np.argmin(size))] = REWARD
        there = int(worth.argmax())
        if worth[there] > worth[here] + 1e-9:
            cluster[i], moved = there, True
            size[here] -= 1
            size[there] += 1
            common[here] -= scores[i]
            common[there] += scores[i]
    return moved


def _unite(told: np.ndarray, near: np.ndarray, cluster: np.ndarray) -> bool:
    """Unite two clusters, those that gain most first, while that pays."""
    alive, code = np.unique(cluster, return_inverse=True)
    between = [_added_up(_added_up(scores, code, len(alive)).T, code, len(alive)) for scores in (told, near)]
    united = False
    while True:
        gain = between[0] + np.minimum(between[1], MOST_NEAR)
        np.fill_diagonal(gain, -np.inf)
        one, two = np.unravel_index(gain.argmax(), gain.shape)
        if gain[one, two] <= REWARD + 1e-9:
            return united
        cluster[cluster == alive[two]] = alive[one]
        for scores in between:
            scores[one] += scores[two]
            scores[:, one] += scores[:, two]
            scores[two] = scores[:, two] = -np.inf
        united = True


def _added_up(scores: np.ndarray, cluster: np.ndarray, n_clusters: int) -> np.ndarray:
    """The sum of the rows of each cluster."""
    m = len(cluster)
    member = sp.csr_array((np.ones(m), (cluster, np.arange(m))), shape=(n_clusters, m))
    return member @ scores
