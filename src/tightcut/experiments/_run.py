"""The loop over all cells."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tightcut.experiments._cells import Cell
from tightcut.experiments._estimate import RunLine
from tightcut.experiments._methods import Method, read_methods
from tightcut.experiments._problems import prepare, read_datasets
from tightcut.experiments._record import Record, as_table
from tightcut.experiments._worker import close_idle_workers, solve_cell


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
        Names of `default_methods`, or estimators with ``fit(X, must_link=, cannot_link=)`` and ``labels_``, or `Method`.
        `n_clusters` (the number of classes) and `random_state` (the trial) are set where an estimator has them; one
        that has `affinity` is given the graph.
    datasets : sequence of names, or mapping from names to sources
        Names of `tightcut.datasets`, or sources: (X, y), (X, y, affinity), a `Dataset`, a function that returns one.
    n_pairs : iterable of numbers
        Numbers of random pairs; a number between 0 and 1 means all pairs among that fraction of the points.
    trials : int, default=10
        Each with pairs of its own, the same for all methods.
    noise : iterable of float, default=(0,)
        Shares of the pairs whose kind is wrong. Wrong pairs tend to have low beliefs, for methods that take beliefs.
    path : path-like, optional
        CSV file to which every finished cell is appended, and from which finished cells are taken. Several runs may
        share it, one after the other.
    n_jobs : int, optional
        Cells at the same time, through joblib: ``joblib.parallel_config`` chooses another back end. The table does not
        depend on it, but for `seconds`.
    time_limit : float, optional
        Seconds for one fit. A cell that needs more is killed and recorded as ``"too slow"``.
    n_neighbors : int, default=10
        Of the graph, `tightcut.knn_affinity`.
    seed : int, default=0
        Other seeds, other pairs.
    retry : bool, default=False
        Run those cells again that failed or were too slow.
    cache : path-like, optional
        Folder for prepared datasets and graphs, kept for the next run; a temporary one by default. Workers on other
        machines must be able to read it.
    progress : bool, default=False
        Show what is done, and an estimate of the time left, on the standard error stream.

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
    sources = read_datasets(datasets)
    cells = list(_grid(chosen, sources, list(n_pairs), trials, list(noise), n_neighbors, seed))
    record = Record(None if path is None else Path(path))
    done = {cell for cell in cells if cell in record.rows and not (retry and record.rows[cell]["status"] != "ok")}
    waiting = [cell for cell in cells if cell not in done]
    line = RunLine(cells, n_jobs) if progress else None
    if line is not None:
        line.start(record.rows[cell] for cell in cells if cell in done)
    with tempfile.TemporaryDirectory(prefix="tightcut-") as temporary:
        folder = Path(temporary if cache is None else cache)
        folder.mkdir(parents=True, exist_ok=True)
        needed = {cell.dataset for cell in waiting}
        files = {name: prepare(name, sources[name], n_neighbors, folder) for name in sources if name in needed}
        tasks = ((files[cell.dataset], chosen[cell.method], cell, seed, time_limit) for cell in waiting)
        for cell, row in _solve_all(tasks, n_jobs):
            record.add(cell, row)
            if line is not None:
                line.add(cell, row)
    if waiting:
        record.tidy()
    return as_table(record.rows[cell] for cell in cells)


def _grid(
    methods: dict[str, Method],
    datasets: Iterable[str],
    n_pairs: list[float],
    trials: int,
    noise: list[float],
    n_neighbors: int,
    seed: int,
) -> Iterable[Cell]:
    """All cells, each once, dataset by dataset."""
    for number in n_pairs:
        if number < 0 or (number >= 1 and number != int(number)):
            raise ValueError(f"n_pairs holds {number!r}: give whole numbers, or fractions of the points below 1.")
    settings = {name: method.fingerprint(n_neighbors, seed) for name, method in methods.items()}
    everything = (
        Cell(dataset, method, number, float(share), trial, settings[method])
        for dataset in datasets
        for number in n_pairs
        for share in noise
        for trial in range(trials)
        for method in methods
    )
    return dict.fromkeys(everything)


def _solve_all(tasks: Iterable[tuple[Any, ...]], n_jobs: int | None) -> Iterable[tuple[Cell, dict[str, Any]]]:
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
