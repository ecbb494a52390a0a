"""The loop over all cells, and how far it is."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import timedelta
from itertools import islice, product
from pathlib import Path
from statistics import fmean
from typing import Any

from tightcut.datasets import list_datasets
from tightcut.experiments._methods import read_methods
from tightcut.experiments._problems import prepare, read_names, temporary_folder
from tightcut.experiments._record import Cell, Record, Row, as_table
from tightcut.experiments._worker import close_idle_workers, solve_cell
from tightcut.progress import StatusLine, bar


def run(
    methods: Mapping[str, Any] | Sequence[str],
    datasets: Mapping[str, Any] | Sequence[str],
    n_pairs: Iterable[float],
    trials: int = 10,
    *,
    noise: Iterable[float] = (0.0,),
    path: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    n_neighbors: int = 10,
    seed: int = 0,
    retry: bool = False,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Any:
    """Fit every method on every dataset with every number of pairs, several times.

    Parameters
    ----------
    methods : sequence of names, or mapping from names to estimators
        Names of `default_methods`, or estimators with ``fit(X, must_link=, cannot_link=)`` and ``labels_``, or `Method`s.
        `n_clusters` (the number of classes) and `random_state` (the trial) are set where an estimator has them; one
        that has `affinity` is given the graph.
    datasets : sequence of names, or mapping from names to sources
        Names of `tightcut.datasets`, or sources: (X, y), (X, y, affinity), a `Dataset`, a function that returns one.
    n_pairs : iterable of numbers
        Numbers of random pairs; a number between 0 and 1 stands for all pairs among that fraction of the points.
    trials : int, default=10
        Each with pairs of its own, the same for all methods.
    noise : iterable of float, default=(0,)
        Shares of the pairs whose kind is wrong. Wrong pairs tend to have low beliefs, for methods that take beliefs.
    path : path-like, optional
        CSV file to which every finished cell is appended, and from which finished cells are taken. Several runs may
        share it, one after the other.
    n_jobs : int, optional
        Cells at the same time, through joblib: ``joblib.parallel_config`` chooses another back end. Nothing in the
        table depends on it except `seconds`.
    time_limit : float, optional
        Seconds for one fit. A cell that needs more is killed and recorded as ``"too slow"``.
    n_neighbors : int, default=10
        Neighbours per point in the graph, as in `tightcut.knn_affinity`.
    seed : int, default=0
        Other seeds, other pairs.
    retry : bool, default=False
        Run those cells again that failed or were too slow.
    cache : path-like, optional
        Folder for prepared datasets and graphs, kept for the next run; a temporary one by default. Workers on other
        machines must be able to read it. Reading what lies there runs no code.
    progress : bool, default=False
        Show what is done and an estimate of the time left on the standard error stream.

    Returns
    -------
    pandas.DataFrame
        One row per cell: dataset, method, n_pairs, fraction (of the points, or missing), noise, trial; error, cut,
        violated_must, violated_cannot, violated (all three as fractions), ari, nmi, n_clusters (found); seconds, status
        (``"ok"``, ``"failed"`` or ``"too slow"``), message (what went wrong) and setting (a fingerprint).

    Notes
    -----
    Every fit runs in a process other than this one, on a single thread. Compiling and loading are not timed.
    """
    chosen = read_methods(methods)
    sources = read_names(datasets, {name: name for name in list_datasets()}, "dataset")
    settings = {name: method.fingerprint(n_neighbors, seed) for name, method in chosen.items()}
    grid = product(sources, _check_numbers(n_pairs), map(float, noise), range(trials), settings)
    cells = [Cell(name, method, number, share, trial, settings[method]) for name, number, share, trial, method in grid]
    cells = list(dict.fromkeys(cells))  # each once
    record = Record(None if path is None else Path(path))
    done = {cell for cell in cells if cell in record.rows and not (retry and record.rows[cell]["status"] != "ok")}
    waiting = [cell for cell in cells if cell not in done]
    line = RunLine(cells, n_jobs, shown=progress)
    line.start(record.rows[cell] for cell in done)
    with temporary_folder() if cache is None else nullcontext(Path(cache)) as folder:
        folder.mkdir(parents=True, exist_ok=True)
        needed = {cell.dataset for cell in waiting}
        files = {name: prepare(name, sources[name], n_neighbors, folder) for name in sources if name in needed}
        tasks = ((files[cell.dataset], chosen[cell.method], cell, seed, time_limit) for cell in waiting)
        for cell, row in _solve_all(tasks, n_jobs):
            record.add(cell, row)
            line.add(cell, row)
    if waiting:
        record.tidy()
    return as_table(record.rows[cell] for cell in cells)


def _check_numbers(n_pairs: Iterable[float]) -> list[float]:
    numbers = list(n_pairs)
    for number in numbers:
        if number < 0 or (number >= 1 and number != int(number)):
            raise ValueError(f"n_pairs holds {number!r}: give whole numbers, or fractions of the points below 1.")
    return numbers


def _solve_all(tasks: Iterable[tuple[Any, ...]], n_jobs: int | None) -> Iterator[tuple[Cell, Row]]:
    """Rows as they are finished. Threads only wait for the processes that do the work."""
    from joblib import Parallel, delayed, effective_n_jobs

    calls = (delayed(solve_cell)(*task) for task in tasks)
    options = {"n_jobs": n_jobs, "prefer": "threads", "batch_size": 1}
    try:
        try:
            parallel = Parallel(**options, return_as="generator_unordered")
        except ValueError:  # a back end that returns nothing before all is done: give it a little at a time
            while few := list(islice(calls, 4 * effective_n_jobs(n_jobs))):
                yield from Parallel(**options)(few)
        else:
            yield from parallel(calls)
    finally:
        close_idle_workers()


class RunLine(StatusLine):
    """How far a run is, and how long it will still take, learnt from the cells that are done."""

    def __init__(self, cells: list[Cell], n_jobs: int | None, *, shown: bool) -> None:
        from joblib import effective_n_jobs

        super().__init__()
        self.shown = shown
        self.n_jobs = effective_n_jobs(n_jobs)
        self.total = len(cells)
        self.left = Counter((cell.dataset, cell.method) for cell in cells)
        self.statuses: Counter[str] = Counter()
        self.times: dict[tuple[str, str], list[float]] = defaultdict(list)

    def start(self, rows: Iterable[Row]) -> None:
        """Count the cells that an earlier run has solved."""
        for row in rows:
            self._learn(row)
        if self.statuses:
            self._show(f"{self.statuses.total()} cells were done before")

    def add(self, cell: Cell, row: Row) -> None:
        self._learn(row)
        self._show(str(cell))

    def seconds_left(self) -> float:
        """Cells left times the mean of those done: of the same dataset and method if there are any, else of all.

        Examples
        --------
        >>> line = RunLine([Cell("a", "fast", 1, 0, trial) for trial in range(4)], n_jobs=1, shown=False)
        >>> line._learn({"dataset": "a", "method": "fast", "status": "ok", "seconds": 2.0})
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

    def _show(self, last: str) -> None:
        if not self.shown:
            return
        done = self.statuses.total()
        odd = "".join(f", {count} {status}" for status, count in self.statuses.items() if status != "ok")
        left = f", about {timedelta(seconds=round(self.seconds_left()))} left" if done < self.total else ""
        text = f"tightcut {bar(done, self.total)} {done}/{self.total}{odd}{left}  {last}"
        self.show(text, finished=done >= self.total)
