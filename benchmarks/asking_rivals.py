"""Rivals of `tightcut.ask`, written from the ideas of their papers.

Each one yields (number of answers, labels) as it goes on. The answer about a pair is one question to `Oracle.same`; active
learning asks for labels, one label counted as one pick.

- NPU (Xiong, Azimi and Fern, 2014): neighbourhoods of points that are known to be together; the next point is the one with
  the most information per expected question, by a forest's similarities between points.
- MinMax (Mallapragada, Jin and Jain, 2008, on explore and consolidate by Basu, Banerjee and Mooney, 2004): farthest first until
  the neighbourhoods are found, then the point whose nearest neighbourhood is farthest.
- COBRAS (Van Craenendonck, Dumancic and Blockeel, 2018): super-instances that are split, and merged into clusters by questions
  between their medoids.
- Labels of random points with label spreading, and active learning of a forest and of a support vector machine.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from tightcut import Constraints, Graph, cluster, knn_affinity

State = tuple[int, np.ndarray]


class Oracle:
    """Answers from known labels, and counts."""

    def __init__(self, y: np.ndarray) -> None:
        self.y, self.asked = y, 0

    def same(self, i: int, j: int) -> bool:
        self.asked += 1
        return bool(self.y[i] == self.y[j])


class Neighbourhoods:
    """Groups of points that answers have put together; a new point is compared with one member of each."""

    def __init__(self, first: int) -> None:
        self.groups: list[list[int]] = [[first]]

    def place(self, i: int, oracle: Oracle, order: list[int]) -> None:
        for g in order:
            if oracle.same(i, self.groups[g][0]):
                self.groups[g].append(i)
                return
        self.groups.append([i])

    @property
    def known(self) -> list[int]:
        return [i for group in self.groups for i in group]

    def labels(self, n: int) -> np.ndarray:
        labels = np.full(n, -1)
        for g, group in enumerate(self.groups):
            labels[group] = g
        return labels


def constrained_labels(graph: Graph, found: Neighbourhoods, k: int, seed: int) -> np.ndarray:
    """tightcut's own cut under the answers: what follows from the points that a strategy chose."""
    n = graph.n_vertices
    constraints = Constraints.from_labels(found.labels(n))
    k = max(k, len(found.groups))
    return cluster(graph, constraints, k, effort=0.1, random_state=seed, n_jobs=1, influence=1.0).labels


def npu(X: np.ndarray, y: np.ndarray, marks: list[int], seed: int) -> Iterator[State]:
    """Normalised point-based uncertainty, with the cut under the answers as the clustering."""
    graph, oracle, k = _graph(X), Oracle(y), len(np.unique(y))
    rng = np.random.default_rng(seed)
    found = Neighbourhoods(int(rng.integers(len(X))))
    labels = constrained_labels(graph, found, k, seed)
    pending = list(marks)
    while pending:
        leaves = ExtraTreesClassifier(50, random_state=seed, min_samples_leaf=2).fit(X, labels).apply(X)
        free = np.setdiff1d(rng.choice(len(X), min(400, len(X)), replace=False), found.known)
        if not len(free):
            return
        similarity = np.stack(
            [(leaves[free][:, None] == leaves[group][None]).mean(axis=(1, 2)) for group in found.groups], axis=1
        )
        chance = similarity / np.maximum(similarity.sum(axis=1, keepdims=True), 1e-12)
        entropy = -(chance * np.log(chance + 1e-12)).sum(axis=1)
        cost = (np.sort(chance, axis=1)[:, ::-1] * np.arange(1, chance.shape[1] + 1)).sum(axis=1)
        for best in np.argsort(-entropy / np.maximum(cost, 1e-12))[:5]:
            found.place(int(free[best]), oracle, np.argsort(-chance[best]).tolist())
        labels = constrained_labels(graph, found, k, seed)
        while pending and oracle.asked >= pending[0]:
            yield pending.pop(0), labels


def minmax(X: np.ndarray, y: np.ndarray, marks: list[int], seed: int) -> Iterator[State]:
    """Farthest first, then the point whose likeliest neighbourhood is least likely."""
    graph, oracle, k = _graph(X), Oracle(y), len(np.unique(y))
    found = Neighbourhoods(int(np.random.default_rng(seed).integers(len(X))))
    nearest = np.full((len(X), 1), np.inf)
    pending, last = list(marks), found.groups[0][0]
    nearest[:, 0] = np.linalg.norm(X - X[last], axis=1)
    while pending:
        distance = nearest.min(axis=1)
        distance[found.known] = -1
        i = int(np.argmax(distance))
        found.place(i, oracle, np.argsort(nearest[i]).tolist())
        if len(found.groups) > nearest.shape[1]:
            nearest = np.c_[nearest, np.full(len(X), np.inf)]
        group = next(g for g, members in enumerate(found.groups) if i in members)
        nearest[:, group] = np.minimum(nearest[:, group], np.linalg.norm(X - X[i], axis=1))
        while pending and oracle.asked >= pending[0]:
            yield pending.pop(0), constrained_labels(graph, found, k, seed)


def cobras(X: np.ndarray, y: np.ndarray, marks: list[int], seed: int) -> Iterator[State]:
    """Split the largest super-instance by questions, then merge the parts into clusters by questions."""
    oracle, pending = Oracle(y), list(marks)
    clusters: list[list[np.ndarray]] = [[np.arange(len(X))]]
    known: dict[frozenset[int], bool] = {}

    def same(a: np.ndarray, b: np.ndarray) -> bool:
        key = frozenset((_medoid(X, a), _medoid(X, b)))
        if key not in known:
            known[key] = len(key) == 1 or oracle.same(*key)
        return known[key]

    while pending:
        home, largest = max(((c, s) for c in clusters for s in c), key=lambda pair: len(pair[1]))
        if len(largest) < 2:
            return
        home[:] = [s for s in home if s is not largest]
        clusters = [c for c in clusters if c]
        for part in _split(X, largest, same, seed):
            target = next((c for c in clusters if any(same(part, other) for other in _closest(X, part, c))), None)
            if target is None:
                clusters.append([part])
            else:
                target.append(part)
            while pending and oracle.asked >= pending[0]:
                yield pending.pop(0), _cobras_labels(clusters, len(X))


def _split(X: np.ndarray, rows: np.ndarray, same: Any, seed: int) -> list[np.ndarray]:
    """Halve until two halves belong together; that many parts are made."""
    level, part = 1, rows
    while len(part) > 1 and level < 4:
        halves = _kmeans(X, part, 2, seed)
        if len(halves) < 2 or same(*halves):
            break
        part, level = max(halves, key=len), level + 1
    return _kmeans(X, rows, min(2**level, len(rows)), seed)


def _kmeans(X: np.ndarray, rows: np.ndarray, k: int, seed: int) -> list[np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = KMeans(k, n_init=1, random_state=seed).fit_predict(X[rows])
    return [rows[labels == c] for c in np.unique(labels)]


def _medoid(X: np.ndarray, rows: np.ndarray) -> int:
    return int(rows[np.argmin(((X[rows] - X[rows].mean(axis=0)) ** 2).sum(axis=1))])


def _closest(X: np.ndarray, part: np.ndarray, others: list[np.ndarray]) -> list[np.ndarray]:
    centre = X[part].mean(axis=0)
    return sorted(others, key=lambda rows: np.linalg.norm(X[rows].mean(axis=0) - centre))[:1]


def _cobras_labels(clusters: list[list[np.ndarray]], n: int) -> np.ndarray:
    labels = np.zeros(n, int)
    for c, parts in enumerate(clusters):
        labels[np.concatenate(parts)] = c
    return labels


def random_pairs(X: np.ndarray, y: np.ndarray, marks: list[int], seed: int) -> Iterator[State]:
    """The cut under random pairs."""
    graph, k, rng = _graph(X), len(np.unique(y)), np.random.default_rng(seed)
    pairs = rng.integers(len(X), size=(4 * max(marks), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    for mark in marks:
        same = y[pairs[:mark, 0]] == y[pairs[:mark, 1]]
        known = Constraints.from_pairs(len(X), pairs[:mark][same], pairs[:mark][~same])
        yield mark, cluster(graph, known, k, effort=0.1, random_state=seed, n_jobs=1, influence=1.0).labels


def spreading(X: np.ndarray, y: np.ndarray, marks: list[int], seed: int) -> Iterator[State]:
    """Labels of random points, spread by scikit-learn's LabelSpreading."""
    order = np.random.default_rng(seed).permutation(len(X))
    for mark in marks:
        partial = np.full(len(X), -1)
        partial[order[:mark]] = y[order[:mark]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield mark, LabelSpreading(kernel="knn", n_neighbors=7).fit(X, partial).transduction_


def active(X: np.ndarray, y: np.ndarray, marks: list[int], seed: int, *, model: str = "forest") -> Iterator[State]:
    """Labels asked for where a forest or a support vector machine has the smallest margin."""
    rng, pending = np.random.default_rng(seed), list(marks)
    known = rng.choice(len(X), min(5, marks[0]), replace=False).tolist()
    while len(np.unique(y[known])) < 2:
        known.append(int(rng.choice(np.setdiff1d(np.arange(len(X)), known))))
    while pending:
        learner = ExtraTreesClassifier(100, random_state=seed) if model == "forest" else SVC(C=10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner.fit(X[known], y[known])
            score = learner.predict_proba(X) if model == "forest" else learner.decision_function(X)
        score = np.c_[-score, score] if score.ndim == 1 else score
        labels = learner.classes_[score.argmax(axis=1)]
        labels[known] = y[known]
        while pending and len(known) >= pending[0]:
            yield pending.pop(0), labels
        if not pending or len(known) == len(X):
            return
        ranked = np.sort(score, axis=1)
        margin = ranked[:, -1] - ranked[:, -2]
        margin[known] = np.inf
        known += np.argsort(margin)[: min(5, pending[0] - len(known), len(X) - len(known))].tolist()


def _graph(X: np.ndarray) -> Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return Graph.from_affinity(knn_affinity(X, 7, symmetrize="mean", n_jobs=1))
