"""`SearchOptions`: effort, threads, back end and progress callback."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tightcut.utils.parallel import run_tasks, workers

if TYPE_CHECKING:
    from tightcut.search.backend import Backend

COARSENINGS, STARTS, GENERATIONS = 8, 8, 6  # at an effort of 1

Result = TypeVar("Result", bound=tuple)
Progress = Callable[[str, int, int, float], None]


@dataclass(frozen=True)
class SearchOptions:
    """How hard to search.

    Attributes
    ----------
    effort : float
        Scales the random coarsenings (up to `COARSENINGS`), the starts of each and the generations; 0 leaves a single
        start, refined and no more.
    n_jobs : int or None
        Threads, as in joblib; another back end is chosen by `joblib.parallel_config`. The result depends on neither.
    progress : callable or None
        Called with (stage, done, total, best score).
    backend : Backend or None
        Where large graphs are searched; None for the CPU.
    polish : bool
        Whether RatioDCA improves the best solutions for two clusters that satisfy every constraint.
    """

    effort: float = 1.0
    n_jobs: int | None = None
    progress: Progress | None = field(default=None, repr=False)
    backend: Backend | None = None
    polish: bool = True

    @property
    def coarsenings(self) -> int:
        """Independent random coarsenings to start from."""
        return int(np.clip(round(COARSENINGS * self.effort), 1, COARSENINGS))

    @property
    def starts(self) -> int:
        """Starts of each random coarsening."""
        return max(1, round(STARTS * max(self.effort, min(self.effort, 1) ** 0.5)))

    @property
    def generations(self) -> int:
        return int(np.ceil(GENERATIONS * self.effort))

    def part(self, number: int, count: int) -> SearchOptions:
        """The options for one of `count` parts of a search: its share of the progress."""

        def progress(stage: str, done: int, total: int, best: float) -> None:
            self.report(stage, number * total + done, count * total, best)

        return replace(self, progress=None if self.progress is None else progress)

    @property
    def workers(self) -> tuple[int, bool]:
        """How many tasks run at a time, and whether they share memory."""
        return workers(self.n_jobs)

    def report(self, stage: str, done: int, total: int, best: float = float("nan")) -> None:
        """Report the progress of a stage; NaN stands for an unknown cut."""
        if self.progress is not None:
            self.progress(stage, done, total, best)

    def map(
        self,
        function: Callable[..., list[Result]],
        tasks: list[tuple],
        stage: str | None = None,
        total: int | None = None,
    ) -> list[Result]:
        """Run the tasks, in threads or where `joblib.parallel_config` says, and chain their results in order.

        With a `stage`, each finished task is reported under that name as one of `total`; results then begin with a score.
        """
        n_jobs = 1 if len(tasks) == 1 else self.n_jobs  # joblib's Dask back end would send even a single task away
        results = run_tasks(function, tasks, n_jobs, as_list=self.progress is None or stage is None)
        chained: list[Result] = []
        try:
            for done, solutions in enumerate(results):
                chained += solutions
                if stage is not None:
                    best = min((result[0] for result in chained), default=np.nan)
                    self.report(stage, done + 1, total or len(tasks), best)
        finally:
            if isinstance(results, Generator):
                results.close()  # a caller that keeps an error of the progress would keep the threads at work
        return chained


QUICK = SearchOptions(effort=0, n_jobs=1)
