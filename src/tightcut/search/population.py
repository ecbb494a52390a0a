"""Solutions side by side: the best distinct ones, and one improved."""

from __future__ import annotations

import numpy as np

from tightcut.search.problem import Problem, Solution

POPULATION = 12


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
