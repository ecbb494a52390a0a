"""FISTA on the device against FISTA on the CPU, iteration by iteration, and against minimum cuts."""

import numpy as np
import pytest
from strategies import random_graph

from tightcut import Constraints, Graph, cluster
from tightcut.relaxation.fista import FistaProx
from tightcut.relaxation.flow import FlowProx

pytest.importorskip("torch", reason="needs PyTorch: pip install torch")


@pytest.fixture
def prox(triton_device):
    """A CudaFistaProx on the device at hand."""
    from tightcut.gpu.fista import CudaFistaProx

    return lambda graph, *settings, **options: CudaFistaProx(
        graph.weights, graph.vertex_weights, *settings, **options, device=triton_device
    )


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("n", [10, 70])
@pytest.mark.filterwarnings("ignore:FISTA stopped:RuntimeWarning")
def test_the_same_iterates_as_on_the_cpu(n, precision, prox):
    rng = np.random.default_rng(n)
    graph = random_graph(rng, n, 0.3)
    ours = prox(graph, -1.0, 50, precision=precision)  # no gap is small enough
    theirs = FistaProx(graph.weights, graph.vertex_weights, -1.0, 50)
    for _ in range(2):  # the second call starts from the flow of the first
        target = rng.normal(size=n)
        expected = theirs.prox(target)
        accuracy = 1e-12 if precision == "float64" else 1e-4
        assert ours.prox(target) == pytest.approx(expected, abs=accuracy * (1 + np.abs(expected).max()))
    assert ours.n_iterations == theirs.n_iterations == 100
    if precision == "float64":
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


@pytest.mark.filterwarnings("ignore:FISTA stopped:RuntimeWarning")
def test_a_vertex_with_many_neighbours_is_split_into_pieces(prox):
    """A star: the hub has five pieces, and every leaf one."""
    n = 1100
    weights = np.zeros((n, n))
    weights[0, 1:] = weights[1:, 0] = np.random.default_rng(0).uniform(0.1, 1, n - 1)
    graph = Graph.from_affinity(weights)
    target = np.random.default_rng(1).normal(size=n)
    solver = prox(graph, -1.0, 25)
    assert solver._slices.pieces.diff().tolist() == [5] + [1] * (n - 1)
    expected = FistaProx(graph.weights, graph.vertex_weights, -1.0, 25).prox(target)
    assert solver.prox(target) == pytest.approx(expected, abs=1e-11)


@pytest.mark.filterwarnings("ignore:FISTA stopped:RuntimeWarning")
def test_many_short_pieces(prox, monkeypatch):
    from tightcut.gpu import slices

    monkeypatch.setattr(slices, "PIECE", 8)
    rng = np.random.default_rng(6)
    graph = random_graph(rng, 200, 0.1, rng.uniform(0.5, 2, 200))
    target = rng.normal(size=200)
    expected = FistaProx(graph.weights, graph.vertex_weights, -1.0, 25).prox(target)
    assert prox(graph, -1.0, 25).prox(target) == pytest.approx(expected, abs=1e-12)


def test_a_single_vertex(prox):
    graph = Graph.from_affinity(np.zeros((1, 1)), [4.0])
    assert prox(graph).prox(np.array([2.0])).tolist() == [0.5]


def test_too_few_iterations_warn(prox):
    graph = random_graph(np.random.default_rng(3), 30, 0.3)
    with pytest.warns(RuntimeWarning, match="FISTA stopped after 25 iterations"):
        prox(graph, 1e-12, 25).prox(np.random.default_rng(4).normal(size=30))


@pytest.mark.usefixtures("gpu")
def test_clustering_with_it():
    graph = random_graph(np.random.default_rng(5), 60, 0.2)
    pairs = Constraints.from_pairs(60, [(0, 1), (2, 3)], [(0, 2), (5, 9)])
    expected = cluster(graph, pairs, method="paper", random_state=0)
    found = cluster(graph, pairs, method="paper", device="cuda", random_state=0)
    assert found.cut == pytest.approx(expected.cut)
    assert found.labels.tolist() == expected.labels.tolist()
