"""The shortest links that join the components of a graph over points: a minimum spanning tree over components.

Two stages, both free of an n x n array.

1. Boruvka rounds for small components: each finds its shortest link to any other one, and the links are drawn in.
   A component of s points costs s queries for its s + 1 nearest points.
2. The large components that remain are few. If all distances between them are few enough, Kruskal's algorithm is
   exact: a pair of components is measured when the gap between their enclosing balls comes up in the order of lengths
   and the two are still apart. Otherwise samples of the components decide which are joined, and each bridge is
   shortened from there, going back and forth between nearest points until it grows no shorter.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from tightcut.neighbors.index import Neighbors

SMALL_COMPONENT = 64
MOST_LARGE_COMPONENTS = 2000
INDEX_ROWS = 16384
QUERY_ROWS = 1024
BLOCK_ROWS = 4096
EXACT_WORK = 1 << 31  # differences of coordinates, about two seconds
SAMPLED = 1 << 15  # points of all components together
ENDS = 8  # from which a bridge is shortened


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
    for start in range(0, len(inside), INDEX_ROWS):
        rows = slice(start, start + INDEX_ROWS)
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
    sizes = np.bincount(labels)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    n_links = (len(labels) ** 2 - int((sizes.astype(object) ** 2).sum())) // 2
    if n_links * points.shape[1] > EXACT_WORK:
        return _sampled_tree(points, members)
    return _shortest_tree(points, labels, members)


def _shortest_tree(points: np.ndarray, labels: np.ndarray, members: list[np.ndarray]) -> np.ndarray:
    """Kruskal's algorithm over few components, measuring a pair only once its lower bound is due."""
    joined = _disjoint_set(len(members))
    measured: list[tuple[float, int, int]] = []
    bridges: list[tuple[int, int]] = []
    for bound, a, b in _pairs_by_gap(points, members):
        _accept(measured, bound, labels, joined, bridges)
        if joined.n_subsets == 1:
            break
        if not joined.connected(a, b):
            lengths, ends = _nearest(points, members[a], members[b])
            place = int(lengths.argmin())
            heappush(measured, (float(lengths[place]), int(members[a][place]), int(ends[place])))
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
    blocks = _blocks(rows, BLOCK_ROWS)
    centre = sum(points[block].sum(axis=0, dtype=np.float64) for block in blocks) / len(rows)
    return centre, max(float(np.linalg.norm(points[block] - centre, axis=1).max()) for block in blocks)


def _sampled_tree(points: np.ndarray, members: list[np.ndarray]) -> np.ndarray:
    """A spanning tree that is minimal among samples of the components, its bridges shortened."""
    rng = np.random.default_rng(0)
    size = max(ENDS, SAMPLED // len(members))
    samples = [own if len(own) <= size else np.sort(rng.choice(own, size, replace=False)) for own in members]
    together = np.concatenate(samples)
    starts = np.cumsum([0, *map(len, samples[:-1])])
    lengths = np.array([_least(points, sample, together, starts) for sample in samples])
    # The tree is the same if every length grows by 1, and a length of 0 would not count as an edge.
    tree = sp.csgraph.minimum_spanning_tree(np.minimum(lengths, lengths.T) + 1.0).tocoo()
    bridges = [
        _shortened(points, samples[a], samples[b], members[a], members[b]) for a, b in zip(*tree.coords, strict=True)
    ]
    return np.array(bridges, dtype=np.intp)


def _least(points: np.ndarray, sample: np.ndarray, together: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Distance of a sample to each of the samples that start at `starts` in the list of all."""
    from scipy.spatial.distance import cdist

    least = np.empty(len(together))
    for start, rows in zip(range(0, len(together), BLOCK_ROWS), _blocks(together, BLOCK_ROWS), strict=True):
        asked = points[rows]
        parts = [cdist(points[part], asked).min(axis=0) for part in _blocks(sample, QUERY_ROWS)]
        least[start : start + BLOCK_ROWS] = np.min(parts, axis=0)
    return np.minimum.reduceat(least, starts)


def _shortened(
    points: np.ndarray, sample: np.ndarray, other_sample: np.ndarray, own: np.ndarray, other: np.ndarray
) -> tuple[int, int]:
    """A short link between two components: back and forth between nearest points, from the nearest of the samples."""
    lengths, _ = _nearest(points, sample, other_sample)
    here, there = sample[np.argsort(lengths, kind="stable")[:ENDS]], other
    shortest, bridge, own_turn = np.inf, (-1, -1), True
    while True:
        lengths, ends = _nearest(points, here, there)
        place = int(lengths.argmin())
        if lengths[place] >= shortest:
            return bridge
        shortest = float(lengths[place])
        link = int(here[place]), int(ends[place])
        bridge = link if own_turn else link[::-1]
        here, there, own_turn = np.unique(ends), own if own_turn else other, not own_turn


def _nearest(points: np.ndarray, queries: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distance from each query to its nearest among some rows, and that row."""
    from scipy.spatial.distance import cdist

    lengths, ends = np.full(len(queries), np.inf), np.full(len(queries), -1)
    for start in range(0, len(queries), QUERY_ROWS):
        part = slice(start, start + QUERY_ROWS)
        asked = points[queries[part]]
        for block in _blocks(rows, BLOCK_ROWS):
            distances = cdist(asked, points[block])
            nearest = distances.argmin(axis=1)
            found = distances[np.arange(len(nearest)), nearest]
            better = found < lengths[part]
            lengths[part] = np.where(better, found, lengths[part])
            ends[part] = np.where(better, block[nearest], ends[part])
    return lengths, ends


def _blocks(rows: np.ndarray, size: int) -> list[np.ndarray]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _disjoint_set(count: int) -> Any:
    from scipy.cluster.hierarchy import DisjointSet

    return DisjointSet(range(count))
