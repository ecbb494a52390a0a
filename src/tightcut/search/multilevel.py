"""Levels: smaller and smaller problems with the same scores, and the way back."""

from __future__ import annotations

import numpy as np

from tightcut.search.problem import Contraction, Problem

SHRINKS = 0.95  # a matching that leaves a larger share of the units is not worth a level
# Units above which every second level is skipped: all levels together take more memory than the graph.
SKIPPED_LIMIT = 2_000_000


def skips_levels(problem: Problem) -> bool:
    return problem.size > SKIPPED_LIMIT


def coarsen(problem: Problem, target: int, rng: np.random.Generator) -> list[Contraction[Problem]]:
    """Merge pairs until at most about `target` units are left. Each level halves the graph: O(arcs) in all."""
    levels: list[Contraction[Problem]] = []
    # A unit much heavier than the others could not change sides any more.
    heaviest = 3 * problem.total_weight() / target
    small = problem
    while small.size > target:
        level = small.halve(heaviest, rng)
        if level.small.size == small.size:
            break
        if skips_levels(small):
            level = level.followed_by(level.small.halve(heaviest, rng))
        levels.append(level)
        small = level.small
    return levels


def coarsest(problem: Problem, levels: list[Contraction[Problem]]) -> Problem:
    return levels[-1].small if levels else problem


def uncoarsen(problem: Problem, levels: list[Contraction[Problem]], state: np.ndarray) -> np.ndarray:
    """Carry a state of the coarsest problem back to `problem`, refining at every level."""
    finer = [problem, *(level.small for level in levels[:-1])]
    for fine, level in reversed(list(zip(finer, levels, strict=False))):
        state = level.lift(state)
        fine.refine(state)
    return state
