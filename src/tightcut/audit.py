"""The price of each constraint: how much the cut would fall without it.

A wrong pair forces a border through the middle of a cluster, which is expensive; a correct one mostly agrees with the
graph. So the most expensive constraints are the ones to check.

Every price is a saving that was found: the search without the pair starts from the present clustering, which remains
feasible, so no price is negative. Both cuts are the best that were found, not proven optima. All pairs are estimated by
local search, O(n + edges) each, from the present clustering and from the one without any constraints; the most
expensive are then solved again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from tightcut.clustering.arguments import as_generator, check_points, read_labels
from tightcut.clustering.cluster import cluster
from tightcut.clustering.result import PRICING, Audit, ConstraintPrice
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut
from tightcut.problem.two_colouring import link_graph
from tightcut.search.feasibility import fill_empty
from tightcut.search.influence import neighbour_relations, with_influence
from tightcut.search.k_way import ManyClusters
from tightcut.search.magnitudes import scaled_graph
from tightcut.search.options import Progress
from tightcut.search.partition import merge_must_links
from tightcut.search.problem import improve
from tightcut.search.signed_graph import SignedGraph
from tightcut.search.two_way import TwoClusters, project_to_spins
from tightcut.utils.codes import renumber
from tightcut.utils.parallel import run_tasks
from tightcut.utils.validation import check_count


@dataclass(frozen=True)
class AuditLimits:
    """The defaults of an audit, which keep it to seconds; most are also parameters of `audit`."""

    few_clusters: int = 10  # with more, solving a problem again takes as long as the clustering
    effort: float = 0.3  # of a problem that is solved again, with few clusters; 0 with more
    n_solved: tuple[int, int] = (10, 3)  # constraints that are solved again, with few clusters and with more
    most_pairs: int = 2000  # constraints that are estimated, ...
    fewest_pairs: int = 20  # ... however large the graph is
    work: int = 20_000_000  # of all estimates; each reads all edges, pairs, and vertices in every cluster


LIMITS = AuditLimits()


def audit(
    graph: Graph,
    constraints: Constraints,
    labels: Any,
    *,
    n_solved: int | None = None,
    max_pairs: int | None = None,
    effort: float | None = None,
    influence: float = 0.0,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress | None = None,
) -> Audit:
    """The price of each constraint, most expensive first: how much the cut would fall without it.

    Parameters
    ----------
    graph : Graph
    constraints : Constraints
    labels : array-like of shape (n,)
        The present clustering. Constraints that it violates cost nothing.
    n_solved : int, optional
        Number of constraints with the largest estimates that are solved again; by default 10, or 3 with more than ten
        clusters.
    max_pairs : int, optional
        Largest number of constraints to estimate: first those that the clustering without constraints violates, then
        those whose ends are most strongly connected to other clusters. By default 2000, or on a large graph as many as
        take seconds.
    effort : float, optional
        As in `tightcut.cluster`, for each constraint that is solved again; by default 0.3 for up to ten clusters, and 0
        for more, where each constraint would take as long as the clustering itself.
    influence, n_jobs, random_state, progress
        As in `tightcut.cluster`. With `influence`, the price of a pair includes that of its effect on neighbours.

    Returns
    -------
    Audit

    Examples
    --------
    Two squares joined by one edge, and a cannot-link that is wrong:

    >>> import numpy as np
    >>> from tightcut import Constraints, Graph, cluster
    >>> from tightcut.audit import audit
    >>> square = np.ones((4, 4)) - np.eye(4)
    >>> affinity = np.kron(np.eye(2), square)
    >>> affinity[3, 4] = affinity[4, 3] = 0.5
    >>> graph = Graph.from_affinity(affinity)
    >>> pairs = Constraints.from_pairs(8, must_link=[(4, 5)], cannot_link=[(0, 1), (0, 7)])
    >>> found = cluster(graph, pairs, random_state=0)
    >>> [(row.kind, row.first, row.second, round(row.price, 3)) for row in audit(graph, pairs, found.labels)]
    [('cannot', 0, 1, 0.514), ('must', 4, 5, 0.0), ('cannot', 0, 7, 0.0)]
    """
    constraints = check_points(graph, constraints)
    present = read_labels(labels, graph)
    for name, value in (("n_solved", n_solved), ("max_pairs", max_pairs)):
        if value is not None:
            check_count(name, value, 0)
    rng = as_generator(random_state)
    n_clusters = int(present.max()) + 1
    effort = _solving_effort(n_clusters) if effort is None else effort
    n_solved = LIMITS.n_solved[n_clusters > LIMITS.few_clusters] if n_solved is None else n_solved
    if max_pairs is None:
        reads = graph.n_edges + constraints.n_pairs + n_clusters * graph.n_vertices
        max_pairs = min(LIMITS.most_pairs, max(LIMITS.fewest_pairs, LIMITS.work // reads))
    held = _holds(constraints, present)
    if n_clusters == 1 or constraints.is_empty:
        own = normalized_cut(graph, present)
        return Audit(_priced(constraints, held, {}, own), own, own)
    without = _Without(graph, scaled_graph(graph)[0], constraints, held, n_clusters, effort, influence)
    present = without.solve(without.one(None), present, int(rng.integers(2**31)))
    free = without.solve(None, None, int(rng.integers(2**31)))
    found = _searched(without, present, free, n_solved, max_pairs, rng, n_jobs, progress or (lambda *_: None))
    cuts = {row: (normalized_cut(graph, own), method) for row, (own, method) in found.items()}
    # Prices refer to the best clustering that satisfies everything, whichever search found it.
    whole = [cuts[row][0] for row, (own, _) in found.items() if _holds(constraints, own, row)]
    reference = min([normalized_cut(graph, present), *whole])
    free_cut = min([reference, normalized_cut(graph, free), *(cut for cut, _ in cuts.values())])
    return Audit(_priced(constraints, held, cuts, reference), reference, free_cut)


def _searched(
    without: _Without,
    present: np.ndarray,
    free: np.ndarray,
    n_solved: int,
    max_pairs: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    report: Progress,
) -> dict[int, tuple[np.ndarray, str]]:
    """For each examined constraint, by its row: a clustering without it, and how that was found."""
    reference = normalized_cut(without.graph, present)
    suspicion = without.suspicion(present, free)
    rows = np.flatnonzero(without.held)
    considered = np.sort(rows[np.argsort(-suspicion[rows], kind="stable")[:max_pairs]]).tolist()
    found: dict[int, tuple[np.ndarray, str]] = {}
    guesses = run_tasks(without.estimate, [(row, present, free) for row in considered], n_jobs, as_list=False)
    for step, (row, guess) in enumerate(zip(considered, guesses, strict=True)):
        report("estimate", step + 1, len(considered), reference)
        found[row] = (present, "implied") if guess is None else (guess, "estimated")
    cut = {row: normalized_cut(without.graph, guess) for row, (guess, method) in found.items() if method == "estimated"}
    top = sorted(cut, key=lambda row: (round(cut[row], 12), -suspicion[row]))[:n_solved]
    seeds = rng.integers(2**31, size=len(top)).tolist()
    tasks = [(without.one(row), found[row][0], seed) for row, seed in zip(top, seeds, strict=True)]
    solved = run_tasks(without.solve, tasks, n_jobs, as_list=False)
    for step, (row, better) in enumerate(zip(top, solved, strict=True)):
        report("solve", step + 1, len(top), reference)
        found[row] = better, "solved"
    return found


def cut_without_constraints(graph: Graph, labels: Any, random_state: Any = 0) -> float:
    """The cut into as many clusters without any constraint, found quickly from a clustering with them.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Graph
    >>> from tightcut.audit import cut_without_constraints
    >>> ring = Graph.from_affinity(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    >>> round(cut_without_constraints(ring, [0, 0, 1, 1, 0, 1]), 6)
    0.666667
    """
    present = read_labels(labels, graph)
    n_clusters = int(present.max()) + 1
    effort = _solving_effort(n_clusters)
    return cluster(graph, None, n_clusters, effort=effort, init=present, random_state=random_state).cut


def _solving_effort(n_clusters: int) -> float:
    return LIMITS.effort if n_clusters <= LIMITS.few_clusters else 0.0


@dataclass(frozen=True, eq=False)
class _Without:
    """The problem without one of its constraints. Rows are those of the must-links, then of the cannot-links."""

    graph: Graph
    scaled: Graph  # to magnitudes with which the search can compute
    constraints: Constraints
    held: np.ndarray  # the rows that the clustering satisfies; all others are always left out
    n_clusters: int
    effort: float
    influence: float

    def one(self, row: int | None) -> Constraints:
        """The constraints that the clustering satisfies, without one row."""
        keep, n_must_link = self.held & (np.arange(len(self.held)) != row), self.constraints.n_must_link
        return self.constraints.select(keep[:n_must_link], keep[n_must_link:])

    def suspicion(self, present: np.ndarray, free: np.ndarray) -> np.ndarray:
        """The order of examination: first, above 1, constraints that the unconstrained clustering violates; then strain.

        Strain is the share of an end's edge weight that goes to clusters other than its own.
        """
        strain = 1 - own_share(self.scaled, present)
        return ~_holds(self.constraints, free) + strain[_pairs(self.constraints)].max(axis=1, initial=0)

    def solve(self, constraints: Constraints | None, start: np.ndarray | None, seed: int) -> np.ndarray:
        result = cluster(
            self.scaled,
            constraints,
            self.n_clusters,
            effort=self.effort,
            influence=self.influence,
            random_state=seed,
            init=start,
        )
        return renumber(result.labels)

    def estimate(self, row: int, present: np.ndarray, free: np.ndarray) -> np.ndarray | None:
        """Labels found by local search without a row; None if the others imply it."""
        if self.n_clusters == 2 and self.influence == 0:
            return self._estimate_two(row, present, free)
        return self._estimate_many(row, [present, free])

    def _estimate_two(self, row: int, present: np.ndarray, free: np.ndarray) -> np.ndarray | None:
        # The present sides orient the units, without a colouring. Ends that remain connected keep their relation.
        n, ends = self.scaled.n_vertices, _pairs(self.constraints)[row]
        _, unit = connected_components(link_graph(n, _pairs(self.one(row))), directed=False)
        if unit[ends[0]] == unit[ends[1]]:
            return None
        sides = np.where(present == present[0], 1, -1).astype(np.int8)
        units = SignedGraph.from_graph(self.scaled).merge(unit, sides)
        starts, problem = [units.project(sides), project_to_spins(units, free == free[0])], TwoClusters(units.small)
        _, best = min((improve(problem, spins) for spins in starts), key=lambda solution: solution[0])
        return (units.lift(best) > 0).astype(np.int64)

    def _estimate_many(self, row: int, starts: list[np.ndarray]) -> np.ndarray | None:
        k, rest = self.n_clusters, self.one(row)
        reduced = merge_must_links(self.scaled, rest, k)
        first, second = reduced.unit[_pairs(self.constraints)[row]]
        is_must_link = row < self.constraints.n_must_link
        if first == second if is_must_link else reduced.small.relations[first, second] != 0:
            return None
        problem = ManyClusters.of(reduced.small, k)
        if self.influence > 0:
            problem = with_influence(problem, self.influence, neighbour_relations(self.scaled, rest, reduced.unit))
        found = [improve(problem, fill_empty(reduced.small, reduced.project(labels), k)) for labels in starts]
        _, best = min(found, key=lambda solution: solution[0])
        return best[reduced.unit].astype(np.int64) if reduced.small.violated(best) == 0 else starts[0]


def _pairs(constraints: Constraints) -> np.ndarray:
    return np.concatenate([constraints.must_link, constraints.cannot_link])


def _holds(constraints: Constraints, labels: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
    """Whether a clustering satisfies a constraint, or each of them."""
    i, j = _pairs(constraints)[rows].T
    return (labels[i] == labels[j]) == (np.arange(constraints.n_pairs)[rows] < constraints.n_must_link)


def own_share(graph: Graph, labels: np.ndarray) -> np.ndarray:
    """Share of each vertex's edge weight that stays within its cluster; 1 for isolated vertices.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Graph
    >>> from tightcut.audit import own_share
    >>> path = Graph.from_affinity(np.array([[0, 3, 0], [3, 0, 1], [0, 1, 0]]))
    >>> own_share(path, np.array([0, 0, 1])).tolist()
    [1.0, 0.75, 0.0]
    """
    own = graph.ties_within(labels)
    return np.divide(own, graph.degrees, out=np.ones(graph.n_vertices), where=graph.degrees > 0)


def _priced(
    constraints: Constraints, held: np.ndarray, cuts: dict[int, tuple[float, str]], reference: float
) -> tuple[ConstraintPrice, ...]:
    """The price of every constraint, relative to the best clustering that satisfies all of them."""
    prices, ends = [], _pairs(constraints).tolist()
    beliefs = np.concatenate([constraints.must_link_belief, constraints.cannot_link_belief]).tolist()
    for row, ((i, j), belief) in enumerate(zip(ends, beliefs, strict=True)):
        cut, method = cuts.get(row, (reference, "skipped" if held[row] else "violated"))
        # Differences in the last digits are rounding errors.
        price = reference - cut if reference - cut > 1e-9 * reference else 0.0
        kind = "must" if row < constraints.n_must_link else "cannot"
        prices.append(ConstraintPrice(kind, i, j, belief, price, reference - price, method))
    return tuple(sorted(prices, key=lambda own: (-own.price, PRICING.index(own.method))))
