"""Constraints drawn at random from known labels, by the two common protocols."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from tightcut.problem import Constraints
from tightcut.problem.pairs import to_array


def sample_constraints(y: Any, n_pairs: int, random_state: Any = None, *, noise: float = 0.0) -> Constraints:
    """Random pairs of points: must-links where the labels agree, cannot-links where they do not.

    The paper's protocol. All pairs i != j are equally likely and none is drawn twice.

    Parameters
    ----------
    y : array-like of shape (n_points,)
        The labels, numbers or names.
    n_pairs : int
        Number of pairs, of both kinds together.
    random_state : int, Generator or None, default=None
    noise : float in [0, 1], default=0
        Share of the pairs with the wrong kind: exactly round(noise * n_pairs) of them, chosen at random.

    Examples
    --------
    >>> from tightcut import datasets
    >>> known = datasets.sample_constraints(["a", "a", "b", "b"], 6, random_state=0)
    >>> known.must_link.tolist(), known.n_cannot_link
    ([[0, 1], [2, 3]], 4)
    """
    classes = _read_classes(y)
    n = len(classes)
    total = n * (n - 1) // 2
    if not 0 <= n_pairs <= total:
        raise ValueError(f"n_pairs must be between 0 and {total}, the number of pairs of {n} points; got {n_pairs}.")
    rng = np.random.default_rng(random_state)
    # Pair number r n + c joins c and the point r + 1 places further, in a circle of n: every pair exactly once.
    offset, first = np.divmod(rng.choice(total, n_pairs, replace=False), max(n, 1))
    return _typed(classes, np.stack([first, (first + offset + 1) % max(n, 1)], axis=1), noise, rng)


def sample_constraints_among(y: Any, fraction: float, random_state: Any = None, *, noise: float = 0.0) -> Constraints:
    """All pairs among a random fraction of the points, must-links or cannot-links by their labels.

    The protocol of Baumann and Hochbaum's PCCC and others: ceil(fraction * n_points) points are drawn; the number of
    pairs is quadratic in theirs. Without noise this amounts to knowing the labels of these points.

    Parameters
    ----------
    fraction : float in [0, 1]
        Share of the points.
    y, random_state, noise
        As in `sample_constraints`.

    Examples
    --------
    >>> from tightcut import datasets
    >>> datasets.sample_constraints_among([0, 0, 1, 1, 1], 0.5, random_state=0).n_pairs
    3
    """
    classes = _read_classes(y)
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction must be between 0 and 1; got {fraction}.")
    n = len(classes)
    rng = np.random.default_rng(random_state)
    # In floating point 0.07 * 100 is 7.000000000000001, which has to mean 7 points.
    points = rng.choice(n, ceil(round(fraction * n, 9)), replace=False)
    return _typed(classes, points[np.stack(np.triu_indices(len(points), 1), axis=1)], noise, rng)


def _typed(classes: np.ndarray, pairs: np.ndarray, noise: float, rng: np.random.Generator) -> Constraints:
    if not 0 <= noise <= 1:
        raise ValueError(f"noise must be between 0 and 1, the share of pairs of the wrong kind; got {noise}.")
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    same[rng.choice(len(pairs), round(noise * len(pairs)), replace=False)] ^= True
    return Constraints.from_pairs(len(classes), pairs[same], pairs[~same])


def _read_classes(y: Any) -> np.ndarray:
    values = to_array(y)
    if values.ndim != 1:
        raise ValueError(f"y must have one label per point, shape (n_points,); got shape {values.shape}.")
    return np.unique(values, return_inverse=True)[1]
