"""The similarity graph: symmetric edge weights and positive vertex weights.

Normalized cut and ratio cut are one problem with different vertex weights (degrees, ones): all later steps use
`Graph.vertex_weights`, whatever the criterion.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from tightcut.problem.graph_objects import graph_matrix
from tightcut.utils.codes import renumber
from tightcut.utils.display import html_view
from tightcut.utils.sparse import csr_of, to_csr

CACHED_LIMIT = 50_000  # vertices of a graph that fits the processor's cache
SYMMETRY_TOLERANCE = 1e-6  # of the largest similarity
LARGEST_WEIGHT = 1e100  # the smallest is its inverse: products of sums of weights neither overflow nor underflow


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected weighted graph with vertex weights.

    Build one with `Graph.from_affinity`, which validates; the plain constructor trusts its arguments.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
        Symmetric, non-negative, float64, zero diagonal, sorted indices.
    vertex_weights : ndarray of shape (n,)
        Positive. Degrees give normalized cut, ones give ratio cut.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Graph
    >>> path = Graph.from_affinity(np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]]))
    >>> path.n_edges, path.vertex_weights.tolist()
    (2, [2.0, 3.0, 1.0])
    >>> path.contract(np.array([0, 0, 1])).weights.toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    weights: sp.csr_array
    vertex_weights: np.ndarray

    def __repr__(self) -> str:
        return f"Graph({self.n_vertices:,} vertices, {self.n_edges:,} edges)"

    def _repr_html_(self) -> str:
        facts = {"vertices": f"{self.n_vertices:,}", "edges": f"{self.n_edges:,}"}
        return html_view("Graph", facts | {"edge weight": f"{self.weights.sum() / 2:.6g}"})

    @classmethod
    def from_affinity(cls, affinity: Any, vertex_weights: Any = "degree") -> Graph:
        """Validate an affinity matrix (sparse or dense) and attach vertex weights.

        Parameters
        ----------
        affinity : array-like, sparse matrix of shape (n, n), or graph object
            Finite, non-negative and symmetric up to rounding. The diagonal must be finite, and is otherwise ignored. Graphs
            of networkx and igraph, and AnnData objects with connectivities, are taken as they are.
        vertex_weights : {"degree", "ones"} or array-like of shape (n,), default="degree"
            Positive, and at least 1e-200 times the weight of the vertex's edges, lest cuts overflow. With "degree", an
            isolated vertex gets the smallest positive degree, and thus still counts.
        """
        weights = validate_affinity(affinity)
        return cls(weights, validate_vertex_weights(vertex_weights, weights))

    @property
    def n_vertices(self) -> int:
        return self.weights.shape[0]

    @property
    def n_edges(self) -> int:
        return self.weights.nnz // 2

    @cached_property
    def degrees(self) -> np.ndarray:
        return np.asarray(self.weights.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def volume(self) -> float:
        return float(self.vertex_weights.sum())

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every undirected edge once, as (i, j, weight) with i < j."""
        upper = sp.triu(self.weights, 1, format="coo")
        return upper.row, upper.col, upper.data

    def components(self) -> tuple[int, np.ndarray]:
        """Number of connected components and the component of each vertex."""
        count, labels = sp.csgraph.connected_components(self.weights, directed=False)
        return int(count), labels

    @cached_property
    def walk(self) -> np.ndarray:
        """The vertices in an order that puts neighbours near each other (reverse Cuthill-McKee). O(arcs)."""
        return reverse_cuthill_mckee(self.weights, symmetric_mode=True)

    def numbered_nearby(self, groups: np.ndarray) -> np.ndarray:
        """The same groups of vertices, numbered in the order in which a walk through the graph meets them.

        Contracted to groups in this order, a graph larger than the processor's cache is searched in up to a third less
        time, since a pass over the arcs more often reads close to its last position. A graph that fits the cache keeps
        its numbers.
        """
        if self.n_vertices <= CACHED_LIMIT:
            return groups.astype(np.int32, copy=False)
        numbered = np.empty(self.n_vertices, np.int32)
        numbered[self.walk] = renumber(groups[self.walk])
        return numbered

    def contract(self, labels: np.ndarray) -> Graph:
        """Merge all vertices with the same label (0, ..., m - 1), which preserves cuts between the groups."""
        from tightcut import kernels

        unit, m, w = labels.astype(np.int32, copy=False), int(labels.max()) + 1, self.weights
        *arcs, _ = kernels.contract(w.indptr, w.indices, w.data, unit, *kernels.members_of(unit, m))
        weights = sp.csr_array(tuple(arcs[::-1]), shape=(m, m))
        weights.sort_indices()
        return Graph(weights, np.bincount(labels, self.vertex_weights, m))

    def ties(self, labels: np.ndarray, n_clusters: int, vertices: np.ndarray | None = None) -> np.ndarray:
        """Edge weight from each vertex, or each of some, to each cluster; edges to label -1 are left out.

        Examples
        --------
        >>> import numpy as np
        >>> from tightcut import Graph
        >>> path = Graph.from_affinity(np.array([[0, 3, 0], [3, 0, 1], [0, 1, 0]]))
        >>> path.ties(np.array([0, 0, 1]), 2).tolist()
        [[3.0, 0.0], [3.0, 1.0], [1.0, 0.0]]
        """
        weights = self.weights if vertices is None else self.weights[vertices]
        n, ends = weights.shape[0], labels[weights.indices]
        known = ends >= 0
        code = np.repeat(np.arange(n) * n_clusters, np.diff(weights.indptr))[known] + ends[known]
        return np.bincount(code, weights.data[known], n * n_clusters).astype(np.float64).reshape(n, n_clusters)

    def ties_within(self, labels: np.ndarray) -> np.ndarray:
        """Edge weight from each vertex to its own cluster, in memory for one number per arc."""
        w = self.weights
        sources = np.repeat(np.arange(self.n_vertices), np.diff(w.indptr))
        own = labels[sources] == labels[w.indices]
        return np.bincount(sources[own], w.data[own], self.n_vertices)

    def subgraph(self, vertices: np.ndarray) -> Graph:
        """The graph induced by some vertices, which keep their vertex weights."""
        return Graph(without_diagonal(self.weights[vertices][:, vertices]), self.vertex_weights[vertices])

    def permuted(self, order: np.ndarray) -> Graph:
        """The same graph, whose vertex i is the one that was order[i]."""
        w = self.weights[order]
        weights = csr_of(w.indptr, np.argsort(order).astype(w.indices.dtype)[w.indices], w.data)
        weights.sort_indices()
        return Graph(weights, self.vertex_weights[order])


def without_diagonal(matrix: sp.csr_array) -> sp.csr_array:
    """The matrix without diagonal, explicit zeros and duplicates; its indices are sorted, and of 32 bits if they fit.

    Shares no array with the argument. O(entries) if they are sorted.
    """
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    if matrix.diagonal().any() or not data.all():
        rows = np.repeat(np.arange(matrix.shape[0], dtype=indices.dtype), np.diff(indptr))
        keep = (rows != indices) & (data != 0)
        indptr = np.append(0, np.cumsum(keep))[indptr]
        indices, data = indices[keep], data[keep]
    index = np.int32 if max(len(data), *matrix.shape) <= np.iinfo(np.int32).max else np.int64
    result = sp.csr_array((data.copy(), indices.astype(index), indptr.astype(index)), shape=matrix.shape)
    result.has_canonical_format = True
    return result


def validate_affinity(affinity: Any) -> sp.csr_array:
    """Check an affinity matrix, and return it as a clean symmetric csr_array, always a copy."""
    affinity = graph_matrix(affinity)
    matrix = to_csr(affinity, "The affinity matrix") if sp.issparse(affinity) else _dense_to_sparse(affinity)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"An affinity matrix must be square; this one has shape {matrix.shape}.")
    if np.iscomplexobj(matrix):
        raise ValueError("An affinity matrix must be real; this one holds complex numbers.")
    matrix = matrix.astype(np.float64, copy=False)
    diagonal = matrix.diagonal()
    if not np.isfinite(diagonal).all():
        place = int(np.argmin(np.isfinite(diagonal)))
        raise ValueError(
            f"The affinity matrix holds {diagonal[place]:g} at ({place}, {place}). The diagonal has no effect; set it to 0."
        )
    matrix = without_diagonal(matrix)
    if matrix.nnz == 0:
        return matrix
    smallest, largest = float(matrix.data.min()), float(matrix.data.max())
    if not np.isfinite([smallest, largest]).all():
        raise ValueError("The affinity matrix holds NaN or infinity; every similarity must be a finite number.")
    if smallest < 0:
        raise ValueError(
            f"The affinity matrix holds a negative value ({smallest:g}); similarities must be non-negative. "
            "If these are distances, turn them into similarities first, for example exp(-d**2 / d.mean()**2)."
        )
    _check_magnitude(largest, "similarity")
    transpose = matrix.T.tocsr()
    if all(np.array_equal(getattr(matrix, part), getattr(transpose, part)) for part in ("indptr", "indices", "data")):
        return matrix
    difference = abs(matrix - transpose)
    if difference.max() > SYMMETRY_TOLERANCE * largest:
        row, column = np.unravel_index(int(difference.tocoo().argmax()), matrix.shape)
        raise ValueError(
            f"The affinity matrix is not symmetric: entry ({row}, {column}) is {matrix[row, column]:g} "
            f"but entry ({column}, {row}) is {matrix[column, row]:g}. Symmetrise it first, for example by the maximum."
        )
    return without_diagonal(sp.csr_array((matrix + transpose) / 2))


def add_vertices(matrix: sp.csr_array, n: int) -> sp.csr_array:
    """The same edges among n vertices; the additional vertices have none."""
    indptr = np.append(matrix.indptr, np.full(n - matrix.shape[0], matrix.indptr[-1], matrix.indptr.dtype))
    return sp.csr_array((matrix.data, matrix.indices, indptr), shape=(n, n))


def _check_magnitude(largest: float, what: str) -> None:
    if not 1 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise ValueError(
            f"The largest {what} is {largest:g}, and products of such numbers overflow or underflow. "
            "Divide all of them by it; the clusters stay the same."
        )


def _dense_to_sparse(affinity: Any) -> sp.csr_array:
    dense = np.asarray(affinity)
    if dense.ndim != 2:
        raise ValueError(f"An affinity matrix must have two dimensions; this one has {dense.ndim}.")
    return sp.csr_array(dense if np.iscomplexobj(dense) else dense.astype(np.float64))


def validate_vertex_weights(vertex_weights: Any, weights: sp.csr_array) -> np.ndarray:
    """Vertex weights as a float64 array: degrees, ones, or the user's own positive numbers."""
    n = weights.shape[0]
    if isinstance(vertex_weights, str):
        if vertex_weights == "ones":
            return np.ones(n)
        if vertex_weights != "degree":
            raise ValueError(f'vertex_weights must be "degree", "ones" or an array; got {vertex_weights!r}.')
        degrees = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
        positive = degrees[degrees > 0]
        return np.where(degrees > 0, degrees, positive.min() if len(positive) else 1.0)
    values = np.array(vertex_weights, dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(f"vertex_weights must have one entry per vertex, shape ({n},); got shape {values.shape}.")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(
            f"vertex_weights must be finite and positive; entry {int(np.argmin(np.isfinite(values) & (values > 0)))} is not."
        )
    if n > 0:
        _check_magnitude(float(values.max()), "vertex weight")
        _check_ratios(values, weights)
    return values


def _check_ratios(vertex_weights: np.ndarray, weights: sp.csr_array) -> None:
    """The ratio of a cluster's leaving edge weight to its vertex weight is at most that of the worst of its vertices."""
    degrees = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
    least = degrees / LARGEST_WEIGHT**2
    if (vertex_weights < least).any():
        worst = int(np.argmax(vertex_weights < least))
        raise ValueError(
            f"vertex_weights entry {worst} is {vertex_weights[worst]:g}, and the edges of that vertex weigh "
            f"{degrees[worst]:g}: the cut of a cluster that small would overflow. Give the vertex a weight of at least "
            f"{least[worst]:.3g}."
        )
