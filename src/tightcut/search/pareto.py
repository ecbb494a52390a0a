"""The Pareto front of cut and violated belief by local search, for `search.tradeoff` (two clusters) and `search.soft` (any k).

A sweep over prices of a violation finds only trade-offs on the convex hull of all of them, and moves of one vertex may
have to pass through more violations than are allowed. Walks around a target amount, on which the price falls and rises,
find what lies between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightcut import kernels
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.k_way import Prices, random_labels
from tightcut.search.problem import Contraction
from tightcut.utils.rounding import BELIEF_ROUNDING


@dataclass(frozen=True)
class WalkLimits:
    """How long walks along a front take."""

    capacity: int = 200  # clusterings of a front
    targets: int = 16  # amounts of violated belief to walk around; a quarter of it around a limit
    starts: int = 4  # clusterings to begin with, at each amount
    steps: int = 300  # of a walk, at most ...
    fewest_steps: int = 30  # ... and at least: no walks if each would have fewer
    work: int = 50_000_000  # moves judged by all walks together
    small: int = 1_000  # vertices; in a larger graph, regions on which all clusterings agree are merged first


LIMITS = WalkLimits()


def front_by_local_search(
    whole: ConstrainedGraph,
    k: int,
    known: list[np.ndarray],
    limit: float | None,
    rng: np.random.Generator,
    effort: float = 1.0,
) -> list[np.ndarray]:
    """The best clusterings known or met on walks, for every amount of violated belief, or for amounts around a limit."""
    if whole.relations.nnz == 0:
        return [min(known, key=lambda labels: whole.cut(labels, k))]
    front = Front(whole, k, known)
    merged = _agreed(whole, front.labels)
    small = merged.small
    inside = whole.violated(known[0]) - small.violated(merged.project(known[0])) if small is not whole else 0.0
    walked = Front(small, k, [merged.project(labels) for labels in front.labels], inside)
    walked.walk(limit, rng, effort)
    for labels in walked.labels:
        front.enter(merged.lift(labels))
    return front.labels


class Front:
    """Clusterings of one graph of which none is at least as good as another in both cut and violated belief."""

    def __init__(self, graph: ConstrainedGraph, k: int, known: list[np.ndarray], inside: float = 0.0) -> None:
        self.graph, self.k = graph, k
        relations = graph.relations.data
        self.offset = inside - 0.5 * float(relations[relations < 0].sum())
        self.amounts, self.cuts = np.empty(LIMITS.capacity), np.empty(LIMITS.capacity)
        self.stored = np.empty((LIMITS.capacity, graph.n_vertices), np.int32)
        self.size = 0
        for labels in known:
            self.enter(labels)

    @property
    def labels(self) -> list[np.ndarray]:
        """The clusterings, least violated belief first."""
        return list(self.stored[: self.size].copy())

    def enter(self, labels: np.ndarray) -> None:
        r = self.graph.relations
        amount = self.offset + kernels.relation_inside(r.indptr, r.indices, r.data, labels)
        cut = self.graph.cut(labels, self.k)
        self.size = kernels.enter_front(self.amounts, self.cuts, self.stored, self.size, amount, cut, labels)

    def walk(self, limit: float | None, rng: np.random.Generator, effort: float) -> None:
        """Walk around amounts from the least to that of the smallest cut, or around the limit."""
        least, most = self.amounts[0], self.amounts[self.size - 1]
        targets = np.linspace(least, most, LIMITS.targets) if limit is None else np.full(LIMITS.targets // 4, limit)
        n_moves = self.graph.n_vertices * self.k * len(targets) * LIMITS.starts
        steps = int(min(LIMITS.steps, LIMITS.work * max(effort, 0.1) / n_moves))
        if steps < LIMITS.fewest_steps:
            return
        for target in rng.permutation(targets):
            for start in self._starts(target, rng):
                self._walk_from(start, float(target), steps, rng)

    def _starts(self, target: float, rng: np.random.Generator) -> list[np.ndarray]:
        """The best within the target, the best beyond it, and others of the front or random ones."""
        last = int(np.searchsorted(self.amounts[: self.size], target + BELIEF_ROUNDING)) - 1
        places = [max(last, 0), min(last + 1, self.size - 1), int(rng.integers(self.size))]
        starts = [self.stored[place].copy() for place in places]
        return [*starts, random_labels(self.graph.n_vertices, self.k, rng)][: LIMITS.starts]

    def _walk_from(self, labels: np.ndarray, target: float, steps: int, rng: np.random.Generator) -> None:
        price = Prices.prohibitive(self.graph, self.k).low or 1.0
        seed = rng.integers(1, 2**63, 1, dtype=np.uint64)
        self.size = kernels.walk_front(
            *self.graph.arrays, labels, self.k, self.offset, target, price, steps,
            self.amounts, self.cuts, self.stored, self.size, seed,
        )  # fmt: skip


def _agreed(whole: ConstrainedGraph, population: list[np.ndarray]) -> Contraction[ConstrainedGraph]:
    """A graph small enough to walk in: regions of a large one on which all the clusterings agree are merged."""
    if whole.n_vertices <= LIMITS.small:
        return Contraction(whole, np.arange(whole.n_vertices, dtype=np.int32))
    unit = whole.consensus(population)
    return Contraction(whole.contract(unit), unit)
