"""The search kernels report what they leave behind and never make it worse; the trade-off is a front."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import (
    all_partitions,
    constraint_sets,
    graphs,
    partition_table,
    problems,
    random_constraints,
    random_graph,
)

from tightcut import Graph, cluster, kernels, tradeoff_path
from tightcut.problem.objective import normalized_cut, penalized_cut
from tightcut.search.evolve import search
from tightcut.search.multilevel import coarsen, coarsest, uncoarsen
from tightcut.search.options import SearchOptions
from tightcut.search.signed_graph import SignedGraph
from tightcut.search.tradeoff import penalized_graph, tighten
from tightcut.search.two_way import TwoClusters


@st.composite
def signed_graphs(draw, max_vertices=12):
    """A signed graph with pure and mixed units, with or without external weight."""
    graph = draw(graphs(min_vertices=3, max_vertices=max_vertices, connected=draw(st.booleans())))
    n = graph.n_vertices
    external = draw(st.none() | st.lists(st.floats(0, 3), min_size=n, max_size=n).map(np.array))
    signed = SignedGraph.from_graph(graph)
    if external is not None:
        signed = SignedGraph.from_couplings(graph.weights, graph.vertex_weights, external)
    if not draw(st.booleans()):
        return signed
    unit = np.unique(draw(st.lists(st.integers(0, n), min_size=n, max_size=n)), return_inverse=True)[1]
    sign = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)), dtype=np.int8)
    return signed.merge(unit, sign).small


@st.composite
def oriented(draw):
    """A signed graph and spins for it that leave neither side empty."""
    signed = draw(signed_graphs())
    spins = np.array(
        draw(st.lists(st.sampled_from([-1, 1]), min_size=signed.n_units, max_size=signed.n_units)), dtype=np.int8
    )
    if not signed.mixed.any() and abs(int(spins.sum())) == len(spins):
        assume(len(spins) > 1)
        spins[0] = -spins[0]
    return signed, spins


def assert_honest(signed, reported, spins, start):
    """The reported ratio belongs to the spins, both sides are inhabited, and nothing got worse."""
    assert set(spins.tolist()) <= {-1, 1}
    assert signed.mixed.any() or abs(int(spins.sum())) < len(spins), "one side is empty"
    assert reported == pytest.approx(signed.ratio(spins), rel=1e-9, abs=1e-9)
    assert reported <= start * (1 + 1e-12) + 1e-12


@given(oriented(), st.integers(1, 50), st.integers(1, 5))
def test_refine(drawn, patience, passes):
    signed, spins = drawn
    start = signed.ratio(spins)
    reported = kernels.refine(*signed.arrays, spins, patience, passes)
    assert_honest(signed, reported, spins, start)


@given(oriented(), st.integers(1, 60), st.integers(1, 2**63))
def test_tabu_search(drawn, patience, seed):
    signed, spins = drawn
    start = signed.ratio(spins)
    reported = kernels.tabu_search(*signed.arrays, spins, patience, np.array([seed], dtype=np.uint64))
    assert_honest(signed, reported, spins, start)


@pytest.mark.parametrize("seed", range(3))
def test_rounding_errors_do_not_add_up_to_a_better_cut(seed):
    """Almost nothing is cut at the best spins and much on the way there and back; the search once ran for ever on that."""
    rng = np.random.default_rng(seed)
    n = 17
    weights = np.triu(rng.uniform(1, 40, (n, n)), 1)
    moment = rng.uniform(1000, 5000, n)
    signed = SignedGraph(
        couplings=sp.csr_array(weights + weights.T),
        vertex_weights=moment,
        moment=moment,
        external=np.zeros(n),
        mixed=np.ones(n, bool),
        offset=0.02,
        volume=1.01 * moment.sum(),
        outside=0.0,
    )
    spins = np.ones(n, np.int8)
    spins[: n // 2] = -1
    reported = kernels.tabu_search(*signed.arrays, spins, 20_000, np.array([seed + 1], np.uint64))
    assert abs(spins.sum()) == n
    assert reported == pytest.approx(signed.ratio(spins), rel=1e-12, abs=0)


@pytest.mark.parametrize("seed", range(20))
def test_weights_below_the_rounding_error_of_their_sum(seed):
    """A side made of such vertices alone might weigh less than nothing; the search once ran for ever on that."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(size=(20, 20)) * (rng.random((20, 20)) < 0.3)
    weights[:3] *= 1e-17
    weights[:, :3] *= 1e-17
    mass = np.where(np.arange(20) < 3, 1e-18, rng.uniform(size=20))
    graph = Graph.from_affinity(np.triu(weights, 1) + np.triu(weights, 1).T, mass)
    signed = SignedGraph.from_graph(graph)
    spins = rng.choice(np.array([-1, 1], np.int8), 20)
    assert kernels.tabu_search(*signed.arrays, spins, 200, np.array([seed + 1], np.uint64)) >= 0
    assert signed.ratio(spins) >= 0
    assert signed.refine(spins) >= 0
    assert cluster(graph, random_state=seed).cut >= 0


@given(
    oriented(),
    st.randoms(use_true_random=False),
    st.floats(0.1, 2),
    st.floats(0, 1),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_heavy_edge_matching(drawn, random, share, weakest, n_apart, n_groups):
    signed, n = drawn[0], drawn[0].n_units
    order = np.array(random.sample(range(n), n), dtype=np.int32)
    apart = np.zeros((n, n), dtype=bool)
    for _ in range(n_apart):
        i, j = random.randrange(n), random.randrange(n)
        apart[i, j] = apart[j, i] = i != j
    apart_indptr = np.concatenate([[0], np.cumsum(apart.sum(axis=1))]).astype(np.int32)
    apart_indices = np.nonzero(apart)[1].astype(np.int32)
    group = np.array([random.randrange(n_groups) for _ in range(n if n_groups else 0)], dtype=np.int32)
    heaviest = share * signed.vertex_weights.sum()
    c = signed.couplings
    limits = order, heaviest, weakest, apart_indptr, apart_indices, group
    unit, sign = kernels.heavy_edge_matching(c.indptr, c.indices, c.data, signed.vertex_weights, *limits)
    assert np.unique(unit).tolist() == list(range(unit.max() + 1))
    assert np.bincount(unit).max() <= 2
    coupling = c.toarray()
    for number in range(unit.max() + 1):
        members = np.flatnonzero(unit == number)
        if len(members) == 1:
            assert sign[members[0]] == 1
            continue
        i, j = members
        assert sign[i] * sign[j] == np.sign(coupling[i, j]) != 0, "tied the way their coupling wants them"
        assert signed.vertex_weights[members].sum() <= heaviest
        assert not apart[i, j]
        assert n_groups == 0 or group[i] == group[j]
        light = signed.vertex_weights <= heaviest  # couplings to others do not count
        strongest = np.abs(coupling[np.ix_(members, light)]).max(axis=1).min()
        assert abs(coupling[i, j]) >= weakest * strongest, "weak for both"
    merger = signed.merge(unit, sign)
    assert merger.small.vertex_weights.sum() == pytest.approx(signed.vertex_weights.sum())


@given(oriented(), st.integers(0, 2**32 - 1))
def test_coarsening_there_and_back(drawn, seed):
    signed, _ = drawn
    rng = np.random.default_rng(seed)
    problem = TwoClusters(signed)
    levels = coarsen(problem, 3, rng)
    small = coarsest(problem, levels).graph
    spins = rng.choice(np.array([-1, 1], dtype=np.int8), small.n_units)
    if not small.mixed.any() and abs(int(spins.sum())) == len(spins):
        assume(len(spins) > 1)
        spins[0] = -spins[0]
    start = small.ratio(spins)
    reported, lifted = problem.judge(uncoarsen(problem, levels, spins))
    assert_honest(signed, reported, lifted, start)


@settings(max_examples=25)
@given(signed_graphs(max_vertices=8), st.integers(0, 2**32 - 1))
def test_search_is_sorted_distinct_honest_and_never_forgets(signed, seed):
    assume(signed.n_units > 1 or signed.mixed.any())
    rng = np.random.default_rng(seed)
    known = rng.choice(np.array([-1, 1], dtype=np.int8), signed.n_units)
    if not signed.mixed.any() and abs(int(known.sum())) == len(known):
        known[0] = -known[0]
    population = search(TwoClusters(signed), rng, SearchOptions(effort=0.2), [known])
    ratios = [ratio for ratio, _ in population]
    assert ratios == sorted(ratios)
    assert len({(spins * spins[0]).tobytes() for _, spins in population}) == len(population)
    for ratio, spins in population:
        assert_honest(signed, ratio, spins, np.inf)
    assert ratios[0] <= signed.ratio(known) * (1 + 1e-12)


@given(problems(connected=False), st.floats(0, 5))
def test_the_penalised_graph_has_the_penalised_cut_as_its_ratio(problem, penalty):
    graph, constraints = problem
    signed = penalized_graph(graph, constraints, penalty)
    for side in all_partitions(graph.n_vertices):
        spins = np.where(side, 1, -1).astype(np.int8)
        expected = penalized_cut(graph, constraints, side, penalty)
        assert signed.ratio(spins) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40)
@given(graphs(min_vertices=3), st.data())
def test_tightening_keeps_what_is_satisfied_and_never_raises_the_cut(graph, data):
    n = graph.n_vertices
    constraints = data.draw(constraint_sets(n))
    side = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    assume(0 < side.sum() < n)
    improved = tighten(graph, constraints, side)
    assert constraints.satisfied_by(side).violations(improved).n_violations == 0
    assert normalized_cut(graph, improved.astype(int)) <= normalized_cut(graph, side.astype(int)) * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_the_tradeoff_is_a_front_from_no_violation_to_the_free_cut(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 10))
    graph = random_graph(rng, n, 0.6, "degree" if seed % 2 else "ones")
    planted = rng.permutation(np.arange(n) < n // 2)
    consistent = seed < 8
    constraints = random_constraints(rng, n, 6, planted if consistent else None, beliefs=seed % 3 == 0)
    path = tradeoff_path(graph, constraints, random_state=0)
    cuts, beliefs = [point.cut for point in path], [point.violated_belief for point in path]
    assert all(later < earlier for earlier, later in itertools.pairwise(cuts))
    assert all(later > earlier for earlier, later in itertools.pairwise(beliefs))
    for point in path:
        assert point.cut == pytest.approx(normalized_cut(graph, point.labels))
        assert point.violated_belief == pytest.approx(constraints.violations(point.labels).belief)
        assert point.n_violations == constraints.violations(point.labels).n_violations
    if consistent:
        assert beliefs[0] == 0
        assert cuts[0] <= cluster(graph, constraints, random_state=0).cut * (1 + 1e-9)
    assert cuts[-1] <= cluster(graph, random_state=0).cut * (1 + 1e-9)
    # Against all partitions: no point lies below the true front, and the two ends lie on it.
    cut, violated = partition_table(graph, constraints, all_partitions(n))
    for point in path:
        assert point.cut >= cut[violated <= point.violated_belief + 1e-9].min() - 1e-9
    assert beliefs[0] == pytest.approx(violated.min(), abs=1e-9)
    assert cuts[-1] == pytest.approx(cut.min(), abs=1e-9)
