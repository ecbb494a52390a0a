"""Two-colouring of must-links and cannot-links, and short proofs that none exists.

Two clusters can satisfy all constraints if and only if the points have a colouring in which must-links join equal
colours and cannot-links opposite ones. The double cover has vertices (v, 0) and (v, 1); a must-link keeps the side, a
cannot-link changes it. A colouring exists if and only if no (v, 0) is connected to (v, 1), and a path between the two
is a closed walk with an odd number of cannot-links: the contradiction. Side s of vertex v is numbered v + s n.

Colouring is O(n + m). Witness searches are breadth-first, and fewer on large graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from tightcut.exceptions import Link
from tightcut.problem.pairs import pair_keys
from tightcut.utils.codes import first_places


@dataclass(frozen=True)
class WitnessLimits:
    """How long to look for a shorter witness: a few tenths of a second."""

    searches: int = 32  # each from another start
    visited: int = 15_000_000  # vertices and arcs, by all searches together; one search is always made


LIMITS = WitnessLimits()


@dataclass(frozen=True, eq=False)
class TwoColouring:
    """The two-colouring of the constraint graph, or the proof that it has none.

    Parameters
    ----------
    component : ndarray of shape (n,)
        Connected component of each point in the graph of all constraints, numbered from 0.
    colour : int8 ndarray of shape (n,)
        0 or 1. In each component the smallest point has colour 0; both colours may be swapped. All 0 in components
        that contradict themselves.
    consistent : bool
        Whether two clusters can satisfy every constraint.
    witness : list of (kind, i, j) or None
        If inconsistent, a closed walk with an odd number of cannot-links that visits no point twice.
    """

    component: np.ndarray
    colour: np.ndarray
    consistent: bool
    witness: list[Link] | None = None

    @property
    def n_components(self) -> int:
        return int(self.component.max()) + 1 if len(self.component) else 0


def two_colour(n_points: int, must_link: np.ndarray, cannot_link: np.ndarray) -> TwoColouring:
    """Give points that must-links join the same colour, and points that cannot-links join opposite colours.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.problem.two_colouring import two_colour
    >>> result = two_colour(5, np.array([[0, 2]]), np.array([[2, 3]]))
    >>> result.component.tolist(), result.colour.tolist(), result.consistent
    ([0, 1, 0, 0, 2], [0, 0, 0, 1, 0], True)
    """
    cover = double_cover(n_points, must_link, cannot_link)
    count, label = connected_components(cover, directed=False)
    same_side, other_side = label[:n_points], label[n_points:]
    key = np.minimum(same_side, other_side)
    smallest = first_places(key, count)
    used = smallest < n_points
    component, smallest = (np.cumsum(used) - 1)[key], smallest[used]
    contradictory = same_side == other_side
    colour = (same_side != same_side[smallest[component]]).astype(np.int8)
    if not contradictory.any():
        return TwoColouring(component, colour, True)
    candidates = np.unique(cannot_link[contradictory[cannot_link[:, 0]], 0])
    witness = odd_walk(n_points, must_link, cannot_link, cover, candidates)
    return TwoColouring(component, colour, False, witness)


def odd_walk(
    n_points: int, must_link: np.ndarray, cannot_link: np.ndarray, cover: sp.csr_array, candidates: np.ndarray
) -> list[Link]:
    """A short closed walk with an odd number of cannot-links, the shortest one if there are few candidates.

    Every such walk contains a cannot-link, so it passes through the first end of one. The candidates are first ends;
    each must be in one component of the double cover with its other side.
    """
    repeated = pair_given_as_both(n_points, must_link, cannot_link)
    if repeated is not None:
        return repeated
    graph = symmetric(cover)

    def search(vertex: int) -> list[int]:
        return _first_odd_cycle(nearest_path(graph, vertex, np.array([vertex + n_points])), n_points)

    nodes = _shortest(search, candidates, graph, at_least=4)
    points = [node % n_points for node in nodes]
    crosses = np.diff(np.array(nodes) // n_points) != 0
    steps = zip(crosses.tolist(), pairwise(points), strict=True)
    return _canonical([("cannot" if cross else "must", i, j) for cross, (i, j) in steps])


def must_link_witness(
    n_points: int, must_link: np.ndarray, cannot_link: np.ndarray, conflicts: np.ndarray
) -> list[Link]:
    """A short must-link path between the ends of a cannot-link, closed by that cannot-link.

    `conflicts` holds the cannot-links whose ends are joined by must-links; there must be one.
    """
    repeated = pair_given_as_both(n_points, must_link, cannot_link)
    if repeated is not None:
        return repeated
    graph = symmetric(link_graph(n_points, must_link))

    def search(vertex: int) -> list[int]:
        return nearest_path(graph, vertex, conflicts[conflicts[:, 0] == vertex, 1])

    path = _shortest(search, np.unique(conflicts[:, 0]), graph, at_least=3)
    links = [("must", i, j) for i, j in pairwise(path)]
    return [*links, ("cannot", path[-1], path[0])]


def pair_given_as_both(n_points: int, must_link: np.ndarray, cannot_link: np.ndarray) -> list[Link] | None:
    """The contradiction of length two: one pair that is both a must-link and a cannot-link."""
    both = np.isin(pair_keys(cannot_link, n_points), pair_keys(must_link, n_points))
    if not both.any():
        return None
    i, j = sorted(cannot_link[np.argmax(both)].tolist())
    return [("must", i, j), ("cannot", j, i)]


def link_graph(n_nodes: int, links: np.ndarray) -> sp.csr_array:
    """Each link once, as an n by n sparse matrix."""
    return sp.csr_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(n_nodes, n_nodes))


def double_cover(n_points: int, must_link: np.ndarray, cannot_link: np.ndarray) -> sp.csr_array:
    """The 2n by 2n graph whose must-links stay on their side and whose cannot-links cross over."""
    across = np.array([0, n_points])
    links = [must_link, must_link + n_points, cannot_link + across, cannot_link + across[::-1]]
    return link_graph(2 * n_points, np.concatenate(links))


def symmetric(graph: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(graph + graph.T)


def nearest_path(graph: sp.csr_array, source: int, targets: np.ndarray) -> list[int]:
    """A shortest path from the source to the closest target; at least one must be reachable."""
    order, predecessor = breadth_first_order(graph, source, directed=True, return_predecessors=True)
    # Breadth-first order is order of distance, so the first target in it is a closest one.
    rank = np.full(graph.shape[0], len(order))
    rank[order] = np.arange(len(order))
    path = [int(targets[np.argmin(rank[targets])])]
    while path[-1] != source:
        path.append(int(predecessor[path[-1]]))
    return path[::-1]


def _shortest(
    search: Callable[[int], list[int]], candidates: np.ndarray, graph: sp.csr_array, at_least: int
) -> list[int]:
    """The shortest result over evenly spread candidates, as many as the budget allows."""
    affordable = LIMITS.visited // (graph.nnz + graph.shape[0])
    count = min(len(candidates), LIMITS.searches, max(affordable, 1))
    chosen = candidates[np.linspace(0, len(candidates) - 1, count).astype(np.int64)].tolist()
    best = search(chosen[0])
    for vertex in chosen[1:]:
        if len(best) <= at_least:
            break
        best = min(best, search(vertex), key=len)
    return best


def _first_odd_cycle(path: list[int], n_points: int) -> list[int]:
    """The part of a path from (v, 0) to (v, 1) between both visits of the first point that it visits twice.

    A shortest path visits no node twice, so the second visit is on the other side of the point: a closed odd walk.
    """
    seen: dict[int, int] = {}
    for position, node in enumerate(path):
        point = node % n_points
        if point in seen:
            return path[seen[point] : position + 1]
        seen[point] = position
    raise ValueError("The path never reaches the other side of a point that it has visited.")


def _canonical(walk: list[Link]) -> list[Link]:
    """Start at the smallest point, or, with a single cannot-link, at its smaller end and close with it."""
    cannot = [position for position, (kind, _, _) in enumerate(walk) if kind == "cannot"]
    last = cannot[0] if len(cannot) == 1 else min(range(len(walk)), key=lambda position: walk[position][2])
    walk = walk[last + 1 :] + walk[: last + 1]
    if len(cannot) == 1 and walk[-1][1] < walk[-1][2]:
        backwards = _reverse(walk)
        return backwards[1:] + backwards[:1]
    return _reverse(walk) if len(cannot) > 1 and walk[-1][1] < walk[0][2] else walk


def _reverse(walk: Iterable[Link]) -> list[Link]:
    return [(kind, j, i) for kind, i, j in reversed(list(walk))]
