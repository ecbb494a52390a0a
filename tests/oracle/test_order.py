"""The order of the rows has no say in the cut of a small problem, nor does a pair that is satisfied already."""

import numpy as np
import pytest
from strategies import random_pairs
from toys import nearest_neighbour_graph

from tightcut import Constraints, Graph, cluster


def problem(seed):
    """A nearest-neighbour graph of 10 to 60 points, and pairs of clusters of which some points are moved."""
    rng = np.random.default_rng([seed, 5])
    n, k = int(rng.integers(10, 61)), (2, 3, 5)[seed % 3]
    graph = nearest_neighbour_graph(n, seed)
    truth = cluster(graph, n_clusters=k, effort=0, random_state=9).labels
    truth = np.where(rng.random(n) < 0.1, rng.integers(k, size=n), truth)
    must, cannot = random_pairs(rng, n, int(rng.integers(1, max(2, n // 5))), truth)
    return rng, graph, must, cannot, k


def smallest_cut(graph, must, cannot, k):
    return cluster(graph, Constraints.from_pairs(graph.n_vertices, must, cannot), k, random_state=0, n_jobs=1)


@pytest.mark.slow
def test_the_cut_does_not_depend_on_the_order_of_the_rows():
    changed = []
    for seed in range(24):
        rng, graph, must, cannot, k = problem(seed)
        cuts = [smallest_cut(graph, must, cannot, k).cut]
        for _ in range(2):
            order = rng.permutation(graph.n_vertices)
            place = np.argsort(order)
            turned = Graph.from_affinity(graph.weights[order][:, order])
            cuts.append(smallest_cut(turned, place[must], place[cannot], k).cut)
        if max(cuts) > min(cuts) * (1 + 1e-9) + 1e-12:
            changed.append((seed, max(cuts) / min(cuts)))
    assert changed == []


@pytest.mark.slow
def test_a_pair_that_is_satisfied_already_leaves_the_cut():
    larger = []
    for seed in range(24):
        rng, graph, must, cannot, k = problem(seed)
        before = smallest_cut(graph, must, cannot, k)
        pair = rng.choice(graph.n_vertices, (1, 2), replace=False)
        same = before.labels[pair[0, 0]] == before.labels[pair[0, 1]]
        must, cannot = (np.vstack([must, pair]), cannot) if same else (must, np.vstack([cannot, pair]))
        after = smallest_cut(graph, must, cannot, k)
        if after.cut > before.cut * (1 + 1e-9) + 1e-12:
            larger.append((seed, after.cut / before.cut))
    assert larger == []
