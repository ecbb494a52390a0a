"""Coarsening of signed graphs: tie tight neighbours together, level by level, and refine on the way back."""

from __future__ import annotations

import numpy as np

from tightcut import _kernels as kernels
from tightcut.search.signed_graph import Merger, SignedGraph

DEVICE_LIMIT = 60_000  # units; smaller levels are made on the CPU, which a GPU is no faster than there
# Flips without a new best before a refinement pass ends, and passes per level.
PATIENCE, PASSES = 50, 10


def coarsen(graph: SignedGraph, target: int, rng: np.random.Generator, *, device: str = "cpu") -> list[Merger]:
    """Heavy-edge matchings until at most about `target` units are left. Each level halves the graph: O(arcs) in all.

    Constraints need no care here: they live inside the units. With `device="cuda"` the GPU makes the large levels, as
    far as its matchings reach.
    """
    levels: list[Merger] = []
    # A unit much heavier than the others could not change sides any more.
    heaviest = 3 * graph.volume / target
    if device == "cuda" and graph.n_units > DEVICE_LIMIT:
        from tightcut.gpu.coarsening import coarsen_signed

        levels = coarsen_signed(graph, max(target, DEVICE_LIMIT), heaviest, rng)
        graph = coarsest(graph, levels)
    while graph.n_units > target:
        c, order = graph.couplings, rng.permutation(graph.n_units).astype(np.int32)
        nothing = np.zeros(graph.n_units + 1, np.int32), np.zeros(0, np.int32)
        unit, sign = kernels.heavy_edge_matching(c.indptr, c.indices, c.data, graph.mass, order, heaviest, *nothing)
        if unit.max() + 1 > 0.95 * graph.n_units:
            unit, sign = pair_up(order), np.ones(graph.n_units, np.int8)
        merger = graph.merge(unit, sign)
        levels.append(merger)
        graph = merger.graph
    return levels


def pair_up(order: np.ndarray) -> np.ndarray:
    """Pairs of vertices next to each other in a random order, for graphs with too few edges to follow."""
    unit = np.empty(len(order), np.int32)
    unit[order] = np.arange(len(order)) // 2
    return unit


def coarsest(graph: SignedGraph, levels: list[Merger]) -> SignedGraph:
    return levels[-1].graph if levels else graph


def uncoarsen(graph: SignedGraph, levels: list[Merger], spins: np.ndarray) -> tuple[float, np.ndarray]:
    """Carry spins of the coarsest graph back to `graph`, refining at every level; returns (ratio, spins)."""
    for fine, merger in upwards(graph, levels):
        spins = merger.lift(spins)
        refine(fine, spins)
    return graph.ratio(spins), spins


def upwards(graph: SignedGraph, levels: list[Merger]) -> list[tuple[SignedGraph, Merger]]:
    """Each graph that was coarsened with what was made of it, the coarsest first."""
    finer = [graph, *(merger.graph for merger in levels[:-1])]
    return list(zip(finer, levels, strict=False))[::-1]


def refine(graph: SignedGraph, spins: np.ndarray, patience: int = PATIENCE) -> float:
    """Fiduccia-Mattheyses passes in place; returns the ratio."""
    return kernels.refine(*graph.arrays, spins, patience, PASSES)
