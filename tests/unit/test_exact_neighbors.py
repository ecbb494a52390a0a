"""Every exact search against all distances, whatever the points: far from the origin, in any unit, equal, sparse."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.feature_extraction.text import TfidfTransformer

from tightcut import knn_affinity
from tightcut.neighbors import KnnSettings, check_points, cross_affinity, projections
from tightcut.neighbors import exact as blocked
from tightcut.neighbors.points import apply_metric, is_memory_mapped, unit_scale
from tightcut.neighbors.sparse import SparseNeighbors
from tightcut.neighbors.tree import make_index

UNITS = [1e-160, 1e-30, 1.0, 1e30, 1e140]


def nearest(queries, points, k):
    """Squared distances by differences in scaled coordinates (extended where the machine has it), smallest first."""
    scale = np.longdouble(unit_scale(points))
    x, y = (np.asarray(some, dtype=np.longdouble) * scale for some in (queries, points))
    squares = np.stack([((row - y) ** 2).sum(axis=1) for row in x])
    if queries is points:
        np.fill_diagonal(squares, np.inf)
    return np.sort(squares, axis=1)[:, :k], squares, scale


def assert_exact(index, points, k, queries=None):
    distances, found = index.kneighbors(queries, k)
    dense = points.toarray() if sp.issparse(points) else points
    asked = dense if queries is None else queries.toarray() if sp.issparse(queries) else queries
    expected, squares, scale = nearest(asked, dense, k)
    assert all(len(set(row)) == k for row in found.tolist())
    if queries is None:
        assert (found != np.arange(len(dense))[:, None]).all()
    np.testing.assert_allclose(np.square(distances * scale), expected, rtol=1e-10)
    np.testing.assert_allclose(np.take_along_axis(squares, found, axis=1), expected, rtol=1e-10)


@st.composite
def point_sets(draw):
    """Clumps with copies and constant columns, anywhere, in any unit and type."""
    n, n_features = draw(st.integers(3, 150)), draw(st.integers(1, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    points = rng.normal(size=(n, n_features)) * 10.0 ** draw(st.sampled_from([-9, -3, 0]))
    points += rng.integers(0, 3, size=(n, 1)) * draw(st.sampled_from([0, 1, 100]))
    points[:, rng.random(n_features) < 0.3] = 7.0
    points[:, 0] += draw(st.sampled_from([0.0, 1.7e9, -1e9]))
    copies = draw(st.integers(0, n - 1))
    points[rng.permutation(n)[:copies]] = points[0]
    dtype = draw(st.sampled_from([np.float64, np.float32, np.uint8]))
    if dtype == np.uint8:
        return rng.integers(0, draw(st.sampled_from([2, 5, 256])), size=points.shape).astype(dtype)
    return points.astype(dtype) if dtype == np.float32 else points * draw(st.sampled_from(UNITS))


@settings(max_examples=80)
@given(point_sets(), st.sampled_from(["tree", "blocked", "projections", "sparse"]), st.integers(1, 12))
def test_any_points(points, search, k):
    k = min(k, len(points) - 1)
    with pytest.MonkeyPatch.context() as patch:
        for name, size in (("CELL", 20), ("SMALL_CELL", 20), ("NEAR", 2)):
            patch.setattr(blocked, name, size)
        if search == "projections":
            points = np.repeat(points, 10, axis=1)
            sizes = {"MIN_POINTS": 2, "MIN_FEATURES": 2, "SAMPLE": 2, "QUERIES": 2, "STEP": 1, "DIFFERENCE_COST": 0}
            for name, size in sizes.items():
                patch.setattr(projections, name, size)
            patch.setattr(projections, "MAX_COMPONENTS", 2)
            patch.setattr(projections, "BOUND_COST", -1e9)
            assert projections.useful_projection(points, k, unit_scale(points)) is not None
        given_points = sp.csr_array(points) if search == "sparse" else points
        assert_exact(make_index(given_points, search if search == "tree" else "blocked"), given_points, k)


@pytest.mark.parametrize("search", ["tree", "blocked", "sparse"])
@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("unit", UNITS)
def test_queries_in_any_unit(unit, offset, search):
    rng = np.random.default_rng(0)
    points, queries = (unit * (rng.normal(size=(n, 6)) + offset) for n in (200, 30))
    queries[0] = points[0]
    if search == "sparse":
        points, queries = sp.csr_array(points), sp.csr_array(queries)
    assert_exact(make_index(points, "tree" if search == "tree" else "blocked"), points, 5, queries)


def words(n, n_features=400, per_row=12, seed=0, dtype=np.float64):
    """Counts of words, of which few are frequent."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, n_features + 1)
    columns = rng.choice(n_features, size=n * per_row, p=share / share.sum())
    rows = np.repeat(np.arange(n), per_row)
    return sp.csr_array((np.ones(n * per_row), (rows, columns)), shape=(n, n_features)).astype(dtype)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, np.int64])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (50, 49), (300, 10)])
def test_sparse_counts(n, k, dtype, n_jobs):
    """Counts tie, many rows have no word in common, and some are equal."""
    points = check_points(words(n, dtype=dtype))
    assert_exact(SparseNeighbors(points, n_jobs=n_jobs), points, k)
    assert_exact(SparseNeighbors(points, n_jobs=n_jobs), points, k, check_points(words(40, seed=1, dtype=dtype)))


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.filterwarnings("ignore:.*connected components:UserWarning")
def test_sparse_and_dense_give_the_same_graph(metric, form):
    points = TfidfTransformer().fit_transform(words(300, per_row=40))
    expected = knn_affinity(points.toarray(), 7, metric=metric)
    assert_allclose_sparse(knn_affinity(form(points), 7, metric=metric), expected)


def assert_allclose_sparse(one, other):
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_allclose(one.data, other.data, rtol=1e-9)


def test_a_sparse_matrix_stays_as_it_is():
    """Unsorted indices, one of them twice."""
    matrix = sp.csr_array(
        (np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4, 4])), shape=(3, 3)
    )
    affinity = knn_affinity(matrix, 1, connect=False)
    assert matrix.indices.tolist() == [2, 0, 1, 1]
    np.testing.assert_array_equal(affinity.toarray(), knn_affinity(matrix.toarray(), 1, connect=False).toarray())


def test_the_same_for_any_number_of_threads():
    points = check_points(words(700))
    (one, other), (same, again) = (SparseNeighbors(points, n_jobs=jobs).kneighbors(n_neighbors=7) for jobs in (1, 3))
    np.testing.assert_array_equal(one, same)
    np.testing.assert_array_equal(other, again)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("exact_work", [1 << 31, 0])
def test_components_of_sparse_points_are_joined(sparse, exact_work, monkeypatch):
    from tightcut.neighbors import bridges

    monkeypatch.setattr(bridges, "EXACT_WORK", exact_work)
    monkeypatch.setattr(bridges, "SMALL_COMPONENT", 10)
    topics = [words(size, 50, seed=size).toarray() for size in (5, 60, 80)]
    points = np.zeros((145, 150))
    for topic, (start, own) in enumerate(zip((0, 5, 65), topics, strict=True)):
        points[start : start + len(own), 50 * topic : 50 * topic + 50] = own
    with pytest.warns(UserWarning, match="connected components"):
        affinity = knn_affinity(sp.csr_array(points) if sparse else points, 4, metric="cosine")
    assert sp.csgraph.connected_components(affinity)[0] == 1


@pytest.mark.parametrize("unit", UNITS)
def test_bridges_do_not_depend_on_the_unit(unit, monkeypatch):
    from tightcut.neighbors import bridges

    rng = np.random.default_rng(0)
    points = np.concatenate([centre + rng.normal(size=(30, 3)) for centre in 50 * rng.normal(size=(6, 3))])
    for limit in (64, 0):
        monkeypatch.setattr(bridges, "SMALL_COMPONENT", limit)
        for work in (1 << 31, 0):
            monkeypatch.setattr(bridges, "EXACT_WORK", work)
            with pytest.warns(UserWarning, match="6 connected components"):
                expected, affinity = (knn_affinity(own, 5) for own in (points, unit * points))
            assert_allclose_sparse(affinity, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("neighbors", ["tree", "blocked", "auto"])
def test_cosine_neighbours(neighbors, dtype):
    """Against cosine distances; ties, of which there are many among small integers, may go either way."""
    points = np.random.default_rng(0).integers(1, 200, size=(150, 12)).astype(dtype)
    index = make_index(apply_metric(points, "cosine"), neighbors)
    distances, found = index.kneighbors(n_neighbors=6)
    expected = cdist(points.astype(np.float64), points.astype(np.float64), "cosine")
    np.fill_diagonal(expected, np.inf)
    np.testing.assert_allclose(distances**2 / 2, np.sort(expected, axis=1)[:, :6], rtol=1e-9)
    np.testing.assert_allclose(np.take_along_axis(expected, found, axis=1), distances**2 / 2, rtol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("unit", [2.0**-500, 1.0, 2.0**460])
def test_multiples_of_a_row_have_the_same_direction(unit, sparse):
    rng = np.random.default_rng(1)
    rows = np.repeat(rng.integers(-9, 10, size=(20, 7)) + 0.5, 4, axis=0) * np.tile([1, 3, 7, 1000], 20)[:, None] * unit
    points = check_points(sp.csr_array(rows) if sparse else rows)
    unit_rows = apply_metric(points, "cosine")
    distances, found = make_index(unit_rows).kneighbors(n_neighbors=3)
    assert (distances == 0).all()
    assert (found // 4 == np.arange(80)[:, None] // 4).all()


def test_new_points_by_cosine():
    points, new = (np.random.default_rng(n).normal(size=(n, 8)) for n in (200, 20))
    weights = cross_affinity(new, points, KnnSettings(5, metric="cosine"))
    distances = np.sqrt(cdist(new, points, "cosine"))
    for row in range(20):
        kept = np.argsort(distances[row])[:5]
        expected = np.exp(-4 * (distances[row, kept] / distances[row, kept[-1]]) ** 2)
        np.testing.assert_allclose(weights[[row]].toarray()[0, kept], expected, rtol=1e-9)
    sparse = cross_affinity(sp.csr_array(new), sp.csr_array(points), KnnSettings(5, metric="cosine"))
    np.testing.assert_allclose(sparse.toarray(), weights.toarray(), rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_zero_rows_have_no_direction(form):
    points = np.eye(6)
    points[2] = 0
    with pytest.raises(ValueError, match='metric="cosine".*not all zero; row 2 is. Drop'):
        knn_affinity(form(points), 2, metric="cosine")
    points[4] = 0
    with pytest.raises(ValueError, match="2 rows are, the first of them row 2"):
        knn_affinity(form(points), 2, metric="cosine")
    knn_affinity(form(points), 5)


@pytest.mark.parametrize("neighbors", ["tree", "approximate"])
def test_sparse_points_need_the_sparse_search(neighbors):
    with pytest.raises(ValueError, match=f'neighbors="{neighbors}" needs a dense X'):
        knn_affinity(words(20), 3, neighbors=neighbors)


@pytest.mark.parametrize("metric", ["cosinus", None, 1])
def test_a_wrong_metric_is_named(metric):
    with pytest.raises(ValueError, match="metric must be one of 'euclidean', 'cosine', 'precomputed'; got"):
        knn_affinity(np.eye(3), 1, metric=metric)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_sparse_values_are_checked(value):
    matrix = sp.csr_array(np.diag([1.0, value, 2.0]))
    with pytest.raises(ValueError, match="NaN|infinity|rescale"):
        knn_affinity(matrix, 1)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_new_points_in_another_unit_are_refused(form):
    points = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match="are their units the same"):
        cross_affinity(form(1e10 * points), form(1e-160 * points), KnnSettings(3))


def test_memory_of_a_sparse_search_is_far_from_dense():
    """Neither n x n nor n x n_features numbers."""
    points = check_points(words(3000, 20_000))
    SparseNeighbors(points[:50]).kneighbors(n_neighbors=3)  # compiles
    tracemalloc.start()
    try:
        SparseNeighbors(points, n_jobs=1).kneighbors(n_neighbors=3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3000 * 3000 * 8 / 20


def test_cosine_distances_of_a_memory_mapped_file(tmp_path):
    points = np.random.default_rng(0).normal(size=(200, 20)).astype(np.float32)
    np.save(tmp_path / "points.npy", points)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    assert not is_memory_mapped(apply_metric(mapped, "cosine"))
    affinity, expected = (knn_affinity(own, 5, metric="cosine") for own in (mapped, points))
    assert_allclose_sparse(affinity, expected)


def test_progress_of_a_sparse_search():
    calls = []
    knn_affinity(words(600), 3, connect=False, progress=lambda *call: calls.append(call[:3]))
    assert calls == [("neighbours", done, 3) for done in (1, 2, 3)]


@pytest.mark.parametrize("spread", [1e-12, 1e-9])
@pytest.mark.parametrize("own", [True, False])
def test_clumps_that_products_in_float64_cannot_tell_apart(own, spread):
    """More members than candidates, in one cell with other clumps."""
    rng = np.random.default_rng(0)
    points = np.repeat([[0.0], [1.0], [2.0]], 40, axis=0) + spread * rng.normal(size=(120, 1))
    queries = None if own else points[:30] + spread
    assert_exact(make_index(points, "blocked"), points, 3, queries)
