"""Volumes that differ by sixteen orders of magnitude and more: the guarantee holds all the same."""

import numpy as np
import pytest

from tightcut import Constraints, Graph, cluster


@pytest.mark.parametrize("max_violations", [0, 1, "fewest"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("distance", [6.0, 7.0, 10.0])
def test_an_rbf_kernel_with_one_far_point(distance, k, max_violations):
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(size=(12, 2)), [[distance, distance]]])
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    graph = Graph.from_affinity(np.exp(-squares))
    pairs = Constraints.from_pairs(13, must_link=[(0, 1)], cannot_link=[(2, 12), (0, 5)])
    found = cluster(graph, pairs, k, max_violations=max_violations, random_state=0)
    assert len(set(found.labels)) == k
    assert found.violations.belief <= (1 if max_violations == 1 else 0)
    alone = Constraints.from_pairs(13, must_link=[(0, i) for i in range(1, 12)])
    assert cluster(graph, alone, 2, random_state=0).labels.tolist() == [0] * 12 + [1]


@pytest.mark.parametrize("seed", range(40))
def test_random_weights_over_forty_orders_of_magnitude(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    upper = np.triu(10.0 ** rng.uniform(-40, 0, (n, n)) * (rng.random((n, n)) < 0.7), 1)
    graph = Graph.from_affinity(upper + upper.T)
    truth = rng.permutation(np.arange(n) % 2)
    pairs = rng.permutation(n)[: 2 * (n // 2)].reshape(-1, 2)
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    constraints = Constraints.from_pairs(n, pairs[same], pairs[~same])
    found = cluster(graph, constraints, 2, random_state=0)
    assert found.n_violations == 0
    assert len(set(found.labels)) == 2
