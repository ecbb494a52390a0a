"""The paper's own schedule: minimise without constraints, then raise the penalty from the last partition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.relaxation import Relaxation
from tightcut.relaxation.prox import InnerSolver
from tightcut.relaxation.ratio_dca import ratio_dca


def penalty_path(
    graph: Graph,
    constraints: Constraints,
    start: np.ndarray,
    penalties: Iterable[float],
    *,
    inner: str | InnerSolver = "flow",
) -> Iterator[tuple[float, np.ndarray]]:
    """RatioDCA at each penalty in turn, each run from the partition of the one before.

    Yields
    ------
    penalty : float
    side : ndarray of bool
    """
    side = np.asarray(start, dtype=bool)
    for penalty in penalties:
        relaxation = Relaxation(graph, constraints, float(penalty))
        tie = cheaper_direction(graph, constraints, side)
        side = ratio_dca(relaxation, side, inner=inner, tie=tie).side
        yield float(penalty), side


def cheaper_direction(graph: Graph, constraints: Constraints, side: np.ndarray) -> np.ndarray:
    """For each cannot-link (p, q) with both ends on one side: +1 if p should rise above q, -1 if q above p.

    The end that leaves is the one whose move adds less to the cut. The iteration needs a direction that is not
    zero, or a violated pair could never be pulled apart.
    """
    attraction = graph.weights @ np.where(side, 1.0, -1.0)
    price_of_leaving = np.where(side, attraction, -attraction)
    p, q = constraints.cannot_link.T
    leaves_first = price_of_leaving[p] < price_of_leaving[q]
    rises = np.where(side[p], ~leaves_first, leaves_first)
    return np.where(rises, 1.0, -1.0)
