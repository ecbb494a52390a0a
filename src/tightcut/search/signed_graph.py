"""Signed graphs: the constrained two-cluster problem with its constraints dissolved.

Once must-links are merged and the cannot-link components two-coloured, every component has exactly two states, one
the mirror of the other. Call it a *unit* with a spin of +1 or -1. An edge of the graph becomes a *coupling* between
two units: positive if it wants equal spins, negative if opposite ones. Every choice of spins satisfies every
constraint, so the search needs no penalty and no repair; tying units whose relative orientation is settled gives a
smaller signed graph with the same cuts (the paper's merging lemma, with signs).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from tightcut import kernels
from tightcut.problem.graph import CACHED_LIMIT, Graph
from tightcut.search.problem import Contraction
from tightcut.utils.sparse import csr_of

# Units are not matched along an edge that has less than this share of the weight of the strongest one: pixels on two sides of
# an outline are such units, and without this the cut of the outline grows tenfold in a few levels.
WEAKEST = 0.1
# Flips without a new best before a refinement pass ends, and passes per level.
PATIENCE, PASSES = 50, 10
BLOCK = 64  # consecutive vertices of a large graph, matched together

# Couplings between m units, given those of their parts, the unit and the sign of each part, and m; and `offset`.
ContractCouplings = Callable[[sp.csr_array, np.ndarray, np.ndarray, int], tuple[sp.csr_array, float]]


@dataclass(frozen=True, eq=False)
class SignedGraph:
    """Units with couplings; minimise `ratio` over spins in {-1, +1}.

    | field | meaning |
    |---|---|
    | couplings | symmetric csr_array, signed, zero diagonal; in a merged graph its indices are not sorted |
    | vertex_weights | total vertex weight of each unit |
    | moment | vertex weight a unit puts on the side of its spin, minus what it puts on the other |
    | external | the same for edge weight that leaves the two clusters altogether (zeros for two clusters) |
    | mixed | the unit has vertices on both sides; the others have all theirs on the side of their spin |
    | offset | edge weight that is cut whatever the spins |
    | volume, outside | total vertex weight, total external weight |
    """

    couplings: sp.csr_array
    vertex_weights: np.ndarray
    moment: np.ndarray
    external: np.ndarray
    mixed: np.ndarray
    offset: float
    volume: float
    outside: float

    @classmethod
    def from_graph(cls, graph: Graph) -> SignedGraph:
        """One unit per vertex; tie them with `merge`."""
        return cls.from_couplings(graph.weights, graph.vertex_weights, np.zeros(graph.n_vertices))

    @classmethod
    def from_couplings(cls, couplings: sp.csr_array, vertex_weights: np.ndarray, external: np.ndarray) -> SignedGraph:
        """One unit per vertex of a part of a graph, with the edge weight that leaves the part."""
        return cls(
            couplings=couplings,
            vertex_weights=vertex_weights,
            moment=vertex_weights,
            external=external,
            mixed=np.zeros(len(vertex_weights), bool),
            offset=0.0,
            volume=float(vertex_weights.sum()),
            outside=float(external.sum()),
        )

    @property
    def n_units(self) -> int:
        return len(self.moment)

    @property
    def arrays(self) -> tuple:
        """The arguments that every kernel takes first."""
        c = self.couplings
        scalars = (self.offset, self.volume, self.outside, bool(self.mixed.any()))
        return (c.indptr, c.indices, c.data, self.moment, self.external, *scalars)

    def __sizeof__(self) -> int:
        """Bytes of the arrays. By these Dask decides to send a graph to a worker once, and not with every task."""
        c = self.couplings
        stored = (c.indptr, c.indices, c.data, self.vertex_weights, self.moment, self.external, self.mixed)
        return sum(array.nbytes for array in stored)

    @property
    def is_one_sided(self) -> bool:
        """Whether all vertices are on one side whatever the spins."""
        return self.n_units == 1 and not self.mixed.any()

    @property
    def sources(self) -> np.ndarray:
        """The unit each stored coupling starts from."""
        return np.repeat(np.arange(self.n_units, dtype=np.int32), np.diff(self.couplings.indptr))

    def cut(self, spins: np.ndarray) -> float:
        """Edge weight between the two sides."""
        agreement = self.couplings.data * spins[self.sources] * spins[self.couplings.indices]
        return self.offset - 0.5 * float(agreement[agreement < 0].sum())

    def ratio(self, spins: np.ndarray) -> float:
        """The two-cluster objective: what each side sends away over what it weighs, summed over both sides.

        Infinite where a side weighs less than the rounding error of the whole.
        """
        imbalance, tilt, cut = float(self.moment @ spins), float(self.external @ spins), self.cut(spins)
        plus, minus = (self.volume + imbalance) / 2, (self.volume - imbalance) / 2
        if min(plus, minus) <= 0:
            return np.inf
        return max(cut + (self.outside + tilt) / 2, 0) / plus + max(cut + (self.outside - tilt) / 2, 0) / minus

    def refine(self, spins: np.ndarray) -> float:
        """Fiduccia-Mattheyses passes in place; returns the ratio."""
        return kernels.refine(*self.arrays, spins, PATIENCE, PASSES)

    def matching(self, order: np.ndarray, heaviest: float) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of tightly coupled units, as the new unit of each and its orientation there."""
        c, empty = self.couplings, np.zeros(0, np.int32)
        nothing = np.zeros(self.n_units + 1, np.int32), empty, empty
        arcs = c.indptr, c.indices, c.data
        return kernels.heavy_edge_matching(*arcs, self.vertex_weights, order, heaviest, WEAKEST, *nothing)

    def satisfied_by(self, spins: np.ndarray) -> SignedGraph:
        """The same graph without the couplings that pull against the spins."""
        c = self.couplings
        satisfied = c.data * spins[self.sources] * spins[c.indices] > 0
        couplings = sp.csr_array((c.data * satisfied, c.indices, c.indptr), shape=c.shape)
        return replace(self, couplings=couplings)

    def merge(
        self, unit: np.ndarray, sign: np.ndarray, contract: ContractCouplings | None = None
    ) -> Contraction[SignedGraph]:
        """Tie units together: old unit u becomes part of new unit `unit[u]` with relative orientation `sign[u]`."""
        m = int(unit.max()) + 1
        plus = np.bincount(unit, self.mixed | (sign > 0), m) > 0
        minus = np.bincount(unit, self.mixed | (sign < 0), m) > 0
        # A unit that is all on one side is oriented so that its spin names that side.
        sign = np.where((minus & ~plus)[unit], -sign, sign).astype(np.int8)
        couplings, offset = (contract or contract_couplings)(self.couplings, unit, sign, m)
        merged = SignedGraph(
            couplings=couplings,
            vertex_weights=np.bincount(unit, self.vertex_weights, m),
            moment=np.bincount(unit, sign * self.moment, m),
            external=np.bincount(unit, sign * self.external, m),
            mixed=plus & minus,
            offset=self.offset + offset,
            volume=self.volume,
            outside=self.outside,
        )
        return Contraction(merged, unit, sign)

    def consensus(self, population: list[np.ndarray]) -> Contraction[SignedGraph]:
        """Tie together connected units whose relative orientation is the same in all the given spins."""
        code = common_code(population)
        unit = kernels.connected_regions(self.couplings.indptr, self.couplings.indices, code)
        return self.merge(unit, population[0])


def random_order(n: int, rng: np.random.Generator) -> np.ndarray:
    """The vertices in a random order, in which those of a graph larger than the processor's cache come in blocks.

    Neighbours have near numbers there (see `Graph.numbered_nearby`), and a matching that meets some of them together
    takes half the time.
    """
    if n <= CACHED_LIMIT:
        return rng.permutation(n).astype(np.int32)
    count = -(-n // BLOCK)
    blocks = np.arange(count * BLOCK, dtype=np.int32).reshape(count, BLOCK)
    order = rng.permuted(blocks, axis=1)[rng.permutation(count)].ravel()
    return order[order < n]


def common_code(population: list[np.ndarray]) -> np.ndarray:
    """A number per unit, equal where units have the same orientation, relative to the first spins, in all of them."""
    code = np.zeros(len(population[0]), np.int64)
    for other in population[1:]:
        code = 2 * code + (other != population[0])
    return code


def pair_up(order: np.ndarray) -> np.ndarray:
    """Pairs of vertices next to each other in a random order, for graphs with too few edges to match along."""
    unit = np.empty(len(order), np.int32)
    unit[order] = np.arange(len(order)) // 2
    return unit


def contract_couplings(
    couplings: sp.csr_array, unit: np.ndarray, sign: np.ndarray, m: int
) -> tuple[sp.csr_array, float]:
    """The couplings between m units, and the weight that is cut whatever their spins."""
    arcs, members, offset = (couplings.indptr, couplings.indices, couplings.data), kernels.members_of(unit, m), 0.0
    if couplings.data.min(initial=0) < 0 or sign.min() < 0:
        *arcs, offset = kernels.contract_signed(*arcs, unit, sign, *members)
    else:
        *arcs, _ = kernels.contract(*arcs, unit, *members)
    return csr_of(*arcs), offset
