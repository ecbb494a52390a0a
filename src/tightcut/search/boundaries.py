"""Improve the boundary between two of many clusters by a minimum cut.

The share of clusters a and b in the objective is leaving_a / volume_a + leaving_b / volume_b. Linear in the vertices'
moves it becomes a cut plus a price per vertex, which the total-variation prox minimises for all shifts of that price at
once: its level sets are nested, and the best of them by the true objective is taken, if it is better than the present.
Only vertices near the boundary and without relations may move, so no constraint is touched and the flow stays small.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from tightcut import kernels
from tightcut.relaxation.prox import FlowProx
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.exchange import waves
from tightcut.search.options import QUICK, SearchOptions


@dataclass(frozen=True)
class BoundaryLimits:
    """Which boundaries are worth a flow."""

    movable: int = 8_000  # vertices of a boundary
    least_share: float = 0.003  # of the cut, that a boundary contributes
    # The longest boundaries say whether the others are worth it: after so many flows without this gain, no more.
    idle: int = 3
    gain: float = 0.001  # share of the cut


LIMITS = BoundaryLimits()


def move_boundaries(graph: ConstrainedGraph, labels: np.ndarray, k: int, options: SearchOptions = QUICK) -> np.ndarray:
    """Improve the boundary of each two adjacent clusters once, the longest first; the result is never worse.

    Pairs without a cluster in common do not depend on each other and are moved side by side. Where the first boundaries
    gain next to nothing, as in a graph whose solutions were refined on all levels, the others are left as they are.
    """
    labels = labels.copy()
    joint, volume = graph.joint_weights(labels, k), np.bincount(labels, graph.vertex_weights, k)
    share = joint * (1 / volume + 1 / volume[:, None])
    least = LIMITS.least_share * np.triu(share, 1).sum()
    adjacent = [pair for pair in combinations(range(k), 2) if share[pair] > least]
    groups = waves(sorted(adjacent, key=lambda pair: -joint[pair]))
    idle, latest = 0, np.inf
    for done, wave in enumerate(groups):
        leaving, volume = graph.measure(labels, k)
        cut = (leaving / volume).sum()
        idle = 0 if cut < (1 - LIMITS.gain) * latest else idle
        latest = cut
        if idle >= LIMITS.idle:
            break
        tasks = [(graph, labels, leaving, volume, *pair) for pair in wave]
        for members, moved in options.map(_moved_boundary, tasks):
            labels[members] = moved
        idle += len(wave)
        options.report("boundaries", done + 1, len(groups))
    options.report("boundaries", len(groups), len(groups))
    return labels


def _moved_boundary(
    graph: ConstrainedGraph, labels: np.ndarray, leaving: np.ndarray, volume: np.ndarray, a: int, b: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Vertices near the boundary of clusters a and b and their new labels, if a step lowers the objective."""
    w = graph.weights
    free = kernels.near_boundary(w.indptr, w.indices, labels, a, b, graph.relations.indptr, LIMITS.movable)
    if len(free) == 0:
        return []
    local, outside = _local_graph(graph, labels, free, a, b)
    weights = graph.vertex_weights[free]
    price = outside * (1 / volume[a] - 1 / volume[b]) - weights * (
        leaving[a] / volume[a] ** 2 - leaving[b] / volume[b] ** 2
    )
    target = -price / (1 / volume[a] + 1 / volume[b])
    # The last two vertices stand for the rest of a and of b: one above, one below every other.
    bound = float(local.data.sum() + np.abs(target).sum())
    f = FlowProx(local, np.append(weights, [weights.mean(), weights.mean()])).prox(np.append(target, [bound, -bound]))
    inside = np.append(labels[free] == a, [True, False])
    best = _best_level(f, local, np.append(outside, [0, 0]), np.append(weights, [0, 0]), inside, leaving, volume, a, b)
    return [] if best is None else [(free, np.where(best[:-2], a, b))]


def _local_graph(
    graph: ConstrainedGraph, labels: np.ndarray, free: np.ndarray, a: int, b: int
) -> tuple[sp.csr_array, np.ndarray]:
    """The graph of the free vertices, the rest of a and the rest of b; and the free ones' weight to other clusters."""
    n = len(free)
    number = np.full(graph.n_vertices, -1, np.int32)
    number[labels == a], number[labels == b] = n, n + 1
    number[free] = np.arange(n, dtype=np.int32)
    arcs = graph.weights[free]
    rows, columns = np.repeat(np.arange(n, dtype=np.int32), np.diff(arcs.indptr)), number[arcs.indices]
    elsewhere = columns < 0
    outside = np.bincount(rows[elsewhere], arcs.data[elsewhere], n)
    rows, columns, data = rows[~elsewhere], columns[~elsewhere], arcs.data[~elsewhere]
    ends = columns >= n
    both = np.append(rows, columns[ends]), np.append(columns, rows[ends])
    local = sp.csr_array((np.append(data, data[ends]), both), shape=(n + 2, n + 2))
    local.sort_indices()
    return local, outside


def _best_level(
    f: np.ndarray,
    local: sp.csr_array,
    outside: np.ndarray,
    weights: np.ndarray,
    inside: np.ndarray,
    leaving: np.ndarray,
    volume: np.ndarray,
    a: int,
    b: int,
) -> np.ndarray | None:
    """The level set {f > t} with the smallest objective, as a mask; None if the present set `inside` is as good."""
    n = len(f)
    order = np.argsort(-f, kind="stable")
    place = np.empty(n, local.indices.dtype)
    place[order] = np.arange(n, dtype=place.dtype)
    cut = np.cumsum(kernels.cut_changes(local.indptr, local.indices, local.data, place))
    present = kernels.total_variation(local.indptr, local.indices, local.data, inside.astype(np.float64))
    cut_change = cut - present
    outside_change = np.cumsum(outside[order]) - outside[inside].sum()
    weight_change = np.cumsum(weights[order]) - weights[inside].sum()
    volume_a, volume_b = volume[a] + weight_change, volume[b] - weight_change
    # Between the rest of a and the rest of b, with neither cluster empty.
    allowed = (volume_a > 1e-9 * volume[a]) & (volume_b > 1e-9 * volume[b])
    allowed[: place[n - 2]] = allowed[place[n - 1] :] = False
    allowed[:-1] &= f[order[:-1]] > f[order[1:]]
    at = np.flatnonzero(allowed)
    if len(at) == 0:
        return None
    value = (leaving[a] + cut_change + outside_change)[at] / volume_a[at]
    value += (leaving[b] + cut_change - outside_change)[at] / volume_b[at]
    best = int(np.argmin(value))
    if not value[best] < (leaving[a] / volume[a] + leaving[b] / volume[b]) * (1 - 1e-10):
        return None
    return place <= at[best]
