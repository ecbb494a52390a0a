"""k > 2 clusters: every constraint satisfied where a colouring is found; soft, or an explanation, otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, pairwise

import numpy as np

from tightcut.constraints import Constraints
from tightcut.constraints.two_colouring import link_graph, nearest_path, symmetric
from tightcut.exceptions import InconsistentConstraintsError, Link
from tightcut.graph import Graph
from tightcut.relaxation.objective import normalized_cut
from tightcut.search.constrained_graph import PartitionGraph
from tightcut.search.feasibility import Colourability, fill_empty, find_colouring, repair
from tightcut.search.influence import neighbour_relations, with_influence
from tightcut.search.multilevel import DEVICE_LIMIT
from tightcut.search.multiway import Prices, Solution, improve, search_partition, select
from tightcut.search.release import release_pairs, satisfied
from tightcut.search.search import SearchOptions

QUICK = SearchOptions(effort=0, n_init=2, n_jobs=1)
HALVINGS = 10  # prices on the way from satisfying everything to ignoring everything


@dataclass(frozen=True)
class Reduced:
    """The graph with must-linked points merged, and the vertex of each point."""

    graph: PartitionGraph
    component: np.ndarray

    def project(self, labels: np.ndarray) -> np.ndarray:
        """Labels of points as labels of vertices; a vertex takes the label of its last point."""
        vertex_labels = np.empty(self.graph.n_vertices, np.int32)
        vertex_labels[self.component] = labels
        return vertex_labels


def hard_partition(
    graph: Graph,
    constraints: Constraints,
    k: int,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray] | None = None,
    influence: float = 0.0,
) -> np.ndarray:
    """Labels of k clusters that satisfy every constraint, or InconsistentConstraintsError."""
    reduced = merge_must_links(graph, constraints, k, options.device)
    starts = [fill_empty(reduced.graph, reduced.project(labels), k) for labels in known or []]
    if not any(reduced.graph.violated(labels) == 0 for labels in starts):
        answer = find_colouring(reduced.graph, k, rng, options.effort)
        if answer.colours is None:
            raise explain(constraints, reduced, answer, k)
        starts.append(fill_empty(reduced.graph, answer.colours, k))
    searched, prices = reduced.graph, Prices.prohibitive(reduced.graph, k)
    if influence > 0:
        spoken_for = neighbour_relations(graph, constraints, reduced.component)
        searched, prices = with_influence(searched, prices, influence, spoken_for)
    population = search_partition(searched, k, rng, options, known=starts, prices=prices)
    return _repaired(reduced.graph, searched, population, k, rng, prices)[0][1][reduced.component]


def soft_partition(
    graph: Graph,
    constraints: Constraints,
    k: int,
    max_violations: float,
    rng: np.random.Generator,
    options: SearchOptions,
    *,
    known: list[np.ndarray] | None = None,
    influence: float = 0.0,
    fewest: bool = False,
) -> np.ndarray:
    """Labels of k clusters with at most `max_violations` units of violated belief and the smallest cut found.

    The price of a violation is halved from the cut of the strictest clustering down to nothing; the best allowed
    clustering met is then improved with the pairs it satisfies held fixed. With `fewest`, too many violations are no
    error.
    """
    whole = PartitionGraph.from_graph(graph, constraints)
    candidates = [fill_empty(whole, labels.astype(np.int32), k) for labels in known or []]
    try:
        candidates.append(hard_partition(graph, constraints, k, rng, options, known=known).astype(np.int32))
    except InconsistentConstraintsError as error:
        # Contradictions are no error here: what counts is the violated belief of the best candidate.
        if error.best_labels is not None:
            candidates.append(fill_empty(whole, error.best_labels.astype(np.int32), k))
    candidates += [labels for _, labels in search_partition(whole, k, rng, options, known=candidates)]
    if max_violations > 0:
        candidates += _price_path(whole, k, max_violations, rng, options, candidates)
    judged = [(constraints.violations(labels).belief, whole.cut(labels, k), labels) for labels in candidates]
    allowed = [row for row in judged if row[0] <= max_violations + 1e-12]
    if not allowed and not fewest:
        least = min(judged, key=lambda row: row[:2])
        raise InconsistentConstraintsError(
            message=(
                f"No {k} clusters with at most {max_violations:g} units of belief violated were found; the best "
                f'violate {least[0]:g}. Raise max_violations or effort, or pass on_inconsistent="soft".'
            ),
            proven=False,
            best_labels=least[2],
        )
    chosen = min(allowed, key=lambda row: row[1]) if allowed else min(judged, key=lambda row: row[:2])
    labels = chosen[2]
    if allowed:
        starts = [labels, min(allowed, key=lambda row: row[:2])[2]]
        quickly = partial(_quickly, graph, k, rng)
        released = [release_pairs(graph, constraints, start, max_violations, quickly) for start in starts]
        labels = min(released, key=partial(normalized_cut, graph))
    held = satisfied(constraints, labels)
    return hard_partition(graph, held, k, rng, options, known=[labels], influence=influence)


def _quickly(
    graph: Graph, k: int, rng: np.random.Generator, constraints: Constraints, labels: np.ndarray
) -> np.ndarray:
    return hard_partition(graph, constraints, k, rng, QUICK, known=[labels])


def _price_path(
    whole: PartitionGraph,
    k: int,
    max_violations: float,
    rng: np.random.Generator,
    options: SearchOptions,
    strict: list[np.ndarray],
) -> list[np.ndarray]:
    """Clusterings searched for at falling prices of a violated unit, judged by cut within the allowance."""
    price, full = max(whole.cut(labels, k) for labels in strict), Prices.prohibitive(whole, k).full
    modest = replace(options, effort=options.effort / 3, progress=None)
    latest, path = strict[-4:], []
    for step in range(HALVINGS + 1):
        options.report("tradeoff", step, HALVINGS + 1, price)
        prices = Prices(price * 2.0**-step if step < HALVINGS else 0.0, full, max_violations)
        latest = [labels for _, labels in search_partition(whole, k, rng, modest, known=latest, prices=prices)[:6]]
        path += latest
    options.report("tradeoff", HALVINGS + 1, HALVINGS + 1, price)
    return path


def merge_must_links(graph: Graph, constraints: Constraints, k: int, device: str = "cpu") -> Reduced:
    """Contract the must-linked components; their cannot-links become relations of belief 1."""
    witness = constraints.conflict_witness()
    if witness is not None:
        raise InconsistentConstraintsError(witness)
    count, component = constraints.components()
    if count < k:
        raise InconsistentConstraintsError(
            message=f"The must-links leave {count} separate sets of points, too few for {k} non-empty clusters."
        )
    component = graph.numbered_nearby(component)
    pairs = Constraints.from_pairs(count, cannot_link=component[constraints.cannot_link])
    return Reduced(PartitionGraph.from_graph(_contracted(graph, component, device), pairs), component)


def _contracted(graph: Graph, component: np.ndarray, device: str) -> Graph:
    if device == "cpu" or graph.n_vertices <= DEVICE_LIMIT:
        return graph.contract(component)
    from tightcut.gpu.coarsening import contract_graph

    return contract_graph(graph, component)


def explain(constraints: Constraints, reduced: Reduced, answer: Colourability, k: int) -> InconsistentConstraintsError:
    """The error for cannot-links that need more than k clusters, with a clique of k + 1 components if there is one."""
    labels = answer.attempt[reduced.component]
    if answer.clique:
        witness, members = clique_witness(constraints, reduced.component, answer.clique)
        message = (
            f"{k} clusters cannot satisfy the constraints: the {k + 1} points {', '.join(map(str, members))} must all "
            "be in different clusters. Remove a cannot-link among them, ask for more clusters, or pass "
            'on_inconsistent="soft" to violate as few pairs as possible.'
        )
        return InconsistentConstraintsError(witness, message, proven=True, best_labels=labels)
    if answer.proven:
        message = (
            f"{k} clusters cannot satisfy the cannot-links: an exhaustive search found no assignment. Remove some pairs, "
            'ask for more clusters, or pass on_inconsistent="soft" to violate as few pairs as possible.'
        )
        return InconsistentConstraintsError((), message, proven=True, best_labels=labels)
    message = (
        f"No assignment to {k} clusters that satisfies every constraint was found, nor ruled out. Raise effort, ask for "
        'more clusters, or pass on_inconsistent="soft". The best attempt is in .best_labels.'
    )
    return InconsistentConstraintsError((), message, proven=False, best_labels=labels)


def clique_witness(constraints: Constraints, component: np.ndarray, clique: list[int]) -> tuple[list[Link], list[int]]:
    """The cannot-links between the components of a clique, and the must-links that join their ends.

    Also returns one point of each component, for the message.
    """
    ends = component[constraints.cannot_link]
    anchor = dict.fromkeys(clique, -1)
    links: list[Link] = []
    must = symmetric(link_graph(constraints.n_points, constraints.must_link))
    for a, b in combinations(clique, 2):
        row = int(np.argmax(((ends == (a, b)) | (ends == (b, a))).all(axis=1)))
        i, j = constraints.cannot_link[row].tolist()
        for point in (i, j):
            home = int(component[point])
            if anchor[home] < 0:
                anchor[home] = point
            elif anchor[home] != point:
                path = nearest_path(must, anchor[home], np.array([point]))
                links += [("must", p, q) for p, q in pairwise(path)]
        links.append(("cannot", i, j))
    return list(dict.fromkeys(links)), sorted(anchor.values())


def _repaired(
    merged: PartitionGraph,
    searched: PartitionGraph,
    population: list[Solution],
    k: int,
    rng: np.random.Generator,
    prices: Prices,
) -> list[Solution]:
    """Replace the solutions that violate something by repaired ones, and keep those that violate nothing."""
    result = []
    for score, labels in population:
        if merged.violated(labels) == 0:
            result.append((score, labels))
            continue
        mended = fill_empty(merged, repair(merged, labels, k, rng), k)
        if merged.violated(mended) == 0:
            result.append(improve_feasible(searched, mended, k, prices))
    return select(result)


def improve_feasible(graph: PartitionGraph, labels: np.ndarray, k: int, prices: Prices) -> Solution:
    return improve(graph, labels, k, Prices.flat(prices.full))
