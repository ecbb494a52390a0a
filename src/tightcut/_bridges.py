"""The shortest links that join the components of a graph over points: a minimum spanning tree over components.

Two stages, both exact and both free of an n x n array.

1. Boruvka rounds for small components: each finds its shortest link to any other one, and the links are drawn in.
   A component of s points costs s queries for its s + 1 nearest points.
2. Kruskal's algorithm for the large components that remain, which are few. A pair of components is measured only when
   the gap between their enclosing balls comes up in the order of lengths and the two are still apart.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from tightcut._search.closest import closest_pair

if TYPE_CHECKING:
    from tightcut._search import Neighbors

SMALL_COMPONENT = 64
MOST_LARGE_COMPONENTS = 2000
QUERY_ROWS = 16384
BALL_ROWS = 8192
DENSE_WORK = 1 << 20


def shortest_bridges(points: np.ndarray, labels: np.ndarray, index: Neighbors) -> np.ndarray:
    """Edges of a minimum spanning tree over the components.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
    labels : ndarray of shape (n,)
        Component of each point: 0, ..., c - 1.
    index : Neighbors
        Over `points`.

    Returns
    -------
    ndarray of shape (c - 1, 2)
        The two ends of each bridge.
    """
    stages = [np.empty((0, 2), dtype=np.intp)]
    while (small := _small_components(labels)).any():
        bridges = _without_cycles(_shortest_links(points, labels, small, index), labels)
        stages.append(bridges)
        labels = _merge(labels, bridges)
    stages.append(_spanning_tree(points, labels))
    return np.concatenate(stages)


def _small_components(labels: np.ndarray) -> np.ndarray:
    """Which components look for a link in this round; never the largest."""
    sizes = np.bincount(labels)
    limit = SMALL_COMPONENT
    if len(sizes) > MOST_LARGE_COMPONENTS:
        limit = max(limit, int(np.median(sizes)))
    small = sizes <= limit
    small[sizes.argmax()] = False
    return small


def _shortest_links(points: np.ndarray, labels: np.ndarray, small: np.ndarray, index: Neighbors) -> np.ndarray:
    """The shortest link (inside, outside) of each small component to any other, shortest first.

    Among the s + 1 nearest points to a member of a component of s points, at least one lies outside.
    """
    sizes = np.bincount(labels)
    inside = np.flatnonzero(small[labels])
    inside = inside[np.argsort(sizes[labels[inside]], kind="stable")]
    outside = np.empty_like(inside)
    lengths = np.empty(len(inside))
    for start in range(0, len(inside), QUERY_ROWS):
        rows = slice(start, start + QUERY_ROWS)
        block = inside[rows]
        distances, found = index.kneighbors(points[block], n_neighbors=int(sizes[labels[block[-1]]]) + 1)
        first = (labels[found] != labels[block, None]).argmax(axis=1)[:, None]
        lengths[rows] = np.take_along_axis(distances, first, axis=1)[:, 0]
        outside[rows] = np.take_along_axis(found, first, axis=1)[:, 0]
    order = np.lexsort((outside, inside, lengths))
    _, best = np.unique(labels[inside[order]], return_index=True)
    chosen = order[np.sort(best)]
    return np.column_stack([inside[chosen], outside[chosen]])


def _without_cycles(links: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The links, shortest first, less those that would close a cycle (a pair chosen from both sides, or a tie)."""
    joined = _disjoint_set(int(labels.max()) + 1)
    keep = [joined.merge(int(left), int(right)) for left, right in labels[links]]
    return links[keep]


def _merge(labels: np.ndarray, bridges: np.ndarray) -> np.ndarray:
    count = int(labels.max()) + 1
    left, right = labels[bridges].T
    joined = sp.coo_array((np.ones(len(bridges)), (left, right)), shape=(count, count))
    return sp.csgraph.connected_components(joined, directed=False)[1][labels]


def _spanning_tree(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Kruskal's algorithm over few components, measuring a pair only once its lower bound is due."""
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
    joined = _disjoint_set(len(members))
    measured: list[tuple[float, int, int]] = []
    bridges: list[tuple[int, int]] = []
    for bound, a, b in _pairs_by_gap(points, members):
        _accept(measured, bound, labels, joined, bridges)
        if joined.n_subsets == 1:
            break
        if not joined.connected(a, b):
            heappush(measured, _shortest_link(points, members[a], members[b]))
    _accept(measured, np.inf, labels, joined, bridges)
    return np.array(bridges, dtype=np.intp).reshape(-1, 2)


def _accept(
    measured: list[tuple[float, int, int]], bound: float, labels: np.ndarray, joined: Any, bridges: list
) -> None:
    """Draw in every measured link no longer than the bound: no pair still unmeasured can be shorter."""
    while measured and measured[0][0] <= bound:
        _, left, right = heappop(measured)
        if joined.merge(int(labels[left]), int(labels[right])):
            bridges.append((left, right))


def _pairs_by_gap(points: np.ndarray, members: list[np.ndarray]) -> Any:
    """Pairs of components with the gap between their enclosing balls, a lower bound on any link; smallest first."""
    from scipy.spatial.distance import pdist

    centres, radii = zip(*[_ball(points, own) for own in members], strict=True)
    first, second = np.triu_indices(len(members), 1)
    gaps = pdist(np.array(centres)) - np.take(radii, first) - np.take(radii, second)
    order = np.argsort(gaps, kind="stable")
    return zip(gaps[order].tolist(), first[order].tolist(), second[order].tolist(), strict=True)


def _ball(points: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Mean of some points, and how far they reach from it; read in blocks."""
    blocks = [rows[start : start + BALL_ROWS] for start in range(0, len(rows), BALL_ROWS)]
    centre = sum(points[block].sum(axis=0, dtype=np.float64) for block in blocks) / len(rows)
    return centre, max(float(np.linalg.norm(points[block] - centre, axis=1).max()) for block in blocks)


def _shortest_link(points: np.ndarray, one: np.ndarray, other: np.ndarray) -> tuple[float, int, int]:
    """Length and ends of the shortest link between two components."""
    if len(one) * len(other) * points.shape[1] <= DENSE_WORK:
        from scipy.spatial.distance import cdist

        distances = cdist(points[one], points[other])
        left, right = np.unravel_index(distances.argmin(), distances.shape)
        return float(distances[left, right]), int(one[left]), int(other[right])
    return closest_pair(points, one, other)


def _disjoint_set(count: int) -> Any:
    from scipy.cluster.hierarchy import DisjointSet

    return DisjointSet(range(count))
