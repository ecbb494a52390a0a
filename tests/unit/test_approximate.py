"""Approximate neighbours: at their true distances, the same for any number of threads, and with the recall they report."""

import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tightcut import COSC, KnnAffinity, knn_affinity
from tightcut.neighbors import KnnSettings, approximate, knn_graph
from tightcut.neighbors.exact import BlockedNeighbors
from tightcut.neighbors.tree import make_index

needs_faiss = pytest.mark.skipif(not find_spec("faiss"), reason="needs faiss: pip install faiss-cpu")


def normal(n, n_features, dtype=np.float64):
    return (100 + 20 * np.random.default_rng(0).normal(size=(n, n_features))).astype(dtype)


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
def test_neighbours_are_at_their_true_distance():
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
def test_few_points(n):
    distances, _ = make_index(normal(n, 3), "approximate").kneighbors(n_neighbors=n - 1)
    np.testing.assert_allclose(distances, np.sort(cdist(normal(n, 3), normal(n, 3)), axis=1)[:, 1:])


@needs_faiss
def test_threads_do_not_change_the_answer():
    points = np.random.default_rng(0).integers(0, 9, size=(2000, 6)).astype(np.float32)
    one, many = (make_index(points, "approximate", n_jobs=jobs).kneighbors(n_neighbors=7) for jobs in (1, 4))
    np.testing.assert_array_equal(one, many)


def test_without_faiss_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"of the extra tightcut\[faiss\]: pip install faiss-cpu"):
        knn_affinity(normal(50, 3), neighbors="approximate")


@pytest.mark.parametrize("neighbors", ["auto", "tree", "blocked", pytest.param("approximate", marks=needs_faiss)])
def test_the_estimator_reports_recall_and_predicts_with_every_choice(neighbors):
    points = np.concatenate([normal(200, 3) % 20, normal(200, 3) % 20 + 15])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = COSC(affinity=KnnAffinity(neighbors=neighbors), effort=0.3, random_state=0).fit(points)
    assert model.neighbor_recall_ == pytest.approx(1.0, abs=0.1 if neighbors == "approximate" else 0)
    np.testing.assert_array_equal(model.predict(points), model.labels_)
