"""Graphs as collections of edges: the same cuts as in memory, every constraint kept, the same labels on any cluster."""

import os

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from toys import cycle

from tightcut import Constraints, Graph, InconsistentConstraintsError, cluster, cluster_graph
from tightcut.distributed import LostWorkersError
from tightcut.problem.objective import normalized_cut
from tightcut.search.spectral_k import choose_n_clusters

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

QUICK = {"effort": 0.3, "random_state": 0}
SMALL = QUICK | {"n_units": 150, "partition_size": 4000}
PATH = pd.DataFrame({"i": [0, 1, 2, 3, 4], "j": [1, 2, 3, 4, 5], "weight": 1.0})
RING = pd.DataFrame({"i": np.arange(6), "j": (np.arange(6) + 1) % 6, "weight": 1.0})


def planted(n, k, seed=0, inside=8, between=1):
    """A random graph with k groups: edges (i, j, weight), some of them twice, and the group of each vertex."""
    rng = np.random.default_rng(seed)
    group = rng.integers(k, size=n)
    members = [np.flatnonzero(group == c) for c in range(k)]
    i = np.repeat(np.arange(n), inside)
    j = np.concatenate([rng.choice(members[group[v]], inside) for v in range(n)])
    far = rng.integers(n, size=(between * n, 2))
    i, j = np.concatenate([i, far[:, 0]]), np.concatenate([j, far[:, 1]])
    return pd.DataFrame({"i": i, "j": j, "weight": rng.uniform(0.5, 1.5, len(i))}), group


def in_memory(edges, n):
    kept = edges[edges.i != edges.j]
    half = sp.coo_array((kept.weight, (kept.i, kept.j)), shape=(n, n)).tocsr()
    return Graph.from_affinity(half + half.T)


def known(group, n_pairs, seed=0):
    pairs = np.random.default_rng(seed).integers(len(group), size=(n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = group[pairs[:, 0]] == group[pairs[:, 1]]
    return Constraints.from_pairs(len(group), pairs[same], pairs[~same])


def clusters(found):
    return found.labels.compute()["cluster"].to_numpy()


@pytest.fixture(scope="module")
def graph():
    return planted(2000, 4)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("n_pairs", [0, 60])
def test_cuts_are_within_two_percent_of_those_in_memory(k, n_pairs):
    edges, group = planted(2000, k)
    pairs = known(group, n_pairs)
    whole = in_memory(edges, 2000)
    found = cluster_graph(dd.from_pandas(edges, npartitions=3), pairs, k, **SMALL)
    labels = clusters(found)
    assert len(found.n_units) > 2
    assert found.n_units[-1] <= 150
    assert found.cut == pytest.approx(normalized_cut(whole, labels), rel=1e-9)
    assert found.cut <= 1.02 * cluster(whole, pairs, k, **QUICK).cut
    assert pairs.violations(labels).n_violations == found.violations.n_violations == 0


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_every_constraint_holds_whatever_it_costs(k, seed):
    """Pairs drawn against the graph's own groups, so many that hardly a vertex is free."""
    edges, _ = planted(400, 4, seed)
    truth = np.random.default_rng(seed + 10).integers(k, size=400)
    pairs = known(truth, 500, seed)
    options = {"effort": 0, "n_units": 20, "partition_size": 900, "random_state": seed}
    found = cluster_graph(dd.from_pandas(edges, npartitions=2), pairs, k, **options)
    labels = clusters(found)
    assert pairs.violations(labels).n_violations == 0
    assert np.unique(labels).tolist() == list(range(k))
    assert found.cut == pytest.approx(normalized_cut(in_memory(edges, 400), labels), rel=1e-9)


@pytest.mark.slow
def test_a_graph_that_needs_no_contraction_is_searched_as_in_memory(graph):
    edges, _ = graph
    found = cluster_graph(edges, None, 4, **QUICK)
    here = cluster(in_memory(edges, 2000), None, 4, **QUICK)
    assert found.n_units == (2000,)
    assert found.cut == pytest.approx(here.cut, rel=1e-6)


@pytest.mark.slow
def test_labels_depend_neither_on_workers_nor_on_the_partitions_and_order_of_the_edges(graph):
    edges, group = graph
    pairs = known(group, 60)
    expected = cluster_graph(dd.from_pandas(edges, npartitions=5), pairs, 4, **SMALL)
    shuffled = edges.sample(frac=1.0, random_state=0)
    for workers, given in ((1, edges), (3, shuffled)):
        with (
            distributed.LocalCluster(workers, threads_per_worker=1, processes=False, dashboard_address=None) as some,
            distributed.Client(some) as client,
        ):
            found = cluster_graph(dd.from_pandas(given, npartitions=workers), pairs, 4, client=client, **SMALL)
            np.testing.assert_array_equal(clusters(found), clusters(expected))
            assert found.cut == expected.cut


def test_the_second_search_draws_the_same_in_threads_as_on_workers(graph, monkeypatch):
    given = []

    def search_borders(_runner, _level, labels, cut, _pairs, _settings, rng):
        given.append(rng.bit_generator.state)
        return labels, cut

    monkeypatch.setattr("tightcut.distributed.graph_clustering._search_borders", search_borders)
    cluster_graph(graph[0], None, 4, **SMALL | {"effort": 0})
    assert given == [np.random.default_rng(SMALL["random_state"]).spawn(2)[1].bit_generator.state]


@pytest.mark.slow
def test_a_worker_that_dies_does_not_end_the_run(graph):
    edges, group = graph
    pairs = known(group, 60)
    expected = cluster_graph(dd.from_pandas(edges, npartitions=5), pairs, 4, **SMALL)
    killed = []
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as two,
        distributed.Client(two) as client,
    ):
        processes = client.run(os.getpid)

        def progress(stage, done, _total, _cut):
            if stage in {"join 2", "refine 0"} and done == 1 and stage not in killed:
                killed.append(stage)
                running = client.run(os.getpid, on_error="ignore")
                os.kill(min(running.values()), 9)

        found = cluster_graph(dd.from_pandas(edges, npartitions=5), pairs, 4, client=client, progress=progress, **SMALL)
        assert set(client.run(os.getpid).values()) != set(processes.values())
    assert killed == ["join 2", "refine 0"]
    np.testing.assert_array_equal(clusters(found), clusters(expected))


@pytest.mark.slow
def test_a_search_that_ends_every_worker_says_what_to_do(graph, monkeypatch):
    monkeypatch.setattr("tightcut.distributed.graph_clustering._search_level", lambda *_: os._exit(1))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(1, threads_per_worker=1, processes=True, dashboard_address=None) as one,
        distributed.Client(one) as client,
        pytest.raises(LostWorkersError, match="searched 2,000 units with .* arcs died, .* Lower n_units"),
    ):
        cluster_graph(graph[0], None, 4, client=client, **QUICK)


@pytest.mark.slow
def test_progress_says_the_stage(graph):
    stages = []
    cluster_graph(graph[0], None, 4, progress=lambda stage, *_: stages.append(stage), **SMALL)
    order = list(dict.fromkeys(stage.replace(",", "").split()[0] for stage in stages))
    assert order == ["read", "write", "join", "contract", "search", "refine", "borders", "done"]


@pytest.mark.slow
def test_a_folder_of_parquet_files_with_identifiers_of_any_size(graph, tmp_path):
    edges, group = graph
    name = np.sort(np.random.default_rng(1).choice(2**62, 2000, replace=False)) - 2**61
    named = edges.assign(i=name[edges.i], j=name[edges.j])
    for number, part in enumerate(np.array_split(np.arange(len(edges)), 3)):
        named.iloc[part].to_parquet(tmp_path / f"{number}.parquet")
    pairs = known(group, 40)
    frame = pd.DataFrame(name[np.concatenate([pairs.must_link, pairs.cannot_link])], columns=["a", "b"])
    frame["type"] = ["must"] * pairs.n_must_link + ["cannot"] * pairs.n_cannot_link
    found = cluster_graph(tmp_path, frame, 4, **SMALL)
    labels = found.labels.compute()
    np.testing.assert_array_equal(labels["vertex"], name)
    expected = cluster_graph(edges, pairs, 4, **SMALL)
    np.testing.assert_array_equal(labels["cluster"], clusters(expected))


@pytest.mark.slow
def test_parallel_edges_add_up_and_loops_have_no_effect():
    edges, _ = planted(300, 2)
    halves = pd.concat([edges.assign(weight=edges.weight / 2), edges.rename(columns={"i": "j", "j": "i"})])
    halves.iloc[len(edges) :, 2] /= 2
    loops = pd.DataFrame({"i": [5, 7], "j": [5, 7], "weight": [100.0, 3.0]})
    options = QUICK | {"n_units": 100}
    plain, odd = (cluster_graph(given, None, 2, **options) for given in (edges, pd.concat([halves, loops])))
    assert odd.cut == pytest.approx(plain.cut, rel=1e-9)


def test_vertices_without_an_edge_weigh_what_they_do_in_memory():
    edges, _ = planted(300, 2)
    pairs = Constraints.from_pairs(305, [(0, 300), (301, 302)], [(300, 301)])
    found = cluster_graph(edges, pairs, 2, n_units=100, **QUICK)
    whole = in_memory(edges, 305)
    assert found.n_vertices == 305
    assert found.cut == pytest.approx(normalized_cut(whole, clusters(found)), rel=1e-9)
    assert found.violations.n_violations == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": -1.0}, "between 3 and 4 .* weight -1; weights must be finite and not negative"),
        ({"weight": np.nan}, "weight nan"),
        ({"weight": np.inf}, "weight inf"),
        ({"i": 9}, "name the vertex 9, and the constraints are on the points 0 to 5"),
        ({"i": -2}, "name the vertex -2"),
    ],
)
def test_bad_edges_are_refused(change, message):
    edges = PATH.copy()
    for column, value in change.items():
        edges.loc[3, column] = value
    with pytest.raises(ValueError, match=message):
        cluster_graph(dd.from_pandas(edges, npartitions=2), Constraints.from_pairs(6), 2)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ({"i": [0], "j": [1]}, "no column 'weight'; they need i, j and weight, and have i, j"),
        ({"i": [0.5], "j": [1], "weight": [1.0]}, "Column 'i' of the edges holds float64"),
        ({"i": ["a"], "j": [1], "weight": [1.0]}, "Column 'i' of the edges holds"),
        ({"i": [0], "j": [1], "weight": ["x"]}, "Column 'weight' of the edges holds"),
        ({"i": np.array([2**63], np.uint64), "j": [1], "weight": [1.0]}, "9223372036854775808, more than 63 bits"),
        ({"i": np.zeros(0, int), "j": np.zeros(0, int), "weight": np.zeros(0)}, "There are no edges"),
        ({"i": [0], "j": [1], "weight": [1e200]}, "The largest degree is 1e\\+200"),
    ],
)
def test_tables_that_are_no_edges(edges, message):
    with pytest.raises(ValueError, match=message):
        cluster_graph(dd.from_pandas(pd.DataFrame(edges), npartitions=1), None, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 1}, "n_clusters must be a whole number >= 2; got 1"),
        ({"n_clusters": 7}, "7 non-empty clusters need at least that many points; there are 6"),
        ({"n_units": 1}, "n_units must be"),
        ({"n_clusters": 3, "n_units": 2}, "n_units=2 units cannot make 3 clusters"),
        ({"partition_size": 0}, "partition_size must be"),
        ({"effort": -1}, "effort must be"),
        ({"folder": "nowhere"}, "is not a folder"),
    ],
)
def test_settings_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        cluster_graph(PATH, **options)


@pytest.mark.parametrize(
    ("edges", "options", "error", "message"),
    [
        (PATH.to_numpy(), {}, TypeError, "edges must be a Dask data frame or the path"),
        (PATH, {"constraints": [(0, 1)]}, TypeError, "Constraints or a data frame of pairs, not list"),
        (PATH, {"client": "tcp://nowhere"}, TypeError, "client must be a distributed.Client, not str"),
        (PATH, {"n_clusters": 2.5}, TypeError, "n_clusters must be a whole number >= 2; got 2.5"),
        ("no such folder", {}, FileNotFoundError, "no such folder"),
    ],
)
def test_arguments_of_other_types(edges, options, error, message):
    with pytest.raises(error, match=message):
        cluster_graph(edges, **options)


@pytest.mark.parametrize("k", [2, 3])
def test_contradictions_are_told_in_the_names_of_vertices(k):
    edges = pd.DataFrame({"i": np.arange(9), "j": np.arange(9) + 1, "weight": 1.0})
    together = [(0, 5), (5, 9)]
    with pytest.raises(InconsistentConstraintsError) as caught:
        cluster_graph(edges, Constraints.from_pairs(10, together, [(9, 0)]), k)
    assert {frozenset(link[1:]) for link in caught.value.witness} == {frozenset(p) for p in [*together, (0, 9)]}
    clique = [(a, b) for a in range(k + 1) for b in range(a)]
    with pytest.raises(InconsistentConstraintsError) as caught:
        cluster_graph(edges, Constraints.from_pairs(10, cannot_link=clique), k)
    assert len(caught.value.witness) == len(clique)


@pytest.mark.parametrize("edges", [RING.assign(weight=0.0), RING.assign(weight=0), RING.assign(j=RING["i"])])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("size", [{}, {"n_units": 3, "partition_size": 2}])
def test_a_graph_without_an_edge_of_positive_weight(edges, k, size):
    pairs = Constraints.from_pairs(6, [(0, 1)], [(1, 2)])
    for known in (None, pairs):
        found = cluster_graph(dd.from_pandas(edges, npartitions=2), known, k, random_state=0, **size)
        labels = found.labels.compute()["cluster"].to_numpy()
        assert np.unique(labels).tolist() == list(range(k))
        assert found.cut == 0
        assert pairs.violations(labels).n_violations == 0 or known is None


@pytest.mark.parametrize(("n_links", "k"), [(5, 2), (5, 3), (4, 3)])
def test_must_links_that_leave_too_few_sets_are_told_in_the_same_words_everywhere(n_links, k):
    graph = Graph.from_affinity(cycle(6))
    known = Constraints.from_pairs(6, [(i, i + 1) for i in range(n_links)])
    ways = [
        lambda: cluster(graph, known, k),
        lambda: cluster(graph, known, k, method="paper"),
        lambda: cluster_graph(RING, known, k),
        lambda: cluster_graph(RING.assign(weight=0.0), known, k),
    ]
    ways += [lambda: choose_n_clusters(graph, known)] if n_links == 5 and k == 2 else []
    told = []
    for way in ways:
        with pytest.raises(InconsistentConstraintsError) as caught:
            way()
        told.append((str(caught.value), caught.value.reason, caught.value.n_clusters))
    assert told == told[:1] * len(ways)
    left = "1 separate set" if n_links == 5 else "2 separate sets"
    assert told[0][0].startswith(f"The must-links leave {left} of points, too few for {k} non-empty clusters.")


@pytest.mark.slow
def test_nothing_is_left_in_the_folder(graph, tmp_path):
    cluster_graph(graph[0], None, 4, folder=tmp_path, **SMALL)
    assert list(tmp_path.iterdir()) == []
