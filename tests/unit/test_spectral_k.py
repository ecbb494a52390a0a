"""How many clusters: few large ones, many small ones, and what the cannot-links leave possible."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_blobs
from sklearn.preprocessing import scale

from tightcut import COSC, Constraints, Graph, InconsistentConstraintsError, knn_affinity
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.feasibility import conflict_graph
from tightcut.search.spectral_k import _greedy_colours, choose_n_clusters, smallest_eigenvalues


def graph_of(X):
    return Graph.from_affinity(knn_affinity(np.asarray(X, float), connect=False))


def records(n_entities, noise, seed=0, n_sources=3):
    """Records of entities in several sources, each of which lists an entity once or not at all."""
    rng = np.random.default_rng(seed)
    present = rng.random((n_entities, n_sources)) < 0.74
    entity, source = np.nonzero(present)
    return rng.normal(size=(n_entities, 10))[entity] + noise * rng.normal(size=(len(entity), 10)), entity, source


def chosen(X, constraints=None, **settings):
    return choose_n_clusters(graph_of(X), constraints or Constraints.from_pairs(len(X)), **settings)


@pytest.mark.parametrize("seed", range(3))
def test_many_small_clusters_are_found_by_the_gap_between_their_links(seed):
    X, entity, _ = records(397, 0.1, seed)
    choice = chosen(X)
    n_true = len(np.unique(entity))
    assert abs(choice.n_clusters - n_true) <= 0.02 * n_true
    assert "stronger" in choice.reason


@pytest.mark.parametrize("seed", range(5))
def test_points_without_clusters_are_not_taken_for_small_clusters(seed):
    rng = np.random.default_rng(seed)
    for X in (rng.random((500, 2)), rng.normal(size=(500, 8))):
        assert chosen(X).n_clusters <= 20


@pytest.mark.parametrize("n", [10, 600])
def test_a_graph_without_edges_has_the_fewest_clusters(n):
    graph = Graph.from_affinity(sp.csr_array((n, n)))
    assert choose_n_clusters(graph, Constraints.from_pairs(n)).n_clusters == 2
    assert choose_n_clusters(graph, Constraints.from_groups([[0, 1, 2]], n)).n_clusters == 3


def test_groups_do_not_hang_and_decide_where_the_gap_does_not():
    X, entity, source = records(397, 0.25)
    choice = chosen(X, Constraints.from_groups(source))
    assert choice.at_least == np.bincount(source).max()
    assert choice.at_least <= choice.n_clusters <= 1.25 * len(np.unique(entity))
    assert "agrees best with the cannot-links" in choice.reason


def test_the_links_of_must_linked_sets_count_as_those_of_their_points():
    X, entity, _ = records(60, 0.1)
    first = [np.flatnonzero(entity == e)[:2].tolist() for e in np.unique(entity)]
    pairs = Constraints.from_pairs(len(X), [pair for pair in first if len(pair) == 2])
    assert abs(chosen(X, pairs).n_clusters - len(np.unique(entity))) <= 2


def test_few_clusters_are_found_by_the_eigengap():
    X, _ = make_blobs(300, centers=[(0, 0), (9, 0), (0, 9), (9, 9)], random_state=0)
    assert chosen(X).n_clusters == 4


def test_iris_has_two_clusters_and_the_reason_names_the_rival():
    choice = chosen(scale(load_iris().data))
    assert choice.n_clusters == 2
    assert "not certain: after 9 it is" in choice.reason


def test_it_warns_at_the_last_number_it_tried():
    X, _ = make_blobs(300, centers=[(0, 0), (9, 0), (0, 9), (9, 9)], random_state=0)
    with pytest.warns(UserWarning, match="chose 4, the largest number it tried"):
        assert chosen(X, max_clusters=4).n_clusters == 4


@pytest.mark.parametrize("seed", range(20))
def test_a_greedy_pass_uses_no_fewer_colours_than_there_must_be(seed):
    rng = np.random.default_rng(seed)
    pairs = [pair for pair in itertools.combinations(range(6), 2) if rng.random() < 0.5]
    graph = Graph.from_affinity(np.ones((6, 6)))
    conflicts = conflict_graph(ConstrainedGraph.from_graph(graph, Constraints.from_pairs(6, cannot_link=pairs)))
    every = (c for k in range(1, 7) for c in itertools.product(range(k), repeat=6))
    fewest = max(next(c for c in every if all(c[i] != c[j] for i, j in pairs))) + 1
    most = max((sum(v in pair for pair in pairs) for v in range(6)), default=0) + 1
    assert fewest <= _greedy_colours(conflicts) <= most


@pytest.mark.parametrize(
    ("value", "hint"), [("atuo", "'auto'"), ("Auto", "'auto'"), ("three", "3"), ("3", "3"), ("many", "")]
)
def test_what_was_meant_by_a_number_of_clusters(value, hint):
    with pytest.raises(
        ValueError, match=f'or "auto"; got {value!r}\\.' + (f" Did you mean {hint}\\?" if hint else "$")
    ):
        COSC(value).fit(np.eye(4))


def test_eigenvalues_that_do_not_converge_are_an_error(monkeypatch):
    monkeypatch.setattr("tightcut.search.spectral_k.largest_eigenpairs", lambda *_, **__: (np.ones(1), None))
    with pytest.raises(np.linalg.LinAlgError, match="1 of 3 eigenvalues of the graph converged"):
        smallest_eigenvalues(graph_of(np.random.default_rng(0).normal(size=(30, 2))), 3)


def test_one_set_of_points_leaves_nothing_to_choose():
    with pytest.raises(InconsistentConstraintsError, match="leave 1 separate set of points"):
        chosen(np.eye(3), Constraints.from_pairs(3, [(0, 1), (1, 2)]))
