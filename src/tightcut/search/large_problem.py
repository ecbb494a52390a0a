"""`ManyClusters` in a large graph: the same problem, whose steps a team of threads takes together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.k_way import ManyClusters
from tightcut.search.multilevel import SHRINKS
from tightcut.search.problem import Contraction, Problem
from tightcut.search.team import Team, arrays

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
        weights, degrees, _ = self.team.contract(graph.weights, units)
        return self._contracted(units.unit, weights, degrees)

    def agreement(self, states: list[np.ndarray]) -> Contraction[Problem]:
        unit = self.team.regions(self.graph.weights, self.graph.common_code(states))
        weights = self.team.crossing(self.graph.weights, unit, int(unit.max()) + 1)
        return self._contracted(unit, weights, np.asarray(weights.sum(axis=1)).ravel())

    def refine(self, labels: np.ndarray) -> None:
        self.team.refine(self._arrays, labels, self.k, self.prices.low, self._constants)

    def enforce(self, labels: np.ndarray) -> None:
        self.team.refine(self._arrays, labels, self.k, self.prices.full, self._constants)

    def cut(self, labels: np.ndarray) -> float:
        return self.team.refine(self._arrays, labels, self.k, 0.0, self._constants, rounds=0)

    def _contracted(self, unit: np.ndarray, weights: sp.csr_array, degrees: np.ndarray) -> Contraction[Problem]:
        m = weights.shape[0]
        graph = ConstrainedGraph(
            weights, np.bincount(unit, self.graph.vertex_weights, m), self.graph.merged_relations(unit, m)
        )
        vars(graph)["degrees"] = degrees
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
