"""The neighbourhood graph against a plain double loop."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from tightcut import COSC, KnnAffinity
from tightcut.neighbors import (
    SYMMETRIZE,
    KnnSettings,
    check_points,
    cross_affinity,
    find_neighbors,
    knn_affinity,
    knn_graph,
)

FEATURES = [2, 20]  # for which a tree and blocks of points are searched


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


def assert_well_formed(affinity, n):
    assert isinstance(affinity, sp.csr_array)
    assert affinity.shape == (n, n)
    assert affinity.dtype == np.float64
    assert affinity.has_sorted_indices
    assert (affinity != affinity.T).nnz == 0
    assert (affinity.diagonal() == 0).all()
    assert ((affinity.data > 0) & (affinity.data <= 1)).all()


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


@pytest.mark.parametrize("neighbors", ["tree", "blocked"])
def test_exact_choices_give_the_same_graph_also_of_read_only_fortran_arrays(neighbors):
    points = np.random.default_rng(0).normal(size=(700, 20)).astype(np.float32)
    expected, frozen = knn_affinity(points), np.asfortranarray(points)
    frozen.flags.writeable = False
    np.testing.assert_array_equal(knn_affinity(frozen, neighbors=neighbors).toarray(), expected.toarray())
    assert knn_graph(points, KnnSettings(neighbors=neighbors)).recall == 1.0


@pytest.mark.parametrize("n_features", [3, 20])
@pytest.mark.parametrize("unit", [2.0**-900, 2.0**-530, 1e-30, 2.0**400, 1e140])
def test_the_unit_of_length_does_not_change_the_graph(n_features, unit):
    points = np.random.default_rng(0).normal(size=(200, n_features))
    np.testing.assert_allclose(knn_affinity(points * unit).toarray(), knn_affinity(points).toarray(), rtol=1e-9)


@pytest.mark.parametrize(
    ("neighbors", "metric"), [("tree", "euclidean"), ("blocked", "euclidean"), ("auto", "cosine"), ("sparse", "cosine")]
)
def test_new_points(neighbors, metric):
    points, new = (np.random.default_rng(n).normal(size=(n, 6)) for n in (500, 20))
    distances = cdist(new, points, metric) ** (0.5 if metric == "cosine" else 1)
    forms, search = (new, points), neighbors
    if neighbors == "sparse":
        forms, search = (sp.csr_array(new), sp.csr_array(points)), "auto"
    affinity = cross_affinity(*forms, KnnSettings(5, metric, search))
    for row in range(20):
        nearest = np.argsort(distances[row])[:5]
        assert sorted(affinity.indices[affinity.indptr[row] : affinity.indptr[row + 1]]) == sorted(nearest)
        weights = np.exp(-4 * (distances[row, nearest] / distances[row, nearest[-1]]) ** 2)
        np.testing.assert_allclose(affinity[[row]].toarray()[0, nearest], weights, rtol=1e-9)


def test_verbose_names_the_stage(capsys):
    points = np.random.default_rng(0).normal(size=(300, 3))
    COSC(affinity=KnnAffinity(neighbors="blocked"), verbose=1, effort=0.3, random_state=0).fit(points)
    assert "tightcut neighbours [" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("points", "settings", "error", "message"),
    [
        ([[1.0], [np.nan]], {}, ValueError, "NaN"),
        ([[1.0], [np.inf]], {}, ValueError, "infinity"),
        ([1.0, 2.0], {}, ValueError, "2D array"),
        ([[1.0], [-1e200]], {}, ValueError, "1e\\+200.*rescale"),
        (np.array([[1.0], [3e38]], dtype=np.float32), {}, ValueError, "3e\\+38.*rescale"),
        (np.empty((0, 2)), {}, ValueError, "0 sample"),
        (sp.csr_array(np.diag([1.0, np.nan, 2.0])), {}, ValueError, "NaN"),
        (sp.csr_array(np.diag([1.0, np.inf, 2.0])), {}, ValueError, "infinity"),
        (sp.csr_array(np.diag([1.0, 1e200, 2.0])), {}, ValueError, "rescale"),
        (np.eye(3), {"n_neighbors": 0}, ValueError, "whole number >= 1; got 0"),
        (np.eye(3), {"n_neighbors": 2.5}, TypeError, "whole number >= 1; got 2.5"),
        (np.eye(3), {"n_neighbors": True}, TypeError, "whole number >= 1; got True"),
    ],
)
def test_bad_input_is_named(points, settings, error, message):
    with pytest.raises(error, match=message):
        knn_affinity(points, **{"n_neighbors": 1} | settings)


@pytest.mark.parametrize("value", ["max", None, 1, ["mean"]])
@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("metric", "'euclidean', 'cosine', 'precomputed'"),
        ("neighbors", "'auto', 'tree', 'blocked', 'approximate'"),
        ("symmetrize", "'maximum', 'mean'"),
    ],
)
def test_a_wrong_choice_is_named(name, choices, value):
    ways = [lambda **choice: knn_affinity(np.eye(3), 1, **choice), KnnSettings]
    for way in [*ways, KnnAffinity] if name == "neighbors" else ways:
        with pytest.raises(ValueError, match=f"{name} must be one of {choices}; got"):
            way(**{name: value})


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
