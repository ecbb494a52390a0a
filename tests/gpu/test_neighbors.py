"""Neighbours on the device against all distances in float64, and the graph against the CPU's."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tightcut import COSC, knn_affinity

pytest.importorskip("torch", reason="needs PyTorch: pip install torch")

from tightcut.gpu import neighbors as module
from tightcut.gpu.neighbors import DeviceNeighbors
from tightcut.gpu.scores import ByteScores


def assert_nearest(points, queries, distances, found, k):
    """Distances are the k smallest, and belong to the points that were found."""
    everything = cdist(queries, points)
    if queries is points:
        np.fill_diagonal(everything, np.inf)
        assert (found != np.arange(len(points))[:, None]).all()
    np.testing.assert_allclose(distances, np.sort(everything, axis=1)[:, :k], rtol=1e-12)
    np.testing.assert_allclose(distances, np.take_along_axis(everything, found, axis=1), rtol=1e-12)
    assert all(len(set(row)) == k for row in found.tolist())


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize(
    ("n", "n_features", "k"), [(2, 1, 1), (50, 3, 10), (64, 5, 63), (700, 20, 10), (1500, 100, 33)]
)
def test_exact(n, n_features, k, dtype, torch_device):
    points = (100 + 20 * np.random.default_rng(n).normal(size=(n, n_features))).astype(dtype)
    distances, found = DeviceNeighbors(points, torch_device).kneighbors(n_neighbors=k)
    assert found.dtype == np.int32
    wide = points.astype(np.float64)
    assert_nearest(wide, wide, distances, found, k)


@pytest.mark.parametrize("spread", [1e-6, 1e-3, 1.0])
def test_dense_points_far_from_the_origin(spread, torch_device):
    """Clumps much tighter than TF32 can tell apart: the certificate fails, and float64 takes over."""
    rng = np.random.default_rng(0)
    points = 1000 + np.repeat(rng.normal(size=(8, 3)), 100, axis=0) + spread * rng.normal(size=(800, 3))
    index = DeviceNeighbors(points, torch_device)
    distances, found = index.kneighbors(n_neighbors=5)
    assert_nearest(points, points, distances, found, 5)
    assert spread > 0.1 or index.n_repeated > 0


@pytest.mark.parametrize("scale", [1e-300, 1e-140, 1e30, 1e140])
def test_extreme_units(scale, torch_device):
    points = np.random.default_rng(1).normal(size=(300, 4))
    expected, found = DeviceNeighbors(points, torch_device).kneighbors(n_neighbors=4)
    distances, again = DeviceNeighbors(scale * points, torch_device).kneighbors(n_neighbors=4)
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(distances, scale * expected, rtol=1e-12)


def test_duplicates_are_neighbours_and_a_point_itself_is_not(torch_device):
    points = np.random.default_rng(2).normal(size=(200, 20)).astype(np.float32)
    points[50:130] = points[0]
    distances, found = DeviceNeighbors(points, torch_device).kneighbors(n_neighbors=4)
    copies = [0, *range(50, 130)]
    assert (distances[copies] == 0).all()
    assert np.isin(found[copies], copies).all()
    assert (found != np.arange(200)[:, None]).all()
    assert (distances[1:50] > 0).all()


def test_ties_go_to_the_smaller_number(torch_device):
    line = np.arange(9.0)[:, None]
    _, found = DeviceNeighbors(line, torch_device).kneighbors(n_neighbors=1)
    assert found.ravel().tolist() == [1, 0, 1, 2, 3, 4, 5, 6, 7]


def test_queries_of_their_own(torch_device):
    rng = np.random.default_rng(3)
    points, queries = rng.normal(size=(400, 6)), rng.normal(size=(30, 6))
    distances, found = DeviceNeighbors(points, torch_device).kneighbors(queries, n_neighbors=7)
    assert_nearest(points, queries, distances, found, 7)


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_queries_among_bytes(dtype, torch_device):
    """Whole numbers and others; the extremes of uint8 on both sides."""
    rng = np.random.default_rng(8)
    points = rng.integers(0, 256, (500, 30), dtype=np.uint8)
    points[:3] = [[0], [255], [128]]
    queries = (255 * rng.random((40, 30))).astype(dtype)
    index = DeviceNeighbors(points, torch_device)
    distances, found = index.kneighbors(queries, n_neighbors=5)
    assert_nearest(points.astype(np.float64), queries.astype(np.float64), distances, found, 5)
    assert index.n_repeated == (0 if dtype == np.uint8 else 40)


def test_scores_of_bytes_are_exact_up_to_the_last_sum(torch_device):
    import torch

    points = torch.tensor(np.random.default_rng(9).integers(-255, 256, (128, 100)), device=torch_device)
    scaled = (points.double() / 256).bfloat16()
    scores = ByteScores(scaled, 120).of(scaled[:7].double())
    wide = scaled.double()
    expected = wide.square().sum(dim=1) / 2 - wide[:7] @ wide.T
    assert float((scores[:, :120].double() - expected[:, :120]).abs().max()) < 100 * 2.0**-22 * 100
    assert torch.isinf(scores[:, 120:]).all()


def test_small_blocks_change_nothing(torch_device, monkeypatch):
    points = np.random.default_rng(4).normal(size=(500, 10))
    whole = DeviceNeighbors(points, torch_device).kneighbors(n_neighbors=10)
    monkeypatch.setattr(module, "BLOCK_BYTES", 1 << 20)
    monkeypatch.setattr(module, "CONVERTED", 100)
    for one, other in zip(whole, DeviceNeighbors(points, torch_device).kneighbors(n_neighbors=10), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("n_features", [2, 20])
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_the_same_graph_as_on_the_cpu(n_features, offset):
    rng = np.random.default_rng(5)
    blobs = np.repeat(50 * rng.normal(size=(6, n_features)), 60, axis=0) + rng.normal(size=(360, n_features)) + offset
    with pytest.warns(UserWarning, match="6 connected components"):
        expected = knn_affinity(blobs)
    with pytest.warns(UserWarning, match="6 connected components") as caught:
        affinity = knn_affinity(blobs, device="cuda")
    assert caught[0].filename == __file__
    np.testing.assert_allclose(affinity.toarray(), expected.toarray(), rtol=1e-10)


@pytest.mark.usefixtures("gpu")
@pytest.mark.filterwarnings("ignore:.*connected components:UserWarning")
@pytest.mark.parametrize("n_parts", [1, 4])
def test_uint8_stays_uint8(n_parts):
    rng = np.random.default_rng(6)
    corners = rng.integers(0, 200, (n_parts, 30), dtype=np.uint8)
    points = np.repeat(corners, 100, axis=0) + rng.integers(0, 50, (100 * n_parts, 30), dtype=np.uint8)
    expected = knn_affinity(points.astype(np.float64))
    np.testing.assert_allclose(knn_affinity(points, device="cuda").toarray(), expected.toarray(), rtol=1e-10)


@pytest.mark.usefixtures("gpu")
def test_the_estimator_takes_uint8():
    points = np.random.default_rng(7).integers(0, 256, (200, 30), dtype=np.uint8)
    expected = COSC(random_state=0).fit(points, cannot_link=[(0, 1)])
    model = COSC(random_state=0, device="cuda").fit(points, cannot_link=[(0, 1)])
    assert model.labels_.tolist() == expected.labels_.tolist()
    assert model.predict(points[:50]).tolist() == expected.predict(points[:50]).tolist()
