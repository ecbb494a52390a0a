"""Run tasks in sequence, in threads, or on the back end of `joblib.parallel_config`; joblib is imported on demand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
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
    >>> from tightcut.utils.parallel import run_tasks
    >>> list(run_tasks(pow, [(2, 3), (3, 2)], n_jobs=1))
    [8, 9]
    """
    count, shared = workers(n_jobs)
    if shared:
        return in_threads(function, tasks, count)
    from joblib import Parallel, delayed

    run = Parallel(n_jobs=n_jobs, prefer="threads", return_as="list" if as_list else "generator")
    return run(delayed(function)(*task) for task in tasks)


class LazyTask:
    """A task that runs once, in the first thread that asks for its result; other threads wait for it.

    Examples
    --------
    >>> from tightcut.utils.parallel import LazyTask
    >>> LazyTask(pow, 2, 3)()
    8
    """

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._task: tuple[Callable[..., Any], tuple] | None = (function, arguments)
        self._lock = Lock()
        self._result: Any = None
        self._error: BaseException | None = None

    @property
    def done(self) -> bool:
        return self._task is None

    def __call__(self) -> Any:
        """The result, made now unless it is there. Every call raises an error of the task."""
        with self._lock:
            return self._make()

    def unless_begun(self) -> None:
        """Make the result, unless it is there or another thread is making it."""
        if self._lock.acquire(blocking=False):
            try:
                self._make()
            finally:
                self._lock.release()

    def _make(self) -> Any:
        if self._task is not None:
            function, arguments = self._task
            try:
                self._result = function(*arguments)
            except BaseException as error:  # noqa: BLE001 - raised below, and by every later call
                self._error = error
            self._task = None  # gives up what the arguments hold
        if self._error is not None:
            raise self._error
        return self._result


def in_threads(function: Callable[..., Any], arguments: Iterable[tuple], count: int) -> Iterator[Any]:
    """The results of a function for each of the tasks, in their order, by this thread and `count` - 1 others.

    A search has many rounds of tasks that take milliseconds; joblib would add ten to each round. This thread takes its
    share of the tasks: one that only waited would be woken for every result.
    """
    if count == 1:
        yield from (function(*task) for task in arguments)
        return
    tasks = [LazyTask(function, *task) for task in arguments]
    left = iter(tasks)
    pool = ThreadPoolExecutor(count - 1)
    try:
        for task in tasks:
            pool.submit(task.unless_begun)
        for task in tasks:
            while not task.done and (other := next(left, None)) is not None:
                other.unless_begun()
            yield task()
    finally:
        # After an error or Ctrl-C, tasks that are still running are not waited for.
        pool.shutdown(wait=False, cancel_futures=True)


def finish_tasks(tasks: list[LazyTask]) -> Iterator[Any]:
    """The results of tasks that other threads make in their order, made here from the last one on, as they come.

    The threads meet in the middle: none waits while a task has not begun.
    """
    for task in reversed(tasks):
        yield task()
