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

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tightcut.neighbors.cell_pairs import CandidateLists, CellPairs, Differences, QueryCells, rounding_error
from tightcut.neighbors.cells import Cells, consecutive_cells, near_cells
from tightcut.neighbors.distances import SAME, first_equals, rank_candidates
from tightcut.neighbors.points import is_memory_mapped, largest_coordinate, unit_scale
from tightcut.neighbors.projections import Projection, useful_projection
from tightcut.neighbors.threads import Progress, Workers, single_threaded_blas

EXTRA = 6  # candidates beyond k
NEAR = 8  # cells that every cell is compared with first
CELL = 1024  # rows of a cell at most
SMALL_CELL = 256  # rows of a cell of projected queries, and of one in so few features that distances rule out most
FEW_FEATURES = 4
MAPPED_CELL = 4096  # of a file, which is read once per cell
PROJECTION_SAMPLE = 10_000  # points that tell how many components serve queries best
FAR = 2.0**40  # queries so much farther out than the points that float32 might overflow


@dataclass(frozen=True, eq=False)
class CandidateRanking:
    """The neighbours of queries: half squared distances, smallest first, and numbers of points."""

    queries: np.ndarray
    points: np.ndarray
    scale: float
    half_squares: np.ndarray
    neighbors: np.ndarray

    @property
    def k(self) -> int:
        return self.neighbors.shape[1]

    def rank(self, lists: CandidateLists, part: slice) -> None:
        """Write the nearest candidates of a part of the lists."""
        rows = lists.rows[part]
        nearest = rank_candidates(self.queries, rows, self.points, lists.neighbors[part], self.scale, self.k)
        self.half_squares[rows], self.neighbors[rows] = nearest

    def bound(self, lists: CandidateLists, part: slice = slice(None)) -> None:
        """No candidate is farther away than the last neighbour so far, infinitely far in a list that is not full."""
        lists.bounds[part] = self.half_squares[lists.rows[part], -1] * SAME


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
        """The smaller neighbour first among equals; of too many equal points of a file, any may be taken.

        Queries may come with distances `within`, of shape (m,), beyond which they need no neighbours. Where projections
        serve, the distances to neighbours that this leaves out are infinite.
        """
        own = X is None
        queries = self._points if X is None else np.ascontiguousarray(X)
        shape = len(queries), n_neighbors
        found = CandidateRanking(queries, self._points, self._scale, np.empty(shape), np.empty(shape, dtype=np.int64))
        if own and self.projection is None and not self._mapped:
            self.projection = useful_projection(self._points, n_neighbors, self._scale)
        # Coordinates of the points are between 1/4 and 1/2 at most.
        extent = largest_coordinate(queries) * self._scale
        if self.projection is None or extent >= FAR:
            self._search(found, np.float32 if extent < FAR else np.float64, own=own)
        elif own:
            self._search_projected(found, self.projection)
        else:
            self._answer_projected(found, self.projection, within)
        return np.sqrt(2 * found.half_squares) / self._scale, found.neighbors

    def _search(self, found: CandidateRanking, precision: type, *, own: bool) -> None:
        """Candidates by products of the points; their order is checked."""
        n, n_others = len(found.queries), len(self._points) - own
        m = min(found.k + EXTRA, n_others)
        cells = self._cells if own else self._make_cells(found.queries, np.arange(n))
        lists = CandidateLists.empty(cells.rows, m, precision)
        with self._workers.expecting((4 if own else 1) * cells.n_cells + -(-n // CELL)):
            if own:
                pairs = CellPairs(cells, lists)
                self._compare_reachable(pairs, self._compare_near(pairs))
            else:
                self._fill(QueryCells(self._cells, cells, lists, own=False))
            self._rank(found, lists)
            last = found.half_squares[cells.rows, -1]
            error = rounding_error(lists.largest_half_norm, last, self._points.shape[1], lists.bounds.dtype)
            certified = (last + error < lists.bounds) | (own & (last == 0)) | (m == n_others)
            uncertified = cells.rows[~certified]
            self.n_repeated = len(uncertified)
            if self.n_repeated:
                self._repeat(found, uncertified, own=own)
        if own and not self._mapped and (clumped := np.flatnonzero(found.half_squares[:, -1] == 0)).size:
            rows, equals = first_equals(found.points, clumped, found.k)
            found.neighbors[rows] = equals

    def _repeat(self, found: CandidateRanking, rows: np.ndarray, *, own: bool) -> None:
        """Search again for some rows, given how far the last neighbour is at most.

        Not even products in float64 tell the members of a dense clump apart. They rule out what is farther away than the
        bound by more than their rounding error; the rest is measured by differences.
        """
        cells = self._make_cells(found.queries, rows)
        lists = CandidateLists.empty(cells.rows, found.k, np.float64)
        found.bound(lists)
        precision, n_roundings = np.finfo(np.float64), 2 * self._points.shape[1] + 32  # see `rounding_error`
        lower = float(1 - n_roundings * precision.eps / 2), float(n_roundings * precision.tiny)
        differences = Differences(found.queries, self._points, self._scale, *lower)
        self._fill(QueryCells(self._cells, cells, lists, own=own, differences=differences))
        self._rank(found, lists)

    def _search_projected(self, found: CandidateRanking, projection: Projection) -> None:
        """Neighbours of the points themselves: the nearest projections bound the distances, then all are compared."""
        cells, n = self._projected_cells, len(self._points)
        nearest = CandidateLists.empty(cells.rows, found.k + EXTRA, np.float32)
        lists = CandidateLists.empty(cells.rows, found.k, np.float64)
        with self._workers.expecting(5 * cells.n_cells + 2 * -(-n // CELL)):
            self._compare_near(CellPairs(cells, nearest))
            self._rank(found, nearest)
            found.bound(lists)
            pairs = CellPairs(cells, lists, projection.differences(self._points, self._points, self._scale))
            self._workers.map(pairs.compare_inside, range(cells.n_cells))
            self._compare_reachable(pairs, np.eye(cells.n_cells, dtype=bool))
            self._rank(found, lists)
        self.n_repeated = 0

    @single_threaded_blas()
    def _answer_projected(self, found: CandidateRanking, projection: Projection, within: np.ndarray | None) -> None:
        """The same for queries; `within` saves the search for the nearest projections."""
        projected = projection.of(found.queries, self._scale)
        cells = near_cells(projected.points, np.arange(len(found.queries)), SMALL_CELL, 1.0)
        nearest = CandidateLists.empty(cells.rows, min(found.k + EXTRA, len(self._points)), np.float32)
        lists = CandidateLists.empty(cells.rows, found.k, np.float64)
        first = QueryCells(self._projected_cells, cells, nearest, own=False)
        differences = projected.differences(found.queries, self._points, self._scale)
        pairs = QueryCells(self._projected_cells, cells, lists, own=False, differences=differences)

        def search(cell: int) -> None:
            span = cells.span(cell)
            if within is None:
                first.compare_near(cell, NEAR)
                found.rank(nearest, span)
                found.bound(lists, span)
            else:
                lists.bounds[span] = (within[cells.rows[span]] * self._scale) ** 2 / 2 * SAME
            pairs.compare_reachable(cell)
            found.rank(lists, span)

        with self._workers.expecting(cells.n_cells):
            self._workers.map(search, range(cells.n_cells))

    def _fill(self, queries: QueryCells) -> None:
        """Fill the lists of every cell of queries."""
        self._workers.map(lambda cell: queries.search(cell, NEAR), range(queries.n_cells))

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

    def _rank(self, found: CandidateRanking, lists: CandidateLists) -> None:
        """Write the neighbours of all rows of the lists."""
        self._workers.map(lambda start: found.rank(lists, slice(start, start + CELL)), range(0, len(lists.rows), CELL))

    def _make_cells(self, some: np.ndarray, rows: np.ndarray) -> Cells:
        if self._mapped:
            return consecutive_cells(some, rows, MAPPED_CELL, self._scale)
        return near_cells(some, rows, SMALL_CELL if some.shape[1] <= FEW_FEATURES else CELL, self._scale)
