"""Pairs of cells: products of their points, and the candidate lists that these fill.

For points x and y with the origin in the centre of a cell, half the squared distance is |x|^2 / 2 + |y|^2 / 2 - <x, y>:
one matrix product for a pair of cells. A *search radius* is how far away a candidate for a point's list may be, given
the list so far. What a cell can contribute follows from the triangle inequality: a member y of a cell with centre c is
within the search radius r of x only if its offset |y - c| is at least |x - c| - r.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightcut.neighbors.cells import Cells
from tightcut.neighbors.distances import EMPTY

NO_POINTS = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class CandidateLists:
    """The best candidates so far of each row, in the order of its cells; see `tightcut._kernels.neighbors`.

    `largest_half_norm` is half the squared distance to the farthest origin from which candidates were measured: the
    rounding error of their distances grows with it.
    """

    half_squares: np.ndarray
    neighbors: np.ndarray
    bounds: np.ndarray
    largest_half_norm: np.ndarray

    @classmethod
    def empty(cls, n: int, m: int, dtype: Any) -> CandidateLists:
        return cls(
            np.full((n, m), np.inf, dtype=dtype),
            np.full((n, m), EMPTY, dtype=np.int32),
            np.full(n, np.inf, dtype=dtype),
            np.zeros(n, dtype=dtype),
        )

    def search_radii(self, part: slice) -> np.ndarray:
        return np.sqrt(2 * self.bounds[part].astype(np.float64))

    def record_norms(self, rows: np.ndarray, half_norms: np.ndarray) -> None:
        self.largest_half_norm[rows] = np.maximum(self.largest_half_norm[rows], half_norms)


class CellPairs:
    """Cells of one set of points. A pair of cells is compared once, for the lists of both."""

    def __init__(self, points: np.ndarray, cells: Cells, scale: float, lists: CandidateLists) -> None:
        self._points, self._cells, self._scale, self._lists = points, cells, scale, lists
        self._radii = cells.radii
        self._ids = cells.rows.astype(np.int32)
        self._slack = _slack(points.shape[1])
        self._locks = [threading.Lock() for _ in range(cells.n_cells)]

    def nearest_cells(self, count: int) -> np.ndarray:
        """For each two cells, whether one is among the nearest of the other, or the same."""
        n_cells = self._cells.n_cells
        near = np.zeros((n_cells, n_cells), dtype=bool)
        for cell, centre in enumerate(self._cells.centres):
            near[cell, self._cells.nearest(centre, count + 1, self._scale)] = True
        return near | near.T

    def compare_with(self, cell: int, wanted: np.ndarray) -> None:
        """Compare one cell with half of those wanted (a symmetric matrix); the others take the pair as theirs."""
        n_cells = self._cells.n_cells
        # Going round from the next cell on, two threads seldom wait for the same cell.
        others = (cell + np.arange(1, n_cells // 2 + 1)) % n_cells
        if n_cells % 2 == 0 and n_cells // 2 <= cell:
            others = others[:-1]
        for other in others[wanted[cell, others]].tolist():
            self._compare(cell, other)

    def compare_inside(self, cell: int) -> None:
        """Compare the members of a cell with each other."""
        block, span = self._block(cell, cell), self._cells.span(cell)
        half_norms, positions = _half_norms(block), np.arange(span.start, span.stop)
        with self._locks[cell]:
            self._lists.record_norms(positions, half_norms)
            self._update(block @ block.T, half_norms, half_norms, positions, positions, diagonal=True)

    def within_reach(self, cell: int) -> np.ndarray:
        """The cells that may hold a candidate for a member of this one."""
        block, radii = self._block(cell, cell).astype(np.float64), self._search_radii(self._cells.span(cell))
        return _within_reach(block, radii, self._cells.centres[cell], self._cells, self._scale)

    def _compare(self, one: int, other: int) -> None:
        """Update the lists of two cells, with the origin in the centre of the other one.

        A member is active if the other cell may hold a candidate for it. All pairs with an active member are compared,
        less those whose other end is too near its own centre to be within any search radius.
        """
        lists, near, far = self._lists, self._cells.span(one), self._cells.span(other)
        left, right = self._block(one, other), self._block(other, other)
        left_half_norms, right_half_norms = _half_norms(left), _half_norms(right)
        shift = (self._cells.centres[other] - self._cells.centres[one]) * self._scale
        from_one = np.sqrt(2 * _half_norms(right + shift.astype(right.dtype)))
        # The least offset of a candidate for each member; rounding may only make it smaller.
        left_least = np.sqrt(2 * left_half_norms) * (1 - self._slack) - self._search_radii(near)
        right_least = from_one * (1 - self._slack) - self._search_radii(far) - self._slack * np.linalg.norm(shift)
        left_active = left_least <= self._radii[other]
        right_active = right_least <= self._radii[one]
        left_useful = self._cells.offsets[near] >= right_least.min()
        right_useful = self._cells.offsets[far] >= left_least.min()
        blocks = []
        for rows, columns in ((left_active, right_useful | right_active), (left_useful & ~left_active, right_active)):
            i, j = np.flatnonzero(rows), np.flatnonzero(columns)
            if len(i) and len(j):
                products = left[i] @ right[j].T
                blocks.append((products, left_half_norms[i], right_half_norms[j], i + near.start, j + far.start))
        # Locks in increasing order cannot wait for each other in a circle.
        with self._locks[min(one, other)], self._locks[max(one, other)]:
            # No candidate of an inactive member is here to be missed, so that rounding cannot hide one.
            lists.record_norms(np.flatnonzero(left_active) + near.start, left_half_norms[left_active])
            lists.record_norms(np.flatnonzero(right_active) + far.start, right_half_norms[right_active])
            for block in blocks:
                self._update(*block, diagonal=False)

    def _search_radii(self, part: slice) -> np.ndarray:
        return self._lists.search_radii(part)

    def _update(self, *block: np.ndarray, diagonal: bool, points: np.ndarray = NO_POINTS, scale: float = 1.0) -> None:
        from tightcut._kernels.neighbors import update_both

        lists = self._lists.half_squares, self._lists.neighbors, self._lists.bounds
        update_both(*block, self._ids, points, scale, diagonal, *lists)

    def _block(self, cell: int, origin: int) -> np.ndarray:
        rows = self._cells.rows[self._cells.span(cell)]
        return _centred(self._points, rows, self._cells.centres[origin], self._scale)


class QueryCells:
    """Cells of queries, whose lists are filled from the cells of the points."""

    def __init__(
        self,
        points: np.ndarray,
        cells: Cells,
        scale: float,
        queries: np.ndarray,
        query_cells: Cells,
        lists: CandidateLists,
        *,
        own: bool,
    ) -> None:
        self._points, self._cells, self._scale = points, cells, scale
        self._queries, self._query_cells, self._lists = queries, query_cells, lists
        self._ids = query_cells.rows if own else np.full(len(query_cells.rows), -1)
        self._slack = _slack(points.shape[1])

    def search(self, cell: int, n_near: int) -> None:
        """Fill the lists of one cell: the nearest cells of points first, then those they leave within reach."""
        centre, span = self._query_cells.centres[cell], self._query_cells.span(cell)
        near = self._cells.nearest(centre, n_near, self._scale)
        self._compare(span, near)
        block = _centred(self._queries, self._query_cells.rows[span], centre, self._scale, np.float64)
        reachable = _within_reach(block, self._lists.search_radii(span), centre, self._cells, self._scale)
        self._compare(span, np.setdiff1d(reachable, near))

    def _compare(self, span: slice, others: np.ndarray) -> None:
        """Update the lists of some queries from some cells of points; active and useful are as in `CellPairs`."""
        from tightcut._kernels.neighbors import update_rows

        lists, dtype = self._lists, self._lists.bounds.dtype
        for other in others.tolist():
            members, centre = self._cells.span(other), self._cells.centres[other]
            left = _centred(self._queries, self._query_cells.rows[span], centre, self._scale, dtype)
            half_norms = _half_norms(left)
            least = np.sqrt(2 * half_norms) * (1 - self._slack) - lists.search_radii(span)
            active = np.flatnonzero(least <= self._cells.radii[other])
            if not len(active):
                continue
            useful = self._cells.rows[members][self._cells.offsets[members] >= least.min()]
            right = _centred(self._points, useful, centre, self._scale, dtype)
            rows = active + span.start
            lists.record_norms(rows, half_norms[active])
            block = left[active] @ right.T, half_norms[active], _half_norms(right), rows, self._ids[rows], useful
            update_rows(*block, lists.half_squares, lists.neighbors, lists.bounds)


def rounding_error(half_norm: Any, half_square: np.ndarray, n_features: int, dtype: Any) -> np.ndarray:
    """Largest error of a computed half squared distance from x to a y that is really at most `half_square` away.

    With u the unit roundoff, a product of d terms and two half norms are wrong by at most d u times the product of the
    norms and the half norms. That product is no more than the sum of the half norms. Rounded coordinates and two sums
    add a few u. As the norm of y is at most that of x plus sqrt(2 half_square), the sum of the half norms is at most
    3 half_norm + 2 half_square. The last term is for underflow.
    """
    unit, least = np.finfo(dtype).eps / 2, np.finfo(dtype).tiny
    norms = 3.0 * np.asarray(half_norm, dtype=np.float64) + 2 * half_square
    return (2 * n_features + 32) * (unit * norms + least)


def _within_reach(block: np.ndarray, radii: np.ndarray, centre: np.ndarray, cells: Cells, scale: float) -> np.ndarray:
    """The cells of which a member may be within the search radius of a row of the block, given relative to its centre.

    Time O(rows x cells x features) at most; cells too far away for every row are ruled out before.
    """
    slack = _slack(block.shape[1])
    shifts = (cells.centres - centre) * scale
    gaps = np.sqrt(np.einsum("ij,ij->i", shifts, shifts))
    half_norms = _half_norms(block)
    near = np.flatnonzero(gaps * (1 - slack) <= cells.radii + (np.sqrt(2 * half_norms) + radii).max())
    squares = 2 * half_norms[:, None] + gaps[near] ** 2 - 2 * (block @ shifts[near].T)
    least = np.sqrt(np.maximum(squares, 0)) * (1 - slack) - radii[:, None]
    return near[(least <= cells.radii[near] + slack * gaps[near]).any(axis=0)]


def _centred(
    points: np.ndarray, rows: np.ndarray, centre: np.ndarray, scale: float, dtype: Any = np.float32
) -> np.ndarray:
    """Rows relative to a centre and scaled; rounded once, as a centre of single-precision points is one itself."""
    single = dtype == np.float32 and points.dtype != np.float64
    block = np.subtract(points[rows], centre, dtype=np.float32 if single else np.float64, casting="same_kind")
    block *= scale
    return block.astype(dtype, copy=False)


def _half_norms(block: np.ndarray) -> np.ndarray:
    """Half the squared norm of each row."""
    return np.einsum("ij,ij->i", block, block) / 2


def _slack(n_features: int) -> float:
    """More than the relative rounding error of a norm in float32."""
    return (n_features + 32) * float(np.finfo(np.float32).eps)
