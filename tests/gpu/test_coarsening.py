"""Matching and contraction on the device: against the rules, and against the CPU's contraction."""

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import random_graph

from tightcut import Constraints, Graph, cluster, knn_affinity
from tightcut.search import partition, search
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.many_clusters import ManyClusters
from tightcut.search.signed_graph import SignedGraph
from tightcut.search.two_clusters import TwoClusters

pytest.importorskip("torch", reason='needs PyTorch: pip install "tightcut[gpu]"')

from tightcut.gpu import coarsening
from tightcut.gpu.coarsening import coarsen_constrained, coarsen_signed, contract, contract_graph
from tightcut.gpu.matching import heavy_edge_matching, pairs_as_units
from tightcut.gpu.sparse import DeviceCsr, send


def matched(matrix, device, *, mass=None, heaviest=np.inf, seed=0, apart=None):
    """The partner of each vertex, itself if it has none."""
    there = DeviceCsr.from_scipy(matrix, device)
    mass = np.ones(matrix.shape[0]) if mass is None else mass
    keys = None if apart is None else DeviceCsr.from_scipy(apart, device).keys
    chosen = heavy_edge_matching(there, send(mass, device), heaviest, seed, keys).cpu().numpy()
    return np.where(chosen >= 0, np.append(matrix.indices, -1)[chosen], np.arange(len(mass)))


def signed_matrix(rng, n, density):
    weights = random_graph(rng, n, density).weights
    coo = sp.triu(weights, 1).tocoo()
    upper = sp.csr_array((coo.data * rng.choice([-1, 1], coo.nnz), (coo.row, coo.col)), shape=weights.shape)
    matrix = sp.csr_array(upper + upper.T)
    matrix.sort_indices()
    return matrix


@pytest.mark.parametrize("seed", range(4))
def test_a_matching_is_mutual_along_edges_and_light_enough(seed, torch_device):
    rng = np.random.default_rng(seed)
    matrix, mass = signed_matrix(rng, 80, 0.1), rng.uniform(0.5, 2, 80)
    partner = matched(matrix, torch_device, mass=mass, heaviest=2.5)
    np.testing.assert_array_equal(partner[partner], np.arange(80))
    pairs = np.flatnonzero(partner != np.arange(80))
    assert len(pairs) > 20
    assert (matrix.toarray()[pairs, partner[pairs]] != 0).all()
    assert (mass[pairs] + mass[partner[pairs]] <= 2.5).all()


def test_the_tightest_edge_is_matched(torch_device):
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 30, 0.3)
    mass = rng.uniform(0.5, 2, 30)
    i, j, weight = graph.edges
    best = np.argmax(weight / (mass[i] * mass[j]))
    assert matched(graph.weights, torch_device, mass=mass)[i[best]] == j[best]


def test_no_free_neighbours_are_left(torch_device):
    """A maximal matching: with enough rounds, every edge has a matched end."""
    graph = random_graph(np.random.default_rng(1), 60, 0.15)
    partner = matched(graph.weights, torch_device)
    i, j, _ = graph.edges
    single = partner == np.arange(60)
    assert not (single[i] & single[j]).any()


def test_ties_depend_on_the_seed_alone(torch_device):
    line = np.eye(40, k=1) + np.eye(40, k=-1)
    grid = sp.csr_array(np.kron(np.eye(40), line) + np.kron(line, np.eye(40)))
    first = matched(grid, torch_device, seed=1)
    np.testing.assert_array_equal(first, matched(grid, torch_device, seed=1))
    np.testing.assert_array_equal(first, matched(grid, "cpu", seed=1))
    assert (first != matched(grid, torch_device, seed=2)).any()
    assert (first == np.arange(1600)).mean() < 0.2


def test_pairs_that_are_apart_stay_apart(torch_device):
    rng = np.random.default_rng(2)
    graph = random_graph(rng, 40, 0.3)
    apart = random_graph(rng, 40, 0.5).weights
    partner = matched(graph.weights, torch_device, apart=apart)
    assert (apart.toarray()[np.arange(40), partner] == 0).all()
    assert (partner != np.arange(40)).any()


def test_a_graph_without_edges(torch_device):
    empty = sp.csr_array((5, 5))
    np.testing.assert_array_equal(matched(empty, torch_device), np.arange(5))
    there = DeviceCsr.from_scipy(empty, torch_device)
    unit, sign = pairs_as_units(there, heavy_edge_matching(there, send(np.ones(5), torch_device), 9.0, 0))
    assert unit.tolist() == [0, 1, 2, 3, 4]
    assert sign.tolist() == [1] * 5


@pytest.mark.parametrize("seed", range(3))
def test_contraction_as_on_the_cpu(seed, torch_device):
    rng = np.random.default_rng(seed)
    matrix = signed_matrix(rng, 50, 0.2)
    unit = np.unique(rng.integers(0, 12, 50), return_inverse=True)[1].astype(np.int32)
    sign = rng.choice([-1, 1], 50).astype(np.int8)
    m = int(unit.max()) + 1
    signed = SignedGraph.from_graph(Graph(matrix, np.ones(50)))
    expected = signed.merge(unit, sign)
    there = DeviceCsr.from_scipy(matrix, torch_device)
    found, offset = contract(there, send(unit, torch_device).long(), m, send(expected.sign, torch_device))
    np.testing.assert_allclose(found.to_scipy().toarray(), expected.graph.couplings.toarray(), atol=1e-14)
    assert offset == pytest.approx(expected.graph.offset)
    merged, own = contract_graph(Graph(abs(matrix), np.ones(50)), unit, torch_device), Graph(abs(matrix), np.ones(50))
    np.testing.assert_allclose(merged.weights.toarray(), own.contract(unit).weights.toarray(), atol=1e-14)
    np.testing.assert_array_equal(merged.vertex_weights, own.contract(unit).vertex_weights)
    plain, _ = contract(there, send(unit, torch_device).long(), m)
    whole = ConstrainedGraph(matrix, np.ones(50), sp.csr_array((50, 50))).contract(unit)
    np.testing.assert_allclose(plain.to_scipy().toarray(), whole.weights.toarray(), atol=1e-14)


def moons(n):
    from sklearn.datasets import make_moons

    points, classes = make_moons(n, noise=0.08, random_state=0)
    return Graph.from_affinity(knn_affinity(points)), classes


@pytest.mark.parametrize("seed", range(2))
def test_signed_levels_keep_every_cut(seed, torch_device):
    rng = np.random.default_rng(seed)
    graph, classes = moons(400)
    pairs = rng.integers(0, 400, (60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    colouring = Constraints.from_pairs(400, pairs[same], pairs[~same]).require_two_colourable()
    top = SignedGraph.from_graph(graph).merge(colouring.component, (1 - 2 * colouring.colour).astype(np.int8)).graph
    levels = coarsen_signed(top, 50, 3 * top.volume / 50, rng, torch_device)
    assert len(levels) >= 2
    assert levels[-1].graph.n_units < 0.4 * top.n_units
    spins = rng.choice(np.array([-1, 1], np.int8), levels[-1].graph.n_units)
    small = levels[-1].graph.ratio(spins)
    for level in reversed(levels):
        spins = level.lift(spins)
    assert top.ratio(spins) == pytest.approx(small, rel=1e-10)


def test_partition_levels_respect_relations_and_keep_every_cut(torch_device):
    rng = np.random.default_rng(3)
    graph, _ = moons(400)
    i, j, _ = graph.edges
    chosen = rng.choice(len(i), 150, replace=False)  # relations right on the edges
    cannot, must = np.stack([i, j], 1)[chosen[:100]], np.stack([i, j], 1)[chosen[100:]]
    top = ConstrainedGraph.from_graph(graph, Constraints.from_pairs(400, must, cannot))
    levels = coarsen_constrained(top, 60, 3 * graph.volume / 60, rng, torch_device)
    assert len(levels) >= 2
    for fine, (_, unit) in zip([top, *(level for level, _ in levels)], levels, strict=False):
        r = fine.relations.tocoo()
        assert (unit[r.row] != unit[r.col]).all()
    small, fine, (coarse, unit) = levels[-1][0], top, levels[0]
    dense, member = fine.relations.toarray(), np.eye(coarse.n_vertices)[unit]
    assert ((member.T @ np.maximum(dense, 0) @ member) * (member.T @ np.minimum(dense, 0) @ member) == 0).all()
    labels = rng.integers(0, 4, small.n_vertices).astype(np.int32)
    labels[:4] = range(4)
    lifted = labels
    for _, unit in reversed(levels):
        lifted = lifted[unit]
    assert top.cut(lifted, 4) == pytest.approx(small.cut(labels, 4))
    assert top.violated(lifted) == pytest.approx(small.violated(labels), abs=1e-9)


def test_levels_without_edges_are_left_to_the_cpu(torch_device):
    empty = ConstrainedGraph(sp.csr_array((9, 9)), np.ones(9), sp.csr_array((9, 9)))
    assert coarsen_constrained(empty, 2, 99.0, np.random.default_rng(0), torch_device) == []
    signed = SignedGraph.from_graph(Graph(sp.csr_array((9, 9)), np.ones(9)))
    assert coarsen_signed(signed, 2, 99.0, np.random.default_rng(0), torch_device) == []


@pytest.fixture
def small_limit(monkeypatch, torch_device):
    """The device path on graphs small enough for a test, on the device at hand."""
    for module in (search, partition):
        monkeypatch.setattr(module, "DEVICE_LIMIT", 100)
    for kind in (TwoClusters, ManyClusters):
        monkeypatch.setattr(kind, "direct_limit", 150)
    for name in ("coarsen_signed", "coarsen_constrained", "contract_graph"):
        original = getattr(coarsening, name)
        monkeypatch.setattr(coarsening, name, lambda *args, f=original: f(*args, torch_device))


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("k", [2, 4])
def test_clusterings_through_device_levels(k, monkeypatch):
    """As good as with the CPU's levels, every constraint satisfied, the same for every number of threads."""
    from tightcut import clustering as module

    graph, _ = moons(600)
    pairs = Constraints.from_pairs(600, [(0, 1), (5, 9)], [(2, 3), (4, 7), (3, 12)])
    expected = cluster(graph, pairs, k, random_state=0)
    monkeypatch.setattr(module, "resolve_device", lambda device: device)
    found = cluster(graph, pairs, k, random_state=0, device="cuda")
    assert found.n_violations == 0
    assert found.cut <= 1.02 * expected.cut
    threads = cluster(graph, pairs, k, random_state=0, device="cuda", n_jobs=2)
    np.testing.assert_array_equal(found.labels, threads.labels)
