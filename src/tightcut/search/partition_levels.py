"""Coarsening and refinement for k clusters: the counterpart of `multilevel`, with relations instead of signs."""

from __future__ import annotations

import numpy as np

from tightcut import _kernels as kernels
from tightcut.search.constrained_graph import PartitionGraph
from tightcut.search.multilevel import DEVICE_LIMIT, pair_up

PATIENCE, PASSES = 50, 10

Level = tuple[PartitionGraph, np.ndarray]


def coarsen(
    graph: PartitionGraph, target: int, rng: np.random.Generator, *, device: str = "cpu"
) -> tuple[PartitionGraph, list[Level]]:
    """Heavy-edge matchings, never across a cannot-link, until about `target` vertices are left.

    Returns the coarsest graph and the levels above it, each with the unit that its vertices went into. With
    `device="cuda"` the GPU makes the large levels, as far as its matchings reach.
    """
    levels: list[Level] = []
    heaviest = 3 * float(graph.mass.sum()) / target
    if device == "cuda" and graph.n_vertices > DEVICE_LIMIT:
        from tightcut.gpu.coarsening import coarsen_partition

        graph, levels = coarsen_partition(graph, max(target, DEVICE_LIMIT), heaviest, rng)
    while graph.n_vertices > target:
        w, r, order = graph.weights, graph.relations, rng.permutation(graph.n_vertices).astype(np.int32)
        unit, _ = kernels.heavy_edge_matching(
            w.indptr, w.indices, w.data, graph.mass, order, heaviest, r.indptr, r.indices
        )
        if unit.max() + 1 > 0.95 * graph.n_vertices:
            unit = _pair_up_unrelated(graph, order)
        coarser = graph.contract(unit)
        if coarser.n_vertices == graph.n_vertices:
            break
        levels.append((graph, unit))
        graph = coarser
    return graph, levels


def _pair_up_unrelated(graph: PartitionGraph, order: np.ndarray) -> np.ndarray:
    """Random pairs; two vertices with a cannot-link between them stay single."""
    unit = pair_up(order)
    sources = np.repeat(np.arange(graph.n_vertices), np.diff(graph.relations.indptr))
    apart = (unit[sources] == unit[graph.relations.indices]) & (graph.relations.data > 0)
    torn = np.unique(np.maximum(sources, graph.relations.indices)[apart])
    unit[torn] = unit.max() + 1 + np.arange(len(torn), dtype=np.int32)
    return np.unique(unit, return_inverse=True)[1].astype(np.int32)


def uncoarsen(levels: list[Level], labels: np.ndarray, k: int, price: float) -> np.ndarray:
    """Carry labels back level by level, refining at each."""
    for graph, unit in reversed(levels):
        labels = labels[unit]
        refine(graph, labels, k, price)
    return labels


def refine(graph: PartitionGraph, labels: np.ndarray, k: int, price: float, patience: int = PATIENCE) -> float:
    """Fiduccia-Mattheyses passes in place; returns cut + price * (violated belief, up to a constant)."""
    return kernels.refine_partition(*graph.arrays, price, labels, k, patience, PASSES)


def agglomerate(graph: PartitionGraph, k: int, price: float) -> np.ndarray:
    """Join the vertices of a small graph into k clusters, the best pair of clusters first."""
    joint, relation = graph.weights.toarray(), graph.relations.toarray()
    labels = kernels.agglomerate(joint, graph.degree.copy(), graph.mass.copy(), relation, price, k)
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)
