"""Lemma 3.1: the inner problem of RatioDCA and its dual have the same value.

The inner problem minimises Phi(f) - <f, g> over the unit ball, Phi being total variation plus c times the range. Its
dual is the smallest distance of g from what a flow through the edges and two points u, v of the simplex can make up:
|| g - A alpha - c (u - v) ||, the flow alpha at most one in size and antisymmetric. The library weighs the ball by the
vertex weights; unit weights give the paper's lemma.

Here both inner solvers must reach equality between the two problems, which proves each of them optimal, and agree with
an interior-point solver on the primal problem as printed, range term included.
"""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import partitions, problems

from tightcut import Constraints, Graph
from tightcut.relaxation import Relaxation
from tightcut.relaxation.prox import FistaProx, FlowProx, clip_range, inner_solver

SOLVERS = pytest.mark.parametrize("make", [FlowProx, FistaProx])


class Inner:
    """The inner problem as RatioDCA meets it at the indicator of a partition, in the norm sum norm_i f_i^2."""

    def __init__(self, relaxation, side, rng, norm):
        f = side.astype(float)
        self.relaxation, self.norm, self.c = relaxation, norm, relaxation.c
        self.g = relaxation.F(f) * relaxation.s(f) + relaxation.r2(f, rng)

    def primal(self, f):
        return self.relaxation.R1(f) - f @ self.g

    def outflow(self, flow):
        """A alpha, for a flow = w' alpha on the stored arcs."""
        weights = self.relaxation.weights
        rows = np.repeat(np.arange(len(self.norm)), np.diff(weights.indptr))
        return np.bincount(rows, flow, len(self.norm))

    def dual(self, flow, u, v):
        return -np.sqrt(((self.g - self.outflow(flow) - self.c * (u - v)) ** 2 / self.norm).sum())

    def on_sphere(self, h):
        """The point of the unit ball that h points to, or zero where h is only the error of the solver."""
        length = np.sqrt(self.norm @ h**2)
        point = h / length if length > 0 else h
        return point if self.primal(point) < 0 else np.zeros_like(h)


@st.composite
def inner_problems(draw, max_vertices=7, unit_norm=None):
    graph, constraints = draw(problems(max_vertices=max_vertices))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    relaxation = Relaxation(graph, constraints, draw(st.just(0.0) | st.floats(0.01, 2)))
    unit = draw(st.booleans()) if unit_norm is None else unit_norm
    norm = np.ones(graph.n_vertices) if unit else graph.vertex_weights
    return Inner(relaxation, draw(partitions(graph.n_vertices)), rng, norm)


def solve(inner, make):
    """The prox of Phi with a dual solution for it: (h, flow, u, v)."""
    solver = make(inner.relaxation.weights, inner.norm)
    smooth = solver.prox(inner.g)
    h = clip_range(smooth, inner.c, inner.norm)
    moved = inner.norm * (smooth - h) / inner.c if inner.c > 0 else np.zeros_like(h)
    u, v = np.maximum(moved, 0), np.maximum(-moved, 0)
    # A constant h may need less than c at each end; what is left of the simplex goes anywhere, in u and v alike.
    u[0] += 1 - u.sum()
    v[0] += 1 - v.sum()
    return h, solver._flow, u, v


def project_to_simplex(y):
    ordered = np.sort(y)[::-1]
    level = (np.cumsum(ordered) - 1) / np.arange(1, len(y) + 1)
    return np.maximum(y - level[ordered > level][-1], 0)


@SOLVERS
@given(inner=inner_problems())
def test_primal_and_dual_value_meet(make, inner):
    h, flow, u, v = solve(inner, make)
    weights = inner.relaxation.weights
    scale = 1 + np.abs(inner.g).sum()
    tolerance = 1e-9 if make is FlowProx else 1e-4  # FISTA stops at a relative gap of 1e-10, and values go by its root
    assert (np.abs(flow) <= weights.data * (1 + 1e-12)).all()
    assert flow == pytest.approx(-flow[reversed_arcs(weights)], abs=1e-12 * scale)
    assert min(u.min(), v.min()) >= -1e-9 * scale / (inner.c or 1)
    assert inner.dual(flow, u, v) == pytest.approx(inner.primal(inner.on_sphere(h)), abs=tolerance * scale)


def reversed_arcs(weights):
    """For each stored arc (i, j) the place of (j, i)."""
    rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    place = {arc: at for at, arc in enumerate(zip(rows.tolist(), weights.indices.tolist(), strict=True))}
    return [place[j, i] for i, j in place]


@given(inner_problems(unit_norm=True))
def test_the_dual_value_is_the_paper_s_distance_to_the_simplex(inner):
    h, flow, _, v = solve(inner, FlowProx)
    assume(inner.c > 0)
    y = -inner.outflow(flow) / inner.c + v + inner.g / inner.c
    distance = inner.c * np.linalg.norm(y - project_to_simplex(y))
    assert -distance == pytest.approx(inner.primal(inner.on_sphere(h)), abs=1e-8 * (1 + np.abs(inner.g).sum()))


@given(inner_problems(), st.integers(0, 2**32 - 1))
def test_no_dual_point_lies_above_and_no_primal_point_below(inner, seed):
    rng, n = np.random.default_rng(seed), len(inner.norm)
    h, _, _, _ = solve(inner, FlowProx)
    optimum = inner.primal(inner.on_sphere(h))
    weights = inner.relaxation.weights
    back = reversed_arcs(weights)
    for _ in range(10):
        alpha = rng.uniform(-1, 1, weights.nnz)
        flow = weights.data * (alpha - alpha[back]) / 2
        assert inner.dual(flow, *rng.dirichlet(np.ones(n), 2)) <= optimum + 1e-9
        f = rng.normal(size=n)
        near = inner.on_sphere(h) + 0.1 * f
        for point in (f, near):
            assert inner.primal(point / max(1, np.sqrt(inner.norm @ point**2))) >= optimum - 1e-9


@pytest.mark.slow
@SOLVERS
@settings(max_examples=30)
@given(inner=inner_problems())
def test_agrees_with_an_interior_point_solver_on_the_whole_inner_problem(make, inner):
    i, j, weight = Graph(inner.relaxation.weights, inner.relaxation.graph.vertex_weights).edges
    f = cp.Variable(len(inner.norm))
    variation = weight @ cp.abs(f[i] - f[j])
    objective = variation + inner.c * (cp.max(f) - cp.min(f)) - inner.g @ f
    ball = [cp.norm(cp.multiply(np.sqrt(inner.norm), f)) <= 1]
    expected = cp.Problem(cp.Minimize(objective), ball).solve(solver=cp.CLARABEL)
    h, _, _, _ = solve(inner, make)
    found = inner.primal(inner.on_sphere(h))
    assert found == pytest.approx(expected, abs=1e-5 * (1 + np.abs(inner.g).max()))


@given(inner_problems())
def test_both_solvers_agree_as_closely_as_the_gap_promises(inner):
    exact = FlowProx(inner.relaxation.weights, inner.norm).prox(inner.g)
    solver = FistaProx(inner.relaxation.weights, inner.norm)
    approximate = solver.prox(inner.g)
    i, j, weight = Graph(inner.relaxation.weights, inner.relaxation.graph.vertex_weights).edges
    gap = inner.norm @ approximate**2 - inner.g @ approximate + weight @ np.abs(approximate[i] - approximate[j])
    # The prox objective is 1-strongly convex in this norm, so the gap bounds half the squared distance.
    rounding = 1e-13 * (inner.g**2 / inner.norm).sum()
    assert inner.norm @ (approximate - exact) ** 2 / 2 <= gap + rounding
    assert gap <= 1e-9 * (inner.g**2 / inner.norm).sum()


def test_fista_stops_where_the_prox_is_constant():
    # Here the exact prox is zero, as in the last inner problem of every run without cannot-links.
    weights = np.eye(8)[0][:, None] + np.eye(8)[0][None, :]
    graph = Graph.from_affinity(weights)
    leaf = np.arange(8) == 7
    relaxation = Relaxation(graph, Constraints.from_pairs(8), 0.0)
    inner = Inner(relaxation, leaf, None, graph.vertex_weights)
    assert np.abs(FlowProx(relaxation.weights, inner.norm).prox(inner.g)).max() <= 1e-15
    solver = FistaProx(relaxation.weights, inner.norm)
    assert solver.prox(inner.g) == pytest.approx(np.zeros(8), abs=1e-4)
    assert solver.n_iterations < 2000


@given(inner_problems())
def test_the_prox_points_to_the_minimiser_with_value_minus_its_length(inner):
    h, _, _, _ = solve(inner, FlowProx)
    length = np.sqrt(inner.norm @ h**2)
    assert inner.primal(inner.on_sphere(h)) == pytest.approx(-length, abs=1e-8 * (1 + np.abs(inner.g).sum()))


@settings(max_examples=30)
@given(inner_problems(), st.just(0.0) | st.floats(0.01, 5))
def test_the_range_term_is_a_clip_for_any_strength(inner, c):
    inner.c = c
    i, j, weight = Graph(inner.relaxation.weights, inner.relaxation.graph.vertex_weights).edges

    def objective(f):
        return inner.norm @ f**2 / 2 - inner.g @ f + weight @ np.abs(f[i] - f[j]) + c * np.ptp(f)

    f = cp.Variable(len(inner.norm))
    penalty = weight @ cp.abs(f[i] - f[j]) + c * (cp.max(f) - cp.min(f))
    convex = cp.Minimize(cp.sum(cp.multiply(inner.norm / 2, cp.square(f))) - inner.g @ f + penalty)
    cp.Problem(convex).solve(solver=cp.CLARABEL)
    h, _, _, _ = solve(inner, FlowProx)
    scale = 1 + np.abs(inner.g).sum()
    assert objective(h) <= objective(f.value) + 1e-12 * scale
    assert objective(h) == pytest.approx(objective(f.value), abs=1e-6 * scale)


def test_solvers_go_by_name():
    assert (inner_solver("flow"), inner_solver("fista")) == (FlowProx, FistaProx)
    with pytest.raises(ValueError, match=r"'simplex'.*'fista', 'flow'"):
        inner_solver("simplex")
