"""The loop over all cells, and how far it is."""

from __future__ import annotations

import math
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import timedelta
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from experiments.methods import Method
from experiments.problems import Prepared, prepared
from experiments.record import Cell, Record, Row, as_table
from experiments.stamp import commit
from experiments.worker import Task, crew, solve_all
from tightcut import __version__


def run(
    methods: Mapping[str, Any],
    datasets: Mapping[str, Any],
    n_pairs: Iterable[int],
    trials: int = 10,
    *,
    noise: Iterable[float] = (0.0,),
    path: str | os.PathLike[str] | None = None,
    n_jobs: int = 1,
    time_limit: float = math.inf,
    memory_limit: float | None = None,
    n_neighbors: int = 10,
    seed: int = 0,
    retry: bool = False,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Any:
    """Fit every method on every dataset with every number of pairs, several times.

    Parameters
    ----------
    methods : mapping from names to estimators or `Method`
        Each with ``fit(X, must_link=, cannot_link=)`` and ``labels_``. `n_clusters` (the number of classes) and
        `random_state` (the trial) are set where an estimator has them; one that has `affinity` is given the graph.
    datasets : mapping from names to sources
        A name of `tightcut.datasets`, (X, y), (X, y, affinity), or a function that returns one of these tuples.
    n_pairs : iterable of int
        Of random pairs.
    trials : int, default=10
        Each with pairs of its own, the same for all methods.
    noise : iterable of float, default=(0,)
        Shares of the pairs whose kind is wrong. Wrong pairs tend to have low beliefs, for methods that take beliefs.
    path : path-like, optional
        CSV file to which every finished cell is appended, and from which finished cells are taken: a run that was
        interrupted goes on where it stopped. Several runs may share it, one after the other.
    n_jobs : int, default=1
        Cells at the same time. Nothing in the table depends on it except `seconds`.
    time_limit, memory_limit : float, optional
        Seconds for one fit and, on Linux, GiB for its process. A cell that needs more is recorded as such.
    n_neighbors : int, default=10
        Neighbours per point in the graph, as in `tightcut.knn_affinity`.
    seed : int, default=0
        Other seeds, other pairs.
    retry : bool, default=False
        Run those cells again that have no result.
    cache : path-like, optional
        Folder for prepared datasets and graphs, kept for the next run; a temporary one by default.
    progress : bool, default=False
        Say on the standard error stream what is done, and about how long the rest will take.

    Returns
    -------
    pandas.DataFrame
        One row per cell, with the columns `record.COLUMNS`: what was run, what came out (violated pairs as fractions),
        seconds of the processor,
        status (``"ok"``, ``"failed"``, ``"too slow"`` or ``"too large"``) and message, setting (a fingerprint of the
        method's parameters, the points and the seed), version and commit of tightcut, graph (a checksum).

    Notes
    -----
    A file never mixes two versions, two graphs of a dataset or two settings of a method on a dataset. Rows that would
    are dropped before the run begins; the file as it was stays beside it, with a name that ends in ``.old``. Every fit
    runs in another process, on one thread. Compiling and loading are not timed.
    """
    grid = product(datasets, _check_numbers(n_pairs), map(float, noise), range(trials), methods)
    cells = [Cell(name, method, number, share, trial) for name, number, share, trial, method in grid]
    options: dict[str, Any] = {"n_jobs": n_jobs, "time_limit": time_limit, "memory_limit": memory_limit}
    options |= {"seed": seed, "retry": retry, "progress": progress}
    with prepared(datasets, n_neighbors, cache) as problems:
        return as_table(fit_cells(cells, methods, problems, path, **options))


def fit_cells(
    cells: Iterable[Cell],
    methods: Mapping[str, Any],
    problems: Mapping[str, Prepared],
    path: str | os.PathLike[str] | None,
    *,
    n_jobs: int = 1,
    time_limit: float = math.inf,
    memory_limit: float | None = None,
    seed: int = 0,
    retry: bool = False,
    progress: bool = False,
) -> list[Row]:
    """The rows of any cells, in their order; arguments and notes are those of `run`.

    The largest datasets come first, so that no core waits in the end for a long fit. Needs no pandas.
    """
    cells = list(dict.fromkeys(cells))
    kinds = dict.fromkeys(cell.method for cell in cells)
    chosen = {kind: own if isinstance(own := methods[kind], Method) else Method(own) for kind in kinds}
    record = Record(None if path is None else Path(path))
    line = RunLine(cells, n_jobs, shown=progress)
    common = {"version": __version__, "commit": commit()}
    stamps = {
        (name, kind): common
        | {"graph": problem.graph, "setting": method.fingerprint(problem.n_neighbors, seed, problem.data)}
        for name, problem in problems.items()
        for kind, method in chosen.items()
    }
    line.say(record.set_aside(lambda row: _cannot_join(row, stamps)))
    record.save()
    done = {cell for cell in cells if cell in record.rows and not (retry and record.rows[cell]["status"] != "ok")}
    line.start(record.rows[cell] for cell in done)
    waiting = [cell for cell in cells if cell not in done]
    waiting.sort(key=lambda cell: -problems[cell.dataset].n_points)
    tasks = [Task(cell, chosen[cell.method], problems[cell.dataset].path, seed) for cell in waiting]
    with crew(n_jobs, time_limit, memory_limit) as workers:
        for cell, row in solve_all(tasks, workers):
            record.add(cell, row | stamps[cell.dataset, cell.method])
            line.add(cell, row)
    record.save()
    return [record.rows[cell] for cell in cells]


def _check_numbers(n_pairs: Iterable[int]) -> list[int]:
    numbers = list(n_pairs)
    for number in numbers:
        if number < 0 or number != int(number):
            raise ValueError(f"n_pairs holds {number!r}: give whole numbers.")
    return [int(number) for number in numbers]


def _cannot_join(row: Row, stamps: Mapping[tuple[str, str], Row]) -> bool:
    """Whether a row is of another version, or of another graph or setting than those that are about to be run."""
    graphs = {stamp["graph"] for (dataset, _), stamp in stamps.items() if dataset == row["dataset"]}
    stamp = stamps.get((row["dataset"], row["method"]), row)
    return (
        row["version"] != __version__
        or row["graph"] not in (graphs or {row["graph"]})
        or row["setting"] != stamp["setting"]
    )


SECONDS_BETWEEN_LINES = 2.0


class RunLine:
    """How far a run is, and how long it will still take, learnt from the cells that are done."""

    def __init__(self, cells: list[Cell], n_jobs: int, *, shown: bool) -> None:
        self.shown = shown
        self.n_jobs = n_jobs
        self.total = len(cells)
        self.left = Counter((cell.dataset, cell.method) for cell in cells)
        self.statuses: Counter[str] = Counter()
        self.times: dict[tuple[str, str], list[float]] = defaultdict(list)
        self.next_line = -math.inf

    def start(self, rows: Iterable[Row]) -> None:
        """Count the cells that an earlier run has solved."""
        for row in rows:
            self._learn(row)
        if self.statuses:
            self.say(f"{self.statuses.total()} of {self.total} cells were done before")

    def add(self, cell: Cell, row: Row) -> None:
        self._learn(row)
        done = self.statuses.total()
        if time.monotonic() < self.next_line and done < self.total:
            return
        self.next_line = time.monotonic() + SECONDS_BETWEEN_LINES
        odd = "".join(f", {count} {status}" for status, count in self.statuses.items() if status != "ok")
        left = f", about {timedelta(seconds=round(self.seconds_left()))} left" if done < self.total else ""
        self.say(f"{done}/{self.total}{odd}{left}  {cell}")

    def say(self, text: str) -> None:
        if self.shown and text:
            print(text, file=sys.stderr, flush=True)  # noqa: T201 (what a command shows)

    def seconds_left(self) -> float:
        """Cells left times the mean of those done: of the same dataset and method if there are any, else of all.

        Examples
        --------
        >>> line = RunLine([Cell("a", "fast", 1, 0, trial) for trial in range(4)], n_jobs=1, shown=False)
        >>> line.start([{"dataset": "a", "method": "fast", "status": "ok", "seconds": 2.0}])
        >>> line.seconds_left()
        6.0
        """
        done = [seconds for times in self.times.values() for seconds in times] or [0.0]
        return sum(count * fmean(self.times[key] or done) for key, count in self.left.items()) / self.n_jobs

    def _learn(self, row: Row) -> None:
        key = row["dataset"], row["method"]
        self.left[key] -= 1
        self.statuses[row["status"]] += 1
        self.times[key].append(row.get("seconds") or 0.0)
