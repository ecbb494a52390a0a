"""Cells that meet: products of their points, and the lists of candidates that these fill."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightcut.neighbors.cells import Cells

NOBODY = np.iinfo(np.int32).max  # in the place of a candidate that has not come yet


@dataclass(frozen=True, eq=False)
class Lists:
    """The best candidates so far of each row, in the order of its cells; see `tightcut._kernels.neighbors`.

    `widest` is half the squared distance to the farthest origin from which candidates were measured.
    """

    distance: np.ndarray
    number: np.ndarray
    limit: np.ndarray
    widest: np.ndarray

    @classmethod
    def empty(cls, n: int, m: int, dtype: Any) -> Lists:
        return cls(
            np.full((n, m), np.inf, dtype=dtype),
            np.full((n, m), NOBODY, dtype=np.int32),
            np.full(n, np.inf, dtype=dtype),
            np.zeros(n, dtype=dtype),
        )

    def reach(self, part: slice) -> np.ndarray:
        """How far away a candidate may be."""
        return np.sqrt(2 * self.limit[part].astype(np.float64))

    def widen(self, rows: np.ndarray, halves: np.ndarray) -> None:
        self.widest[rows] = np.maximum(self.widest[rows], halves)


class Meeting:
    """Cells of one set of points that exchange candidates."""

    def __init__(self, points: np.ndarray, cells: Cells, scale: float, lists: Lists) -> None:
        self._points, self._cells, self._scale, self._lists = points, cells, scale, lists
        self._radii = cells.radii
        self._names = cells.rows.astype(np.int32)
        self._slack = _slack(points.shape[1])
        self._locks = [threading.Lock() for _ in range(cells.n_cells)]

    def nearest_cells(self, count: int) -> np.ndarray:
        """For each two cells, whether one is among the nearest of the other, or the same."""
        n_cells = self._cells.n_cells
        near = np.zeros((n_cells, n_cells), dtype=bool)
        for cell, centre in enumerate(self._cells.centres):
            near[cell, self._cells.nearest(centre, count + 1, self._scale)] = True
        return near | near.T

    def visit(self, cell: int, wanted: np.ndarray) -> None:
        """One cell meets half of those that it should; the others come to it."""
        n_cells = self._cells.n_cells
        # Going round from the next cell on, two threads seldom wait for the same cell.
        others = (cell + np.arange(1, n_cells // 2 + 1)) % n_cells
        if n_cells % 2 == 0 and n_cells // 2 <= cell:
            others = others[:-1]
        for other in others[wanted[cell, others]].tolist():
            self._meet(cell, other)

    def meet_itself(self, cell: int) -> None:
        block, at = self._block(cell, cell), self._cells.span(cell)
        halves, positions = _halves(block), np.arange(at.start, at.stop)
        with self._locks[cell]:
            self._lists.widen(positions, halves)
            self._offer(block @ block.T, halves, halves, positions, positions, diagonal=True)

    def within_reach(self, cell: int) -> np.ndarray:
        """The cells that this one should meet."""
        block, reach = self._block(cell, cell).astype(np.float64), self._reach(self._cells.span(cell))
        return _within_reach(block, reach, self._cells.centres[cell], self._cells, self._scale)

    def _meet(self, one: int, other: int) -> None:
        """Exchange candidates, as far as they can be of use: origin in the centre of the other cell.

        A member of one cell is eager if a member of the other cell may be within its reach; the others are asked if
        they may be within reach of an eager one.
        """
        lists, near, far = self._lists, self._cells.span(one), self._cells.span(other)
        left, right = self._block(one, other), self._block(other, other)
        left_halves, right_halves = _halves(left), _halves(right)
        shift = (self._cells.centres[other] - self._cells.centres[one]) * self._scale
        from_one = np.sqrt(2 * _halves(right + shift.astype(right.dtype)))
        left_lowest = np.sqrt(2 * left_halves) * (1 - self._slack) - self._reach(near)
        right_lowest = from_one * (1 - self._slack) - self._reach(far) - self._slack * np.linalg.norm(shift)
        left_eager = left_lowest <= self._radii[other]
        right_eager = right_lowest <= self._radii[one]
        left_asked = self._cells.offsets[near] >= right_lowest.min()
        right_asked = self._cells.offsets[far] >= left_lowest.min()
        offers = []
        for rows, columns in ((left_eager, right_asked | right_eager), (left_asked & ~left_eager, right_eager)):
            i, j = np.flatnonzero(rows), np.flatnonzero(columns)
            if len(i) and len(j):
                products = left[i] @ right[j].T
                offers.append((products, left_halves[i], right_halves[j], i + near.start, j + far.start))
        with self._locks[min(one, other)], self._locks[max(one, other)]:
            lists.widen(np.flatnonzero(left_eager) + near.start, left_halves[left_eager])
            lists.widen(np.flatnonzero(right_eager) + far.start, right_halves[right_eager])
            for offer in offers:
                self._offer(*offer, diagonal=False)

    def _reach(self, part: slice) -> np.ndarray:
        return self._lists.reach(part)

    def _offer(self, *block: np.ndarray, diagonal: bool) -> None:
        from tightcut._kernels.neighbors import offer_both

        offer_both(*block, self._names, self._lists.distance, self._lists.number, self._lists.limit, diagonal)

    def _block(self, cell: int, origin: int) -> np.ndarray:
        rows = self._cells.rows[self._cells.span(cell)]
        return _centred(self._points, rows, self._cells.centres[origin], self._scale)


class Quest:
    """Cells of queries that look for candidates among the points."""

    def __init__(
        self,
        points: np.ndarray,
        cells: Cells,
        scale: float,
        queries: np.ndarray,
        query_cells: Cells,
        lists: Lists,
        *,
        own: bool,
    ) -> None:
        self._points, self._cells, self._scale = points, cells, scale
        self._queries, self._query_cells, self._lists = queries, query_cells, lists
        self._names = query_cells.rows if own else np.full(len(query_cells.rows), -1)
        self._slack = _slack(points.shape[1])

    def ask(self, cell: int, others: np.ndarray) -> None:
        from tightcut._kernels.neighbors import offer_left

        lists, at = self._lists, self._query_cells.span(cell)
        dtype = lists.limit.dtype
        for other in others.tolist():
            members, centre = self._cells.span(other), self._cells.centres[other]
            left = _centred(self._queries, self._query_cells.rows[at], centre, self._scale, dtype)
            halves = _halves(left)
            lowest = np.sqrt(2 * halves) * (1 - self._slack) - lists.reach(at)
            eager = np.flatnonzero(lowest <= self._cells.radii[other])
            if not len(eager):
                continue
            asked = self._cells.rows[members][self._cells.offsets[members] >= lowest.min()]
            right = _centred(self._points, asked, centre, self._scale, dtype)
            rows = eager + at.start
            lists.widen(rows, halves[eager])
            products = left[eager] @ right.T
            arguments = (products, halves[eager], _halves(right), rows, self._names[rows], asked)
            offer_left(*arguments, lists.distance, lists.number, lists.limit)

    def within_reach(self, cell: int) -> np.ndarray:
        at, centre = self._query_cells.span(cell), self._query_cells.centres[cell]
        block = _centred(self._queries, self._query_cells.rows[at], centre, self._scale, np.float64)
        return _within_reach(block, self._lists.reach(at), centre, self._cells, self._scale)


def rounding_error(widest: Any, half: np.ndarray, n_features: int, dtype: Any) -> np.ndarray:
    """Largest error of a computed half squared distance from x to a y that is really at most `half` away.

    `widest` is half the square of x's norm. With u the unit roundoff, a product of d terms and two half norms are wrong
    by at most d u times the product of the norms and the half squares. That product is no more than the sum of the half
    squares. Rounded coordinates and two sums add a few u. As the norm of y is at most that of x plus sqrt(2 half), the
    sum of the half squares is at most 3 widest + 2 half. The last term is for underflow.
    """
    unit, least = np.finfo(dtype).eps / 2, np.finfo(dtype).tiny
    return (2 * n_features + 32) * (unit * (3.0 * np.asarray(widest, dtype=np.float64) + 2 * half) + least)


def _within_reach(block: np.ndarray, reach: np.ndarray, centre: np.ndarray, cells: Cells, scale: float) -> np.ndarray:
    """The cells of which a member may be within reach of a row of the block, given relative to its centre."""
    slack = _slack(block.shape[1])
    shifts = (cells.centres - centre) * scale
    gaps = np.sqrt(np.einsum("ij,ij->i", shifts, shifts))
    halves = _halves(block)
    due = np.flatnonzero(gaps * (1 - slack) <= cells.radii + (np.sqrt(2 * halves) + reach).max())
    squares = 2 * halves[:, None] + gaps[due] ** 2 - 2 * (block @ shifts[due].T)
    lowest = np.sqrt(np.maximum(squares, 0)) * (1 - slack) - reach[:, None]
    return due[(lowest <= cells.radii[due] + slack * gaps[due]).any(axis=0)]


def _centred(
    points: np.ndarray, rows: np.ndarray, centre: np.ndarray, scale: float, dtype: Any = np.float32
) -> np.ndarray:
    """Rows relative to a centre and scaled; rounded once, as a centre of single-precision points is one itself."""
    single = dtype == np.float32 and points.dtype != np.float64
    block = np.subtract(points[rows], centre, dtype=np.float32 if single else np.float64, casting="same_kind")
    block *= scale
    return block.astype(dtype, copy=False)


def _halves(block: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", block, block) / 2


def _slack(n_features: int) -> float:
    """More than the relative rounding error of a norm in float32."""
    return (n_features + 32) * float(np.finfo(np.float32).eps)
