"""Two clusters, every constraint satisfied: reduce, search, polish by RatioDCA at the certified penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightcut.constraints import Constraints
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.graph import Graph
from tightcut.objective import penalty_bound
from tightcut.relaxation import Relaxation
from tightcut.signed import Merger, SignedGraph
from tightcut.solvers.multilevel import refine
from tightcut.solvers.ratio_dca import ratio_dca
from tightcut.solvers.search import SearchOptions, Solution, search, select

POLISHED = 3  # how many of the best solutions RatioDCA starts from
POLISH_LIMIT = 30_000  # units above which it starts from the best alone


@dataclass(frozen=True, eq=False)
class Bipartition:
    """Two clusters: `side` is True on one of them; `cut` is the normalized cut; `history` holds F per RatioDCA step."""

    side: np.ndarray
    cut: float
    history: tuple[float, ...] = ()


def reduce_to_units(
    graph: Graph, constraints: Constraints, external: np.ndarray | None = None, *, allow_single: bool = False
) -> Merger:
    """Dissolve the constraints into the units of a signed graph (see `tightcut.signed`).

    Raises InconsistentConstraintsError if two clusters cannot satisfy them, or, unless `allow_single`, only with one
    cluster empty.
    """
    colouring = constraints.require_two_colourable()
    merger = SignedGraph.from_graph(graph, external).merge(
        colouring.component, (1 - 2 * colouring.colour).astype(np.int8)
    )
    if merger.graph.n_units == 1 and not merger.graph.mixed.any() and not allow_single:
        raise InconsistentConstraintsError(
            message=f"The must-links join all {graph.n_vertices} points into one set, which leaves the second cluster empty."
        )
    return merger


def admits_two_clusters(constraints: Constraints) -> bool:
    """Whether some partition into two non-empty clusters satisfies every constraint."""
    colouring = constraints.two_colouring()
    return colouring.consistent and (colouring.n_components > 1 or bool(colouring.colour.any()))


def vote(merger: Merger, side: np.ndarray) -> np.ndarray:
    """Spins closest to a partition: each unit turns the way that keeps most of its vertices where they are."""
    agreement = np.where(side, 1, -1) * merger.sign
    spins = np.where(np.bincount(merger.unit, agreement, merger.graph.n_units) >= 0, 1, -1).astype(np.int8)
    if not merger.graph.mixed.any() and abs(int(spins.sum())) == len(spins):
        spins[0] = -spins[0]
    return spins


def hard_bipartition(
    graph: Graph,
    constraints: Constraints,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray] | None = None,
    inner: str = "flow",
) -> Bipartition:
    """The smallest cut found among the partitions that satisfy every constraint.

    Parameters
    ----------
    known : list of boolean arrays
        Partitions to take part in the search. One that satisfies the constraints is improved or returned.
    """
    merger = reduce_to_units(graph, constraints)
    spins = [vote(merger, side) for side in known or []]
    population = search(merger.graph, rng, options, spins)
    chosen = population[: POLISHED if merger.graph.n_units <= POLISH_LIMIT else 1]
    polished = []
    for done, solution in enumerate(chosen):
        options.report("polish", done, len(chosen), population[0][0])
        polished.append(polish(graph, merger, solution, inner))
    (cut, best), history = min(polished, key=lambda result: result[0][0])
    options.report("polish", len(chosen), len(chosen), cut)
    return Bipartition(merger.lift(best) > 0, cut, history)


def polish(graph: Graph, merger: Merger, solution: Solution, inner: str) -> tuple[Solution, tuple[float, ...]]:
    """Alternate RatioDCA at the certified penalty and refinement until neither lowers the cut.

    At the certified penalty no unit with vertices on both sides can turn, so all of these are merged into one
    terminal for each side, with a single cannot-link between the two.
    """
    ratio, spins = solution
    history: list[float] = [ratio]
    while True:
        descent = ratio_dca(*certified(graph, merger, spins, ratio), inner=inner)
        history += [value for value in descent.history[1:] if value < history[-1]]
        moved = _moved_spins(merger, spins, descent.side)
        refine(merger.graph, moved)
        value = merger.graph.ratio(moved)
        if not value < ratio * (1 - 1e-12):
            return (ratio, spins), tuple(history)
        if value < history[-1]:
            history.append(value)
        ratio, spins = select([(value, moved), (ratio, spins)])[0]


def certified(graph: Graph, merger: Merger, spins: np.ndarray, ratio: float) -> tuple[Relaxation, np.ndarray]:
    """The relaxation that RatioDCA polishes spins with, and their indicator as its start."""
    mixed = merger.graph.mixed
    n_free = int((~mixed).sum())
    place = np.cumsum(~mixed) - 1
    side = merger.lift(spins) > 0
    fixed = mixed[merger.unit]
    contracted = graph.contract(np.where(fixed, n_free + side, place[merger.unit]))
    start = np.append(spins[~mixed] > 0, [False, True] if mixed.any() else [])
    pair = [(n_free, n_free + 1)] if mixed.any() else None
    constraints = Constraints.from_pairs(contracted.n_vertices, cannot_link=pair)
    return Relaxation(contracted, constraints, 1.001 * penalty_bound(contracted, constraints, ratio)), start.astype(
        bool
    )


def _moved_spins(merger: Merger, spins: np.ndarray, side: np.ndarray) -> np.ndarray:
    mixed = merger.graph.mixed
    if mixed.any() and not side[-1]:
        side = ~side
    moved = spins.copy()
    moved[~mixed] = np.where(side[: int((~mixed).sum())], 1, -1)
    return moved
