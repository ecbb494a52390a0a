"""Datasets by name: found in a folder, in scikit-learn or on OpenML and checked, or computed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.datasets._catalogue import CATALOGUE, Dataset, Entry

FOLDER_VARIABLE = "TIGHTCUT_DATA"
SHIFTS = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0))
TOY_SIZES = (240, 130, 130)
TOY_CENTERS = ((0.0, 0.0), (-1.0, 3.5), (1.0, 3.5))
TOY_DEVIATIONS = ((3.5, 0.45), (0.6, 0.6), (0.6, 0.6))


def list_datasets() -> tuple[str, ...]:
    """Names that `load` takes.

    Examples
    --------
    >>> from tightcut import datasets
    >>> "sonar" in datasets.list_datasets()
    True
    """
    return tuple(dict.fromkeys((*CATALOGUE, *COMPUTED)))


def load(name: str) -> Dataset:
    """Load a dataset by name, with the defaults of its own loader.

    Examples
    --------
    >>> from tightcut import datasets
    >>> datasets.load("iris")
    Dataset('iris', 150 points, 4 features, 3 classes)
    """
    if name in COMPUTED:
        return COMPUTED[name]()
    if name not in CATALOGUE:
        raise ValueError(f"Unknown dataset {name!r}; there are {', '.join(list_datasets())}.")
    return _load(name)


def _load(name: str, *, scaled: bool = True) -> Dataset:
    entry = CATALOGUE[name]
    features, classes, source = find(name, entry, scaled=scaled)
    return check_dataset(name, entry, features, classes, source)


def check_dataset(name: str, entry: Entry, features: Any, classes: Any, source: str) -> Dataset:
    """The dataset; an error unless points, features and class counts are as expected."""
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
        # Rounded to single precision, in which all sources agree.
        X = X.astype(np.float32)
    return Dataset(X.astype(entry.dtype, copy=False), y, name, entry.description)


def find(name: str, entry: Entry, *, scaled: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """X, y and the source of a dataset that is not derived from another; an OSError if no source has it."""
    import sklearn.datasets

    file = data_file(name)
    if file is not None and file.exists():
        return *from_file(file, scaled=scaled or entry.scale is None), str(file)
    if entry.bundled is not None:
        bunch = getattr(sklearn.datasets, entry.bundled)()
        return bunch.data, bunch.target, f"sklearn.datasets.{entry.bundled}"
    try:
        features, codes = from_openml(entry)
    except (OSError, ValueError, ImportError) as error:
        tried = f"{file} does not exist" if file else f"the environment variable {FOLDER_VARIABLE} is not set"
        raise OSError(
            f"Could not load the dataset {name!r}: {tried}, and OpenML (data_id={entry.openml}) failed with "
            f"{type(error).__name__}: {error}. Offline, put {name}.npz with arrays X and y into a folder and set "
            f"{FOLDER_VARIABLE} to it."
        ) from error
    if scaled and entry.scale is not None:
        features = entry.scale(features)
    return features, codes, f"OpenML, data_id={entry.openml}"


def data_file(name: str) -> Path | None:
    """The file of a dataset in the folder of the environment variable; None without the variable."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise FileNotFoundError(f"{FOLDER_VARIABLE} is set to {folder!r}, which is not a folder.")
    return path / f"{name}.npz"


def from_file(file: Path, *, scaled: bool) -> tuple[np.ndarray, np.ndarray]:
    key = "X" if scaled else "X_raw"
    with np.load(file) as arrays:
        missing = sorted({key, "y"} - set(arrays.files))
        if missing:
            raise ValueError(f"{file} has no array {' and no array '.join(missing)}; it has {', '.join(arrays.files)}.")
        return arrays[key], arrays["y"]


def from_openml(entry: Entry) -> tuple[np.ndarray, np.ndarray]:
    """Features before scaling, and classes by their position in `Entry.classes`."""
    import sklearn.datasets

    bunch = sklearn.datasets.fetch_openml(data_id=entry.openml, as_frame=True)
    codes = class_codes(bunch.target, entry.classes)
    if entry.prepare is not None:
        return entry.prepare(bunch.data, codes)
    return bunch.data.to_numpy(dtype=np.float64), codes


def class_codes(target: Any, classes: tuple[str, ...]) -> np.ndarray:
    """Codes 0, 1, ... of class names, which may be quoted, or numbers."""
    numbers = (int(value) if isinstance(value, float) and value.is_integer() else value for value in target)
    names, inverse = np.unique([str(value).strip("'\" ") for value in numbers], return_inverse=True)
    unknown = sorted(set(names.tolist()) - set(classes))
    if unknown:
        raise ValueError(f"unexpected class {unknown[0]!r}; expected {', '.join(classes)}")
    return np.array([classes.index(name) for name in names.tolist()], dtype=np.int64)[inverse]


def with_shifts(images: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Images as flat rows, then the same shifted by one pixel in each of `SHIFTS`; zeros move in."""
    height, width = shape
    framed = np.pad(images.reshape(-1, height, width), ((0, 0), (1, 1), (1, 1)))
    moves = [
        framed[:, 1 - down : 1 - down + height, 1 - right : 1 - right + width] for down, right in ((0, 0), *SHIFTS)
    ]
    return np.concatenate(moves).reshape(-1, height * width)


def loader_of(name: str) -> Callable[..., Dataset]:
    """The loader of a dataset in the catalogue; its docstring is the description of the data."""

    def load_plain() -> Dataset:
        return _load(name)

    def load_scaled(*, scaled: bool = True) -> Dataset:
        return _load(name, scaled=scaled)

    loader: Callable[..., Dataset] = load_plain if CATALOGUE[name].scale is None else load_scaled
    loader.__name__ = loader.__qualname__ = f"load_{name}"
    loader.__doc__ = CATALOGUE[name].description
    return loader


def load_usps0() -> Dataset:
    """USPS, digit 0 (class 0) against the rest (class 1)."""
    usps = load("usps")
    return check_dataset("usps0", CATALOGUE["usps0"], usps.X, usps.y != 0, "usps")


def load_extended_mnist() -> Dataset:
    """MNIST with its eight shifts by one pixel: 630,000 images, half a gigabyte of uint8."""
    mnist = load("mnist")
    y = np.tile(mnist.y, 1 + len(SHIFTS))
    return check_dataset("extended_mnist", CATALOGUE["extended_mnist"], with_shifts(mnist.X, (28, 28)), y, "mnist")


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

    Without constraints the three clusters of least normalized cut are the halves of the long class, and both round classes
    together, as in the paper's Section 5: cutting a thin class is cheaper than separating two that touch. The default
    `random_state` shows this clearly, as do most others.

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


COMPUTED: dict[str, Callable[[], Dataset]] = {
    "usps0": load_usps0,
    "extended_mnist": load_extended_mnist,
    "two_moons": load_two_moons,
    "gaussian_toy": load_gaussian_toy,
}
