"""Restarts on a Dask cluster of two processes say what one process says."""

import os
from operator import attrgetter
from unittest import mock

import joblib
import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.datasets import make_blobs

from tightcut import COSC, Graph, cluster, knn_affinity
from tightcut.datasets import sample_constraints
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.k_way import ManyClusters
from tightcut.search.two_way import TwoClusters, reduce_to_units

distributed = pytest.importorskip("distributed")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("client")]

QUICK = {"effort": 0.3, "random_state": 0}


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as two,
        distributed.Client(two) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(900, centers=4, n_features=3, cluster_std=3, random_state=0)


@pytest.fixture(scope="module")
def graph(blobs):
    return Graph.from_affinity(knn_affinity(blobs[0], connect=False))


def test_the_cluster_is_two_other_processes(client):
    with joblib.parallel_config("dask"):
        processes = Parallel()(delayed(os.getpid)() for _ in range(8))
    assert len(client.scheduler_info()["workers"]) == 2
    assert os.getpid() not in processes


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("options", [{}, {"max_violations": 3}])
def test_restarts(graph, blobs, k, options):
    constraints = sample_constraints(blobs[1] % k, 80, random_state=0)
    here = cluster(graph, constraints, k, **QUICK, **options)
    with joblib.parallel_config("dask"), watched(distributed.Client, "submit") as submit:
        there = cluster(graph, constraints, k, **QUICK, **options)
    assert submit.called  # or this would compare one process with itself
    np.testing.assert_array_equal(there.labels, here.labels)
    assert (there.cut, there.n_violations, there.history) == (here.cut, here.n_violations, here.history)


@pytest.mark.parametrize("k", [2, 4])
def test_a_graph_whose_solutions_are_joined(graph, blobs, k, monkeypatch):
    """Levels, larger than the graph, do not travel: each start is refined where it is made."""
    stages = set()
    for kind in (TwoClusters, ManyClusters):
        monkeypatch.setattr(kind, "direct_limit", 100)
    constraints = sample_constraints(blobs[1] % k, 80, random_state=0)
    here = cluster(graph, constraints, k, **QUICK)
    with joblib.parallel_config("dask"), watched(distributed.Client, "submit") as submit:
        there = cluster(graph, constraints, k, progress=lambda *call: stages.add(call[0]), **QUICK)
    assert submit.called
    assert {"start", "join"} <= stages
    assert "refine" not in stages
    np.testing.assert_array_equal(there.labels, here.labels)


def test_the_estimator(blobs):
    X, y = blobs
    known = np.where(np.arange(len(y)) < 60, y, -1)
    here = COSC(4, **QUICK).fit(X, partial_labels=known)
    with joblib.parallel_config("dask"), watched(distributed.Client, "submit") as submit:
        there = COSC(4, **QUICK).fit(X, partial_labels=known)
    assert submit.called
    np.testing.assert_array_equal(there.labels_, here.labels_)


def test_one_job_stays_here(graph):
    with joblib.parallel_config("dask"), watched(distributed.Client, "submit") as submit:
        cluster(graph, None, 3, n_jobs=1, **QUICK)
    assert not submit.called


@pytest.mark.parametrize("kind", [ManyClusters, TwoClusters])
def test_a_graph_is_sent_once_and_not_with_every_task(client, graph, blobs, kind):
    constraints = sample_constraints(blobs[1] % 2, 20, random_state=0)
    whole = (
        ManyClusters.of(ConstrainedGraph.from_graph(graph, constraints), 3)
        if kind is ManyClusters
        else TwoClusters(reduce_to_units(graph, constraints).small)
    )
    # A function of the standard library: workers cannot import from the tests.
    count_edges = attrgetter("graph.weights.nnz" if kind is ManyClusters else "graph.couplings.nnz")
    with joblib.parallel_config("dask"), watched(type(client), "scatter") as scatter:
        edges = Parallel()(delayed(count_edges)(whole) for _ in range(6))
    assert edges == [count_edges(whole)] * 6
    assert [type(call.args[1]) for call in scatter.call_args_list] == [kind]


def watched(owner, name):
    """The calls of a method, which still does its work."""
    return mock.patch.object(owner, name, autospec=True, side_effect=getattr(owner, name))
