"""Partitions into k clusters: the graph with its constraints as relations, and contraction of both together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from tightcut import _kernels as kernels
from tightcut.constraints import Constraints
from tightcut.graph import Graph


@dataclass(frozen=True, eq=False)
class PartitionGraph:
    """Vertices with edges and relations; what the search for k clusters works on.

    | field | meaning |
    |---|---|
    | weights | symmetric csr_array of edge weights |
    | mass | vertex weights |
    | relations | symmetric csr_array: belief of a cannot-link, minus the belief of a must-link |
    """

    weights: sp.csr_array
    mass: np.ndarray
    relations: sp.csr_array

    @classmethod
    def from_graph(cls, graph: Graph, constraints: Constraints) -> PartitionGraph:
        """One vertex per point, with must-links and cannot-links as relations."""
        pairs = np.concatenate([constraints.cannot_link, constraints.must_link])
        belief = np.concatenate([constraints.cannot_link_weight, -constraints.must_link_weight])
        upper = sp.csr_array((belief, (pairs[:, 0], pairs[:, 1])), shape=graph.weights.shape)
        relations = sp.csr_array(upper + upper.T)
        relations.sort_indices()
        return cls(graph.weights, graph.vertex_weights, relations)

    @property
    def n_vertices(self) -> int:
        return len(self.mass)

    @cached_property
    def degree(self) -> np.ndarray:
        return np.asarray(self.weights.sum(axis=1)).ravel()

    @property
    def arrays(self) -> tuple:
        """The arguments that every kernel takes first."""
        w, r = self.weights, self.relations
        return w.indptr, w.indices, w.data, self.mass, self.degree, r.indptr, r.indices, r.data

    def __sizeof__(self) -> int:
        """Bytes of the arrays. By these Dask decides to send a graph to a worker once, and not with every task."""
        return sum(array.nbytes for array in self.arrays)

    def contract(self, unit: np.ndarray) -> PartitionGraph:
        """Merge the vertices of each unit 0, ..., m - 1. Relations inside a unit vanish; the rest add up."""
        m = int(unit.max()) + 1
        return PartitionGraph(
            _contract(self.weights, unit, m), np.bincount(unit, self.mass, m), _contract(self.relations, unit, m)
        )

    def consensus(self, population: list[np.ndarray]) -> np.ndarray:
        """The connected regions on which all the given labellings are constant."""
        code, n_codes = np.zeros(self.n_vertices, np.int64), 1
        for labels in population:
            k = int(labels.max()) + 1
            if n_codes * k > 2**62:
                found, code = np.unique(code, return_inverse=True)
                n_codes = len(found)
            code, n_codes = code * k + labels, n_codes * k
        return kernels.connected_regions(self.weights.indptr, self.weights.indices, code)

    def cut(self, labels: np.ndarray, k: int) -> float:
        """Sum over clusters of cut(C, rest) / vol(C)."""
        leaving, volume, count = np.empty(k), np.empty(k), np.empty(k, np.int64)
        w = self.weights
        kernels.measure_partition(w.indptr, w.indices, w.data, self.mass, labels, leaving, volume, count)
        return float((leaving / volume).sum())

    def violated(self, labels: np.ndarray) -> float:
        """Violated belief: cannot-links inside clusters and must-links between them."""
        r = self.relations
        promised = -0.5 * float(r.data[r.data < 0].sum())
        return promised + kernels.relation_inside(r.indptr, r.indices, r.data, labels)


def _contract(matrix: sp.csr_array, unit: np.ndarray, m: int) -> sp.csr_array:
    ones = np.ones(len(unit), np.int8)
    indptr, indices, data, _ = kernels.contract(matrix.indptr, matrix.indices, matrix.data, unit, ones, m)
    return sp.csr_array((data, indices, indptr), shape=(m, m))
