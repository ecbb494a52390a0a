"""The neighbourhood graph against a plain double loop, and its bridges against all pairs."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from tightcut.neighbors import SYMMETRIZE, KnnSettings, check_points, find_neighbors, knn_affinity
from tightcut.neighbors import bridges as bridging
from tightcut.neighbors.knn import SMALLEST_BRIDGE

FEATURES = [2, 20]  # scikit-learn takes a tree up to 15 features and brute force above.


def by_double_loop(points, k, symmetrize="maximum"):
    """The formula, written out."""
    n = len(points)
    weights = np.zeros((n, n))
    for i in range(n):
        distances = [float(np.linalg.norm(points[i] - points[j])) for j in range(n)]
        neighbors = sorted((j for j in range(n) if j != i), key=lambda j: distances[j])[:k]
        scale = distances[neighbors[-1]]
        for j in neighbors:
            weights[i, j] = np.exp(-4 * distances[j] ** 2 / scale**2) if scale > 0 else 1.0
    return np.maximum(weights, weights.T) if symmetrize == "maximum" else (weights + weights.T) / 2


def tree_length(lengths):
    """Length of a minimum spanning tree of a dense matrix, by Prim's algorithm."""
    n = len(lengths)
    inside, total = {0}, 0.0
    while len(inside) < n:
        length, nearest = min((lengths[i, j], j) for i in inside for j in range(n) if j not in inside)
        inside.add(nearest)
        total += length
    return total


def blobs(count, size, n_features, seed=0, spread=100.0):
    rng = np.random.default_rng(seed)
    centres = spread * rng.normal(size=(count, n_features))
    return np.concatenate([centre + rng.normal(size=(size, n_features)) for centre in centres])


def assert_well_formed(affinity, n):
    assert isinstance(affinity, sp.csr_array)
    assert affinity.shape == (n, n)
    assert affinity.dtype == np.float64
    assert affinity.has_sorted_indices
    assert (affinity != affinity.T).nnz == 0
    assert (affinity.diagonal() == 0).all()
    assert ((affinity.data > 0) & (affinity.data <= 1)).all()


def added_bridges(points, k, symmetrize="maximum"):
    """The two graphs (without and with bridges) and the pairs that the second has on top."""
    apart = knn_affinity(points, k, symmetrize=symmetrize, connect=False)
    with pytest.warns(UserWarning, match="connected components"):
        joined = knn_affinity(points, k, symmetrize=symmetrize)
    extra = sp.triu(sp.coo_array(joined - apart))
    return apart, joined, np.column_stack([extra.row, extra.col])


@given(
    st.integers(2, 25),
    st.integers(1, 12),
    st.sampled_from(FEATURES),
    st.sampled_from(SYMMETRIZE),
    st.integers(0, 2**32 - 1),
)
def test_equals_the_double_loop(n, k, n_features, symmetrize, seed):
    points = np.random.default_rng(seed).normal(size=(n, n_features))
    affinity = knn_affinity(points, k, symmetrize=symmetrize, connect=False)
    assert_well_formed(affinity, n)
    np.testing.assert_allclose(affinity.toarray(), by_double_loop(points, min(k, n - 1), symmetrize), rtol=1e-10)


def test_the_mean_halves_what_one_end_asks_for():
    line = [[0.0], [1.0], [3.0]]
    expected = np.exp(-4) * np.array([[0, 1, 0], [1, 0, 0.5], [0, 0.5, 0]])
    np.testing.assert_allclose(knn_affinity(line, 1, symmetrize="mean").toarray(), expected)


def test_both_ways_to_symmetrize_have_the_same_edges_and_bridges():
    points = blobs(4, 15, 2, spread=20)
    (_, strong, bridges), (apart, weak, same) = (added_bridges(points, 3, symmetrize) for symmetrize in SYMMETRIZE)
    assert_well_formed(weak, len(points))
    np.testing.assert_array_equal(bridges, same)
    np.testing.assert_array_equal(weak.indices, strong.indices)
    np.testing.assert_array_equal(weak[tuple(same.T)], strong[tuple(bridges.T)])
    np.testing.assert_allclose(apart.toarray(), by_double_loop(points, 3, "mean"), rtol=1e-10)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_few_points_are_all_neighbours(n):
    points = np.random.default_rng(n).normal(size=(n, 3))
    assert knn_affinity(points, 10).nnz == n * (n - 1)


def test_one_point_is_an_empty_graph():
    affinity = knn_affinity([[1.0, 2.0]])
    assert_well_formed(affinity, 1)
    assert affinity.nnz == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize("n_features", FEATURES)
def test_duplicates_are_at_distance_zero(n_features, offset, dtype):
    points = (np.random.default_rng(0).normal(size=(60, n_features)) + offset).astype(dtype)
    points[30:35] = points[0]
    points[40] = points[41]
    affinity = knn_affinity(points, 4, connect=False)
    assert_well_formed(affinity, 60)
    copies = [0, *range(30, 35)]
    block = affinity[copies][:, copies].toarray()
    assert np.isin(block, [0.0, 1.0]).all()
    assert ((block == 1).sum(axis=1) >= 4).all()
    assert affinity[40, 41] == 1.0


def test_points_that_are_all_equal():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        affinity = knn_affinity(np.ones((50, 20)), 3)
    assert_well_formed(affinity, 50)
    assert (affinity.data == 1).all()
    assert sp.csgraph.connected_components(affinity)[0] == 1


def test_ties_keep_the_number_of_neighbours():
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    affinity = knn_affinity(grid, 3, connect=False)
    assert_well_formed(affinity, 36)
    assert (np.diff(affinity.indptr) >= 3).all()
    np.testing.assert_array_equal(affinity.toarray(), knn_affinity(grid, 3, connect=False).toarray())


def test_duplicates_of_which_one_end_asks_for_few():
    """Four equal points of two neighbours each: a pair weighs 1 if both ask, a half if one does."""
    weights = knn_affinity(np.ones((4, 2)), 2, symmetrize="mean", connect=False)
    assert np.isin(weights.data, [0.5, 1.0]).all()
    assert weights.sum() == 8


@pytest.mark.parametrize("symmetrize", SYMMETRIZE)
def test_float32_gives_the_same_graph(symmetrize):
    points = np.random.default_rng(3).normal(size=(80, 20)).astype(np.float32)
    single, double = (knn_affinity(own, 5, symmetrize=symmetrize) for own in (points, points.astype(np.float64)))
    assert_well_formed(single, 80)
    np.testing.assert_allclose(single.toarray(), double.toarray(), rtol=1e-12)


@pytest.mark.parametrize("n_features", FEATURES)
def test_read_only_and_fortran_arrays(n_features):
    points = blobs(3, 20, n_features)
    frozen = np.asfortranarray(points)
    frozen.flags.writeable = False
    with pytest.warns(UserWarning, match="3 connected components"):
        expected = knn_affinity(points, 4)
    with pytest.warns(UserWarning, match="3 connected components"):
        np.testing.assert_array_equal(knn_affinity(frozen, 4).toarray(), expected.toarray())


def test_two_blobs_are_joined_by_their_closest_pair():
    points = np.random.default_rng(1).normal(size=(40, 2))
    points[20:] += 50.0
    apart, joined, bridges = added_bridges(points, 5)
    distances = cdist(points[:20], points[20:])
    left, right = np.unravel_index(distances.argmin(), distances.shape)
    assert bridges.tolist() == [[left, right + 20]]
    assert sp.csgraph.connected_components(apart)[0] == 2
    assert sp.csgraph.connected_components(joined)[0] == 1
    assert joined[left, right + 20] == SMALLEST_BRIDGE


@pytest.mark.parametrize("n_features", FEATURES)
@pytest.mark.parametrize("limits", [(64, 2000, 4096), (0, 2000, 4096), (0, 2000, 7), (0, 4, 7), (15, 2000, 7)])
@pytest.mark.parametrize("work", [1 << 31, 0])
@pytest.mark.parametrize("size", [1, 8])
def test_the_bridges_are_a_minimum_spanning_tree(n_features, limits, work, size, monkeypatch):
    """Whichever of the stages does the work: neighbour lists, pairs of components, samples that hold every point."""
    names = ("SMALL_COMPONENT", "MOST_LARGE_COMPONENTS", "BLOCK_ROWS", "QUERY_ROWS", "EXACT_WORK")
    for name, limit in zip(names, (*limits, limits[-1] // 2, work), strict=True):
        monkeypatch.setattr(bridging, name, limit)
    points = np.concatenate([blobs(12, size * 2, n_features), blobs(3, 30, n_features, seed=1, spread=20)])
    apart, joined, bridges = added_bridges(points, 1 if size == 1 else 4)
    count, labels = sp.csgraph.connected_components(apart)
    assert_well_formed(joined, len(points))
    assert count >= 12
    assert len(bridges) == count - 1
    assert sp.csgraph.connected_components(joined)[0] == 1
    distances = cdist(points, points)
    gaps = np.array([[distances[labels == a][:, labels == b].min() for b in range(count)] for a in range(count)])
    assert distances[tuple(bridges.T)].sum() == pytest.approx(tree_length(gaps))


@pytest.mark.parametrize("n_features", FEATURES)
def test_bridges_between_samples_are_a_tree_and_nearly_the_shortest(n_features, monkeypatch):
    for name, limit in (("SMALL_COMPONENT", 0), ("EXACT_WORK", 0), ("SAMPLED", 0)):
        monkeypatch.setattr(bridging, name, limit)
    points = blobs(9, 60, n_features, spread=20)
    apart, joined, bridges = added_bridges(points, 4)
    count, labels = sp.csgraph.connected_components(apart)
    distances = cdist(points, points)
    gaps = np.array([[distances[labels == a][:, labels == b].min() for b in range(count)] for a in range(count)])
    assert count >= 8
    assert len(bridges) == count - 1
    assert sp.csgraph.connected_components(joined)[0] == 1
    assert distances[tuple(bridges.T)].sum() <= 1.3 * tree_length(gaps)


def test_components_of_equal_points_are_joined_by_samples(monkeypatch):
    monkeypatch.setattr(bridging, "EXACT_WORK", 0)
    points = np.zeros((200, 2))
    points[100:] = 3.0
    apart, joined, bridges = added_bridges(points, 3)
    assert len(bridges) == sp.csgraph.connected_components(apart)[0] - 1
    assert sp.csgraph.connected_components(joined)[0] == 1


def test_equal_gaps_close_no_cycle():
    corners = np.array([[0, 0], [0, 10], [10, 0], [10, 10]])
    pair = np.array([[0.0, 0.0], [1.0, 0.0]])
    points = np.concatenate([pair + corner for corner in corners])
    _, joined, bridges = added_bridges(points, 1)
    assert len(bridges) == 3
    assert sp.csgraph.connected_components(joined)[0] == 1


def test_a_short_bridge_is_weighed_by_the_wider_end():
    points = np.array([[0.0], [0.1], [2.0], [3.0]])
    _, joined, bridges = added_bridges(points, 1)
    assert bridges.tolist() == [[1, 2]]
    assert joined[1, 2] == pytest.approx(np.exp(-4 * 1.9**2))


@pytest.mark.parametrize(("count", "words"), [(2, "by 1 bridge,"), (4, "by 3 bridges,")])
def test_the_warning_names_both_numbers_and_the_caller(count, words):
    with pytest.warns(UserWarning, match=f"has {count} connected components; joined them {words}") as caught:
        knn_affinity(blobs(count, 12, 2, spread=1000.0), 8)
    assert "connect=False" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_a_connected_graph_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        affinity = knn_affinity(np.random.default_rng(0).normal(size=(50, 2)), 10)
    assert sp.csgraph.connected_components(affinity, directed=False)[0] == 1


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e140])
def test_extreme_units_give_finite_weights(scale):
    assert_well_formed(knn_affinity(scale * np.random.default_rng(0).normal(size=(30, 3)), 10), 30)


@pytest.mark.parametrize(
    ("points", "n_neighbors", "error", "message"),
    [
        ([[1.0], [np.nan]], 1, ValueError, "NaN"),
        ([[1.0], [np.inf]], 1, ValueError, "infinity"),
        ([1.0, 2.0], 1, ValueError, "2D array"),
        ([[1.0], [-1e200]], 1, ValueError, "1e\\+200.*rescale"),
        (np.array([[1.0], [3e38]], dtype=np.float32), 1, ValueError, "3e\\+38.*rescale"),
        (np.empty((0, 2)), 1, ValueError, "0 sample"),
        ([[1.0], [2.0]], 0, ValueError, "at least 1; got 0"),
        ([[1.0], [2.0]], 2.5, TypeError, "integer; got 2.5"),
        ([[1.0], [2.0]], True, TypeError, "integer; got True"),
    ],
)
def test_bad_input_is_named(points, n_neighbors, error, message):
    with pytest.raises(error, match=message):
        knn_affinity(points, n_neighbors)


@pytest.mark.parametrize("choice", ["max", None, 1, ["mean"]])
def test_a_wrong_way_to_symmetrize_is_named(choice):
    with pytest.raises(ValueError, match="symmetrize must be one of 'maximum', 'mean'; got"):
        knn_affinity(np.ones((4, 2)), symmetrize=choice)
    with pytest.raises(ValueError, match="symmetrize must be one of"):
        KnnSettings(symmetrize=choice)


def scaled_by_double_loop(points, k):
    """Each weight with the scales of both ends, written out."""
    distances = cdist(points, points)
    order = np.argsort(distances + np.diag(np.full(len(points), np.inf)), axis=1, kind="stable")[:, :k]
    scales = distances[np.arange(len(points)), order[:, -1]]
    weights = np.zeros_like(distances)
    for i, neighbors in enumerate(order):
        for j in neighbors:
            product = scales[i] * scales[j]
            exponent = 4 * distances[i, j] ** 2 / product if product > 0 else (np.inf if distances[i, j] > 0 else 0)
            weights[i, j] = max(np.exp(-exponent), np.exp(-6))
    return (weights + weights.T) / 2


@given(n=st.integers(3, 30), k=st.integers(1, 6), seed=st.integers(0, 1000))
def test_weights_scaled_at_both_ends_equal_the_double_loop(n, k, seed):
    points = np.random.default_rng(seed).normal(size=(n, 3)) ** 3  # dense in the middle, sparse outside
    lists = find_neighbors(check_points(points), KnnSettings(min(k, n - 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        weights = lists.scaled_at_both_ends().toarray()
    expected = scaled_by_double_loop(points, min(k, n - 1))
    np.testing.assert_allclose(weights[expected > 0], expected[expected > 0], rtol=1e-10)
    np.testing.assert_array_equal(weights, weights.T)
    assert sp.csgraph.connected_components(weights)[0] == 1


def test_duplicates_do_not_fall_out_of_a_graph_scaled_at_both_ends():
    points = np.r_[np.zeros((5, 2)), np.arange(1.0, 7)[:, None] * [1, 1]]
    weights = find_neighbors(check_points(points), KnnSettings(3)).scaled_at_both_ends()
    assert weights.data.min() > 0
    assert np.isfinite(weights.data).all()
    assert sp.csgraph.connected_components(weights)[0] == 1


@pytest.mark.parametrize("unit", [1e-170, 1e140])
def test_weights_scaled_at_both_ends_do_not_depend_on_the_unit(unit):
    points = np.random.default_rng(0).normal(size=(40, 2))
    plain, scaled = (
        find_neighbors(check_points(X), KnnSettings(4)).scaled_at_both_ends() for X in (points, unit * points)
    )
    np.testing.assert_allclose(scaled.toarray(), plain.toarray(), rtol=1e-6)
