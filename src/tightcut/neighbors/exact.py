"""Exact nearest neighbours on the CPU, block by block.

1. Cells: the points are put into cells of near points (`tightcut.neighbors.cells`).
2. Candidates: for a pair of cells, half the squared distances by one matrix product in float32. Each pair of points is
   compared once and enters the lists of both (`tightcut.neighbors.cell_pairs`). First every cell is compared with the
   nearest cells; then with those that the triangle inequality, given the lists so far, cannot rule out. In few
   dimensions hardly any are left, in hundreds nearly all.
3. Ranking: the candidates' distances by float64 differences; among equals the smaller number comes first.
4. Certificate: no point outside the candidates can be nearer than the k-th, given the rounding error of float32. Rows
   that fail it, such as those with many equal distances, are searched again: products in float64 rule out what is too far
   away, the rest is measured by differences.

Where points of many features lie near few directions, projections decide which pairs are measured at all; see
`tightcut.neighbors.projections`. Distances are by float64 differences then, and nothing is left to check. The nearest
projections of a point give an upper bound on the distance of its last neighbour, and only points whose projections are
within it are measured. An index with projections grows: new points are projected on the same components.

Time O(n^2 d) in many dimensions and near O(n d log n) in few. Memory beyond the points: k + `EXTRA` candidates of 8 bytes
and a projection of at most 1 KiB per point, and per thread a product of two cells with their coordinates in float32.
Points stay what they are: float64, float32 or uint8, in memory or memory-mapped; these are not projected.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tightcut.neighbors.cell_pairs import CandidateLists, CellPairs, QueryCells, rounding_error
from tightcut.neighbors.cells import Cells, consecutive_cells, near_cells
from tightcut.neighbors.distances import rank_candidates
from tightcut.neighbors.points import is_memory_mapped, largest_coordinate, unit_scale
from tightcut.neighbors.projections import Projection, useful_projection
from tightcut.neighbors.threads import Progress, Workers, single_threaded_blas

EXTRA = 6  # candidates beyond k
NEAR = 8  # cells that every cell is compared with first
CELL = 1024  # rows of a cell at most
SMALL_CELL, FEW_FEATURES = 256, 4  # where distances rule out nearly everything, small cells rule out more
MAPPED_CELL = 4096  # of a file, which is read once per cell
QUERY_CELL = 256  # projected queries
PROJECTION_SAMPLE = 10_000  # points that tell how many components serve queries best
RANKED = 1024  # rows ranked at a time
SAME = 1 + 1e-12  # more than two sums of the same squares can differ by, relatively
FAR = 2.0**40  # queries so much farther out than the points that float32 might overflow


class BlockedNeighbors:
    """A search over points in cells (see `tightcut.neighbors.tree.Neighbors`).

    `n_repeated` is the number of rows of the last search that needed products in float64.
    """

    def __init__(
        self,
        points: np.ndarray,
        *,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        projection: Projection | None = None,
    ) -> None:
        self._scale = unit_scale(points)
        self._points = np.asarray(points)
        self._workers = Workers(n_jobs, progress)
        self._mapped = is_memory_mapped(points)
        self.n_repeated = 0
        self.projection = projection  # if it is known, or once the points have been searched

    @classmethod
    def with_projection(
        cls, points: np.ndarray, n_neighbors: int, n_jobs: int | None = None
    ) -> BlockedNeighbors | None:
        """An index for queries; None for points without a useful projection: few, of few features, or spread evenly."""
        if is_memory_mapped(points):
            return None
        scale = unit_scale(points)
        rows = np.random.default_rng(0).choice(len(points), min(PROJECTION_SAMPLE, len(points)), replace=False)
        chosen = useful_projection(points[np.sort(rows)], n_neighbors, scale)
        if chosen is None:
            return None
        with single_threaded_blas():
            return cls(points, n_jobs=n_jobs, projection=chosen.of(points, scale))

    def for_queries(self, n_jobs: int | None) -> BlockedNeighbors | None:
        """An index over the same points by the projection that the search among them has used; None without one."""
        if self.projection is None:
            return None
        return BlockedNeighbors(self._points, n_jobs=n_jobs, projection=self.projection)

    def grown(self, points: np.ndarray) -> BlockedNeighbors | None:
        """The index over these points, the first of which are those it has; None if it must be built again."""
        old = len(self._points)
        if self.projection is None or unit_scale(points) != self._scale or points.dtype != self._points.dtype:
            return None
        with single_threaded_blas():
            projection = self.projection.grown(points[old:], self._scale)
        result = BlockedNeighbors(points, n_jobs=self._workers.n_jobs, projection=projection)
        added = near_cells(projection.points, np.arange(old, len(points)), CELL, 1.0)
        vars(result)["_projected_cells"] = self._projected_cells.followed_by(added)
        return result

    @cached_property
    def _cells(self) -> Cells:
        return self._make_cells(self._points, np.arange(len(self._points)))

    @cached_property
    def _projected_cells(self) -> Cells:
        assert self.projection is not None  # noqa: S101
        return near_cells(self.projection.points, np.arange(len(self._points)), CELL, 1.0)

    def kneighbors(
        self, X: np.ndarray | None = None, n_neighbors: int = 1, within: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The smaller neighbour first among equals; of too many at the distance of the last one, any may be taken.

        Queries may come with distances `within`, of shape (m,), beyond which they need no neighbours. Where projections
        serve, the distances to neighbours that this leaves out are infinite.
        """
        own = X is None
        queries = self._points if X is None else np.ascontiguousarray(X)
        shape = len(queries), n_neighbors
        half_squares, neighbors = np.empty(shape), np.empty(shape, dtype=np.int64)
        if own and self.projection is None and not self._mapped:
            self.projection = useful_projection(self._points, n_neighbors, self._scale)
        # Coordinates of the points are between 1/4 and 1/2 at most.
        extent = largest_coordinate(queries) * self._scale
        if self.projection is None or extent >= FAR:
            self._search(queries, half_squares, neighbors, np.float32 if extent < FAR else np.float64, own=own)
        elif own:
            self._search_projected(self.projection, half_squares, neighbors)
        else:
            self._answer_projected(self.projection, queries, within, half_squares, neighbors)
        return np.sqrt(2 * half_squares) / self._scale, neighbors

    def _search(
        self, queries: np.ndarray, half_squares: np.ndarray, neighbors: np.ndarray, precision: type, *, own: bool
    ) -> None:
        """Candidates by products of the points; their order is checked."""
        n_others = len(self._points) - own
        m = min(neighbors.shape[1] + EXTRA, n_others)
        cells = self._cells if own else self._make_cells(queries, np.arange(len(queries)))
        lists = CandidateLists.empty(len(queries), m, precision)
        with self._workers.expecting((4 if own else 1) * cells.n_cells + -(-len(queries) // RANKED)):
            if own:
                pairs = CellPairs(self._points, cells, self._scale, lists)
                self._compare_reachable(pairs, self._compare_near(pairs))
            else:
                search = QueryCells(self._points, self._cells, self._scale, queries, cells, lists, own=False).search
                self._workers.map(lambda cell: search(cell, NEAR), range(cells.n_cells))
            self._rank(queries, cells, lists, half_squares, neighbors)
            last, n_features = half_squares[:, -1], self._points.shape[1]
            error = rounding_error(lists.largest_half_norm, last[cells.rows], n_features, lists.bounds.dtype)
            certified = (last[cells.rows] + error < lists.bounds) | (last[cells.rows] == 0) | (m == n_others)
            uncertified = cells.rows[~certified]
            self.n_repeated = len(uncertified)
            if self.n_repeated:
                self._repeat(queries, uncertified, half_squares, neighbors, own=own)

    def _repeat(
        self, queries: np.ndarray, rows: np.ndarray, half_squares: np.ndarray, neighbors: np.ndarray, *, own: bool
    ) -> None:
        """Search again for some rows, given how far the last neighbour is at most.

        Not even products in float64 tell the members of a dense clump apart. They rule out what is farther away than the
        bound by more than their rounding error; the rest is measured by differences.
        """
        cells = self._make_cells(queries, rows)
        lists = CandidateLists.empty(len(rows), neighbors.shape[1], np.float64)
        lists.bounds[:] = half_squares[cells.rows, -1] * SAME
        search = QueryCells(self._points, self._cells, self._scale, queries, cells, lists, own=own)
        precision, n_roundings = np.finfo(np.float64), 2 * self._points.shape[1] + 32  # see `rounding_error`
        lower = float(1 - n_roundings * precision.eps / 2), float(n_roundings * precision.tiny)
        search.measure(*lower, queries, self._points, self._scale)
        self._workers.map(lambda cell: search.search(cell, NEAR), range(cells.n_cells))
        self._rank(queries, cells, lists, half_squares, neighbors)

    def _search_projected(self, projection: Projection, half_squares: np.ndarray, neighbors: np.ndarray) -> None:
        """Neighbours of the points themselves: the nearest projections bound the distances, then all are compared."""
        n, k = neighbors.shape
        cells = self._projected_cells
        nearest = CandidateLists.empty(n, k + EXTRA, np.float32)
        lists = CandidateLists.empty(n, k, np.float64)
        with self._workers.expecting(5 * cells.n_cells + 2 * -(-n // RANKED)):
            self._compare_near(CellPairs(projection.points, cells, 1.0, nearest))
            self._rank(self._points, cells, nearest, half_squares, neighbors)
            lists.bounds[:] = half_squares[cells.rows, -1] * SAME
            pairs = CellPairs(projection.points, cells, 1.0, lists)
            pairs.measure_projected(projection, self._points, self._points, self._scale)
            self._workers.map(pairs.compare_inside, range(cells.n_cells))
            self._compare_reachable(pairs, np.eye(cells.n_cells, dtype=bool))
            self._rank(self._points, cells, lists, half_squares, neighbors)
        self.n_repeated = 0

    @single_threaded_blas()
    def _answer_projected(
        self,
        projection: Projection,
        queries: np.ndarray,
        within: np.ndarray | None,
        half_squares: np.ndarray,
        neighbors: np.ndarray,
    ) -> None:
        """The same for queries; `within` saves the search for the nearest projections."""
        projected = projection.of(queries, self._scale)
        cells, n, k = near_cells(projected.points, np.arange(len(queries)), QUERY_CELL, 1.0), *neighbors.shape
        nearest = CandidateLists.empty(n, min(k + EXTRA, len(self._points)), np.float32)
        lists = CandidateLists.empty(n, k, np.float64)
        sides = projection.points, self._projected_cells, 1.0, projected.points, cells
        first, pairs = (QueryCells(*sides, some, own=False) for some in (nearest, lists))
        pairs.measure_projected(projected, queries, self._points, self._scale)

        def search(cell: int) -> None:
            span = cells.span(cell)
            if within is None:
                first.compare_near(cell, NEAR)
                self._rank_part(span, queries, cells, nearest, half_squares, neighbors)
                # A list that is not full yet has an infinite last distance.
                lists.bounds[span] = half_squares[cells.rows[span], -1] * SAME
            else:
                lists.bounds[span] = (within[cells.rows[span]] * self._scale) ** 2 / 2 * SAME
            pairs.compare_reachable(cell)
            self._rank_part(span, queries, cells, lists, half_squares, neighbors)

        with self._workers.expecting(cells.n_cells):
            self._workers.map(search, range(cells.n_cells))

    def _compare_near(self, pairs: CellPairs) -> np.ndarray:
        """Compare every cell with itself and the nearest ones; returns which pairs have been compared."""
        near = pairs.nearest_cells(NEAR)
        self._workers.map(pairs.compare_inside, range(len(near)))
        self._workers.map(lambda cell: pairs.compare_with(cell, near), range(len(near)))
        return near

    def _compare_reachable(self, pairs: CellPairs, compared: np.ndarray) -> None:
        """Compare every cell with those within its reach, each pair of cells once."""
        if compared.all():
            return
        wanted = np.zeros_like(compared)

        def mark(cell: int) -> None:
            wanted[cell, pairs.within_reach(cell)] = True

        self._workers.map(mark, range(len(wanted)))
        wanted |= wanted.T
        wanted &= ~compared
        self._workers.map(lambda cell: pairs.compare_with(cell, wanted), range(len(wanted)))

    def _rank(
        self,
        queries: np.ndarray,
        cells: Cells,
        lists: CandidateLists,
        half_squares: np.ndarray,
        neighbors: np.ndarray,
    ) -> None:
        """Write the neighbours of all rows in `cells`."""

        def rank(start: int) -> None:
            self._rank_part(slice(start, start + RANKED), queries, cells, lists, half_squares, neighbors)

        self._workers.map(rank, range(0, len(cells.rows), RANKED))

    def _rank_part(
        self,
        part: slice,
        queries: np.ndarray,
        cells: Cells,
        lists: CandidateLists,
        half_squares: np.ndarray,
        neighbors: np.ndarray,
    ) -> None:
        rows, candidates = cells.rows[part], lists.neighbors[part]
        ranked = rank_candidates(queries, rows, self._points, candidates, self._scale, neighbors.shape[1])
        half_squares[rows], neighbors[rows] = ranked

    def _make_cells(self, some: np.ndarray, rows: np.ndarray) -> Cells:
        if self._mapped:
            return consecutive_cells(some, rows, MAPPED_CELL, self._scale)
        return near_cells(some, rows, SMALL_CELL if some.shape[1] <= FEW_FEATURES else CELL, self._scale)
