"""Two clusters on a device: `tightcut.search.two_way.TwoClusters`, with the signed graph and its levels there."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch

from tightcut.gpu.coarsening import common_code, connected_regions, contract
from tightcut.gpu.levels import DEVICE_LOCK, OnDevice, Ties
from tightcut.gpu.matching import heavy_edge_matching, pairs_as_units
from tightcut.gpu.refinement import Movable, Rounds, measure
from tightcut.gpu.sparse import DeviceCsr, Groups, send
from tightcut.search.evolve import DEVICE_LIMIT
from tightcut.search.multilevel import SHRINKS
from tightcut.search.problem import Contraction, Solution
from tightcut.search.signed_graph import SignedGraph
from tightcut.search.two_way import TwoClusters

LEVEL_LIMIT = 8_000  # units below which the levels of a start are made on the CPU


@dataclass(frozen=True, eq=False)
class DeviceTwoClusters(OnDevice):
    """The problem of the search for the spins of a large signed graph; the fields are those of `SignedGraph`."""

    couplings: DeviceCsr
    vertex_weights: torch.Tensor
    moment: torch.Tensor
    external: torch.Tensor
    mixed: torch.Tensor
    offset: float
    volume: float
    outside: float

    fewest = TwoClusters.fewest

    @classmethod
    def of(cls, problem: TwoClusters, device: str = "cuda") -> DeviceTwoClusters:
        graph = problem.graph
        return cls(
            DeviceCsr.from_scipy(graph.couplings, device),
            send(graph.vertex_weights, device),
            send(graph.moment, device),
            send(graph.external, device),
            send(graph.mixed, device),
            graph.offset,
            graph.volume,
            graph.outside,
        )

    def on_host(self) -> TwoClusters:
        with DEVICE_LOCK:
            graph = SignedGraph(
                self.couplings.to_scipy(),
                self.vertex_weights.cpu().numpy(),
                self.moment.cpu().numpy(),
                self.external.cpu().numpy(),
                self.mixed.cpu().numpy(),
                self.offset,
                self.volume,
                self.outside,
            )
        return TwoClusters(graph)

    def at_full_price(self) -> DeviceTwoClusters:
        return self  # spins violate nothing

    @property
    def size(self) -> int:
        return self.couplings.n

    def middle(self, *, large: bool) -> int:
        return TwoClusters.middle(self, large=large)  # type: ignore[arg-type]

    def total_weight(self) -> float:
        return self.volume

    def matched(self, heaviest: float, rng: np.random.Generator, state: np.ndarray | None = None) -> Contraction | None:
        with DEVICE_LOCK:
            couplings = self.couplings
            if state is not None:  # couplings that the spins do not satisfy are left out
                spins = send(state, self.moment.device)
                satisfied = couplings.data * spins[couplings.sources] * spins[couplings.indices] > 0
                couplings = replace(couplings, data=couplings.data * satisfied)
            chosen = heavy_edge_matching(couplings, self.vertex_weights, heaviest, int(rng.integers(2**63)))
            unit, sign = pairs_as_units(couplings, chosen)
            if int(unit.max()) + 1 > SHRINKS * self.size:
                return None
            return self._merged(unit, sign, LEVEL_LIMIT)

    def refine(self, spins: np.ndarray) -> None:
        with DEVICE_LOCK:
            labels = self._rounds.refine(self._sides(spins), 0.0)
            spins[:] = (1 - 2 * labels).to(torch.int8).cpu().numpy()

    def judge(self, spins: np.ndarray) -> Solution:
        with DEVICE_LOCK:
            return float(measure(self._movable, self._sides(spins), 2).score(0.0)), spins

    def settle(self, spins: np.ndarray) -> Solution:
        return self.judge(spins)

    def agreement(self, states: list[np.ndarray]) -> Contraction:
        """Merge what agrees once every state is turned to be like the first: spins and their mirror image are one."""
        with DEVICE_LOCK:
            first = send(states[0], self.moment.device)
            differs = [(send(spins, first.device) != first).int() for spins in states]
            code = common_code([(d if 2 * int(d.sum()) <= len(d) else 1 - d) for d in differs], 2)
            return self._merged(connected_regions(self.couplings, code), first, DEVICE_LIMIT)

    def identity(self, solution: Solution) -> Hashable:
        spins = solution[1]
        return (spins * spins[0]).tobytes()

    def _sides(self, spins: np.ndarray) -> torch.Tensor:
        return (send(spins, self.moment.device) < 0).int()

    def _merged(self, unit: torch.Tensor, sign: torch.Tensor, limit: int) -> Contraction:
        """`SignedGraph.merge`; on the host if there are no more units than the limit."""
        m = int(unit.max()) + 1
        # Whole numbers add up to the same in any order.
        plus, minus = (
            torch.zeros(m, dtype=torch.int32, device=unit.device).index_add_(0, unit, (self.mixed | there).int()) > 0
            for there in (sign > 0, sign < 0)
        )
        sign = torch.where((minus & ~plus)[unit], -sign, sign)
        couplings, offset = contract(self.couplings, unit, m, sign)
        members = Groups.of(unit)
        small = DeviceTwoClusters(
            couplings=couplings,
            vertex_weights=members.reduce(self.vertex_weights),
            moment=members.reduce(sign * self.moment),
            external=members.reduce(sign * self.external),
            mixed=plus & minus,
            offset=self.offset + offset,
            volume=self.volume,
            outside=self.outside,
        )
        ties = Ties(unit.int(), m, sign)
        return Contraction(small.on_host() if m <= limit else small, ties.lift, ties.project)

    @cached_property
    def _movable(self) -> Movable:
        """Couplings as weights: what leaves a side and what it weighs, as sums over its units and a constant for both."""
        couplings = self.couplings
        frustrated = 0.5 * float(couplings.data.clamp(max=0).sum())
        return Movable(
            weights=couplings,
            mass=self.moment,
            degrees=couplings.row_sums(couplings.data) + self.external,
            relations=DeviceCsr.from_scipy(sp.csr_array((self.size, self.size)), self.moment.device),
            leaving=self.offset - frustrated + (self.outside - float(self.external.sum())) / 2,
            volume=(self.volume - float(self.moment.sum())) / 2,
        )

    @cached_property
    def _rounds(self) -> Rounds:
        return Rounds(self._movable, 2)
