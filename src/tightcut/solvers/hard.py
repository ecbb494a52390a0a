"""Two clusters, every constraint satisfied: reduce, search, polish by RatioDCA at the certified penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightcut.constraints import Constraints
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.graph import Graph
from tightcut.signed import Merger, SignedGraph
from tightcut.solvers.multilevel import coarsest, upwards
from tightcut.solvers.polish import Polished, polish
from tightcut.solvers.search import SearchOptions, coarsen_to_search, refined_copy, search

POLISHED = 3  # how many of the best solutions RatioDCA starts from


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
    levels = coarsen_to_search(merger.graph, rng, options)
    small = coarsest(merger.graph, levels)
    chosen = search(small, rng, options, [] if levels else spins)[:POLISHED]
    polished = []
    for done, solution in enumerate(chosen):
        options.report("polish", done, len(chosen), chosen[0][0])
        polished.append(polish(small, solution, inner))
    options.report("polish", len(chosen), len(chosen), min(map(_ratio, polished)))
    found = [_carried_up(merger.graph, levels, min(polished, key=_ratio), inner, options)]
    if levels:
        found += [polish(merger.graph, refined_copy(merger.graph, given), inner) for given in spins]
    (cut, best), history = min(found, key=_ratio)
    return Bipartition(merger.lift(best) > 0, cut, history)


def _carried_up(
    graph: SignedGraph, levels: list[Merger], polished: Polished, inner: str, options: SearchOptions
) -> Polished:
    """A solution of the coarsest graph on its way back to the finest: refined and polished at every level."""
    (ratio, spins), history = polished
    for done, (fine, merger) in enumerate(upwards(graph, levels)):
        refined = refined_copy(fine, merger.lift(spins))
        (ratio, spins), falling = polish(fine, refined, inner, max_rounds=100 if fine is graph else 1)
        history += tuple(value for value in falling if value < history[-1])
        options.report("refine", done + 1, len(levels), ratio)
    return (ratio, spins), history


def _ratio(polished: Polished) -> float:
    return polished[0][0]
