"""`ManyClusters` and `TwoClusters` over a graph on a device.

States and contractions are arrays on the host. Graphs of the levels stay on the device as long as they are large.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from tightcut.gpu.device import LOCK
from tightcut.search.k_way import ManyClusters
from tightcut.search.multilevel import SHRINKS
from tightcut.search.options import SearchOptions
from tightcut.search.problem import Contraction, Problem, Solution
from tightcut.search.two_way import TwoClusters

LIMIT = 60_000  # units; smaller problems are searched on the CPU
SPINS_LEVEL_LIMIT = 8_000  # units up to which the levels of spins are made on the CPU


class OnDevice:
    """What differs from the same problem on the CPU; to be inherited from before that."""

    graph: Any  # on the device
    size: int

    @abstractmethod
    def on_host(self) -> Problem:
        """The same problem in the memory of the CPU."""

    @abstractmethod
    def level_limit(self) -> int:
        """Units up to which the levels of a start are made on the CPU."""

    def start(self, rng: np.random.Generator) -> Solution:
        return self.on_host().start(rng)

    def halve(self, heaviest: float, rng: np.random.Generator) -> Contraction[Problem]:
        """Heavy-edge matching; where it ends, the CPU goes on."""
        return self.matched(heaviest, rng) or self.on_host().halve(heaviest, rng)

    def matched(
        self, heaviest: float, rng: np.random.Generator, state: np.ndarray | None = None
    ) -> Contraction[Problem] | None:
        with LOCK:
            unit, sign = self.graph.matching(int(rng.integers(2**63)), heaviest, state)
            shrinks = int(unit.max()) + 1 <= SHRINKS * self.size
            return self._contracted(unit, sign, self.level_limit()) if shrinks else None

    def agreement(self, states: list[np.ndarray]) -> Contraction[Problem]:
        with LOCK:
            unit, sign = self.graph.consensus(states)
            return self._contracted(unit, sign, LIMIT)

    def exchange(self, population: list[Solution], rng: np.random.Generator, options: SearchOptions) -> list[Solution]:  # noqa: ARG002
        """Whole clusters are exchanged in the small problems that solutions are joined in."""
        return population

    def _contracted(self, unit: torch.Tensor, sign: torch.Tensor | None, limit: int) -> Contraction[Problem]:
        graph, sign = self.graph.merge(unit, sign)
        small: Any = replace(self, graph=graph)  # type: ignore[type-var]
        ties = unit.int().cpu().numpy(), None if sign is None else sign.cpu().numpy()
        return Contraction(small.on_host() if small.size <= limit else small, *ties)


class DeviceManyClusters(OnDevice, ManyClusters):
    """The problem of the search for k labels of a large graph."""

    def on_host(self) -> ManyClusters:
        return ManyClusters(self.graph.on_host(), self.k, self.prices)

    def level_limit(self) -> int:
        return 2 * self.middle(large=True)

    def settle(self, labels: np.ndarray) -> Solution:
        """Refine once more at the full price, unless nothing but what is allowed is violated."""
        if self.prices.allowance == 0 or self._excess(labels) > 0:
            self.graph.refine(labels, self.k, self.prices.full)
        return self.judge(labels)


class DeviceTwoClusters(OnDevice, TwoClusters):
    """The problem of the search for the spins of a large signed graph."""

    def on_host(self) -> TwoClusters:
        return TwoClusters(self.graph.on_host())

    def level_limit(self) -> int:
        return SPINS_LEVEL_LIMIT
