"""Exact nearest neighbours on the CPU, block by block.

1. Cells: the points are put into cells of near points (`tightcut._search.cells`).
2. Candidates: for a pair of cells, half the squared distances |x|^2 / 2 + |y|^2 / 2 - <x, y> by one matrix product in
   float32, with the origin in the centre of one of the cells. Each pair of points is looked at once and enters the
   lists of both. First every cell meets the nearest cells; then it meets those that the triangle inequality, given the
   lists so far, cannot rule out. In few dimensions hardly any are left, in hundreds nearly all.
3. Ranking: the candidates' distances by float64 differences; among equals the smaller number comes first.
4. Certificate: no point outside the candidates can be nearer than the k-th, given the rounding error of float32. Rows
   that fail it, such as those with many equal distances, are searched again with products in float64.

Memory beyond the points: k + `EXTRA` candidates of 8 bytes per point, and per thread a product of two cells with their
coordinates in float32. Points stay what they are: float64, float32 or uint8, in memory or memory-mapped.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from tightcut._search.cells import Cells, consecutive_cells, near_cells
from tightcut._search.distances import half_square_distances, largest_coordinate, unit_scale
from tightcut._search.threads import Progress, Team

EXTRA = 6  # candidates beyond k
NEAR = 8  # cells that every cell meets first
CELL = 1024  # rows of a cell at most
SMALL_CELL, FEW_FEATURES = 256, 4  # where distances rule out nearly everything, small cells rule out more
MAPPED_CELL = 4096  # of a file, which is read once per cell
RANKED = 1024  # rows ranked at a time
NOBODY = np.iinfo(np.int32).max  # in the place of a candidate that has not come yet
FAR = 2.0**40  # queries so much farther out than the points that float32 might overflow


class BlockedNeighbors:
    """Points in cells, with the part of `sklearn.neighbors.NearestNeighbors` that a graph needs.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        float64, float32 or uint8, finite, of size at most 1e150. A memory-mapped array is read in blocks.
    n_jobs : int, optional
        Threads, as in joblib. The answer does not depend on it.
    progress : callable, optional
        Called with ("neighbours", done, total, nan).

    Attributes
    ----------
    n_repeated : int
        Rows of the last search that needed products in float64.
    """

    def __init__(self, points: np.ndarray, *, n_jobs: int | None = None, progress: Progress | None = None) -> None:
        self._scale = unit_scale(points)
        self._points = np.asarray(points)
        self._team = Team(n_jobs, progress)
        self._make_cells = _cell_maker(points)
        self._cells = self._make_cells(self._points, np.arange(len(points)), self._scale)
        self.n_repeated = 0

    def kneighbors(self, X: np.ndarray | None = None, n_neighbors: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Distances to the nearest points and their numbers, nearest first; the smaller number first among equals.

        Parameters
        ----------
        X : ndarray of shape (m, n_features), optional
            The queries. By default the points themselves, none being its own neighbour, though an equal one may be.
        n_neighbors : int
            At most the number of points, less one if these are the queries.

        Returns
        -------
        distances : ndarray of float64, shape (m, n_neighbors)
        neighbors : ndarray of int64, shape (m, n_neighbors)
        """
        own = X is None
        queries = self._points if X is None else np.ascontiguousarray(X)
        n_others = len(self._points) - own
        m = min(n_neighbors + EXTRA, n_others)
        cells = self._cells if own else self._make_cells(queries, np.arange(len(queries)), self._scale)
        lists = Lists.empty(len(queries), m, np.float32 if self._extent(queries) < FAR else np.float64)
        answer = Answer.empty(len(queries), n_neighbors)
        with self._team.working((4 if own else 1) * cells.n_cells + -(-len(queries) // RANKED)):
            if own:
                self._meet_each_other(lists)
            else:
                self._meet_points(queries, cells, lists, own=False)
            self._rank(queries, cells, lists, answer)
            unsure = cells.rows[~self._is_sure(cells, lists, answer)] if m < n_others else cells.rows[:0]
            self.n_repeated = len(unsure)
            if len(unsure):
                self._repeat(queries, unsure, answer, m, own=own)
        return np.sqrt(2 * answer.halves) / self._scale, answer.numbers

    def _meet_each_other(self, lists: Lists) -> None:
        """Fill the lists of the points themselves, each pair of cells once."""
        meeting = Meeting(self._points, self._cells, self._scale, lists)
        n_cells = self._cells.n_cells
        near = np.zeros((n_cells, n_cells), dtype=bool)
        for cell in range(n_cells):
            near[cell, self._nearest_cells(self._cells.centres[cell], NEAR + 1)] = True
        near |= near.T
        self._team.each(meeting.meet_itself, range(n_cells))
        self._team.each(lambda cell: meeting.visit(cell, near), range(n_cells))
        if not near.all():
            wanted = np.zeros_like(near)

            def look_around(cell: int) -> None:
                wanted[cell, meeting.within_reach(cell)] = True

            self._team.each(look_around, range(n_cells))
            wanted |= wanted.T
            wanted &= ~near
            self._team.each(lambda cell: meeting.visit(cell, wanted), range(n_cells))

    def _meet_points(self, queries: np.ndarray, cells: Cells, lists: Lists, *, own: bool) -> None:
        """Fill the lists of queries, cell by cell."""
        quest = Quest(self._points, self._cells, self._scale, queries, cells, lists, own=own)

        def visit(cell: int) -> None:
            near = self._nearest_cells(cells.centres[cell], NEAR)
            quest.ask(cell, near)
            quest.ask(cell, np.setdiff1d(quest.within_reach(cell), near))

        self._team.each(visit, range(cells.n_cells))

    def _nearest_cells(self, centre: np.ndarray, count: int) -> np.ndarray:
        difference = (self._cells.centres - centre) * self._scale
        squares = np.einsum("ij,ij->i", difference, difference)
        return np.argsort(squares, kind="stable")[:count]

    def _rank(self, queries: np.ndarray, cells: Cells, lists: Lists, answer: Answer) -> None:
        """Write the answers of all rows in `cells`."""
        k = answer.numbers.shape[1]

        def rank(start: int) -> None:
            part = slice(start, start + RANKED)
            rows = cells.rows[part]
            found = np.sort(lists.number[part].astype(np.int64), axis=1)
            # In a second search, points that tie by rounding only may leave a place empty.
            missing = found == NOBODY
            halves = half_square_distances(queries, rows, self._points, np.where(missing, 0, found), self._scale)
            halves[missing] = np.inf
            order = np.argsort(halves, axis=1, kind="stable")[:, :k]
            answer.halves[rows] = np.take_along_axis(halves, order, axis=1)
            answer.numbers[rows] = np.take_along_axis(found, order, axis=1)

        self._team.each(rank, range(0, len(cells.rows), RANKED))

    def _is_sure(self, cells: Cells, lists: Lists, answer: Answer) -> np.ndarray:
        """For each row of `cells`: whether no other point can be nearer than its last neighbour."""
        last = answer.halves[cells.rows, -1]
        error = rounding_error(lists.widest, last, self._points.shape[1], lists.limit.dtype)
        return (last + error < lists.limit) | (last == 0)

    def _extent(self, queries: np.ndarray) -> float:
        """Largest coordinate of the queries, that of the points being between 1/4 and 1/2."""
        return largest_coordinate(queries) * self._scale

    def _repeat(self, queries: np.ndarray, rows: np.ndarray, answer: Answer, m: int, *, own: bool) -> None:
        """Search for the neighbours of some rows with products in float64, given how far the last one is at most."""
        cells = self._make_cells(queries, rows, self._scale)
        lists = Lists.empty(len(rows), m, np.float64)
        last, n_features = answer.halves[cells.rows, -1], self._points.shape[1]
        widest = n_features * (1 + self._extent(queries)) ** 2 / 2
        lists.limit[:] = last + rounding_error(widest, last, n_features, np.float64)
        self._meet_points(queries, cells, lists, own=own)
        self._rank(queries, cells, lists, answer)


@dataclass(frozen=True, eq=False)
class Answer:
    """Halves of squared distances (scaled) and numbers of the neighbours, by row."""

    halves: np.ndarray
    numbers: np.ndarray

    @classmethod
    def empty(cls, n: int, k: int) -> Answer:
        return cls(np.empty((n, k)), np.empty((n, k), dtype=np.int64))


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
        self._locks = [Lock() for _ in range(cells.n_cells)]

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
        block, reach = self._block(cell, cell).astype(np.float64), self._lists.reach(self._cells.span(cell))
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
        left_lowest = np.sqrt(2 * left_halves) * (1 - self._slack) - lists.reach(near)
        right_lowest = from_one * (1 - self._slack) - lists.reach(far) - self._slack * np.linalg.norm(shift)
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

    `widest` is half of |x|^2. With u the unit roundoff, a product of d terms and two half norms are wrong by at most
    d u (|x| |y| + |x|^2 / 2 + |y|^2 / 2), and |x| |y| is no more than the sum of the half squares. Rounded coordinates
    and two sums add a few u. As |y| is at most |x| + sqrt(2 half), the sum of the half squares is at most
    3 widest + 2 half. The last term is for underflow.
    """
    unit, least = np.finfo(dtype).eps / 2, np.finfo(dtype).tiny
    return (2 * n_features + 32) * (unit * (3.0 * np.asarray(widest, dtype=np.float64) + 2 * half) + least)


def is_memory_mapped(array: Any) -> bool:
    """Whether an array, or the one that it is a view of, lies in a file."""
    while array is not None:
        if isinstance(array, (np.memmap, mmap.mmap)):
            return True
        array = getattr(array, "base", None)
    return False


def _cell_maker(points: np.ndarray) -> Callable[[np.ndarray, np.ndarray, float], Cells]:
    if is_memory_mapped(points):
        return lambda some, rows, scale: consecutive_cells(some, rows, MAPPED_CELL, scale)
    size = SMALL_CELL if points.shape[1] <= FEW_FEATURES else CELL
    return lambda some, rows, scale: near_cells(some, rows, size, scale)


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
