"""Every exact search against all distances, whatever the points: far from the origin, in any unit, equal, sparse."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer
from threadpoolctl import threadpool_info

from tightcut import knn_affinity
from tightcut.kernels import neighbors as kernels
from tightcut.neighbors import KnnSettings, cells, check_points, cross_affinity, projections, tree
from tightcut.neighbors import exact as blocked
from tightcut.neighbors.exact import BlockedNeighbors
from tightcut.neighbors.points import apply_metric, is_memory_mapped, unit_scale
from tightcut.neighbors.projections import useful_projection
from tightcut.neighbors.sparse import SparseNeighbors
from tightcut.neighbors.tree import make_index

TYPES = [np.float64, np.float32, np.uint8]
UNITS = [1e-160, 1e-30, 1.0, 1e30, 1e140]
CELLS = {"CELL": 60, "SMALL_CELL": 30, "MAPPED_CELL": 70, "NEAR": 3}
PROJECTIONS = {"MIN_POINTS": 200, "SAMPLE": 100, "QUERIES": 20, "MAX_COMPONENTS": 64}


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    """Many cells for few points, and projections of them."""
    for module, sizes in ((blocked, CELLS), (projections, PROJECTIONS)):
        for name, size in sizes.items():
            monkeypatch.setattr(module, name, size)


@pytest.fixture
def always_projected(monkeypatch):
    """As if a distance by differences cost nothing."""
    monkeypatch.setattr(projections, "DIFFERENCE_COST", 0)


def normal(n, n_features, seed=0, dtype=np.float64):
    return (100 + 20 * np.random.default_rng(seed).normal(size=(n, n_features))).astype(dtype)


def flat(n, n_features=100, n_directions=6, noise=0.05, seed=0, dtype=np.float64):
    """Points near a plane of few dimensions."""
    rng = np.random.default_rng(seed)
    plane = rng.normal(size=(n, n_directions)) @ rng.normal(size=(n_directions, n_features))
    points = plane + noise * rng.normal(size=plane.shape)
    return np.clip(128 + 12 * points, 0, 255).astype(dtype)


def words(n, n_features=400, per_row=12, seed=0, dtype=np.float64):
    """Counts of words, of which few are frequent."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, n_features + 1)
    columns = rng.choice(n_features, size=n * per_row, p=share / share.sum())
    rows = np.repeat(np.arange(n), per_row)
    return sp.csr_array((np.ones(n * per_row), (rows, columns)), shape=(n, n_features)).astype(dtype)


def assert_exact(index, points, k, queries=None):
    """Distances are the k smallest, and those to the points found, of which none is the query itself."""
    distances, found = index.kneighbors(queries, k)
    dense = [some.toarray() if sp.issparse(some) else some for some in (points if queries is None else queries, points)]
    scale = unit_scale(points)  # a power of two, which changes no digit
    everything = cdist(*(some.astype(np.float64) * scale for some in dense))
    if queries is None:
        np.fill_diagonal(everything, np.inf)
        assert (found != np.arange(len(found))[:, None]).all()
    expected = np.sort(everything, axis=1)[:, :k]
    np.testing.assert_allclose(distances * scale, expected, rtol=1e-11)
    np.testing.assert_allclose(np.take_along_axis(everything, found, axis=1), expected, rtol=1e-11)
    assert all(len(set(row)) == k for row in found.tolist())
    return index


def assert_projected(points, k, **settings):
    assert useful_projection(points, k, unit_scale(points)) is not None
    assert_exact(BlockedNeighbors(points, **settings), points, k)


def peak_memory(function, **arguments):
    """Bytes allocated by numpy and Python at most; pages of a mapped file do not count."""
    tracemalloc.start()
    try:
        function(**arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


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
    dtype = draw(st.sampled_from(TYPES))
    if dtype == np.uint8:
        return rng.integers(0, draw(st.sampled_from([2, 5, 256])), size=points.shape).astype(dtype)
    return points.astype(dtype) if dtype == np.float32 else points * draw(st.sampled_from(UNITS))


@settings(max_examples=80)
@given(point_sets(), st.sampled_from(["auto", "tree", "blocked", "projections", "sparse"]), st.integers(1, 12))
def test_any_points(points, search, k):
    k = min(k, len(points) - 1)
    with pytest.MonkeyPatch.context() as patch:
        for name, size in (("CELL", 20), ("SMALL_CELL", 20), ("NEAR", 2)):
            patch.setattr(blocked, name, size)
        if search == "projections":
            points = np.repeat(points, 10, axis=1)
            sizes = {"MIN_POINTS": 2, "MIN_FEATURES": 2, "SAMPLE": 2, "QUERIES": 2, "STEP": 1, "DIFFERENCE_COST": 0}
            for name, size in (sizes | {"MAX_COMPONENTS": 2, "BOUND_COST": -1e9}).items():
                patch.setattr(projections, name, size)
            assert useful_projection(points, k, unit_scale(points)) is not None
        given_points = sp.csr_array(points) if search == "sparse" else points
        kind = {"projections": "blocked", "sparse": "auto"}.get(search, search)
        assert_exact(make_index(given_points, kind), given_points, k)


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


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("n", "n_features", "k"), [(2, 1, 1), (50, 3, 10), (64, 5, 63), (700, 20, 10), (1500, 2, 10), (900, 100, 33)]
)
def test_blocks(n, n_features, k, dtype, n_jobs):
    points = normal(n, n_features, dtype=dtype)
    assert_exact(BlockedNeighbors(points, n_jobs=n_jobs), points, k)
    assert_exact(BlockedNeighbors(points, n_jobs=n_jobs), points, k, normal(40, n_features, 1, dtype))


@pytest.mark.usefixtures("always_projected")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("n", "n_features", "k"), [(200, 64, 1), (700, 100, 10), (1500, 300, 5)])
def test_projections(n, n_features, k, dtype, n_jobs):
    assert_projected(flat(n, n_features, dtype=dtype), k, n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", [*TYPES, np.int64])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (50, 49), (300, 10)])
def test_sparse_counts(n, k, dtype, n_jobs):
    """Counts tie, many rows have no word in common, and some are equal."""
    points = check_points(words(n, dtype=dtype))
    assert_exact(SparseNeighbors(points, n_jobs=n_jobs), points, k)
    assert_exact(SparseNeighbors(points, n_jobs=n_jobs), points, k, check_points(words(40, seed=1, dtype=dtype)))


@pytest.mark.usefixtures("always_projected")
def test_images():
    assert_projected(load_digits().data.astype(np.uint8), 10)


@given(st.integers(2, 200), st.integers(1, 5), st.integers(1, 12), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_small_integers(n, n_features, k, largest, seed):
    """Nearly all distances tie, which no certificate survives."""
    points = np.random.default_rng(seed).integers(0, largest + 1, (n, n_features)).astype(np.float32)
    assert_exact(BlockedNeighbors(points), points, min(k, n - 1))


@pytest.mark.parametrize("search", ["tree", "blocked"])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(("n", "n_features", "k"), [(150, 2, 9), (400, 7, 3), (300, 3, 20)])
def test_the_first_of_equally_near_points_are_taken(n, n_features, k, own, search):
    """So that a graph depends neither on the machine nor on the search; most points have equals here."""
    rng = np.random.default_rng(n)
    points, queries = (rng.integers(0, 3, (size, n_features)).astype(float) for size in (n, 50))
    squares = cdist(points if own else queries, points, "sqeuclidean")
    if own:
        np.fill_diagonal(squares, np.inf)
    _, found = make_index(points, search).kneighbors(None if own else queries, k)
    np.testing.assert_array_equal(found, np.argsort(squares, axis=1, kind="stable")[:, :k])


def test_many_threads_search_a_tree_in_more_columns():
    points = np.zeros((tree.BLOCKED_FROM, 8))
    assert isinstance(make_index(points, n_jobs=2), BlockedNeighbors)
    assert isinstance(make_index(points, n_jobs=tree.MANY_THREADS), tree.TreeNeighbors)


@given(st.integers(200, 400), st.integers(1, 12), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_small_integers_projected(n, k, largest, seed):
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


@pytest.mark.parametrize("dtype", TYPES)
def test_trees_and_blocks_agree_to_the_last_bit(dtype):
    points = normal(800, 12, dtype=dtype)
    (distances, found), (expected, numbers) = (
        make_index(points, search).kneighbors(n_neighbors=8) for search in ("blocked", "tree")
    )
    np.testing.assert_array_equal(distances, expected)
    if dtype != np.uint8:  # whose distances tie
        np.testing.assert_array_equal(found, numbers)


@pytest.mark.parametrize("spread", [1e-9, 1e-7, 1e-5, 1e-3, 1.0])
def test_dense_clumps_far_from_the_origin(spread, monkeypatch):
    """Neither products nor projections in float32 tell the members of a clump apart; the points do."""
    rng = np.random.default_rng(0)
    points = 1000 + np.repeat(rng.normal(size=(8, 3)), 100, axis=0) + spread * rng.normal(size=(800, 3))
    assert_exact(BlockedNeighbors(points), points, 5)
    monkeypatch.setattr(projections, "DIFFERENCE_COST", 0)
    points = 1000 + np.repeat(flat(12), 50, axis=0) + spread * flat(600, seed=1)[rng.permutation(600)]
    assert_projected(points, 5)


@pytest.mark.parametrize("spread", [1e-12, 1e-9])
@pytest.mark.parametrize("own", [True, False])
def test_clumps_that_products_in_float64_cannot_tell_apart(own, spread, monkeypatch):
    """More members than candidates, in one cell with other clumps."""
    monkeypatch.setattr(blocked, "SMALL_CELL", 256)
    rng = np.random.default_rng(0)
    points = np.repeat([[0.0], [1.0], [2.0]], 40, axis=0) + spread * rng.normal(size=(120, 1))
    assert_exact(BlockedNeighbors(points), points, 3, None if own else points[:30] + spread)


def test_strays_make_float32_unsure():
    points = np.concatenate([np.random.default_rng(0).normal(size=(500, 10)), 1e6 * np.eye(10)])
    assert assert_exact(BlockedNeighbors(points), points, 5).n_repeated > 0


def test_columns_that_are_nearly_always_zero():
    rng = np.random.default_rng(1)
    points = np.where(rng.random((1000, 40)) < 0.02, 50.0, 0.0) + 0.01 * rng.normal(size=(1000, 40))
    assert_exact(BlockedNeighbors(points.astype(np.float32)), points.astype(np.float32), 10)


def test_queries_far_away():
    points = normal(300, 4)
    assert_exact(BlockedNeighbors(points), points, 6, 1e30 * normal(50, 4, 1))


@pytest.mark.parametrize("points", [normal(300, 4), flat(300)], ids=["products", "projections"])
@pytest.mark.parametrize("scale", [1e-300, 1e-140, 1e30, 1e140])
def test_extreme_units(scale, points):
    expected, found = BlockedNeighbors(points).kneighbors(n_neighbors=4)
    distances, again = BlockedNeighbors(scale * points).kneighbors(n_neighbors=4)
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(distances, scale * expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1e-40, 1e-37, 1e36])
def test_extreme_float32(size):
    points = (size * np.random.default_rng(0).uniform(-9, 9, size=(200, 3))).astype(np.float32)
    found, expected = (
        BlockedNeighbors(own).kneighbors(n_neighbors=4)[1] for own in (points, points.astype(np.float64))
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("points", [normal(400, 20) + 1000, flat(400)], ids=["products", "projections"])
def test_duplicates_are_at_distance_zero_and_a_point_is_not_its_own_neighbour(points):
    points = points.astype(np.float32)
    points[50:330] = points[0]
    distances, found = BlockedNeighbors(points).kneighbors(n_neighbors=4)
    copies = [0, *range(50, 330)]
    assert (distances[copies] == 0).all()
    assert np.isin(found[copies], copies).all()
    assert (found != np.arange(400)[:, None]).all()
    assert (distances[1:50] > 0).all()


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_points_that_are_all_equal(value):
    points = np.full((200, 3), value)
    assert_exact(BlockedNeighbors(points), points, 5)


def test_ties_go_to_the_smaller_number():
    _, found = BlockedNeighbors(np.arange(300.0)[:, None]).kneighbors(n_neighbors=1)
    assert found.ravel().tolist() == [1, *range(299)]


@pytest.mark.parametrize(
    "points", [np.random.default_rng(0).integers(0, 9, size=(2000, 6)).astype(np.float32), check_points(words(700))]
)
def test_threads_do_not_change_the_answer(points):
    one, many = (make_index(points, "blocked", n_jobs=jobs).kneighbors(n_neighbors=7) for jobs in (1, 4))
    np.testing.assert_array_equal(one, many)


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
    """Parts of the queries give what all at once give."""
    points = np.repeat(normal(40, 2), copies, axis=0)
    whole = make_index(points, "tree").kneighbors(n_neighbors=5)
    monkeypatch.setattr(tree, "QUERY_ROWS", 7)
    calls = []
    index = make_index(points, "tree", progress=lambda *call: calls.append(call[:3]))
    np.testing.assert_array_equal(index.kneighbors(n_neighbors=5)[0], whole[0])
    n_parts = -(-len(points) // 7)
    assert calls == [("neighbours", done + 1, n_parts) for done in range(n_parts)]
    assert_exact(index, points, 5)


@pytest.mark.parametrize(("n", "n_features", "expected"), [(50, 9, "Tree"), (60, 9, "Blocked"), (60, 5, "Tree")])
def test_auto(n, n_features, expected, monkeypatch):
    monkeypatch.setattr(tree, "BLOCKED_FROM", 55)
    assert type(make_index(normal(n, n_features))).__name__.startswith(expected)


@pytest.mark.slow
def test_far_cells_are_left_out(monkeypatch):
    """The number of pairs looked at grows in proportion to the points: the search is not quadratic in few dimensions."""
    seen, counts, update = [], [], kernels.update_lists
    monkeypatch.setattr(
        kernels, "update_lists", lambda products, *rest: (seen.append(products.size), update(products, *rest))
    )
    for n in (4000, 16000):
        seen.clear()
        BlockedNeighbors(np.random.default_rng(0).uniform(size=(n, 2))).kneighbors(n_neighbors=5)
        counts.append(sum(seen))
    assert counts[1] < 6 * counts[0]


@given(st.integers(1, 10), st.floats(-200, 150), st.floats(0, 6), st.integers(0, 2**32 - 1))
def test_no_projections_are_farther_apart_than_their_points_and_the_error(n_directions, exponent, offset, seed):
    points = (flat(250, 80, n_directions, seed=seed) + 10**offset) * 2.0**exponent
    scale = unit_scale(points)
    projection = useful_projection(points, 3, scale)
    if projection is not None:
        apart = pdist(projection.points.astype(np.float64))
        assert (apart <= pdist(points * scale) * (1 + 1e-9) + projection.error).all()


@pytest.mark.parametrize(
    "points",
    [np.random.default_rng(0).normal(size=(500, 80)), np.full((500, 80), 3.0), flat(150), flat(500, n_features=60)],
    ids=["spread evenly", "all equal", "too few", "few features"],
)
def test_no_projection_where_it_does_not_pay(points):
    assert useful_projection(points, 5, unit_scale(points)) is None
    BlockedNeighbors(points).kneighbors(n_neighbors=5)


def test_few_distances_are_measured(monkeypatch):
    """Bounds by projections rule out nearly all pairs."""
    points, near, update = flat(3000, n_directions=3), [], kernels.update_lists

    def counted(products, left, right, *rest):
        if len(rest[0]):
            lower, bounds = left[0][:, None] + right[0] - products, rest[-1]
            near.append(((lower <= bounds[left[1]][:, None]) | (lower <= bounds[right[1]])).sum())
        update(products, left, right, *rest)

    monkeypatch.setattr(kernels, "update_lists", counted)
    BlockedNeighbors(points, n_jobs=1).kneighbors(n_neighbors=5)
    assert 0 < sum(near) < 0.05 * len(points) ** 2 / 2


@pytest.mark.slow
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


def test_memory_of_a_sparse_search_is_far_from_dense():
    """Neither n x n nor n x n_features numbers."""
    points = check_points(words(3000, 20_000))
    SparseNeighbors(points[:50]).kneighbors(n_neighbors=3)  # compiles
    assert peak_memory(SparseNeighbors(points, n_jobs=1).kneighbors, n_neighbors=3) < 3000 * 3000 * 8 / 20


@pytest.fixture
def mapped(tmp_path):
    def in_a_file(points):
        np.save(tmp_path / "points.npy", points)
        return np.load(tmp_path / "points.npy", mmap_mode="r")

    return in_a_file


@pytest.mark.slow
def test_a_memory_mapped_file_gives_the_same_graph_in_less_memory_than_it_holds(mapped):
    points = np.random.default_rng(0).normal(size=(3000, 1000)).astype(np.float32)
    expected, file, graphs = knn_affinity(points, 5, connect=False), mapped(points), []
    knn_affinity(file[:100], 5, connect=False)  # compiles
    assert peak_memory(lambda: graphs.append(knn_affinity(file, 5, connect=False))) < points.nbytes / 2
    np.testing.assert_array_equal(graphs[0].indices, expected.indices)
    np.testing.assert_array_equal(graphs[0].data, expected.data)


def test_a_memory_mapped_file_is_read_from_its_beginning_to_its_end(mapped):
    file = mapped(normal(300, 3))
    assert is_memory_mapped(file)
    assert is_memory_mapped(np.asarray(file)[10:])
    assert not is_memory_mapped(np.array(file))
    assert not is_memory_mapped(apply_metric(file, "cosine"))
    rows = BlockedNeighbors(np.asarray(file))._cells.rows
    assert sorted(rows[:70]) == list(range(70))


def test_a_sparse_matrix_stays_as_it_is():
    """Unsorted indices, one of them twice."""
    matrix = sp.csr_array(
        (np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4, 4])), shape=(3, 3)
    )
    affinity = knn_affinity(matrix, 1, connect=False)
    assert matrix.indices.tolist() == [2, 0, 1, 1]
    np.testing.assert_array_equal(affinity.toarray(), knn_affinity(matrix.toarray(), 1, connect=False).toarray())


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.filterwarnings("ignore:.*connected components:UserWarning")
def test_sparse_and_dense_give_the_same_graph(metric, form):
    points = TfidfTransformer().fit_transform(words(300, per_row=40))
    expected, found = (knn_affinity(own, 7, metric=metric) for own in (points.toarray(), form(points)))
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, rtol=1e-9)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("neighbors", ["tree", "blocked", "auto"])
def test_cosine_neighbours(neighbors, dtype):
    """Against cosine distances; ties, of which there are many among small integers, may go either way."""
    points = np.random.default_rng(0).integers(1, 200, size=(150, 12)).astype(dtype)
    distances, found = make_index(apply_metric(points, "cosine"), neighbors).kneighbors(n_neighbors=6)
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
    distances, found = make_index(apply_metric(points, "cosine")).kneighbors(n_neighbors=3)
    assert (distances == 0).all()
    assert (found // 4 == np.arange(80)[:, None] // 4).all()


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


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_new_points_in_another_unit_are_refused(form):
    points = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match="are their units the same"):
        cross_affinity(form(1e10 * points), form(1e-160 * points), KnnSettings(3))


@pytest.mark.parametrize("points", [normal(500, 3), words(600)], ids=["dense", "sparse"])
def test_progress_reaches_its_total(points):
    calls = []
    knn_affinity(points, 3, neighbors="blocked", connect=False, progress=lambda *call: calls.append(call))
    stages, done, totals, best = zip(*calls, strict=True)
    assert set(stages) == {"neighbours"}
    assert list(done) == sorted(done)
    assert done[-1] == totals[-1] == max(totals)
    assert np.isnan(best).all()
