"""More than two clusters on a device: `tightcut.search.k_way.ManyClusters`, with the graph and its levels there."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from tightcut.gpu.coarsening import common_code, connected_regions, contract, contradictory_units
from tightcut.gpu.levels import DEVICE_LOCK, OnDevice, Ties
from tightcut.gpu.matching import heavy_edge_matching, pairs_as_units
from tightcut.gpu.refinement import Movable, Rounds, measure
from tightcut.gpu.sparse import DeviceCsr, Groups, send
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.evolve import DEVICE_LIMIT
from tightcut.search.k_way import ManyClusters, Prices
from tightcut.search.multilevel import SHRINKS
from tightcut.search.problem import Contraction, Solution


@dataclass(frozen=True, eq=False)
class DeviceManyClusters(OnDevice):
    """The problem of the search for k labels of a large graph; a state holds a label, 0 to k - 1, per vertex.

    The fields are those of `ConstrainedGraph` and `ManyClusters`.
    """

    weights: DeviceCsr
    vertex_weights: torch.Tensor
    relations: DeviceCsr
    k: int
    prices: Prices

    @classmethod
    def of(cls, problem: ManyClusters, device: str = "cuda") -> DeviceManyClusters:
        graph = problem.graph
        weights, relations = (DeviceCsr.from_scipy(part, device) for part in (graph.weights, graph.relations))
        return cls(weights, send(graph.vertex_weights, device), relations, problem.k, problem.prices)

    def on_host(self) -> ManyClusters:
        with DEVICE_LOCK:
            arrays = self.weights.to_scipy(), self.vertex_weights.cpu().numpy(), self.relations.to_scipy()
        return ManyClusters(ConstrainedGraph(*arrays), self.k, self.prices)

    def at_full_price(self) -> DeviceManyClusters:
        return replace(self, prices=Prices(self.prices.full, self.prices.full, self.prices.allowance))

    @property
    def size(self) -> int:
        return self.weights.n

    @property
    def fewest(self) -> int:
        return self.k + 2

    def middle(self, *, large: bool) -> int:
        return ManyClusters.middle(self, large=large)  # type: ignore[arg-type]

    def total_weight(self) -> float:
        return float(self.vertex_weights.sum())

    def matched(self, heaviest: float, rng: np.random.Generator, state: np.ndarray | None = None) -> Contraction | None:
        with DEVICE_LOCK:
            labels = None if state is None else send(state, self.vertex_weights.device)
            seed, apart = int(rng.integers(2**63)), self.relations.keys
            chosen = heavy_edge_matching(self.weights, self.vertex_weights, heaviest, seed, apart, labels)
            unit, _ = pairs_as_units(self.weights, chosen)
            contradictory = contradictory_units(self.relations, unit)
            if len(contradictory):
                unit, _ = pairs_as_units(self.weights, chosen.masked_fill(torch.isin(unit, contradictory), -1))
            if int(unit.max()) + 1 > SHRINKS * self.size:
                return None
            return self._merged(unit, 2 * self.middle(large=True))

    def refine(self, labels: np.ndarray) -> None:
        self._refine(labels, self.prices.low)

    def settle(self, labels: np.ndarray) -> Solution:
        """Refine once more at the full price if too much is violated."""
        with DEVICE_LOCK:
            if self.prices.allowance == 0 or self._excess(self._cut_and_violated(labels)[1]) > 0:
                self._refine(labels, self.prices.full)
            return self.judge(labels)

    def judge(self, labels: np.ndarray) -> Solution:
        cut, violated = self._cut_and_violated(labels)
        return cut + self.prices.full * self._excess(violated), labels

    def agreement(self, states: list[np.ndarray]) -> Contraction:
        with DEVICE_LOCK:
            code = common_code([send(labels, self.vertex_weights.device) for labels in states], self.k)
            return self._merged(connected_regions(self.weights, code), DEVICE_LIMIT)

    def identity(self, solution: Solution) -> Hashable:
        """Equal scores up to rounding count as the same partition."""
        return f"{solution[0]:.10g}"

    def _excess(self, violated: float) -> float:
        return float(self.prices.excess(np.array(violated)))

    def _refine(self, labels: np.ndarray, price: float) -> None:
        with DEVICE_LOCK:
            there = send(labels, self.vertex_weights.device)
            labels[:] = self._rounds.refine(there, price).cpu().numpy()

    def _cut_and_violated(self, labels: np.ndarray) -> tuple[float, float]:
        with DEVICE_LOCK:
            totals = measure(self._movable, send(labels, self.vertex_weights.device, torch.int32), self.k)
            promised = -0.5 * float(self.relations.data.clamp(max=0).sum())
            return float(totals.score(0.0)), promised + 0.5 * float(totals.clash.sum())

    def _merged(self, unit: torch.Tensor, limit: int) -> Contraction:
        """The problem of units 0, ..., m - 1; on the host if there are no more than the limit."""
        m = int(unit.max()) + 1
        (weights, _), (relations, _) = contract(self.weights, unit, m), contract(self.relations, unit, m)
        vertex_weights = Groups.of(unit).reduce(self.vertex_weights)
        small = replace(self, weights=weights, vertex_weights=vertex_weights, relations=relations)
        ties = Ties(unit.int(), m)
        return Contraction(small.on_host() if m <= limit else small, ties.lift, ties.project)

    @cached_property
    def _movable(self) -> Movable:
        degrees = self.weights.row_sums(self.weights.data)
        return Movable(self.weights, self.vertex_weights, degrees, self.relations)

    @cached_property
    def _rounds(self) -> Rounds:
        return Rounds(self._movable, self.k)
