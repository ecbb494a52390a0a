"""What a result says of itself: a lopsided clustering is noticed, and a short text describes the rest."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.preprocessing import scale

from tightcut import COSC, Constraints, Graph
from tightcut.exceptions import LopsidedClustersWarning
from tightcut.result import warn_if_lopsided


def lopsided(graph, labels, constraints=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_lopsided(graph, np.asarray(labels), constraints or Constraints.from_pairs(graph.n_vertices))
    return [warning.message for warning in caught]


class TestLopsidedClusters:
    PATH = Graph.from_affinity(np.eye(60, k=1) + np.eye(60, k=-1))

    def test_a_piece_of_setosa_is_noticed_once(self):
        with pytest.warns(LopsidedClustersWarning, match="has 17 of 150 points, the largest cluster 100") as caught:
            COSC(3, random_state=0).fit(scale(load_iris().data))
        assert sum(warning.category is LopsidedClustersWarning for warning in caught) == 1

    def test_it_can_be_silenced_by_its_class(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)
            COSC(3, random_state=0).fit(scale(load_iris().data))

    def test_a_small_cluster_of_its_own_is_none(self):
        X, _ = make_blobs([300, 30, 30], centers=[(0, 0), (9, 0), (0, 9)], random_state=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error", LopsidedClustersWarning)
            model = COSC(3, connect=False, random_state=0).fit(X)
        assert sorted(np.bincount(model.labels_)) == [30, 30, 300]

    def test_a_cluster_that_a_cannot_link_may_have_forced_is_none(self):
        labels = (np.arange(60) < 3).astype(int)
        (found,) = lopsided(self.PATH, labels)
        assert (found.cluster, found.size, found.largest) == (1, 3, 57)
        assert found.leaving == pytest.approx(1 / 5)
        assert lopsided(self.PATH, labels, Constraints.from_pairs(60, cannot_link=[(1, 40)])) == []
        assert len(lopsided(self.PATH, labels, Constraints.from_pairs(60, must_link=[(1, 2)]))) == 1

    def test_balanced_single_and_many_small_clusters_are_none(self):
        assert lopsided(self.PATH, np.arange(60) // 30) == []
        assert lopsided(self.PATH, np.zeros(60, int)) == []
        assert lopsided(self.PATH, np.arange(60) // 8) == []

    def test_it_survives_other_processes(self):
        warning = LopsidedClustersWarning(1, 17, 100, 150, 0.02)
        assert str(pickle.loads(pickle.dumps(warning))) == str(warning)
        assert 'criterion="rcut"' in str(warning)
