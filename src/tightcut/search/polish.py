"""RatioDCA as the last step: exact descent from the spins that a search has found.

At the certified penalty no unit with vertices on both sides can turn. All of these are tied into one, which enters the
relaxation as a terminal vertex for each side with a single cannot-link between the two. In a graph of more than
`POLISH_LIMIT` units those far from the cut are tied to it as well: a step moves the cut by a few neighbours, and the
flow that finds the step need not pass through the rest.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tightcut import kernels
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph, without_diagonal
from tightcut.problem.objective import penalty_bound
from tightcut.relaxation import Relaxation
from tightcut.relaxation.ratio_dca import ratio_dca
from tightcut.search.problem import Contraction, Solution
from tightcut.search.signed_graph import SignedGraph

POLISH_LIMIT = 50_000

Polished = tuple[Solution, tuple[float, ...]]  # the solution, and the falling values on the way to it


def polish(graph: SignedGraph, solution: Solution, *, max_rounds: int = 100) -> Polished:
    """Alternate RatioDCA and refinement until neither lowers the cut."""
    ratio, spins = solution
    history: list[float] = [ratio]
    for _ in range(max_rounds):
        if not np.isfinite(ratio):
            break
        tied = tie_what_stays(graph, spins)
        relaxation, start = certified_relaxation(tied, spins, ratio)
        # What weighs less than the rounding error of the whole may have no weight left.
        if not (relaxation.graph.vertex_weights > 0).all():
            break
        descent = ratio_dca(relaxation, start)
        history += [value for value in descent.history[1:] if value < history[-1]]
        moved = _moved_spins(tied, spins, descent.side)
        graph.refine(moved)
        value = graph.ratio(moved)
        if not value < ratio * (1 - 1e-12):
            break
        if value < history[-1]:
            history.append(value)
        ratio, spins = value, moved
    return (ratio, spins), tuple(history)


def tie_what_stays(graph: SignedGraph, spins: np.ndarray) -> Contraction[SignedGraph]:
    """Tie all units that no step may flip into the last one: mixed units, and in a large graph those far from the cut."""
    stays = graph.mixed
    if graph.n_units > POLISH_LIMIT:
        c = graph.couplings
        stays = stays | ~kernels.near_the_cut(
            c.indptr, c.indices, c.data, spins, max(POLISH_LIMIT, graph.n_units // 10)
        )
    place = np.cumsum(~stays, dtype=np.int32) - 1
    return graph.merge(np.where(stays, place[-1] + 1, place), np.where(stays, spins, 1).astype(np.int8))


def certified_relaxation(
    tied: Contraction[SignedGraph], spins: np.ndarray, ratio: float
) -> tuple[Relaxation, np.ndarray]:
    """The relaxation that RatioDCA polishes spins with, and their indicator as its start.

    A last unit with weight on both sides becomes two vertices; the edge between them is what is cut in any case.
    """
    small, start = tied.small, tied.project(spins) > 0
    if not small.mixed.any():
        plain = Graph(small.couplings.sorted_indices(), small.vertex_weights)
        return Relaxation(plain, Constraints.from_pairs(small.n_units), 0.0), start
    plus, minus = small.n_units - 1, small.n_units
    c = small.couplings
    rows, columns = small.sources.copy(), c.indices.copy()
    for ends in (rows, columns):
        ends[(c.data < 0) & (ends == plus)] = minus
    ends = np.append(rows, [plus, minus]), np.append(columns, [minus, plus])
    data = np.append(np.abs(c.data), [small.offset, small.offset])
    weights = without_diagonal(sp.csr_array((data, ends), shape=(minus + 1, minus + 1)))
    total, moment = small.vertex_weights[-1], small.moment[-1]
    ends_weights = [(total + moment) / 2, (total - moment) / 2]
    split = Graph(weights, np.append(small.vertex_weights[:-1], ends_weights))
    pair = Constraints.from_pairs(minus + 1, cannot_link=[(plus, minus)])
    return Relaxation(split, pair, 1.001 * penalty_bound(split, pair, ratio)), np.append(start, False)


def _moved_spins(tied: Contraction[SignedGraph], spins: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Spins after a descent, turned so that what stays has not moved."""
    last = tied.small.n_units - 1
    stays = tied.project(spins)[last] > 0
    turned = side[: last + 1] if side[last] == stays else ~side[: last + 1]
    return tied.lift(np.where(turned, 1, -1).astype(np.int8))
