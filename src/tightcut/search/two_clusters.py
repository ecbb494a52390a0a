"""`TwoClusters`: the search problem for two clusters, spins of a signed graph into which the constraints are built."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from tightcut import kernels
from tightcut.search.multilevel import SHRINKS, coarsen, coarsest, uncoarsen
from tightcut.search.options import SearchOptions
from tightcut.search.problem import Contraction, Problem, Solution, select
from tightcut.search.signed_graph import SignedGraph, pair_up, random_order
from tightcut.search.starts import restarts


@dataclass(frozen=True)
class TwoWayLimits:
    """Sizes, in units, at which the search for two clusters changes, and how long its tabu searches take."""

    direct: int = (
        2_000  # up to which generations are searched in the graph itself; see benchmarks/results/multilevel.md
    )
    middle: int = 400  # at which starts are compared, before the best are carried back to a larger graph
    handful: int = 20  # down to which each start is coarsened
    tabu: int = 2_000  # up to which a scan of all units per flip pays
    fewest_flips: int = 200  # without a new best that end a tabu search, and one more for each unit, ...
    most_flips: int = 1_000  # ... up to this
    polished: int = 3  # solutions that RatioDCA starts from; one in a large graph, where they are much alike


LIMITS = TwoWayLimits()


@dataclass(frozen=True, eq=False)
class TwoClusters:
    """The problem of the search for spins: every choice of them satisfies every constraint.

    The constraints are built into the units. A state holds a spin, +1 or -1, per unit.
    """

    graph: SignedGraph

    direct_limit = LIMITS.direct
    fewest = 3

    @property
    def size(self) -> int:
        return self.graph.n_units

    def __sizeof__(self) -> int:
        return self.graph.__sizeof__()

    def middle(self, *, large: bool) -> int:  # noqa: ARG002
        return LIMITS.middle

    def total_weight(self) -> float:
        return self.graph.volume

    def at_full_price(self) -> TwoClusters:
        return self  # spins violate nothing

    def matched(self, heaviest: float, rng: np.random.Generator, state: np.ndarray) -> Contraction[Problem] | None:
        order = random_order(self.size, rng)
        unit, sign = self.graph.satisfied_by(state).matching(order, heaviest)
        return _tied(self.graph.merge(unit, sign)) if unit.max() + 1 <= SHRINKS * self.size else None

    def halve(self, heaviest: float, rng: np.random.Generator) -> Contraction[Problem]:
        order = random_order(self.size, rng)
        unit, sign = self.graph.matching(order, heaviest)
        if unit.max() + 1 > SHRINKS * self.size:
            unit, sign = pair_up(order), np.ones(self.size, np.int8)
        return _tied(self.graph.merge(unit, sign))

    def start(self, rng: np.random.Generator) -> Solution:
        levels = coarsen(self, LIMITS.handful, rng)
        small: TwoClusters = coarsest(self, levels)  # type: ignore[assignment]
        spins = rng.choice(np.array([-1, 1], np.int8), small.size)
        _, spins = small.tabu(ensure_both_sides(small.graph, spins), 10 * LIMITS.handful, rng)
        return self.judge(uncoarsen(self, levels, spins))

    def refine(self, spins: np.ndarray) -> None:
        self.graph.refine(spins)

    def judge(self, spins: np.ndarray) -> Solution:
        return self.graph.ratio(spins), spins

    settle = judge

    def agreement(self, states: list[np.ndarray]) -> Contraction[Problem]:
        """Merge what agrees once every state is turned towards the first: spins and their mirror image are one solution."""
        return _tied(self.graph.consensus(align_mirror_images(states)))

    def explore(self, found: list[Solution], rng: np.random.Generator) -> list[Solution]:
        more = restarts(self, rng) if self.size > LIMITS.handful else []
        if self.size <= LIMITS.tabu:
            patience = min(LIMITS.fewest_flips + self.size, LIMITS.most_flips)
            more += [self.tabu(spins, patience, rng) for _, spins in select(self, found + more, 2)]
        return more

    def exchange(self, population: list[Solution], rng: np.random.Generator, options: SearchOptions) -> list[Solution]:  # noqa: ARG002
        """Two clusters have no third to exchange with; RatioDCA ends their search."""
        return population

    finish = exchange

    def identity(self, solution: Solution) -> Hashable:
        spins = solution[1]
        return (spins * spins[0]).tobytes()

    def tabu(self, spins: np.ndarray, patience: int, rng: np.random.Generator) -> Solution:
        """The best solution on a walk of best flips that does not return, until `patience` flips brought nothing."""
        spins = spins.copy()
        state = rng.integers(1, 2**63, 1, dtype=np.uint64)
        return kernels.tabu_search(*self.graph.arrays, spins, patience, state), spins


def _tied(merged: Contraction[SignedGraph]) -> Contraction[Problem]:
    return Contraction(TwoClusters(merged.small), merged.unit, merged.sign)


def align_mirror_images(states: list[np.ndarray]) -> list[np.ndarray]:
    """The same solutions, each as that of two mirror images which is more like the first."""
    first = states[0]
    return [spins if (spins == first).mean() >= 0.5 else -spins for spins in states]


def ensure_both_sides(graph: SignedGraph, spins: np.ndarray) -> np.ndarray:
    """The spins, the first of them turned if they would leave one side empty; in place."""
    if not graph.mixed.any() and abs(int(spins.sum())) == len(spins):
        spins[0] = -spins[0]
    return spins
