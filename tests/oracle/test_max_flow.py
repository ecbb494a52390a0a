"""The push-relabel kernel against scipy's integer maximum flow, on capacities scaled from integers.

Surplus vertices are sources and deficit vertices sinks. The kernel routes what it can and leaves the rest standing, so
the flow value is what the deficits have absorbed.
"""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import maximum_flow

from tightcut import kernels

SEEDS = st.integers(0, 2**32 - 1)
# The last is no binary fraction: every capacity is rounded.
SCALES = st.sampled_from([1.0, 2.0**-20, 1e6, np.pi * 1e-3])


@dataclass
class Routed:
    """What the kernel leaves behind."""

    flow: np.ndarray
    excess: np.ndarray
    source_side: np.ndarray


def route(weights, excess, part=None, flow=None, tolerance=0.0):
    """Run the kernel on copies; a given flow is one that `excess` does not know of yet."""
    n = weights.shape[0]
    part = np.zeros(n, np.int32) if part is None else part
    flow = np.zeros(weights.nnz) if flow is None else flow.copy()
    reverse = kernels.reverse_arcs(weights.indptr, weights.indices)
    excess = excess - outflow(weights, flow)
    height, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    arc, queued = np.empty(n, np.int64), np.zeros(n, np.bool_)
    members = np.arange(n, dtype=np.int32)
    graph = (weights.indptr, weights.indices, reverse, weights.data)
    scratch = (height, queue, arc, queued)
    kernels.route_excess(*graph, flow, excess, part, members, tolerance, *scratch)
    return Routed(flow, excess, height == kernels.UNREACHED)


def sources(weights):
    return np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))


def outflow(weights, flow):
    return np.bincount(sources(weights), flow, weights.shape[0])


def random_capacities(rng, n, largest=50):
    """Integer capacities, symmetric, on a random graph that may fall apart."""
    upper = np.triu(rng.integers(1, largest, (n, n)) * (rng.random((n, n)) < rng.uniform(0.05, 0.6)), 1)
    return sp.csr_array((upper + upper.T).astype(np.float64))


def random_excess(rng, n):
    return rng.integers(-60, 61, n).astype(np.float64)


def integer_flow_value(weights, excess):
    """scipy's maximum flow from a super source over the surplus to a super sink behind the deficits."""
    n = weights.shape[0]
    surplus, deficit = np.maximum(excess, 0), np.maximum(-excess, 0)
    network = sp.block_array(
        [[weights, None, deficit[:, None]], [surplus[None, :], np.zeros((1, 1)), None], [None, None, np.zeros((1, 1))]],
        format="csr",
    ).astype(np.int32)
    return maximum_flow(network, n, n + 1).flow_value


@pytest.mark.slow
@given(SEEDS, st.integers(1, 60), SCALES)
def test_value_conservation_and_minimum_cut(seed, n, scale):
    rng = np.random.default_rng(seed)
    weights, excess = random_capacities(rng, n), random_excess(rng, n)
    tolerance = 0.0 if scale == 1 else 1e-12 * scale * 60 * n
    scaled = sp.csr_array((weights.data * scale, weights.indices, weights.indptr), shape=weights.shape)
    found = route(scaled, scale * excess, tolerance=tolerance)
    near = 1e-9 * scale

    absorbed = np.maximum(-excess, 0).sum() * scale - np.maximum(-found.excess, 0).sum()
    assert absorbed / scale == pytest.approx(integer_flow_value(weights, excess), abs=1e-6)

    reverse = kernels.reverse_arcs(weights.indptr, weights.indices)
    np.testing.assert_array_equal(found.flow, -found.flow[reverse])
    assert (np.abs(found.flow) <= scaled.data * (1 + 1e-12)).all()
    np.testing.assert_allclose(found.excess, scale * excess - outflow(scaled, found.flow), atol=near)

    # The certificate: no surplus on the sink side, no deficit on the source side, every edge between them full.
    side = found.source_side
    assert (found.excess[~side] <= near).all()
    assert (found.excess[side] >= -near).all()
    leaving = side[sources(weights)] & ~side[weights.indices]
    np.testing.assert_allclose(found.flow[leaving], scaled.data[leaving], atol=near)
    cut = scaled.data[leaving].sum() + scale * (np.maximum(excess[~side], 0).sum() + np.maximum(-excess[side], 0).sum())
    assert cut == pytest.approx(absorbed, abs=near * n)


@given(SEEDS, st.integers(2, 40), st.integers(2, 5))
def test_parts_are_separate_flows(seed, n, n_parts):
    rng = np.random.default_rng(seed)
    weights, excess = random_capacities(rng, n), random_excess(rng, n)
    part = rng.integers(0, n_parts, n).astype(np.int32)
    found = route(weights, excess, part)
    absorbed = np.maximum(-excess, 0).sum() - np.maximum(-found.excess, 0).sum()
    expected = sum(
        integer_flow_value(sp.csr_array(weights[part == p][:, part == p]), excess[part == p]) for p in np.unique(part)
    )
    assert absorbed == expected
    between = part[sources(weights)] != part[weights.indices]
    assert (found.flow[between] == 0).all()


@given(SEEDS, st.integers(1, 60), st.booleans())
def test_a_warm_start_reaches_the_same_value(seed, n, small_change):
    rng = np.random.default_rng(seed)
    weights, before = random_capacities(rng, n), random_excess(rng, n)
    after = before + rng.integers(-5, 6, n) if small_change else random_excess(rng, n)
    first = route(weights, before)
    warm, cold = route(weights, after, flow=first.flow), route(weights, after)
    # Surplus that no flow can remove is a property of the problem, whatever the flow to start from.
    left = np.maximum(warm.excess, 0).sum()
    assert left == np.maximum(cold.excess, 0).sum()
    assert left == np.maximum(after, 0).sum() - integer_flow_value(weights, after)
    assert (np.abs(warm.flow) <= weights.data).all()
    np.testing.assert_array_equal(warm.excess, after - outflow(weights, warm.flow))
    np.testing.assert_array_equal(warm.source_side, cold.source_side, err_msg="both give the largest source side")


@given(SEEDS, st.integers(1, 30))
def test_a_second_run_finds_nothing_to_do(seed, n):
    rng = np.random.default_rng(seed)
    weights, excess = random_capacities(rng, n), random_excess(rng, n)
    first = route(weights, excess)
    second = route(weights, excess, flow=first.flow)
    np.testing.assert_array_equal(second.flow, first.flow)
    np.testing.assert_array_equal(second.excess, first.excess)


@pytest.mark.slow
@settings(max_examples=5)
@given(SEEDS)
def test_a_long_thin_network(seed):
    # All surplus at one end of a grid, all deficit at the other: the worst case for heights.
    rng = np.random.default_rng(seed)
    length, width = 60, 4
    place = np.arange(length * width).reshape(length, width)
    along, across = (place[:-1], place[1:]), (place[:, :-1], place[:, 1:])
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()]) for a, b in (along, across)], axis=1)
    upper = sp.coo_array((rng.integers(1, 100, pairs.shape[1]).astype(float), pairs), shape=(length * width,) * 2)
    weights = sp.csr_array(upper + upper.T)
    weights.sort_indices()
    excess = np.zeros(length * width)
    excess[place[0]], excess[place[-1]] = 1000, -1000
    found = route(weights, excess)
    assert 4000 - np.maximum(-found.excess, 0).sum() == integer_flow_value(weights, excess)


@given(SEEDS, st.integers(1, 40))
def test_reverse_arcs(seed, n):
    weights = random_capacities(np.random.default_rng(seed), n)
    reverse = kernels.reverse_arcs(weights.indptr, weights.indices)
    np.testing.assert_array_equal(sources(weights)[reverse], weights.indices)
    np.testing.assert_array_equal(weights.indices[reverse], sources(weights))
