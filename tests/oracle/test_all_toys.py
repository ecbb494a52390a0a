"""Every toy graph with every number of clusters: k clusters come back, the constraints hold, nothing warns."""

import itertools
import warnings

import numpy as np
import pytest
from toys import AFFINITIES, assert_clustering, refines, same_partition, toy

from tightcut import Constraints, InconsistentConstraintsError, cluster

QUICK = {"effort": 0.2, "random_state": 0}
CRITERIA = ("degree", "ones")


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "FISTA stopped", RuntimeWarning)
        yield


def kinds_of_constraints(n, k):
    """No pair, one pair of each kind, must-links that leave exactly k sets, and what k clusters still allow of both."""
    free = Constraints.from_pairs(n)
    yield "none", free
    if k < n:
        yield "one must-link", Constraints.from_pairs(n, must_link=[(0, n - 1)])
        yield "k sets", Constraints.from_pairs(n, must_link=[(i, i + k) for i in range(n - k)])
    if k > 1:
        yield "one cannot-link", Constraints.from_pairs(n, cannot_link=[(0, 1)])
        yield "k apart", Constraints.from_pairs(n, cannot_link=list(itertools.combinations(range(n - k, n), 2)))


@pytest.mark.slow
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", AFFINITIES)
def test_k_clusters_come_back_and_the_constraints_hold(name, criterion):
    graph = toy(name, criterion)
    for k in range(1, graph.n_vertices + 1):
        for _, constraints in kinds_of_constraints(graph.n_vertices, k):
            result = cluster(graph, constraints, k, **QUICK)
            assert_clustering(graph, constraints, result, k)
            assert result.n_violations == 0


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"max_violations": 1}, {"max_violations": "fewest"}])
@pytest.mark.parametrize("name", AFFINITIES)
def test_k_clusters_come_back_from_soft_constraints(name, options):
    graph = toy(name)
    for k in sorted({1, min(3, graph.n_vertices), graph.n_vertices - graph.n_vertices // 3, graph.n_vertices}):
        for _, constraints in kinds_of_constraints(graph.n_vertices, k):
            result = cluster(graph, constraints, k, **{**QUICK, "effort": 0}, **options)
            assert_clustering(graph, constraints, result, k)
            assert result.violations.belief <= (1 if options["max_violations"] == 1 else 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", AFFINITIES)
def test_recursion_returns_nested_clusterings(name):
    graph = toy(name)
    for k in range(3, graph.n_vertices + 1):
        for _, constraints in kinds_of_constraints(graph.n_vertices, k):
            result = cluster(graph, constraints, k, method="paper", **{**QUICK, "effort": 0})
            assert_clustering(graph, constraints, result, k)
            assert len(result.violations.must_link) == 0
            assert [len(np.unique(labels)) for labels in result.hierarchy] == list(range(2, k + 1))
            for coarse, fine in itertools.pairwise(result.hierarchy):
                assert refines(fine, coarse)
            assert same_partition(result.hierarchy[-1], result.labels)


@pytest.mark.parametrize("method", ["search", "paper"])
@pytest.mark.parametrize("name", AFFINITIES)
def test_every_vertex_its_own_cluster(name, method):
    graph = toy(name)
    n = graph.n_vertices
    apart = Constraints.from_pairs(n, cannot_link=list(itertools.combinations(range(n), 2)))
    result = cluster(graph, apart, n, method=method, **QUICK)
    assert result.labels.tolist() == list(range(n))
    assert result.cut == pytest.approx(float((graph.degrees / graph.vertex_weights).sum()), rel=1e-9)


@pytest.mark.parametrize("name", [name for name, affinity in AFFINITIES.items() if len(affinity) > 1])
def test_what_cannot_be_done_is_an_error(name):
    graph = toy(name)
    n = graph.n_vertices
    apart = Constraints.from_pairs(n, cannot_link=list(itertools.combinations(range(n), 2)))
    for k in range(2, n):
        with pytest.raises(InconsistentConstraintsError) as caught:
            cluster(graph, apart, k, **QUICK)
        assert caught.value.proven
        assert caught.value.witness
    together = Constraints.from_pairs(n, must_link=[(0, n - 1)])
    with pytest.raises(InconsistentConstraintsError) as caught:
        cluster(graph, together, n, **QUICK)
    assert caught.value.proven


def test_one_cluster_cannot_satisfy_a_cannot_link():
    graph, apart = toy("path"), Constraints.from_pairs(6, [(0, 1)], [(2, 3)])
    with pytest.raises(InconsistentConstraintsError) as caught:
        cluster(graph, apart, 1)
    assert caught.value.proven
    assert cluster(graph, apart, 1, max_violations=1).violations.belief == 1
    assert cluster(graph, apart, 1, max_violations="fewest").violations.belief == 1


def test_more_than_one_cluster_per_vertex_is_an_error():
    for name, affinity in AFFINITIES.items():
        with pytest.raises(ValueError, match="non-empty clusters"):
            cluster(toy(name), None, len(affinity) + 1)


@pytest.mark.parametrize("method", ["search", "paper"])
@pytest.mark.parametrize(("name", "components"), [("two cliques", 2), ("many components", 5), ("no edge", 5)])
def test_components_are_not_cut_while_there_are_enough(name, components, method):
    for k in range(1, components + 1):
        assert cluster(toy(name), None, k, method=method, random_state=0).cut == 0


@pytest.mark.slow
@pytest.mark.parametrize("method", ["search", "paper"])
def test_the_scale_of_the_weights_does_not_matter(method):
    for k in range(2, 6):
        for criterion in CRITERIA:
            small, large = (
                cluster(toy(f"bridge times {scale}", criterion), None, k, method=method, random_state=0)
                for scale in ("1e-8", "1e8")
            )
            assert same_partition(small.labels, large.labels) or small.cut == pytest.approx(
                large.cut * (1e-16 if criterion == "ones" else 1), rel=1e-6
            )
