"""The search for the best spins of a signed graph: multilevel starts, and recombination by consensus.

1. Starts: coarsen at random down to a handful of units, solve those, refine on the way back.
2. Generations: take two to four good solutions, tie everything on which they agree, solve the small graph that is
   left, lift, refine. A child is never worse than its best parent (the merging lemma).

In a large graph, where every child costs passes over all of it, starts are made a few at a time and joined with the best
so far: everything on which all agree is tied once, and the generations pass in the small graph that is left. Each
random coarsening merges a few units across the best cut, but not the same ones as the others.

A generation's children depend only on the population before it and on their own seeds, so the result is the same
for every number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from tightcut import _kernels as kernels
from tightcut.search.multilevel import coarsen, coarsest, refine, uncoarsen
from tightcut.search.signed_graph import Merger, SignedGraph

HANDFUL = 20  # units down to which each start is coarsened
MIDDLE = 400  # units at which starts are compared, before the best are carried back to a larger graph
DIRECT_LIMIT = 2_000  # units up to which the generations pass in the graph itself (benchmarks/results/multilevel.md)
BATCH = 2  # random coarsenings of a larger graph whose starts are joined at a time
STARTS, STARTS_KEPT = 8, 4  # per random coarsening to the middle
# Above so many units half as many starts are kept, and a batch that gains less than this share of the cut is the last.
PATIENT_LIMIT, LEAST_GAIN = 100_000, 0.005
POPULATION = 12
CHILDREN = 6  # per generation
STALE = 3  # generations without progress before the search ends
TABU_LIMIT = 2000  # units up to which a scan of all units per flip pays

Solution = tuple[float, np.ndarray]
Result = TypeVar("Result", bound=tuple)
Progress = Callable[[str, int, int, float], None]


@dataclass(frozen=True)
class SearchOptions:
    """How hard to search.

    Attributes
    ----------
    effort : float
        Scales the starts and the generations; 0 leaves one start per `n_init` and no generation.
    n_init : int
        Independent random coarsenings to start from; in large graphs at most so many.
    n_jobs : int or None
        Threads, as in joblib; another back end is chosen by `joblib.parallel_config`. The result depends on neither.
    progress : callable or None
        Called with (stage, done, total, best ratio).
    device : {"cpu", "cuda"}
        Where large graphs are coarsened.
    """

    effort: float = 1.0
    n_init: int = 8
    n_jobs: int | None = None
    progress: Progress | None = field(default=None, repr=False)
    device: str = "cpu"

    @property
    def starts(self) -> int:
        return max(1, round(STARTS * self.effort))

    @property
    def generations(self) -> int:
        return int(np.ceil(6 * self.effort))

    def part(self, number: int, count: int) -> SearchOptions:
        """The options for one of `count` parts of a search: its share of the progress."""

        def progress(stage: str, done: int, total: int, best: float) -> None:
            self.report(stage, number * total + done, count * total, best)

        return replace(self, progress=None if self.progress is None else progress)

    @property
    def workers(self) -> tuple[int, bool]:
        """How many tasks run at a time, and whether they share memory."""
        backend, n_jobs = get_active_backend(prefer="threads")
        if self.n_jobs == 1:
            return 1, True
        n_workers = backend.effective_n_jobs(n_jobs if self.n_jobs is None else self.n_jobs)
        return n_workers, getattr(backend, "supports_sharedmem", False)

    def report(self, stage: str, done: int, total: int, best: float = float("nan")) -> None:
        """Tell how far a stage is; NaN stands for a cut that is not known yet."""
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

        With a `stage`, every finished task, which gave solutions, is reported under its name, as one of `total`.
        """
        results: Iterable[list[Result]]
        if self.n_jobs == 1 or len(tasks) == 1:  # joblib's Dask back end would send these away, too
            results = (function(*task) for task in tasks)
        else:
            return_as = "list" if self.progress is None or stage is None else "generator"
            parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as=return_as)
            results = parallel(delayed(function)(*task) for task in tasks)
        chained: list[Result] = []
        for done, solutions in enumerate(results):
            chained += solutions
            if stage is not None:
                best = min((result[0] for result in chained), default=np.nan)
                self.report(stage, done + 1, total or len(tasks), best)
        return chained


def search(
    graph: SignedGraph, rng: np.random.Generator, options: SearchOptions, known: list[np.ndarray] | None = None
) -> list[Solution]:
    """Good distinct solutions, best first. `known` spins take part and are never lost."""
    refined = [refined_copy(graph, spins) for spins in known or []]
    if not searched_directly(graph):
        make, join = partial(_made, graph), partial(_join, graph, rng)
        return in_batches(make, join, select(refined), rng, options, patient=graph.n_units <= PATIENT_LIMIT)
    tasks = [(graph, child, options.starts) for child in rng.spawn(options.n_init)]
    return _evolve(graph, rng, options, select(refined + options.map(_starts, tasks, "start")))


def searched_directly(graph: SignedGraph) -> bool:
    """Whether the generations pass in the graph itself, and not in small graphs made of it."""
    return graph.n_units <= DIRECT_LIMIT


def in_batches(
    make: Callable[[SearchOptions, list[np.random.Generator]], list[list[Solution]]],
    join: Callable[[SearchOptions, list[Solution]], list[Solution]],
    population: list[Solution],
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    patient: bool,
) -> list[Solution]:
    """Make solutions by a few random coarsenings at a time and join them with the best so far.

    `make` returns the solutions of each of the generators it is given. Where there are threads for more than a batch, it
    gets all of them at once; the result is the same. Unless `patient`, a batch that gains little is the last.
    """
    count = -(-options.n_init // BATCH)
    generators = rng.spawn(options.n_init)
    ahead = options.workers[0] >= 2 * BATCH
    made: list[list[Solution]] = make(options, generators) if ahead else []
    for number in range(count):
        part, now = options.part(number, count), slice(number * BATCH, (number + 1) * BATCH)
        if not ahead:
            made += make(part, generators[now])
        before = population[0][0] if population else np.inf
        population = join(part, population[:STARTS_KEPT] + list(chain.from_iterable(made[now])))
        if number > 0 and not patient and population[0][0] >= (1 - LEAST_GAIN) * before:
            break
    everything = count * options.generations
    options.report("join", everything, everything, population[0][0])
    return population


def _made(graph: SignedGraph, options: SearchOptions, generators: list[np.random.Generator]) -> list[list[Solution]]:
    """Solutions of a large graph, several for each random coarsening."""
    keep = kept(graph.n_units)
    starts = [(graph, rng, options.starts, keep, options.device) for rng in generators]
    if not options.workers[1]:  # levels are large; they stay where they are made
        return [solutions for _, solutions in options.map(_made_alone, starts, "start")]
    found = options.map(_middle, starts, "start")
    tasks = [(graph, levels, spins) for _, chosen, levels in found for spins in chosen]
    solutions = options.map(_uncoarsened, tasks, "refine", keep * len(generators))
    return regrouped(solutions, [len(chosen) for _, chosen, _ in found])


def _made_alone(graph: SignedGraph, *settings: Any) -> list[tuple[float, list[Solution]]]:
    """The solutions of one random coarsening, and the best ratio."""
    ((_, chosen, levels),) = _middle(graph, *settings)
    solutions = [uncoarsen(graph, levels, spins) for spins in chosen]
    return [(min(ratio for ratio, _ in solutions), solutions)]


def kept(size: int) -> int:
    """How many starts of a random coarsening are carried back to a graph of this size."""
    return STARTS_KEPT if size <= PATIENT_LIMIT else STARTS_KEPT // 2


def regrouped(solutions: list[Solution], sizes: list[int]) -> list[list[Solution]]:
    """Consecutive groups of the given sizes."""
    rest = iter(solutions)
    return [list(islice(rest, size)) for size in sizes]


def _join(
    graph: SignedGraph, rng: np.random.Generator, options: SearchOptions, population: list[Solution]
) -> list[Solution]:
    """Tie everything on which all solutions agree and let them evolve in the small graph that is left.

    All solutions are solutions of the small graph, so the best is at least as good as the best of them.
    """
    population = select(population)
    if options.generations == 0:
        return population
    merger = _agreement(graph, population)
    small = merger.graph
    if small.n_units < 3:
        return population
    known = select([refined_copy(small, merger.project(spins)) for _, spins in population])
    evolved = _evolve(small, rng, options, known, "join")
    lifted = options.map(_refined, [(graph, merger.lift(spins)) for _, spins in evolved[:STARTS_KEPT]])
    return select(population + lifted)


def _agreement(graph: SignedGraph, population: list[Solution]) -> Merger:
    """The graph with everything tied on which the solutions agree, each turned to be like the first."""
    first = population[0][1]
    return graph.consensus([spins if (spins == first).mean() >= 0.5 else -spins for _, spins in population])


def select(population: list[Solution], size: int = POPULATION) -> list[Solution]:
    """The best distinct solutions; spins and their mirror image are the same partition."""
    chosen: dict[bytes, Solution] = {}
    for ratio, spins in sorted(population, key=lambda solution: solution[0]):
        chosen.setdefault((spins * spins[0]).tobytes(), (ratio, spins))
        if len(chosen) == size:
            break
    return list(chosen.values())


def refined_copy(graph: SignedGraph, spins: np.ndarray) -> Solution:
    spins = spins.copy()
    return refine(graph, spins), spins


def _refined(graph: SignedGraph, spins: np.ndarray) -> list[Solution]:
    return [refined_copy(graph, spins)]


def _uncoarsened(graph: SignedGraph, levels: list[Merger], spins: np.ndarray) -> list[Solution]:
    return [uncoarsen(graph, levels, spins)]


def _starts(graph: SignedGraph, rng: np.random.Generator, count: int) -> list[Solution]:
    if graph.n_units <= 1.5 * MIDDLE:
        return [_start(graph, rng) for _ in range(count)]
    ((_, solutions),) = _made_alone(graph, rng, count)
    return solutions


def _middle(
    graph: SignedGraph, rng: np.random.Generator, count: int, keep: int = STARTS_KEPT, device: str = "cpu"
) -> list[tuple[float, list[np.ndarray], list[Merger]]]:
    """One random coarsening to the middle: the best ratio there, the best starts, and the levels."""
    levels = coarsen(graph, MIDDLE, rng, device=device)
    found = select([_start(coarsest(graph, levels), rng) for _ in range(count)], keep)
    return [(found[0][0], [spins for _, spins in found], levels)]


def _start(graph: SignedGraph, rng: np.random.Generator) -> Solution:
    levels = coarsen(graph, HANDFUL, rng)
    small = coarsest(graph, levels)
    spins = rng.choice(np.array([-1, 1], np.int8), small.n_units)
    if not small.mixed.any() and abs(int(spins.sum())) == len(spins):
        spins[0] = -spins[0]
    _, spins = _tabu(small, spins, 10 * HANDFUL, rng)
    return uncoarsen(graph, levels, spins)


def _evolve(
    graph: SignedGraph,
    rng: np.random.Generator,
    options: SearchOptions,
    population: list[Solution],
    stage: str = "search",
) -> list[Solution]:
    stale = 0
    for generation in range(options.generations):
        options.report(stage, generation, options.generations, population[0][0])
        if len(population) < 2 or stale == STALE:
            break
        best = population[0][0]
        tasks = [(graph, child, population) for child in rng.spawn(CHILDREN)]
        population = select(population + options.map(_child, tasks))
        stale = 0 if population[0][0] < best * (1 - 1e-12) else stale + 1
    options.report(stage, options.generations, options.generations, population[0][0])
    return population


def _child(graph: SignedGraph, rng: np.random.Generator, population: list[Solution]) -> list[Solution]:
    count = min(len(population), int(rng.integers(2, 5)))
    parents = [population[t] for t in sorted(rng.choice(len(population), count, replace=False))]
    ratio, best = parents[0]
    merger = _agreement(graph, parents)
    small = merger.graph
    if small.n_units < 3:
        return []
    found = [(ratio, merger.project(best))]
    if small.n_units > HANDFUL:
        found += _starts(small, rng, STARTS // 2)
    if small.n_units <= TABU_LIMIT:
        patience = min(200 + small.n_units, 1000)
        found += [_tabu(small, spins, patience, rng) for _, spins in select(found, 2)]
    return [refined_copy(graph, merger.lift(select(found, 1)[0][1]))]


def _tabu(graph: SignedGraph, spins: np.ndarray, patience: int, rng: np.random.Generator) -> Solution:
    spins = spins.copy()
    state = rng.integers(1, 2**63, 1, dtype=np.uint64)
    return kernels.tabu_search(*graph.arrays, spins, patience, state), spins
