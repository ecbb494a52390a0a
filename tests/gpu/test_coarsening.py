"""Matching and contraction on the device: against the rules, and against the CPU's contraction."""

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import random_graph

from tightcut import Graph, kernels
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.signed_graph import SignedGraph

pytest.importorskip("torch", reason='needs PyTorch: pip install "tightcut[gpu]"')

from tightcut.gpu.backend import DeviceBackend
from tightcut.gpu.coarsening import common_code, connected_regions, contract
from tightcut.gpu.matching import heavy_edge_matching, pairs_as_units
from tightcut.gpu.sparse import FEW, DeviceCsr, Groups, send


def matched(matrix, device, *, mass=None, heaviest=np.inf, seed=0, apart=None, labels=None):
    """The partner of each vertex, itself if it has none."""
    there = DeviceCsr.from_scipy(matrix, device)
    mass = np.ones(matrix.shape[0]) if mass is None else mass
    keys = None if apart is None else DeviceCsr.from_scipy(apart, device).keys
    labels = None if labels is None else send(labels, device)
    chosen = heavy_edge_matching(there, send(mass, device), heaviest, seed, keys, labels).cpu().numpy()
    return np.where(chosen >= 0, np.append(matrix.indices, -1)[chosen], np.arange(len(mass)))


def signed_matrix(rng, n, density):
    weights = random_graph(rng, n, density).weights
    coo = sp.triu(weights, 1).tocoo()
    upper = sp.csr_array((coo.data * rng.choice([-1, 1], coo.nnz), (coo.row, coo.col)), shape=weights.shape)
    matrix = sp.csr_array(upper + upper.T)
    matrix.sort_indices()
    return matrix


@pytest.mark.parametrize("seed", range(4))
def test_a_matching_is_mutual_along_edges_and_light_enough(seed, triton_device):
    rng = np.random.default_rng(seed)
    matrix, mass = signed_matrix(rng, 80, 0.1), rng.uniform(0.5, 2, 80)
    partner = matched(matrix, triton_device, mass=mass, heaviest=2.5)
    np.testing.assert_array_equal(partner[partner], np.arange(80))
    pairs = np.flatnonzero(partner != np.arange(80))
    assert len(pairs) > 20
    assert (matrix.toarray()[pairs, partner[pairs]] != 0).all()
    assert (mass[pairs] + mass[partner[pairs]] <= 2.5).all()


def test_the_tightest_edge_is_matched(triton_device):
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 30, 0.3)
    mass = rng.uniform(0.5, 2, 30)
    i, j, weight = graph.edges
    rating = np.floor(np.log2(weight / (mass[i] * mass[j])))
    tightest = rating == rating.max()  # up to a factor of two
    partner = matched(graph.weights, triton_device, mass=mass)
    assert any(partner[u] == v for u, v in zip(i[tightest], j[tightest], strict=True))
    light = 0.01 * graph.weights.toarray()
    light[3, 4] = light[4, 3] = 1.0
    assert matched(sp.csr_array(light), triton_device)[3] == 4


def test_matchings_with_different_seeds_differ(triton_device):
    graph = random_graph(np.random.default_rng(6), 60, 0.3)
    first, second = (matched(graph.weights, triton_device, seed=seed) for seed in (1, 2))
    assert (first != second).mean() > 0.2


def test_no_free_neighbours_are_left(triton_device):
    """A maximal matching: with enough rounds, every edge has a matched end."""
    graph = random_graph(np.random.default_rng(1), 60, 0.15)
    partner = matched(graph.weights, triton_device)
    i, j, _ = graph.edges
    single = partner == np.arange(60)
    assert not (single[i] & single[j]).any()


def test_ties_depend_on_the_seed_alone(triton_device):
    line = np.eye(12, k=1) + np.eye(12, k=-1)
    grid = sp.csr_array(np.kron(np.eye(12), line) + np.kron(line, np.eye(12)))
    first = matched(grid, triton_device, seed=1)
    np.testing.assert_array_equal(first, matched(grid, triton_device, seed=1))
    assert (first != matched(grid, triton_device, seed=2)).any()
    assert (first == np.arange(144)).mean() < 0.2


def test_pairs_that_are_apart_stay_apart(triton_device):
    rng = np.random.default_rng(2)
    graph = random_graph(rng, 40, 0.3)
    apart = random_graph(rng, 40, 0.5).weights
    partner = matched(graph.weights, triton_device, apart=apart)
    assert (apart.toarray()[np.arange(40), partner] == 0).all()
    assert (partner != np.arange(40)).any()


def test_only_vertices_of_the_same_label_are_matched(triton_device):
    rng = np.random.default_rng(4)
    graph, labels = random_graph(rng, 40, 0.3), rng.integers(0, 3, 40)
    partner = matched(graph.weights, triton_device, labels=labels)
    np.testing.assert_array_equal(labels, labels[partner])
    assert (partner != np.arange(40)).any()


def test_a_matching_reads_rows_longer_than_a_tile(triton_device):
    star = np.zeros((60, 60))
    star[0, 1:] = star[1:, 0] = 1
    star[0, 57] = star[57, 0] = 2
    partner = matched(sp.csr_array(star), triton_device)
    assert partner[0] == 57
    assert partner[57] == 0
    assert (partner == np.arange(60)).sum() == 58


def test_a_graph_without_edges(triton_device):
    empty = sp.csr_array((5, 5))
    np.testing.assert_array_equal(matched(empty, triton_device), np.arange(5))
    there = DeviceCsr.from_scipy(empty, triton_device)
    unit, sign = pairs_as_units(there, heavy_edge_matching(there, send(np.ones(5), triton_device), 9.0, 0))
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
    np.testing.assert_allclose(found.to_scipy().toarray(), expected.small.couplings.toarray(), atol=1e-14)
    assert offset == pytest.approx(expected.small.offset)
    merged, own = (
        DeviceBackend(torch_device).contract(Graph(abs(matrix), np.ones(50)), unit),
        Graph(abs(matrix), np.ones(50)),
    )
    np.testing.assert_allclose(merged.weights.toarray(), own.contract(unit).weights.toarray(), atol=1e-14)
    np.testing.assert_array_equal(merged.vertex_weights, own.contract(unit).vertex_weights)
    plain, _ = contract(there, send(unit, torch_device).long(), m)
    whole = ConstrainedGraph(matrix, np.ones(50), sp.csr_array((50, 50))).contract(unit)
    np.testing.assert_allclose(plain.to_scipy().toarray(), whole.weights.toarray(), atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_regions_as_on_the_cpu(seed, torch_device):
    rng = np.random.default_rng(seed)
    matrix = random_graph(rng, 80, 0.03).weights
    population = [rng.integers(0, 3, 80).astype(np.int32) for _ in range(2)]
    whole = ConstrainedGraph(matrix, np.ones(80), sp.csr_array((80, 80)))
    code = common_code([send(labels, torch_device) for labels in population])
    found = connected_regions(DeviceCsr.from_scipy(matrix, torch_device), code)
    np.testing.assert_array_equal(found.cpu().numpy(), whole.consensus(population))


def test_regions_of_a_long_path(torch_device):
    path = sp.csr_array(sp.diags_array([np.ones(299), np.ones(299)], offsets=[-1, 1]))
    labels = np.repeat([0, 1, 0], 100).astype(np.int32)[np.random.default_rng(0).permutation(300)]
    found = connected_regions(DeviceCsr.from_scipy(path, torch_device), send(labels, torch_device))
    expected = kernels.connected_regions(path.indptr, path.indices, labels)
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


def test_codes_of_many_labellings(torch_device):
    """40 labellings of 1,000 labels would not fit into 63 bits."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 1000, 50).astype(np.int32)
    population = [send((first + shift) % 1000, torch_device).int() for shift in range(40)]
    code = common_code(population).cpu().numpy()
    np.testing.assert_array_equal(code[:, None] == code, first[:, None] == first)


def test_sums_of_small_and_of_large_groups(torch_device):
    rng = np.random.default_rng(1)
    for size in (2, 40):
        keys = np.sort(rng.integers(0, 200 // size, 200))
        values = rng.normal(size=200)
        groups = Groups.of(send(keys, torch_device))
        assert (groups.longest <= FEW) == (size == 2)
        expected = np.bincount(np.unique(keys, return_inverse=True)[1], values)
        np.testing.assert_allclose(
            groups.reduce(send(values, torch_device)).cpu().numpy(), expected, rtol=1e-12, atol=1e-14
        )
