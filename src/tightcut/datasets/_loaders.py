"""One loader per dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tightcut.datasets import _toys
from tightcut.datasets._catalogue import CATALOGUE, Dataset, Entry
from tightcut.datasets._sources import find

SHIFTS = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0))


def list_datasets() -> tuple[str, ...]:
    """Names that `load` takes.

    Examples
    --------
    >>> from tightcut import datasets
    >>> "sonar" in datasets.list_datasets()
    True
    """
    return (*CATALOGUE, *TOYS)


def load(name: str) -> Dataset:
    """Load a dataset by its name, with the default settings of its own loader.

    Examples
    --------
    >>> from tightcut import datasets
    >>> datasets.load("iris")
    Dataset('iris', 150 points, 4 features, 3 classes)
    """
    if name in TOYS:
        return TOYS[name]()
    if name in DERIVED:
        return DERIVED[name]()
    if name not in CATALOGUE:
        raise ValueError(f"Unknown dataset {name!r}; there are {', '.join(list_datasets())}.")
    return _load(name)


def _load(name: str, *, scaled: bool = True) -> Dataset:
    entry = CATALOGUE[name]
    features, classes, source = find(name, entry, scaled=scaled)
    return checked(name, entry, features, classes, source)


def checked(name: str, entry: Entry, features: Any, classes: Any, source: str) -> Dataset:
    """The dataset, if it has the points, features and class counts it should have."""
    X, y = np.asarray(features), np.asarray(classes).astype(np.int64)
    shape = (sum(entry.class_counts), entry.n_features)
    if X.shape != shape or y.shape != shape[:1]:
        raise ValueError(
            f"{name} from {source} has X of shape {X.shape} and y of shape {y.shape}; expected X of {shape}."
        )
    counts = tuple(np.unique(y, return_counts=True)[1].tolist())
    if counts != entry.class_counts or y.min() != 0 or y.max() != len(counts) - 1:
        raise ValueError(f"{name} from {source} has {counts} points per class; expected {entry.class_counts}.")
    if entry.dtype is not np.uint8:
        # Through single precision, so that every source gives the same numbers.
        X = X.astype(np.float32)
    return Dataset(X.astype(entry.dtype, copy=False), y, name, entry.description)


def load_sonar() -> Dataset:
    return _load("sonar")


def load_spam() -> Dataset:
    return _load("spam")


def load_usps() -> Dataset:
    return _load("usps")


def load_usps0() -> Dataset:
    """USPS, digit 0 (class 0) against the rest (class 1)."""
    usps = load_usps()
    return checked("usps0", CATALOGUE["usps0"], usps.X, usps.y != 0, "usps")


def load_shuttle() -> Dataset:
    return _load("shuttle")


def load_mnist() -> Dataset:
    return _load("mnist")


def load_extended_mnist() -> Dataset:
    """MNIST with its eight shifts by one pixel: 630,000 images, half a gigabyte of uint8."""
    mnist = load_mnist()
    y = np.tile(mnist.y, 1 + len(SHIFTS))
    return checked("extended_mnist", CATALOGUE["extended_mnist"], with_shifts(mnist.X, (28, 28)), y, "mnist")


def with_shifts(images: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Images as flat rows, then the same shifted by one pixel in each of `SHIFTS`; zeros move in.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.datasets._loaders import SHIFTS, with_shifts
    >>> shifted = with_shifts(np.array([[1, 2, 3, 4]], dtype=np.uint8), (2, 2))
    >>> shifted[1 + SHIFTS.index((0, 1))].reshape(2, 2).tolist()
    [[0, 1], [0, 3]]
    """
    n, (height, width) = len(images), shape
    result = np.zeros((1 + len(SHIFTS), n, height, width), dtype=images.dtype)
    framed = images.reshape(n, height, width)
    result[0] = framed
    for block, (down, right) in zip(result[1:], SHIFTS, strict=True):
        to_rows, from_rows = _overlap(down, height)
        to_columns, from_columns = _overlap(right, width)
        block[:, to_rows, to_columns] = framed[:, from_rows, from_columns]
    return result.reshape(-1, height * width)


def _overlap(shift: int, length: int) -> tuple[slice, slice]:
    return slice(max(shift, 0), length + min(shift, 0)), slice(max(-shift, 0), length - max(shift, 0))


def load_breast_cancer(*, scaled: bool = True) -> Dataset:
    """UCI Breast Cancer (Ljubljana), 263 rows; not scikit-learn's, which is `load_wdbc`. Unscaled: ordinal codes."""
    return _load("breast_cancer", scaled=scaled)


def load_heart(*, scaled: bool = True) -> Dataset:
    return _load("heart", scaled=scaled)


def load_diabetis(*, scaled: bool = True) -> Dataset:
    return _load("diabetis", scaled=scaled)


def load_ionosphere() -> Dataset:
    return _load("ionosphere")


def load_wdbc() -> Dataset:
    return _load("wdbc")


def load_iris() -> Dataset:
    return _load("iris")


def load_wine() -> Dataset:
    return _load("wine")


def load_digits() -> Dataset:
    return _load("digits")


def load_letter() -> Dataset:
    return _load("letter")


def load_covertype() -> Dataset:
    return _load("covertype")


TOYS: dict[str, Callable[[], Dataset]] = {
    "two_moons": _toys.load_two_moons,
    "gaussian_toy": _toys.load_gaussian_toy,
}
DERIVED: dict[str, Callable[[], Dataset]] = {"usps0": load_usps0, "extended_mnist": load_extended_mnist}
