"""Theorem 3.1: RatioDCA improves any partition it starts from, or stops.

Started at the indicator of a partition, the iteration either ends at once or reaches a vector whose best level set has
a smaller penalised cut. If the partition satisfies all constraints and the penalty exceeds the bound of Lemma 2.1, the
new one satisfies them too and has a smaller normalized cut.
"""

import itertools
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import all_partitions, consistent_problems, partitions, problems, vectors

from tightcut import Constraints, Graph, cluster
from tightcut.problem.objective import normalized_cut, penalized_cut, penalty_bound
from tightcut.relaxation import Relaxation
from tightcut.relaxation.paper import implied_units
from tightcut.relaxation.penalty_path import PathSettings, PenaltyPath
from tightcut.relaxation.ratio_dca import ratio_dca

PENALTIES = st.just(0.0) | st.floats(0.01, 3)
# On disconnected graphs; see test_a_free_cut_ends_the_descent.
INNER = pytest.mark.parametrize("inner", ["flow", "fista"])


def assert_strictly_falling(history):
    assert all(later < earlier for earlier, later in itertools.pairwise(history)), history


def descended(before, after):
    """Whether a value fell by more than rounding."""
    return after < before * (1 - 1e-13)


@st.composite
def starts(draw, connected=False):
    graph, constraints = draw(problems(connected=connected))
    return graph, constraints, draw(partitions(graph.n_vertices))


@pytest.mark.slow
@INNER
@settings(max_examples=60)
@given(drawn=starts(), penalty=PENALTIES, by_sets=st.booleans())
def test_any_partition_is_improved_or_returned(inner, drawn, penalty, by_sets):
    graph, constraints, side = drawn
    rng = None if by_sets else np.random.default_rng(0)
    descent = ratio_dca(Relaxation(graph, constraints, penalty), side, inner=inner, by_sets=by_sets, rng=rng)
    start = penalized_cut(graph, constraints, side, penalty)
    assert descent.value == pytest.approx(penalized_cut(graph, constraints, descent.side, penalty), abs=1e-9)
    assert_strictly_falling(descent.history)
    assert descent.history[0] == pytest.approx(start, abs=1e-9)
    assert descended(start, descent.value) or (descent.side == side).all()


@pytest.mark.slow
@INNER
@settings(max_examples=60)
@given(problem=consistent_problems(min_pairs=1), surplus=st.floats(1.001, 3))
def test_a_consistent_partition_stays_consistent_and_its_cut_falls(inner, problem, surplus):
    graph, constraints, side = problem
    cut = normalized_cut(graph, side.astype(int))
    relaxation = Relaxation(graph, constraints, surplus * penalty_bound(graph, constraints, cut))
    descent = ratio_dca(relaxation, side, inner=inner)
    assert constraints.violations(descent.side).n_violations == 0
    improved = normalized_cut(graph, descent.side.astype(int))
    assert descent.value == pytest.approx(improved)
    assert descended(cut, improved) or (descent.side == side).all()


@pytest.mark.slow
@INNER
@settings(max_examples=60)
@given(drawn=starts(), penalty=PENALTIES, data=st.data())
def test_from_any_vector(inner, drawn, penalty, data):
    graph, constraints, _ = drawn
    f, relaxation = data.draw(vectors(graph.n_vertices)), Relaxation(graph, constraints, penalty)
    descent = ratio_dca(relaxation, f, inner=inner)
    assert_strictly_falling(descent.history)
    assert descent.value <= relaxation.threshold(f)[1] * (1 + 1e-12)
    assert descent.value <= descent.history[-1] * (1 + 1e-9) + 1e-12


@settings(max_examples=60)
@given(drawn=starts(), penalty=PENALTIES)
def test_the_end_is_a_fixed_point(drawn, penalty):
    graph, constraints, side = drawn
    relaxation = Relaxation(graph, constraints, penalty)
    end = ratio_dca(relaxation, side)
    again = ratio_dca(relaxation, end.side)
    assert again.value == pytest.approx(end.value, abs=1e-12), "a second run from the end finds nothing more"


@settings(max_examples=60)
@given(drawn=starts(), penalty=PENALTIES, data=st.data())
def test_a_perturbation_is_kept_only_if_it_is_better(drawn, penalty, data):
    graph, constraints, _ = drawn
    f = data.draw(vectors(graph.n_vertices))
    plain, perturbed = (
        PenaltyPath(graph, constraints, np.random.default_rng(0), 0, PathSettings("flow", patience=number))
        for number in (0, 3)
    )
    assert perturbed.descend_perturbed(f, penalty).value <= plain.descend(f, penalty).value


@settings(max_examples=20)
@given(problem=consistent_problems(min_pairs=1), inner=st.sampled_from(["flow", "fista"]))
def test_the_path_ends_where_all_pairs_are_satisfied(problem, inner):
    graph, constraints, _ = problem
    unit, opposite = implied_units(constraints)
    path = PenaltyPath(graph.contract(unit), opposite, np.random.default_rng(0), 0, PathSettings(inner))
    side = path.follow(np.random.default_rng(1).normal(size=len(np.unique(unit)))).side
    assert opposite.violations(side).n_violations == 0
    assert constraints.violations(path.finish(side).side[unit]).n_violations == 0
    assert path.finish(side).value <= normalized_cut(graph, side[unit].astype(int)) * (1 + 1e-12)


def test_a_free_cut_ends_the_descent():
    # A triangle and a single vertex.
    weights = np.zeros((4, 4))
    weights[[0, 0, 2], [2, 3, 3]] = 0.3, 0.7, 0.2
    graph = Graph.from_affinity(weights + weights.T, "ones")
    start = np.array([False, False, False, True])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        descent = ratio_dca(Relaxation(graph, Constraints.from_pairs(4), 0.0), start, inner="fista")
    assert descent.side.tolist() in ([False, True, False, False], [True, False, True, True])
    assert descent.value == pytest.approx(0, abs=1e-14)


def test_descent_does_happen():
    # Two cliques and a start that cuts through both: a theorem that only ever stops would be worth nothing.
    weights = np.kron(np.eye(2), np.ones((5, 5))) + 0.01
    graph, constraints = Graph.from_affinity(weights), Constraints.from_pairs(10, [(0, 1)], [(0, 9)])
    side = np.array([1, 1, 1, 1, 0, 1, 0, 0, 0, 0], dtype=bool)
    relaxation = Relaxation(
        graph, constraints, 1.01 * penalty_bound(graph, constraints, normalized_cut(graph, side + 0))
    )
    for inner in ("flow", "fista"):
        descent = ratio_dca(relaxation, side, inner=inner)
        assert descent.side.tolist() == [True] * 5 + [False] * 5
        assert len(descent.history) > 1


@pytest.mark.parametrize("method", ["search", "paper"])
@settings(max_examples=15)
@given(problem=consistent_problems())
def test_cluster_improves_a_given_consistent_partition(method, problem):
    graph, constraints, side = problem
    found = cluster(graph, constraints, init=side.astype(int), method=method, effort=0, random_state=0)
    assert found.n_violations == 0
    assert found.cut <= normalized_cut(graph, side.astype(int)) * (1 + 1e-12)
    assert_strictly_falling(found.history)


@settings(max_examples=40)
@given(problem=consistent_problems(max_vertices=6, min_pairs=1))
def test_restarted_from_every_consistent_partition_the_best_end_is_optimal(problem):
    graph, constraints, _ = problem
    consistent = [row for row in all_partitions(graph.n_vertices) if constraints.violations(row).n_violations == 0]
    cuts = [normalized_cut(graph, row.astype(int)) for row in consistent]
    relaxation = Relaxation(graph, constraints, 1.001 * penalty_bound(graph, constraints, max(cuts)))
    ends = [ratio_dca(relaxation, row) for row in consistent]
    assert min(end.value for end in ends) == pytest.approx(min(cuts))
    assert all(constraints.violations(end.side).n_violations == 0 for end in ends)


def test_a_free_cut_ends_the_descent_at_once():
    """On a graph in pieces the best level set may cut nothing; the vector need not be its indicator for that to be the end."""
    blocks = sp.block_diag([np.ones((4, 4)) - np.eye(4)] * 2, format="csr")
    graph = Graph.from_affinity(blocks)
    relaxation = Relaxation(graph, Constraints.from_pairs(8), 0.0)
    start = np.array([0.0, 0.1, 0.2, 0.3, 5.0, 5.1, 5.2, 5.3])
    calls = []

    def solver(weights, _vertex_weights):
        calls.append(weights)
        return SimpleNamespace(prox=lambda _target: pytest.fail("there is nothing left to gain"))

    found = ratio_dca(relaxation, start, inner=solver, by_sets=False)
    assert found.value == 0
    assert found.side.tolist() == [False] * 4 + [True] * 4
    assert len(found.history) == len(calls) == 1
