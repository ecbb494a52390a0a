"""How far a run is, and how long it will still take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from tightcut.experiments._cells import Cell
from tightcut.progress import StatusLine, bar


class RunLine(StatusLine):
    """A status line that learns from the cells that are done."""

    def __init__(self, cells: list[Cell], n_jobs: int | None) -> None:
        from joblib import effective_n_jobs

        super().__init__()
        self.n_jobs = effective_n_jobs(n_jobs)
        self.total = len(cells)
        self.left = Counter((cell.dataset, cell.method) for cell in cells)
        self.statuses: Counter[str] = Counter()
        self.times: dict[tuple[str, ...], list[float]] = defaultdict(list)

    def start(self, rows: Iterable[dict[str, Any]]) -> None:
        """Count the cells that an earlier run has left."""
        for row in rows:
            self._learn(row)
        if self.statuses:
            self._show(f"{self.statuses.total()} cells were done before")

    def add(self, cell: Cell, row: dict[str, Any]) -> None:
        self._learn(row)
        self._show(str(cell))

    def seconds_left(self) -> float:
        """Cells left times the mean of those done: of the same dataset and method if there are, else of ever more.

        Examples
        --------
        >>> line = RunLine([Cell("a", "fast", 1, 0, trial) for trial in range(4)], n_jobs=1)
        >>> line._learn({"dataset": "a", "method": "fast", "status": "ok", "seconds": 2.0})
        >>> line.seconds_left()
        6.0
        """
        total = 0.0
        for (dataset, method), count in self.left.items():
            known = next((self.times[key] for key in ((dataset, method), (method,), ()) if self.times[key]), [0.0])
            total += count * sum(known) / len(known)
        return total / self.n_jobs

    def _learn(self, row: dict[str, Any]) -> None:
        key = row["dataset"], row["method"]
        self.left[key] -= 1
        self.statuses[row["status"]] += 1
        for group in (key, key[1:], ()):
            self.times[group].append(row.get("seconds") or 0.0)

    def _show(self, last: str) -> None:
        done = self.statuses.total()
        odd = "".join(f", {count} {status}" for status, count in self.statuses.items() if status != "ok")
        left = f", about {duration(self.seconds_left())} left" if done < self.total else ""
        self.show(
            f"tightcut {bar(done, self.total)} {done}/{self.total}{odd}{left}  {last}", finished=done >= self.total
        )


def duration(seconds: float) -> str:
    """Seconds as people say them.

    Examples
    --------
    >>> duration(42), duration(600), duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
