"""`ManyClusters` and `TwoClusters` of large graphs, with every step taken by a team of threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.k_way import ManyClusters
from tightcut.search.multilevel import SHRINKS
from tightcut.search.problem import Contraction, Problem, Solution
from tightcut.search.signed_graph import common_code
from tightcut.search.team import Merged, Team, arrays
from tightcut.search.two_clusters import TwoClusters, align_mirror_images

LEVEL_LIMIT = 8_000  # units up to which a level is refined move by move, by one thread


@dataclass(frozen=True, eq=False)
class LargeManyClusters(ManyClusters):
    """The problem of the search for k labels of a large graph.

    | field | meaning |
    |---|---|
    | team | the threads that take each step |
    """

    team: Team

    def halve(self, heaviest: float, rng: np.random.Generator) -> Contraction[Problem]:
        """Heavy-edge matching; where it ends, vertices without any edge between them are paired."""
        return self.matched(heaviest, rng) or super().halve(heaviest, rng)

    def matched(
        self, heaviest: float, rng: np.random.Generator, state: np.ndarray | None = None
    ) -> Contraction[Problem] | None:
        graph, seed = self.graph, int(rng.integers(2**63))
        units = self.team.match(
            graph.weights, graph.vertex_weights, heaviest, seed, apart=graph.forbidden, labels=state
        )
        if len(units) > SHRINKS * self.size:
            return None
        return self._contracted(units.unit, self.team.contract(graph.weights, units))

    def agreement(self, states: list[np.ndarray]) -> Contraction[Problem]:
        unit = self.team.regions(self.graph.weights, self.graph.common_code(states))
        return self._contracted(unit, self.team.contract_regions(self.graph.weights, unit, np.zeros(0, np.int8)))

    def refine(self, labels: np.ndarray) -> None:
        self.team.refine(self._arrays, labels, self.k, self.prices.low, self._constants)

    def enforce(self, labels: np.ndarray) -> None:
        self.team.refine(self._arrays, labels, self.k, self.prices.full, self._constants)

    def cut(self, labels: np.ndarray) -> float:
        return self.team.refine(self._arrays, labels, self.k, 0.0, self._constants, rounds=0)

    def _contracted(self, unit: np.ndarray, merged: Merged) -> Contraction[Problem]:
        m = len(merged.degrees)
        relations = self.graph.merged_relations(unit, m)
        graph = ConstrainedGraph(merged.matrix, np.bincount(unit, self.graph.vertex_weights, m), relations)
        vars(graph)["degrees"] = merged.degrees  # of the cached property, which would pass over all arcs again
        if m > LEVEL_LIMIT:
            return Contraction(replace(self, graph=graph), unit)
        return Contraction(ManyClusters(graph, self.k, self.prices), unit)

    @cached_property
    def _arrays(self) -> tuple:
        graph = self.graph
        return *arrays(graph.weights), graph.vertex_weights, graph.degrees, *arrays(graph.relations)

    @cached_property
    def _constants(self) -> tuple[float, float, float]:
        return 0.0, 0.0, self.graph.promised


@dataclass(frozen=True, eq=False)
class LargeTwoClusters(TwoClusters):
    """The problem of the search for the spins of a large signed graph, none of whose edges leave the two clusters.

    With couplings for weights and moments for vertex weights, a unit that turns changes what leaves the two sides, and what
    they weigh, as a vertex that moves does, up to a constant for both.

    | field | meaning |
    |---|---|
    | team | the threads that take each step |
    | negative | the negative couplings, each once: what their sum between the sides is less than the frustrated ones |
    """

    team: Team
    negative: float

    def halve(self, heaviest: float, rng: np.random.Generator) -> Contraction[Problem]:
        return self.matched(heaviest, rng) or super().halve(heaviest, rng)

    def matched(
        self, heaviest: float, rng: np.random.Generator, state: np.ndarray | None = None
    ) -> Contraction[Problem] | None:
        graph, seed = self.graph, int(rng.integers(2**63))
        labels = None if state is None else _labels(state)
        units = self.team.match(graph.couplings, graph.vertex_weights, heaviest, seed, labels=labels, signed=True)
        if len(units) > SHRINKS * self.size:
            return None

        return self._merged(
            units.unit, units.sign, lambda sign: self.team.contract(graph.couplings, replace(units, sign=sign))
        )

    def agreement(self, states: list[np.ndarray]) -> Contraction[Problem]:
        states = align_mirror_images(states)
        unit = self.team.regions(self.graph.couplings, common_code(states))

        return self._merged(unit, states[0], lambda sign: self.team.contract_regions(self.graph.couplings, unit, sign))

    def refine(self, spins: np.ndarray) -> None:
        labels = _labels(spins)
        self.team.refine(self._arrays, labels, 2, 0.0, self._constants)
        spins[:] = 1 - 2 * labels

    def judge(self, spins: np.ndarray) -> Solution:
        found = self.team.refine(self._arrays, _labels(spins), 2, 0.0, self._constants, rounds=0)
        # Sums over vertex weights of many orders can only be negative by rounding, which `ratio` knows of.
        return (found if found >= 0 else self.graph.ratio(spins)), spins

    settle = judge

    def _merged(self, unit: np.ndarray, sign: np.ndarray, step: Callable[[np.ndarray], Merged]) -> Contraction[Problem]:
        """Tie units together, with the couplings that a step of the team makes for the signs that they get."""
        made: list[Merged] = []

        def contract(couplings: sp.csr_array, _: np.ndarray, sign: np.ndarray, m: int) -> tuple[sp.csr_array, float]:  # noqa: ARG001
            made.append(step(sign))
            return made[0].matrix, made[0].turned + made[0].negative - self.negative

        merged = self.graph.merge(unit, sign, contract)
        graph = merged.small
        large = graph.n_units > LEVEL_LIMIT
        small = LargeTwoClusters(graph, self.team, made[0].negative) if large else TwoClusters(graph)
        return Contraction(small, merged.unit, merged.sign)

    @cached_property
    def _arrays(self) -> tuple:
        graph = self.graph
        no_relations = np.zeros(self.size + 1, np.uint32), np.zeros(0, np.uint32), np.zeros(0)
        return *arrays(graph.couplings), graph.moment, np.asarray(graph.couplings.sum(axis=1)).ravel(), *no_relations

    @cached_property
    def _constants(self) -> tuple[float, float, float]:
        graph = self.graph
        return graph.offset - self.negative, (graph.volume - float(graph.moment.sum())) / 2, 0.0


def _labels(spins: np.ndarray) -> np.ndarray:
    return (spins < 0).astype(np.int32)
