"""The search of a large graph on a device: few starts, joined once, and V-cycles on the best.

1. Levels are made on the device, a few times at random. The small graphs that are left are cut on the CPU, several
   times each, and the best of these starts are refined on the device on the way back.
2. Everything on which all solutions agree is merged on the device. What is left is small, and generations pass on the CPU.
3. V-cycles: the graph is coarsened again, merging only what the best solution has together, and the solution refined on
   all levels on the way back. Units of every size change their cluster in this way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tightcut.search.evolve import join, v_cycles
from tightcut.search.multilevel import coarsen, coarsest
from tightcut.search.options import SearchOptions
from tightcut.search.problem import Contraction, Problem, Solution, improve, select
from tightcut.search.starts import carry_back

COARSENINGS, STARTS = 0.75, 0.5  # of those of a search on the CPU
KEPT = 2  # starts of each random coarsening that are carried back
CLOSE = 1.1  # solutions are joined whose score is at most this many times the best one


def search_on_device(
    problem: Problem, rng: np.random.Generator, options: SearchOptions, known: list[np.ndarray]
) -> list[Solution]:
    """`tightcut.search.evolve.search` of a problem on a device."""
    # Workers of another process may cut small graphs; what is on the device stays in this one.
    here = options if options.workers[1] else replace(options, n_jobs=1)
    given = [problem.judge(state) for state in known]
    found = [improve(problem, state) for state in known]
    found += here.map(carry_back, _starts(problem, rng, options), "refine")
    population = select(problem, given + found)
    if options.generations == 0:
        return population
    # A solution far from the best, as a mere colouring is, agrees with the others on nothing.
    close = [solution for solution in population if solution[0] <= CLOSE * population[0][0]]
    population = select(problem, population + join(problem, rng, here, close, exchange=False))
    return v_cycles(problem, rng, options, population)


def _starts(
    problem: Problem, rng: np.random.Generator, options: SearchOptions
) -> list[tuple[Problem, list[Contraction[Problem]], np.ndarray]]:
    """The best starts of a few random coarsenings, each with the levels to carry it back through."""
    middle, n_starts = problem.middle(large=True), int(np.ceil(STARTS * options.starts))
    generators = rng.spawn(int(np.ceil(COARSENINGS * options.coarsenings)))
    made = [coarsen(problem, middle, generator) for generator in generators]
    tasks = [
        (coarsest(problem, levels), child)
        for levels, generator in zip(made, generators, strict=True)
        for child in generator.spawn(n_starts)
    ]
    found = options.map(_start, tasks, "start")
    kept: list[tuple[Problem, list[Contraction[Problem]], np.ndarray]] = []
    for number, levels in enumerate(made):
        own = found[number * n_starts : (number + 1) * n_starts]
        best = select(coarsest(problem, levels), own, KEPT)
        kept += [(problem, levels, state) for _, state in best]
    return kept


def _start(problem: Problem, rng: np.random.Generator) -> list[Solution]:
    return [problem.start(rng)]
