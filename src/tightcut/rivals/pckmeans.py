"""PCK-means: k-means that pays for every violated pair."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_scalar

from tightcut.problem import Constraints
from tightcut.rivals._base import ConstrainedClusterer, belief_matrices

DEFAULT_PRICE = 0.3  # of a violated pair, times the mean squared distance to the mean


class PCKMeans(ConstrainedClusterer):
    r"""Pairwise constrained k-means (Basu, Banerjee and Mooney 2004): the baseline in the space of the features.

    Parameters
    ----------
    n_clusters : int, default=2
    violation_cost : float, optional
        Price w of a violated pair of belief 1. By default 0.3 times the mean squared distance of the points to their
        mean, which does not depend on the unit of the features; the paper leaves w to the user.
    n_init : int, default=10
        Runs, of which the one with the least objective counts.
    max_iter : int, default=300
    random_state : int, RandomState or None, default=None
        Order of the assignments, and seeds where must-links give too few.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    objective_, n_iter_, history_ : float, int and tuple of float
        The best run's objective, iterations, and objective after each of them, which never rises.

    Notes
    -----
    .. math:: \tfrac12 \sum_i \|x_i - \mu_{l_i}\|^2 + w \sum_{must} q_{ij} [l_i \ne l_j]
              + w \sum_{cannot} q_{ij} [l_i = l_j]

    Seeds are the means of the largest sets of must-linked points, as many as there are up to `n_clusters`; the others
    are drawn as in k-means++ (the paper perturbs the global mean). Then, in turn: every point in random order moves to
    its cheapest cluster, given the present labels of its partners; centres move to their means.

    *Beliefs* are used. *Cost*: as k-means, plus a Python loop over the points that have pairs. *Limits*: clusters are
    convex in the features; pairs move only the points they name, and the centres a little.

    References
    ----------
    S. Basu, A. Banerjee and R. J. Mooney, "Active Semi-Supervision for Pairwise Constrained Clustering", SDM 2004.
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        violation_cost: float | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.violation_cost = violation_cost
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.violation_cost is not None:
            check_scalar(self.violation_cost, "violation_cost", Real, min_val=0)

    def _partition(self, data: np.ndarray, constraints: Constraints, rng: np.random.Generator) -> np.ndarray:
        points = data.astype(np.float64, copy=False)
        price = self.violation_cost
        if price is None:
            price = DEFAULT_PRICE * float(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean())
        must, cannot = belief_matrices(constraints)
        prices = sp.csr_array(price * (must - cannot))
        runs = [self._run(points, constraints, price, prices, rng) for _ in range(self.n_init)]
        labels, self.cluster_centers_, self.history_ = min(runs, key=lambda run: run[2][-1])
        self.objective_, self.n_iter_ = self.history_[-1], len(self.history_)
        return labels

    def _run(
        self, points: np.ndarray, constraints: Constraints, price: float, prices: sp.csr_array, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, tuple[float, ...]]:
        centers = seed_centers(points, constraints, self.n_clusters, rng)
        labels = np.full(len(points), -1)
        history: list[float] = []
        for _ in range(self.max_iter):
            before = labels.copy()
            assign(points, prices, labels, centers, rng)
            for cluster in np.unique(labels):
                centers[cluster] = points[labels == cluster].mean(axis=0)
            scatter = ((points - centers[labels]) ** 2).sum() / 2
            history.append(float(scatter + price * constraints.violations(labels).belief))
            if (labels == before).all():
                break
        return labels, centers, tuple(history)


def assign(
    points: np.ndarray, prices: sp.csr_array, labels: np.ndarray, centers: np.ndarray, rng: np.random.Generator
) -> None:
    """Move every point to its cheapest cluster, in place; label -1 means that a point has none yet.

    Prices of pairs are positive for must-links, negative for cannot-links.
    """
    costs = pairwise_distances(points, centers, metric="sqeuclidean") / 2
    paired = np.diff(prices.indptr) > 0
    labels[~paired] = costs[~paired].argmin(axis=1)
    # Plain lists: rows hold a pair or two, for which numpy takes ten times as long.
    indptr, indices, values, present = (part.tolist() for part in (prices.indptr, prices.indices, prices.data, labels))
    order = rng.permutation(np.flatnonzero(paired))
    for i, cost in zip(order.tolist(), costs[order].tolist(), strict=True):
        for entry in range(indptr[i], indptr[i + 1]):
            partner = present[indices[entry]]
            # Agreeing with a must-link partner saves its price; agreeing with a cannot-link partner costs it.
            if partner >= 0:
                cost[partner] -= values[entry]
        present[i] = cost.index(min(cost))
    labels[:] = present


def seed_centers(points: np.ndarray, constraints: Constraints, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Means of the largest must-linked sets, then points drawn far from the seeds so far."""
    _, component = constraints.components()
    sizes = np.bincount(component)
    largest = np.argsort(-sizes, kind="stable")[:n_clusters]
    centers = [points[component == c].mean(axis=0) for c in largest if sizes[c] > 1]
    if not centers:
        centers.append(points[rng.integers(len(points))])
    while len(centers) < n_clusters:
        squared = pairwise_distances(points, np.array(centers), metric="sqeuclidean").min(axis=1)
        total = squared.sum()
        centers.append(points[rng.choice(len(points), p=squared / total if total > 0 else None)])
    return np.array(centers)
