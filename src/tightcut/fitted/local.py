"""The local search of an update: everything far from the changes is contracted to one unit per cluster.

1. New points go where most of their neighbours are; must-linked points become units (`tightcut.fitted.units`).
2. Units that violate a cannot-link leave their cluster. If no existing cluster can take them, a new one is created.
3. Units near new points and new constraints may move, if that lowers the cut clearly; points to be kept may not.

The local problem has a unit for each point that may move and one for the rest of each cluster: its size depends on what
changed. A pass over the edges of the whole graph builds it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from tightcut.fitted.units import Units, make_units, place_new, release_units
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.feasibility import complete, conflict_graph, find_clique, find_colouring, repair
from tightcut.search.influence import neighbour_relations, with_influence
from tightcut.search.k_way import ManyClusters
from tightcut.search.large import search
from tightcut.search.magnitudes import scaled_graph
from tightcut.search.options import SearchOptions
from tightcut.search.problem import improve

INERTIA = 0.1  # share of its edges' weight by which another cluster must outweigh its own before an old point moves
HOPS = 2  # from a new constraint to points that may move on account of it


@dataclass(frozen=True, eq=False)
class Situation:
    """A clustering before an update, with what is new.

    Attributes
    ----------
    graph : Graph
        Of old and new points.
    constraints : Constraints
        All that must hold.
    touched : ndarray of bool, shape (n,)
        Points of new constraints.
    before : ndarray of shape (n,)
        The cluster of each point, 0, ..., k - 1; -1 for a new point.
    kept : ndarray of bool, shape (n,)
        Points that leave their cluster only if a constraint says so.
    any_gain : bool
        Whether old points move for any gain of the cut, however small.
    """

    graph: Graph
    constraints: Constraints
    touched: np.ndarray
    before: np.ndarray
    kept: np.ndarray
    any_gain: bool

    @property
    def k(self) -> int:
        return int(self.before.max()) + 1


def settle(
    situation: Situation, influence: float, rng: np.random.Generator, options: SearchOptions | None = None
) -> np.ndarray:
    """Labels that satisfy every constraint and differ little from those before.

    Numbers from k on are new clusters; some of the numbers below k may no longer occur. The search is local; with
    `options` it goes on as these say, in everything that may move.

    Raises
    ------
    InconsistentConstraintsError
        If the constraints contradict each other, whatever the number of clusters.
    """
    situation = replace(situation, graph=scaled_graph(situation.graph)[0])
    graph, k = situation.graph, situation.k
    placed = place_new(graph, situation.before, k)
    units = make_units(situation.constraints, placed, situation.before >= 0, situation.kept)
    loose = release_units(units, graph, placed, k)
    active = _active(situation, units, loose, everything=options is not None)
    problem = LocalProblem.build(situation, units, active)
    if not situation.any_gain:
        problem = problem.with_inertia(units)
    labels, n_clusters = problem.feasible(np.where(loose[problem.member], -1, units.labels[problem.member]), rng)
    labels = problem.improved(labels, n_clusters, influence, rng, options)
    return _returned(labels[problem.local], units, loose)


def _returned(labels: np.ndarray, units: Units, loose: np.ndarray) -> np.ndarray:
    """The labels, with points to be kept returned to their clusters where constraints allow it."""
    for unit in np.flatnonzero(loose & (units.n_kept > 0)).tolist():
        members, home = units.unit == unit, units.labels[unit]
        ends = units.apart[(units.apart == unit).any(axis=1)].ravel()
        if not (labels[np.isin(units.unit, ends[ends != unit])] == home).any():
            labels[members] = home
    return labels


def _active(situation: Situation, units: Units, loose: np.ndarray, *, everything: bool) -> np.ndarray:
    """Which units may move: those that must, those of new points, and those nearby that need not be kept."""
    n, weights = situation.graph.n_vertices, situation.graph.weights
    new = situation.before < 0
    near = np.ones(n, bool) if everything else new | (weights @ new.astype(np.float64) > 0)
    reached = situation.touched
    for _ in range(0 if everything else HOPS):
        reached = reached | (weights @ reached.astype(np.float64) > 0)
    near = near | reached
    active = np.bincount(units.unit, near, units.count) > 0
    # Room for a unit that must leave may have to be made by others that it has cannot-links with, directly or not.
    if loose.any() and len(units.apart):
        arcs = sp.coo_array((np.ones(len(units.apart)), tuple(units.apart.T)), shape=(units.count,) * 2)
        _, chain = sp.csgraph.connected_components(arcs, directed=False)
        active |= np.isin(chain, chain[loose])
    return loose | (active & (units.n_kept == 0))


@dataclass(frozen=True, eq=False)
class LocalProblem:
    """Active units, and one unit for the rest of each cluster.

    Attributes
    ----------
    situation : Situation
    local : ndarray of shape (n,)
        The local unit of each point.
    member : ndarray
        For each local unit, one of the units in it.
    anchored : ndarray of bool
        Which local units are the rest of a cluster.
    graph : ConstrainedGraph
        Relations keep constraints, and the rests of clusters apart.
    """

    situation: Situation
    local: np.ndarray
    member: np.ndarray
    anchored: np.ndarray
    graph: ConstrainedGraph

    @classmethod
    def build(cls, situation: Situation, units: Units, active: np.ndarray) -> LocalProblem:
        moving = np.flatnonzero(active)
        resting = np.flatnonzero(~active)
        clusters, rest = np.unique(units.labels[resting], return_inverse=True)
        number = np.empty(units.count, np.int32)
        number[moving] = np.arange(len(moving), dtype=np.int32)
        number[resting] = len(moving) + rest
        count = len(moving) + len(clusters)
        member = np.empty(count, np.int64)
        member[number] = np.arange(units.count)
        local = number[units.unit]
        anchors = np.arange(len(moving), count)
        pairs = np.concatenate([number[units.apart], _all_pairs(anchors)])
        # Cannot-links inside the rest of a cluster do not occur: of two such units one is loose.
        known = Constraints.from_pairs(count, cannot_link=pairs)
        graph = ConstrainedGraph.from_graph(situation.graph.contract(local), known)
        return cls(situation, local, member, np.arange(count) >= len(moving), graph)

    def with_inertia(self, units: Units) -> LocalProblem:
        """Tie every old unit that may move to the rest of its cluster, so that only a clear gain moves it."""
        home = np.full(self.situation.k, -1)
        anchors = np.flatnonzero(self.anchored)
        home[units.labels[self.member[anchors]]] = anchors
        target = home[units.labels[self.member]]
        held = np.flatnonzero(~self.anchored & (units.n_old[self.member] > 0) & (target >= 0))
        if len(held) == 0:
            return self
        ties = INERTIA * self.graph.degrees[held]
        m = self.graph.n_vertices
        extra = sp.csr_array((ties, (held, target[held])), shape=(m, m))
        weights = sp.csr_array(self.graph.weights + extra + extra.T)
        weights.sort_indices()
        kind = self.graph.weights.indices.dtype
        weights.indptr, weights.indices = weights.indptr.astype(kind), weights.indices.astype(kind)
        return replace(self, graph=replace(self.graph, weights=weights))

    def feasible(self, labels: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
        """Labels for the units that have none (-1) so that nothing is violated; and the number of labels.

        A unit goes to the cluster with the strongest connection among those that constraints allow. If there is none,
        other units make room; if they cannot, it starts a new cluster.
        """
        waiting = np.flatnonzero(labels < 0)
        k = self.situation.k
        labels = labels.astype(np.int32)
        if len(waiting) == 0:
            return labels, k
        most = k + len(waiting)
        filled = labels.copy()
        order = waiting[np.argsort(-self.graph.vertex_weights[waiting], kind="stable")]
        complete(self.graph, filled, order.astype(np.int32), most)
        needed = max(int(filled.max()) + 1, k)
        if needed == k:
            return filled, k
        fewest = max(k, len(find_clique(conflict_graph(self.graph))))
        for n_clusters in range(fewest, needed):
            found = self._made_room(filled, n_clusters, rng)
            if found is not None:
                return found, n_clusters
        return filled, needed

    def _made_room(self, filled: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray | None:
        """Labels below k that violate nothing, if others that may move can make room; the rests of clusters stay."""
        start = np.where(filled < k, filled, 0)
        found = repair(self.graph, start, k, rng)
        if self.graph.violated(found) > 0:
            answer = find_colouring(self.graph, k, rng)
            if answer.colours is None:
                return None
            found = answer.colours
        # A colouring may exchange the clusters' numbers; their rests say which is which.
        anchors = np.flatnonzero(self.anchored)
        number = np.full(k, -1)
        number[found[anchors]] = filled[anchors]
        number[number < 0] = np.setdiff1d(np.arange(k), number)
        return number[found].astype(np.int32)

    def improved(
        self, labels: np.ndarray, k: int, influence: float, rng: np.random.Generator, options: SearchOptions | None
    ) -> np.ndarray:
        """The labels after a local search, or a full one, that keeps every constraint."""
        used, labels = np.unique(labels, return_inverse=True)
        labels, k = labels.astype(np.int32), len(used)
        if k == 1:
            return used[labels]
        problem = ManyClusters.of(self.graph, k)
        if influence > 0:
            relations = neighbour_relations(self.situation.graph, self.situation.constraints, self.local)
            problem = with_influence(problem, influence, relations)
        problem = problem.at_full_price()
        solutions = [improve(problem, labels)]
        if options is not None:
            solutions = [*search(problem, rng, options, [labels]), *solutions]
        best = next((found for _, found in solutions if self.graph.violated(found) == 0), labels)
        return used[self._renumbered(best, labels, k)]

    def _renumbered(self, found: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
        """The same clusters, numbered by the rests of clusters in them, otherwise by their overlap with those before."""
        overlap = np.bincount(found.astype(np.int64) * k + labels, self.graph.vertex_weights, k * k).reshape(k, k)
        anchors = np.flatnonzero(self.anchored)
        overlap[found[anchors], labels[anchors]] += 2 * overlap.sum()
        from scipy.optimize import linear_sum_assignment

        return linear_sum_assignment(overlap, maximize=True)[1][found]


def _all_pairs(members: np.ndarray) -> np.ndarray:
    first, second = np.triu_indices(len(members), 1)
    return np.stack([members[first], members[second]], axis=1)
