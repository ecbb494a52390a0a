"""`ConstrainedGraph`: a graph with constraints as relations between its vertices, and contraction of both together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from tightcut import kernels
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.search.signed_graph import PASSES, PATIENCE, pair_up
from tightcut.utils.sparse import csr_of

NO_LABELS = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class ConstrainedGraph:
    """Vertices with edges and relations; what the search for k clusters works on.

    | field | meaning |
    |---|---|
    | weights | symmetric csr_array of edge weights; in a contracted graph its indices are not sorted |
    | vertex_weights | positive |
    | relations | symmetric csr_array: belief of a cannot-link, minus the belief of a must-link |
    """

    weights: sp.csr_array
    vertex_weights: np.ndarray
    relations: sp.csr_array

    @classmethod
    def from_graph(cls, graph: Graph, constraints: Constraints) -> ConstrainedGraph:
        """One vertex per point, with must-links and cannot-links as relations."""
        relations = relations_between(constraints)
        relations.sort_indices()
        # Of the same type as the graph's, or every kernel would be compiled a second time.
        kind = graph.weights.indices.dtype
        relations.indptr, relations.indices = relations.indptr.astype(kind), relations.indices.astype(kind)
        return cls(graph.weights, graph.vertex_weights, relations)

    @property
    def n_vertices(self) -> int:
        return len(self.vertex_weights)

    @cached_property
    def degrees(self) -> np.ndarray:
        return np.asarray(self.weights.sum(axis=1)).ravel()

    @property
    def arrays(self) -> tuple:
        """The arguments that every kernel takes first."""
        w, r = self.weights, self.relations
        return w.indptr, w.indices, w.data, self.vertex_weights, self.degrees, r.indptr, r.indices, r.data

    def __sizeof__(self) -> int:
        """Bytes of the arrays. By these Dask decides to send a graph to a worker once, and not with every task."""
        return sum(array.nbytes for array in self.arrays)

    def refine(self, labels: np.ndarray, k: int, price: float) -> None:
        """Fiduccia-Mattheyses passes in place, for the cut plus `price` times the violated belief."""
        kernels.refine_partition(*self.arrays, price, labels, k, PATIENCE, PASSES)

    def matching(self, order: np.ndarray, heaviest: float, labels: np.ndarray | None = None) -> np.ndarray:
        """Pairs of tightly joined vertices, never across a cannot-link or two labels, as the unit of each."""
        w, r = self.weights, self.relations
        # Weak edges count here: without them the starts of letter and Covertype are too much alike, and their cuts larger.
        limits = order, heaviest, 0.0
        apart = r.indptr, r.indices, NO_LABELS if labels is None else labels
        return kernels.heavy_edge_matching(w.indptr, w.indices, w.data, self.vertex_weights, *limits, *apart)[0]

    def pair_up_unrelated(self, order: np.ndarray) -> np.ndarray:
        """Random pairs; two vertices with a cannot-link between them stay single."""
        unit, relations = pair_up(order), self.relations
        sources = np.repeat(np.arange(self.n_vertices), np.diff(relations.indptr))
        apart = (unit[sources] == unit[relations.indices]) & (relations.data > 0)
        torn = np.unique(np.maximum(sources, relations.indices)[apart])
        unit[torn] = unit.max() + 1 + np.arange(len(torn), dtype=np.int32)
        return np.unique(unit, return_inverse=True)[1].astype(np.int32)

    def contract(self, unit: np.ndarray) -> ConstrainedGraph:
        """Merge the vertices of each unit 0, ..., m - 1. Relations inside a unit vanish; the rest add up."""
        m, w, r = int(unit.max()) + 1, self.weights, self.relations
        members = kernels.members_of(unit, m)
        *weights, degrees = kernels.contract(w.indptr, w.indices, w.data, unit, *members)
        relations = kernels.contract_signed(r.indptr, r.indices, r.data, unit, np.ones(len(unit), np.int8), *members)
        merged = ConstrainedGraph(
            csr_of(*weights),
            np.bincount(unit, self.vertex_weights, m),
            csr_of(*relations[:3]),
        )
        vars(merged)["degrees"] = degrees  # of the cached property, which would pass over all arcs again
        return merged

    def merged_relations(self, unit: np.ndarray, m: int) -> sp.csr_array:
        """The relations between m units. O(relations), where `contract` passes over all vertices."""
        r = self.relations
        if r.nnz == 0:
            return sp.csr_array((m, m))
        sources = np.repeat(np.arange(self.n_vertices, dtype=np.int32), np.diff(r.indptr))
        here, there = unit[sources], unit[r.indices]
        between = here != there
        return sp.csr_array((r.data[between], (here[between], there[between])), shape=(m, m))

    def consensus(self, population: list[np.ndarray]) -> np.ndarray:
        """The connected regions on which all the given labellings are constant."""
        return kernels.connected_regions(self.weights.indptr, self.weights.indices, self.common_code(population))

    def common_code(self, population: list[np.ndarray]) -> np.ndarray:
        """A number per vertex, equal where all the given labellings are."""
        code, n_codes = np.zeros(self.n_vertices, np.int64), 1
        for labels in population:
            k = int(labels.max()) + 1
            if n_codes * k > 2**62:
                found, code = np.unique(code, return_inverse=True)
                n_codes = len(found)
            code, n_codes = code * k + labels, n_codes * k
        return code

    def measure(self, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The edge weight that leaves each cluster, and its vertex weight."""
        leaving, volume, count = np.empty(k), np.empty(k), np.empty(k, np.int64)
        w = self.weights
        kernels.measure_partition(w.indptr, w.indices, w.data, self.vertex_weights, labels, leaving, volume, count)
        return leaving, volume

    def cut(self, labels: np.ndarray, k: int) -> float:
        """Sum over clusters of cut(C, rest) / vol(C)."""
        leaving, volume = self.measure(labels, k)
        return float((leaving / volume).sum())

    def joint_weights(self, labels: np.ndarray, k: int) -> np.ndarray:
        """Edge weight between each two clusters; inside a cluster every edge counts twice."""
        return _between(self.weights, labels, k)

    def joint_relations(self, labels: np.ndarray, k: int) -> np.ndarray:
        """The sum of the relations between each two clusters."""
        return _between(self.relations, labels, k)

    def violated(self, labels: np.ndarray) -> float:
        """Violated belief: cannot-links inside clusters and must-links between them."""
        r = self.relations
        return self.promised + kernels.relation_inside(r.indptr, r.indices, r.data, labels)

    @property
    def promised(self) -> float:
        """The belief of all must-links among the relations."""
        return -0.5 * float(self.relations.data[self.relations.data < 0].sum())

    @property
    def forbidden(self) -> sp.csr_array | None:
        """The relations of vertices that may not be merged, if there are any."""
        r = self.relations
        if r.nnz == 0:
            return None
        if r.data.min() > 0:
            return r
        sources = np.repeat(np.arange(self.n_vertices), np.diff(r.indptr))
        apart = r.data > 0
        return sp.csr_array((r.data[apart], (sources[apart], r.indices[apart])), shape=r.shape)


def relations_between(constraints: Constraints) -> sp.csr_array:
    """A symmetric matrix of the points: belief of a cannot-link, minus the belief of a must-link."""
    pairs = np.concatenate([constraints.cannot_link, constraints.must_link])
    belief = np.concatenate([constraints.cannot_link_belief, -constraints.must_link_belief])
    upper = sp.csr_array((belief, (pairs[:, 0], pairs[:, 1])), shape=(constraints.n_points, constraints.n_points))
    return sp.csr_array(upper + upper.T)


def _between(matrix: sp.csr_array, labels: np.ndarray, k: int) -> np.ndarray:
    total = np.zeros((k, k))
    kernels.add_up_between(matrix.indptr, matrix.indices, matrix.data, labels.astype(np.int32, copy=False), total)
    return total
