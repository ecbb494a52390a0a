"""Tasks one after the other, in threads, or where `joblib.parallel_config` says; joblib is imported only where it is needed."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def runs_in_turn(n_jobs: int | None) -> bool:
    """Whether tasks run one after the other. `joblib.parallel_config` says more about None, once joblib is imported."""
    return n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules)


def workers(n_jobs: int | None) -> tuple[int, bool]:
    """How many tasks run at a time, and whether they share memory."""
    if runs_in_turn(n_jobs):
        return 1, True
    from joblib.parallel import get_active_backend

    backend, configured = get_active_backend(prefer="threads")
    count = backend.effective_n_jobs(configured if n_jobs is None else n_jobs)
    return count, getattr(backend, "supports_sharedmem", False)


def run_tasks(
    function: Callable[..., Any], tasks: Iterable[tuple], n_jobs: int | None, *, as_list: bool = True
) -> Iterable[Any]:
    """The results of a function for each of the tasks, which are its arguments, in their order.

    Examples
    --------
    >>> from tightcut._support.parallel import run_tasks
    >>> list(run_tasks(pow, [(2, 3), (3, 2)], n_jobs=1))
    [8, 9]
    """
    count, shared = workers(n_jobs)
    if shared:
        return (function(*task) for task in tasks) if count == 1 else _in_threads(function, tasks, count)
    from joblib import Parallel, delayed

    run = Parallel(n_jobs=n_jobs, prefer="threads", return_as="list" if as_list else "generator")
    return run(delayed(function)(*task) for task in tasks)


def _in_threads(function: Callable[..., Any], tasks: Iterable[tuple], count: int) -> Iterator[Any]:
    """A search has many rounds of tasks that take milliseconds; joblib would add ten to each round."""
    pool = ThreadPoolExecutor(count)
    try:
        futures = deque(pool.submit(function, *task) for task in tasks)
        while futures:
            yield futures.popleft().result()
    finally:
        # After an error or Ctrl-C nobody waits for tasks that are still running.
        pool.shutdown(wait=False, cancel_futures=True)


class TasksAhead:
    """Tasks that other threads begin while this one does something else.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from tightcut._support.parallel import TasksAhead
    >>> with ThreadPoolExecutor(1) as pool:
    ...     TasksAhead(pool, pow, [(2, 3), (3, 2)]).results()
    [8, 9]
    """

    def __init__(self, pool: ThreadPoolExecutor, function: Callable[..., Any], tasks: list[tuple]) -> None:
        self._function, self._tasks = function, tasks
        self._futures = [pool.submit(function, *task) for task in tasks]

    def results(self) -> list[Any]:
        """The results in the order of the tasks. Those that no thread has begun are run here, the last one first."""
        here = {
            future: self._function(*task)
            for future, task in zip(reversed(self._futures), reversed(self._tasks), strict=True)
            if future.cancel()
        }
        return [here[future] if future in here else future.result() for future in self._futures]
