"""`partition`: k clusters that satisfy every constraint, starting from merged must-links and coloured cannot-links."""

from __future__ import annotations

import numpy as np

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.relaxation.recursion import separate_sets
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.contradiction import explain
from tightcut.search.feasibility import fill_empty, find_colouring, repair
from tightcut.search.influence import neighbour_relations, with_influence
from tightcut.search.k_way import ManyClusters
from tightcut.search.large import LIMITS, contract_large, search
from tightcut.search.options import QUICK, SearchOptions
from tightcut.search.problem import Contraction, Solution, improve, select


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
    reduced = merge_must_links(graph, constraints, k, options)
    starts = [fill_empty(reduced.small, reduced.project(labels), k) for labels in known or []]
    if not any(reduced.small.violated(labels) == 0 for labels in starts):
        answer = find_colouring(reduced.small, k, rng, options.effort)
        if answer.colours is None:
            raise explain(constraints, reduced.unit, answer, k)
        starts.append(fill_empty(reduced.small, answer.colours, k))
    problem = ManyClusters.of(reduced.small, k)
    if influence > 0:
        further = neighbour_relations(graph, constraints, reduced.unit)
        problem = with_influence(problem, influence, further)
    population = search(problem, rng, options, starts)
    return reduced.lift(_feasible(reduced.small, problem, population, rng)[0][1])


def merge_must_links(
    graph: Graph, constraints: Constraints, k: int, options: SearchOptions = QUICK
) -> Contraction[ConstrainedGraph]:
    """Contract the must-linked components; their cannot-links become relations of belief 1."""
    component, backend = separate_sets(constraints, k), options.backend
    if backend is not None and graph.n_vertices > backend.limit:
        merged = backend.contract(graph, component)
    else:
        component = graph.numbered_nearby(component)
        large = graph.n_vertices > LIMITS.units
        merged = contract_large(graph, component, options) if large else graph.contract(component)
    pairs = Constraints.from_pairs(merged.n_vertices, cannot_link=component[constraints.cannot_link])
    return Contraction(ConstrainedGraph.from_graph(merged, pairs), component)


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
