"""FISTA on the device against FISTA on the CPU, iteration by iteration, and against minimum cuts."""

import numpy as np
import pytest
from strategies import random_graph

from tightcut import Constraints, Graph, cluster
from tightcut.relaxation import Relaxation
from tightcut.relaxation.prox import FistaProx, FlowProx
from tightcut.relaxation.ratio_dca import ratio_dca

pytest.importorskip("torch", reason='needs PyTorch: pip install "tightcut[gpu]"')

from tightcut.gpu.backend import DeviceBackend
from tightcut.gpu.fista import DeviceFistaProx


@pytest.fixture
def prox(torch_device):
    """A DeviceFistaProx on the device at hand."""
    return lambda graph, *settings: DeviceFistaProx(graph.weights, graph.vertex_weights, *settings, device=torch_device)


@pytest.mark.parametrize("n", [10, 70])
@pytest.mark.filterwarnings("ignore:FISTA stopped:RuntimeWarning")
def test_the_same_iterates_as_on_the_cpu(n, prox):
    rng = np.random.default_rng(n)
    graph = random_graph(rng, n, 0.3, rng.uniform(0.5, 2, n))
    ours = prox(graph, -1.0, 50)  # no gap is small enough
    theirs = FistaProx(graph.weights, graph.vertex_weights, -1.0, 50)
    for _ in range(2):  # the second call starts from the flow of the first
        target = rng.normal(size=n)
        expected = theirs.prox(target)
        assert ours.prox(target) == pytest.approx(expected, abs=1e-12 * (1 + np.abs(expected).max()))
    assert ours.n_iterations == theirs.n_iterations == 100
    assert ours.gap == pytest.approx(theirs.gap, rel=1e-6, abs=1e-12)


def test_stops_at_the_gap_and_agrees_with_minimum_cuts(prox):
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 20, 0.4)
    target = rng.normal(size=20)
    solver = prox(graph)
    f = solver.prox(target)
    assert solver.gap <= 1e-10
    assert solver.n_iterations % 25 == 0
    exact = FlowProx(graph.weights, graph.vertex_weights).prox(target)
    assert f == pytest.approx(exact, abs=1e-4 * (1 + np.abs(exact).max()))


def test_a_single_vertex(prox):
    graph = Graph.from_affinity(np.zeros((1, 1)), [4.0])
    assert prox(graph).prox(np.array([2.0])).tolist() == [0.5]


def test_too_few_iterations_warn(prox):
    graph = random_graph(np.random.default_rng(3), 30, 0.3)
    with pytest.warns(RuntimeWarning, match="FISTA stopped after 25 iterations"):
        prox(graph, 1e-12, 25).prox(np.random.default_rng(4).normal(size=30))


def test_the_same_descent_as_on_the_cpu(torch_device):
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 15, 0.2, rng.uniform(0.5, 2, 15))
    pairs = Constraints.from_pairs(15, [(0, 1), (2, 3)], [(0, 2), (5, 9), (4, 7)])
    start, relaxation = rng.random(15) < 0.5, Relaxation(graph, pairs, 0.05)
    expected = ratio_dca(relaxation, start, inner="fista")
    found = ratio_dca(relaxation, start, inner=DeviceBackend(torch_device).inner)
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    np.testing.assert_array_equal(found.side, expected.side)
    assert found.history == pytest.approx(expected.history, rel=1e-6)


@pytest.mark.usefixtures("gpu")
def test_clustering_with_it():
    graph = random_graph(np.random.default_rng(5), 60, 0.2)
    pairs = Constraints.from_pairs(60, [(0, 1), (2, 3)], [(0, 2), (5, 9)])
    expected = cluster(graph, pairs, method="paper", random_state=0)
    found = cluster(graph, pairs, method="paper", device="cuda", random_state=0)
    assert found.cut == pytest.approx(expected.cut)
    assert found.labels.tolist() == expected.labels.tolist()
