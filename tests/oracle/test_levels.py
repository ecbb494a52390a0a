"""Graphs larger than the search limit: searched at a coarser level, for any number of clusters and constraints."""

import itertools

import numpy as np
import pytest
from toys import nearest_neighbour_graph

from tightcut import Constraints, cluster
from tightcut.solvers import multiway, search


@pytest.fixture
def small_limit(monkeypatch):
    for module in (search, multiway):
        monkeypatch.setattr(module, "SEARCH_LIMIT", 40)


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
