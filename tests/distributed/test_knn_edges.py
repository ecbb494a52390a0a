"""Neighbours of points in partitions: the edges of `knn_affinity`, to the last bit, on any cluster."""

import os
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tightcut import cluster_graph, knn_affinity, knn_edges
from tightcut.distributed.neighbor_edges import NeighborLimits
from tightcut.exceptions import DisconnectedGraphWarning
from tightcut.neighbors.exact import BlockedNeighbors

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

needs_faiss = pytest.mark.skipif(not find_spec("faiss"), reason="needs faiss: pip install faiss-cpu")


def blobs(n, n_features, seed=0):
    """Three overlapping groups, so that the graph is in one piece."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n_features)) + rng.normal(size=(3, n_features))[rng.integers(3, size=n)]


def matrix(found):
    """The edges as a symmetric matrix; fails if one is there twice or in the wrong direction."""
    edges = pd.concat([pd.read_parquet(file) for file in sorted(found.folder.iterdir())])
    assert (edges.i < edges.j).all()
    assert not edges.duplicated(["i", "j"]).any()
    assert len(edges) == found.n_edges
    half = sp.coo_array((edges.weight, (edges.i, edges.j)), shape=(found.n_points, found.n_points)).tocsr()
    return sp.csr_array(half + half.T)


def assert_equal(found, affinity):
    assert (matrix(found) != affinity).nnz == 0


@pytest.mark.parametrize(("chunk", "size"), [(300, None), (300, 300), (97, 97), (97, 40), (10, 64), (1, 299)])
@pytest.mark.parametrize("symmetrize", ["maximum", "mean"])
def test_edges_do_not_depend_on_partitions(tmp_path, chunk, size, symmetrize):
    X = blobs(300, 4)
    points = da.from_array(X, chunks=(chunk, 2))
    found = knn_edges(points, tmp_path / "edges", 7, symmetrize=symmetrize, partition_size=size)
    assert found.recall == 1
    assert_equal(found, knn_affinity(X, 7, symmetrize=symmetrize))


@pytest.mark.slow
@pytest.mark.parametrize("n_features", [3, 30, 200])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_edges_are_those_in_memory(tmp_path, n_features, kind, metric):
    X = (40 * blobs(7000, 5) @ np.random.default_rng(1).normal(size=(5, n_features)) + 2000) / 20
    X = X.clip(1, 255).astype(kind)
    X = X[np.unique(X, axis=0, return_index=True)[1]]
    X += np.random.default_rng(2).permutation(3 * n_features)[:n_features].astype(kind)  # no two columns alike
    found = knn_edges(da.from_array(X), tmp_path, metric=metric, connect=False, partition_size=2600)
    here = knn_affinity(X, metric=metric, connect=False)
    if kind is np.uint8:  # of several last neighbours at the same distance any may be taken
        assert matrix(found).sum() == pytest.approx(here.sum(), rel=1e-3)
    else:
        assert_equal(found, here)


@pytest.mark.slow
def test_projections_between_partitions(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15_300, 12)) @ rng.normal(size=(12, 100)) + 0.1 * rng.normal(size=(15_300, 100))
    assert BlockedNeighbors.with_projection(X[:5100], 10) is not None
    assert_equal(knn_edges(da.from_array(X), tmp_path, partition_size=5100), knn_affinity(X))


@pytest.mark.slow
def test_edges_do_not_depend_on_workers_and_survive_one(tmp_path):
    X = blobs(900, 6)
    here = knn_affinity(X)
    killed = []
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as two,
        distributed.Client(two) as client,
    ):

        def progress(stage, done, _total, _cut):
            if stage == "neighbours" and done == 1 and not killed:
                killed.extend(client.run(os.getpid).values())
                os.kill(min(killed), 9)

        points = dd.from_pandas(pd.DataFrame(X), npartitions=5)
        found = knn_edges(points, tmp_path, client=client, partition_size=100, progress=progress)
    assert killed
    assert_equal(found, here)


def test_components_are_joined_by_the_same_bridges(tmp_path):
    X = blobs(240, 3) + np.repeat([[0, 0, 0], [60, 0, 0], [0, 90, 0]], 80, axis=0)
    with pytest.warns(DisconnectedGraphWarning, match="3 connected components; joined them by 2 bridges"):
        here = knn_affinity(X)
    points = da.from_array(X, chunks=(70, 3))
    with pytest.warns(DisconnectedGraphWarning, match="3 connected components; joined them by 2 bridges"):
        joined = knn_edges(points, tmp_path / "joined")
    assert_equal(joined, here)
    assert_equal(knn_edges(points, tmp_path / "apart", connect=False), knn_affinity(X, connect=False))


def test_equal_points_and_few_of_them(tmp_path):
    """Duplicates weigh 1, and all others are neighbours where there are no more of them than that."""
    X = np.repeat([[0.0], [1.0], [2.5]], [3, 1, 1], axis=0)
    found = knn_edges(da.from_array(X, chunks=(2, 1)), tmp_path, 10)
    assert_equal(found, knn_affinity(X, 10))


@needs_faiss
@pytest.mark.slow
def test_approximate_neighbours_say_how_many_are_true(tmp_path):
    X = blobs(6000, 12).astype(np.float32)
    points = da.from_array(X, chunks=(2000, -1))
    found = knn_edges(points, tmp_path / "some", neighbors="approximate", connect=False)
    true, some = knn_affinity(X, connect=False) > 0, matrix(found) > 0
    assert 0.5 < found.recall < 1
    assert true.multiply(some).nnz / true.nnz == pytest.approx(found.recall, abs=0.05)
    few = knn_edges(points[:600], tmp_path / "all", neighbors="approximate", partition_size=60, connect=False)
    assert few.recall == 1  # one list per block: nothing is left out
    assert_equal(few, knn_affinity(X[:600], connect=False))


@needs_faiss
def test_auto_is_approximate_where_exact_would_take_too_long(tmp_path, monkeypatch):
    stages = []
    points = da.from_array(blobs(200, 4), chunks=(100, -1))
    for work, folder in ((200**2 * 4, "exact"), (200**2 * 4 - 1, "approximate")):
        monkeypatch.setattr("tightcut.distributed.neighbor_edges.LIMITS", NeighborLimits(exact_work=work))
        knn_edges(points, tmp_path / folder, progress=lambda stage, *_: stages.append(stage))
        assert ("recall" in stages) == (folder == "approximate")


def test_without_faiss_the_error_says_why_it_is_needed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.setattr("tightcut.distributed.neighbor_edges.LIMITS", NeighborLimits(exact_work=1))
    with pytest.raises(
        ImportError, match=r'"auto" is approximate for 50 points of 2 features and needs faiss, of the extra'
    ):
        knn_edges(da.from_array(blobs(50, 2)), tmp_path)
    assert knn_edges(da.from_array(blobs(50, 2)), tmp_path, neighbors="exact").recall == 1


@pytest.mark.slow
def test_the_folder_goes_into_cluster_graph(tmp_path):
    X = blobs(600, 3) + np.repeat([[0, 0, 0], [9, 0, 0]], 300, axis=0)
    for number, part in enumerate(np.array_split(X, 4)):
        (tmp_path / "points").mkdir(exist_ok=True)
        pd.DataFrame(part, columns=["a", "b", "c"]).to_parquet(tmp_path / "points" / f"{number}.parquet")
    found = knn_edges(tmp_path / "points", tmp_path / "edges")
    assert_equal(found, knn_affinity(X))
    clustering = cluster_graph(found.folder, None, 2, n_units=100, effort=0.3, random_state=0)
    labels = clustering.labels.compute()
    assert labels["vertex"].tolist() == list(range(600))
    assert (labels["cluster"] == np.repeat([0, 1], 300)).mean() > 0.98


@pytest.mark.parametrize(
    ("points", "options", "error", "message"),
    [
        (np.zeros((4, 2)), {}, TypeError, "not ndarray. For an array in memory there is knn_affinity"),
        (da.zeros((4, 2, 2)), {}, ValueError, "array of 3 dimensions"),
        (da.zeros((1, 2)), {}, ValueError, "There are 1 points"),
        (da.from_array(np.array([[0.0], [np.nan]]), chunks=1), {}, ValueError, "Partition 1 of the points: .*NaN"),
        (da.zeros((4, 2)), {"metric": "cosine"}, ValueError, "Partition 0 of the points: .*not all zero"),
        (da.from_array(np.array([[1e-5], [1e149]])), {"partition_size": 1}, ValueError, "are their units the same"),
        (dd.from_pandas(pd.DataFrame({"name": ["x", "y"]}), npartitions=1), {}, ValueError, "Column 'name' .* holds"),
        (da.zeros((4, 2)), {"metric": "precomputed"}, ValueError, "metric"),
        (da.zeros((4, 2)), {"neighbors": "tree"}, ValueError, "neighbors"),
        (da.zeros((4, 2)), {"symmetrize": "least"}, ValueError, "symmetrize"),
        (da.zeros((4, 2)), {"n_neighbors": 0}, ValueError, "n_neighbors"),
        (da.zeros((4, 2)), {"partition_size": 0}, ValueError, "partition_size"),
        ("no such folder", {}, FileNotFoundError, "no such folder"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path, points, options, error, message):
    with pytest.raises(error, match=message):
        knn_edges(points, tmp_path / "edges", **options)


def test_the_folder_is_its_own(tmp_path):
    (tmp_path / "edges").mkdir()
    (tmp_path / "edges" / "letter.txt").write_text("keep me")
    with pytest.raises(FileExistsError, match="a folder of their own"):
        knn_edges(da.zeros((4, 2)), tmp_path / "edges")
    assert (tmp_path / "edges" / "letter.txt").read_text() == "keep me"
    found = knn_edges(da.from_array(blobs(50, 2), chunks=(20, 2)), tmp_path / "new" / "edges")
    assert {file.suffix for file in found.folder.iterdir()} == {".parquet"}
