"""What the columns say: a forest taught by the answered points.

Where distances between rows say little and single columns a lot, a forest knows more than any graph. It is taught again when
the answered points have become a tenth more, and says of a point it was taught with only what trees say that did not see it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

FEWEST = 15  # answered points from which a forest can learn
TREES = 100
GROWTH = 1.1


@dataclass(frozen=True, eq=False)
class Lesson:
    """The opinion of a forest.

    Parameters
    ----------
    points : int ndarray of shape (m,)
        The answered points.
    out_of_bag : ndarray of shape (m, k + 1)
        What the forest says of them without having seen their answers.
    everywhere : ndarray of shape (n, k + 1)
        What it says of all points.
    """

    out_of_bag: np.ndarray
    everywhere: np.ndarray

    def foresee(self, answered: np.ndarray) -> np.ndarray:  # noqa: ARG002
        return self.out_of_bag

    def shares(self, answered: np.ndarray) -> np.ndarray:  # noqa: ARG002
        return self.everywhere


class Teacher:
    """Teaches forests; keeps the last one.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    seed : int
    """

    def __init__(self, X: np.ndarray, seed: int) -> None:
        self.X, self.seed = X, seed
        self._key: bytes | None = None
        self._last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def teach(self, points: np.ndarray, answered: np.ndarray) -> Lesson | None:
        """A forest taught by the first answered points; None if there are too few of them."""
        n_taught = taught(len(points))
        taught_rows, k = points[:n_taught], answered.shape[1] - 1
        group = answered[:n_taught, :-1].argmax(axis=1)
        if n_taught == 0 or len(np.unique(group)) < 2:
            return None
        key = taught_rows.tobytes() + group.tobytes()
        if key != self._key:
            self._last, self._key = self._fit(taught_rows, group), key
        assert self._last is not None  # noqa: S101
        classes, inside, everywhere = self._last
        new = newness(answered)
        return Lesson(
            widen(np.r_[inside, everywhere[points[n_taught:]]], classes, k, new), widen(everywhere, classes, k, new)
        )

    def _fit(self, rows: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from sklearn.ensemble import ExtraTreesClassifier

        model = ExtraTreesClassifier(TREES, bootstrap=True, oob_score=True, random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # few points, many groups
            model.fit(self.X[rows], group)
        return (
            model.classes_,
            np.nan_to_num(model.oob_decision_function_),
            model.predict_proba(self.X).astype(np.float32),
        )


def taught(n_points: int) -> int:
    """How many of the answered points the present forest was taught with: a geometric sequence.

    Examples
    --------
    >>> [taught(n) for n in (10, 15, 30, 32, 33, 34)]
    [0, 15, 30, 30, 33, 33]
    """
    last, following = 0, FEWEST
    while following <= n_points:
        last, following = following, max(following + 1, int(following * GROWTH))
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
