"""The objective: cuts of vertex sets and partitions, and the penalised cut of the paper (its Section 2).

Cuts count every edge once. The paper counts cut, balance and violations twice; all ratios, and the penalty, are the
same.
"""

from __future__ import annotations

import numpy as np

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph

MANY_EDGES = 1_000_000  # with more, cuts are computed without a list of the edges


def cluster_cuts(graph: Graph, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each label 0, ..., k - 1 the edge weight that leaves the cluster, and the cluster's vertex weight."""
    labels = np.asarray(labels)
    n_clusters = int(labels.max()) + 1
    if graph.n_edges > MANY_EDGES:
        return _cluster_cuts_by_arcs(graph, labels.astype(np.int32), n_clusters)
    i, j, weight = graph.edges
    crossing = labels[i] != labels[j]
    weight = weight[crossing]
    leaving = np.bincount(labels[i[crossing]], weight, n_clusters) + np.bincount(
        labels[j[crossing]], weight, n_clusters
    )
    return leaving, np.bincount(labels, graph.vertex_weights, n_clusters)


def _cluster_cuts_by_arcs(graph: Graph, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """`cluster_cuts` in one pass over the arcs, without a list of the edges."""
    from tightcut import kernels

    leaving, volume, count = np.empty(k), np.empty(k), np.empty(k, np.int64)
    w = graph.weights
    kernels.measure_partition(w.indptr, w.indices, w.data, graph.vertex_weights, labels, leaving, volume, count)
    return leaving, volume


def normalized_cut(graph: Graph, labels: np.ndarray) -> float:
    """Sum over clusters of cut(C, rest) / vol(C): normalized cut for degrees as vertex weights, ratio cut for ones.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Graph
    >>> square = Graph.from_affinity(np.array([[0, 2, 0, 1], [2, 0, 1, 0], [0, 1, 0, 2], [1, 0, 2, 0]]))
    >>> round(normalized_cut(square, np.array([0, 0, 1, 1])), 6)
    0.666667
    """
    leaving, volume = cluster_cuts(graph, labels)
    if (volume <= 0).any():
        raise ValueError(f"Cluster {int(np.argmin(volume))} is empty; labels must use every number from 0 to k - 1.")
    return float((leaving / volume).sum())


def penalized_cut(graph: Graph, constraints: Constraints, side: np.ndarray, penalty: float) -> float:
    """The set function of the paper's Section 2: (cut + penalty * violated belief) / balance of one side.

    Equals the normalized cut on every partition that satisfies all constraints.
    """
    side = np.asarray(side, dtype=bool)
    i, j, weight = graph.edges
    cut = float(weight[side[i] != side[j]].sum())
    inside = float(graph.vertex_weights[side].sum())
    balance = inside * (graph.volume - inside) / graph.volume
    if not side.any() or side.all():
        raise ValueError("One side of the partition is empty; the normalized cut is defined for non-trivial ones only.")
    return (cut + penalty * constraints.violations(side.astype(np.int8)).belief) / balance


def penalty_bound(graph: Graph, constraints: Constraints, cut: float, max_violations: float = 0) -> float:
    """The penalty at and above which no minimiser of `penalized_cut` violates more than `max_violations` units of belief.

    Parameters
    ----------
    cut : float
        Normalized cut of any partition that satisfies all constraints.

    Notes
    -----
    Lemma 2.1 with degrees of belief. A partition that violates v > l units has a penalized cut above
    4 penalty v / vol(V), which reaches the given cut once penalty >= vol(V) cut / (4 v). With pairs of belief 1 the
    smallest v above l is floor(l) + 1; otherwise it is at least max(l, smallest belief).
    """
    beliefs = np.concatenate([constraints.must_link_belief, constraints.cannot_link_belief])
    if len(beliefs) == 0:
        return 0.0
    least = np.floor(max_violations) + 1 if (beliefs == 1).all() else max(max_violations, float(beliefs.min()))
    return graph.volume * cut / (4 * least)
