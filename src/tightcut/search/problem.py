"""What the search works on: problems, states, and contractions that carry them to smaller problems and back.

A *state* is an array with one small integer per unit: a spin where there are two clusters, a label where there are more.
A *solution* is a state with its score; smaller is better. A *population* is a list of distinct solutions.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from tightcut.search.options import SearchOptions

Solution = tuple[float, np.ndarray]
POPULATION = 12


@dataclass(frozen=True, eq=False)
class Partition:
    """What a search returns.

    | field | meaning |
    |---|---|
    | labels | the cluster of each vertex |
    | history | for two clusters: the cut at the start of the final RatioDCA and after each of its steps |
    | bound | the least belief that must be violated, if known |
    """

    labels: np.ndarray
    history: tuple[float, ...] | None = None
    bound: float | None = None


Small = TypeVar("Small")


@dataclass(frozen=True, eq=False)
class Contraction(Generic[Small]):
    """A smaller graph or problem, and how the units it came from sit in it.

    Attributes
    ----------
    small : graph or Problem
        Every state of it has the score of the state that `lift` makes of it.
    unit : ndarray of shape (n_units,)
        The unit 0, ..., m - 1 that each unit has become part of.
    sign : ndarray of int8, shape (n_units,), or None
        The orientation of each unit there; None for labels.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Contraction(None, np.array([0, 1, 0]), np.array([1, 1, -1], np.int8))
    >>> pairs.lift(np.array([-1, 1], np.int8)).tolist()
    [-1, 1, 1]
    """

    small: Small
    unit: np.ndarray
    sign: np.ndarray | None = None

    @property
    def n_units(self) -> int:
        """Units of the smaller one."""
        return int(self.unit.max()) + 1

    def lift(self, state: np.ndarray) -> np.ndarray:
        """A state of the smaller one as one of the larger."""
        return state[self.unit] if self.sign is None else state[self.unit] * self.sign

    def project(self, state: np.ndarray) -> np.ndarray:
        """The inverse, for states that respect the units; of others, a unit takes the label of its last member."""
        small = np.empty(self.n_units, np.int32 if self.sign is None else np.int8)
        small[self.unit] = state if self.sign is None else state * self.sign
        return small

    def followed_by(self, smaller: Contraction[Small]) -> Contraction[Small]:
        """Both contractions in one; what lies between them is forgotten."""
        sign = None if self.sign is None or smaller.sign is None else smaller.sign[self.unit] * self.sign
        return Contraction(smaller.small, smaller.unit[self.unit], sign)


class Problem(Protocol):
    """A graph to cut, with everything that a score depends on."""

    direct_limit: int  # units up to which generations are searched in the graph itself

    @property
    def size(self) -> int:
        """Number of units."""

    @property
    def fewest(self) -> int:
        """Fewest units that leave anything to search."""

    def middle(self, *, large: bool) -> int:
        """Units at which the starts of one random coarsening are compared, in a large graph or in one contracted from it."""

    def halve(self, heaviest: float, rng: np.random.Generator) -> Contraction[Problem]:
        """Merge pairs of tightly joined units, none to more than `heaviest`; all units stay if no pair may be merged."""

    def matched(self, heaviest: float, rng: np.random.Generator, state: np.ndarray) -> Contraction[Problem] | None:
        """Merge pairs as `halve` does, but none that the state separates; None if too few are left."""

    def at_full_price(self) -> Problem:
        """The same problem, in which refinement keeps every constraint that holds."""

    def total_weight(self) -> float:
        """The vertex weight of all units."""

    def start(self, rng: np.random.Generator) -> Solution:
        """A random start: coarsened to a handful, solved, refined on the way back."""

    def refine(self, state: np.ndarray) -> None:
        """Local search in place."""

    def settle(self, state: np.ndarray) -> Solution:
        """The score of a refined state, after whatever must hold in the end has been enforced, in place."""

    def judge(self, state: np.ndarray) -> Solution:
        """The score of a state as it is."""

    def agreement(self, states: list[np.ndarray]) -> Contraction[Problem]:
        """Merge connected units on which all the states agree."""

    def explore(self, found: list[Solution], rng: np.random.Generator) -> list[Solution]:
        """Further solutions of a small problem, near the ones found or far from them."""

    def exchange(self, population: list[Solution], rng: np.random.Generator, options: SearchOptions) -> list[Solution]:
        """Moves between whole clusters, from the best solution: the population with what they led to."""

    def finish(self, population: list[Solution], rng: np.random.Generator, options: SearchOptions) -> list[Solution]:
        """Moves that a search ends with: the population with what they led to."""

    def identity(self, solution: Solution) -> Hashable:
        """Equal for solutions that are the same clustering."""


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
