"""Parallel local search on a device: rounds in which many vertices change their label at once.

A round finds the best label for each vertex at a boundary, then looks a second time: a vertex moves if it still gains
once all better candidates next to it have moved. So two vertices that would both gain alone, and together lose, do not
both move; nor do both ends of a cannot-link that is never worth violating take the same label, the second sees the
first there. A vertex that would lose a little is a candidate as well, for it may gain once others have moved. Who has
just moved waits for a round. The best labels met are kept.

Two clusters are a case of k: with couplings for weights and moments for masses, a unit that turns changes what leaves
the two sides, and what they weigh, as a vertex that moves does, up to a constant for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from tightcut.gpu.rows import LABELS, WIDTH, sums_by_label, tiles, weight_within
from tightcut.gpu.sparse import DeviceCsr

ROUNDS = 24  # at most
BATCH = 4  # rounds between two looks at the score, which wait for the device
PATIENCE = 0.25  # of what the arcs within its cluster are worth; what a candidate may seem to lose
LEAST_GAIN = 1e-5  # in a batch of rounds; share of the objective


@dataclass(frozen=True, eq=False)
class Movable:
    """What a change of labels changes: sum of leaving / volume over the clusters, plus a price for clashing relations.

    Attributes
    ----------
    weights : DeviceCsr
        Symmetric.
    mass : Tensor of float64, shape (n,)
        What each vertex brings into the volume of its cluster.
    degrees : Tensor of float64, shape (n,)
        What would leave a cluster of each vertex alone.
    relations : DeviceCsr
        Symmetric: positive between vertices that should be apart, negative between those that should be together.
    leaving, volume : float
        Added to those of every cluster.
    """

    weights: DeviceCsr
    mass: torch.Tensor
    degrees: torch.Tensor
    relations: DeviceCsr
    leaving: float = 0.0
    volume: float = 0.0

    @property
    def n(self) -> int:
        return len(self.mass)

    @cached_property
    def tightness(self) -> torch.Tensor:
        """What the arcs within its cluster come to for a vertex that is not at a boundary, less rounding."""
        return self.weights.row_sums(self.weights.data.abs()) * (1 - 1e-9)

    @cached_property
    def always(self) -> torch.Tensor:
        """The vertices that may want to move even if they are at no boundary: those with relations or without arcs."""
        return (self.relations.indptr.diff() > 0) | (self.weights.indptr.diff() == 0)


@dataclass(frozen=True, eq=False)
class Totals:
    """Of each cluster what leaves it, its volume and its number of vertices; `within` and `clash` of each vertex."""

    leaving: torch.Tensor
    volume: torch.Tensor
    count: torch.Tensor
    within: torch.Tensor
    clash: torch.Tensor

    def score(self, price: float) -> torch.Tensor:
        """Infinite if a cluster has no volume."""
        whole = torch.where((self.volume > 0).all(), (self.leaving.clamp(min=0) / self.volume).sum(), torch.inf)
        return whole + 0.5 * price * self.clash.sum()


def refine(graph: Movable, labels: torch.Tensor, k: int, price: float) -> torch.Tensor:
    """Labels that are as good or better, with no cluster emptied. About ten rounds, each reading the arcs three times.

    Parameters
    ----------
    labels : Tensor of int32, shape (n,)
    price : float
        Of a clashing unit of relation.
    """
    best, best_labels = torch.tensor(torch.inf, dtype=torch.float64, device=labels.device), labels
    moves = torch.zeros(graph.n, dtype=torch.int8, device=labels.device)
    terms = torch.tensor([price, PATIENCE], dtype=torch.float64).to(labels.device)
    before = torch.inf
    for number in range(ROUNDS + 1):
        totals = measure(graph, labels, k)
        score = totals.score(price)
        best_labels = torch.where(score < best, labels, best_labels)
        best = torch.minimum(score, best)
        if number % BATCH == 0:
            now = float(best)
            if number == ROUNDS or (number > 0 and not now < before - LEAST_GAIN * abs(before)):
                break
            before = now
        labels, moves = _moved(graph, labels, moves, totals, k, terms)
    return best_labels


def measure(graph: Movable, labels: torch.Tensor, k: int) -> Totals:
    within, clash = weight_within(graph.weights, labels), weight_within(graph.relations, labels)
    values = torch.stack([graph.mass, graph.degrees - within, torch.ones_like(within)])
    volume, leaving, count = sums_by_label(values, labels, k)
    return Totals(leaving + graph.leaving, volume + graph.volume, count, within, clash)


def _moved(
    graph: Movable, labels: torch.Tensor, waiting: torch.Tensor, totals: Totals, k: int, terms: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The labels after a round, and who moved in it."""
    from tightcut.gpu import _row_kernels as kernels

    n, device = graph.n, labels.device
    active = ((totals.within < graph.tightness) | graph.always) & (waiting == 0)
    change, target = torch.empty_like(totals.within), torch.empty_like(labels)
    w, r = graph.weights, graph.relations
    arcs = (w.indptr, w.indices, w.data, r.indptr, r.indices, r.data, labels)
    sizes = (totals.leaving, totals.volume)
    grid, rows = tiles(n, device, LABELS)
    kernels.best_label[grid](
        *arcs, active.to(torch.int8), graph.mass, graph.degrees, totals.within, totals.clash, *sizes, change, target,
        terms, n, k, ROWS=rows, WIDTH=WIDTH, LABELS=LABELS,
    )  # fmt: skip
    moves = torch.empty_like(waiting)
    grid, rows = tiles(n, device)
    kernels.confirm[grid](
        *arcs, change, target, graph.mass, graph.degrees, *sizes, terms, moves, n, ROWS=rows, WIDTH=WIDTH
    )
    # A cluster that all vertices want to leave keeps them.
    (gone,) = sums_by_label(moves.double()[None], labels, k)
    moves *= (gone < totals.count)[labels]
    return torch.where(moves > 0, target, labels), moves
