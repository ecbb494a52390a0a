r"""Groups of the answered points that agree best with all answers and with the graph, found all at once.

Beliefs that are improved a little at a time may stay where an early wrong answer has put them: two classes joined, or one
class in two groups. Here the answered points are clustered anew. The score of a clustering is

.. math:: \sum_{i < j,\ \text{together}} s_{ij} + c \cdot \text{number of groups},

where :math:`s_{ij}` adds up the answers about i and j (as logarithms of odds, positive for "same") and how near they are to
each other in the graph. Nearness never keeps points apart, so without the reward c for each group all groups that nobody has
compared would become one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from tightcut.ask.evidence import Evidence
from tightcut.ask.spreading import Harmonic

REWARD = 2.0  # for each group: half an answer
NEAR = 4.0  # what all neighbours of a point say together: one answer
ANSWER = 3.9  # odds of 49 to 1
SHARE = 0.9  # belief in the group that was found
FOUNDER = 0.5  # points that the first point of a group counts more, where two groups are equally likely
SWEEPS = 20


def start_from_groups(evidence: Evidence, graphs: Sequence[Harmonic], say: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Beliefs of the answered points to begin with, of shape (m, k + 1): the best groups that a local search finds.

    Points of a cluster that was not known as a group before belong to a group that is not known yet.

    Parameters
    ----------
    evidence : Evidence
    graphs : sequence of Harmonic
    say : ndarray
        The share of each graph.
    group : int ndarray of shape (m,)
        The groups as they are, from which one of two searches begins; k where a point has none.
    """
    k, m = evidence.n_groups, len(evidence.points)
    scores = _scores(evidence, graphs, say)
    apart = np.where(group < k, group, k + np.arange(m))
    clusters = max((improve(scores, start) for start in (apart, np.arange(m))), key=lambda z: score_of(scores, z))
    beliefs = np.full((m, k + 1), (1 - SHARE) / (k + 1))
    beliefs[np.arange(m), _ids(clusters, evidence, group)[clusters]] += SHARE
    return beliefs


def _ids(clusters: np.ndarray, evidence: Evidence, group: np.ndarray) -> np.ndarray:
    """The group that each cluster is: the one with which it has most points in common, no group twice; k if there is none."""
    k = evidence.n_groups
    common = np.zeros((clusters.max() + 1, k + 1))
    np.add.at(common, (clusters, group), 1.0)
    for g, i in evidence.founders.items():
        common[clusters[i], evidence.home[g]] += FOUNDER
    ids = np.full(len(common), k)
    taken, given = linear_sum_assignment(common[:, :k], maximize=True)
    shared = common[taken, given] > 0
    ids[taken[shared]] = given[shared]
    return ids


def _scores(evidence: Evidence, graphs: Sequence[Harmonic], say: np.ndarray) -> np.ndarray:
    """What speaks for putting two answered points together, less what speaks against it."""
    share = say[: len(graphs)] / say[: len(graphs)].sum()
    scores = NEAR * np.sum([weight * graph.nearness() for weight, graph in zip(share, graphs, strict=True)], axis=0)
    told = [(i, j, same) for i, j, same in evidence.pairs.tolist()]
    told += [(i, evidence.founders.get(int(evidence.home[g]), i), chosen) for i, g, chosen in evidence.picks.tolist()]
    for i, j, same in told:
        scores[i, j] += ANSWER if same else -ANSWER
        scores[j, i] += ANSWER if same else -ANSWER
    np.fill_diagonal(scores, 0)
    return scores


def score_of(scores: np.ndarray, clusters: np.ndarray) -> float:
    """The score of a clustering, in which the clusters are numbered 0, 1, ..."""
    return float((scores * (clusters[:, None] == clusters)).sum() / 2 + REWARD * (clusters.max() + 1))


def improve(scores: np.ndarray, start: np.ndarray) -> np.ndarray:
    """A clustering that no move of a point and no union of two clusters improves; clusters numbered 0, 1, ...

    Examples
    --------
    >>> import numpy as np
    >>> improve(np.array([[0, 5, -5], [5, 0, -5], [-5, -5, 0.0]]), np.arange(3)).tolist()
    [0, 0, 1]
    """
    m = len(scores)
    cluster = np.unique(start, return_inverse=True)[1]
    size = np.bincount(cluster, minlength=m + 1)
    gain = np.zeros((m, m + 1))  # what each point has in common with each cluster
    for c in range(cluster.max() + 1):
        gain[:, c] = scores[:, cluster == c].sum(axis=1)
    for _ in range(SWEEPS):
        moved = _move_points(scores, cluster, size, gain)
        if not (_unite(cluster, size, gain) or moved):
            break
    return np.unique(cluster, return_inverse=True)[1]


def _move_points(scores: np.ndarray, cluster: np.ndarray, size: np.ndarray, gain: np.ndarray) -> bool:
    """Move each point to the cluster with which it has most in common, or to one of its own."""
    moved = False
    for i in range(len(cluster)):
        here = cluster[i]
        common = np.where(size > 0, gain[i], -np.inf)
        common[here if size[here] == 1 else int(np.argmin(size))] = REWARD
        there = int(common.argmax())
        if common[there] > common[here] + 1e-9:
            cluster[i], moved = there, True
            size[here] -= 1
            size[there] += 1
            gain[:, here] -= scores[:, i]
            gain[:, there] += scores[:, i]
    return moved


def _unite(cluster: np.ndarray, size: np.ndarray, gain: np.ndarray) -> bool:
    """Unite two clusters, those that gain most first, while that pays."""
    united = False
    while True:
        alive = np.flatnonzero(size)
        between = np.array([gain[cluster == c].sum(axis=0)[alive] for c in alive])
        np.fill_diagonal(between, -np.inf)
        one, two = np.unravel_index(between.argmax(), between.shape)
        if between[one, two] <= REWARD + 1e-9:
            return united
        kept, gone = alive[one], alive[two]
        cluster[cluster == gone] = kept
        size[kept] += size[gone]
        size[gone], united = 0, True
        gain[:, kept] += gain[:, gone]
        gain[:, gone] = 0
