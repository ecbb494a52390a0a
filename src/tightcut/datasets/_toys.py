"""Generated data: two moons, and Gaussians that unconstrained clustering gets wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from tightcut.datasets._catalogue import Dataset

TOY_SIZES = (240, 130, 130)
TOY_CENTERS = ((0.0, 0.0), (-1.0, 3.5), (1.0, 3.5))
TOY_DEVIATIONS = ((3.5, 0.45), (0.6, 0.6), (0.6, 0.6))


def load_two_moons(
    n_points: int = 600, n_features: int = 100, *, noise: float = 0.02**0.5, random_state: Any = 0
) -> Dataset:
    """Two interleaved half circles of radius 1 in the first two features, Gaussian noise in all of them.

    Parameters
    ----------
    n_points : int, default=600
    n_features : int, default=100
        2 for a picture; the many features of noise make the usual example hard.
    noise : float, default=sqrt(0.02)
        Standard deviation of the noise per feature; the default is that of Buehler and Hein (ICML 2009).
    random_state : int, Generator or None, default=0

    Examples
    --------
    >>> from tightcut import datasets
    >>> datasets.load_two_moons(200, 2)
    Dataset('two_moons', 200 points, 2 features, 2 classes)
    """
    if n_points < 2 or n_features < 2:
        raise ValueError(f"Two moons need 2 points and 2 features at least; got {n_points} and {n_features}.")
    rng = np.random.default_rng(random_state)
    y = np.arange(n_points) * 2 // n_points
    angle = rng.uniform(0, np.pi, n_points)
    X = noise * rng.normal(size=(n_points, n_features))
    X[:, 0] += np.where(y == 0, np.cos(angle), 1 - np.cos(angle))
    X[:, 1] += np.where(y == 0, np.sin(angle), 0.5 - np.sin(angle))
    description = f"Two moons in {n_features} dimensions with noise of standard deviation {noise:g}."
    return Dataset(X, y, "two_moons", description)


def load_gaussian_toy(random_state: Any = 2) -> Dataset:
    """500 points from three Gaussians in the plane: a long class, and two round ones close to each other.

    Without constraints the three clusters of least normalized cut are the halves of the long class and the two round
    classes in one, as in the paper's Section 5; it is cheaper to cut a thin class than to part two that touch. The
    default `random_state` makes the picture clear; most others have it too.

    Examples
    --------
    >>> from tightcut import datasets
    >>> datasets.load_gaussian_toy()
    Dataset('gaussian_toy', 500 points, 2 features, 3 classes)
    """
    rng = np.random.default_rng(random_state)
    y = np.repeat(np.arange(3), TOY_SIZES)
    X = np.array(TOY_CENTERS)[y] + np.array(TOY_DEVIATIONS)[y] * rng.normal(size=(len(y), 2))
    return Dataset(X, y, "gaussian_toy", "A long Gaussian class of 240 points and two round ones of 130 that touch.")
