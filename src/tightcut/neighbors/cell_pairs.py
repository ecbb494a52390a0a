"""Pairs of cells: products of their points, and the candidate lists that these fill.

For points x and y with the origin in the centre of a cell, half the squared distance is |x|^2 / 2 + |y|^2 / 2 - <x, y>:
one matrix product for a pair of cells. A *search radius* is how far away a candidate for a point's list may be, given
the list so far. What a cell can contribute follows from the triangle inequality: a member y of a cell with centre c is
within the search radius r of x only if its offset |y - c| is at least |x - c| - r.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tightcut.neighbors.cells import Cells
from tightcut.neighbors.distances import EMPTY

NO_POINTS = np.empty((0, 0))

# One side of a block of products: half the squared norms, rows of the candidate lists, and numbers of the points.
Side: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class CandidateLists:
    """The best candidates so far of some rows; see `tightcut.kernels.neighbors`.

    `largest_half_norm` is half the squared distance to the farthest origin from which candidates were measured: the
    rounding error of their distances grows with it.
    """

    rows: np.ndarray
    half_squares: np.ndarray
    neighbors: np.ndarray
    bounds: np.ndarray
    largest_half_norm: np.ndarray

    @classmethod
    def empty(cls, rows: np.ndarray, m: int, dtype: Any) -> CandidateLists:
        n = len(rows)
        return cls(
            rows,
            np.full((n, m), np.inf, dtype=dtype),
            np.full((n, m), EMPTY, dtype=np.int32),
            np.full(n, np.inf, dtype=dtype),
            np.zeros(n, dtype=dtype),
        )

    def record_norms(self, rows: np.ndarray | slice, half_norms: np.ndarray) -> None:
        self.largest_half_norm[rows] = np.maximum(self.largest_half_norm[rows], half_norms)


@dataclass(frozen=True, eq=False)
class Differences:
    """Points whose distances are measured by differences, where products of the cells only give lower bounds.

    A half squared distance from half norms times `share` and less `margin` is such a bound. `error` is that of a distance
    between points of the cells, 0 unless these are projections; `precision` is that of products.
    """

    queries: np.ndarray
    points: np.ndarray
    scale: float
    share: float
    margin: float
    error: float = 0.0
    precision: type = np.float64


class QueryCells:
    """Cells of queries, whose lists, in the order of the cells, are filled from cells of points.

    With `own` the queries are rows of the points, none its own neighbour. Products give the distances, or rule out pairs
    before these are measured by `differences`.
    """

    def __init__(
        self,
        cells: Cells,
        query_cells: Cells,
        lists: CandidateLists,
        *,
        own: bool,
        differences: Differences | None = None,
    ) -> None:
        self._cells, self._query_cells, self._lists = cells, query_cells, lists
        self._own, self._differences = own, differences
        self._error = 0.0 if differences is None else differences.error
        self._precision = lists.bounds.dtype if differences is None else differences.precision
        self._slack = (cells.points.shape[1] + 32) * float(np.finfo(np.float32).eps)  # more than the error of a norm

    @property
    def n_cells(self) -> int:
        return self._query_cells.n_cells

    def compare_near(self, cell: int, count: int) -> np.ndarray:
        """Fill the lists of one cell from the nearest cells of points, which are returned."""
        near = self._cells.nearest(self._query_cells.centres[cell], count)
        for other in near.tolist():
            self._compare(cell, other)
        return near

    def compare_reachable(self, cell: int, compared: Any = ()) -> None:
        """Fill the lists of one cell from the cells within reach that have not been compared yet."""
        for other in np.setdiff1d(self.within_reach(cell), compared).tolist():
            self._compare(cell, other)

    def search(self, cell: int, n_near: int) -> None:
        """Fill the lists of one cell: from the nearest cells of points first, then from those left within reach."""
        self.compare_reachable(cell, self.compare_near(cell, n_near))

    def within_reach(self, cell: int) -> np.ndarray:
        """The cells of points that may hold a candidate for a query of this cell.

        Time O(queries x cells x features) at most; cells too far away for every query are ruled out before.
        """
        span, cells, slack = self._query_cells.span(cell), self._cells, self._slack
        centre = self._query_cells.centres[cell]
        block = self._query_block(cell, centre, np.float64)
        radii, half_norms = self._search_radii(span), _half_norms(block)
        shifts = (cells.centres - centre) * cells.scale
        gaps = np.sqrt(np.einsum("ij,ij->i", shifts, shifts))
        near = np.flatnonzero(gaps * (1 - slack) <= cells.radii + (np.sqrt(2 * half_norms) + radii).max())
        squares = 2 * half_norms[:, None] + gaps[near] ** 2 - 2 * (block @ shifts[near].T)
        least = np.sqrt(np.maximum(squares, 0)) * (1 - slack) - radii[:, None]
        return near[(least <= cells.radii[near] + slack * gaps[near]).any(axis=0)]

    def _compare(self, cell: int, other: int) -> None:
        """Update the lists of a cell from a cell of points, with the origin in the centre of the latter.

        A query is active if the cell may hold a candidate for it, which must have a certain offset at least.
        """
        span, members = self._query_cells.span(cell), self._cells.span(other)
        left = self._query_block(cell, self._cells.centres[other], self._precision)
        half_norms = _half_norms(left)
        least = np.sqrt(2 * half_norms) * (1 - self._slack) - self._search_radii(span)
        i = np.flatnonzero(least <= self._cells.radii[other])
        if len(i):
            useful = self._cells.rows[members][self._cells.offsets[members] >= least.min()]
            right = self._cells.block(useful, self._cells.centres[other], left.dtype)
            self._lists.record_norms(i + span.start, half_norms[i])
            rows, no_lists = i + span.start, np.full(len(useful), -1)
            self._update(
                left[i] @ right.T,
                (half_norms[i], rows, self._query_cells.rows[rows]),
                (_half_norms(right), no_lists, useful),
            )

    def _search_radii(self, part: slice) -> np.ndarray:
        return np.sqrt(2 * self._lists.bounds[part].astype(np.float64)) + self._error

    def _query_block(self, cell: int, origin: np.ndarray, dtype: Any = np.float32) -> np.ndarray:
        return self._query_cells.block(self._query_cells.rows[self._query_cells.span(cell)], origin, dtype)

    def _update(self, products: np.ndarray, left: Side, right: Side, *, diagonal: bool = False) -> None:
        from tightcut.kernels.neighbors import update_lists

        measured: tuple[np.ndarray, np.ndarray, float] = NO_POINTS, NO_POINTS, 1.0
        if (by := self._differences) is not None:
            left, right = (left[0] * by.share - by.margin, *left[1:]), (right[0] * by.share, *right[1:])
            measured = by.queries, by.points, by.scale
        lists = self._lists.half_squares, self._lists.neighbors, self._lists.bounds
        update_lists(products, left, right, *measured, self._own, diagonal, *lists)


class CellPairs(QueryCells):
    """Cells of points that are the queries. A pair of cells is compared once, for the lists of both, in float32."""

    def __init__(self, cells: Cells, lists: CandidateLists, differences: Differences | None = None) -> None:
        super().__init__(cells, cells, lists, own=True, differences=differences)
        self._radii = cells.radii
        self._locks = [threading.Lock() for _ in range(cells.n_cells)]

    def nearest_cells(self, count: int) -> np.ndarray:
        """For each two cells, whether one is among the nearest of the other, or the same."""
        near = np.zeros((self.n_cells, self.n_cells), dtype=bool)
        for cell, centre in enumerate(self._cells.centres):
            near[cell, self._cells.nearest(centre, count + 1)] = True
        return near | near.T

    def compare_inside(self, cell: int) -> None:
        """Compare the members of a cell with each other."""
        block, span = self._query_block(cell, self._cells.centres[cell]), self._cells.span(cell)
        side = _half_norms(block), np.arange(span.start, span.stop), self._cells.rows[span]
        with self._locks[cell]:
            self._lists.record_norms(span, side[0])
            self._update(block @ block.T, side, side, diagonal=True)

    def compare_with(self, cell: int, wanted: np.ndarray) -> None:
        """Compare one cell with half of those wanted (a symmetric matrix); the others take the pair as theirs."""
        n_cells = self.n_cells
        # Going round from the next cell on, two threads seldom wait for the same cell.
        others = (cell + np.arange(1, n_cells // 2 + 1)) % n_cells
        if n_cells % 2 == 0 and n_cells // 2 <= cell:
            others = others[:-1]
        for other in others[wanted[cell, others]].tolist():
            self._compare(cell, other)

    def _compare(self, cell: int, other: int) -> None:
        """Update the lists of two cells, with the origin in the centre of the other one.

        All pairs with an active member are compared, except those whose other end is too near its own centre to be within
        any search radius.
        """
        lists, near, far = self._lists, self._cells.span(cell), self._cells.span(other)
        origin = self._cells.centres[other]
        left, right = self._query_block(cell, origin), self._query_block(other, origin)
        left_half_norms, right_half_norms = _half_norms(left), _half_norms(right)
        shift = (origin - self._cells.centres[cell]) * self._cells.scale
        from_cell = np.sqrt(2 * _half_norms(right + shift.astype(right.dtype)))
        # The least offset of a candidate for each member; rounding may only make it smaller.
        left_least = np.sqrt(2 * left_half_norms) * (1 - self._slack) - self._search_radii(near)
        right_least = from_cell * (1 - self._slack) - self._search_radii(far) - self._slack * np.linalg.norm(shift)
        left_active = left_least <= self._radii[other]
        right_active = right_least <= self._radii[cell]
        left_useful = self._cells.offsets[near] >= right_least.min()
        right_useful = self._cells.offsets[far] >= left_least.min()
        blocks = []
        for rows, columns in ((left_active, right_useful | right_active), (left_useful & ~left_active, right_active)):
            i, j = np.flatnonzero(rows), np.flatnonzero(columns)
            if len(i) and len(j):
                left_side = left_half_norms[i], i + near.start, self._cells.rows[near][i]
                right_side = right_half_norms[j], j + far.start, self._cells.rows[far][j]
                blocks.append((left[i] @ right[j].T, left_side, right_side))
        # Locks in increasing order cannot wait for each other in a circle.
        with self._locks[min(cell, other)], self._locks[max(cell, other)]:
            # No candidate of an inactive member is here to be missed, so that rounding cannot hide one.
            lists.record_norms(np.flatnonzero(left_active) + near.start, left_half_norms[left_active])
            lists.record_norms(np.flatnonzero(right_active) + far.start, right_half_norms[right_active])
            for block in blocks:
                self._update(*block)


def rounding_error(half_norm: Any, half_square: np.ndarray, n_features: int, dtype: Any) -> np.ndarray:
    """Largest error of a computed half squared distance from x to a y that is really at most `half_square` away.

    With u the unit roundoff, a product of d terms and two half norms are wrong by at most d u times the product of the
    norms and the half norms. That product is at most the sum of the half norms. Rounded coordinates and two sums
    add a few u. As the norm of y is at most that of x plus sqrt(2 half_square), the sum of the half norms is at most
    3 half_norm + 2 half_square. The last term is for underflow.
    """
    unit, least = np.finfo(dtype).eps / 2, np.finfo(dtype).tiny
    norms = 3.0 * np.asarray(half_norm, dtype=np.float64) + 2 * half_square
    return (2 * n_features + 32) * (unit * norms + least)


def _half_norms(block: np.ndarray) -> np.ndarray:
    """Half the squared norm of each row."""
    return np.einsum("ij,ij->i", block, block) / 2
