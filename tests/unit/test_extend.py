"""A graph that grows: neighbours of new points, checked against all distances."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from tightcut import knn_affinity
from tightcut.exceptions import DisconnectedGraphWarning
from tightcut.neighbors import KnnSettings
from tightcut.neighbors.exact import BlockedNeighbors
from tightcut.neighbors.extend import extended_affinity


def low_rank(rng, n, dtype):
    """Points of many features near few directions, as images are."""
    points = rng.normal(size=(n, 12)) @ rng.normal(size=(12, 100)) + 0.1 * rng.normal(size=(n, 100))
    return np.clip(20 * points + 128, 0, 255).astype(dtype) if dtype == np.uint8 else points.astype(dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_projected_neighbours_are_exact_and_stay_so_when_points_are_added(dtype):
    rng = np.random.default_rng(0)
    points = low_rank(rng, 7000, dtype)
    points[6500] = points[3]  # duplicates
    index = BlockedNeighbors.with_projection(points[:5200], 7)
    assert index is not None
    for end in (5200, 5900, 7000):
        index = index.grown(points[:end]) if end > 5200 else index
        queries = np.concatenate([points[end - 300 : end], low_rank(rng, 60, dtype)])
        distances, neighbors = index.kneighbors(queries, 7)
        true = cdist(queries.astype(float), points[:end].astype(float))
        np.testing.assert_allclose(distances, np.sort(true, axis=1)[:, :7], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(np.take_along_axis(true, neighbors, 1), distances, rtol=1e-9, atol=1e-9)


def test_projected_neighbours_within_given_distances():
    """Those beyond are not needed, and some of them are missing; equal distances are within."""
    rng = np.random.default_rng(0)
    points = low_rank(rng, 5300, np.float64)
    index, queries = BlockedNeighbors.with_projection(points[:5200], 7), points[5200:]
    distances, neighbors = index.kneighbors(queries, 7)
    within = distances[np.arange(100), rng.integers(7, size=100)]
    some_distances, some_neighbors = index.kneighbors(queries, 7, within)
    needed = distances <= within[:, None]
    np.testing.assert_array_equal(some_distances[needed], distances[needed])
    np.testing.assert_array_equal(some_neighbors[needed], neighbors[needed])
    assert (some_distances[~needed] > np.repeat(within, 7)[~needed.ravel()]).all()
    assert np.isinf(some_distances).any()


def test_an_index_is_made_anew_where_points_of_another_size_come():
    rng = np.random.default_rng(0)
    points = low_rank(rng, 5100, np.float64)
    index = BlockedNeighbors.with_projection(points[:5000], 5)
    points[5050] *= 1e3
    assert index.grown(points) is None
    assert index.grown(points.astype(np.float32)) is None
    assert BlockedNeighbors.with_projection(points[:100], 5) is None


@pytest.mark.parametrize("symmetrize", ["maximum", "mean"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("sparse", [False, True])
def test_edges_of_new_points_are_those_of_the_definition(symmetrize, metric, sparse):
    rng = np.random.default_rng(1)
    n_old, n, k = 60, 75, 4
    points = rng.normal(size=(n, 3)) + 1
    points[70] = points[10]
    given = sp.csr_array(points) if sparse else points
    settings = KnnSettings(k, metric, symmetrize=symmetrize)
    old = knn_affinity(given[:n_old], k, metric=metric, symmetrize=symmetrize)
    grown = extended_affinity(old, given, n_old, settings)[0].toarray()
    unit = points / np.linalg.norm(points, axis=1, keepdims=True) if metric == "cosine" else points
    distances = cdist(unit, unit)
    np.fill_diagonal(distances, np.inf)
    expected = np.zeros((n, n))
    nearest = np.argsort(distances, axis=1)[:, :k]
    for j in range(n_old, n):
        expected[j, nearest[j]] = np.exp(-4 * (distances[j, nearest[j]] / distances[j, nearest[j, -1]]) ** 2)
    near = np.argsort(distances, axis=1)[:, : 2 * k]
    for j in range(n_old, n):
        for i in near[j][near[j] < n_old]:
            sigma = np.sort(distances[i, :n_old])[k - 1]
            if distances[i, j] <= sigma:
                expected[i, j] = np.exp(-4 * (distances[i, j] / sigma) ** 2) if sigma > 0 else 1.0
    both = (expected + expected.T) / 2 if symmetrize == "mean" else np.maximum(expected, expected.T)
    both[:n_old, :n_old] = old.toarray()
    np.testing.assert_allclose(grown, both, atol=1e-9)


def test_new_points_far_away_are_joined_by_the_shortest_link():
    rng = np.random.default_rng(2)
    points = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(8, 2)) + 50, rng.normal(size=(6, 2)) - 50])
    old = knn_affinity(points[:30], 4)
    with pytest.warns(DisconnectedGraphWarning, match="3 connected components; joined them by 2 bridges"):
        grown, _ = extended_affinity(old, points, 30, KnnSettings(4))
    assert sp.csgraph.connected_components(grown)[0] == 1
    far = cdist(points[:30], points[30:])
    assert grown[:30, 30:].nnz == 2
    rows, columns = grown[:30, 30:].nonzero()
    assert sorted(far[rows, columns]) == pytest.approx(sorted([far[:, :8].min(), far[:, 8:].min()]))
    apart, _ = extended_affinity(old, points, 30, KnnSettings(4, connect=False))
    assert apart[:30, 30:].nnz == 0


@pytest.mark.parametrize("n_new", [1, 2, 30])
def test_more_neighbours_than_points(n_new):
    points = np.arange(3.0 + n_new)[:, None] ** 2
    grown, _ = extended_affinity(knn_affinity(points[:3], 10), points, 3, KnnSettings(10))
    assert grown.shape == (3 + n_new, 3 + n_new)
    assert abs(grown - grown.T).max() == 0
    assert (np.diff(grown.indptr)[3:] >= min(10, 2 + n_new)).all()
