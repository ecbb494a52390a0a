"""Lemma 3.2: rescaling the flow makes the dual well conditioned, so that one step length suits all edges.

With beta = s alpha, s proportional to the edge weight, weights move from the operator into the bounds of the flow: the
dual only knows the incidence operator B of the graph without weights. Three facts hold here that the paper states
otherwise: the adjoint B^T d = d_i - d_j belongs to edges stored once; then ||B||^2 <= 2 max degree; and the gradient of
half the squared distance to the simplex has Lipschitz constant 2, since a point minus its projection moves no further
than the point.

The library's FISTA needs no simplex (the range term is a clip) and goes further than one Lipschitz constant: each edge
has its own step, and all of them together majorise the dual Hessian.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs

from tightcut import kernels
from tightcut.relaxation.prox import FistaProx


def incidence(graph):
    """One row per undirected edge: +1 at one end, -1 at the other."""
    i, j, _ = graph.edges
    matrix = np.zeros((len(i), graph.n_vertices))
    matrix[np.arange(len(i)), i] = 1
    matrix[np.arange(len(i)), j] = -1
    return matrix


def project_to_simplex(y):
    ordered = np.sort(y)[::-1]
    level = (np.cumsum(ordered) - 1) / np.arange(1, len(y) + 1)
    return np.maximum(y - level[ordered > level][-1], 0)


def residual(d):
    return d - project_to_simplex(d)


def once_per_edge(graph, per_arc):
    """The values of the arcs (i, j) with i < j, in the order of `graph.edges`."""
    arcs = graph.weights.copy()
    arcs.data = np.asarray(per_arc, dtype=float)
    i, j, _ = graph.edges
    return arcs.toarray()[i, j]


@given(graphs(), st.integers(0, 2**32 - 1))
def test_the_rescaled_dual_is_the_dual(graph, seed):
    rng, n = np.random.default_rng(seed), graph.n_vertices
    edges, (_, _, weight), c = incidence(graph), graph.edges, rng.uniform(0.5, 3)
    alpha, v, b = rng.uniform(-1, 1, len(weight)), rng.dirichlet(np.ones(n)), rng.normal(size=n)
    M = np.linalg.norm(edges, 2)
    original = c * np.linalg.norm(residual(-edges.T @ (weight * alpha) / c + v + b))
    beta = weight * M / c * alpha
    rescaled = 0.5 * np.linalg.norm(residual(-edges.T @ beta / M + v + b)) ** 2
    assert rescaled == pytest.approx((original / c) ** 2 / 2)


@given(graphs(connected=False), st.integers(0, 2**32 - 1))
def test_norm_of_the_incidence_operator(graph, seed):
    edges, rng = incidence(graph), np.random.default_rng(seed)
    flow, potential = rng.normal(size=len(edges)), rng.normal(size=graph.n_vertices)
    i, j, _ = graph.edges
    assert (edges.T @ flow) @ potential == pytest.approx(flow @ (potential[i] - potential[j]), abs=1e-9)
    neighbours = np.diff(graph.weights.indptr)
    norm = np.linalg.norm(edges, 2) if len(edges) else 0.0
    assert norm**2 <= 2 * neighbours.max(initial=0) + 1e-9
    assert norm**2 >= neighbours.max(initial=0) - 1e-9


@given(graphs(), st.integers(0, 2**32 - 1))
def test_the_gradient_of_the_rescaled_dual_has_lipschitz_constant_two(graph, seed):
    edges, rng, n = incidence(graph), np.random.default_rng(seed), graph.n_vertices
    scaled = edges / np.sqrt(2 * np.diff(graph.weights.indptr).max())

    def gradient(beta, v):
        rest = residual(-scaled.T @ beta + v + b)
        return np.concatenate([-scaled @ rest, rest])

    b = rng.normal(size=n)
    for width in (3.0, 0.1, 1e-3):
        beta, v = rng.normal(size=len(edges)), rng.normal(size=n)
        step, shift = width * rng.normal(size=len(edges)), width * rng.normal(size=n)
        moved = np.linalg.norm(np.concatenate([step, shift]))
        assert np.linalg.norm(gradient(beta + step, v + shift) - gradient(beta, v)) <= 2 * moved * (1 + 1e-9)


@given(graphs(connected=False), st.booleans())
def test_the_steps_per_edge_majorise_the_dual_hessian(graph, weighted):
    norm = graph.vertex_weights if weighted else np.ones(graph.n_vertices)
    solver, edges = FistaProx(graph.weights, norm), incidence(graph)
    hessian = edges / norm @ edges.T
    surplus = np.diag(1 / once_per_edge(graph, solver._step)) - hessian
    assert np.linalg.eigvalsh(surplus).min(initial=0) >= -1e-9 * np.abs(hessian).max(initial=1)


@given(graphs(), st.integers(0, 2**32 - 1))
def test_one_step_brings_the_descent_that_majorising_promises(graph, seed):
    rng, norm = np.random.default_rng(seed), graph.vertex_weights
    w, target = graph.weights, rng.normal(size=graph.n_vertices)
    solver, edges = FistaProx(w, norm), incidence(graph)

    def distance(flow):
        return 0.5 * ((target - edges.T @ flow) ** 2 / norm).sum()

    start = np.zeros(w.nnz)
    flow, ahead, value = start.copy(), start.copy(), np.empty_like(target)
    kernels.fista_steps(w.indptr, w.indices, w.data, target, norm, solver._step, flow, ahead, 1.0, 1, value)
    before, after = once_per_edge(graph, start), once_per_edge(graph, flow)
    promised = 0.5 * ((after - before) ** 2 / once_per_edge(graph, solver._step)).sum()
    assert distance(after) <= distance(before) - promised + 1e-9 * (1 + distance(before))


@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_the_flow_stays_feasible_and_the_gap_bounds_the_error(graph, seed, n_steps):
    rng, norm = np.random.default_rng(seed), graph.vertex_weights
    w, target = graph.weights, rng.normal(size=graph.n_vertices)
    step = FistaProx(w, norm)._step
    flow, value = np.zeros(w.nnz), np.empty_like(target)
    _, gap = kernels.fista_steps(
        w.indptr, w.indices, w.data, target, norm, step, flow, np.zeros(w.nnz), 1.0, n_steps, value
    )
    i, j, weight = graph.edges
    assert (np.abs(flow) <= w.data).all()
    assert flow == pytest.approx(-flow[kernels.reverse_arcs(w.indptr, w.indices)], abs=1e-12)
    assert value == pytest.approx((target - incidence(graph).T @ once_per_edge(graph, flow)) / norm)
    primal = norm @ value**2 / 2 - target @ value + weight @ np.abs(value[i] - value[j])
    dual = -(norm @ value**2) / 2
    assert gap == pytest.approx(primal - dual, abs=1e-9)
    best = FistaProx(w, norm).prox(target)
    optimum = norm @ best**2 / 2 - target @ best + weight @ np.abs(best[i] - best[j])
    assert primal - optimum <= gap + 1e-8
