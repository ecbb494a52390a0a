"""The graph: validation, vertex weights, contraction, subgraphs, numbering."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from strategies import random_graph

from tightcut import Constraints, cluster, knn_affinity
from tightcut.datasets import sample_constraints
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.metrics import clustering_error
from tightcut.problem.graph import Graph, validate_affinity

PATH = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


def cut(graph, mask):
    return graph.weights[mask][:, ~mask].sum()


def with_entry(value, row=0, column=1):
    matrix = PATH.copy()
    matrix[row, column] = matrix[column, row] = value
    return matrix


@pytest.mark.parametrize(
    "make", [np.asarray, np.ndarray.tolist, sp.csr_array, sp.coo_array, sp.csc_matrix, sp.lil_array]
)
def test_every_container_gives_the_same_graph(make):
    graph = Graph.from_affinity(make(PATH))
    assert isinstance(graph.weights, sp.csr_array)
    assert graph.weights.has_sorted_indices
    assert graph.weights.dtype == np.float64
    np.testing.assert_array_equal(graph.weights.toarray(), PATH)
    assert (graph.n_vertices, graph.n_edges, graph.volume) == (3, 2, 6.0)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint32, np.float16, np.float32])
def test_every_real_type_is_accepted(dtype):
    weights = Graph.from_affinity((PATH > 0).astype(dtype)).weights
    assert weights.dtype == np.float64
    assert weights.sum() == 4.0


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (with_entry(np.nan), "NaN or infinity"),
        (with_entry(np.inf), "NaN or infinity"),
        (with_entry(-0.5), r"negative value \(-0.5\).*exp"),
        (PATH[:2], r"must be square; this one has shape \(2, 3\)"),
        (PATH + 1j * PATH, "must be real"),
        (PATH * 1e300, r"largest similarity is 2e\+300.*Divide all of them by it"),
        (PATH * 1e-300, "largest similarity is 2e-300.*Divide all of them by it"),
    ],
)
def test_a_bad_matrix_is_named(make, matrix, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_affinity(make(matrix))


def test_one_dimension_is_refused():
    with pytest.raises(ValueError, match="must have two dimensions; this one has 1"):
        Graph.from_affinity([1.0, 2.0])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_asymmetry_names_the_entry(make):
    matrix = PATH.copy()
    matrix[2, 1] = 7.0
    with pytest.raises(ValueError, match="not symmetric") as caught:
        Graph.from_affinity(make(matrix))
    entries = re.findall(r"entry \((\d), (\d)\) is (\d+)", str(caught.value))
    assert sorted(entries) == [("1", "2", "1"), ("2", "1", "7")]


@given(st.integers(2, 30), st.integers(0, 2**32 - 1), st.sampled_from(["value", "missing", "slightly"]))
def test_any_single_asymmetry_is_found(n, seed, kind):
    rng = np.random.default_rng(seed)
    matrix = random_graph(rng, n, 1.0).weights.toarray() + (1 - np.eye(n))
    i, j = rng.permutation(n)[:2]
    matrix[i, j] = {"value": matrix[i, j] + 0.1, "missing": 0.0, "slightly": matrix[j, i] + 1e-3}[kind]
    with pytest.raises(ValueError, match="not symmetric"):
        Graph.from_affinity(matrix)


def test_two_entries_that_swap_places_are_no_symmetry():
    matrix = np.zeros((4, 4))
    matrix[0, 1], matrix[1, 0], matrix[2, 3], matrix[3, 2] = 1.0, 2.0, 2.0, 1.0
    with pytest.raises(ValueError, match="not symmetric"):
        Graph.from_affinity(matrix)


def test_asymmetry_by_rounding_is_averaged_away():
    matrix = PATH.copy()
    matrix[0, 1] += 1e-12
    weights = validate_affinity(matrix)
    assert (weights != weights.T).nnz == 0
    assert weights[0, 1] == pytest.approx(2.0)


@pytest.mark.parametrize("value", [5.0, -1.0])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_diagonal_is_ignored(make, value):
    np.testing.assert_array_equal(Graph.from_affinity(make(with_entry(value, 1, 1))).weights.toarray(), PATH)


def test_the_input_is_neither_changed_nor_kept():
    matrix = sp.csr_array(PATH)
    graph = Graph.from_affinity(matrix)
    matrix.data[:] = 99.0
    np.testing.assert_array_equal(graph.weights.toarray(), PATH)
    frozen = PATH.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(Graph.from_affinity(frozen).weights.toarray(), PATH)


def test_64_bit_indices_become_32_bit():
    matrix = sp.csr_array(PATH)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    weights = Graph.from_affinity(matrix).weights
    assert weights.indices.dtype == weights.indptr.dtype == np.int32
    np.testing.assert_array_equal(weights.toarray(), PATH)


def test_unsorted_and_repeated_entries_are_cleaned():
    rows, columns, data = [0, 1, 1, 1, 2, 0], [1, 2, 0, 0, 1, 2], [2.0, 1.0, 1.5, 0.5, 1.0, 0.0]
    weights = Graph.from_affinity(sp.coo_array((data, (rows, columns)), shape=(3, 3))).weights
    assert weights.nnz == 4
    assert weights.has_sorted_indices
    np.testing.assert_array_equal(weights.toarray(), PATH)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_frozen_csr_matrix_with_repeated_zero_and_diagonal_entries(index, dtype):
    data = np.array([9.0, 2.0, 1.5, 0.5, 1.0, 0.0, 1.0, 4.0], dtype)
    indices = np.array([0, 1, 0, 0, 2, 1, 1, 2], index)
    indptr = np.array([0, 2, 6, 8], index)
    for array in (data, indices, indptr):
        array.flags.writeable = False
    weights = Graph.from_affinity(sp.csr_array((data, indices, indptr), shape=(3, 3))).weights
    np.testing.assert_array_equal(weights.toarray(), PATH)
    assert (weights.nnz, weights.indices.dtype, weights.dtype) == (4, np.int32, np.float64)
    assert data.tolist() == [9.0, 2.0, 1.5, 0.5, 1.0, 0.0, 1.0, 4.0]


@pytest.mark.parametrize("n", [0, 1])
def test_graphs_with_hardly_any_vertex(n):
    graph = Graph.from_affinity(sp.csr_array((n, n)))
    assert (graph.n_vertices, graph.n_edges, len(graph.vertex_weights)) == (n, 0, n)


def test_an_isolated_vertex_weighs_as_much_as_the_lightest():
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = PATH
    assert Graph.from_affinity(matrix).vertex_weights.tolist() == [2.0, 3.0, 1.0, 1.0]
    assert Graph.from_affinity(matrix).degrees.tolist() == [2.0, 3.0, 1.0, 0.0]


def test_a_graph_without_edges_has_unit_weights():
    graph = Graph.from_affinity(np.zeros((3, 3)))
    assert graph.n_edges == 0
    assert graph.vertex_weights.tolist() == [1.0, 1.0, 1.0]
    assert graph.components()[0] == 3


def test_vertex_weights_of_the_user_are_copied():
    own = np.array([1.0, 2.0, 3.0])
    graph = Graph.from_affinity(PATH, own)
    own[:] = 0.0
    assert graph.vertex_weights.tolist() == [1.0, 2.0, 3.0]
    assert Graph.from_affinity(PATH, "ones").volume == 3.0


@pytest.mark.parametrize(
    ("vertex_weights", "message"),
    [
        ("degrees", "got 'degrees'"),
        ([1.0, 2.0], r"shape \(3,\); got shape \(2,\)"),
        ([1.0, 0.0, 1.0], "entry 1 is not"),
        ([1.0, 1.0, np.nan], "entry 2 is not"),
        ([np.inf, 1.0, 1.0], "entry 0 is not"),
    ],
)
def test_bad_vertex_weights_are_named(vertex_weights, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_affinity(PATH, vertex_weights)


def test_edges_list_each_edge_once():
    rows, columns, weights = Graph.from_affinity(PATH).edges
    assert sorted(zip(rows.tolist(), columns.tolist(), weights.tolist(), strict=True)) == [(0, 1, 2.0), (1, 2, 1.0)]


def test_components():
    count, labels = Graph.from_affinity(np.kron(np.eye(2), [[0, 1], [1, 0]])).components()
    assert count == 2
    assert labels.tolist() == [0, 0, 1, 1]


@given(st.integers(2, 12), st.integers(1, 6), st.integers(0, 2**32 - 1), st.booleans())
def test_contraction_preserves_cuts_and_volumes(n, m, seed, ones):
    m = min(n, m)
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.concatenate([np.arange(m), rng.integers(0, m, n - m)]))
    graph = random_graph(rng, n, vertex_weights="ones" if ones else "degree")
    small = graph.contract(labels)
    assert small.n_vertices == m
    assert small.weights.diagonal().sum() == 0
    assert small.weights.has_sorted_indices
    assert abs(small.weights - small.weights.T).sum() <= 1e-12
    for _ in range(4):
        side = rng.random(m) < 0.5
        lifted = side[labels]
        assert cut(small, side) == pytest.approx(cut(graph, lifted), abs=1e-12)
        assert small.vertex_weights[side].sum() == pytest.approx(graph.vertex_weights[lifted].sum())


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_a_subgraph_is_the_block_of_the_matrix(n, seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, n)
    matrix = graph.weights.toarray()
    vertices = rng.permutation(n)[: rng.integers(1, n + 1)]
    part = graph.subgraph(vertices)
    assert part.weights.has_sorted_indices
    np.testing.assert_array_equal(part.weights.toarray(), matrix[np.ix_(vertices, vertices)])
    np.testing.assert_array_equal(part.vertex_weights, graph.vertex_weights[vertices])


@pytest.fixture
def nothing_is_cached(monkeypatch):
    monkeypatch.setattr("tightcut.problem.graph.CACHED_LIMIT", 0)


@pytest.mark.usefixtures("nothing_is_cached")
def test_numbers_follow_a_walk_through_the_graph():
    """A path of which the vertices were shuffled is found again."""
    n, rng = 500, np.random.default_rng(0)
    shuffled = rng.permutation(n)
    one_way = sp.coo_array((np.ones(n - 1), (shuffled[:-1], shuffled[1:])), (n, n))
    path = Graph.from_affinity(one_way + one_way.T)
    number = path.numbered_nearby(np.arange(n))
    assert sorted(number) == list(range(n))
    assert (np.abs(np.diff(number[shuffled])) == 1).all()


@pytest.mark.parametrize("n_groups", [1, 7, 40])
@pytest.mark.usefixtures("nothing_is_cached")
def test_groups_stay_the_same_under_other_numbers(n_groups):
    rng = np.random.default_rng(n_groups)
    graph = Graph.from_affinity(sp.csr_array((40, 40)) if n_groups == 7 else np.ones((40, 40)))
    groups = rng.permutation(np.arange(40) % n_groups)
    number = graph.numbered_nearby(groups)
    assert len(set(zip(groups, number, strict=True))) == n_groups == len(set(number)) == number.max() + 1


def test_small_graphs_keep_their_numbers():
    groups = np.arange(40)
    np.testing.assert_array_equal(Graph.from_affinity(np.ones((40, 40))).numbered_nearby(groups), groups)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.usefixtures("nothing_is_cached")
def test_other_numbers_inside_do_not_show_outside(k):
    """Labels and contradictions are told in the caller's numbers."""
    X, y = make_blobs(150, centers=k, cluster_std=0.5, random_state=3)
    graph = Graph.from_affinity(knn_affinity(X, connect=False))
    result = cluster(graph, sample_constraints(y, 30, random_state=0), k, random_state=0)
    assert clustering_error(y, result.labels) == 0
    torn = Constraints.from_pairs(150, must_link=[(3, 70), (70, 149)], cannot_link=[(149, 3)])
    with pytest.raises(InconsistentConstraintsError) as caught:
        cluster(graph, torn, k, random_state=0)
    assert {vertex for _, *ends in caught.value.witness for vertex in ends} == {3, 70, 149}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_array])
def test_the_diagonal_is_ignored_but_must_be_finite(value, kind):
    affinity = np.ones((3, 3))
    affinity[1, 1] = value
    with pytest.raises(ValueError, match=r"at \(1, 1\)"):
        Graph.from_affinity(kind(affinity))


@pytest.mark.parametrize("vertices", [None, np.array([4, 0, 3])])
def test_ties_are_sums_over_the_clusters(vertices):
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 6, 0.6)
    labels = np.array([0, 2, -1, 2, 0, 2])
    expected = graph.weights @ (labels[:, None] == np.arange(3))
    chosen = np.arange(6) if vertices is None else vertices
    np.testing.assert_allclose(graph.ties(labels, 3, vertices), expected[chosen])
    grouped = np.maximum(labels, 0)
    within = graph.ties(grouped, 3)[np.arange(6), grouped]
    np.testing.assert_allclose(graph.ties_within(grouped), within)


def test_a_permuted_graph_is_the_subgraph_of_all_vertices_in_that_order():
    rng = np.random.default_rng(0)
    graph, order = random_graph(rng, 40, 0.2), rng.permutation(40)
    found, expected = graph.permuted(order), graph.subgraph(order)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found.weights, part), getattr(expected.weights, part))
    np.testing.assert_array_equal(found.vertex_weights, expected.vertex_weights)
