"""The least violated belief by the solver, against enumeration; and that nothing but proofs is lost without it."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from strategies import random_graph, random_pairs
from toys import k_partition_table, partitions_into

from tightcut import COSC, Constraints, Graph, InconsistentConstraintsError, cluster, knn_affinity
from tightcut.search import cpsat as exact
from tightcut.search import soft
from tightcut.search.problem import Partition

pytest.importorskip("ortools", reason="needs OR-Tools: pip install ortools")


@pytest.fixture
def without_solver(monkeypatch):
    monkeypatch.setattr(soft, "solver_installed", lambda: False)


def torn_problem(seed, k):
    """Four to eight points, more pairs than can be satisfied, beliefs of 1, of tenths, or any."""
    rng = np.random.default_rng([seed, k])
    n = int(rng.integers(k + 1, 9))
    pairs = random_pairs(rng, n, 2 * n, cannot_share=rng.choice([0.4, 0.8]))
    draw = [np.ones, lambda m: rng.integers(1, 11, m) / 10, lambda m: rng.uniform(0.01, 1, m)][seed % 3]
    return random_graph(rng, n), Constraints.from_pairs(n, *pairs, *map(draw, map(len, pairs)))


def least_belief(graph, constraints, k):
    return k_partition_table(graph, constraints, partitions_into(graph.n_vertices, k))[1].min()


def noisy_iris(seed=0, n_pairs=200, share=0.2):
    points, classes = load_iris(return_X_y=True)
    rng = np.random.default_rng(seed)
    must, cannot = random_pairs(rng, len(points), n_pairs, classes)
    wrong, fooled = rng.random(len(must)) < share, rng.random(len(cannot)) < share
    kinds = np.concatenate([must[~wrong], cannot[fooled]]), np.concatenate([cannot[~fooled], must[wrong]])
    return Graph.from_affinity(knn_affinity(points)), Constraints.from_pairs(len(points), *kinds)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_fewest_are_the_fewest_and_proven(k):
    torn = 0
    for seed in range(30):
        graph, constraints = torn_problem(seed, k)
        least = least_belief(graph, constraints, k)
        found = cluster(graph, constraints, k, max_violations="fewest", effort=0.3, random_state=0)
        assert found.violated_belief == pytest.approx(least, abs=1e-9), f"seed {seed}"
        assert found.violated_belief_bound == pytest.approx(least, abs=1e-6), f"seed {seed}"
        assert found.violated_belief_bound <= least + 1e-9, f"seed {seed}: the bound is none"
        assert len(np.unique(found.labels)) == k
        torn += least > 0
    assert torn >= 15, "the sample must hold contradictions"


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_solver_alone_from_any_labels(k):
    for seed in range(30):
        graph, constraints = torn_problem(seed, k)
        least = least_belief(graph, constraints, k)
        labels = np.random.default_rng(seed).permutation(np.arange(graph.n_vertices) % k)
        found = exact.fewest_violations(constraints, k, labels)
        assert len(np.unique(found.labels)) == k
        assert constraints.violations(found.labels).belief == pytest.approx(least, abs=1e-6), f"seed {seed}"
        assert least - 1e-6 <= found.bound <= least + 1e-9, f"seed {seed}"


@pytest.mark.slow
def test_a_limit_is_refused_only_if_that_is_proven():
    for seed in range(12):
        graph, constraints = torn_problem(seed, 3)
        least = least_belief(graph, constraints, 3)
        if least == 0:
            continue
        found = cluster(graph, constraints, 3, max_violations=least, effort=0, random_state=0)
        assert found.violated_belief <= least + 1e-9
        with pytest.raises(InconsistentConstraintsError, match="must be violated") as caught:
            cluster(graph, constraints, 3, max_violations=least - 1e-3, effort=0, random_state=0)
        assert caught.value.proven
        assert caught.value.reason == "limit"
        assert caught.value.needed == pytest.approx(least)


@pytest.mark.slow
def test_many_wrong_pairs_on_iris():
    graph, constraints = noisy_iris()
    fewest = cluster(graph, constraints, 3, max_violations="fewest", random_state=0)
    assert fewest.violated_belief == fewest.violated_belief_bound
    again = cluster(graph, constraints, 3, max_violations=fewest.violated_belief, effort=0, random_state=1)
    assert again.violated_belief == fewest.violated_belief
    with pytest.raises(InconsistentConstraintsError) as caught:
        cluster(graph, constraints, 3, max_violations=fewest.violated_belief - 1, effort=0, random_state=0)
    assert caught.value.proven


def test_the_solver_mends_what_the_search_missed(monkeypatch):
    """A search that returns its start: the solver's labels are taken, and what they satisfy is kept."""
    graph, constraints = torn_problem(0, 3)
    least, start = least_belief(graph, constraints, 3), np.arange(graph.n_vertices) % 3

    def lazy(problem, known):
        return Partition(min([start, *known], key=problem.belief))

    assert constraints.violations(start).belief > least
    monkeypatch.setattr(soft, "_within", lazy)
    found = cluster(graph, constraints, 3, max_violations="fewest", random_state=0)
    assert found.violated_belief == pytest.approx(least)


@pytest.mark.usefixtures("without_solver")
def test_without_the_solver_no_bound_is_known():
    graph, constraints = torn_problem(0, 3)
    found = cluster(graph, constraints, 3, max_violations="fewest", random_state=0)
    assert found.violated_belief > 0
    assert found.violated_belief_bound is None
    with pytest.raises(InconsistentConstraintsError) as caught:
        cluster(graph, constraints, 3, max_violations=0.01, random_state=0)
    assert not caught.value.proven


def test_the_bound_is_the_same_every_time_and_known_where_it_is_plain():
    graph, constraints = torn_problem(3, 3)
    first, second = (cluster(graph, constraints, 3, max_violations="fewest", random_state=0) for _ in range(2))
    assert first.violated_belief_bound == second.violated_belief_bound
    np.testing.assert_array_equal(first.labels, second.labels)
    assert cluster(graph, n_clusters=3, random_state=0).violated_belief_bound == 0
    alone = cluster(graph, constraints, 1, max_violations="fewest")
    assert alone.violated_belief_bound == alone.violated_belief == constraints.cannot_link_belief.sum()


def test_the_estimator_and_large_models(monkeypatch):
    graph, constraints = noisy_iris()
    model = COSC(3, affinity="precomputed", max_violations="fewest", effort=0, random_state=0)
    model.fit(graph.weights, constraints=constraints)
    assert 0 < model.violated_belief_bound_ <= model.violated_belief_
    monkeypatch.setattr(exact, "LARGEST", 10)
    assert model.fit(graph.weights, constraints=constraints).violated_belief_bound_ == 0
