"""The total-variation prox against an interior-point solver, and by its own certificate where that one gives up.

The certificate: a flow within the capacities whose outflow is target - norm * f, and which is full wherever f differs.
Such a flow proves f optimal, whatever the weights.
"""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import random_graph

from tightcut import Graph
from tightcut.relaxation.prox import FistaProx, FlowProx

SEEDS = st.integers(0, 2**32 - 1)


def objective(graph, target, f):
    i, j, weight = graph.edges
    return graph.vertex_weights @ f**2 / 2 - target @ f + weight @ np.abs(f[i] - f[j])


def interior_point(graph, target):
    i, j, weight = graph.edges
    f = cp.Variable(graph.n_vertices)
    variation = weight @ cp.abs(f[i] - f[j]) if len(i) else 0
    fit = cp.sum(cp.multiply(graph.vertex_weights / 2, cp.square(f))) - target @ f
    cp.Problem(cp.Minimize(fit + variation)).solve(solver=cp.CLARABEL)
    return f.value


def assert_certified(graph, target, solver, f):
    """Duality by hand: feasible flow, stationarity, complementary slackness."""
    w, flow = graph.weights, solver._flow
    rows = np.repeat(np.arange(graph.n_vertices), np.diff(w.indptr))
    rounding = 1e-12 * (1 + np.abs(target).sum())
    assert (np.abs(flow) <= w.data * (1 + 1e-14)).all()
    np.testing.assert_array_equal(flow, -flow[solver._reverse])
    stationarity = graph.vertex_weights * f + np.bincount(rows, flow, graph.n_vertices) - target
    assert np.abs(stationarity).max() <= rounding
    slack = w.data * np.abs(f[rows] - f[w.indices]) - flow * (f[rows] - f[w.indices])
    assert slack.sum() <= rounding * (1 + np.ptp(f))


@settings(max_examples=40)
@given(SEEDS, st.integers(1, 15), st.sampled_from(["degree", "ones", "own"]), st.floats(0.1, 10))
def test_against_an_interior_point_solver(seed, n, kind, strength):
    rng = np.random.default_rng(seed)
    own = rng.uniform(0.1, 5, n)
    graph = random_graph(rng, n, rng.uniform(0.1, 1), own if kind == "own" else kind)
    target = strength * rng.normal(size=n)
    solver = FlowProx(graph.weights, graph.vertex_weights)
    f, reference = solver.prox(target), interior_point(graph, target)
    assert_certified(graph, target, solver, f)
    scale = 1 + np.abs(objective(graph, target, f))
    assert objective(graph, target, f) <= objective(graph, target, reference) + 1e-12 * scale
    assert f == pytest.approx(reference, abs=1e-3 * (1 + np.abs(f).max()))
    assert objective(graph, target, f) == pytest.approx(objective(graph, target, reference), abs=1e-6 * scale)


@given(SEEDS, st.integers(2, 30), st.booleans())
def test_weights_over_sixteen_orders_of_magnitude(seed, n, wide_norm):
    rng = np.random.default_rng(seed)
    weights = np.triu(10 ** rng.uniform(-8, 8, (n, n)) * (rng.random((n, n)) < 0.4), 1)
    norm = 10 ** rng.uniform(-3, 3, n) if wide_norm else np.ones(n)
    graph = Graph.from_affinity(weights + weights.T, norm)
    target = rng.normal(size=n) * 10 ** rng.uniform(-2, 2)
    solver = FlowProx(graph.weights, norm)
    assert_certified(graph, target, solver, solver.prox(target))


@pytest.mark.parametrize("weight", [1e-8, 1e8])
@given(seed=SEEDS, n=st.integers(2, 12))
def test_tiny_weights_change_nothing_and_huge_ones_leave_the_mean(weight, seed, n):
    rng = np.random.default_rng(seed)
    graph = Graph.from_affinity(np.full((n, n), weight), rng.uniform(0.5, 2, n))
    target = rng.normal(size=n)
    f = FlowProx(graph.weights, graph.vertex_weights).prox(target)
    free = target / graph.vertex_weights
    expected = free if weight < 1 else np.full(n, target.sum() / graph.volume)
    assert f == pytest.approx(expected, abs=1e-6)


@given(SEEDS, st.integers(1, 4), st.integers(1, 6))
def test_components_do_not_know_of_each_other(seed, n_components, size):
    rng = np.random.default_rng(seed)
    blocks = [random_graph(rng, size, 0.7).weights.toarray() for _ in range(n_components)]
    weights = np.zeros((n_components * size,) * 2)
    for at, block in enumerate(blocks):
        weights[at * size : (at + 1) * size, at * size : (at + 1) * size] = block
    norm, target = rng.uniform(0.5, 2, len(weights)), rng.normal(size=len(weights))
    graph = Graph.from_affinity(weights, norm)
    solver = FlowProx(graph.weights, norm)
    f = solver.prox(target)
    assert_certified(graph, target, solver, f)
    for at, block in enumerate(blocks):
        part = slice(at * size, (at + 1) * size)
        alone = FlowProx(Graph.from_affinity(block, norm[part]).weights, norm[part]).prox(target[part])
        assert f[part] == pytest.approx(alone, abs=1e-10)


@pytest.mark.parametrize("make", [FlowProx, FistaProx])
def test_a_single_vertex(make):
    graph = Graph.from_affinity(np.zeros((1, 1)), [4.0])
    assert make(graph.weights, graph.vertex_weights).prox(np.array([2.0])).tolist() == [0.5]


@pytest.mark.parametrize("make", [FlowProx, FistaProx])
@given(seed=SEEDS, n=st.integers(1, 12), height=st.sampled_from([0.0, 1.0, -2.5]))
def test_equal_targets_stay_equal(make, seed, n, height):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, n, 0.6, rng.uniform(0.5, 2, n))
    f = make(graph.weights, graph.vertex_weights).prox(height * graph.vertex_weights)
    assert f == pytest.approx(np.full(n, height), abs=1e-12)


@given(SEEDS, st.integers(1, 15), st.sampled_from([1.0, 1e-3]))
def test_ties_and_repeated_values(seed, n, unit):
    rng = np.random.default_rng(seed)
    weights = np.triu(unit * rng.integers(0, 3, (n, n)), 1)
    graph = Graph.from_affinity(weights + weights.T, np.ones(n))
    target = unit * rng.integers(-4, 5, n).astype(float)
    solver = FlowProx(graph.weights, graph.vertex_weights)
    assert_certified(graph, target, solver, solver.prox(target))


@given(SEEDS, st.integers(1, 25), st.sampled_from([0.0, 1e-3, 1.0, 100.0]))
def test_a_warm_start_gives_what_a_cold_one_does(seed, n, change):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, n, 0.4)
    first = rng.normal(size=n)
    second = first + change * rng.normal(size=n)
    warm = FlowProx(graph.weights, graph.vertex_weights)
    warm.prox(first)
    again = warm.prox(second)
    assert_certified(graph, second, warm, again)
    cold = FlowProx(graph.weights, graph.vertex_weights).prox(second)
    assert again == pytest.approx(cold, abs=1e-9 * (1 + change))


@settings(max_examples=40)
@given(SEEDS, st.integers(2, 25))
def test_fista_warm_and_cold(seed, n):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, n, 0.4)
    exact, solver = FlowProx(graph.weights, graph.vertex_weights), FistaProx(graph.weights, graph.vertex_weights)
    for _ in range(2):
        target = rng.normal(size=n)
        f = solver.prox(target)
        assert f == pytest.approx(exact.prox(target), abs=1e-4 * (1 + np.abs(f).max()))


@given(SEEDS, st.integers(2, 25), st.floats(-5, 5), st.floats(0.1, 10))
def test_shift_and_scale(seed, n, shift, scale):
    rng = np.random.default_rng(seed)
    graph, target = random_graph(rng, n, 0.4), rng.normal(size=n)
    norm = graph.vertex_weights

    def prox(weights, goal):
        return FlowProx(weights, norm).prox(goal)

    f = prox(graph.weights, target)
    assert prox(graph.weights, target + shift * norm) == pytest.approx(f + shift, abs=1e-9)
    assert prox(scale * graph.weights, scale * target) == pytest.approx(scale * f, abs=1e-9)
    assert norm @ f == pytest.approx(target.sum(), abs=1e-9)


@pytest.mark.filterwarnings("error:overflow", "ignore:FISTA stopped")
def test_the_gap_of_a_target_near_zero_after_a_large_one_is_infinite():
    """The flow is kept between calls: for a target of 1e12 its gap is out of range next to the smallest normal number."""
    weights = sp.csr_array(1e12 * (np.ones((3, 3)) - np.eye(3)))
    solver = FistaProx(weights, np.ones(3), max_iterations=25)
    solver.prox(np.array([-1e12, 0.0, 1e12]))
    solver.prox(np.full(3, 1e-160))
    assert solver.gap == np.inf
