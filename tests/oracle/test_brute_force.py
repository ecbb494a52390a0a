"""The default solver against all partitions of small constrained graphs."""

import numpy as np
import pytest
from strategies import all_partitions, best_cut, partition_table, random_constraints, random_graph

from tightcut import Constraints, Graph, InconsistentConstraintsError, cluster

HARD, SOFT, TORN = 400, 40, 60


def random_problem(seed, consistent=None, beliefs=False, max_vertices=10):
    """A graph of 3 to 10 vertices, sparse (often disconnected) or dense, either criterion, with up to 8 pairs."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, max_vertices + 1))
    criterion = ["degree", "ones", rng.uniform(0.2, 3, n)][seed % 3]
    graph = random_graph(rng, n, rng.choice([0.25, 0.5, 0.9]), criterion)
    planted = rng.permutation(np.arange(n) < rng.integers(1, n))
    if consistent is None:
        consistent = rng.random() < 0.7
    return graph, random_constraints(rng, n, int(rng.integers(0, 9)), planted if consistent else None, beliefs)


def same(cut, optimum):
    return abs(cut - optimum) <= 1e-9 * max(1.0, optimum)


@pytest.mark.slow
def test_hard_constraints_always_hold_and_the_cut_is_almost_always_optimal():
    solved, missed, impossible, disconnected = 0, [], 0, 0
    for seed in range(HARD):
        graph, constraints = random_problem(seed)
        cut, violated = partition_table(graph, constraints, all_partitions(graph.n_vertices))
        optimum = best_cut(cut, violated == 0)
        if optimum == np.inf:
            impossible += 1
            with pytest.raises(InconsistentConstraintsError):
                cluster(graph, constraints, random_state=0)
            continue
        disconnected += graph.components()[0] > 1
        found = cluster(graph, constraints, random_state=0)
        assert found.n_violations == 0, f"seed {seed}"
        assert len(np.unique(found.labels)) == 2, f"seed {seed}"
        assert found.cut >= optimum * (1 - 1e-9) - 1e-12, f"seed {seed}: no partition is that good"
        solved += 1
        if not same(found.cut, optimum):
            missed.append((seed, found.cut / optimum))
    assert min(solved - 300, impossible - 30, disconnected - 60) >= 0, "the sample must hold all kinds of problems"
    rate = 1 - len(missed) / solved
    assert rate >= 0.98, f"optimal in {rate:.1%} of {solved}; missed (seed, ratio): {missed}"


@pytest.mark.slow
@pytest.mark.parametrize("beliefs", [False, True])
def test_soft_constraints_stay_within_the_limit(beliefs):
    solved, missed = 0, []
    for seed in range(SOFT // 2):
        graph, constraints = random_problem(1000 + seed, consistent=True, beliefs=beliefs, max_vertices=9)
        cut, violated = partition_table(graph, constraints, all_partitions(graph.n_vertices))
        for limit in (1, 2, 3):
            optimum = best_cut(cut, violated <= limit + 1e-12)
            found = cluster(graph, constraints, max_violations=limit, random_state=0)
            assert found.violations.belief <= limit + 1e-9, f"seed {seed}, limit {limit}"
            assert found.cut >= optimum * (1 - 1e-9) - 1e-12, f"seed {seed}, limit {limit}"
            solved += 1
            if not same(found.cut, optimum):
                missed.append((seed, limit, found.cut / optimum))
    rate = 1 - len(missed) / solved
    assert rate >= 0.9, f"optimal in {rate:.1%} of {solved}; missed (seed, limit, ratio): {missed}"


@pytest.mark.slow
def test_inconsistent_constraints_are_violated_as_little_as_possible():
    solved, missed = 0, []
    for seed in range(TORN):
        graph, constraints = random_problem(2000 + seed, consistent=False, beliefs=seed % 2 == 0, max_vertices=8)
        _, violated = partition_table(graph, constraints, all_partitions(graph.n_vertices))
        if violated.min() == 0:
            continue
        found = cluster(graph, constraints, max_violations="fewest", random_state=0)
        assert len(np.unique(found.labels)) == 2, f"seed {seed}"
        assert found.violations.belief >= violated.min() - 1e-9
        solved += 1
        if found.violations.belief > violated.min() + 1e-9:
            missed.append((seed, found.violations.belief, violated.min()))
    assert solved >= 15, "the sample must hold contradictions"
    rate = 1 - len(missed) / solved
    assert rate >= 0.95, f"least belief violated in {rate:.1%} of {solved}; missed (seed, found, least): {missed}"


@pytest.mark.parametrize("options", [{"max_violations": 1}, {"max_violations": "fewest"}])
def test_must_links_that_join_everything_are_violated_as_little_as_possible(options):
    graph = Graph.from_affinity(np.ones((3, 3)))
    constraints = Constraints.from_pairs(3, must_link=[(0, 1), (1, 2)])
    found = cluster(graph, constraints, random_state=0, **options)
    assert found.n_violations == 1
    assert found.cut == pytest.approx(1.5)


def test_soft_where_consistent_is_hard():
    for seed in range(30):
        graph, constraints = random_problem(3000 + seed, consistent=True)
        hard = cluster(graph, constraints, random_state=0)
        soft = cluster(graph, constraints, max_violations="fewest", random_state=0)
        assert soft.n_violations == 0
        np.testing.assert_array_equal(hard.labels, soft.labels)
