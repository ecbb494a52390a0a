"""The blocked search against all distances in float64; its memory, its threads, its approximate form."""

import sys
import tracemalloc
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_info

from tightcut import COSC, knn_affinity
from tightcut.neighbors import KnnSettings, approximate, cells, cross_affinity, knn_graph, projections
from tightcut.neighbors import exact as blocked
from tightcut.neighbors import points as inputs
from tightcut.neighbors import tree as choice
from tightcut.neighbors.tree import BlockedNeighbors, make_index

TYPES = [np.float64, np.float32, np.uint8]
needs_faiss = pytest.mark.skipif(not find_spec("faiss"), reason="needs faiss: pip install faiss-cpu")
APPROXIMATE = pytest.param("approximate", marks=needs_faiss)


@pytest.fixture(autouse=True)
def small_cells(monkeypatch):
    """Many cells for few points."""
    for name, size in (("CELL", 60), ("SMALL_CELL", 30), ("MAPPED_CELL", 70), ("NEAR", 3), ("RANKED", 100)):
        monkeypatch.setattr(blocked, name, size)


def normal(n, n_features, seed=0, dtype=np.float64):
    return (100 + 20 * np.random.default_rng(seed).normal(size=(n, n_features))).astype(dtype)


def peak_memory(function, **arguments):
    """Bytes allocated by numpy and Python at most; pages of a mapped file do not count."""
    tracemalloc.start()
    try:
        function(**arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_nearest(points, k, queries=None, **settings):
    """Distances are the k smallest, and belong to the points that were found; returns the index."""
    index = BlockedNeighbors(points, **settings)
    distances, found = index.kneighbors(queries, n_neighbors=k)
    everything = cdist(points if queries is None else queries, points)
    if queries is None:
        np.fill_diagonal(everything, np.inf)
    np.testing.assert_allclose(distances, np.sort(everything, axis=1)[:, :k], rtol=1e-12)
    np.testing.assert_allclose(distances, np.take_along_axis(everything, found, axis=1), rtol=1e-12)
    assert all(len(set(row)) == k for row in found.tolist())
    return index


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("n", "n_features", "k"), [(2, 1, 1), (50, 3, 10), (64, 5, 63), (700, 20, 10), (1500, 2, 10), (900, 100, 33)]
)
def test_exact(n, n_features, k, dtype, n_jobs):
    points = normal(n, n_features, dtype=dtype)
    assert_nearest(points, k, n_jobs=n_jobs)
    assert_nearest(points, k, normal(40, n_features, 1, dtype), n_jobs=n_jobs)


@given(st.integers(2, 200), st.integers(1, 5), st.integers(1, 12), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_exact_on_small_integers(n, n_features, k, largest, seed):
    """Nearly all distances tie, which no certificate survives."""
    points = np.random.default_rng(seed).integers(0, largest + 1, (n, n_features)).astype(np.float32)
    assert_nearest(points, min(k, n - 1))


@pytest.mark.parametrize("dtype", TYPES)
def test_equals_scikit_learn(dtype):
    points = normal(800, 12, dtype=dtype)
    distances, found = make_index(points, "blocked").kneighbors(n_neighbors=8)
    expected, numbers = make_index(points, "tree").kneighbors(n_neighbors=8)
    np.testing.assert_array_equal(distances, expected)
    if dtype != np.uint8:  # whose distances tie
        np.testing.assert_array_equal(found, numbers)


@pytest.mark.parametrize("offset", [1e8, 1.7e9])
@pytest.mark.parametrize("n_features", [3, 20])
def test_the_automatic_choice_is_exact_far_from_the_origin(n_features, offset):
    """A column of seconds since 1970 among others: products of such coordinates lose every small distance."""
    points = np.random.default_rng(0).normal(size=(400, n_features))
    points[:, 0] += offset
    points[200:, 0] += 30
    everything = cdist(points, points)
    np.fill_diagonal(everything, np.inf)
    distances, found = make_index(points).kneighbors(n_neighbors=10)
    np.testing.assert_allclose(distances, np.sort(everything, axis=1)[:, :10], rtol=1e-12)
    np.testing.assert_allclose(distances, np.take_along_axis(everything, found, axis=1), rtol=1e-12)


@pytest.mark.parametrize("n_features", [3, 20])
@pytest.mark.parametrize("unit", [2.0**-530, 2.0**-900, 2.0**400])
def test_the_unit_of_length_does_not_change_the_graph(n_features, unit):
    points = np.random.default_rng(0).normal(size=(200, n_features))
    np.testing.assert_allclose(knn_affinity(points * unit).toarray(), knn_affinity(points).toarray(), rtol=1e-12)


@pytest.mark.parametrize("spread", [1e-9, 1e-6, 1e-3, 1.0])
def test_dense_clumps_far_from_the_origin(spread):
    rng = np.random.default_rng(0)
    points = 1000 + np.repeat(rng.normal(size=(8, 3)), 100, axis=0) + spread * rng.normal(size=(800, 3))
    assert_nearest(points, 5)


def test_strays_make_float32_unsure():
    points = np.concatenate([np.random.default_rng(0).normal(size=(500, 10)), 1e6 * np.eye(10)])
    assert assert_nearest(points, 5).n_repeated > 0


def test_columns_that_are_nearly_always_zero():
    rng = np.random.default_rng(1)
    points = np.where(rng.random((1000, 40)) < 0.02, 50.0, 0.0) + 0.01 * rng.normal(size=(1000, 40))
    assert_nearest(points.astype(np.float32), 10)


@pytest.mark.parametrize("scale", [1e-300, 1e-140, 1e30, 1e140])
def test_extreme_units(scale):
    points = normal(300, 4)
    expected, found = BlockedNeighbors(points).kneighbors(n_neighbors=4)
    distances, again = BlockedNeighbors(scale * points).kneighbors(n_neighbors=4)
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(distances, scale * expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1e-40, 1e-37, 1e36])
def test_extreme_float32(size):
    points = (size * np.random.default_rng(0).uniform(-9, 9, size=(200, 3))).astype(np.float32)
    _, found = BlockedNeighbors(points).kneighbors(n_neighbors=4)
    _, expected = BlockedNeighbors(points.astype(np.float64)).kneighbors(n_neighbors=4)
    np.testing.assert_array_equal(found, expected)


def test_queries_far_away():
    assert_nearest(normal(300, 4), 6, 1e30 * normal(50, 4, 1))


def test_duplicates_are_at_distance_zero_and_a_point_is_not_its_own_neighbour():
    points = normal(400, 20, dtype=np.float32) + 1000
    points[50:330] = points[0]
    distances, found = BlockedNeighbors(points).kneighbors(n_neighbors=4)
    copies = [0, *range(50, 330)]
    assert (distances[copies] == 0).all()
    assert np.isin(found[copies], copies).all()
    assert (found != np.arange(400)[:, None]).all()
    assert (distances[1:50] > 0).all()


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_points_that_are_all_equal(value):
    distances, found = BlockedNeighbors(np.full((200, 3), value)).kneighbors(n_neighbors=5)
    assert (distances == 0).all()
    assert (found != np.arange(200)[:, None]).all()


def test_ties_go_to_the_smaller_number():
    _, found = BlockedNeighbors(np.arange(300.0)[:, None]).kneighbors(n_neighbors=1)
    assert found.ravel().tolist() == [1, *range(299)]


@pytest.mark.parametrize("neighbors", ["blocked", APPROXIMATE])
def test_threads_do_not_change_the_answer(neighbors):
    points = np.random.default_rng(0).integers(0, 9, size=(2000, 6)).astype(np.float32)
    one = make_index(points, neighbors, n_jobs=1).kneighbors(n_neighbors=7)
    for own, other in zip(make_index(points, neighbors, n_jobs=4).kneighbors(n_neighbors=7), one, strict=True):
        np.testing.assert_array_equal(own, other)


def test_blas_has_its_threads_back_afterwards():
    before = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    BlockedNeighbors(normal(300, 5), n_jobs=2).kneighbors(n_neighbors=3)
    assert [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"] == before


@pytest.mark.parametrize("maker", [cells.near_cells, cells.consecutive_cells])
def test_cells_are_a_partition_sorted_by_distance(maker):
    points, rows = normal(500, 7), np.arange(0, 500, 2)
    made = maker(points, rows, 40, 0.5)
    assert sorted(made.rows) == rows.tolist()
    for cell in range(made.n_cells):
        own = made.rows[made.span(cell)]
        assert 0 < len(own) <= 40
        away = 0.5 * np.linalg.norm(points[own] - made.centres[cell], axis=1)
        np.testing.assert_allclose(made.offsets[made.span(cell)], away)
        np.testing.assert_allclose(away, np.sort(away))


@pytest.mark.parametrize("copies", [1, 12])
def test_trees_in_parts(copies, monkeypatch):
    """Parts of the queries give what all at once give; no point is its own neighbour, though an equal one may be."""
    points = np.repeat(normal(40, 2), copies, axis=0)
    whole = make_index(points, "tree").kneighbors(n_neighbors=5)
    monkeypatch.setattr(choice, "QUERY_ROWS", 7)
    calls = []
    parts = make_index(points, "tree", progress=lambda *call: calls.append(call[:3])).kneighbors(n_neighbors=5)
    np.testing.assert_array_equal(parts[0], whole[0])
    everything = cdist(points, points)
    np.fill_diagonal(everything, np.inf)
    np.testing.assert_allclose(whole[0], np.sort(everything, axis=1)[:, :5], atol=1e-12)
    assert (parts[1] != np.arange(len(points))[:, None]).all()
    n_parts = -(-len(points) // 7)
    assert calls == [("neighbours", done + 1, n_parts) for done in range(n_parts)]


@pytest.mark.parametrize(("n", "n_features", "expected"), [(50, 9, "Tree"), (60, 9, "Blocked"), (60, 5, "Tree")])
def test_auto(n, n_features, expected, monkeypatch):
    monkeypatch.setattr(choice, "BLOCKED_FROM", 55)
    assert type(make_index(normal(n, n_features))).__name__.startswith(expected)


def test_far_cells_are_left_out(monkeypatch):
    """The number of pairs looked at grows in proportion to the points: the search is not quadratic in few dimensions."""
    from tightcut.kernels import neighbors as kernels

    seen = []
    update = kernels.update_lists
    monkeypatch.setattr(
        kernels, "update_lists", lambda products, *rest: (seen.append(products.size), update(products, *rest))
    )
    counts = []
    for n in (4000, 16000):
        seen.clear()
        BlockedNeighbors(np.random.default_rng(0).uniform(size=(n, 2))).kneighbors(n_neighbors=5)
        counts.append(sum(seen))
    assert counts[1] < 6 * counts[0]


@pytest.mark.parametrize("dtype", TYPES)
def test_memory_is_the_graph_and_a_block(dtype, monkeypatch):
    """Points are never copied whole, least of all to a wider type: twice as many take hardly more.

    How much a block takes depends on the temporaries of numpy and scipy, which differ between versions.
    """
    monkeypatch.setattr(blocked, "CELL", 300)
    monkeypatch.setattr(projections, "MIN_POINTS", 1000)
    points = np.random.default_rng(0).integers(0, 255, size=(4000, 2000)).astype(dtype)
    BlockedNeighbors(points[:100]).kneighbors(n_neighbors=3)  # compiles
    half, whole = (peak_memory(BlockedNeighbors(points[:n]).kneighbors, n_neighbors=3) for n in (2000, 4000))
    assert whole - half < 2000 * 2000 / 4  # a quarter of a copy as uint8


def test_a_memory_mapped_file_gives_the_same_graph_in_less_memory_than_it_holds(tmp_path):
    points = np.random.default_rng(0).normal(size=(3000, 1000)).astype(np.float32)
    np.save(tmp_path / "points.npy", points)
    expected = knn_affinity(points, 5, connect=False)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    knn_affinity(mapped[:100], 5, connect=False)  # compiles
    graphs = []
    assert peak_memory(lambda: graphs.append(knn_affinity(mapped, 5, connect=False))) < points.nbytes / 2
    np.testing.assert_array_equal(graphs[0].indices, expected.indices)
    np.testing.assert_array_equal(graphs[0].data, expected.data)


def test_a_memory_mapped_file_is_read_from_its_beginning_to_its_end(tmp_path):
    np.save(tmp_path / "points.npy", normal(300, 3))
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    assert inputs.is_memory_mapped(mapped)
    assert inputs.is_memory_mapped(np.asarray(mapped)[10:])
    assert not inputs.is_memory_mapped(np.array(mapped))
    rows = BlockedNeighbors(np.asarray(mapped))._cells.rows
    assert sorted(rows[:70]) == list(range(70))


@pytest.mark.parametrize("neighbors", ["tree", "blocked", APPROXIMATE])
@pytest.mark.parametrize("dtype", TYPES)
def test_components_are_joined_with_every_choice(neighbors, dtype):
    points = np.concatenate([normal(150, 3) % 20, normal(150, 3) % 20 + 100, normal(5, 3) % 20 + 200]).astype(dtype)
    with pytest.warns(UserWarning, match="connected components"):
        affinity = knn_affinity(points, 4, neighbors=neighbors)
    assert sp.csgraph.connected_components(affinity)[0] == 1
    assert (affinity != affinity.T).nnz == 0


@pytest.mark.parametrize("neighbors", ["tree", "blocked"])
def test_exact_choices_give_the_same_graph(neighbors):
    points = normal(700, 20, dtype=np.float32)
    expected = knn_affinity(points)
    np.testing.assert_array_equal(knn_affinity(points, neighbors=neighbors).toarray(), expected.toarray())
    assert knn_graph(points, KnnSettings(neighbors=neighbors)).recall == 1.0


@needs_faiss
def test_recall_is_what_a_comparison_with_the_truth_finds(monkeypatch):
    monkeypatch.setattr(approximate, "PROBED", 4)
    points = normal(3000, 40, dtype=np.float32)
    index = make_index(points, "approximate")
    distances, _ = index.kneighbors(n_neighbors=10)
    true, _ = BlockedNeighbors(points).kneighbors(n_neighbors=10)
    everywhere = (distances <= true[:, -1:]).mean()
    assert 0.2 < everywhere < 1
    assert index.recall(distances) == pytest.approx(everywhere, abs=0.05)
    assert index.recall(true) == 1.0
    assert knn_graph(points, KnnSettings(neighbors="approximate")).recall == index.recall(distances)


@needs_faiss
def test_approximate_neighbours_are_neighbours_at_their_true_distance():
    points = normal(2000, 10)
    distances, found = make_index(points, "approximate").kneighbors(n_neighbors=100)
    assert (found != np.arange(2000)[:, None]).all()
    assert all(len(set(row)) == 100 for row in found.tolist())
    np.testing.assert_allclose(distances, np.linalg.norm(points[:, None] - points[found], axis=2))


@needs_faiss
def test_too_few_in_the_nearest_lists_means_looking_into_all(monkeypatch):
    monkeypatch.setattr(approximate, "PROBED", 1)
    _, found = make_index(normal(400, 3), "approximate").kneighbors(n_neighbors=300)
    assert all(len(set(row)) == 300 for row in found.tolist())
    assert (found >= 0).all()


@needs_faiss
@pytest.mark.parametrize("n", [2, 3, 50])
def test_few_points_approximately(n):
    distances, _ = make_index(normal(n, 3), "approximate").kneighbors(n_neighbors=n - 1)
    np.testing.assert_allclose(distances, np.sort(cdist(normal(n, 3), normal(n, 3)), axis=1)[:, 1:])


def test_without_faiss_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"of the extra tightcut\[faiss\]: pip install faiss-cpu"):
        knn_affinity(normal(50, 3), neighbors="approximate")


@pytest.mark.parametrize("neighbors", ["auto", "tree", "blocked", APPROXIMATE])
def test_estimator_reports_recall_and_predicts_with_every_choice(neighbors):
    points = np.concatenate([normal(200, 3) % 20, normal(200, 3) % 20 + 15])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = COSC(neighbors=neighbors, effort=0.3, random_state=0).fit(points)
    assert model.neighbor_recall_ == pytest.approx(1.0, abs=0.1 if neighbors == "approximate" else 0)
    np.testing.assert_array_equal(model.predict(points), model.labels_)


@pytest.mark.parametrize("neighbors", ["tree", "blocked"])
def test_cross_affinity(neighbors):
    points, new = normal(500, 6), normal(20, 6, 1)
    affinity = cross_affinity(new, points, KnnSettings(5, neighbors=neighbors))
    distances = cdist(new, points)
    for row in range(20):
        nearest = np.argsort(distances[row])[:5]
        assert sorted(affinity.indices[affinity.indptr[row] : affinity.indptr[row + 1]]) == sorted(nearest)
        weights = np.exp(-4 * (distances[row, nearest] / distances[row, nearest[-1]]) ** 2)
        np.testing.assert_allclose(affinity[[row]].toarray()[0, nearest], weights)


def test_progress_reaches_its_total():
    calls = []
    knn_affinity(normal(500, 3), neighbors="blocked", progress=lambda *call: calls.append(call))
    stages, done, totals, best = zip(*calls, strict=True)
    assert set(stages) == {"neighbours"}
    assert list(done) == sorted(done)
    assert done[-1] == totals[-1] == max(totals)
    assert np.isnan(best).all()


def test_verbose_names_the_stage(capsys):
    COSC(neighbors="blocked", verbose=1, effort=0.3, random_state=0).fit(normal(300, 3))
    assert "tightcut neighbours [" in capsys.readouterr().err


@pytest.mark.parametrize("choice", ["exact", None, 3])
def test_a_wrong_choice_is_named(choice):
    with pytest.raises(ValueError, match="neighbors must be one of 'auto', 'tree', 'blocked', 'approximate'; got"):
        knn_affinity(normal(10, 2), neighbors=choice)
    with pytest.raises(ValueError, match="neighbors must be one of"):
        COSC(neighbors=choice).fit(normal(10, 2))
