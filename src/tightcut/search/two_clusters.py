"""Two clusters, every constraint satisfied: reduce, search, polish by RatioDCA at the certified penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightcut.constraints import Constraints
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.graph import Graph
from tightcut.search.polish import Polished, polish
from tightcut.search.search import SearchOptions, search, searched_directly
from tightcut.search.signed_graph import Merger, SignedGraph

# How many of the best solutions RatioDCA starts from. In a large graph, where those are joined and much alike, it is one.
POLISHED = 3


@dataclass(frozen=True, eq=False)
class Bipartition:
    """Two clusters: `side` is True on one of them; `cut` is the normalized cut; `history` holds F per RatioDCA step."""

    side: np.ndarray
    cut: float
    history: tuple[float, ...] = ()


def reduce_to_units(
    graph: Graph, constraints: Constraints, external: np.ndarray | None = None, *, allow_single: bool = False
) -> Merger:
    """Dissolve the constraints into the units of a signed graph (see `tightcut.search.signed_graph`).

    Raises InconsistentConstraintsError if two clusters cannot satisfy them, or, unless `allow_single`, only with one
    cluster empty.
    """
    colouring = constraints.require_two_colourable()
    sign = (1 - 2 * colouring.colour).astype(np.int8)
    merger = SignedGraph.from_graph(graph, external).merge(graph.numbered_nearby(colouring.component), sign)
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
    found = search(merger.graph, rng, options, spins)
    chosen = found[: POLISHED if searched_directly(merger.graph) else 1]
    polished: list[Polished] = []
    for done, solution in enumerate(chosen):
        options.report("polish", done, len(chosen), chosen[0][0])
        polished.append(polish(merger.graph, solution, inner))
    options.report("polish", len(chosen), len(chosen), min(map(_ratio, polished)))
    (cut, best), history = min(polished, key=_ratio)
    return Bipartition(merger.lift(best) > 0, cut, history)


def _ratio(polished: Polished) -> float:
    return polished[0][0]
