"""What a result says of itself: a lopsided clustering is noticed, and a short text describes the rest."""

import io
import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.preprocessing import scale

from tightcut import COSC, ClusteringResult, Constraints, Graph, KnnAffinity, cluster, knn_affinity, tradeoff_path
from tightcut.audit import audit
from tightcut.clustering.result import warn_if_lopsided
from tightcut.exceptions import LopsidedClustersWarning
from tightcut.progress import ProgressLine, in_notebook
from tightcut.report import write_report


def lopsided(graph, labels, constraints=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_lopsided(graph, np.asarray(labels), constraints or Constraints.from_pairs(graph.n_vertices))
    return [warning.message for warning in caught]


class TestLopsidedClusters:
    PATH = Graph.from_affinity(np.eye(60, k=1) + np.eye(60, k=-1))

    def test_a_piece_of_setosa_is_noticed_once(self):
        with pytest.warns(LopsidedClustersWarning, match="has 13 of 150 points, the largest cluster 100") as caught:
            COSC(3, random_state=0).fit(scale(load_iris().data))
        assert sum(warning.category is LopsidedClustersWarning for warning in caught) == 1

    def test_it_can_be_silenced_by_its_class(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", LopsidedClustersWarning)
            COSC(3, random_state=0).fit(scale(load_iris().data))
        assert not any(issubclass(warning.category, LopsidedClustersWarning) for warning in caught)

    def test_a_small_cluster_of_its_own_is_none(self):
        X, _ = make_blobs([300, 30, 30], centers=[(0, 0), (9, 0), (0, 9)], random_state=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error", LopsidedClustersWarning)
            model = COSC(3, affinity=KnnAffinity(connect=False), random_state=0).fit(X)
        assert sorted(np.bincount(model.labels_)) == [30, 30, 300]

    def test_a_cluster_that_pairs_may_have_forced_is_none(self):
        labels = (np.arange(60) < 3).astype(int)
        (found,) = lopsided(self.PATH, labels)
        assert (found.cluster, found.size, found.largest) == (1, 3, 57)
        assert found.leaving == pytest.approx(1 / 5)
        assert lopsided(self.PATH, labels, Constraints.from_pairs(60, cannot_link=[(1, 40)])) == []
        assert lopsided(self.PATH, labels, Constraints.from_pairs(60, must_link=[(1, 2)])) == []

    def test_balanced_single_and_many_small_clusters_are_none(self):
        assert lopsided(self.PATH, np.arange(60) // 30) == []
        assert lopsided(self.PATH, np.zeros(60, int)) == []
        assert lopsided(self.PATH, np.arange(60) // 8) == []

    def test_it_survives_other_processes(self):
        warning = LopsidedClustersWarning(1, 17, 100, 150, 0.02)
        assert str(pickle.loads(pickle.dumps(warning))) == str(warning)
        assert 'criterion="rcut"' in str(warning)


class TestReprs:
    RING = Graph.from_affinity(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))

    def test_they_are_short(self):
        pairs = Constraints.from_pairs(6, [(0, 1)], [(1, 2)])
        found = cluster(self.RING, pairs, random_state=0)
        assert repr(self.RING) == "Graph(6 vertices, 6 edges)"
        assert repr(found) == "ClusteringResult(2 clusters of 3, 3 points; cut 0.666667, 0 violated)"
        assert repr(tradeoff_path(self.RING, pairs, random_state=0)[0]) == repr(found)
        prices = audit(self.RING, pairs, found.labels)
        assert repr(prices) == "Audit(2 constraints, the most expensive 0; cut 0.666667, 0.666667 without any)"
        large = ClusteringResult(np.arange(1000), 1.0, found.violations)
        assert len(repr(large)) < 120

    def test_they_have_a_view_for_notebooks(self):
        pairs = Constraints.from_pairs(6, [(0, 1)], [(1, 2)])
        found = cluster(self.RING, pairs, random_state=0)
        prices = audit(self.RING, pairs, found.labels)
        for thing, text in ((self.RING, "edges 6"), (found, "<td>0</td><td>3</td>"), (prices, "must-link")):
            view = thing._repr_html_()
            assert view.startswith("<div><strong>")
            assert text in view


def test_a_report_from_a_model_and_from_a_result(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 3)) + 9 * (np.arange(30) < 15)[:, None]
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "length"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = COSC(random_state=0).fit(frame, must_link=[(0, 1)])
    model.report(tmp_path / "model.html", title="My model")
    page = (tmp_path / "model.html").read_text("utf-8")
    assert "<h1>My model</h1>" in page
    assert 'class="told">length' in page
    assert 'id="prices"' in page
    graph = Graph.from_affinity(model.affinity_matrix_)
    write_report(str(tmp_path / "result.html"), graph, cluster(graph, random_state=0).labels)
    assert "found without constraints" in (tmp_path / "result.html").read_text("utf-8")


def test_the_audit_of_hundreds_of_clusters_solves_quickly(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 5)), 3, axis=0) + 0.2 * rng.normal(size=(120, 5))
    graph = Graph.from_affinity(knn_affinity(X, connect=False))
    pairs = Constraints.from_pairs(120, [(0, 1), (3, 40)], [(0, 3), (6, 7)])
    labels = cluster(graph, pairs, 40, effort=0, random_state=0).labels
    efforts = []

    def watched(*given, **named):
        efforts.append(named["effort"])
        return cluster(*given, **named)

    monkeypatch.setattr("tightcut.audit.cluster", watched)
    prices = audit(graph, pairs, labels)
    assert set(efforts) == {0.0}
    assert sum(row.method == "solved" for row in prices) == 3
    assert prices.free_cut <= prices.cut
    assert prices[0].price > 0


class TestProgress:
    def test_a_bar_in_a_notebook_and_nothing_in_red(self, monkeypatch, capsys):
        pytest.importorskip("IPython")
        shown, updated = [], []

        class Handle:
            def update(self, view):
                updated.append(view.data)

        def display(view, display_id):
            assert display_id
            shown.append(view.data)
            return Handle()

        monkeypatch.setattr("tightcut.progress.in_notebook", lambda: True)
        monkeypatch.setattr("IPython.display.display", display)
        line = ProgressLine()
        line("search", 1, 4, 0.5)
        line("search", 4, 4, 0.25)
        assert len(shown) == len(updated) == 1
        assert 'value="0.250"' in shown[0]
        assert 'value="1.000"' in updated[0]
        assert "cut 0.25" in updated[0]
        assert capsys.readouterr() == ("", "")

    def test_elsewhere_it_is_text(self):
        stream = io.StringIO()
        ProgressLine(stream)("search", 4, 4, 0.25)
        assert stream.getvalue().startswith("tightcut search     [########################] 4/4  cut 0.25")
        assert not in_notebook()
