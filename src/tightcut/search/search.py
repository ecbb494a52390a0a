"""The search: multilevel starts, and recombination by consensus. It does not depend on what a cluster is; see `Problem`.

1. Starts: coarsen at random down to a handful of units, solve those, refine on the way back.
2. Generations: take two to four good solutions, merge everything on which they agree, search the small problem that is
   left, lift the best, refine. A child is never worse than its best parent (the merging lemma).

In a larger graph, where every child costs passes over all of it, starts are made a few at a time and joined with the best
so far: everything on which all agree is merged once, and the generations pass in the small problem that is left. Every
random coarsening merges a few units across the best cut, but each merges different ones. Where the starts are much alike,
the first batch that gains next to nothing (as on MNIST), or less than a V-cycle on the best solution does (Covertype), is the
last, and V-cycles follow.

A generation's children depend only on the population before it and on their own seeds, so the result is the same
for every number of threads.
"""

from __future__ import annotations

from itertools import chain, islice

import numpy as np

from tightcut.search.options import STARTS, SearchOptions
from tightcut.search.problem import Contraction, Problem, Solution

DEVICE_LIMIT = 60_000  # units; smaller problems are searched on the CPU
SHRINKS = 0.95  # a matching that leaves a larger share of the units is not worth a level
BATCH = 2  # random coarsenings whose starts are joined at a time
STARTS_KEPT = 4  # per random coarsening
# Above this many units half as many starts are kept, and a batch that gains less than this share is the last.
PATIENT_LIMIT, LEAST_BATCH_GAIN = 100_000, 0.005
# Where half of the starts are within this factor of the best, a batch that gains less than this share is the last.
ALIKE, LEAST_GAIN_OF_ALIKE = 1.1, 0.001
# Where half of them are within this factor, a batch after which a V-cycle gains this share is the last, too: starts that are
# joined to a much smaller cut have found different clusters, and more of them find others.
NEARLY_ALIKE, GAIN_OF_CYCLE = 1.15, 0.01
CLOSE = 3  # solutions whose score is at most this many times the best are joined; a mere colouring agrees with no other
CYCLES, LEAST_GAIN = 3, 2e-4  # V-cycles at most, and the share of the cut that one must gain for another to follow
# Units above which every second level is skipped: all levels together take more memory than the graph.
SKIPPED_LIMIT = 2_000_000
POPULATION = 12
CHILDREN = 6  # per generation
# Generations without progress before the search ends, and what counts as progress, as a share.
PATIENCE = 3, 1e-12
# The same in a join above PATIENT_LIMIT, after which more solutions come or V-cycles. Letter, below it, has cuts 3 % larger so.
PATIENCE_IN_LARGE_JOIN = 1, 0.001


def search(
    problem: Problem, rng: np.random.Generator, options: SearchOptions, known: list[np.ndarray] | None = None
) -> list[Solution]:
    """Good distinct solutions, best first. `known` states take part and are never lost.

    A large problem is searched on a GPU, if the options say so: see `tightcut.gpu.search`.
    """
    if options.device == "cuda" and problem.size > DEVICE_LIMIT:
        from tightcut.gpu.search import search_on_device

        return search_on_device(problem.on_device(), rng, options, known or [])  # type: ignore[arg-type]
    given = [problem.judge(state) for state in known or []]
    population = given + options.map(_improved, [(problem, state) for _, state in given])
    if problem.size <= problem.direct_limit:
        tasks = [(problem, child, options.starts) for child in rng.spawn(options.coarsenings)]
        population = select(problem, population + options.map(starts, tasks, "start"))
        population = _evolve(problem, rng, options, population)
    else:
        population = _search_in_batches(problem, rng, options, select(problem, population))
    return problem.finish(population, rng, options) if options.generations else population


def select(problem: Problem, population: list[Solution], size: int = POPULATION) -> list[Solution]:
    """The best distinct solutions."""
    chosen: dict[object, Solution] = {}
    for solution in sorted(population, key=lambda solution: solution[0]):
        chosen.setdefault(problem.identity(solution), solution)
        if len(chosen) == size:
            break
    return list(chosen.values())


def improve(problem: Problem, state: np.ndarray) -> Solution:
    """A copy of the state, refined and settled."""
    state = state.copy()
    problem.refine(state)
    return problem.settle(state)


def _improved(problem: Problem, state: np.ndarray) -> list[Solution]:
    return [improve(problem, state)]


# Levels


def coarsen(problem: Problem, target: int, rng: np.random.Generator) -> list[Contraction]:
    """Merge pairs until at most about `target` units are left. Each level halves the graph: O(arcs) in all."""
    levels: list[Contraction] = []
    # A unit much heavier than the others could not change sides any more.
    heaviest = 3 * problem.total_weight() / target
    small = problem
    while small.size > target:
        level = small.halve(heaviest, rng)
        if level.problem.size == small.size:
            break
        if small.size > SKIPPED_LIMIT:
            level = level.followed_by(level.problem.halve(heaviest, rng))
        levels.append(level)
        small = level.problem
    return levels


def coarsest(problem: Problem, levels: list[Contraction]) -> Problem:
    return levels[-1].problem if levels else problem


def uncoarsen(problem: Problem, levels: list[Contraction], state: np.ndarray) -> np.ndarray:
    """Carry a state of the coarsest problem back to `problem`, refining at every level."""
    finer = [problem, *(level.problem for level in levels[:-1])]
    for fine, level in reversed(list(zip(finer, levels, strict=False))):
        state = level.lift(state)
        fine.refine(state)
    return state


# Starts


def starts(
    problem: Problem,
    rng: np.random.Generator,
    count: int,
    keep: int = STARTS_KEPT,
    middle: int | None = None,
) -> list[Solution]:
    """The best of some starts that share one random coarsening to the `middle`, carried back to the problem."""
    ((_, chosen, levels),) = _compare_starts(problem, rng, count, keep, middle or problem.middle(large=False))
    return [solution for state in chosen for solution in carry_back(problem, levels, state)]


def _compare_starts(
    problem: Problem, rng: np.random.Generator, count: int, keep: int, middle: int
) -> list[tuple[float, list[np.ndarray], list[Contraction]]]:
    """One random coarsening to the middle: the best score there, the best starts, and the levels."""
    levels = coarsen(problem, middle, rng) if problem.size > 1.5 * middle else []
    small = coarsest(problem, levels)
    found = select(small, [small.start(rng) for _ in range(count)], keep)
    return [(found[0][0], [state for _, state in found], levels)]


def carry_back(problem: Problem, levels: list[Contraction], state: np.ndarray) -> list[Solution]:
    """The solution that a state of the coarsest level leads to, in a list for `SearchOptions.map`."""
    return [problem.settle(uncoarsen(problem, levels, state))]


# Batches


def _search_in_batches(
    problem: Problem, rng: np.random.Generator, options: SearchOptions, population: list[Solution]
) -> list[Solution]:
    """Make solutions by a few random coarsenings at a time and join them with the best so far, as long as it pays.

    Where there are threads for more than a batch, all are made at once; the result is the same.
    """
    count = -(-options.coarsenings // BATCH)
    generators = rng.spawn(options.coarsenings)
    made = _solutions(problem, options, generators) if options.workers[0] >= 2 * BATCH else None
    for number in range(count):
        part, now = options.part(number, count), slice(number * BATCH, (number + 1) * BATCH)
        found = _solutions(problem, part, generators[now]) if made is None else made[now]
        fresh = list(chain.from_iterable(found))
        scores = [score for score, _ in fresh]
        before = population[0][0] if number > 0 else min(scores + [score for score, _ in population])
        population = join(problem, rng, part, population[:STARTS_KEPT] + fresh)[:STARTS_KEPT]
        del found, fresh  # a state of ten million units takes 40 MB
        if _should_end(problem, options, number, scores, before, population[0][0]):
            break
        best = population[0][0]
        if number + 1 < count and options.effort <= 1 and float(np.median(scores)) <= NEARLY_ALIKE * best:
            population = cycled(problem, rng, part, population, 1)
            if population[0][0] < (1 - GAIN_OF_CYCLE) * best:
                break
    everything = count * options.generations
    options.report("join", everything, everything, population[0][0])
    # V-cycles gain most of what further batches would have gained, in less time.
    return cycled(problem, rng, options, population) if options.generations else population


def _should_end(
    problem: Problem, options: SearchOptions, number: int, fresh: list[float], before: float, best: float
) -> bool:
    """Whether further batches would gain too little, by what this one gained and how far apart its starts are."""
    if number > 0 and problem.size > PATIENT_LIMIT and not best < (1 - LEAST_BATCH_GAIN) * before:
        return True
    alike = float(np.median(fresh)) <= ALIKE * best
    return alike and options.effort <= 1 and not best < (1 - LEAST_GAIN_OF_ALIKE) * before


def _solutions(
    problem: Problem,
    options: SearchOptions,
    generators: list[np.random.Generator],
) -> list[list[Solution]]:
    """Solutions of a large problem, several for each random coarsening."""
    keep = STARTS_KEPT if problem.size <= PATIENT_LIMIT else STARTS_KEPT // 2
    tasks = [(problem, rng, options.starts, keep, problem.middle(large=True)) for rng in generators]
    threads, shared = options.workers
    # Levels are large. Without shared memory they stay in the process that makes them; on one thread, those of a very
    # large graph are given up before the next random coarsening makes its own.
    if not shared or (threads == 1 and problem.size > SKIPPED_LIMIT):
        return [solutions for _, solutions in options.map(_starts_in_one_task, tasks, "start")]
    found = options.map(_compare_starts, tasks, "start")
    carried = [(problem, levels, state) for _, chosen, levels in found for state in chosen]
    solutions = iter(options.map(carry_back, carried, "refine", keep * len(generators)))
    return [list(islice(solutions, len(chosen))) for _, chosen, _ in found]


def _starts_in_one_task(problem: Problem, *settings: object) -> list[tuple[float, list[Solution]]]:
    """The solutions of one random coarsening, after the best score, which `SearchOptions.map` reports."""
    solutions = starts(problem, *settings)  # type: ignore[arg-type]
    return [(min(score for score, _ in solutions), solutions)]


def join(
    problem: Problem,
    rng: np.random.Generator,
    options: SearchOptions,
    population: list[Solution],
    *,
    exchange: bool = True,
) -> list[Solution]:
    """Merge everything on which all solutions agree and let them evolve in the small problem that is left.

    All solutions are solutions of the small problem, so the best is at least as good as the best of them. If
    `exchange`, moves between whole clusters follow.
    """
    population = select(problem, population)
    if options.generations == 0:
        return population
    level = problem.agreement([state for score, state in population if score <= CLOSE * population[0][0]])
    small = level.problem
    if small.size < small.fewest:
        return population
    states = [level.project(state) for score, state in population if score <= CLOSE * population[0][0]]
    # At the low price of a violation some would end above where they began, at the full one none.
    strict = small.at_full_price()
    known = [improve(own, state) for own in dict.fromkeys((small, strict)) for state in states]
    patience = PATIENCE_IN_LARGE_JOIN if problem.size > PATIENT_LIMIT else PATIENCE
    evolved = _evolve(small, rng, options, select(small, known), "join", patience)
    if exchange:
        evolved = small.exchange(evolved, rng, options)
    lifted = options.map(_improved, [(problem, level.lift(state)) for _, state in evolved[:STARTS_KEPT]])
    return select(problem, population + lifted)


# V-cycles end a search on the GPU, and one on the CPU whose batches ended early. In place of batches they would leave larger
# cuts on Shuttle, letter and Covertype, whose starts differ a lot.


def cycled(
    problem: Problem, rng: np.random.Generator, options: SearchOptions, population: list[Solution], most: int = CYCLES
) -> list[Solution]:
    """The population with what V-cycles make of its best, as long as they pay."""
    strict = problem.at_full_price()
    for done in range(most):
        options.report("cycle", done, most, population[0][0])
        before = population[0][0]
        population = select(problem, [*population, cycle(strict, population[0][1], rng)])
        if not population[0][0] < (1 - LEAST_GAIN) * before:
            break
    options.report("cycle", most, most, population[0][0])
    return population


def cycle(problem: Problem, state: np.ndarray, rng: np.random.Generator) -> Solution:
    """Coarsen without merging across clusters of the state, then refine it on the way back; never worse."""
    small, levels, target = problem, [], problem.middle(large=True)
    heaviest = 3 * problem.total_weight() / target
    while small.size > target:
        level = small.matched(heaviest, rng, state)
        if level is None:
            break
        levels.append(level)
        small, state = level.problem, level.project(state)
    state = state.copy()
    small.refine(state)
    return problem.settle(uncoarsen(problem, levels, state))


# Generations


def _evolve(
    problem: Problem,
    rng: np.random.Generator,
    options: SearchOptions,
    population: list[Solution],
    stage: str = "search",
    patience: tuple[int, float] = PATIENCE,
) -> list[Solution]:
    stale, (most, progress) = 0, patience
    for generation in range(options.generations):
        options.report(stage, generation, options.generations, population[0][0])
        if len(population) < 2 or stale == most:
            break
        best = population[0][0]
        tasks = [(problem, child, population) for child in rng.spawn(CHILDREN)]
        population = select(problem, population + options.map(_child, tasks))
        stale = 0 if population[0][0] < best * (1 - progress) else stale + 1
    options.report(stage, options.generations, options.generations, population[0][0])
    return population


def _child(problem: Problem, rng: np.random.Generator, population: list[Solution]) -> list[Solution]:
    """Merge everything on which a few parents agree, search the small problem, lift the best."""
    count = min(len(population), int(rng.integers(2, 5)))
    parents = [population[place][1] for place in sorted(rng.choice(len(population), count, replace=False))]
    level = problem.agreement(parents)
    small = level.problem
    if small.size < small.fewest:
        return []
    found = [improve(small, level.project(parents[0]))]
    found += small.explore(found, rng)
    return [improve(problem, level.lift(select(small, found, 1)[0][1]))]


def restarts(problem: Problem, rng: np.random.Generator) -> list[Solution]:
    """A few random starts of a small problem, for `Problem.explore`."""
    return starts(problem, rng, STARTS // 2)
