"""Columns of a matrix that is too large to compute whole: each is computed when it is first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np


class KeptColumns:
    """Columns of an n x n matrix. Several threads may ask for them.

    Parameters
    ----------
    n : int
    compute : callable
        Takes the number of a column and returns it.

    Examples
    --------
    >>> import numpy as np
    >>> kept = KeptColumns(3, lambda row: np.arange(3) * row)
    >>> kept.columns(np.array([2, 1])).tolist()
    [[0.0, 0.0], [2.0, 1.0], [4.0, 2.0]]
    >>> kept.sums(np.array([1, 2])).tolist()
    [3.0, 6.0]
    """

    def __init__(self, n: int, compute: Callable[[int], np.ndarray]) -> None:
        self._compute = compute
        self._place: dict[int, int] = {}
        self._columns = np.empty((n, 0), np.float32, order="F")
        self._sums: list[float] = []
        self._lock = Lock()

    def column(self, row: int) -> np.ndarray:
        with self._lock:
            if row not in self._place:
                self._keep(row, self._compute(row))
            return self._columns[:, self._place[row]]

    def columns(self, rows: np.ndarray) -> np.ndarray:
        """Several columns; no copy if they were first asked for in this order."""
        for row in rows.tolist():
            self.column(row)
        places = [self._place[row] for row in rows.tolist()]
        if places == list(range(len(places))):
            return self._columns[:, : len(places)]
        return self._columns[:, places]

    def sums(self, rows: np.ndarray) -> np.ndarray:
        """The sum of each of some columns that were asked for before."""
        return np.array([self._sums[self._place[row]] for row in rows.tolist()])

    def _keep(self, row: int, column: np.ndarray) -> None:
        n, capacity = self._columns.shape
        if len(self._place) == capacity:
            wider = np.empty((n, max(16, capacity * 3 // 2)), np.float32, order="F")
            wider[:, :capacity] = self._columns
            self._columns = wider
        self._columns[:, len(self._place)] = column
        self._sums.append(float(column.sum()))
        self._place[row] = len(self._place)
