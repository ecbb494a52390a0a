"""The levels of the multilevel search, made on a device: matching in rounds, contraction by sorting.

The arcs stay on the device from level to level. Each level also goes to the host, where the search refines on its way
back up. `tightcut.search.search.coarsen` takes over where a matching no longer shrinks the graph.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

from tightcut.gpu.matching import heavy_edge_matching, pairs_as_units
from tightcut.gpu.sparse import DeviceCsr, Groups, send
from tightcut.graph import Graph
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.signed_graph import SignedContraction, SignedGraph

SHRINKS = 0.95  # a matching that leaves a larger share of the vertices is not worth a level


def coarsen_signed(
    graph: SignedGraph, target: int, heaviest: float, rng: np.random.Generator, device: str = "cuda"
) -> list[SignedContraction]:
    """Levels of a signed graph, down to about `target` units or to where matchings end."""
    levels: list[SignedContraction] = []
    couplings = DeviceCsr.from_scipy(graph.couplings, device)
    while graph.n_units > target:
        chosen = heavy_edge_matching(couplings, send(graph.vertex_weights, device), heaviest, _seed(rng))
        unit, sign = pairs_as_units(couplings, chosen)
        if int(unit.max()) + 1 > SHRINKS * graph.n_units:
            break
        resident = _Resident(couplings, unit)
        levels.append(graph.merge(unit.int().cpu().numpy(), sign.cpu().numpy(), resident.contract))
        graph, couplings = levels[-1].graph, resident.result
    return levels


def coarsen_constrained(
    graph: ConstrainedGraph, target: int, heaviest: float, rng: np.random.Generator, device: str = "cuda"
) -> list[tuple[ConstrainedGraph, np.ndarray]]:
    """Levels of a graph with relations, never across one: each with the unit that every vertex above it went into."""
    levels: list[tuple[ConstrainedGraph, np.ndarray]] = []
    weights, relations = (DeviceCsr.from_scipy(part, device) for part in (graph.weights, graph.relations))
    vertex_weights = send(graph.vertex_weights, device)
    while graph.n_vertices > target:
        chosen = heavy_edge_matching(weights, vertex_weights, heaviest, _seed(rng), relations.keys)
        unit, _ = pairs_as_units(weights, chosen)
        contradictory = contradictory_units(relations, unit)
        if len(contradictory):
            unit, _ = pairs_as_units(weights, chosen.masked_fill(torch.isin(unit, contradictory), -1))
        m = int(unit.max()) + 1
        if m > SHRINKS * graph.n_vertices:
            break
        vertex_weights = Groups.of(unit).reduce(vertex_weights)
        (weights, _), (relations, _) = contract(weights, unit, m), contract(relations, unit, m)
        graph = ConstrainedGraph(weights.to_scipy(), vertex_weights.cpu().numpy(), relations.to_scipy())
        levels.append((graph, unit.int().cpu().numpy()))
    return levels


def contract_graph(graph: Graph, labels: np.ndarray, device: str = "cuda") -> Graph:
    """`Graph.contract` on a device."""
    m = int(labels.max()) + 1
    weights, _ = contract(DeviceCsr.from_scipy(graph.weights, device), send(labels, device).long(), m)
    return Graph(weights.to_scipy(), np.bincount(labels, graph.vertex_weights, m))


def contract(
    matrix: DeviceCsr, unit: torch.Tensor, m: int, sign: torch.Tensor | None = None
) -> tuple[DeviceCsr, float]:
    """Merge vertices into m units with signs; returns the arcs between units and the weight that stays cut.

    As the kernel `contract` on the CPU: arcs of the same two units add up, arcs inside a unit disappear.
    """
    here, there = unit[matrix.sources], unit[matrix.indices]
    value = matrix.data
    if sign is not None:
        value = value * (sign[matrix.sources] * sign[matrix.indices])
    between = here != there
    offset = -0.5 * value[~between].clamp(max=0).sum()
    groups = Groups.of((here * m + there)[between])
    value = value[between]
    positive, negative = groups.reduce(value.clamp(min=0)), groups.reduce(value.clamp(max=0))
    offset += 0.5 * torch.minimum(positive, -negative).sum()
    total = positive + negative
    left = total != 0
    return DeviceCsr.from_keys(groups.keys[left], total[left], m), float(offset)


def contradictory_units(relations: DeviceCsr, unit: torch.Tensor) -> torch.Tensor:
    """Units whose members have opposite relations (must and cannot) to the same other unit."""
    if not (relations.data < 0).any():
        return unit[:0]
    m = int(unit.max()) + 1
    groups = Groups.of(unit[relations.sources] * m + unit[relations.indices])
    opposite = (groups.reduce(relations.data, "min") < 0) & (groups.reduce(relations.data, "max") > 0)
    return (groups.keys[opposite] // m).unique()


class _Resident:
    """Contraction for `SignedGraph.merge` of a matrix that is on the device already; keeps the result there too."""

    def __init__(self, matrix: DeviceCsr, unit: torch.Tensor) -> None:
        self.result = matrix
        self._unit = unit

    def contract(self, _: sp.csr_array, __: np.ndarray, sign: np.ndarray, m: int) -> tuple[sp.csr_array, float]:
        self.result, offset = contract(self.result, self._unit, m, send(sign, self._unit.device))
        return self.result.to_scipy(), offset


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))
