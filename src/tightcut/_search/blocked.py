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
from typing import Any

import numpy as np

from tightcut._search.cells import Cells, consecutive_cells, near_cells
from tightcut._search.distances import half_square_distances, largest_coordinate, unit_scale
from tightcut._search.meeting import NOBODY, Lists, Meeting, Quest, rounding_error
from tightcut._search.threads import Progress, Team

EXTRA = 6  # candidates beyond k
NEAR = 8  # cells that every cell meets first
CELL = 1024  # rows of a cell at most
SMALL_CELL, FEW_FEATURES = 256, 4  # where distances rule out nearly everything, small cells rule out more
MAPPED_CELL = 4096  # of a file, which is read once per cell
RANKED = 1024  # rows ranked at a time
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
            # A second search knows how far to look, which may leave places empty.
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
