"""`bipartition`: constraints dissolve into a signed graph, the search cuts it, and RatioDCA polishes the cut."""

from __future__ import annotations

import numpy as np

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut
from tightcut.search.large import search
from tightcut.search.options import SearchOptions
from tightcut.search.polish import polish
from tightcut.search.problem import Contraction, Partition, Solution
from tightcut.search.signed_graph import SignedGraph
from tightcut.search.two_clusters import LIMITS, TwoClusters, ensure_both_sides


def bipartition(
    graph: Graph,
    constraints: Constraints,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray] | None = None,
) -> Partition:
    """The smallest cut found among the partitions that satisfy every constraint.

    Parameters
    ----------
    known : list of boolean arrays
        Partitions to take part in the search. One that satisfies the constraints is improved or returned.
    """
    units = reduce_to_units(graph, constraints)
    problem = TwoClusters(units.small)
    found = search(problem, rng, options, [project_to_spins(units, side) for side in known or []])
    chosen = found[: LIMITS.polished if problem.size <= problem.direct_limit else 1]
    best: Solution = chosen[0]
    history: tuple[float, ...] = ()
    for done, solution in enumerate(chosen):
        options.report("polish", done, len(chosen), best[0])
        polished, steps = polish(units.small, solution) if options.polish else (solution, (solution[0],))
        if not history or polished[0] < best[0]:
            best, history = polished, steps
    options.report("polish", len(chosen), len(chosen), best[0])
    labels = (units.lift(best[1]) > 0).astype(np.int64)
    # The search has no ratio for a side that is lighter than the rounding error of the whole.
    return Partition(labels, history if np.isfinite(history[0]) else (normalized_cut(graph, labels),))


def reduce_to_units(graph: Graph, constraints: Constraints) -> Contraction[SignedGraph]:
    """Dissolve the constraints into the units of a signed graph (see `tightcut.search.signed_graph`).

    Raises InconsistentConstraintsError if two clusters cannot satisfy them, or only with one cluster empty.
    """
    colouring = constraints.require_two_colourable()
    sign = (1 - 2 * colouring.colour).astype(np.int8)
    units = SignedGraph.from_graph(graph).merge(graph.numbered_nearby(colouring.component), sign)
    if units.small.is_one_sided:
        raise InconsistentConstraintsError(n_clusters=2, reason="empty cluster", n_sets=1)
    return units


def admits_two_clusters(constraints: Constraints) -> bool:
    """Whether some partition into two non-empty clusters satisfies every constraint."""
    colouring = constraints.two_colouring()
    return colouring.consistent and (colouring.n_components > 1 or bool(colouring.colour.any()))


def project_to_spins(units: Contraction[SignedGraph], side: np.ndarray) -> np.ndarray:
    """Spins closest to a partition: each unit turns the way that keeps most of its vertices where they are."""
    agreement = np.where(side, 1, -1) * units.sign
    spins = np.where(np.bincount(units.unit, agreement, units.small.n_units) >= 0, 1, -1).astype(np.int8)
    return ensure_both_sides(units.small, spins)
