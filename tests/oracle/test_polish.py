"""Polishing: the relaxation has the ratio of the spins, what stays does not move, nothing gets worse, at any size."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import consistent_problems
from toys import nearest_neighbour_graph

from tightcut import Constraints, Graph, cluster, kernels
from tightcut.search import polish as polishing
from tightcut.search.polish import certified_relaxation, polish, tie_what_stays
from tightcut.search.two_way import TwoClusters, project_to_spins, reduce_to_units


@st.composite
def oriented_units(draw):
    """The signed graph of a consistent problem, and the spins of a partition that satisfies it."""
    graph, constraints, side = draw(consistent_problems(max_vertices=10))
    assume(0 < side.sum() < len(side))
    merger = reduce_to_units(graph, constraints)
    return merger.small, project_to_spins(merger, side)


def limited(function, *arguments, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polishing, "POLISH_LIMIT", limit)
        return function(*arguments)


@given(oriented_units(), st.integers(0, 10))
def test_the_relaxation_starts_at_the_ratio_of_the_spins(drawn, limit):
    graph, spins = drawn
    ratio = graph.ratio(spins)
    tied = limited(tie_what_stays, graph, spins, limit=limit)
    np.testing.assert_array_equal(tied.lift(tied.project(spins)), spins)
    relaxation, start = certified_relaxation(tied, spins, ratio)
    assert relaxation.F(start.astype(float)) == pytest.approx(ratio, abs=1e-9)
    assert relaxation.graph.volume == pytest.approx(graph.volume)
    assert (relaxation.graph.vertex_weights > 0).all()


@settings(max_examples=50)
@given(oriented_units(), st.integers(0, 10))
def test_polishing_never_raises_the_ratio(drawn, limit):
    graph, spins = drawn
    start = graph.ratio(spins)
    (ratio, polished), history = limited(polish, graph, (start, spins), limit=limit)
    assert ratio == pytest.approx(graph.ratio(polished), abs=1e-9)
    assert ratio <= start * (1 + 1e-9) + 1e-12
    assert all(later < earlier for earlier, later in itertools.pairwise(history))
    assert history[0] == start


@pytest.mark.parametrize("limit", [0, 5, 30, 100])
def test_near_the_cut_takes_whole_neighbourhoods_nearest_first(limit):
    graph = nearest_neighbour_graph(100, seed=3)
    w = graph.weights
    spins = np.where(np.arange(100) < 50, 1, -1).astype(np.int8)
    near = kernels.near_the_cut(w.indptr, w.indices, w.data, spins, limit)
    crossing = w.toarray() * (spins[:, None] != spins) > 0
    at_the_cut = np.flatnonzero(crossing.any(axis=1))
    distance = sp.csgraph.shortest_path(w, unweighted=True, indices=at_the_cut).min(axis=0)
    assert near[at_the_cut].all()
    assert near.sum() >= min(limit, np.isfinite(distance).sum())
    assert distance[near].max() <= distance[~near].min(initial=np.inf)


@pytest.mark.parametrize("known", [False, True])
def test_a_problem_solved_level_by_level_is_as_good_and_respects_its_pairs(known, monkeypatch):
    graph = nearest_neighbour_graph(600, seed=1)
    halves = cluster(graph, random_state=1).labels
    pairs = np.random.default_rng(0).permutation(600)[:60].reshape(30, 2)
    same = halves[pairs[:, 0]] == halves[pairs[:, 1]]
    constraints = Constraints.from_pairs(600, pairs[same], pairs[~same])
    options = {"random_state": 0, "init": halves if known else None}
    whole = cluster(graph, constraints, **options)
    monkeypatch.setattr(TwoClusters, "direct_limit", 150)
    monkeypatch.setattr(polishing, "POLISH_LIMIT", 100)
    stages = []
    found = cluster(graph, constraints, progress=lambda *call: stages.append(call[:3]), **options)
    assert found.n_violations == 0
    assert found.cut <= whole.cut * 1.02
    assert all(later < earlier for earlier, later in itertools.pairwise(found.history))
    order = list(dict.fromkeys(stage for stage, _, _ in stages))
    assert order in (["start", "refine", "join", "polish"], ["start", "refine", "join", "cycle", "polish"])
    for stage in order:
        done = [(done, total) for name, done, total in stages if name == stage]
        assert done == sorted(done)
        # Not every coarsening gives as many solutions as are counted on, and starts end where they agree.
        assert done[-1][0] == done[-1][1] or stage == "refine" or (stage == "start" and "cycle" in order)


@pytest.mark.parametrize("n_units", [1, 3, 150])
def test_contraction(n_units):
    rng = np.random.default_rng(n_units)
    upper = np.triu(rng.normal(size=(300, 300)), 1)
    couplings = sp.csr_array(upper + upper.T)
    unit = rng.permutation(np.arange(300) % n_units).astype(np.int32)
    sign = rng.choice(np.array([-1, 1], np.int8), 300)
    indptr, indices, data, _ = contracted(couplings, unit, sign, n_units)
    membership = np.zeros((300, n_units))
    membership[np.arange(300), unit] = sign
    expected = membership.T @ couplings.toarray() @ membership
    np.fill_diagonal(expected, 0)
    merged = sp.csr_array((data, indices, indptr), shape=(n_units, n_units))
    np.testing.assert_allclose(merged.toarray(), expected, atol=1e-9)
    assert all(len(set(indices[a:b])) == b - a for a, b in itertools.pairwise(indptr.tolist()))


@pytest.mark.parametrize("n_units", [1, 3, 150])
def test_contraction_without_signs(n_units):
    rng = np.random.default_rng(n_units)
    upper = np.triu(rng.random((300, 300)) * (rng.random((300, 300)) < 0.1), 1)
    weights = sp.csr_array(upper + upper.T)
    unit = rng.permutation(np.arange(300) % n_units).astype(np.int32)
    *arrays, degrees = kernels.contract(
        weights.indptr, weights.indices, weights.data, unit, *kernels.members_of(unit, n_units)
    )
    indptr, indices, data, offset = contracted(weights, unit, np.ones(300, np.int8), n_units)
    assert offset == 0
    for plain, signed in zip(arrays, (indptr, indices, data), strict=True):
        np.testing.assert_array_equal(plain, signed)
    merged = Graph(weights, np.ones(300)).contract(unit).weights
    np.testing.assert_allclose(degrees, merged.sum(axis=1))
    assert merged.has_sorted_indices
    np.testing.assert_allclose(merged.toarray(), sp.csr_array((data, indices, indptr), shape=merged.shape).toarray())


def contracted(couplings, unit, sign, n_units):
    arcs = couplings.indptr, couplings.indices, couplings.data
    return kernels.contract_signed(*arcs, unit, sign, *kernels.members_of(unit, n_units))


def test_contraction_where_a_sum_cancels_in_one_direction_only():
    """(0.2 + 0.1) + 0.3 is more than 0.6, (0.2 + 0.3) + 0.1 is 0.6: an arc one way, and none the other."""
    across = np.array([[0.2, 0.1], [0.3, -0.6]])
    couplings = sp.csr_array(np.block([[np.zeros((2, 2)), across], [across.T, np.zeros((2, 2))]]))
    unit, sign = np.array([0, 0, 1, 1], np.int32), np.ones(4, np.int8)
    indptr, indices, data, _ = contracted(couplings, unit, sign, 2)
    assert len(indices) == len(data) == indptr[-1] == 1
    np.testing.assert_allclose(data, 0, atol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_contraction_where_many_sums_cancel(seed):
    """Whole numbers cancel exactly; what is left out must not disturb the units after it."""
    rng = np.random.default_rng(seed)
    n, n_units = 60, int(rng.integers(2, 30))
    upper = np.triu(rng.integers(-1, 2, (n, n)), 1).astype(float)
    couplings = sp.csr_array(upper + upper.T)
    unit = rng.permutation(np.arange(n) % n_units).astype(np.int32)
    sign = rng.choice(np.array([-1, 1], np.int8), n)
    indptr, indices, data, offset = contracted(couplings, unit, sign, n_units)
    membership = np.zeros((n, n_units))
    membership[np.arange(n), unit] = sign
    expected = membership.T @ couplings.toarray() @ membership
    np.fill_diagonal(expected, 0)
    np.testing.assert_array_equal(sp.csr_array((data, indices, indptr), shape=(n_units, n_units)).toarray(), expected)
    assert data.all()
    spins = rng.choice([-1, 1], n_units)
    cut = -0.5 * np.minimum(upper * np.outer(*2 * [spins[unit] * sign]), 0).sum() * 2
    settled = -0.5 * np.minimum(np.triu(expected, 1) * np.outer(spins, spins), 0).sum() * 2
    assert cut == settled + offset
