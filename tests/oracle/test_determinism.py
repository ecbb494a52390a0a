"""The same seed gives the same labels, on every run and for every number of threads."""

from dataclasses import replace

import numpy as np
import pytest
from strategies import random_constraints, random_graph

from tightcut import cluster, tradeoff_path
from tightcut.search import large as large_module
from tightcut.search import large_problem, team
from tightcut.search.k_way import ManyClusters
from tightcut.search.two_way import TwoClusters


def problem(seed, n=60, n_pairs=20, density=0.15):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, n, density)
    return graph, random_constraints(rng, n, n_pairs, rng.permutation(np.arange(n) < n // 2))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"max_violations": 2}, {"method": "paper"}, {"effort": 3}])
def test_same_seed_same_labels_for_any_number_of_threads(options):
    graph, constraints = problem(0)
    runs = [cluster(graph, constraints, random_state=7, n_jobs=jobs, **options) for jobs in (None, 1, 2)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.labels, runs[0].labels)
        assert (run.cut, run.history) == (runs[0].cut, runs[0].history)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
def test_same_seed_same_labels_where_solutions_are_joined(k, monkeypatch):
    """Four threads make all solutions ahead of the joins, fewer one batch at a time."""
    for kind in (TwoClusters, ManyClusters):
        monkeypatch.setattr(kind, "direct_limit", 2000)
    graph, constraints = problem(1, n=2500, n_pairs=80, density=0.01)
    runs = [cluster(graph, constraints, k, random_state=3, n_jobs=jobs, effort=0.2) for jobs in (1, 2, 4)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.labels, runs[0].labels)
    assert runs[0].n_violations == 0


def test_generators_and_legacy_states_are_accepted_and_used():
    graph, constraints = problem(2)
    for make in (np.random.default_rng, np.random.RandomState):
        first, second = (cluster(graph, constraints, random_state=make(5)) for _ in range(2))
        np.testing.assert_array_equal(first.labels, second.labels)


def test_a_generator_is_advanced_by_use():
    graph, _ = problem(2)
    rng = np.random.default_rng(5)
    before = rng.bit_generator.seed_seq.n_children_spawned
    cluster(graph, random_state=rng)
    assert rng.bit_generator.seed_seq.n_children_spawned > before


def test_the_tradeoff_is_reproducible():
    graph, constraints = problem(3, n=25, n_pairs=8)
    first, second = (tradeoff_path(graph, constraints, random_state=1, n_jobs=jobs) for jobs in (1, 2))
    assert [(point.cut, point.violated_belief) for point in first] == [(p.cut, p.violated_belief) for p in second]
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.labels, other.labels)


def test_input_is_left_alone():
    graph, constraints = problem(4)
    before = graph.weights.toarray(), graph.vertex_weights.copy(), constraints.cannot_link.copy()
    start = np.arange(60) % 2
    cluster(graph, constraints, random_state=0, init=start)
    np.testing.assert_array_equal(graph.weights.toarray(), before[0])
    np.testing.assert_array_equal(graph.vertex_weights, before[1])
    np.testing.assert_array_equal(constraints.cannot_link, before[2])
    np.testing.assert_array_equal(start, np.arange(60) % 2)


@pytest.fixture
def large(monkeypatch):
    """Graphs of a few hundred vertices are large, and as many threads as there are take each step."""
    monkeypatch.setattr(large_module, "LIMITS", replace(large_module.LIMITS, units=100))
    monkeypatch.setattr(large_problem, "LEVEL_LIMIT", 50)
    for kind in (TwoClusters, ManyClusters):
        monkeypatch.setattr(kind, "middle", lambda self, *, large: 40)  # noqa: ARG005
    monkeypatch.setattr(team, "ROWS_OF_A_THREAD", 10)


@pytest.mark.slow
@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    "options", [{}, {"n_clusters": 2}, {"effort": 0}, {"influence": 1.0}, {"effort": 0, "max_violations": 5}]
)
def test_same_seed_same_labels_where_all_threads_take_each_step(options):
    graph, constraints = problem(4, n=600, n_pairs=60, density=0.02)
    stages = set()
    options = {
        "n_clusters": 4,
        "random_state": 3,
        "effort": 0.3,
        "progress": lambda stage, *_: stages.add(stage),
    } | options
    runs = [cluster(graph, constraints, n_jobs=jobs, **options) for jobs in (1, 2, 3, 4, 16)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.labels, runs[0].labels)
        assert run.cut == runs[0].cut
    assert runs[0].violated_belief <= options.get("max_violations", 0)
    assert ("cycle" in stages) == (options["effort"] > 0)
