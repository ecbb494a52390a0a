"""A canonical order of the points of a small problem, so that their order in the data does not change the result.

A random search takes a different path when the points come in a different order, and may end in a different cut. So points
are sorted before it, by what does not depend on their numbers: weights of vertices, edges and pairs, and those of their
neighbours. Points that these do not tell apart, as in a graph with equal edge weights, stay in the order of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.search.problem import Partition
from tightcut.utils.sparse import csr_of

# Points. In a larger problem a different order changes the cut no more than a different random state does.
CANONICAL_LIMIT = 5_000
ROUNDS = 3  # edges that separate a point from the farthest neighbours it is sorted by
BITS = 32  # of a sum that count: the last of its 53 depend on the order of its terms


def canonical_order(graph: Graph, constraints: Constraints) -> np.ndarray:
    """The points in an order that does not depend on their numbers, unless they cannot be told apart. O(arcs).

    Examples
    --------
    Two triangles with a bridge, and the same in the opposite order. The same points come first:

    >>> import numpy as np
    >>> from tightcut import Constraints, Graph
    >>> weights = np.zeros((6, 6))
    >>> for i, j, weight in [(0, 1, 1), (0, 2, 2), (1, 2, 3), (2, 3, 0.1), (3, 4, 4), (3, 5, 5), (4, 5, 6)]:
    ...     weights[i, j] = weights[j, i] = weight
    >>> nothing = Constraints.from_pairs(6)
    >>> canonical_order(Graph.from_affinity(weights), nothing).tolist()
    [0, 1, 2, 3, 4, 5]
    >>> canonical_order(Graph.from_affinity(weights[::-1, ::-1]), nothing).tolist()
    [5, 4, 3, 2, 1, 0]
    """
    n = graph.n_vertices
    matrices = [_scaled(graph.weights)]
    for pairs, belief in (
        (constraints.must_link, constraints.must_link_belief),
        (constraints.cannot_link, constraints.cannot_link_belief),
    ):
        ends = np.concatenate([pairs, pairs[:, ::-1]]).T
        matrices.append(_scaled(sp.csr_array((np.append(belief, belief), tuple(ends)), shape=(n, n))))
    key = _rounded(graph.vertex_weights / graph.vertex_weights.max())
    keys = [key]
    for _ in range(ROUNDS):
        # A different power for each matrix, so that an edge and a pair of the same weight are not taken for one another.
        key = _rounded(sum(matrix @ (1 + key) ** power for power, matrix in enumerate(matrices, start=1)))
        keys.append(key)
        key = key / (key.max() or 1.0)
    return np.lexsort(keys[::-1])


def in_canonical_order(
    graph: Graph,
    constraints: Constraints,
    known: list[np.ndarray],
    solve: Callable[[Graph, Constraints, list[np.ndarray]], list[Partition]],
) -> list[Partition]:
    """What `solve` finds for the problem in canonical order, with the points in the order of the data again.

    Contradictions name points, so where one is met, the problem is solved again in the order of the data. `known` labels
    take part in the search.
    """
    if graph.n_vertices > CANONICAL_LIMIT:
        return solve(graph, constraints, known)
    order = canonical_order(graph, constraints)
    place = np.argsort(order)
    try:
        found = solve(graph.permuted(order), constraints.subset(order), [labels[order] for labels in known])
    except InconsistentConstraintsError as error:
        if not error.witness:
            error.best_labels = None if error.best_labels is None else error.best_labels[place]
            raise
    else:
        return [replace(own, labels=own.labels[place]) for own in found]
    return solve(graph, constraints, known)


def _scaled(matrix: sp.csr_array) -> sp.csr_array:
    largest = float(matrix.data.max(initial=0.0))
    return csr_of(matrix.indptr, matrix.indices, matrix.data * (1 / largest)) if largest > 0 else matrix


def _rounded(values: np.ndarray) -> np.ndarray:
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissa, BITS)), exponent - BITS)
