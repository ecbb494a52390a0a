"""Lemma 2.3: merging vertices preserves every cut that does not separate them.

Adding up edge and vertex weights of merged vertices gives a smaller graph in which each partition has the normalized
cut of the partition of the original graph it stands for. The library uses this three times: `Graph.contract` for
must-links, `SignedGraph.merge` for vertices whose relative side is known, be it the same or the opposite one, and
`SignedGraph.consensus` for what several partitions agree on.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import all_partitions, consistent_problems, constraint_sets, graphs, partitions

from tightcut.problem.objective import cluster_cuts, normalized_cut
from tightcut.search.signed_graph import SignedGraph
from tightcut.search.two_way import reduce_to_units


def numbered(labels):
    return np.unique(labels, return_inverse=True)[1]


def all_spins(n):
    """Every orientation of n units, trivial ones included."""
    return np.where((np.arange(2**n)[:, None] >> np.arange(n)) & 1, 1, -1).astype(np.int8)


def both_sides(spins):
    return abs(int(spins.sum())) < len(spins)


@st.composite
def contractions(draw, min_groups=2):
    graph = draw(graphs(min_vertices=2, max_vertices=8, connected=False))
    labels = st.lists(st.integers(0, 4), min_size=graph.n_vertices, max_size=graph.n_vertices).map(
        lambda drawn: numbered(np.array(drawn))
    )
    return graph, draw(labels.filter(lambda drawn: drawn.max() + 1 >= min_groups))


@st.composite
def mergers(draw):
    """A signed graph, possibly with weight that leaves both clusters, merged at random."""
    graph, unit = draw(contractions(min_groups=1))
    n = graph.n_vertices
    sign = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)), dtype=np.int8)
    external = draw(st.none() | st.lists(st.floats(0, 3), min_size=n, max_size=n).map(np.array))
    outside = np.zeros(n) if external is None else external
    signed = SignedGraph.from_couplings(graph.weights, graph.vertex_weights, outside)
    return graph, external, signed.merge(unit, sign)


def two_cluster_objective(graph, external, spins):
    """What each side sends away over what it weighs, by the definition."""
    leaving, volume = cluster_cuts(graph, (spins > 0).astype(int))
    away = np.zeros(2) if external is None else np.array([external[spins < 0].sum(), external[spins > 0].sum()])
    return float(((leaving + away) / volume).sum())


@given(contractions())
def test_contraction_preserves_cuts_and_volumes(drawn):
    graph, labels = drawn
    small = graph.contract(labels)
    assert small.volume == pytest.approx(graph.volume)
    for side in all_partitions(small.n_vertices):
        leaving, volume = cluster_cuts(graph, side[labels].astype(int))
        small_leaving, small_volume = cluster_cuts(small, side.astype(int))
        assert small_leaving == pytest.approx(leaving)
        assert small_volume == pytest.approx(volume)
        assert normalized_cut(small, side.astype(int)) == pytest.approx(normalized_cut(graph, side[labels].astype(int)))


@given(contractions())
def test_contraction_is_the_paper_s_construction(drawn):
    graph, labels = drawn
    small, weights = graph.contract(labels), graph.weights.toarray()
    for p in range(small.n_vertices):
        assert small.vertex_weights[p] == pytest.approx(graph.vertex_weights[labels == p].sum())
        for q in range(small.n_vertices):
            between = weights[labels == p][:, labels == q].sum() if p != q else 0
            assert small.weights[p, q] == pytest.approx(between)


@given(contractions(), st.data())
def test_contracting_twice_is_contracting_once(drawn, data):
    graph, labels = drawn
    small = graph.contract(labels)
    again = numbered(
        np.array(data.draw(st.lists(st.integers(0, 2), min_size=small.n_vertices, max_size=small.n_vertices)))
    )
    stepwise, at_once = small.contract(again), graph.contract(again[labels])
    np.testing.assert_allclose(stepwise.weights.toarray(), at_once.weights.toarray(), rtol=1e-12)
    np.testing.assert_allclose(stepwise.vertex_weights, at_once.vertex_weights, rtol=1e-12)


@given(mergers())
def test_signed_merging_preserves_cut_and_ratio(drawn):
    graph, external, merger = drawn
    for small_spins in all_spins(merger.small.n_units):
        spins = merger.lift(small_spins)
        if not both_sides(spins):
            continue
        expected = two_cluster_objective(graph, external, spins)
        leaving, _ = cluster_cuts(graph, (spins > 0).astype(int))
        assert merger.small.cut(small_spins) == pytest.approx(leaving[0], abs=1e-9)
        assert merger.small.ratio(small_spins) == pytest.approx(expected, abs=1e-9)


@given(mergers())
def test_lift_and_project_are_inverse(drawn):
    _, _, merger = drawn
    for small_spins in all_spins(merger.small.n_units):
        np.testing.assert_array_equal(merger.project(merger.lift(small_spins)), small_spins)


@given(mergers())
def test_a_unit_is_mixed_exactly_if_its_vertices_lie_on_both_sides(drawn):
    _, _, merger = drawn
    for unit in range(merger.small.n_units):
        sides = set(merger.sign[merger.unit == unit].tolist())
        assert merger.small.mixed[unit] == (len(sides) == 2)
        assert len(sides) == 2 or sides == {1}, "the spin of a pure unit names its side"


@given(mergers(), st.data())
def test_merging_twice_preserves_the_ratio(drawn, data):
    graph, external, first = drawn
    m = first.small.n_units
    unit = numbered(np.array(data.draw(st.lists(st.integers(0, 2), min_size=m, max_size=m))))
    sign = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=m, max_size=m)), dtype=np.int8)
    second = first.small.merge(unit, sign)
    for small_spins in all_spins(second.small.n_units):
        spins = first.lift(second.lift(small_spins))
        if both_sides(spins):
            expected = two_cluster_objective(graph, external, spins)
            assert second.small.ratio(small_spins) == pytest.approx(expected, abs=1e-9)


@given(mergers(), st.data())
def test_consensus_ties_what_agrees_and_keeps_every_parent(drawn, data):
    _, _, merger = drawn
    graph, n = merger.small, merger.small.n_units
    spins = st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n).map(lambda row: np.array(row, dtype=np.int8))
    parents = data.draw(st.lists(spins, min_size=2, max_size=4))
    consensus = graph.consensus(parents)
    for parent in parents:
        np.testing.assert_array_equal(consensus.lift(consensus.project(parent)), parent)
        if both_sides(merger.lift(parent)):
            assert consensus.small.ratio(consensus.project(parent)) == pytest.approx(graph.ratio(parent), abs=1e-9)
    agree = np.array(
        [[all(p[u] * p[v] == parents[0][u] * parents[0][v] for p in parents) for u in range(n)] for v in range(n)]
    )
    coupled = graph.couplings.toarray() != 0
    assert (consensus.unit[:, None] == consensus.unit[None, :])[agree & coupled].all(), "neighbours that agree are tied"
    assert agree[consensus.unit[:, None] == consensus.unit[None, :]].all(), "only what agrees is tied"


@given(consistent_problems())
def test_the_units_of_a_problem_are_its_consistent_partitions(problem):
    graph, constraints, _ = problem
    merger = reduce_to_units(graph, constraints)
    reached = {
        (lifted * lifted[-1]).tobytes()
        for lifted in map(merger.lift, all_spins(merger.small.n_units))
        if both_sides(lifted)
    }
    consistent = {
        np.where(row, -1, 1).astype(np.int8).tobytes()
        for row in all_partitions(graph.n_vertices)
        if constraints.violations(row).n_violations == 0
    }
    assert reached == consistent


@given(graphs(max_vertices=7), st.data())
def test_must_links_by_contraction_keep_the_best_cut(graph, data):
    n = graph.n_vertices
    side = data.draw(partitions(n))
    constraints = data.draw(constraint_sets(n, side))
    _, group = constraints.components()
    small = graph.contract(group)
    small_best = min(normalized_cut(small, row.astype(int)) for row in all_partitions(small.n_vertices))
    must_only = constraints.select(cannot_mask=np.zeros(constraints.n_cannot_link, bool))
    best = min(
        normalized_cut(graph, row.astype(int))
        for row in all_partitions(n)
        if must_only.violations(row).n_violations == 0
    )
    assert small_best == pytest.approx(best)
