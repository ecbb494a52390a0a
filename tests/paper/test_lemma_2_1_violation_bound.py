"""Lemma 2.1: a penalty large enough bounds the violations.

Take the normalized cut of any partition that satisfies all constraints. Once the penalty reaches that cut times the
total vertex weight over 4 (l + 1), every partition that minimises the penalised cut of a connected graph violates at
most l constraints. With degrees of belief the same holds for units of belief instead of constraints; the l + 1 then
becomes the least amount above l that can be violated, or a lower bound on it.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import all_partitions, consistent_problems, smallest_consistent_cut

from tightcut import Constraints, Graph
from tightcut.problem.objective import normalized_cut, penalized_cut, penalty_bound


def penalised_minimisers(graph, constraints, penalty):
    """All partitions within rounding of the smallest penalised cut."""
    sides = all_partitions(graph.n_vertices)
    values = np.array([penalized_cut(graph, constraints, side, penalty) for side in sides])
    return sides[values <= values.min() * (1 + 1e-12)]


@given(consistent_problems(max_vertices=10, beliefs=False), st.integers(0, 4), st.just(1.0) | st.floats(1, 3))
def test_no_minimiser_violates_more_than_allowed(problem, allowed, factor):
    graph, constraints, side = problem
    given_cut = normalized_cut(graph, side.astype(int))
    for cut in (given_cut, smallest_consistent_cut(graph, constraints)):
        penalty = factor * penalty_bound(graph, constraints, cut, allowed)
        minimisers = penalised_minimisers(graph, constraints, penalty)
        assert max(constraints.violations(minimiser).n_violations for minimiser in minimisers) <= allowed


@given(
    consistent_problems(max_vertices=10, beliefs=True, min_pairs=1),
    st.just(0.0) | st.floats(0, 1),
    st.just(1.0) | st.floats(1, 3),
)
def test_no_minimiser_violates_more_belief_than_allowed(problem, share, factor):
    graph, constraints, side = problem
    allowed = share * (constraints.must_link_belief.sum() + constraints.cannot_link_belief.sum())
    given_cut = normalized_cut(graph, side.astype(int))
    for cut in (given_cut, smallest_consistent_cut(graph, constraints)):
        penalty = factor * penalty_bound(graph, constraints, cut, allowed)
        minimisers = penalised_minimisers(graph, constraints, penalty)
        assert max(constraints.violations(minimiser).belief for minimiser in minimisers) <= allowed + 1e-12


@given(consistent_problems(max_vertices=10, beliefs=False, min_pairs=1), st.integers(0, 4))
def test_the_bound_is_the_paper_s(problem, allowed):
    graph, constraints, side = problem
    cut = normalized_cut(graph, side.astype(int))
    paper = graph.vertex_weights.sum() * cut / (4 * (allowed + 1))
    assert penalty_bound(graph, constraints, cut, allowed) == pytest.approx(paper)
    assert penalty_bound(graph, constraints, cut, allowed + 0.5) == pytest.approx(paper), "half a pair is none"


def test_without_the_penalty_the_minimiser_breaks_what_the_bound_protects():
    # Two triangles joined by a weak edge, and a must-link across.
    weights = np.kron(np.eye(2), np.ones((3, 3))) + 0.01 * np.eye(6)[[3, 4, 5, 0, 1, 2]] * (np.arange(6) % 3 == 0)
    graph = Graph.from_affinity(weights)
    constraints = Constraints.from_pairs(6, must_link=[(1, 4)])
    consistent = np.array([0, 1, 1, 1, 1, 1])
    bound = penalty_bound(graph, constraints, normalized_cut(graph, consistent))
    violations = [
        constraints.violations(penalised_minimisers(graph, constraints, penalty)[0]).n_violations
        for penalty in (0.0, bound / 100, bound)
    ]
    assert violations == [1, 1, 0]


def test_without_constraints_no_penalty_is_needed():
    graph = Graph.from_affinity(np.ones((3, 3)))
    assert penalty_bound(graph, Constraints.from_pairs(3), 1.0) == 0
