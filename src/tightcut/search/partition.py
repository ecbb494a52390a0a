"""k clusters that satisfy every constraint: must-links are merged, cannot-links coloured, and the search begins there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.relaxation.recursion import separate_sets
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.contradiction import explain
from tightcut.search.evolve import DEVICE_LIMIT, cycle, search
from tightcut.search.feasibility import fill_empty, find_colouring, repair
from tightcut.search.influence import neighbour_relations, with_influence
from tightcut.search.k_way import ManyClusters, Merged
from tightcut.search.magnitudes import scaled_graph
from tightcut.search.options import SearchOptions
from tightcut.search.population import improve, select
from tightcut.search.problem import Solution


@dataclass(frozen=True)
class Reduced:
    """The graph with must-linked points merged, and the vertex of each point."""

    graph: ConstrainedGraph
    component: np.ndarray

    def project(self, labels: np.ndarray) -> np.ndarray:
        """Labels of points as labels of vertices; a vertex takes the label of its last point."""
        return Merged(self.component, self.graph.n_vertices).project(labels)


def partition(
    graph: Graph,
    constraints: Constraints,
    k: int,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray] | None = None,
    influence: float = 0.0,
) -> np.ndarray:
    """Labels of k clusters that satisfy every constraint, or InconsistentConstraintsError."""
    reduced = merge_must_links(graph, constraints, k, options.device)
    starts = [fill_empty(reduced.graph, reduced.project(labels), k) for labels in known or []]
    if not any(reduced.graph.violated(labels) == 0 for labels in starts):
        answer = find_colouring(reduced.graph, k, rng, options.effort)
        if answer.colours is None:
            raise explain(constraints, reduced.component, answer, k)
        starts.append(fill_empty(reduced.graph, answer.colours, k))
    problem = ManyClusters.of(reduced.graph, k)
    if influence > 0:
        further = neighbour_relations(graph, constraints, reduced.component)
        problem = with_influence(problem, influence, further)
    population = search(problem, rng, options, starts)
    return _feasible(reduced.graph, problem, population, rng)[0][1][reduced.component]


def refine_labels(graph: Graph, constraints: Constraints, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels 0, ..., k - 1 that satisfy the constraints, with a cut that is at most as large: moves, and one V-cycle.

    Clusters keep their numbers and most of their points; `partition` may find a smaller cut into quite other clusters.
    """
    k = int(labels.max()) + 1
    reduced = merge_must_links(scaled_graph(graph)[0], constraints, k)
    problem = ManyClusters.of(reduced.graph, k).at_full_price()
    _, state = improve(problem, reduced.project(labels))
    return cycle(problem, state, rng)[1][reduced.component]


def merge_must_links(graph: Graph, constraints: Constraints, k: int, device: str = "cpu") -> Reduced:
    """Contract the must-linked components; their cannot-links become relations of belief 1."""
    component = separate_sets(constraints, k)
    if device == "cuda" and graph.n_vertices > DEVICE_LIMIT:
        from tightcut.gpu.coarsening import contract_graph

        merged = contract_graph(graph, component)
    else:
        component = graph.numbered_nearby(component)
        merged = graph.contract(component)
    pairs = Constraints.from_pairs(merged.n_vertices, cannot_link=component[constraints.cannot_link])
    return Reduced(ConstrainedGraph.from_graph(merged, pairs), component)


def _feasible(
    merged: ConstrainedGraph, problem: ManyClusters, population: list[Solution], rng: np.random.Generator
) -> list[Solution]:
    """The solutions that violate nothing, with those that could be repaired; best first."""
    k, strict = problem.k, problem.at_full_price()
    result = []
    for score, labels in population:
        if merged.violated(labels) == 0:
            result.append((score, labels))
            continue
        repaired = fill_empty(merged, repair(merged, labels, k, rng), k)
        if merged.violated(repaired) == 0:
            result.append(improve(strict, repaired))
    return select(problem, result)
