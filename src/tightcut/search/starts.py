"""Starts: coarsen at random down to a handful of units, solve those, refine on the way back.

Several starts share one random coarsening to the *middle*, where they are compared; the best are carried back to the problem.
Each draws from a generator of its own, so that it does not matter which thread makes it, or when.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Self

import numpy as np

from tightcut.search.multilevel import coarsen, coarsest, skips_levels, uncoarsen
from tightcut.search.options import STARTS, SearchOptions
from tightcut.search.problem import Contraction, Problem, Solution, select
from tightcut.utils.parallel import LazyTask, finish_tasks

BATCH = 2  # random coarsenings whose starts are joined at a time
STARTS_KEPT = 4  # per random coarsening, and per join


class Coarsening:
    """One random coarsening to the middle and its starts there, each made by the thread that first needs it."""

    def __init__(self, problem: Problem, rng: np.random.Generator, count: int, middle: int) -> None:
        self._problem = problem
        self.levels = LazyTask(self._coarsen, middle, rng)
        self.starts = [LazyTask(self._start, child) for child in rng.spawn(count)]

    def best(self, keep: int) -> list[np.ndarray]:
        """The best states at the middle."""
        small = coarsest(self._problem, self.levels())
        return [state for _, state in select(small, [start() for start in self.starts], keep)]

    def _coarsen(self, middle: int, rng: np.random.Generator) -> list[Contraction[Problem]]:
        return coarsen(self._problem, middle, rng) if self._problem.size > 1.5 * middle else []

    def _start(self, rng: np.random.Generator) -> Solution:
        return coarsest(self._problem, self.levels()).start(rng)


def starts(
    problem: Problem,
    rng: np.random.Generator,
    count: int,
    keep: int = STARTS_KEPT,
    middle: int | None = None,
) -> list[Solution]:
    """The best of some starts that share one random coarsening, carried back to the problem."""
    own = Coarsening(problem, rng, count, middle or problem.middle(large=False))
    return [solution for state in own.best(keep) for solution in carry_back(problem, own.levels(), state)]


def restarts(problem: Problem, rng: np.random.Generator) -> list[Solution]:
    """A few random starts of a small problem, for `Problem.explore`."""
    return starts(problem, rng, STARTS // 2)


def carry_back(problem: Problem, levels: list[Contraction[Problem]], state: np.ndarray) -> list[Solution]:
    """The solution that a state of the coarsest level leads to, in a list for `SearchOptions.map`."""
    return [problem.settle(uncoarsen(problem, levels, state))]


class Batches:
    """The starts of a large problem, a few random coarsenings at a time.

    Other threads may begin a batch while this one joins solutions: many small tasks that wait for each other. Most searches
    have a second batch, so that this one is begun during the first join; where there are workers for more, all are begun at
    once. Which ones are, changes nothing of the result.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator, options: SearchOptions) -> None:
        threads, shared = options.workers
        self._problem, self._settings = problem, (options.starts, problem.middle(large=True))
        self._generators = rng.spawn(options.coarsenings)
        self._pool = ThreadPoolExecutor(threads - 1) if shared and threads > 1 else None
        # Levels are large. Without shared memory they stay in the process that makes them; on one thread, those of a very
        # large graph are given up before the next random coarsening makes its own.
        self._whole_tasks = not shared or (threads == 1 and skips_levels(problem))
        self._begun: dict[int, list[Coarsening]] = {}
        self._made: list[tuple[float, list[Solution]]] = []
        if threads >= 2 * BATCH and shared:
            for number in range(len(self)):
                self.begin(number)
        elif threads >= 2 * BATCH:
            self._made = options.map(_starts_in_one_task, self._tasks(self._generators, STARTS_KEPT), "start")

    def __len__(self) -> int:
        return (len(self._generators) + BATCH - 1) // BATCH

    def begin(self, number: int) -> None:
        """Let other threads, if there are any, make the starts of a batch."""
        if self._pool is not None and number < len(self) and not skips_levels(self._problem):
            self._begin(number)

    def solutions(self, number: int, keep: int, options: SearchOptions) -> list[Solution]:
        """Those of one batch, `keep` for each random coarsening."""
        if self._whole_tasks:
            found = self._made[self._part(number)] or options.map(
                _starts_in_one_task, self._tasks(self._generators[self._part(number)], keep), "start"
            )
            return [solution for _, solutions in found for solution in solutions[:keep]]
        self._begin(number)
        coarsenings = self._begun.pop(number)
        _finish(coarsenings, options)
        carried = [(self._problem, own.levels(), state) for own in coarsenings for state in own.best(keep)]
        return options.map(carry_back, carried, "refine", keep * len(coarsenings))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if self._pool is not None:
            # After an error or Ctrl-C, unfinished starts are abandoned.
            self._pool.shutdown(wait=error is None, cancel_futures=True)

    def _begin(self, number: int) -> None:
        if number not in self._begun:
            generators = self._generators[self._part(number)]
            self._begun[number] = [Coarsening(self._problem, rng, *self._settings) for rng in generators]
            if self._pool is not None:
                for task in _tasks_of(self._begun[number]):
                    self._pool.submit(task.unless_begun)

    def _part(self, number: int) -> slice:
        return slice(number * BATCH, (number + 1) * BATCH)

    def _tasks(self, generators: list[np.random.Generator], keep: int) -> list[tuple]:
        count, middle = self._settings
        return [(self._problem, rng, count, keep, middle) for rng in generators]


def _tasks_of(coarsenings: list[Coarsening]) -> list[LazyTask]:
    """What starts need before the starts."""
    return [own.levels for own in coarsenings] + list(chain.from_iterable(own.starts for own in coarsenings))


def _finish(coarsenings: list[Coarsening], options: SearchOptions) -> None:
    """Make the starts of a batch that other threads have not made, and report progress."""
    found: list[Solution] = []
    attempts = list(chain.from_iterable(own.starts for own in coarsenings))
    for start in finish_tasks(attempts):
        found.append(start)
        options.report("start", len(found), len(attempts), min(score for score, _ in found))


def _starts_in_one_task(problem: Problem, *settings: object) -> list[tuple[float, list[Solution]]]:
    """The solutions of one random coarsening, after the best score, which `SearchOptions.map` reports."""
    solutions = starts(problem, *settings)  # type: ignore[arg-type]
    return [(min(score for score, _ in solutions), solutions)]
