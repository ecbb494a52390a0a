"""The search for the best spins of a signed graph: starts, refinement, and recombination by consensus.

1. Starts: coarsen at random, threshold smooth vectors on the coarsest graph, refine on the way back.
2. Generations: take two to four good solutions, tie everything on which they agree, solve the small graph that is
   left, lift, refine. A child is never worse than its best parent (the merging lemma).

A generation's children depend only on the population before it and on their own seeds, so the result is the same
for every number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from joblib import Parallel, delayed

from tightcut import _kernels as kernels
from tightcut.signed import SignedGraph
from tightcut.solvers.multilevel import coarsen, coarsest, refine, uncoarsen
from tightcut.solvers.starts import smooth_vectors, threshold

COARSEST = 400  # units on which starts are made
DIRECT_LIMIT = 600  # graphs up to this size are not coarsened
SEARCH_LIMIT = 20_000  # larger graphs are searched at a coarser level and only refined at their own
STARTS, STARTS_KEPT = 8, 4  # thresholded vectors per coarsening, and how many of them are carried back
POPULATION = 12
CHILDREN = 6  # per generation
TABU_LIMIT = 2000

Solution = tuple[float, np.ndarray]
Progress = Callable[[str, int, int, float], None]


@dataclass(frozen=True)
class SearchOptions:
    """How hard to search.

    Attributes
    ----------
    effort : float
        Scales the number of generations (6 at effort 1); 0 stops after the starts.
    n_init : int
        Independent random coarsenings to start from.
    n_jobs : int or None
        Threads, as in joblib. The result does not depend on it.
    progress : callable or None
        Called with (stage, done, total, best ratio).
    """

    effort: float = 1.0
    n_init: int = 4
    n_jobs: int | None = None
    progress: Progress | None = field(default=None, repr=False)

    @property
    def generations(self) -> int:
        return int(np.ceil(6 * self.effort))

    def report(self, stage: str, done: int, total: int, best: float) -> None:
        if self.progress is not None:
            self.progress(stage, done, total, best)

    def map(self, function: Callable[..., list[Solution]], tasks: list[tuple]) -> list[Solution]:
        """Run the tasks, in threads if asked for, and chain their results in order."""
        results = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(function)(*task) for task in tasks)
        return [solution for solutions in results for solution in solutions]


def search(
    graph: SignedGraph, rng: np.random.Generator, options: SearchOptions, known: list[np.ndarray] | None = None
) -> list[Solution]:
    """Good distinct solutions, best first. `known` spins take part and are never lost."""
    if graph.n_units > 1.5 * SEARCH_LIMIT:
        return _search_coarse(graph, rng, options, known or [])
    population = [(refine(graph, spins), spins) for spins in (s.copy() for s in known or [])]
    if graph.n_units == 1:
        population.append((graph.ratio(np.ones(1, np.int8)), np.ones(1, np.int8)))
    else:
        tasks = [(graph, child) for child in rng.spawn(options.n_init)]
        population += options.map(_starts, tasks)
    population = select(population)
    if not population:
        raise ValueError("No partition with two non-empty sides of positive weight was found.")
    return _evolve(graph, rng, options, population)


def select(population: list[Solution], size: int = POPULATION) -> list[Solution]:
    """The best distinct solutions; spins and their mirror image are the same partition."""
    chosen: dict[bytes, Solution] = {}
    for ratio, spins in sorted(population, key=lambda solution: solution[0]):
        chosen.setdefault((spins * spins[0]).tobytes(), (ratio, spins))
        if len(chosen) == size:
            break
    return list(chosen.values())


def _starts(graph: SignedGraph, rng: np.random.Generator) -> list[Solution]:
    levels = coarsen(graph, COARSEST, rng) if graph.n_units > DIRECT_LIMIT else []
    found = _thresholded(coarsest(graph, levels), rng, STARTS)
    return [uncoarsen(graph, levels, spins) for _, spins in select(found, STARTS_KEPT)] if levels else found


def _thresholded(graph: SignedGraph, rng: np.random.Generator, count: int) -> list[Solution]:
    found = []
    for f in smooth_vectors(graph, count, rng):
        ratio, spins = threshold(graph, f)
        if np.isfinite(ratio):
            found.append((refine(graph, spins, patience=100), spins))
    return found


def _evolve(
    graph: SignedGraph, rng: np.random.Generator, options: SearchOptions, population: list[Solution]
) -> list[Solution]:
    stale = 0
    for generation in range(options.generations):
        options.report("search", generation, options.generations, population[0][0])
        if len(population) < 2 or stale == 3:
            break
        best = population[0][0]
        tasks = [(graph, child, population) for child in rng.spawn(CHILDREN)]
        population = select(population + options.map(_child, tasks))
        stale = 0 if population[0][0] < best * (1 - 1e-12) else stale + 1
    options.report("search", options.generations, options.generations, population[0][0])
    return population


def _child(graph: SignedGraph, rng: np.random.Generator, population: list[Solution]) -> list[Solution]:
    count = min(len(population), int(rng.integers(2, 5)))
    parents = [population[t] for t in sorted(rng.choice(len(population), count, replace=False))]
    best = parents[0][1]
    aligned = [spins if (spins == best).mean() >= 0.5 else -spins for _, spins in parents]
    merger = graph.consensus(aligned)
    small = merger.graph
    if small.n_units < 3:
        return []
    levels = coarsen(small, COARSEST, rng) if small.n_units > COARSEST else []
    found = [(parents[0][0], merger.project(best))]
    if small.n_units > 10:
        starts = _thresholded(coarsest(small, levels), rng, 4)
        found += [uncoarsen(small, levels, spins) for _, spins in starts] if levels else starts
    if small.n_units <= TABU_LIMIT:
        state = rng.integers(1, 2**63, 1, dtype=np.uint64)
        patience = min(200 + small.n_units, 1000)
        found += [_tabu(small, spins, patience, state) for _, spins in select(found, 2)]
    spins = merger.lift(min(found, key=lambda solution: solution[0])[1])
    return [(refine(graph, spins, patience=100), spins)]


def _tabu(graph: SignedGraph, spins: np.ndarray, patience: int, state: np.ndarray) -> Solution:
    spins = spins.copy()
    return kernels.tabu_search(*graph.arrays, spins, patience, state), spins


def _search_coarse(
    graph: SignedGraph, rng: np.random.Generator, options: SearchOptions, known: list[np.ndarray]
) -> list[Solution]:
    """Search on a coarser graph, then refine level by level."""
    levels = coarsen(graph, SEARCH_LIMIT, rng)
    found = search(coarsest(graph, levels), rng, options)
    carried = [uncoarsen(graph, levels, spins) for _, spins in found[:STARTS_KEPT]]
    return select(carried + [(refine(graph, spins), spins) for spins in (s.copy() for s in known)])
