"""Bridges, the shortest edges between components of a graph over points: a minimum spanning tree over components.

Two stages, both free of an n x n array.

1. Boruvka rounds for small components: each finds its shortest link to any other one, and the links are drawn in.
   A component of s points costs s queries for its s + 1 nearest points.
2. The large components that remain are few. Samples of them, which hold every point where all distances between them are
   few enough, decide which are joined, and each bridge is shortened from there, going back and forth between nearest points
   until it grows no shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors.distances import cross_distances, pair_half_squares
from tightcut.neighbors.points import Points, unit_scale

if TYPE_CHECKING:
    from tightcut.neighbors.tree import Neighbors

SMALL_COMPONENT = 64  # points of a component that is joined by queries for its neighbours
MOST_LARGE_COMPONENTS = 2000  # beyond these, half of the components count as small
INDEX_ROWS = 16384  # queries at a time
BLOCK_ROWS = 2048  # rows of a block of distances
WORK = 1 << 31  # differences of coordinates between samples of all components, half a second at most; ...
PER_PAIR = 16  # ... a distance costs as much as so many differences, whatever the number of features
ENDS = 8  # from which a bridge is shortened

# The scaled distance from each query to its nearest among some rows, and that row.
Nearest: TypeAlias = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def shortest_bridges(points: Points, labels: np.ndarray, index: Neighbors) -> tuple[np.ndarray, np.ndarray]:
    """Edges of a minimum spanning tree over the components.

    Parameters
    ----------
    points : ndarray or csr_array of shape (n, n_features)
    labels : ndarray of shape (n,)
        Component of each point: 0, ..., c - 1.
    index : Neighbors
        Over `points`.

    Returns
    -------
    ends : ndarray of shape (2, c - 1)
    lengths : ndarray of shape (c - 1,)
    """
    scale = unit_scale(points)
    stages = []
    while (small := _small_components(labels)).any():
        bridges = _without_cycles(_shortest_links(points, labels, small, index), labels)
        stages.append(bridges)
        labels = _merge(labels, bridges)
    bridges = np.concatenate([*stages, _spanning_tree(points, labels, scale)])
    left, right = bridges.T.copy()
    lengths = np.sqrt(2 * pair_half_squares(points, left, points, right[:, None], scale)[:, 0]) / scale
    return bridges.T, lengths


def _small_components(labels: np.ndarray) -> np.ndarray:
    """Which components look for a link in this round; never the largest."""
    sizes = np.bincount(labels)
    limit = SMALL_COMPONENT
    if len(sizes) > MOST_LARGE_COMPONENTS:
        limit = max(limit, int(np.median(sizes)))
    small = sizes <= limit
    small[sizes.argmax()] = False
    return small


def _shortest_links(points: Points, labels: np.ndarray, small: np.ndarray, index: Neighbors) -> np.ndarray:
    """The shortest link (inside, outside) of each small component to any other, shortest first.

    Among the s + 1 nearest points to a member of a component of s points, at least one lies outside.
    """
    sizes = np.bincount(labels)
    inside = np.flatnonzero(small[labels])
    inside = inside[np.argsort(sizes[labels[inside]], kind="stable")]
    outside = np.empty_like(inside)
    lengths = np.empty(len(inside))
    for rows, block in _blocks(inside, INDEX_ROWS):
        distances, found = index.kneighbors(points[block], n_neighbors=int(sizes[labels[block[-1]]]) + 1)
        first = (labels[found] != labels[block, None]).argmax(axis=1)[:, None]
        lengths[rows] = np.take_along_axis(distances, first, axis=1)[:, 0]
        outside[rows] = np.take_along_axis(found, first, axis=1)[:, 0]
    order = np.lexsort((outside, inside, lengths))
    _, best = np.unique(labels[inside[order]], return_index=True)
    chosen = order[np.sort(best)]
    return np.column_stack([inside[chosen], outside[chosen]])


def _without_cycles(links: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The links, shortest first, without those that would close a cycle (a pair chosen from both sides, or a tie)."""
    from scipy.cluster.hierarchy import DisjointSet

    joined = DisjointSet(range(int(labels.max()) + 1))
    keep = [joined.merge(left, right) for left, right in labels[links].tolist()]
    return links[keep]


def _merge(labels: np.ndarray, bridges: np.ndarray) -> np.ndarray:
    count = int(labels.max()) + 1
    joined = sp.coo_array((np.ones(len(bridges)), labels[bridges].T), shape=(count, count))
    return sp.csgraph.connected_components(joined, directed=False)[1][labels]


def _spanning_tree(points: Points, labels: np.ndarray, scale: float) -> np.ndarray:
    """A spanning tree that is minimal among samples of the components, its bridges shortened.

    Of Covertype, in forty large components, its bridges are 0.07 % longer than those of a minimum spanning tree.
    """
    nearest = partial(_nearest, points, scale)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
    samples = _samples(members, _most_sampled(points))
    together = np.concatenate(samples)
    starts = np.cumsum([0, *map(len, samples[:-1])])
    lengths = np.array([np.minimum.reduceat(nearest(together, sample)[0], starts) for sample in samples])
    # The tree depends on the order of the lengths alone, and a length of 0 would not count as an edge.
    _, ranks = np.unique(np.minimum(lengths, lengths.T), return_inverse=True)
    tree = sp.csgraph.minimum_spanning_tree(ranks.reshape(lengths.shape) + 1.0).tocoo()
    bridges = [
        _shorten(nearest, samples[a], samples[b], members[a], members[b]) for a, b in zip(*tree.coords, strict=True)
    ]
    return np.array(bridges, dtype=np.intp).reshape(-1, 2)


def _most_sampled(points: Points) -> int:
    # A difference of two sparse rows goes through the entries of both.
    n_features = 2 * points.nnz // points.shape[0] + 1 if sp.issparse(points) else points.shape[1]
    return int((WORK / (n_features + PER_PAIR)) ** 0.5)


def _samples(members: list[np.ndarray], most: int) -> list[np.ndarray]:
    """About `most` points, as many of each component or all that it has; everything, if that is no more."""
    if sum(map(len, members)) <= most:
        return members
    rng, size = np.random.default_rng(0), max(ENDS, most // len(members))
    return [own if len(own) <= size else np.sort(rng.choice(own, size, replace=False)) for own in members]


def _shorten(
    nearest: Nearest, sample: np.ndarray, other_sample: np.ndarray, own: np.ndarray, other: np.ndarray
) -> tuple[int, int]:
    """A short link between two components: back and forth between nearest points, from the nearest of the samples."""
    lengths, _ = nearest(sample, other_sample)
    here, there = sample[np.argsort(lengths, kind="stable")[:ENDS]], other
    shortest, bridge, own_turn = np.inf, (-1, -1), True
    while True:
        lengths, ends = nearest(here, there)
        place = int(lengths.argmin())
        if lengths[place] >= shortest:
            return bridge
        shortest = float(lengths[place])
        link = int(here[place]), int(ends[place])
        bridge = link if own_turn else link[::-1]
        here, there, own_turn = np.unique(ends), own if own_turn else other, not own_turn


def _nearest(points: Points, scale: float, queries: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See `Nearest`. Memory O(BLOCK_ROWS^2)."""
    lengths, ends = np.full(len(queries), np.inf), np.full(len(queries), -1)
    for part, own in _blocks(queries, BLOCK_ROWS):
        for _, block in _blocks(rows, BLOCK_ROWS):
            distances = cross_distances(points[own], points[block], scale)
            nearest = distances.argmin(axis=1)
            found = distances[np.arange(len(nearest)), nearest]
            better = found < lengths[part]
            lengths[part] = np.where(better, found, lengths[part])
            ends[part] = np.where(better, block[nearest], ends[part])
    return lengths, ends


def _blocks(rows: np.ndarray, size: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Consecutive parts of an array, each with its place."""
    return ((slice(start, start + size), rows[start : start + size]) for start in range(0, len(rows), size))
