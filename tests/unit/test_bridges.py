"""Bridges between the components of a neighbourhood graph, against all pairs of points."""

import warnings
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from tightcut import knn_affinity
from tightcut.neighbors import SYMMETRIZE, bridges
from tightcut.neighbors.knn import SMALLEST_BRIDGE

FEATURES = [2, 20]  # for which a tree and blocks of points are searched
APPROXIMATE = pytest.param("approximate", marks=pytest.mark.skipif(not find_spec("faiss"), reason="needs faiss"))


def blobs(count, size, n_features, seed=0, spread=100.0):
    rng = np.random.default_rng(seed)
    centres = spread * rng.normal(size=(count, n_features))
    return np.concatenate([centre + rng.normal(size=(size, n_features)) for centre in centres])


def added_bridges(points, k, **settings):
    """The graphs without and with bridges, and the pairs that the second has on top: as many as a tree takes."""
    apart = knn_affinity(points, k, connect=False, **settings)
    with pytest.warns(UserWarning, match="connected components"):
        joined = knn_affinity(points, k, **settings)
    extra = sp.triu(sp.coo_array(joined - apart))
    assert joined.has_sorted_indices
    assert (joined != joined.T).nnz == 0
    assert sp.csgraph.connected_components(joined)[0] == 1
    assert extra.nnz == sp.csgraph.connected_components(apart)[0] - 1
    return apart, joined, np.column_stack([extra.row, extra.col])


def lengths(points, apart, bridges):
    """The length of the bridges, and of a minimum spanning tree over the components."""
    count, labels = sp.csgraph.connected_components(apart)
    distances = cdist(points, points)
    gaps = np.array([[distances[labels == a][:, labels == b].min() for b in range(count)] for a in range(count)])
    return distances[tuple(bridges.T)].sum(), sp.csgraph.minimum_spanning_tree(gaps).sum()


@pytest.mark.slow
@pytest.mark.parametrize("n_features", FEATURES)
@pytest.mark.parametrize("limits", [(64, 2000, 4096), (0, 2000, 4096), (0, 2000, 7), (0, 4, 7), (15, 2000, 7)])
@pytest.mark.parametrize("size", [1, 8])
def test_they_are_a_minimum_spanning_tree(n_features, limits, size, monkeypatch):
    """Whichever of the stages does the work: neighbour lists, or samples that hold every point."""
    names = ("SMALL_COMPONENT", "MOST_LARGE_COMPONENTS", "BLOCK_ROWS")
    for name, limit in zip(names, limits, strict=True):
        monkeypatch.setattr(bridges, name, limit)
    points = np.concatenate([blobs(12, size * 2, n_features), blobs(3, 30, n_features, seed=1, spread=20)])
    apart, _, added = added_bridges(points, 1 if size == 1 else 4)
    assert len(added) >= 11
    length, shortest = lengths(points, apart, added)
    assert length == pytest.approx(shortest)


@pytest.mark.parametrize("n_features", FEATURES)
def test_between_samples_they_are_a_tree_and_nearly_the_shortest(n_features, monkeypatch):
    for name in ("SMALL_COMPONENT", "WORK"):
        monkeypatch.setattr(bridges, name, 0)
    points = blobs(9, 60, n_features, spread=20)
    apart, _, added = added_bridges(points, 4)
    assert len(added) >= 7
    length, shortest = lengths(points, apart, added)
    assert length <= 1.3 * shortest


def test_components_of_equal_points_are_joined_by_samples(monkeypatch):
    monkeypatch.setattr(bridges, "WORK", 0)
    added_bridges(np.repeat([[0.0, 0.0], [3.0, 3.0]], 100, axis=0), 3)


def test_equal_gaps_close_no_cycle():
    corners = np.array([[0, 0], [0, 10], [10, 0], [10, 10]])
    pair = np.array([[0.0, 0.0], [1.0, 0.0]])
    added_bridges(np.concatenate([pair + corner for corner in corners]), 1)


def test_two_blobs_are_joined_by_their_closest_pair():
    points = np.random.default_rng(1).normal(size=(40, 2))
    points[20:] += 50.0
    _, joined, added = added_bridges(points, 5)
    distances = cdist(points[:20], points[20:])
    left, right = np.unravel_index(distances.argmin(), distances.shape)
    assert added.tolist() == [[left, right + 20]]
    assert joined[left, right + 20] == SMALLEST_BRIDGE


def test_a_short_bridge_is_weighed_by_the_wider_end():
    _, joined, added = added_bridges(np.array([[0.0], [0.1], [2.0], [3.0]]), 1)
    assert added.tolist() == [[1, 2]]
    assert joined[1, 2] == pytest.approx(np.exp(-4 * 1.9**2))


def test_both_ways_to_symmetrize_have_the_same_edges_and_bridges():
    points = blobs(4, 15, 2, spread=20)
    (_, strong, expected), (_, weak, found) = (added_bridges(points, 3, symmetrize=way) for way in SYMMETRIZE)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(weak.indices, strong.indices)
    np.testing.assert_array_equal(weak[tuple(found.T)], strong[tuple(found.T)])


@pytest.mark.parametrize("neighbors", ["tree", "blocked", APPROXIMATE])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_components_are_joined_with_every_choice(neighbors, dtype):
    points = 100 + 20 * np.random.default_rng(0).normal(size=(305, 3))
    points = points % 20 + np.repeat([0, 100, 200], [150, 150, 5])[:, None]
    added_bridges(points.astype(dtype), 4, neighbors=neighbors)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("work", [1 << 31, 0])
def test_components_of_sparse_points_are_joined(sparse, work, monkeypatch):
    monkeypatch.setattr(bridges, "WORK", work)
    monkeypatch.setattr(bridges, "SMALL_COMPONENT", 10)
    points, rng = np.zeros((145, 150)), np.random.default_rng(0)
    for topic, (start, stop) in enumerate(((0, 5), (5, 65), (65, 145))):
        points[start:stop, 50 * topic : 50 * topic + 50] = rng.poisson(3 / np.arange(1, 51), (stop - start, 50))
        points[start:stop, 50 * topic] += 1
    added_bridges(sp.csr_array(points) if sparse else points, 4, metric="cosine")


@pytest.mark.parametrize("unit", [1e-160, 1e-30, 1e30, 1e140])
def test_they_do_not_depend_on_the_unit(unit, monkeypatch):
    points = blobs(6, 30, 3, spread=50)
    for limit in (64, 0):
        monkeypatch.setattr(bridges, "SMALL_COMPONENT", limit)
        for work in (1 << 31, 0):
            monkeypatch.setattr(bridges, "WORK", work)
            with pytest.warns(UserWarning, match="6 connected components"):
                expected, affinity = (knn_affinity(own, 5) for own in (points, unit * points))
            np.testing.assert_array_equal(affinity.indices, expected.indices)
            np.testing.assert_allclose(affinity.data, expected.data, rtol=1e-9)


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
