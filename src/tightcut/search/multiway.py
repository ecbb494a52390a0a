"""The search for k clusters: multilevel starts, recombination by consensus, exchange between whole clusters.

The counterpart of `search` for partitions. A violated unit of belief has a price. Starts and refinements use a low
one, so that a vertex may pass through a forbidden cluster on its way to a better one, and then the full one, at
which solutions are judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tightcut.search.boundaries import move_boundaries
from tightcut.search.constrained_graph import PartitionGraph
from tightcut.search.exchange import resplit_pairs, split_and_merge
from tightcut.search.partition_levels import Level, agglomerate, coarsen, refine, uncoarsen
from tightcut.search.search import (
    CHILDREN,
    PATIENT_LIMIT,
    POPULATION,
    STALE,
    STARTS,
    STARTS_KEPT,
    SearchOptions,
    in_batches,
    kept,
    regrouped,
)

# A solution is (cut + full price * violated belief, labels).
Solution = tuple[float, np.ndarray]

DIRECT_LIMIT = (
    10_000  # vertices up to which the generations pass in the graph itself (benchmarks/results/multilevel.md)
)
# Vertices at which starts are compared. A cluster of a few hundred among 58,000 is lost where 400 are left: then 3 of 10
# searches of Shuttle end 2 to 6 % above the best cut, none with 4,000.
MIDDLE, MIDDLE_OF_LARGE = 400, 4_000
MAX_EXCHANGES = 5
EXCHANGE_LIMIT = 50_000  # vertices; in larger graphs whole clusters are exchanged where solutions are joined only
MAX_SWEEPS, LEAST_GAIN = 3, 0.01  # over the boundaries of a large graph


@dataclass(frozen=True)
class Prices:
    """What a violated unit of belief costs: `low` while searching, `full` when judging.

    The first `allowance` units are free when judging; only above them does refinement turn to the full price.
    """

    low: float
    full: float
    allowance: float = 0.0

    @classmethod
    def prohibitive(cls, graph: PartitionGraph, k: int) -> Prices:
        """Low: about what moving one average vertex changes. Full: more than any two cuts can differ by."""
        smallest = np.abs(graph.relations.data).min(initial=1)
        typical = float(graph.degree.sum() / graph.mass.sum())
        largest = float((graph.degree / graph.mass).max(initial=np.finfo(float).tiny))
        return cls(low=2 * k * typical / graph.n_vertices, full=2 * k * largest / smallest)

    @classmethod
    def flat(cls, price: float) -> Prices:
        return cls(price, price)


def search_partition(
    graph: PartitionGraph,
    k: int,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray] | None = None,
    prices: Prices | None = None,
) -> list[Solution]:
    """Good distinct partitions into k non-empty clusters, best first. `known` ones take part and are never lost."""
    prices = prices or Prices.prohibitive(graph, k)
    given = [judge(graph, labels.astype(np.int32), k, prices) for labels in known or []]
    improved = options.map(_improved, [(graph, labels, k, prices) for _, labels in given])
    if graph.n_vertices <= DIRECT_LIMIT:
        return _search_directly(graph, k, rng, options, prices, given + improved)
    make, join = partial(_made, graph, k, prices), partial(_join, graph, k, rng, prices)
    patient = graph.n_vertices <= PATIENT_LIMIT
    population = in_batches(make, join, select(given + improved), rng, options, patient=patient)
    best = _with_moved_boundaries(graph, population[0], k, prices, options)
    if graph.n_vertices <= EXCHANGE_LIMIT:
        best = exchange(graph, best, k, rng, prices, options)
    return select([*population, best])


def _made(
    graph: PartitionGraph, k: int, prices: Prices, options: SearchOptions, generators: list[np.random.Generator]
) -> list[list[Solution]]:
    """Solutions of a large graph, several for each random coarsening."""
    keep = kept(graph.n_vertices)
    starts = [(graph, k, rng, options.starts, prices, keep, MIDDLE_OF_LARGE, options.device) for rng in generators]
    if not options.workers[1]:  # levels are large; they stay where they are made
        return [solutions for _, solutions in options.map(_made_alone, starts, "start")]
    found = options.map(_middle, starts, "start")
    tasks = [(graph, labels, k, prices, levels) for _, chosen, levels in found for labels in chosen]
    solutions = options.map(_improved, tasks, "refine", keep * len(generators))
    return regrouped(solutions, [len(chosen) for _, chosen, _ in found])


def _made_alone(
    graph: PartitionGraph, k: int, rng: np.random.Generator, count: int, prices: Prices, *settings: Any
) -> list[tuple[float, list[Solution]]]:
    """The solutions of one random coarsening, and the best score."""
    ((_, chosen, levels),) = _middle(graph, k, rng, count, prices, *settings)
    solutions = [improve(graph, uncoarsen(levels, labels, k, prices.low), k, prices) for labels in chosen]
    return [(min(score for score, _ in solutions), solutions)]


def _join(
    graph: PartitionGraph,
    k: int,
    rng: np.random.Generator,
    prices: Prices,
    options: SearchOptions,
    population: list[Solution],
) -> list[Solution]:
    """Contract everything on which all solutions agree and search the small graph that is left, with them as starts."""
    population = select(population)
    unit = graph.consensus([labels for _, labels in population])
    small = graph.contract(unit)
    if small.n_vertices <= k + 1:
        return population
    known = []
    for _, labels in population:
        projected = np.empty(small.n_vertices, np.int32)
        projected[unit] = labels
        known.append(improve(small, projected, k, prices))
    evolved = _evolve(small, k, rng, options, prices, select(known), "join")
    evolved = select([*evolved, exchange(small, evolved[0], k, rng, prices, options)], STARTS_KEPT)
    return select(population + options.map(_improved, [(graph, labels[unit], k, prices) for _, labels in evolved]))


def _search_directly(
    graph: PartitionGraph,
    k: int,
    rng: np.random.Generator,
    options: SearchOptions,
    prices: Prices,
    given: list[Solution],
) -> list[Solution]:
    """Starts, generations in the graph itself, exchange."""
    tasks = [(graph, k, child, options.starts, prices) for child in rng.spawn(options.n_init)]
    population = _evolve(graph, k, rng, options, prices, select(given + options.map(_starts, tasks, "start")))
    return select([*population, exchange(graph, population[0], k, rng, prices, options)])


def _improved(
    graph: PartitionGraph, labels: np.ndarray, k: int, prices: Prices, levels: list[Level] | None = None
) -> list[Solution]:
    """A solution improved where it stands, or carried up from the coarsest of some levels and improved at each."""
    return [improve(graph, uncoarsen(levels or [], labels, k, prices.low), k, prices)]


def _with_moved_boundaries(
    graph: PartitionGraph, solution: Solution, k: int, prices: Prices, options: SearchOptions
) -> Solution:
    """Exact steps between the clusters and refinement, in turn, as long as they pay."""
    for _ in range(MAX_SWEEPS):
        found = improve(graph, move_boundaries(graph, solution[1], k, options), k, prices)
        gain = 1 - found[0] / solution[0] if solution[0] > 0 else 0.0
        solution = select([found, solution], 1)[0]
        if gain < LEAST_GAIN:
            break
    return solution


def judge(graph: PartitionGraph, labels: np.ndarray, k: int, prices: Prices) -> Solution:
    return graph.cut(labels, k) + prices.full * max(graph.violated(labels) - prices.allowance, 0.0), labels


def improve(graph: PartitionGraph, labels: np.ndarray, k: int, prices: Prices) -> Solution:
    """Refine a copy at the low price, then, if it violates too much, at the full one."""
    labels = labels.astype(np.int32)
    refine(graph, labels, k, prices.low)
    if prices.allowance == 0 or graph.violated(labels) > prices.allowance:
        refine(graph, labels, k, prices.full)
    return judge(graph, labels, k, prices)


def exchange(
    graph: PartitionGraph,
    solution: Solution,
    k: int,
    rng: np.random.Generator,
    prices: Prices,
    options: SearchOptions,
) -> Solution:
    """Moves between whole clusters as long as they pay."""
    for done in range(MAX_EXCHANGES):
        options.report("exchange", done, MAX_EXCHANGES, solution[0])
        moved = split_and_merge(graph, solution[1], k, rng, options=options)
        labels = resplit_pairs(graph, solution[1] if moved is None else moved, k, rng, options=options)
        found = improve(graph, labels, k, prices)
        if found[0] >= solution[0] * (1 - 1e-12):
            break
        solution = found
    options.report("exchange", MAX_EXCHANGES, MAX_EXCHANGES, solution[0])
    return solution


def select(population: list[Solution], size: int = POPULATION) -> list[Solution]:
    """The best distinct solutions. Equal scores up to rounding count as the same partition."""
    chosen: dict[str, Solution] = {}
    for score, labels in sorted(population, key=lambda solution: solution[0]):
        chosen.setdefault(f"{score:.10g}", (score, labels))
        if len(chosen) == size:
            break
    return list(chosen.values())


def _starts(graph: PartitionGraph, k: int, rng: np.random.Generator, count: int, prices: Prices) -> list[Solution]:
    ((_, solutions),) = _made_alone(graph, k, rng, count, prices)
    return solutions


def _middle(
    graph: PartitionGraph,
    k: int,
    rng: np.random.Generator,
    count: int,
    prices: Prices,
    keep: int = STARTS_KEPT,
    middle: int = MIDDLE,
    device: str = "cpu",
) -> list[tuple[float, list[np.ndarray], list[Level]]]:
    """One random coarsening to some vertices per cluster: the best score there, the best starts, and the levels."""
    middle = max(middle, 40 * k)
    small, levels = coarsen(graph, middle, rng, device=device) if graph.n_vertices > 1.5 * middle else (graph, [])
    found = select([_start(small, k, rng, prices) for _ in range(count)], keep)
    return [(found[0][0], [labels for _, labels in found], levels)]


def _start(graph: PartitionGraph, k: int, rng: np.random.Generator, prices: Prices) -> Solution:
    """Coarsen in a random way to a few vertices per cluster, join those greedily, refine on the way back."""
    small, levels = coarsen(graph, int(rng.integers(3, 11)) * k, rng)
    # A graph too small to be coarsened would give the same start every time.
    labels = agglomerate(small, k, prices.low) if levels or rng.random() < 0.25 else _random_labels(small, k, rng)
    refine(small, labels, k, prices.low)
    return judge(graph, uncoarsen(levels, labels, k, prices.low), k, prices)


def _random_labels(graph: PartitionGraph, k: int, rng: np.random.Generator) -> np.ndarray:
    labels = rng.integers(k, size=graph.n_vertices).astype(np.int32)
    labels[rng.permutation(graph.n_vertices)[:k]] = np.arange(k, dtype=np.int32)
    return labels


def _evolve(
    graph: PartitionGraph,
    k: int,
    rng: np.random.Generator,
    options: SearchOptions,
    prices: Prices,
    population: list[Solution],
    stage: str = "search",
) -> list[Solution]:
    stale = 0
    for generation in range(options.generations):
        options.report(stage, generation, options.generations, population[0][0])
        if len(population) < 2 or stale == STALE:
            break
        best = population[0][0]
        tasks = [(graph, k, child, prices, population) for child in rng.spawn(CHILDREN)]
        population = select(population + options.map(_child, tasks))
        stale = 0 if population[0][0] < best * (1 - 1e-12) else stale + 1
    options.report(stage, options.generations, options.generations, population[0][0])
    return population


def _child(
    graph: PartitionGraph, k: int, rng: np.random.Generator, prices: Prices, population: list[Solution]
) -> list[Solution]:
    """Contract everything on which a few parents agree, search the small graph, lift the best."""
    count = min(len(population), int(rng.integers(2, 5)))
    parents = [population[t][1] for t in sorted(rng.choice(len(population), count, replace=False))]
    unit = graph.consensus(parents)
    small = graph.contract(unit)
    if small.n_vertices <= k + 1:
        return []
    best = np.empty(small.n_vertices, np.int32)
    best[unit] = parents[0]
    found = [improve(small, best, k, prices), *_starts(small, k, rng, STARTS // 2, prices)]
    return [improve(graph, select(found, 1)[0][1][unit], k, prices)]
