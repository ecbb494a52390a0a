"""Parallel local search on a device: rounds in which many vertices change their label at once.

A round finds the best label for each vertex at a boundary, then looks a second time: a vertex moves if it still gains
once all better candidates next to it have moved. So two vertices that would both gain alone, and together lose, do not
both move; nor do both ends of a cannot-link take the same label, where the price forbids it. A vertex that would lose a
little is a candidate as well, for it may gain once others have moved. A vertex that has just moved waits for a round.
The best labels met are kept.

Two clusters are a case of k: with couplings for weights and moments for masses, a unit that turns changes what leaves
the two sides, and what they weigh, as a vertex that moves does, up to a constant for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from tightcut.gpu.rows import LABELS, sums_by_label, tiles, weight_within
from tightcut.gpu.sparse import DeviceCsr

ROUNDS = 24  # at most
BATCH = 4  # rounds between two looks at the score, which wait for the device
PATIENCE = 0.5  # of what the arcs within its cluster are worth; what a candidate may seem to lose
LEAST_GAIN = 1e-6  # in a batch of rounds; share of the objective


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

    def score(self, price: torch.Tensor | float) -> torch.Tensor:
        """Infinite if a cluster has no volume."""
        whole = torch.where((self.volume > 0).all(), (self.leaving.clamp(min=0) / self.volume).sum(), torch.inf)
        return whole + 0.5 * price * self.clash.sum()


class Rounds:
    """Rounds in one graph, for one clustering after the other.

    A round is some forty short kernels. On a GPU they are recorded once and started together from then on, which takes
    a sixth of the time that starting them one by one does.
    """

    def __init__(self, graph: Movable) -> None:
        device = graph.mass.device
        self._graph, self._k = graph, 0
        self._labels = torch.zeros(graph.n, dtype=torch.int32, device=device)
        self._best_labels = torch.zeros_like(self._labels)
        self._moves = torch.zeros(graph.n, dtype=torch.int8, device=device)
        self._best = torch.zeros((), dtype=torch.float64, device=device)
        self._terms = torch.zeros(2, dtype=torch.float64, device=device)
        self._begun = False
        self._recorded: torch.cuda.CUDAGraph | None = None

    def refine(self, labels: torch.Tensor, k: int, price: float) -> torch.Tensor:
        """Labels that are as good or better, with no cluster emptied. Each round reads the arcs three times.

        Parameters
        ----------
        labels : Tensor of int32, shape (n,)
        k : int
            The same in every call.
        price : float
            Of a clashing unit of relation.
        """
        self._k = k
        self._labels.copy_(labels)
        self._best_labels.copy_(labels)
        self._moves.zero_()
        self._best.fill_(torch.inf)
        self._terms.copy_(torch.tensor([price, PATIENCE], dtype=torch.float64))
        before = torch.inf
        for _ in range(ROUNDS // BATCH):
            for _ in range(BATCH):
                self._advance()
            now = float(self._best)
            if not now < before * (1 - LEAST_GAIN):
                break
            before = now
        return self._best_labels.clone()

    def _advance(self) -> None:
        if self._recorded is not None:
            self._recorded.replay()
        elif self._begun and self._labels.is_cuda:
            self._recorded = self._record()
            self._recorded.replay()
        else:  # kernels are compiled in the first round, which cannot be recorded
            self._round()
            self._begun = True

    def _record(self) -> torch.cuda.CUDAGraph:
        recorded, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            recorded.capture_begin(capture_error_mode="thread_local")
            self._round()
            recorded.capture_end()
        torch.cuda.current_stream().wait_stream(stream)
        return recorded

    def _round(self) -> None:
        """Keep the labels if they are the best so far, then move."""
        labels = self._labels
        totals = measure(self._graph, labels, self._k)
        score = totals.score(self._terms[0])
        self._best_labels.copy_(torch.where(score < self._best, labels, self._best_labels))
        self._best.copy_(torch.minimum(score, self._best))
        moved, moves = _moved(self._graph, labels, self._moves, totals, self._k, self._terms)
        self._labels.copy_(moved)
        self._moves.copy_(moves)


def measure(graph: Movable, labels: torch.Tensor, k: int) -> Totals:
    within, clash = weight_within(graph.weights, labels), weight_within(graph.relations, labels)
    values = torch.stack([graph.mass, graph.degrees - within, torch.ones_like(within)])
    volume, leaving, count = sums_by_label(values, labels, k)
    return Totals(leaving + graph.leaving, volume + graph.volume, count, within, clash)


def _moved(
    graph: Movable, labels: torch.Tensor, waiting: torch.Tensor, totals: Totals, k: int, terms: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The labels after a round, and who moved in it."""
    from tightcut.gpu import row_kernels as kernels

    n = graph.n
    active = ((totals.within < graph.tightness) | graph.always) & (waiting == 0)
    change, target = torch.empty_like(totals.within), torch.empty_like(labels)
    w, r = graph.weights, graph.relations
    arcs = (w.indptr, w.indices, w.data, r.indptr, r.indices, r.data, labels)
    sizes = (totals.leaving, totals.volume)
    grid, shape = tiles(n, labels.device)
    kernels.best_label[grid](
        *arcs, active.to(torch.int8), graph.mass, graph.degrees, totals.within, totals.clash, *sizes, change, target,
        terms, n, k, LABELS=LABELS, **shape,
    )  # fmt: skip
    moves = torch.empty_like(waiting)
    kernels.confirm[grid](*arcs, change, target, graph.mass, graph.degrees, *sizes, terms, moves, n, **shape)
    # A cluster that all vertices want to leave keeps them.
    (gone,) = sums_by_label(moves.double()[None], labels, k)
    moves *= (gone < totals.count)[labels]
    return torch.where(moves > 0, target, labels), moves
