"""Projections are never farther apart than their points, and a search by them finds what a search without finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_digits

from tightcut.kernels import neighbors as kernels
from tightcut.neighbors import exact as blocked
from tightcut.neighbors import projections
from tightcut.neighbors.exact import BlockedNeighbors
from tightcut.neighbors.points import unit_scale


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    """Many cells for few points, and projections of them."""
    for name, size in (("CELL", 60), ("NEAR", 3), ("RANKED", 100)):
        monkeypatch.setattr(blocked, name, size)
    for name, size in (("MIN_POINTS", 200), ("SAMPLE", 100), ("QUERIES", 20), ("MAX_COMPONENTS", 64)):
        monkeypatch.setattr(projections, name, size)


@pytest.fixture
def always(monkeypatch):
    """As if a distance by differences cost nothing."""
    monkeypatch.setattr(projections, "DIFFERENCE_COST", 0)


def flat(n, n_features=100, n_directions=6, noise=0.05, seed=0, dtype=np.float64):
    """Points near a plane of few dimensions."""
    rng = np.random.default_rng(seed)
    plane = rng.normal(size=(n, n_directions)) @ rng.normal(size=(n_directions, n_features))
    points = plane + noise * rng.normal(size=plane.shape)
    return np.clip(128 + 12 * points, 0, 255).astype(dtype)


def assert_nearest(points, k, **settings):
    assert projections.useful_projection(points, k, unit_scale(points)) is not None
    distances, found = BlockedNeighbors(points, **settings).kneighbors(n_neighbors=k)
    everything = cdist(points, points)
    np.fill_diagonal(everything, np.inf)
    np.testing.assert_allclose(distances, np.sort(everything, axis=1)[:, :k], rtol=1e-12)
    np.testing.assert_allclose(distances, np.take_along_axis(everything, found, axis=1), rtol=1e-12)
    assert all(len(set(row)) == k for row in found.tolist())


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize(("n", "n_features", "k"), [(200, 64, 1), (700, 100, 10), (1500, 300, 5)])
def test_exact(n, n_features, k, dtype, n_jobs):
    assert_nearest(flat(n, n_features, dtype=dtype), k, n_jobs=n_jobs)


@pytest.mark.usefixtures("always")
def test_exact_on_images():
    assert_nearest(load_digits().data.astype(np.uint8), 10)


@given(st.integers(200, 400), st.integers(1, 12), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_exact_on_small_integers(n, k, largest, seed):
    """Nearly all distances tie; the smaller number comes first."""
    points = np.repeat(np.random.default_rng(seed).integers(0, largest + 1, (n, 4)), 20, axis=1).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projections, "DIFFERENCE_COST", 0)
        distances, found = BlockedNeighbors(points).kneighbors(n_neighbors=k)
    squares = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    expected = np.argsort(squares, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(distances**2, np.take_along_axis(squares, expected, axis=1), rtol=1e-12)


@given(st.integers(1, 10), st.floats(-200, 150), st.floats(0, 6), st.integers(0, 2**32 - 1))
def test_no_two_are_farther_apart_than_their_points_and_the_error(n_directions, exponent, offset, seed):
    points = (flat(250, 80, n_directions, seed=seed) + 10**offset) * 2.0**exponent
    scale = unit_scale(points)
    projection = projections.useful_projection(points, 3, scale)
    if projection is not None:
        assert (
            pdist(projection.points.astype(np.float64)) <= pdist(points * scale) * (1 + 1e-9) + projection.error
        ).all()


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("spread", [1e-9, 1e-7, 1e-5, 1e-3])
def test_dense_clumps(spread):
    """Projections in float32 cannot tell the members of a clump apart; the points can."""
    rng = np.random.default_rng(0)
    points = 1000 + np.repeat(flat(12), 50, axis=0) + spread * flat(600, seed=1)[rng.permutation(600)]
    assert_nearest(points, 5)


@pytest.mark.parametrize("scale", [1e-300, 1e-140, 1e30, 1e140])
def test_extreme_units(scale):
    expected, found = BlockedNeighbors(flat(300)).kneighbors(n_neighbors=4)
    distances, again = BlockedNeighbors(scale * flat(300)).kneighbors(n_neighbors=4)
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(distances, scale * expected, rtol=1e-12)


def test_duplicates():
    points = flat(400, dtype=np.float32)
    points[50:330] = points[0]
    distances, found = BlockedNeighbors(points).kneighbors(n_neighbors=4)
    copies = [0, *range(50, 330)]
    assert (distances[copies] == 0).all()
    assert np.isin(found[copies], copies).all()
    assert (found != np.arange(400)[:, None]).all()


@pytest.mark.parametrize(
    "points",
    [
        np.random.default_rng(0).normal(size=(500, 80)),
        np.full((500, 80), 3.0),
        flat(150),
        flat(500, n_features=60),
    ],
    ids=["spread evenly", "all equal", "too few", "few features"],
)
def test_none_where_they_do_not_pay(points):
    assert projections.useful_projection(points, 5, unit_scale(points)) is None
    BlockedNeighbors(points).kneighbors(n_neighbors=5)


def test_few_distances_are_measured(monkeypatch):
    """Bounds by projections rule out nearly all pairs."""
    points, near = flat(3000, n_directions=3), []
    update = kernels.update_lists

    def counted(products, left, right, *rest):
        if len(rest[0]):
            lower, bounds = left[0][:, None] + right[0] - products, rest[-1]
            near.append(((lower <= bounds[left[1]][:, None]) | (lower <= bounds[right[1]])).sum())
        update(products, left, right, *rest)

    monkeypatch.setattr(kernels, "update_lists", counted)
    BlockedNeighbors(points, n_jobs=1).kneighbors(n_neighbors=5)
    assert 0 < sum(near) < 0.05 * len(points) ** 2 / 2


def test_queries_are_answered_as_ever():
    points, queries = flat(600), flat(50, seed=1)
    distances, _ = BlockedNeighbors(points).kneighbors(queries, n_neighbors=4)
    np.testing.assert_allclose(distances, np.sort(cdist(queries, points), axis=1)[:, :4], rtol=1e-12)
