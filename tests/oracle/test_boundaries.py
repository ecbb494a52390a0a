"""Steps between two of many clusters: against all ways to move the free vertices, and never worse on any graph."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from toys import naive_cut, nearest_neighbour_graph

from tightcut import Constraints, Graph, kernels
from tightcut.search import boundaries
from tightcut.search.boundaries import move_boundaries
from tightcut.search.constrained_graph import ConstrainedGraph


def problem(n, k, seed, n_pairs=0):
    rng = np.random.default_rng(seed)
    graph = nearest_neighbour_graph(n, seed)
    labels = rng.permutation(np.arange(n) % k).astype(np.int32)
    pairs = rng.permutation(n)[: 2 * n_pairs].reshape(-1, 2)
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return graph, ConstrainedGraph.from_graph(graph, Constraints.from_pairs(n, pairs[same], pairs[~same])), labels


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("limit", [1, 20, 10_000])
def test_never_worse_and_pairs_stay_where_they_are(k, seed, limit, monkeypatch):
    monkeypatch.setattr(boundaries, "LIMITS", replace(boundaries.LIMITS, movable=limit))
    graph, own, labels = problem(120, k, seed, n_pairs=8)
    before = labels.copy()
    moved = move_boundaries(own, labels, k)
    np.testing.assert_array_equal(labels, before)
    assert naive_cut(graph, moved) <= naive_cut(graph, labels) * (1 + 1e-12)
    related = np.diff(own.relations.indptr) > 0
    np.testing.assert_array_equal(moved[related], labels[related])
    assert np.bincount(moved, minlength=k).min() > 0


def test_two_shuffled_vertices_are_put_back():
    blocks = np.kron(np.eye(3), np.ones((6, 6))) + 0.01 - np.eye(18) * 1.01
    graph = Graph.from_affinity(blocks)
    labels = np.repeat(np.arange(3), 6).astype(np.int32)
    anchors = Constraints.from_pairs(18, must_link=[(3, 4), (9, 10), (15, 16)])
    own = ConstrainedGraph.from_graph(graph, anchors)
    wrong = labels.copy()
    wrong[[0, 6]] = [1, 0]
    np.testing.assert_array_equal(move_boundaries(own, wrong, 3), labels)


def test_boundaries_that_gain_nothing_end_the_sweep(monkeypatch):
    """Eight cliques in a ring are cut at their best: of the pairs of neighbours only the first few are tried."""
    weights = np.kron(np.eye(8), np.ones((5, 5))) - np.eye(40)
    ends = np.arange(8) * 5
    weights[ends, np.roll(ends, 1)] = weights[np.roll(ends, 1), ends] = 0.5
    labels, tried = np.repeat(np.arange(8), 5).astype(np.int32), []

    def nothing(*task):
        tried.append(task[-2:])
        return []

    monkeypatch.setattr(boundaries, "_moved_boundary", nothing)
    own = ConstrainedGraph.from_graph(Graph.from_affinity(weights), Constraints.from_pairs(40))
    np.testing.assert_array_equal(move_boundaries(own, labels, 8), labels)
    assert boundaries.LIMITS.idle <= len(tried) < 8


@pytest.mark.parametrize("seed", range(8))
def test_a_graph_whose_vertices_are_all_free(seed):
    """No cluster is emptied, and the result lies between the start and the optimum."""
    graph, own, labels = problem(9, 2, seed)
    moved = move_boundaries(own, labels, 2)
    every = [np.array(side) for side in itertools.product([0, 1], repeat=9) if 0 < sum(side) < 9]
    best = min(naive_cut(graph, side) for side in every)
    assert best <= naive_cut(graph, moved) + 1e-12 <= naive_cut(graph, labels) + 2e-12


@pytest.mark.parametrize("limit", [0, 10, 1000])
def test_near_boundary_takes_the_boundary_and_no_related_vertex(limit):
    graph, own, labels = problem(100, 3, 1, n_pairs=10)
    w = graph.weights
    found = kernels.near_boundary(w.indptr, w.indices, labels, 0, 2, own.relations.indptr, limit)
    assert set(labels[found]) <= {0, 2}
    related = np.diff(own.relations.indptr) > 0
    assert not related[found].any()
    dense = w.toarray() > 0
    boundary = [v for v in range(100) if labels[v] in (0, 2) and (dense[v] & (labels == 2 - labels[v])).any()]
    assert set(np.array(boundary)[~related[boundary]]) <= set(found.tolist())
    assert found.tolist() == sorted(set(found.tolist()))
