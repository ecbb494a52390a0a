"""Volumes that differ by sixteen orders of magnitude and more: the guarantee holds all the same."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tightcut import Constraints, Graph, cluster, tradeoff_path
from tightcut.relaxation.penalty_path import PenaltyPath
from tightcut.search import large, large_problem
from tightcut.search.options import QUICK
from tightcut.search.two_way import bipartition


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


LIGHT_POINT = Graph.from_affinity(np.ones((3, 3)), [1e17, 1e17, 1])
KEPT_APART = Constraints.from_pairs(3, must_link=[(0, 1)], cannot_link=[(0, 2), (1, 2)])


def test_a_side_lighter_than_the_rounding_error_of_the_other_has_a_cut():
    assert bipartition(LIGHT_POINT, KEPT_APART, np.random.default_rng(0), QUICK).history == (2.0,)


@pytest.mark.filterwarnings("ignore:FISTA stopped")
@pytest.mark.parametrize(
    "settings",
    [{"max_violations": 1}, {"max_violations": "fewest"}, {"method": "paper", "max_violations": 1, "effort": 0}],
)
def test_violations_are_limited_beside_a_point_sixteen_orders_lighter(settings):
    found = cluster(LIGHT_POINT, KEPT_APART, 2, random_state=0, **settings)
    assert found.labels.tolist() == [0, 0, 1]
    assert found.cut == 2


def test_the_tradeoff_beside_a_point_sixteen_orders_lighter():
    front = tradeoff_path(LIGHT_POINT, KEPT_APART, random_state=0)
    assert [(found.violations.belief, found.cut) for found in front] == [(0, 2), (2, 4e-17)]


@pytest.mark.filterwarnings("error:invalid value")
@pytest.mark.parametrize("seed", range(20))
def test_tradeoffs_of_vertices_that_differ_by_sixteen_orders(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    graph = Graph.from_affinity(np.ones((n, n)), 10.0 ** rng.choice([-9, 0, 9, 18], size=n))
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(i)])
    constraints = Constraints.from_pairs(n, pairs[:1], pairs[1:3])
    front = tradeoff_path(graph, constraints, effort=0.3, random_state=0)
    assert all(before.cut > after.cut for before, after in pairwise(front))
    assert all(np.isfinite(found.cut) for found in front)


def test_the_history_of_a_large_search_beside_a_point_many_orders_heavier(monkeypatch):
    """A find of the fuzzer: sums over both sides lost the lighter one, and the search reported a negative cut."""
    monkeypatch.setattr(large, "LIMITS", replace(large.LIMITS, units=3))
    monkeypatch.setattr(large_problem, "LEVEL_LIMIT", 3)
    weights = [1e-122, 1e-62, 1e-182, 1e-41, 1e-122, 1e6, 1e-82, 1e-55, 1e-67, 1e-73, 1e-14]
    graph = Graph.from_affinity(np.ones((11, 11)), weights)
    pairs = Constraints.from_pairs(11, must_link=[(1, 8), (4, 7)], cannot_link=[(0, 10), (1, 6)])
    for seed in range(5):
        found = cluster(graph, pairs, random_state=seed, effort=0)
        assert all(0 <= cut < np.inf for cut in found.history)


def test_a_vector_whose_spread_is_its_rounding_error_can_be_perturbed():
    """A find of the fuzzer: the perturbed vector was constant, and has no level set."""
    graph, pairs = Graph.from_affinity([[0, 1], [1, 0]]), Constraints.from_pairs(2)
    for seed in range(10):
        path = PenaltyPath(graph, pairs, np.random.default_rng(seed))
        found = path.descend_perturbed(np.array([2.4e15, 2.4e15 + 0.5]), 0.0)
        assert found.side.sum() == 1
