"""`Scaled`: weights and beliefs rescaled so that no product or ratio in the search overflows or underflows.

Every search begins here. Multiplying all edge weights, or all vertex weights, by a power of two rounds nothing and changes no
comparison between two clusterings, so the largest of each is brought near 1. Three things are then raised: what is below
:math:`2^{-300}` (about 1e-90) of the largest, a vertex weight below :math:`2^{-100}` (about 1e-30) of the weight of its edges,
and a belief below :math:`2^{-100}`. The search cannot tell such edges, vertices or pairs from somewhat larger ones, and among
clusterings that differ in nothing else it may return any. Constraints hold as they always do, and callers that report a cut or
violated belief measure it with the numbers given.

Ordinary weights, the largest between :math:`2^{-32}` and :math:`2^{32}` and none to be raised, are left as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.search.options import Progress

ORDINARY = 32  # powers of two between 1 and the largest number, up to which nothing is multiplied
SPAN = 300  # powers of two between the smallest and the largest number
LARGEST_RATIO = 2.0**100  # of the weight of a vertex's edges to its own weight
LEAST_BELIEF = 2.0**-100  # of 10^9 such pairs the sum is still far below what the rounding of beliefs allows


@dataclass(frozen=True, eq=False)
class Scaled:
    """A problem that the search can compute with, and the power of two that its cuts are to be multiplied by.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Constraints, Graph
    >>> far = Graph.from_affinity(np.array([[0, 3e40, 0], [3e40, 0, 1e-200], [0, 1e-200, 0]]))
    >>> scaled = Scaled.of(far, Constraints.from_pairs(3, [(0, 1)], must_link_belief=1e-300))
    >>> bool(scaled.graph.weights.max() < 1), bool(scaled.graph.weights.data.min() == 2.0**-300)
    (True, True)
    >>> scaled.constraints.must_link_belief.tolist() == [2.0**-100]
    True
    """

    graph: Graph
    constraints: Constraints
    exponent: int

    @classmethod
    def of(cls, graph: Graph, constraints: Constraints) -> Scaled:
        scaled, exponent = scaled_graph(graph)
        beliefs = {
            name: np.maximum(getattr(constraints, name), LEAST_BELIEF)
            for name in ("must_link_belief", "cannot_link_belief")
        }
        return cls(scaled, replace(constraints, **beliefs), exponent)

    def cuts(self, values: tuple[float, ...] | None) -> tuple[float, ...] | None:
        """Cuts of the scaled graph as cuts of the given one."""
        return None if values is None else tuple(float(np.ldexp(value, self.exponent)) for value in values)

    def progress(self, report: Progress | None) -> Progress | None:
        """A report that is told the cuts of the given graph."""
        if report is None or self.exponent == 0:
            return report
        return lambda stage, done, total, best: report(stage, done, total, float(np.ldexp(best, self.exponent)))


def scaled_graph(graph: Graph) -> tuple[Graph, int]:
    """The graph with weights in range, and the power of two that its cuts are to be multiplied by. O(arcs)."""
    w = graph.weights
    data, of_edges = _in_range(w.data, 0)
    vertex_weights, of_vertices = _in_range(graph.vertex_weights, of_edges)
    least = np.ldexp(graph.degrees, of_edges) / LARGEST_RATIO
    if (vertex_weights < least).any():
        vertex_weights = np.maximum(vertex_weights, least)
    if data is w.data and vertex_weights is graph.vertex_weights:
        return graph, 0
    weights = sp.csr_array((data, w.indices, w.indptr), shape=w.shape)
    return Graph(weights, vertex_weights), of_vertices - of_edges


def _in_range(values: np.ndarray, exponent: int) -> tuple[np.ndarray, int]:
    """Values times a power of two, the given one if that will do, with the smallest raised; the same array if in range."""
    if len(values) == 0:
        return values, exponent
    size = int(np.frexp(values.max())[1])
    if abs(size + exponent) > ORDINARY:
        exponent = -size
    least = 2.0 ** (size + exponent - SPAN)
    # Where dividing rounds, to a subnormal number or to 0, the result is below the least.
    scaled = np.ldexp(values, exponent) if exponent else values
    return (scaled if scaled.min() >= least else np.maximum(scaled, least)), exponent
