"""Points that stay in their file: the same as those read whole, in a fraction of the memory."""

import tracemalloc

import numpy as np
import pytest

from tightcut import COSC, KnnAffinity, knn_affinity
from tightcut.files import DataOptions, InputError, large, open_points, read_data

POINTS = np.random.default_rng(0).normal(size=(500, 4))


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(large, "LARGE_FILE", 0)
    monkeypatch.setattr(large, "BLOCK_ENTRIES", 64)


def write_parquet(path, columns, **settings):
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path, **settings)
    return path


def features(points):
    return {f"f{number}": column for number, column in enumerate(points.T)}


def save(path, array):
    np.save(path, array)
    return path


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_numpy_files_are_mapped_as_they_are(tmp_path, dtype):
    points = (50 * POINTS).astype(dtype)
    opened = open_points(save(tmp_path / "points.npy", points))
    assert isinstance(opened, np.memmap)
    assert opened.filename is not None
    assert opened.dtype == dtype
    np.testing.assert_array_equal(opened, points)


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (np.asfortranarray(POINTS), np.float64),
        (POINTS.astype(np.float16), np.float32),
        ((50 * POINTS).astype(np.int16), np.float32),
        ((50 * POINTS).astype(np.int32), np.float64),
        (POINTS > 0, np.uint8),
    ],
)
def test_other_arrays_are_converted_in_blocks(tmp_path, given, dtype, everything_is_large):  # noqa: ARG001
    opened = open_points(save(tmp_path / "points.npy", given))
    assert opened.dtype == dtype
    assert opened.flags.c_contiguous
    np.testing.assert_array_equal(opened, given)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_parquet_gives_the_same_graph(tmp_path, dtype, everything_is_large):  # noqa: ARG001
    points = np.abs(50 * POINTS).astype(dtype)
    opened = open_points(write_parquet(tmp_path / "points.parquet", features(points), row_group_size=37))
    assert isinstance(opened, np.memmap)
    assert opened.dtype == dtype
    np.testing.assert_array_equal(opened, points)
    expected = knn_affinity(points, 6, neighbors="blocked")
    np.testing.assert_array_equal(knn_affinity(opened, 6).toarray(), expected.toarray())


def test_columns_of_parquet_in_the_order_asked_for(tmp_path):
    path = write_parquet(tmp_path / "points.parquet", {**features(POINTS), "name": ["x"] * 500})
    np.testing.assert_array_equal(open_points(path, ["f2", "f0"]), POINTS[:, [2, 0]])


def test_opening_parquet_takes_less_memory_than_it_holds(tmp_path):
    points = np.random.default_rng(0).normal(size=(4000, 500))
    path = write_parquet(tmp_path / "points.parquet", features(points), row_group_size=100)
    open_points(path, ["f0"])
    tracemalloc.start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(large, "BLOCK_ENTRIES", 1 << 16)
            opened = open_points(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < points.nbytes / 4
    np.testing.assert_array_equal(opened, points)


def test_the_estimator_clusters_a_mapped_file(tmp_path):
    points = POINTS + 3 * (np.arange(500) % 2)[:, None]
    mapped = open_points(save(tmp_path / "points.npy", points))
    model = COSC(affinity=KnnAffinity(neighbors="blocked"), effort=0.3, random_state=0)
    expected = model.fit(points).labels_
    np.testing.assert_array_equal(model.fit(mapped).labels_, expected)
    assert isinstance(model._state.points.base, np.memmap)
    np.testing.assert_array_equal(model.predict(mapped[:50]), expected[:50])


@pytest.mark.parametrize("options", [{}, {"id": "id"}, {"columns": ("f3,f1",)}, {"drop": ("f0",)}, {"labels": "kind"}])
def test_a_large_parquet_file_reads_like_a_small_one(tmp_path, options, monkeypatch):
    columns = {"id": [f"p{row}" for row in range(500)], **features(POINTS), "kind": np.arange(500) % 3}
    path = write_parquet(tmp_path / "points.parquet", columns)
    expected = read_data(path, DataOptions(**options))
    monkeypatch.setattr(large, "LARGE_FILE", 0)
    found = read_data(path, DataOptions(**options))
    assert isinstance(found.points, np.memmap)
    np.testing.assert_array_equal(found.points, expected.points)
    for name in ("ids", "id_name", "columns", "labels", "n_rows", "notes"):
        assert getattr(found, name) == getattr(expected, name)


def test_a_large_numpy_file_reads_like_a_small_one(tmp_path, monkeypatch):
    path = save(tmp_path / "points.npy", POINTS)
    expected = read_data(path)
    monkeypatch.setattr(large, "LARGE_FILE", 0)
    found = read_data(path)
    assert isinstance(found.points, np.memmap)
    np.testing.assert_array_equal(found.points, expected.points)
    assert (found.ids, found.columns) == (expected.ids, expected.columns)
    with pytest.raises(InputError, match="leave out --drop"):
        read_data(path, DataOptions(drop=("1",)))


def test_a_large_list_of_edges_is_still_a_graph(tmp_path, everything_is_large):  # noqa: ARG001
    path = write_parquet(tmp_path / "edges.parquet", {"source": ["a", "b"], "target": ["b", "c"]})
    assert read_data(path).is_graph


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"f0": [1.0, None, 2.0]}, "row 1, column 'f0': the cell is empty"),
        ({"f0": ["a", "b", "c"]}, "column 'f0' holds string, not numbers"),
    ],
)
def test_what_is_wrong_with_a_parquet_file_is_named(tmp_path, columns, message):
    with pytest.raises(InputError, match=message):
        open_points(write_parquet(tmp_path / "points.parquet", columns))


def test_unknown_columns_and_kinds_of_files_are_named(tmp_path):
    with pytest.raises(InputError, match="has no column 'f9'; its columns are 'f0'"):
        open_points(write_parquet(tmp_path / "points.parquet", features(POINTS)), ["f9"])
    with pytest.raises(InputError, match="two dimensions"):
        open_points(save(tmp_path / "line.npy", POINTS[0]))
    with pytest.raises(InputError, match="have no names"):
        open_points(save(tmp_path / "points.npy", POINTS), ["f0"])
    (tmp_path / "points.csv").write_text("1,2\n")
    with pytest.raises(InputError, match="only NPY and Parquet"):
        open_points(tmp_path / "points.csv")
    with pytest.raises(InputError, match="does not exist"):
        open_points(tmp_path / "nothing.npy")
