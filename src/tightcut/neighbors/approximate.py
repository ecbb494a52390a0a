"""Approximate nearest neighbours by faiss, of the extra `tightcut[faiss]`, with the recall measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tightcut.neighbors.distances import rank_others
from tightcut.neighbors.exact import BlockedNeighbors
from tightcut.neighbors.points import row_blocks, unit_scale
from tightcut.neighbors.threads import STAGE, Progress
from tightcut.utils.extras import require_package
from tightcut.utils.parallel import workers

LISTS_PER_ROOT = 4  # inverted lists, as a multiple of sqrt(n)
TRAINED_PER_LIST = 40  # points that place a list's centre
PROBED = 32  # lists that are searched for a point
RECALL_SAMPLE = 500  # points whose true neighbours are searched for


class ApproximateNeighbors:
    """Points in inverted lists around centres of k-means; a query looks into the nearest lists only.

    See `tightcut.neighbors.tree.Neighbors`. faiss holds a copy of the points in float32.
    """

    def __init__(self, points: np.ndarray, *, n_jobs: int | None = None, progress: Progress | None = None) -> None:
        self._faiss = _import_faiss()
        self._points, self._progress = points, progress
        self._n_jobs, _ = workers(n_jobs)
        # float32 tells points apart by their distance from the origin: any point is a better one than 0.
        self._scale, self._centre = unit_scale(points), points[0].astype(np.float64)
        n, n_features = points.shape
        n_lists = max(1, min(int(LISTS_PER_ROOT * np.sqrt(n)), n // TRAINED_PER_LIST))
        self._quantizer = self._faiss.IndexFlatL2(n_features)
        self._index = self._faiss.IndexIVFFlat(self._quantizer, n_features, n_lists)
        self._n_lists = n_lists
        chosen = np.random.default_rng(0).choice(n, min(n, TRAINED_PER_LIST * n_lists), replace=False)
        with self._threads():
            self._index.train(self._to_single(points[np.sort(chosen)]))
            for rows in row_blocks(points):
                self._index.add(self._to_single(points[rows]))

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in {"_faiss", "_quantizer"}}
        return state | {"_index": self._faiss.serialize_index(self._index)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._faiss = _import_faiss()
        self._index = self._faiss.deserialize_index(state["_index"])

    def kneighbors(self, X: np.ndarray | None = None, n_neighbors: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Some of the neighbours may be others than the nearest; their distances are exact."""
        queries = self._points if X is None else X
        shape = len(queries), n_neighbors
        distances, neighbors = np.empty(shape), np.empty(shape, dtype=np.int64)
        with self._threads():
            for rows in row_blocks(queries):
                found = self._candidates(queries[rows], n_neighbors + (X is None))
                first = rows.start if X is None else None
                distances[rows], neighbors[rows] = rank_others(queries[rows], self._points, found, self._scale, first)
                if self._progress is not None:
                    self._progress(STAGE, min(rows.stop, len(queries)), len(queries), float("nan"))
        return distances, neighbors

    def recall(self, distances: np.ndarray) -> float:
        """Share of the true neighbours among those at these distances, on a sample that is the same for every call.

        A neighbour no farther than the true k-th one is a true neighbour.
        """
        n, k = distances.shape
        rows = np.sort(np.random.default_rng(0).choice(n, min(n, RECALL_SAMPLE), replace=False))
        # One of the k + 1 nearest is the point itself.
        true, _ = BlockedNeighbors(self._points, n_jobs=self._n_jobs).kneighbors(self._points[rows], n_neighbors=k + 1)
        return float((distances[rows] <= true[:, -1:]).mean())

    def _candidates(self, queries: np.ndarray, count: int) -> np.ndarray:
        """Numbers of near points; all lists are searched for a query to which the nearest ones give too few."""
        single = self._to_single(queries)
        self._index.nprobe = min(PROBED, self._n_lists)
        _, found = self._index.search(single, count)
        few = (found < 0).any(axis=1)
        if few.any():
            self._index.nprobe = self._n_lists
            _, found[few] = self._index.search(single[few], count)
        return found

    def _to_single(self, block: np.ndarray) -> np.ndarray:
        return ((block - self._centre) * self._scale).astype(np.float32)

    @contextmanager
    def _threads(self) -> Iterator[None]:
        before = self._faiss.omp_get_max_threads()
        self._faiss.omp_set_num_threads(self._n_jobs)
        try:
            yield
        finally:
            self._faiss.omp_set_num_threads(before)


def _import_faiss() -> Any:
    return require_package("faiss", 'neighbors="approximate"', "faiss")
