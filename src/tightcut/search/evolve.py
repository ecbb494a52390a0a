"""The search: multilevel starts, and recombination by consensus. It does not depend on what a cluster is; see `Problem`.

1. Starts: coarsen at random down to a handful of units, solve those, refine on the way back.
2. Generations: take two to four good solutions, merge everything on which they agree, search the small problem that is
   left, lift the best, refine. A child is never worse than its best parent (the merging lemma).

In a larger graph, where every child costs passes over all of it, starts are made a few at a time and joined with the best
so far: everything on which all agree is merged once, and the generations pass in the small problem that is left. Every
random coarsening merges a few units across the best cut, but each merges different ones. Where the starts are much alike,
the first batch that gains next to nothing (as on MNIST), or the one after a V-cycle on the best solution that gained more
(Covertype), is the last, and V-cycles follow.

A generation's children depend only on the population before it and on their own seeds, so the result is the same
for every number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightcut.search.multilevel import skips_levels, uncoarsen
from tightcut.search.options import SearchOptions
from tightcut.search.problem import Problem, Solution, improve, select
from tightcut.search.starts import STARTS_KEPT, Batches, starts


@dataclass(frozen=True)
class EvolveLimits:
    """When a stage ends, and what the next begins with. Gains and differences are shares of the cut.

    Those of batches were chosen on MNIST and Covertype.
    """

    children: int = 6  # of a generation
    patience: tuple[int, float] = (3, 1e-12)  # generations without progress before the last, and what is progress
    close: float = 3.0  # times the best cut, up to which solutions are joined; a mere colouring agrees with no other
    different: float = 0.05  # starts that are joined to a cut smaller by this have found different clusters
    cycles: int = 3  # V-cycles at most
    gain_of_next_cycle: float = 2e-4  # that one must have for another to follow
    # Of a search in batches
    alike: float = 1.1  # times the best cut: where half of the starts are within it, ...
    gain_of_alike: float = 0.001  # ... a batch that gains less is the last
    nearly_alike: float = 1.15  # the same, where a V-cycle follows the batch; ...
    gain_of_cycle: float = 0.01  # ... if that gains more, one more batch is the last
    # In a larger graph half as many starts and joined solutions are kept, and a join ends after one generation without
    # progress: more solutions or V-cycles follow. Letter, which is smaller, has cuts 3 % larger so.
    large: int = 100_000
    gain_in_large: float = 0.005  # a batch that gains less is the last
    patience_in_large: tuple[int, float] = (1, 0.001)


LIMITS = EvolveLimits()


def search(
    problem: Problem, rng: np.random.Generator, options: SearchOptions, known: list[np.ndarray] | None = None
) -> list[Solution]:
    """Good distinct solutions, best first. `known` states take part and are never lost."""
    given = [problem.judge(state) for state in known or []]
    if problem.size <= problem.direct_limit:
        population = given + options.map(_improved, [(problem, state) for _, state in given])
        tasks = [(problem, child, options.starts) for child in rng.spawn(options.coarsenings)]
        population = select(problem, population + options.map(starts, tasks, "start"))
        population = _evolve(problem, rng, options, population)
    else:
        population = _search_in_batches(problem, rng, options, given)
    return problem.finish(population, rng, options) if options.generations else population


def _improved(problem: Problem, state: np.ndarray) -> list[Solution]:
    return [improve(problem, state)]


# Batches


def _search_in_batches(
    problem: Problem, rng: np.random.Generator, options: SearchOptions, population: list[Solution]
) -> list[Solution]:
    """Make solutions by a few random coarsenings at a time and join them with the best so far, as long as it pays."""
    with Batches(problem, rng, options) as batches:
        keep, last, cycled_to = _kept(problem), len(batches) - 1, np.inf
        for number in range(len(batches)):
            part = options.part(number, len(batches))
            fresh = batches.solutions(number, keep, part)
            scores = [score for score, _ in fresh]
            if number == 0:
                batches.begin(1)
                # Given states are improved where they can come near. A mere colouring is far from any start.
                near = [(problem, state) for score, state in population if score <= LIMITS.close * min(scores)]
                population = select(problem, population + options.map(_improved, near))
            before = population[0][0] if number > 0 else min(scores + [score for score, _ in population])
            # Starts that are alike have the same clusters, and whole ones were exchanged in the first join.
            exchange = number == 0 or options.effort > 1 or float(np.median(scores)) > LIMITS.alike * before
            population = join(problem, rng, part, population[:STARTS_KEPT] + fresh, exchange=exchange)[:STARTS_KEPT]
            del fresh  # a state of ten million units takes 40 MB
            best = population[0][0]
            if number == last or _should_end(problem, options, number, scores, before, best):
                break
            keep = STARTS_KEPT if number == 0 and best < (1 - LIMITS.different) * before else keep
            if options.effort <= 1 and float(np.median(scores)) <= LIMITS.nearly_alike * best:
                population = v_cycles(problem, rng, part, population, 1)
                cycled_to = population[0][0]
                last = number + 1 if cycled_to < (1 - LIMITS.gain_of_cycle) * best else last
        everything = len(batches) * options.generations
        options.report("join", everything, everything, population[0][0])
    # V-cycles gain most of what further batches would have gained, in less time; next to nothing where one came just before.
    if options.generations and best < (1 - LIMITS.gain_of_alike) * cycled_to:
        population = v_cycles(problem, rng, options, population)
    return population


def _should_end(
    problem: Problem, options: SearchOptions, number: int, fresh: list[float], before: float, best: float
) -> bool:
    """Whether further batches would gain too little, by what this one gained and how far apart its starts are."""
    if number > 0 and problem.size > LIMITS.large and not best < (1 - LIMITS.gain_in_large) * before:
        return True
    alike = float(np.median(fresh)) <= LIMITS.alike * best
    return alike and options.effort <= 1 and not best < (1 - LIMITS.gain_of_alike) * before


def _kept(problem: Problem) -> int:
    return STARTS_KEPT if problem.size <= LIMITS.large else STARTS_KEPT // 2


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
    close = [state for score, state in population if score <= LIMITS.close * population[0][0]]
    level = problem.agreement(close)
    small = level.small
    if small.size < small.fewest:
        return population
    states = [level.project(state) for state in close]
    # At the low price of a violation some would end above where they began, at the full one none.
    strict = small.at_full_price()
    known = [improve(own, state) for own in dict.fromkeys((small, strict)) for state in states]
    patience = LIMITS.patience_in_large if problem.size > LIMITS.large else LIMITS.patience
    evolved = _evolve(small, rng, options, select(small, known), "join", patience)
    if exchange:
        evolved = small.exchange(evolved, rng, options)
    different = evolved[0][0] < (1 - LIMITS.different) * population[0][0]
    kept = STARTS_KEPT if different else _kept(problem)
    lifted = options.map(_improved, [(problem, level.lift(state)) for _, state in evolved[:kept]])
    return select(problem, population + lifted)


# V-cycles end a search on the GPU, and one on the CPU whose batches ended early. In place of batches they would leave larger
# cuts on Shuttle, letter and Covertype, whose starts differ a lot.


def v_cycles(
    problem: Problem,
    rng: np.random.Generator,
    options: SearchOptions,
    population: list[Solution],
    most: int = LIMITS.cycles,
) -> list[Solution]:
    """The population with what V-cycles make of its best, as long as they pay."""
    strict = problem.at_full_price()
    for done in range(most):
        options.report("cycle", done, most, population[0][0])
        before = population[0][0]
        population = select(problem, [*population, v_cycle(strict, population[0][1], rng)])
        if not population[0][0] < (1 - LIMITS.gain_of_next_cycle) * before:
            break
    options.report("cycle", most, most, population[0][0])
    return population


def v_cycle(problem: Problem, state: np.ndarray, rng: np.random.Generator) -> Solution:
    """Coarsen without merging across clusters of the state, then refine it on the way back; never worse."""
    small, levels, target = problem, [], problem.middle(large=True)
    heaviest = 3 * problem.total_weight() / target
    while small.size > target:
        level = small.matched(heaviest, rng, state)
        if level is None:
            break
        if skips_levels(small) and (second := level.small.matched(heaviest, rng, level.project(state))):
            level = level.followed_by(second)
        levels.append(level)
        small, state = level.small, level.project(state)
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
    patience: tuple[int, float] = LIMITS.patience,
) -> list[Solution]:
    stale, (most, progress) = 0, patience
    for generation in range(options.generations):
        options.report(stage, generation, options.generations, population[0][0])
        if len(population) < 2 or stale == most:
            break
        best = population[0][0]
        tasks = [(problem, child, population) for child in rng.spawn(LIMITS.children)]
        population = select(problem, population + options.map(_child, tasks))
        stale = 0 if population[0][0] < best * (1 - progress) else stale + 1
    options.report(stage, options.generations, options.generations, population[0][0])
    return population


def _child(problem: Problem, rng: np.random.Generator, population: list[Solution]) -> list[Solution]:
    """Merge everything on which a few parents agree, search the small problem, lift the best."""
    count = min(len(population), int(rng.integers(2, 5)))
    parents = [population[place][1] for place in sorted(rng.choice(len(population), count, replace=False))]
    level = problem.agreement(parents)
    small = level.small
    if small.size < small.fewest:
        return []
    found = [improve(small, level.project(parents[0]))]
    found += small.explore(found, rng)
    return [improve(problem, level.lift(select(small, found, 1)[0][1]))]
