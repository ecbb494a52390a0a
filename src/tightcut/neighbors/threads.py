"""Run tasks in threads, with BLAS limited to one core each, and report progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from tightcut.utils.parallel import in_threads, workers

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

STAGE = "neighbours"

Progress = Callable[[str, int, int, float], None]


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Inside, BLAS runs on the calling thread alone."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> ThreadpoolController:
    """Those that are loaded; looking for them takes as long as a search among two hundred points."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class Workers:
    """Threads that share the tasks of a search; `progress` is called with (stage, done, total, nan) after each task."""

    def __init__(self, n_jobs: int | None = None, progress: Progress | None = None) -> None:
        self.n_jobs, _ = workers(n_jobs)
        self._progress = progress
        self._done = self._total = 0

    @contextmanager
    def expecting(self, n_tasks: int) -> Iterator[None]:
        """Set the number of tasks to come; inside, BLAS runs on the calling thread alone."""
        self._done, self._total = 0, n_tasks
        with single_threaded_blas():
            yield
        # Stages that turned out to be unnecessary count as done.
        if self._done < self._total:
            self._report(self._total)

    def map(self, task: Callable[[Any], None], items: Iterable[Any]) -> None:
        """Run the task on every item; returns when all are done."""
        for _ in in_threads(task, ((item,) for item in items), self.n_jobs):
            self._report(self._done + 1)

    def _report(self, done: int) -> None:
        self._done = done
        if self._progress is not None:
            self._progress(STAGE, min(done, self._total), self._total, float("nan"))
