"""`ManyClusters`: the search problem for more than two clusters, labels in a graph with relations.

A violated unit of belief has a price. Starts and refinements use a low one, so that a vertex may pass through a forbidden
cluster on its way to a better one, and then the full one, at which solutions are judged.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from tightcut import kernels
from tightcut.search.boundaries import move_boundaries
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.exchange import resplit_pairs, split_and_merge
from tightcut.search.multilevel import SHRINKS, coarsen, coarsest, uncoarsen
from tightcut.search.options import SearchOptions
from tightcut.search.problem import Contraction, Problem, Solution, improve, select
from tightcut.search.signed_graph import random_order
from tightcut.search.starts import restarts
from tightcut.utils.rounding import BELIEF_ROUNDING


@dataclass(frozen=True)
class KWayLimits:
    """Sizes, in vertices, at which the search for k clusters changes, and how long it improves its best solution."""

    direct: int = (
        10_000  # up to which generations are searched in the graph itself; see benchmarks/results/multilevel.md
    )
    middle: int = 400  # at which starts are compared, ...
    # ... and in a large graph: there a cluster of a few hundred among 58,000 is lost where 400 are left, and 3 of 10
    # searches of Shuttle end 2 to 6 % above the best cut, none with 4,000.
    middle_of_large: int = 4_000
    exchange: int = 50_000  # in larger graphs whole clusters are exchanged only where solutions are joined
    in_turn: int = (
        5_000  # up to which exchanges are tried in one thread: each takes a millisecond, half of it in Python
    )
    exchanges: int = 5  # rounds at most
    sweeps: int = 3  # over the boundaries of a large graph, at most
    gain_of_sweep: float = 0.01  # share of the cut, that one must gain for another to follow


LIMITS = KWayLimits()


@dataclass(frozen=True)
class Prices:
    """What a violated unit of belief costs: `low` while searching, `full` when judging.

    The first `allowance` units are free when judging; refinement turns to the full price only above them. With `shares`,
    constraints have whole units of belief, and what `tightcut.search.influence` adds to them is less than one in all.
    """

    low: float
    full: float
    allowance: float = 0.0
    shares: bool = False

    @classmethod
    def prohibitive(cls, graph: ConstrainedGraph, k: int) -> Prices:
        """Low: about what moving one average vertex changes. Full: more than any two cuts can differ by."""
        smallest = np.abs(graph.relations.data).min(initial=1)
        typical = float(graph.degrees.sum() / graph.vertex_weights.sum())
        largest = float((graph.degrees / graph.vertex_weights).max(initial=np.finfo(float).tiny))
        return cls(low=2 * k * typical / graph.n_vertices, full=2 * k * largest / smallest)

    def excess(self, violated: np.ndarray) -> np.ndarray:
        """Violated belief beyond the allowance; an excess within the rounding error is none."""
        excess = violated - self.allowance
        return np.where(excess > (BELIEF_ROUNDING if self.allowance > 0 else 0.0), excess, 0.0)

    def penalty(self, violated: np.ndarray) -> np.ndarray:
        """What violated belief adds to the cut when a solution is judged."""
        return self.full * self.excess(violated)


@dataclass(frozen=True, eq=False)
class ManyClusters:
    """The problem of the search for k labels; a state holds a label, 0 to k - 1, per vertex."""

    graph: ConstrainedGraph
    k: int
    prices: Prices

    direct_limit = LIMITS.direct

    @classmethod
    def of(cls, graph: ConstrainedGraph, k: int, prices: Prices | None = None) -> ManyClusters:
        return cls(graph, k, prices or Prices.prohibitive(graph, k))

    @property
    def size(self) -> int:
        return self.graph.n_vertices

    @property
    def fewest(self) -> int:
        return self.k + 2

    def __sizeof__(self) -> int:
        return self.graph.__sizeof__()

    def middle(self, *, large: bool) -> int:
        return max(LIMITS.middle_of_large if large else LIMITS.middle, 40 * self.k)

    def total_weight(self) -> float:
        return float(self.graph.vertex_weights.sum())

    def matched(self, heaviest: float, rng: np.random.Generator, state: np.ndarray) -> Contraction[Problem] | None:
        order = random_order(self.size, rng)
        unit = self.graph.matching(order, heaviest, state)
        return self._merged(unit) if unit.max() + 1 <= SHRINKS * self.size else None

    def halve(self, heaviest: float, rng: np.random.Generator) -> Contraction[Problem]:
        order = random_order(self.size, rng)
        unit = self.graph.matching(order, heaviest)
        if unit.max() + 1 > SHRINKS * self.size:
            unit = self.graph.pair_up_unrelated(order)
        return self._merged(unit)

    def start(self, rng: np.random.Generator) -> Solution:
        """Coarsen in a random way to a few vertices per cluster, join those greedily, refine on the way back."""
        levels = coarsen(self, int(rng.integers(3, 11)) * self.k, rng)
        small: ManyClusters = coarsest(self, levels)  # type: ignore[assignment]
        # A graph too small to be coarsened would give the same start every time.
        labels = small.agglomerate() if levels or rng.random() < 0.25 else random_labels(small.size, self.k, rng)
        small.refine(labels)
        return self.compare(uncoarsen(self, levels, labels))

    def refine(self, labels: np.ndarray) -> None:
        self.graph.refine(labels, self.k, self.prices.low)

    def enforce(self, labels: np.ndarray) -> None:
        """Local search in place at the full price."""
        self.graph.refine(labels, self.k, self.prices.full)

    def settle(self, labels: np.ndarray) -> Solution:
        """Refine once more at the full price if too much is violated."""
        if self._excess(labels) > 0:
            self.enforce(labels)
        return self.judge(labels)

    def compare(self, labels: np.ndarray) -> Solution:
        """The score of a start, with violations at the low price: most of them end on the way back to single points.

        At the full price the start with the fewest violations would come first, whatever its cut. Shares of units cost as
        much as ever: they say which start has the right clusters.
        """
        violated, shares = self.graph.violated(labels), 0.0
        if self.prices.shares:
            shares = max(violated - float(np.floor(violated + BELIEF_ROUNDING)), 0.0)
        excess = float(self.prices.excess(np.array(violated - shares)))
        return self.cut(labels) + self.prices.low * excess + self.prices.full * shares, labels

    def cut(self, labels: np.ndarray) -> float:
        return self.graph.cut(labels, self.k)

    def judge(self, labels: np.ndarray) -> Solution:
        return self.cut(labels) + self.prices.full * self._excess(labels), labels

    def _excess(self, labels: np.ndarray) -> float:
        return float(self.prices.excess(np.array(self.graph.violated(labels))))

    def agreement(self, states: list[np.ndarray]) -> Contraction[Problem]:
        return self._merged(self.graph.consensus(states))

    def explore(self, found: list[Solution], rng: np.random.Generator) -> list[Solution]:  # noqa: ARG002
        return restarts(self, rng)

    def finish(self, population: list[Solution], rng: np.random.Generator, options: SearchOptions) -> list[Solution]:
        """Exact steps along the boundaries of a large graph; moves between whole clusters of a smaller one."""
        if self.size > self.direct_limit:
            population = select(self, [*population, self._with_moved_boundaries(population[0], options)])
        return self.exchange(population, rng, options) if self.size <= LIMITS.exchange else population

    def exchange(self, population: list[Solution], rng: np.random.Generator, options: SearchOptions) -> list[Solution]:
        return select(self, [*population, self._exchanged(population[0], rng, options)])

    def identity(self, solution: Solution) -> Hashable:
        """Equal scores up to rounding count as the same partition."""
        return f"{solution[0]:.10g}"

    def agglomerate(self) -> np.ndarray:
        """Join the vertices of a small graph into k clusters, the best pair of clusters first."""
        graph = self.graph
        joint, relation = graph.weights.toarray(), graph.relations.toarray()
        degrees, weights = graph.degrees.copy(), graph.vertex_weights.copy()
        labels = kernels.agglomerate(joint, degrees, weights, relation, self.prices.low, self.k)
        return np.unique(labels, return_inverse=True)[1].astype(np.int32)

    def at_full_price(self) -> ManyClusters:
        """The same problem with no low price: refinement then keeps every constraint that holds."""
        return replace(self, prices=replace(self.prices, low=self.prices.full))

    def _merged(self, unit: np.ndarray) -> Contraction[Problem]:
        return Contraction(replace(self, graph=self.graph.contract(unit)), unit)

    def _with_moved_boundaries(self, solution: Solution, options: SearchOptions) -> Solution:
        """Exact steps between the clusters and refinement, in turn, as long as they pay."""
        for _ in range(LIMITS.sweeps):
            found = improve(self, move_boundaries(self.graph, solution[1], self.k, options))
            gain = 1 - found[0] / solution[0] if solution[0] > 0 else 0.0
            solution = select(self, [found, solution], 1)[0]
            if gain < LIMITS.gain_of_sweep:
                break
        return solution

    def _exchanged(self, solution: Solution, rng: np.random.Generator, options: SearchOptions) -> Solution:
        """Moves between whole clusters as long as they pay."""
        if self.size <= LIMITS.in_turn:
            options = replace(options, n_jobs=1)
        for done in range(LIMITS.exchanges):
            options.report("exchange", done, LIMITS.exchanges, solution[0])
            moved = split_and_merge(self.graph, solution[1], self.k, rng, self.prices.penalty, options)
            labels = solution[1] if moved is None else moved
            found = improve(self, resplit_pairs(self.graph, labels, self.k, rng, options))
            if found[0] >= solution[0] * (1 - 1e-12):
                break
            solution = found
        options.report("exchange", LIMITS.exchanges, LIMITS.exchanges, solution[0])
        return solution


def random_labels(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Labels 0, ..., k - 1 for n vertices, each of them at least once."""
    labels = rng.integers(k, size=n).astype(np.int32)
    labels[rng.permutation(n)[:k]] = np.arange(k, dtype=np.int32)
    return labels
