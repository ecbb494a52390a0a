"""Graphs larger than the search limit: searched at a coarser level, for any number of clusters and constraints."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs, make_moons
from sklearn.preprocessing import StandardScaler
from toys import nearest_neighbour_graph

from tightcut import Constraints, Graph, cluster, knn_affinity
from tightcut.datasets import sample_constraints
from tightcut.solvers import multiway, search


@pytest.fixture
def small_limit(monkeypatch):
    for module in (search, multiway):
        monkeypatch.setattr(module, "SEARCH_LIMIT", 40)
        monkeypatch.setattr(module, "DIRECT_LIMIT", 60)


@pytest.fixture(scope="module")
def graph():
    return nearest_neighbour_graph(300)


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("k", [2, 3, 5])
def test_any_number_of_clusters(k, graph):
    """A coarsest level has 40 vertices per cluster or more: with several clusters, more than the limit."""
    pairs = Constraints.from_pairs(300, [(0, 1), (5, 9)], [(2, 3), (4, 7), (3, 12)])
    found = cluster(graph, pairs, k, random_state=0)
    assert found.n_violations == 0
    assert len(np.unique(found.labels)) == k
    threads = cluster(graph, pairs, k, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(found.labels, threads.labels)


@pytest.mark.usefixtures("small_limit")
def test_cannot_links_between_all_points_of_three_groups(graph):
    groups = np.arange(300).reshape(3, 100)
    apart = [pair for left, right in itertools.combinations(groups, 2) for pair in itertools.product(left, right)]
    found = cluster(graph, Constraints.from_pairs(300, cannot_link=apart), 3, random_state=0)
    assert found.n_violations == 0
    np.testing.assert_array_equal(found.labels, np.arange(300) // 100)


def bundled(name):
    """Points and classes that come with scikit-learn, 2000 or fewer."""
    if name == "moons":
        return make_moons(2000, noise=0.12, random_state=0)
    if name == "blobs":
        return make_blobs(2000, centers=5, n_features=4, cluster_std=2.2, random_state=0)
    data = load_digits() if name == "digits" else load_breast_cancer()
    return StandardScaler().fit_transform(data.data), data.target


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "k"), [("moons", 2), ("breast_cancer", 2), ("blobs", 5), ("digits", 10)])
def test_coarsening_costs_at_most_two_percent_of_the_cut(name, k, seed, monkeypatch):
    """Against the search at the graph's own level, with a limit of half the vertices."""
    X, y = bundled(name)
    graph = Graph.from_affinity(knn_affinity(X, connect=False))
    constraints = sample_constraints(y, len(y) // 50, random_state=seed)
    direct = cluster(graph, constraints, k, random_state=seed)
    for module in (search, multiway):
        monkeypatch.setattr(module, "SEARCH_LIMIT", len(y) // 2)
        monkeypatch.setattr(module, "DIRECT_LIMIT", len(y) // 2)
    stages = set()
    coarse = cluster(graph, constraints, k, random_state=seed, progress=lambda *call: stages.add(call[0]))
    assert {"coarsen", "refine"} <= stages
    assert coarse.n_violations == 0
    assert coarse.cut <= 1.02 * direct.cut
