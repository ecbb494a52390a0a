"""Where data comes from: a folder, scikit-learn itself, or OpenML."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.datasets._catalogue import Entry

FOLDER_VARIABLE = "TIGHTCUT_DATA"

Arrays = tuple[np.ndarray, np.ndarray]


def find(name: str, entry: Entry, *, scaled: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """X, y and the source of a dataset that is not derived from another; an OSError where there is none."""
    file = data_file(name)
    if file is not None and file.exists():
        return *from_file(file, scaled=scaled or entry.scale is None), str(file)
    if entry.bundled is not None:
        return *from_sklearn(entry.bundled), f"sklearn.datasets.{entry.bundled}"
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


def from_sklearn(loader: str) -> Arrays:
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, loader)()
    return bunch.data, bunch.target


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
