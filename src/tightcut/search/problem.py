"""What the search needs of a problem.

A *state* is an array with one small integer per unit: a spin where there are two clusters, a label where there are more.
`Contraction` carries it to a smaller problem and back. A *solution* is a state with its score; smaller is better.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

import numpy as np

from tightcut.search.contraction import Contraction
from tightcut.search.options import SearchOptions

Solution = tuple[float, np.ndarray]


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
