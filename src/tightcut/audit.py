"""The price of each constraint: how much the cut would fall without it.

A wrong pair forces a border through the middle of a cluster, which is expensive; a correct one mostly agrees with the
graph. So the most expensive constraints are the ones to check.

Every price is a saving that was found: the search for a clustering without the pair starts from the present one, which
stays feasible, so no price is negative. Both cuts are the best found, not proven smallest. All pairs are estimated by
local search, O(n + edges) each, from the present clustering and from the one without any constraints; the most
expensive are then solved again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from tightcut.clustering.cluster import as_generator, check_points, cluster, read_labels
from tightcut.clustering.result import PRICING, Audit, ConstraintPrice, number_by_appearance
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
from tightcut.search.population import improve
from tightcut.search.signed_graph import SignedGraph
from tightcut.search.soft_release import satisfied
from tightcut.search.two_way import TwoClusters, vote
from tightcut.utils.parallel import run_tasks
from tightcut.utils.validation import check_count

SOLVING_EFFORT, FEW_CLUSTERS = 0.3, 10
# An estimate looks at every edge, every pair, and every vertex in every cluster: this limits all of them to some seconds.
MOST_PAIRS, FEWEST_PAIRS, WORK = 2000, 20, 20_000_000


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
    """How much the cut would fall without each constraint, most expensive first.

    Parameters
    ----------
    graph : Graph
    constraints : Constraints
    labels : array-like of shape (n,)
        The present clustering. Constraints that it violates cost nothing.
    n_solved : int, optional
        How many of the constraints with the largest estimates are solved again; by default 10, or 3 with more than ten
        clusters.
    max_pairs : int, optional
        The largest number of constraints to estimate: first those that the clustering without constraints violates,
        then those whose ends are connected to other clusters most strongly. By default 2000, or as many as take seconds
        on a large graph.
    effort : float, optional
        As in `tightcut.cluster`, for each constraint that is solved again; by default 0.3 for up to ten clusters, and 0
        for more, where a larger effort takes as long as the clustering itself for each constraint.
    influence, n_jobs, random_state, progress
        As in `tightcut.cluster`. With `influence` a price is the fall of the cut when the pair and its effect on
        neighbours are left out.

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
    n_solved = (10 if n_clusters <= FEW_CLUSTERS else 3) if n_solved is None else n_solved
    if max_pairs is None:
        max_pairs = min(
            MOST_PAIRS, max(FEWEST_PAIRS, WORK // (graph.n_edges + constraints.n_pairs + n_clusters * graph.n_vertices))
        )
    without = _Without(scaled_graph(graph)[0], satisfied(constraints, present), n_clusters, effort, influence)
    if n_clusters == 1 or constraints.is_empty:
        own = normalized_cut(graph, present)
        return Audit(_rows(constraints, present, {}, 0.0), own, own)
    present = without.solve(without.held, present, int(rng.integers(2**31)))
    free = without.solve(None, None, int(rng.integers(2**31)))
    suspicion = without.suspicion(present, free)
    chosen = set(sorted(suspicion, key=lambda pair: -suspicion[pair])[:max_pairs])
    considered = [pair for pair in suspicion if pair in chosen]
    reference = normalized_cut(graph, present)
    report = progress or (lambda *_: None)
    found: dict[_Pair, tuple[np.ndarray, str]] = {}
    guesses = run_tasks(without.estimate, [(pair, present, free) for pair in considered], n_jobs, as_list=False)
    for step, (pair, guess) in enumerate(zip(considered, guesses, strict=True)):
        report("estimate", step + 1, len(considered), reference)
        found[pair] = (present, "implied") if guess is None else (guess, "estimated")
    cut = {pair: normalized_cut(graph, guess) for pair, (guess, _) in found.items()}
    candidates = [pair for pair in found if found[pair][1] == "estimated"]
    top = sorted(candidates, key=lambda pair: (round(cut[pair], 12), -suspicion[pair]))[:n_solved]
    seeds = rng.integers(2**31, size=len(top)).tolist()
    tasks = [(without.constraints(pair), found[pair][0], seed) for pair, seed in zip(top, seeds, strict=True)]
    solved = run_tasks(without.solve, tasks, n_jobs, as_list=False)
    for step, (pair, better) in enumerate(zip(top, solved, strict=True)):
        report("solve", step + 1, len(top), reference)
        found[pair] = better, "solved"
    return _priced(graph, constraints, present, free, found)


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
    return SOLVING_EFFORT if n_clusters <= FEW_CLUSTERS else 0.0


_Pair = tuple[str, int]  # kind, and place among the held constraints of that kind


@dataclass(frozen=True, eq=False)
class _Without:
    """The problem with one of the held constraints left out."""

    graph: Graph
    held: Constraints
    n_clusters: int
    effort: float
    influence: float

    def constraints(self, pair: _Pair) -> Constraints:
        kind, place = pair
        masks = {"must": np.ones(self.held.n_must_link, bool), "cannot": np.ones(self.held.n_cannot_link, bool)}
        masks[kind][place] = False
        return self.held.select(masks["must"], masks["cannot"])

    def suspicion(self, present: np.ndarray, free: np.ndarray) -> dict[_Pair, float]:
        """Which constraints to look at first: above 1 those that the unconstrained clustering violates, then by strain.

        Strain is the share of an end's edge weight that goes to clusters other than its own.
        """
        strain = 1 - own_share(self.graph, present)
        result: dict[_Pair, float] = {}
        for kind, pairs in (("must", self.held.must_link), ("cannot", self.held.cannot_link)):
            opposed = (free[pairs[:, 0]] == free[pairs[:, 1]]) != (kind == "must")
            values = opposed + strain[pairs].max(axis=1, initial=0)
            result |= {(kind, place): value for place, value in enumerate(values.tolist())}
        return result

    def solve(self, constraints: Constraints | None, start: np.ndarray | None, seed: int) -> np.ndarray:
        result = cluster(
            self.graph,
            constraints,
            self.n_clusters,
            effort=self.effort,
            influence=self.influence,
            random_state=seed,
            init=start,
        )
        return number_by_appearance(result.labels)

    def estimate(self, pair: _Pair, present: np.ndarray, free: np.ndarray) -> np.ndarray | None:
        """Labels found by local search without the pair; None if the others imply it."""
        rest = self.constraints(pair)
        ends = (self.held.must_link if pair[0] == "must" else self.held.cannot_link)[pair[1]]
        if self.n_clusters == 2 and self.influence == 0:
            return _estimate_two(self.graph, rest, ends, present, free)
        return _estimate_many(self.graph, rest, pair[0], ends, [present, free], self.influence)


def _estimate_two(
    graph: Graph, rest: Constraints, ends: np.ndarray, present: np.ndarray, free: np.ndarray
) -> np.ndarray | None:
    # The present sides orient the units: no colouring is needed. Ends that stay connected keep their relation.
    links = np.concatenate([rest.must_link, rest.cannot_link])
    _, unit = connected_components(link_graph(graph.n_vertices, links), directed=False)
    if unit[ends[0]] == unit[ends[1]]:
        return None
    sides = np.where(present == present[0], 1, -1).astype(np.int8)
    units = SignedGraph.from_graph(graph).merge(unit, sides)
    starts, problem = [units.project(sides), vote(units, free == free[0])], TwoClusters(units.small)
    _, best = min((improve(problem, spins) for spins in starts), key=lambda solution: solution[0])
    return (units.lift(best) > 0).astype(np.int64)


def _estimate_many(
    graph: Graph, rest: Constraints, kind: str, ends: np.ndarray, starts: list[np.ndarray], influence: float
) -> np.ndarray | None:
    k = int(starts[0].max()) + 1
    reduced = merge_must_links(graph, rest, k)
    first, second = reduced.unit[ends]
    if first == second if kind == "must" else reduced.small.relations[first, second] != 0:
        return None
    problem = ManyClusters.of(reduced.small, k)
    if influence > 0:
        problem = with_influence(problem, influence, neighbour_relations(graph, rest, reduced.unit))
    found = [improve(problem, fill_empty(reduced.small, reduced.project(labels), k)) for labels in starts]
    _, best = min(found, key=lambda solution: solution[0])
    return best[reduced.unit].astype(np.int64) if reduced.small.violated(best) == 0 else starts[0]


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
    weights = graph.weights
    sources = np.repeat(np.arange(graph.n_vertices), np.diff(weights.indptr))
    inside = labels[sources] == labels[weights.indices]
    own = np.bincount(sources[inside], weights.data[inside], graph.n_vertices)
    return np.divide(own, graph.degrees, out=np.ones(graph.n_vertices), where=graph.degrees > 0)


def _priced(
    graph: Graph,
    constraints: Constraints,
    present: np.ndarray,
    free: np.ndarray,
    found: dict[_Pair, tuple[np.ndarray, str]],
) -> Audit:
    """Prices against the best clustering found that satisfies everything, whichever search found it."""
    held = satisfied(constraints, present)
    reference = normalized_cut(graph, present)
    cuts: dict[tuple[str, int, int], tuple[float, str]] = {}
    for (kind, place), (labels, method) in found.items():
        i, j = (held.must_link if kind == "must" else held.cannot_link)[place].tolist()
        cuts[kind, i, j] = normalized_cut(graph, labels), method
        if (labels[i] == labels[j]) == (kind == "must"):
            reference = min(reference, cuts[kind, i, j][0])
    free_cut = min([reference, normalized_cut(graph, free), *(cut for cut, _ in cuts.values())])
    return Audit(_rows(constraints, present, cuts, reference), reference, free_cut)


def _rows(
    constraints: Constraints,
    present: np.ndarray,
    cuts: dict[tuple[str, int, int], tuple[float, str]],
    reference: float,
) -> tuple[ConstraintPrice, ...]:
    rows = []
    for kind, pairs, beliefs in (
        ("must", constraints.must_link, constraints.must_link_belief),
        ("cannot", constraints.cannot_link, constraints.cannot_link_belief),
    ):
        for (i, j), belief in zip(pairs.tolist(), beliefs.tolist(), strict=True):
            violated = (present[i] == present[j]) != (kind == "must")
            cut, method = cuts.get((kind, i, j), (reference, "violated" if violated else "skipped"))
            # Differences in the last digits are rounding errors.
            price = reference - cut if reference - cut > 1e-9 * reference else 0.0
            rows.append(ConstraintPrice(kind, i, j, belief, price, reference - price, method))
    return tuple(sorted(rows, key=lambda row: (-row.price, PRICING.index(row.method))))
