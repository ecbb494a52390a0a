"""Predictions from the columns: a random forest and a regression, trained on the answered points.

Where distances between rows say little and single columns a lot, a forest predicts better than any graph. It is trained
again when there are some more answered points. What it would have predicted of a point that it was trained on is what other
trees say, each of which has not seen a fifth of the points.

The numbers of the forest were chosen on digits, USPS, COIL-20 and letter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tightcut.ask.beliefs.regression import Kernel, Regression

FEWEST_ANSWERED = 15  # answered points from which a forest can learn
TREES = 100
LEFT_OUT = 0.2  # share of the answered points that a tree does not see
CACHED = 4  # fits of the predictors that are kept
GROWTH = 1.07  # of the answered points, until the next forest
# With more rows a forest takes longer to vote than a person should wait, so new ones are rarer.
MANY_ROWS, GROWTH_OF_MANY = 20_000, 1.3
MANY_VALUES = 4_000_000  # above it, as in large sets of images, there is neither a regression nor a second graph
ROWS_AT_ONCE = 8192

Trees = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class FittedPredictor:
    """The opinion of a forest or of a regression.

    Parameters
    ----------
    foreseen : ndarray of shape (m, k + 1)
        What it says of the answered points without having seen their answers.
    model : Forest or Regression
        What it says of all points.
    new : float
        Probability that a point belongs to a group that is not known yet.
    """

    foreseen: np.ndarray
    model: Forest | Regression
    new: float

    def shares(self, answered: np.ndarray) -> np.ndarray:
        """What is said of every point."""
        return widen(self.model.predictions, self.model.classes, answered.shape[1] - 1, self.new)


class Forest:
    """A forest trained on some rows; its predictions for all rows are computed when they are first needed.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    rows, group : int ndarray of shape (t,)
        The rows to train on, and their groups.
    seed : int

    Attributes
    ----------
    classes : int ndarray of shape (c,)
        The groups that it knows.
    held_out : ndarray of shape (t, c)
        What is predicted of each of these rows by the trees that have not seen it.
    """

    def __init__(self, X: np.ndarray, rows: np.ndarray, group: np.ndarray, seed: int) -> None:
        self.X, self.rows, self.seed = X, rows, seed
        self.classes, self.code = np.unique(group, return_inverse=True)
        seen = np.random.default_rng(seed).random((TREES, len(rows))) >= LEFT_OUT
        seen |= ~seen.any(axis=1, keepdims=True)
        self.held_out = _votes(self._grown(seen), X[rows], ~seen)

    @cached_property
    def trees(self) -> Trees:
        return self._grown(np.ones((TREES, len(self.rows)), bool))

    @cached_property
    def predictions(self) -> np.ndarray:
        blocks = range(0, len(self.X), ROWS_AT_ONCE)
        return np.concatenate([_votes(self.trees, self.X[i : i + ROWS_AT_ONCE]) for i in blocks])

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return _votes(self.trees, self.X[rows])

    def _grown(self, seen: np.ndarray) -> Trees:
        from tightcut.kernels import grow_trees

        state = np.random.default_rng(self.seed).integers(1, 2**63, 1).astype(np.uint64)
        own = np.ascontiguousarray(self.X[self.rows], np.float32)
        tried = max(1, int(np.sqrt(self.X.shape[1])))
        return grow_trees(own, self.code.astype(np.int32), len(self.classes), seen, tried, state)


def _votes(trees: Trees, rows: np.ndarray, counted: np.ndarray | None = None) -> np.ndarray:
    from tightcut.kernels import average_votes

    counted = np.ones((TREES, len(rows)), bool) if counted is None else counted
    return average_votes(np.ascontiguousarray(rows, np.float32), *trees, counted)


class PredictorCache:
    """Trains forests and, where there are not too many values, regressions; keeps the last few."""

    def __init__(self, X: np.ndarray, seed: int) -> None:
        self.X, self.seed = X, seed
        self.kernel = Kernel(X) if X.size <= MANY_VALUES else None
        self._models: dict[bytes, list[Forest | Regression]] = {}

    def compile(self) -> None:
        """Compile what training and voting need, which on a new installation takes seconds."""
        Forest(self.X, np.arange(2), np.arange(2), self.seed).predict(np.arange(2))

    def fit(self, points: np.ndarray, answered: np.ndarray) -> list[FittedPredictor]:
        """What is learned from the first answered points; nothing if there are too few of them."""
        n_train = training_size(len(points), GROWTH if len(self.X) <= MANY_ROWS else GROWTH_OF_MANY)
        rows, k = points[:n_train], answered.shape[1] - 1
        group = answered[:n_train, :-1].argmax(axis=1)
        if n_train == 0 or len(np.unique(group)) < 2:
            return []
        key = rows.tobytes() + group.tobytes()
        if key not in self._models:
            self._models[key] = [Forest(self.X, rows, group, self.seed)]
            if self.kernel is not None:
                self._models[key].append(Regression(self.kernel, rows, group))
            while len(self._models) > CACHED:
                del self._models[next(iter(self._models))]
        new = newness(answered)
        return [
            FittedPredictor(widen(np.r_[m.held_out, m.predict(points[n_train:])], m.classes, k, new), m, new)
            for m in self._models[key]
        ]


def training_size(n_points: int, growth: float = GROWTH) -> int:
    """How many of the answered points the present forest was trained on: a geometric sequence.

    Examples
    --------
    >>> [training_size(n) for n in (10, 15, 16, 17, 100)]
    [0, 15, 16, 17, 95]
    """
    last, following = 0, FEWEST_ANSWERED
    while following <= n_points:
        last, following = following, max(following + 1, int(following * growth))
    return last


def newness(answered: np.ndarray) -> float:
    """Probability that a point belongs to a group that nobody has named: the share of groups seen once (Good, Turing)."""
    size = answered[:, :-1].sum(axis=0)
    return float((np.sum((size > 0.5) & (size < 1.5)) + 0.1) / (len(answered) + 1))


def widen(shares: np.ndarray, classes: np.ndarray, k: int, new: float) -> np.ndarray:
    """Shares of some groups as shares of all k of them and of a new one."""
    wide = np.zeros((len(shares), k + 1), np.float32)
    wide[:, classes] = (1 - new) * shares
    wide[:, k] = new
    return wide
