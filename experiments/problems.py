"""Problems: points, classes, the one graph that all methods cut, and the pairs they are given.

Points, classes and graph are files for the processes that solve them, and plain arrays: whatever lies in a cache
folder, reading it runs no code.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zipfile import is_zipfile
from zlib import crc32

import numpy as np
import scipy.sparse as sp

from experiments.record import Cell
from experiments.stamp import checksum, commit
from tightcut import Constraints, __version__, knn_affinity
from tightcut.datasets import load, sample_constraints
from tightcut.metrics import normalized_cut

SMALLEST_BELIEF = 0.01
MANY_POINTS = 100_000


class Problem(NamedTuple):
    """What a cell is solved on; classes are coded 0, 1, ..."""

    X: np.ndarray
    y: np.ndarray
    affinity: sp.csr_array


class Prepared(NamedTuple):
    """A problem in a file, its size, the neighbours of a point, and checksums of points and classes, and of the graph."""

    path: Path
    n_points: int
    n_neighbors: int
    data: str
    graph: str

    def facts(self) -> dict[str, Any]:
        """What a page says about the problem; the classes themselves are a partition that satisfies every right pair."""
        X, y, affinity = open_problem(self.path)
        return {
            "points": len(y),
            "features": X.shape[1],
            "classes": int(y.max()) + 1,
            "smallest_class": float(np.bincount(y).min() / len(y)),
            "cut_of_classes": normalized_cut(affinity, y),
        }


@contextmanager
def prepared(
    datasets: Mapping[str, Any], n_neighbors: int = 10, cache: str | os.PathLike[str] | None = None
) -> Iterator[dict[str, Prepared]]:
    """All datasets as files with their graphs: in the folder `cache`, or in a temporary one until the block ends."""
    with TemporaryDirectory(prefix="tightcut-") if cache is None else nullcontext(cache) as folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        yield {name: prepare(name, source, n_neighbors, Path(folder)) for name, source in datasets.items()}


def prepare(name: str, source: Any, n_neighbors: int, folder: Path) -> Prepared:
    """Load a dataset and save it with its graph in the folder, unless they are there."""
    import joblib

    X, y, affinity = _read(source)
    data = joblib.hash((X, y))[:12]
    digest = joblib.hash((data, affinity, n_neighbors, __version__, commit()))[:12]
    path = folder / f"{''.join(c if c.isalnum() else '_' for c in name)}-{digest}.npz"
    if not is_zipfile(path):  # absent, or something else
        with warnings.catch_warnings():
            # Bridges between components are part of the protocol, the same for every method.
            warnings.filterwarnings("ignore", message=".*connected components")
            device = "auto" if len(X) > MANY_POINTS else "cpu"  # minutes on two cores, seconds on a GPU
            graph = knn_affinity(X, n_neighbors, n_jobs=-1, device=device) if affinity is None else affinity
        temporary = path.with_suffix(".tmp")
        with temporary.open("wb") as file:
            np.savez(file, X=X, y=y, data=graph.data, indices=graph.indices, indptr=graph.indptr)
        temporary.replace(path)
    return Prepared(path, len(y), n_neighbors, data, checksum(open_problem(path).affinity))


@lru_cache(maxsize=1)
def open_problem(path: Path) -> Problem:
    """A prepared problem; cells come dataset by dataset, so the last one is kept."""
    with np.load(path, allow_pickle=False) as arrays:
        X, y, *parts = (arrays[key] for key in ("X", "y", "data", "indices", "indptr"))
    affinity = sp.csr_array(tuple(parts), shape=(len(y), len(y)))
    affinity.check_format(full_check=True)
    return Problem(X, y, affinity)


def draw_constraints(y: np.ndarray, cell: Cell, seed: int) -> Constraints:
    """The pairs of a cell: the same for every method and, apart from the wrong ones, for every level of noise."""
    rng = np.random.default_rng([seed, crc32(cell.dataset.encode()), cell.n_pairs * 10**6, cell.trial])
    known = sample_constraints(y, cell.n_pairs, rng)
    return add_noise(known, cell.noise, rng) if cell.noise else known


def add_noise(known: Constraints, noise: float, rng: np.random.Generator) -> Constraints:
    """The same pairs, round(noise * n_pairs) of them flipped, with beliefs that say how likely each is right.

    A pair is right with a probability p, uniform on (1 - 2 noise, 1): noise is the mean share of wrong ones, and flips
    fall on pairs in proportion to 1 - p. The belief is 2 p - 1.
    """
    right = rng.uniform(1 - 2 * noise, 1, known.n_pairs)
    flipped = np.zeros(known.n_pairs, dtype=bool)
    doubt = (1 - right) / max((1 - right).sum(), np.finfo(float).tiny)
    flipped[rng.choice(known.n_pairs, round(noise * known.n_pairs), replace=False, p=doubt)] = True
    pairs = np.concatenate([known.must_link, known.cannot_link])
    same = (np.arange(known.n_pairs) < known.n_must_link) ^ flipped
    belief = np.maximum(2 * right - 1, SMALLEST_BELIEF)
    return Constraints.from_pairs(known.n_points, pairs[same], pairs[~same], belief[same], belief[~same])


def _read(source: Any) -> tuple[np.ndarray, np.ndarray, Any]:
    """Points, classes and perhaps a graph: from a name of `tightcut.datasets`, a function, (X, y) or (X, y, affinity)."""
    if isinstance(source, str):
        dataset = load(source)
        source = dataset.X, dataset.y
    X, y, affinity = (*(source() if callable(source) else source), None)[:3]
    X, y = np.asarray(X), np.asarray(y)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"A dataset is X of shape (n, n_features) and y of shape (n,); got {X.shape} and {y.shape}.")
    affinity = None if affinity is None else sp.csr_array(affinity)
    if affinity is not None and affinity.shape != (len(y), len(y)):
        raise ValueError(f"The affinity of {len(y)} points must have the shape {(len(y),) * 2}; got {affinity.shape}.")
    # Bytes of images are exact in single precision, where neighbours are found twice as fast.
    single = X.dtype in (np.uint8, np.float16, np.float32)
    return X.astype(np.float32 if single else np.float64, copy=False), np.unique(y, return_inverse=True)[1], affinity
