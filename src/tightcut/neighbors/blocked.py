"""Exact nearest neighbours on the CPU, block by block.

1. Cells: the points are put into cells of near points (`tightcut.neighbors.cells`).
2. Candidates: for a pair of cells, half the squared distances |x|^2 / 2 + |y|^2 / 2 - <x, y> by one matrix product in
   float32, with the origin in the centre of one of the cells. Each pair of points is looked at once and enters the
   lists of both. First every cell meets the nearest cells; then it meets those that the triangle inequality, given the
   lists so far, cannot rule out. In few dimensions hardly any are left, in hundreds nearly all.
3. Ranking: the candidates' distances by float64 differences; among equals the smaller number comes first.
4. Certificate: no point outside the candidates can be nearer than the k-th, given the rounding error of float32. Rows
   that fail it, such as those with many equal distances, are searched again with products in float64.

Where points of many features lie near few directions, shadows of them decide which pairs are measured at all; see
`tightcut.neighbors.shadows`. Distances are by float64 differences then, and nothing is left to check.

Memory beyond the points: k + `EXTRA` candidates of 8 bytes and a shadow of at most 1 KiB per point, and per thread a
product of two cells with their coordinates in float32. Points stay what they are: float64, float32 or uint8, in memory
or memory-mapped; these cast no shadows.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tightcut.neighbors.cells import Cells, consecutive_cells, near_cells
from tightcut.neighbors.distances import half_square_distances, largest_coordinate, unit_scale
from tightcut.neighbors.meeting import NOBODY, Lists, Meeting, Quest, rounding_error
from tightcut.neighbors.shadows import ShadowMeeting, Shadows, cast_shadows
from tightcut.neighbors.threads import Progress, Team

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
        self._mapped = is_memory_mapped(points)
        self.n_repeated = 0

    @cached_property
    def _cells(self) -> Cells:
        return self._make_cells(self._points, np.arange(len(self._points)))

    def kneighbors(self, X: np.ndarray | None = None, n_neighbors: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Distances to the nearest points and their numbers, nearest first; the smaller number first among equals.

        Of more points at the distance of the last one than there are places, any may be taken.

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
        answer = Answer.empty(len(queries), n_neighbors)
        shadows = cast_shadows(self._points, n_neighbors, self._scale) if own and not self._mapped else None
        if shadows is None:
            self._search(queries, answer, own=own)
        else:
            self._search_shadows(shadows, answer)
        return np.sqrt(2 * answer.halves) / self._scale, answer.numbers

    def _search(self, queries: np.ndarray, answer: Answer, *, own: bool) -> None:
        """Candidates by products of the points; their order is checked."""
        n_others = len(self._points) - own
        m = min(answer.numbers.shape[1] + EXTRA, n_others)
        cells = self._cells if own else self._make_cells(queries, np.arange(len(queries)))
        lists = Lists.empty(len(queries), m, np.float32 if self._extent(queries) < FAR else np.float64)
        with self._team.working((4 if own else 1) * cells.n_cells + -(-len(queries) // RANKED)):
            if own:
                meeting = Meeting(self._points, cells, self._scale, lists)
                self._meet_reachable(meeting, self._meet_near(meeting))
            else:
                self._meet_points(queries, cells, lists, own=False)
            self._rank(queries, cells, lists, answer)
            unsure = cells.rows[~self._is_sure(cells, lists, answer)] if m < n_others else cells.rows[:0]
            self.n_repeated = len(unsure)
            if len(unsure):
                self._repeat(queries, unsure, answer, m, own=own)

    def _search_shadows(self, shadows: Shadows, answer: Answer) -> None:
        """Neighbours of the points themselves: the nearest shadows tell how far to look, then all are compared."""
        n, k = answer.numbers.shape
        cells = near_cells(shadows.points, np.arange(n), CELL, 1.0)
        guess, lists = Lists.empty(n, k + EXTRA, np.float32), Lists.empty(n, k, np.float64)
        with self._team.working(5 * cells.n_cells + 2 * -(-n // RANKED)):
            self._meet_near(Meeting(shadows.points, cells, 1.0, guess))
            self._rank(self._points, cells, guess, answer)
            lists.limit[:] = answer.halves[cells.rows, -1]
            meeting = ShadowMeeting(shadows, cells, lists, self._points, self._scale)
            self._team.each(meeting.meet_itself, range(cells.n_cells))
            self._meet_reachable(meeting, np.eye(cells.n_cells, dtype=bool))
            self._rank(self._points, cells, lists, answer)
        self.n_repeated = 0

    def _meet_near(self, meeting: Meeting) -> np.ndarray:
        """Every cell meets itself and the nearest ones; returns which have met."""
        near = meeting.nearest_cells(NEAR)
        self._team.each(meeting.meet_itself, range(len(near)))
        self._team.each(lambda cell: meeting.visit(cell, near), range(len(near)))
        return near

    def _meet_reachable(self, meeting: Meeting, met: np.ndarray) -> None:
        """Every cell meets those within its reach that it has not met, each pair of cells once."""
        if met.all():
            return
        wanted = np.zeros_like(met)

        def look_around(cell: int) -> None:
            wanted[cell, meeting.within_reach(cell)] = True

        self._team.each(look_around, range(len(met)))
        wanted |= wanted.T
        wanted &= ~met
        self._team.each(lambda cell: meeting.visit(cell, wanted), range(len(met)))

    def _meet_points(self, queries: np.ndarray, cells: Cells, lists: Lists, *, own: bool) -> None:
        """Fill the lists of queries, cell by cell."""
        quest = Quest(self._points, self._cells, self._scale, queries, cells, lists, own=own)

        def visit(cell: int) -> None:
            near = self._cells.nearest(cells.centres[cell], NEAR, self._scale)
            quest.ask(cell, near)
            quest.ask(cell, np.setdiff1d(quest.within_reach(cell), near))

        self._team.each(visit, range(cells.n_cells))

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

    def _make_cells(self, some: np.ndarray, rows: np.ndarray) -> Cells:
        if self._mapped:
            return consecutive_cells(some, rows, MAPPED_CELL, self._scale)
        return near_cells(some, rows, SMALL_CELL if some.shape[1] <= FEW_FEATURES else CELL, self._scale)

    def _extent(self, queries: np.ndarray) -> float:
        """Largest coordinate of the queries, that of the points being between 1/4 and 1/2."""
        return largest_coordinate(queries) * self._scale

    def _repeat(self, queries: np.ndarray, rows: np.ndarray, answer: Answer, m: int, *, own: bool) -> None:
        """Search for the neighbours of some rows with products in float64, given how far the last one is at most."""
        cells = self._make_cells(queries, rows)
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
