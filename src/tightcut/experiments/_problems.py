"""Problems: points, classes and the one graph that all methods cut, kept on disk for the processes that solve them."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tightcut import __version__
from tightcut.neighbors import knn_affinity


@dataclass(frozen=True, eq=False)
class Problem:
    """What a cell is solved on; its affinity is a sparse matrix."""

    X: np.ndarray
    y: np.ndarray
    affinity: Any

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.y))


def read_datasets(datasets: Mapping[str, Any] | Sequence[str]) -> dict[str, Any]:
    """Names of `tightcut.datasets`, or a mapping from names to sources, as a mapping."""
    if isinstance(datasets, str):
        raise TypeError(f"datasets must be a list of names or a mapping; for one dataset, give [{datasets!r}].")
    if isinstance(datasets, Mapping):
        return dict(datasets)
    from tightcut.datasets import list_datasets

    missing = [name for name in datasets if name not in list_datasets()]
    if missing:
        raise ValueError(f"Unknown dataset {missing[0]!r}; there are {', '.join(list_datasets())}.")
    return {name: name for name in datasets}


def prepare(name: str, source: Any, n_neighbors: int, folder: Path) -> str:
    """Load a dataset, build its graph, and save both in the folder, unless that has been done; the file's name.

    A source is a name of `tightcut.datasets`, a function without arguments, a `Dataset`, (X, y) or (X, y, affinity).
    """
    import joblib

    X, y, affinity = _read(source)
    digest = joblib.hash((X, y, affinity, n_neighbors, __version__))[:12]
    path = folder / f"{''.join(c if c.isalnum() else '_' for c in name)}-{digest}.joblib"
    if not path.exists():
        with warnings.catch_warnings():
            # Bridges between components are part of the protocol, the same for every method.
            warnings.filterwarnings("ignore", message=".*connected components")
            graph = knn_affinity(X, n_neighbors) if affinity is None else affinity
        handle, unfinished = tempfile.mkstemp(dir=folder, suffix=".unfinished")
        with os.fdopen(handle, "wb") as file:
            joblib.dump((X, y, graph), file)
        Path(unfinished).replace(path)
    return str(path)


@lru_cache(maxsize=1)
def open_problem(path: str) -> Problem:
    """A prepared problem; cells come dataset by dataset, so the last one is kept."""
    import joblib

    return Problem(*joblib.load(path))


def _read(source: Any) -> tuple[np.ndarray, np.ndarray, Any]:
    from tightcut.datasets import Dataset, load

    if isinstance(source, str):
        source = load(source)
    elif callable(source):
        source = source()
    X, y, affinity = (source.X, source.y, None) if isinstance(source, Dataset) else (*source, None)[:3]
    X, y = np.asarray(X), np.asarray(y)
    # Bytes of images are exact in single precision, where neighbours are found twice as fast.
    X = X.astype(np.float32 if X.dtype == np.uint8 else np.result_type(X.dtype, np.float32), copy=False)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"A dataset is X of shape (n, n_features) and y of shape (n,); got {X.shape} and {y.shape}.")
    return X, y, affinity
