"""Exact neighbours of queries among a growing set of points of many features: projections are kept and extended.

Half the squared distance of two projections is a lower bound for the points (`tightcut.neighbors.projections`). The
nearest projections of a query give an upper bound on the distance of its last neighbour, and only points whose
projections are within it are measured. New points are projected on the same components.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from tightcut.neighbors.cell_pairs import CandidateLists, QueryCells
from tightcut.neighbors.cells import Cells, near_cells
from tightcut.neighbors.distances import rank_candidates
from tightcut.neighbors.points import is_memory_mapped, unit_scale
from tightcut.neighbors.projections import Projection, useful_projection
from tightcut.neighbors.threads import Workers, single_threaded_blas

EXTRA = 6  # candidates beyond k that are ranked for the first bound
NEAR = 8  # cells whose points are candidates for the first bound
CELL, QUERY_CELL = 1024, 256
SAMPLE = 10_000  # points that tell how many components to keep
SAME = 1 + 1e-12  # more than two sums of the same squares can differ by, relatively


class ProjectedNeighbors:
    """An index over points (see `tightcut.neighbors.tree.Neighbors`), for queries; `make` says whether it is of use."""

    def __init__(
        self,
        points: np.ndarray,
        projection: Projection,
        scale: float,
        n_jobs: int | None = None,
        cells: Cells | None = None,
    ) -> None:
        self._points, self._projection, self._known_cells = points, projection, cells
        self._scale, self._n_jobs = scale, n_jobs

    @cached_property
    def _cells(self) -> Cells:
        if self._known_cells is not None:
            return self._known_cells
        return near_cells(self._projection.points, np.arange(len(self._points)), CELL, 1.0)

    @classmethod
    def over(cls, index: Any, n_jobs: int | None = None) -> ProjectedNeighbors | None:
        """The index over the points of a `BlockedNeighbors`, with the projection that it has used; None without one."""
        projection = getattr(index, "projection", None)
        return None if projection is None else cls(index.points, projection, index.scale, n_jobs)

    @classmethod
    def make(cls, points: np.ndarray, n_neighbors: int, n_jobs: int | None = None) -> ProjectedNeighbors | None:
        """The index, or None for points without a useful projection: few of them, of few features, or spread evenly."""
        if is_memory_mapped(points):
            return None
        scale = unit_scale(points)
        rows = np.random.default_rng(0).choice(len(points), min(SAMPLE, len(points)), replace=False)
        chosen = useful_projection(points[np.sort(rows)], n_neighbors, scale)
        if chosen is None:
            return None
        with single_threaded_blas():
            projection = chosen.of(points, scale)
        return cls(points, projection, scale, n_jobs)

    def grown(self, points: np.ndarray) -> ProjectedNeighbors | None:
        """The index over these points, the first of which are those it has; None if it must be built again."""
        old = len(self._points)
        if unit_scale(points) != self._scale or points.dtype != self._points.dtype:
            return None
        with single_threaded_blas():
            added = self._projection.of(points[old:], self._scale)
        coordinates = np.concatenate([self._projection.points, added.points])
        projection = Projection(coordinates, added.error, added.centre, added.components)
        more = near_cells(coordinates, np.arange(old, len(points)), CELL, 1.0)
        cells = Cells(
            np.concatenate([self._cells.rows, more.rows]),
            np.concatenate([self._cells.starts, old + more.starts[1:]]),
            np.concatenate([self._cells.centres, more.centres]),
            np.concatenate([self._cells.offsets, more.offsets]),
        )
        return ProjectedNeighbors(points, projection, self._scale, self._n_jobs, cells)

    def kneighbors(
        self, X: np.ndarray, n_neighbors: int = 1, within: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distances to the nearest points and their numbers, nearest first; the smaller number first among equals.

        Parameters
        ----------
        X : ndarray of shape (m, n_features)
        n_neighbors : int
        within : ndarray of shape (m,), optional
            Distances beyond which a query needs no neighbours, which saves looking for such distances first. Where fewer
            than `n_neighbors` are within, the distances to the rest are infinite.
        """
        queries = np.ascontiguousarray(X)
        shape = len(queries), n_neighbors
        half_squares, neighbors = np.empty(shape), np.empty(shape, dtype=np.int64)
        workers = Workers(self._n_jobs)
        with workers.expecting(0):
            projected = self._projection.of(queries, self._scale)
            cells = near_cells(projected.points, np.arange(len(queries)), QUERY_CELL, 1.0)

            def rank(cell: int, lists: CandidateLists) -> None:
                span = cells.span(cell)
                rows, found = cells.rows[span], lists.neighbors[span]
                ranked = rank_candidates(queries, rows, self._points, found, self._scale, n_neighbors)
                half_squares[rows], neighbors[rows] = ranked

            nearest = CandidateLists.empty(len(queries), min(n_neighbors + EXTRA, len(self._points)), np.float32)
            first = _Projected(self._projection.points, self._cells, projected, cells, nearest)
            lists = CandidateLists.empty(len(queries), n_neighbors, np.float64)
            pairs = _Projected(self._projection.points, self._cells, projected, cells, lists)
            pairs.measure(*projected.lower_bound, queries, self._points, self._scale)

            def search(cell: int) -> None:
                span = cells.span(cell)
                if within is None:
                    first.compare_near(cell)
                    rank(cell, nearest)
                    # A list that is not full yet has an infinite last distance.
                    lists.bounds[span] = half_squares[cells.rows[span], -1] * SAME
                else:
                    lists.bounds[span] = (within[cells.rows[span]] * self._scale) ** 2 / 2 * SAME
                pairs.compare_reachable(cell)
                rank(cell, lists)

            workers.map(search, range(cells.n_cells))
        return np.sqrt(2 * half_squares) / self._scale, neighbors


class _Projected(QueryCells):
    """Cells of projected queries, compared in float32."""

    def __init__(
        self, points: np.ndarray, cells: Cells, queries: Projection, query_cells: Cells, lists: CandidateLists
    ) -> None:
        super().__init__(points, cells, 1.0, queries.points, query_cells, lists, own=False)
        self._error = queries.error

    def compare_near(self, cell: int) -> None:
        for other in self._cells.nearest(self._query_cells.centres[cell], NEAR, self._scale).tolist():
            self._compare(cell, other)

    def compare_reachable(self, cell: int) -> None:
        for other in self.within_reach(cell).tolist():
            self._compare(cell, other)

    def _query_block(self, cell: int, origin: np.ndarray, dtype: Any = np.float32) -> np.ndarray:  # noqa: ARG002
        return super()._query_block(cell, origin, np.float32)

    def _search_radii(self, part: slice) -> np.ndarray:
        return super()._search_radii(part) + self._error
