"""`search` for problems of any size; those of more than 60,000 units are searched by a team of threads.

1. The graph is coarsened a few times at random. What is left is cut several times, and the best of these starts are refined
   on the way back.
2. Everything on which all solutions agree is merged, and generations pass in the small problem that is left.
3. V-cycles: the graph is coarsened again, merging only what the best solution has together, and the solution refined on
   all levels on the way back. Units of every size change their cluster in this way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tightcut.problem.graph import Graph
from tightcut.search import evolve
from tightcut.search.evolve import join, v_cycles
from tightcut.search.k_way import ManyClusters
from tightcut.search.large_problem import LargeManyClusters, LargeTwoClusters
from tightcut.search.multilevel import coarsen, coarsest
from tightcut.search.options import STARTS, SearchOptions
from tightcut.search.problem import Problem, Solution, improve, select
from tightcut.search.starts import carry_back
from tightcut.search.team import Team, Units, negative_weight
from tightcut.search.two_clusters import TwoClusters


@dataclass(frozen=True)
class LargeLimits:
    """When a graph is large, and how much less is tried there."""

    units: int = 60_000  # above which a graph is searched in this way
    coarsenings: float = 0.5  # of those of a smaller graph
    kept: int = 2  # starts of each random coarsening that are carried back; one if nothing is joined
    close: float = 1.1  # times the best score, up to which solutions are joined: a mere colouring agrees with none


LIMITS = LargeLimits()


def search(
    problem: Problem, rng: np.random.Generator, options: SearchOptions, known: list[np.ndarray] | None = None
) -> list[Solution]:
    """Good distinct solutions of a problem of any size, best first. `known` states take part and are never lost.

    A large problem is left to the back end of the options, if they have one.
    """
    if options.backend is not None and problem.size > options.backend.limit:
        return options.backend.search(problem, rng, options, known or [])
    if problem.size > LIMITS.units:
        return search_large(problem, rng, options, known or [])
    return evolve.search(problem, rng, options, known)


def search_large(
    problem: Problem, rng: np.random.Generator, options: SearchOptions, known: list[np.ndarray]
) -> list[Solution]:
    """`tightcut.search.evolve.search` of a large problem."""
    # Workers of other processes may cut small graphs; the large one stays in this process.
    here = options if options.workers[1] else replace(options, n_jobs=1)
    with _team(options) as team:
        large = by_team(problem, team)
        given, fresh = [large.judge(state) for state in known], _starts(large, rng, options)
        near = evolve.LIMITS.close * min(score for score, _ in fresh)
        population = given + [improve(large, state) for score, state in given if score <= near]
        population = select(large, population + fresh)
        if options.generations == 0:
            return population
        close = [solution for solution in population if solution[0] <= LIMITS.close * population[0][0]]
        population = select(large, population + join(large, rng, here, close, exchange=False))
        population = v_cycles(large, rng, options, population)
        return large.finish(population, rng, here)


def contract_large(graph: Graph, unit: np.ndarray, options: SearchOptions) -> Graph:
    """`Graph.contract` of a large graph; neighbours are in no order."""
    with _team(options) as team:
        weights = team.contract(graph.weights, Units.of(unit)).matrix
    return Graph(weights, np.bincount(unit, graph.vertex_weights, weights.shape[0]))


def by_team(problem: Problem, team: Team) -> Problem:
    """The same problem, whose steps the team takes."""
    if isinstance(problem, TwoClusters):
        return LargeTwoClusters(problem.graph, team, negative_weight(problem.graph.couplings))
    if isinstance(problem, ManyClusters):
        return LargeManyClusters(problem.graph, problem.k, problem.prices, team)
    raise TypeError(f"No team takes the steps of a {type(problem).__name__}; search it with evolve.search.")


def _team(options: SearchOptions) -> Team:
    count, shared = options.workers
    return Team(count if shared else 1)


def _starts(problem: Problem, rng: np.random.Generator, options: SearchOptions) -> list[Solution]:
    """The best starts of a few random coarsenings, carried back to the problem."""
    found: list[Solution] = []
    generators = rng.spawn(int(np.ceil(LIMITS.coarsenings * options.coarsenings)))
    kept = LIMITS.kept if options.generations else 1
    for number, generator in enumerate(generators):
        part = options.part(number, len(generators))
        levels = coarsen(problem, problem.middle(large=True), generator)
        small = coarsest(problem, levels)
        made = part.map(_start, [(small, child) for child in generator.spawn(STARTS)], "start")
        for _, state in select(small, made, kept):
            found += carry_back(problem, levels, state)
    return found


def _start(problem: Problem, rng: np.random.Generator) -> list[Solution]:
    return [problem.start(rng)]
