"""`ConstrainedGraph` and `SignedGraph` on a device. Spins and labels are host arrays, copied to the device and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch

from tightcut.gpu.coarsening import common_code, connected_regions, contract, contradictory_units
from tightcut.gpu.device import LOCK
from tightcut.gpu.matching import heavy_edge_matching, pairs_as_units
from tightcut.gpu.refinement import Movable, Rounds, measure
from tightcut.gpu.rows import weight_within
from tightcut.gpu.sparse import DeviceCsr, Groups, send
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.signed_graph import SignedGraph

Ties = tuple[torch.Tensor, torch.Tensor | None]  # the unit of each vertex, and its sign there if states are spins

PER_UNIT, NUMBERS = ("vertex_weights", "moment", "external", "mixed"), ("offset", "volume", "outside")


@dataclass(frozen=True, eq=False)
class DeviceConstrainedGraph:
    """The fields and the methods that `ManyClusters` needs of a `ConstrainedGraph`."""

    weights: DeviceCsr
    vertex_weights: torch.Tensor
    relations: DeviceCsr

    @classmethod
    def of(cls, graph: ConstrainedGraph, device: str) -> DeviceConstrainedGraph:
        weights, relations = (DeviceCsr.from_scipy(part, device) for part in (graph.weights, graph.relations))
        return cls(weights, send(graph.vertex_weights, device), relations)

    def on_host(self) -> ConstrainedGraph:
        return ConstrainedGraph(self.weights.to_scipy(), self.vertex_weights.cpu().numpy(), self.relations.to_scipy())

    @property
    def n_vertices(self) -> int:
        return self.weights.n

    def matching(self, seed: int, heaviest: float, labels: np.ndarray | None) -> Ties:
        allowed = None if labels is None else self._send(labels)
        apart = self.relations.keys
        chosen = heavy_edge_matching(self.weights, self.vertex_weights, heaviest, seed, apart, allowed)
        unit, _ = pairs_as_units(self.weights, chosen)
        contradictory = contradictory_units(self.relations, unit)
        if len(contradictory):
            unit, _ = pairs_as_units(self.weights, chosen.masked_fill(torch.isin(unit, contradictory), -1))
        return unit, None

    def consensus(self, states: list[np.ndarray]) -> Ties:
        return connected_regions(self.weights, common_code([self._send(labels) for labels in states])), None

    def merge(self, unit: torch.Tensor, sign: None) -> tuple[DeviceConstrainedGraph, None]:
        m = int(unit.max()) + 1
        (weights, _), (relations, _) = contract(self.weights, unit, m), contract(self.relations, unit, m)
        return DeviceConstrainedGraph(weights, Groups.of(unit).reduce(self.vertex_weights), relations), sign

    def refine(self, labels: np.ndarray, k: int, price: float) -> None:
        with LOCK:
            labels[:] = self._rounds.refine(self._send(labels), k, price).cpu().numpy()

    def cut(self, labels: np.ndarray, k: int) -> float:
        with LOCK:
            return float(measure(self._movable, self._send(labels), k).score(0.0))

    def violated(self, labels: np.ndarray) -> float:
        with LOCK:
            return self._promised + 0.5 * float(weight_within(self.relations, self._send(labels)).sum())

    def _send(self, labels: np.ndarray) -> torch.Tensor:
        return send(labels, self.vertex_weights.device, torch.int32)

    @cached_property
    def _promised(self) -> float:
        return -0.5 * float(self.relations.data.clamp(max=0).sum())

    @cached_property
    def _movable(self) -> Movable:
        return Movable(self.weights, self.vertex_weights, self.weights.row_sums(self.weights.data), self.relations)

    @cached_property
    def _rounds(self) -> Rounds:
        return Rounds(self._movable)


@dataclass(frozen=True, eq=False)
class DeviceSignedGraph:
    """The fields of a `SignedGraph`, and the methods that `TwoClusters` needs of one."""

    couplings: DeviceCsr
    vertex_weights: torch.Tensor
    moment: torch.Tensor
    external: torch.Tensor
    mixed: torch.Tensor
    offset: float
    volume: float
    outside: float

    @classmethod
    def of(cls, graph: SignedGraph, device: str) -> DeviceSignedGraph:
        moved = {name: send(getattr(graph, name), device) for name in PER_UNIT}
        same = {name: getattr(graph, name) for name in NUMBERS}
        return cls(DeviceCsr.from_scipy(graph.couplings, device), **moved, **same)

    def on_host(self) -> SignedGraph:
        moved = {name: getattr(self, name).cpu().numpy() for name in PER_UNIT}
        same = {name: getattr(self, name) for name in NUMBERS}
        return SignedGraph(self.couplings.to_scipy(), **moved, **same)

    @property
    def n_units(self) -> int:
        return self.couplings.n

    def matching(self, seed: int, heaviest: float, spins: np.ndarray | None) -> Ties:
        couplings = self.couplings
        if spins is not None:  # couplings that the spins do not satisfy are left out
            there = self._send(spins)
            satisfied = couplings.data * there[couplings.sources] * there[couplings.indices] > 0
            couplings = replace(couplings, data=couplings.data * satisfied)
        return pairs_as_units(couplings, heavy_edge_matching(couplings, self.vertex_weights, heaviest, seed))

    def consensus(self, states: list[np.ndarray]) -> Ties:
        """Spins and their mirror image are one: every state is turned to be like the first."""
        first = self._send(states[0])
        differs = [(self._send(spins) != first).int() for spins in states]
        code = common_code([(d if 2 * int(d.sum()) <= len(d) else 1 - d) for d in differs])
        return connected_regions(self.couplings, code), first

    def merge(self, unit: torch.Tensor, sign: torch.Tensor) -> tuple[DeviceSignedGraph, torch.Tensor]:
        m = int(unit.max()) + 1
        # Whole numbers add up to the same in any order.
        plus, minus = (
            torch.zeros(m, dtype=torch.int32, device=unit.device).index_add_(0, unit, (self.mixed | there).int()) > 0
            for there in (sign > 0, sign < 0)
        )
        sign = torch.where((minus & ~plus)[unit], -sign, sign)
        couplings, offset = contract(self.couplings, unit, m, sign)
        members = Groups.of(unit)
        merged = replace(
            self,
            couplings=couplings,
            vertex_weights=members.reduce(self.vertex_weights),
            moment=members.reduce(sign * self.moment),
            external=members.reduce(sign * self.external),
            mixed=plus & minus,
            offset=self.offset + offset,
        )
        return merged, sign

    def refine(self, spins: np.ndarray) -> None:
        with LOCK:
            labels = self._rounds.refine((self._send(spins) < 0).int(), 2, 0.0)
            spins[:] = (1 - 2 * labels).to(torch.int8).cpu().numpy()

    def ratio(self, spins: np.ndarray) -> float:
        with LOCK:
            return float(measure(self._movable, (self._send(spins) < 0).int(), 2).score(0.0))

    def _send(self, spins: np.ndarray) -> torch.Tensor:
        return send(spins, self.moment.device)

    @cached_property
    def _movable(self) -> Movable:
        """Couplings as weights: what leaves a side and what it weighs, as sums over its units and a constant for both."""
        couplings = self.couplings
        frustrated = 0.5 * float(couplings.data.clamp(max=0).sum())
        return Movable(
            weights=couplings,
            mass=self.moment,
            degrees=couplings.row_sums(couplings.data) + self.external,
            relations=DeviceCsr.from_scipy(sp.csr_array((self.n_units, self.n_units)), self.moment.device),
            leaving=self.offset - frustrated + (self.outside - float(self.external.sum())) / 2,
            volume=(self.volume - float(self.moment.sum())) / 2,
        )

    @cached_property
    def _rounds(self) -> Rounds:
        return Rounds(self._movable)
