"""Reduce a problem before bounding it: vertices tied by pairs become units, and weights are rescaled to near 1.

For two clusters with a cannot-link a unit is a component of all pairs, whose vertices have signs: a clustering is a
vector z in {-1, 1}^U. For more clusters a unit is a component of the must-links, and cannot-links keep units apart.
Both come from `verify`, so that a proof and its check speak of the same units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from tightcut.certificates.verify import Proof, contract, signed_units, verify
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph


@dataclass(frozen=True, eq=False)
class Problem:
    """Clusters of a graph whose weights are near 1, under pairs and under the pairs that a branch assumes.

    Attributes
    ----------
    graph : Graph
        As it was given.
    weights, vertex_weights
        The same times powers of two: the mean degree and the mean vertex weight are between 1 and 2.
    edge_exponent, vertex_exponent : int
        Of those powers.
    pairs : ndarray of shape (m, 3)
        Rows (i, j, belief), with a negative belief for a cannot-link.
    limit : float
        Up to which the beliefs of violated pairs may add up.
    n_clusters : int
    hard : ndarray of shape (h, 3)
        Rows (i, j, 1) for together and (i, j, -1) for apart: the pairs whose belief is above the limit.
    assumed : ndarray of shape (s, 3)
        The same for pairs that a branch assumes, which `hard` includes.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Constraints, Graph
    >>> from tightcut.certificates.units import Problem
    >>> far = Graph.from_affinity(100 * (np.eye(4, k=1) + np.eye(4, k=-1)))
    >>> problem = Problem.of(far, Constraints.from_pairs(4, [(0, 1)], [(1, 3)]), 2)
    >>> problem.edge_exponent, float(problem.weights.max())
    (-7, 0.78125)
    >>> problem.linked.unit.tolist(), problem.linked.apart.tolist()
    ([0, 0, 1, 2], [[0, 2]])
    >>> problem.signed.unit.tolist(), problem.signed.sign.tolist()
    ([0, 0, 1, 0], [1, 1, 1, -1])
    """

    graph: Graph
    weights: sp.csr_array
    vertex_weights: np.ndarray
    edge_exponent: int
    vertex_exponent: int
    pairs: np.ndarray
    limit: float
    n_clusters: int
    hard: np.ndarray
    assumed: np.ndarray

    @classmethod
    def of(cls, graph: Graph, constraints: Constraints, n_clusters: int, limit: float = 0.0) -> Problem:
        edges = 1 - int(np.frexp(graph.degrees.mean() or 1.0)[1])
        vertices = 1 - int(np.frexp(graph.vertex_weights.mean())[1])
        w = graph.weights
        weights = sp.csr_array((np.ldexp(w.data, edges), w.indices, w.indptr), shape=w.shape)
        scaled = weights, np.ldexp(graph.vertex_weights, vertices), edges, vertices
        pairs = believed_pairs(constraints)
        hard = np.column_stack([pairs[:, :2], np.sign(pairs[:, 2])])[np.abs(pairs[:, 2]) > limit].astype(np.int64)
        return cls(graph, *scaled, pairs, limit, n_clusters, hard, np.zeros((0, 3), np.int64))

    def assuming(self, first: int, second: int, kind: int) -> Problem:
        """The same with two vertices together (1) or apart (-1)."""
        row = np.array([[first, second, kind]])
        return replace(self, hard=np.vstack([self.hard, row]), assumed=np.vstack([self.assumed, row]))

    @property
    def soft(self) -> np.ndarray:
        """The rows of `pairs` that may be violated."""
        return self.pairs[np.abs(self.pairs[:, 2]) <= self.limit]

    @property
    def keeps_apart(self) -> bool:
        """Whether a single cluster violates more than is allowed."""
        lost = -self.soft[:, 2][self.soft[:, 2] < 0].sum()
        return bool((self.hard[:, 2] < 0).any() or lost > self.limit)

    @cached_property
    def signed(self) -> Units:
        return self._units(*signed_units(len(self.vertex_weights), self.hard))

    @cached_property
    def linked(self) -> Units:
        n = len(self.vertex_weights)
        return self._units(signed_units(n, self.hard[self.hard[:, 2] == 1])[0], np.ones(n, np.int64))

    def _units(self, unit: np.ndarray, sign: np.ndarray) -> Units:
        members, laplacian, _, terms = contract(self.weights, unit, sign)
        n_units = members.shape[0]
        return Units(
            unit=unit,
            sign=sign,
            laplacian=laplacian.tocsr(),
            moment=members @ self.vertex_weights,
            weights=np.bincount(unit, self.vertex_weights, n_units),
            apart=np.unique(np.sort(unit[self.hard[self.hard[:, 2] == -1, :2]], axis=1), axis=0),
            terms=terms,
        )

    def given_cut(self, value: float) -> float:
        """A cut of this graph as one of the graph as it was given."""
        return float(np.ldexp(value, self.vertex_exponent - self.edge_exponent))

    def scaled_cut(self, value: float) -> float:
        return float(np.ldexp(value, self.edge_exponent - self.vertex_exponent))

    def accepts(self, bound: float, proof: Proof) -> bool:
        """Whether the verifier accepts the bound, of the graph as it was given."""
        given = self.given_proof(proof) | {"assumed": self.assumed[:0]}  # among the pairs, with beliefs above the limit
        pairs = np.vstack([self.pairs, self.assumed * [1, 1, 2 + 2 * self.limit]])
        arrays = self.graph.weights, self.graph.vertex_weights, pairs, self.n_clusters
        try:
            verify(*arrays, self.given_cut(bound), [given], self.limit)
        except ValueError:
            return False
        return True

    def given_proof(self, proof: Proof) -> Proof:
        """A proof about this graph as one about the graph as it was given."""
        edges, vertices = -self.edge_exponent, -self.vertex_exponent
        exponent = {"y": edges, "price": edges, "multipliers": edges, "pair_multipliers": edges, "a": edges - vertices}
        exponent |= {"theta": edges - vertices, "kappa": edges - 2 * vertices, "c": edges - 2 * vertices}
        scaled = {name: np.ldexp(proof[name], exponent[name]) for name in proof.keys() & exponent.keys()}
        return {**proof, **scaled, "assumed": self.assumed}


def believed_pairs(constraints: Constraints) -> np.ndarray:
    """Rows (i, j, belief), with a negative belief for a cannot-link: the form in which the verifier takes them."""
    must = np.column_stack([constraints.must_link, constraints.must_link_belief])
    return np.vstack([must, np.column_stack([constraints.cannot_link, -constraints.cannot_link_belief])])


@dataclass(frozen=True, eq=False)
class Units:
    """A graph contracted to its units.

    Attributes
    ----------
    unit, sign : ndarray of shape (n,)
        Of each vertex.
    laplacian : csr_array of shape (U, U)
        S L S' for the matrix S that holds the sign of every vertex at its unit.
    moment : ndarray of shape (U,)
        S b for the vertex weights b: what a unit weighs on the side of its sign minus what it weighs on the other.
    weights : ndarray of shape (U,)
        What a unit weighs on both sides.
    apart : ndarray of shape (m, 2)
        Units that a cannot-link keeps apart, the smaller number first.
    terms : int
        How many terms an entry of the Laplacian is a sum of, at most.
    """

    unit: np.ndarray
    sign: np.ndarray
    laplacian: sp.csr_array
    moment: np.ndarray
    weights: np.ndarray
    apart: np.ndarray
    terms: int

    @property
    def n_units(self) -> int:
        return len(self.weights)

    @cached_property
    def volume(self) -> float:
        return float(self.weights.sum())

    @cached_property
    def first(self) -> np.ndarray:
        """The first vertex of each unit."""
        return np.unique(self.unit, return_index=True)[1]

    @cached_property
    def couplings(self) -> tuple[np.ndarray, np.ndarray]:
        """Keys i U + j of the pairs of units i < j with an entry in the Laplacian, increasing, and twice the entries."""
        upper = sp.triu(self.laplacian, 1).tocoo()
        keys = upper.row.astype(np.int64) * self.n_units + upper.col
        order = np.argsort(keys)
        return keys[order], 2 * upper.data[order]

    def cuts(self, spins: np.ndarray) -> np.ndarray:
        """The cut of each column of z in {-1, 1}^U; infinite with an empty side."""
        within = self.volume**2 - (self.moment @ spins) ** 2
        crossing = self.volume * (spins * (self.laplacian @ spins)).sum(0)
        return np.divide(crossing, within, out=np.full(len(within), np.inf), where=within > 1e-12 * self.volume**2)
