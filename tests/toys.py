"""Small graphs on which everything can be checked by hand, and all partitions of small sets.

Every method is expected to survive every one of these graphs with every number of clusters.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag
from scipy.spatial.distance import cdist

from tightcut import Graph


def path(n=6):
    return np.eye(n, k=1) + np.eye(n, k=-1)


def cycle(n=7):
    return np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)


def star(n=7):
    weights = np.zeros((n, n))
    weights[0, 1:] = weights[1:, 0] = 1
    return weights


def complete(n=6):
    return np.ones((n, n)) - np.eye(n)


def bridge(n=4):
    """Two cliques joined by one edge."""
    weights = block_diag(complete(n), complete(n))
    weights[n - 1, n] = weights[n, n - 1] = 1
    return weights


def grid(rows=3, columns=4):
    return np.kron(np.eye(rows), path(columns)) + np.kron(path(rows), np.eye(columns))


def cliques(*sizes):
    """Cliques with no edge between them."""
    return block_diag(*(complete(size) for size in sizes))


def edge_with_isolated_vertices(n=5):
    weights = np.zeros((n, n))
    weights[1, 3] = weights[3, 1] = 1
    return weights


def geometric(n=10, seed=0, radius=0.45):
    """Random points of the unit square, joined if they are close, more strongly if they are closer."""
    distance = cdist(*[np.random.default_rng(seed).random((n, 2))] * 2)
    return np.where((distance < radius) & ~np.eye(n, dtype=bool), np.exp(-(distance**2) / radius**2), 0)


def uneven(n=7):
    """A cycle whose weights range from 1e-8 to 1e8."""
    return cycle(n) * np.logspace(-8, 8, n)[np.add.outer(np.arange(n), np.arange(n)) % n]


AFFINITIES = {
    "path": path(),
    "cycle": cycle(),
    "star": star(),
    "complete": complete(),
    "bridge": bridge(),
    "grid": grid(),
    "two cliques": cliques(4, 4),
    "many components": cliques(2, 3, 1, 2, 1),
    "single edge": path(2),
    "isolated vertices": edge_with_isolated_vertices(),
    "no edge": np.zeros((5, 5)),
    "single vertex": np.zeros((1, 1)),
    "geometric": geometric(),
    "bridge times 1e-8": 1e-8 * bridge(3),
    "bridge times 1e8": 1e8 * bridge(3),
    "uneven": uneven(),
}


def toy(name, vertex_weights="degree"):
    return Graph.from_affinity(AFFINITIES[name], vertex_weights)


def nearest_neighbour_graph(n, seed=0, n_neighbors=6):
    """A symmetrised nearest-neighbour graph on random points of the plane: what users cluster, in small."""
    distance = cdist(*[np.random.default_rng(seed).random((n, 2))] * 2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)[:, : min(n_neighbors, n - 1)]
    scale = np.take_along_axis(distance, near, axis=1).mean()
    weights = np.zeros((n, n))
    np.put_along_axis(weights, near, np.exp(-((np.take_along_axis(distance, near, axis=1) / scale) ** 2)), axis=1)
    return Graph.from_affinity(np.maximum(weights, weights.T))


def partitions_into(n, k):
    """Every partition of n points into exactly k non-empty clusters once, numbered by first appearance."""
    rows = np.zeros((1, 1), np.int64)
    for _ in range(1, n):
        used = rows.max(axis=1) + 1
        choices = np.minimum(used + 1, k)
        repeated = np.repeat(rows, choices, axis=0)
        last = np.concatenate([np.arange(count) for count in choices])
        rows = np.column_stack([repeated, last])
    return rows[rows.max(axis=1) == k - 1]


def k_partition_table(graph, constraints, labels):
    """Multi-cut and violated belief of every row of `labels`, by dense formulas."""
    k = int(labels.max()) + 1
    weights = graph.weights.toarray()
    indicator = (labels[:, None, :] == np.arange(k)[:, None]).astype(float)
    inside = ((indicator @ weights) * indicator).sum(axis=2)
    leaving, volume = indicator @ weights.sum(axis=1) - inside, indicator @ graph.vertex_weights
    violated = np.zeros(len(labels))
    for (i, j), belief in zip(constraints.must_link, constraints.must_link_belief, strict=True):
        violated += belief * (labels[:, i] != labels[:, j])
    for (i, j), belief in zip(constraints.cannot_link, constraints.cannot_link_belief, strict=True):
        violated += belief * (labels[:, i] == labels[:, j])
    return (np.maximum(leaving, 0) / volume).sum(axis=1), violated


def naive_cut(graph, labels):
    """Sum over clusters of cut(C, rest) / vol(C), vertex by vertex."""
    weights, total = graph.weights.toarray(), 0.0
    for c in set(labels.tolist()):
        members = [v for v in range(len(labels)) if labels[v] == c]
        rest = [v for v in range(len(labels)) if labels[v] != c]
        total += sum(weights[i, j] for i in members for j in rest) / sum(graph.vertex_weights[i] for i in members)
    return total


def assert_clustering(graph, constraints, result, k, *, by_appearance=True):
    """What every result promises: k clusters numbered by first appearance, and a true cut and list of violations.

    With an `init` clusters have its numbers.
    """
    labels = result.labels
    assert labels.shape == (graph.n_vertices,)
    first = [labels.tolist().index(c) for c in range(k)]
    assert set(labels.tolist()) == set(range(k))
    assert first == sorted(first) or not by_appearance
    cut = naive_cut(graph, labels)
    assert abs(result.cut - cut) <= 1e-9 * max(cut, 1e-300) + 1e-14 * graph.weights.sum() / graph.vertex_weights.min()
    torn = [(i, j) for i, j in constraints.must_link.tolist() if labels[i] != labels[j]]
    joined = [(i, j) for i, j in constraints.cannot_link.tolist() if labels[i] == labels[j]]
    assert [tuple(pair) for pair in result.violations.must_link.tolist()] == torn
    assert [tuple(pair) for pair in result.violations.cannot_link.tolist()] == joined
    assert result.n_violations == len(torn) + len(joined)
    belief = sum(
        weight
        for pairs, weights, broken in (
            (constraints.must_link, constraints.must_link_belief, torn),
            (constraints.cannot_link, constraints.cannot_link_belief, joined),
        )
        for pair, weight in zip(pairs.tolist(), weights, strict=True)
        if tuple(pair) in broken
    )
    assert abs(result.violations.belief - belief) <= 1e-12


def same_partition(first, second):
    return bool((np.equal.outer(first, first) == np.equal.outer(second, second)).all())


def refines(fine, coarse):
    """Whether points together in `fine` are together in `coarse`."""
    return bool((np.equal.outer(coarse, coarse) | ~np.equal.outer(fine, fine)).all())
