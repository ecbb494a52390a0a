"""Weights and beliefs of any size: prices stay finite, and cuts are those of the numbers given."""

import math
import warnings

import numpy as np
import pytest
import strategies

from tightcut import Constraints, Graph, cluster, kernels, tradeoff_path
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem.objective import normalized_cut
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.k_way import Prices
from tightcut.search.magnitudes import SPAN, Scaled, scaled_graph
from tightcut.search.spectral_k import choose_n_clusters, smallest_eigenvalues


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.filterwarnings("ignore", "FISTA stopped")
        yield


def random_graph(seed, vertex_weights="degree", factor=1.0, n=30):
    weights = strategies.random_graph(np.random.default_rng(seed), n, 0.3).weights
    return Graph.from_affinity(weights * factor, vertex_weights)


PAIRS = Constraints.from_pairs(30, [(0, 1), (2, 3)], [(0, 4), (5, 6)], [1.0, 0.5], [0.7, 0.1])


@pytest.mark.parametrize("limit", [1, "fewest"])
def test_a_cannot_link_of_tiny_belief(limit):
    pairs = Constraints.from_pairs(6, [(0, 1), (2, 3)], [(0, 1), (1, 2)], cannot_link_belief=[1, 1e-308])
    found = cluster(Graph.from_affinity(np.ones((6, 6))), pairs, 3, max_violations=limit, random_state=0, n_jobs=1)
    assert sorted(set(found.labels)) == [0, 1, 2]
    assert found.violations.belief == 1


@pytest.mark.parametrize("smallest", [1e-320, 1e-200, 1.0])
def test_prices_are_finite(smallest):
    weights = np.array([[0, 1e99, 1e-320], [1e99, 0, 1.0], [1e-320, 1.0, 0]])
    graph = Graph.from_affinity(weights, [1e99, 1e-100, 1e-150])
    pairs = Constraints.from_pairs(3, [(0, 1)], [(0, 2)], cannot_link_belief=smallest)
    problem = Scaled.of(graph, pairs)
    prices = Prices.prohibitive(ConstrainedGraph.from_graph(problem.graph, problem.constraints), 3)
    assert 0 < prices.low < math.inf
    assert 0 < prices.full < math.inf


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e308])
@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_agglomerate_ends_with_k_clusters_whatever_its_numbers_are(value, k):
    relation = np.full((9, 9), value)
    labels = kernels.agglomerate(np.ones((9, 9)), np.full(9, value), np.ones(9), relation, np.inf, k)
    assert len(np.unique(labels)) == k
    assert set(labels) <= set(range(9))


def test_ordinary_weights_are_left_as_they_are():
    graph = random_graph(0)
    problem = Scaled.of(graph, PAIRS)
    assert problem.graph is graph
    assert problem.exponent == 0
    assert problem.constraints.cannot_link_belief.tolist() == PAIRS.cannot_link_belief.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("vertex_weights", ["degree", "ones"])
@pytest.mark.parametrize("power", [-300, 250])
def test_a_power_of_two_changes_nothing_but_the_unit(power, vertex_weights, k):
    settings = {"max_violations": 0.2, "effort": 0, "random_state": 0, "n_jobs": 1}
    reports, before = [], []
    graph = random_graph(1, vertex_weights)
    plain = cluster(graph, PAIRS, k, progress=lambda *report: before.append(report[3]), **settings)
    graph = random_graph(1, vertex_weights, 2.0**power)
    moved = cluster(graph, PAIRS, k, progress=lambda *report: reports.append(report[3]), **settings)
    unit = 1.0 if vertex_weights == "degree" else 2.0**power
    assert moved.labels.tolist() == plain.labels.tolist()
    assert moved.cut == pytest.approx(plain.cut * unit)
    assert (moved.history or ()) == pytest.approx([value * unit for value in plain.history or ()])
    assert reports == pytest.approx(np.array(before) * unit, nan_ok=True)


def test_what_lies_far_below_the_largest_is_raised_and_the_rest_is_exact():
    weights = np.array([[0, 3e40, 0], [3e40, 0, 1e-200], [0, 1e-200, 0]])
    graph = Graph.from_affinity(weights)
    scaled, _ = scaled_graph(graph)
    large, small = scaled.weights[0, 1], scaled.weights[1, 2]
    assert math.frexp(large)[0] == math.frexp(3e40)[0]
    assert 2.0**-SPAN <= small / large <= 2.0 ** (2 - SPAN)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("method", ["search", "paper"])
def test_the_cut_is_that_of_the_weights_given(method, k):
    rng = np.random.default_rng(3)
    upper = np.triu(10.0 ** rng.uniform(-320, 20, (12, 12)), 1)
    graph = Graph.from_affinity(upper + upper.T)
    found = cluster(graph, None, k, method=method, effort=0, random_state=0)
    assert found.cut == normalized_cut(graph, found.labels)
    assert 0 <= found.cut <= k


def test_one_cluster_violates_no_cannot_link_however_little_it_is_believed():
    pairs = Constraints.from_pairs(3, cannot_link=[(0, 1)], cannot_link_belief=1e-12)
    graph = Graph.from_affinity(np.ones((3, 3)))
    with pytest.raises(InconsistentConstraintsError):
        cluster(graph, pairs, 1)
    assert cluster(graph, pairs, 1, max_violations=1e-3).n_violations == 1


def test_vertex_weights_that_would_make_a_cut_infinite_are_refused():
    with pytest.raises(ValueError, match="vertex_weights entry 2 is .*e-321.* at least 3e-200"):
        Graph.from_affinity(np.ones((4, 4)), [1, 1, 1e-320, 1])


def test_tiny_vertex_weights_of_vertices_with_tiny_edges():
    weights = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1e-318], [0, 0, 1e-318, 0]])
    graph = Graph.from_affinity(weights, [2, 2, 2, 1e-320])
    found = cluster(graph, Constraints.from_pairs(4, [(0, 1), (1, 2)]), random_state=0)
    assert found.labels.tolist() == [0, 0, 0, 1]
    assert found.cut == pytest.approx(100, rel=0.01)
    assert all(math.isfinite(result.cut) for result in tradeoff_path(graph, None, random_state=0))


def test_eigenvalues_are_those_of_the_weights_given():
    plain = smallest_eigenvalues(random_graph(2, "ones"), 4)
    assert smallest_eigenvalues(random_graph(2, "ones", 2.0**200), 4) == pytest.approx(plain * 2.0**200)
    tiny = smallest_eigenvalues(random_graph(2, "degree", 1e-90), 4)
    assert tiny == pytest.approx(smallest_eigenvalues(random_graph(2), 4))


def test_a_number_of_clusters_where_one_gap_is_large_and_the_others_are_none():
    """Their ratio overflowed."""
    weights = np.zeros((10, 10))
    weights[0, 1] = weights[1, 0] = 1e20
    assert choose_n_clusters(Graph.from_affinity(weights, "ones"), Constraints.from_pairs(10)).n_clusters == 9
