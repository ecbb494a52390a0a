"""Datasets by name: found in a folder, in scikit-learn or on OpenML, and checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.datasets._catalogue import CATALOGUE, Dataset, Entry
from tightcut.datasets._toys import load_gaussian_toy, load_two_moons

FOLDER_VARIABLE = "TIGHTCUT_DATA"
SHIFTS = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0))

Arrays = tuple[np.ndarray, np.ndarray]


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
    """Load a dataset by its name, with the default settings of its own loader.

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


def find(name: str, entry: Entry, *, scaled: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """X, y and the source of a dataset that is not derived from another; an OSError where there is none."""
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
    """Where the folder of the environment variable would hold a dataset; None without the variable."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise FileNotFoundError(f"{FOLDER_VARIABLE} is set to {folder!r}, which is not a folder.")
    return path / f"{name}.npz"


def from_file(file: Path, *, scaled: bool) -> Arrays:
    key = "X" if scaled else "X_raw"
    with np.load(file) as arrays:
        missing = sorted({key, "y"} - set(arrays.files))
        if missing:
            raise ValueError(f"{file} has no array {' and no array '.join(missing)}; it has {', '.join(arrays.files)}.")
        return arrays[key], arrays["y"]


def from_openml(entry: Entry) -> Arrays:
    """Features before scaling, and classes by their place in `Entry.classes`."""
    import sklearn.datasets

    bunch = sklearn.datasets.fetch_openml(data_id=entry.openml, as_frame=True)
    codes = class_codes(bunch.target, entry.classes)
    if entry.prepare is not None:
        return entry.prepare(bunch.data, codes)
    return bunch.data.to_numpy(dtype=np.float64), codes


def class_codes(target: Any, classes: tuple[str, ...]) -> np.ndarray:
    """Codes 0, 1, ... of class names, which may come quoted, or as numbers."""
    names, inverse = np.unique(np.array([_class_name(value) for value in target]), return_inverse=True)
    unknown = sorted(set(names.tolist()) - set(classes))
    if unknown:
        raise ValueError(f"unexpected class {unknown[0]!r}; expected {', '.join(classes)}")
    return np.array([classes.index(name) for name in names.tolist()], dtype=np.int64)[inverse]


def _class_name(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip("'\" ")


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
    height, width = shape
    framed = np.pad(images.reshape(-1, height, width), ((0, 0), (1, 1), (1, 1)))
    moves = [
        framed[:, 1 - down : 1 - down + height, 1 - right : 1 - right + width] for down, right in ((0, 0), *SHIFTS)
    ]
    return np.concatenate(moves).reshape(-1, height * width)


def loader_of(name: str) -> Callable[..., Dataset]:
    """The loader of an entry of the catalogue, with the description of the data as its documentation."""

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
    return checked("usps0", CATALOGUE["usps0"], usps.X, usps.y != 0, "usps")


def load_extended_mnist() -> Dataset:
    """MNIST with its eight shifts by one pixel: 630,000 images, half a gigabyte of uint8."""
    mnist = load("mnist")
    y = np.tile(mnist.y, 1 + len(SHIFTS))
    return checked("extended_mnist", CATALOGUE["extended_mnist"], with_shifts(mnist.X, (28, 28)), y, "mnist")


COMPUTED: dict[str, Callable[[], Dataset]] = {
    "usps0": load_usps0,
    "extended_mnist": load_extended_mnist,
    "two_moons": load_two_moons,
    "gaussian_toy": load_gaussian_toy,
}
