"""Theorem 2.1: with the penalty of Lemma 2.1 for no violation, constrained and penalised problem are the same.

From that penalty on, the partitions of smallest normalized cut among the consistent ones are exactly the partitions of
smallest penalised cut among all, and the two minima agree.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import all_partitions, consistent_problems, partition_table

from tightcut.problem.objective import normalized_cut, penalized_cut, penalty_bound


@given(consistent_problems(max_vertices=10), st.just(1.0) | st.floats(1, 10))
def test_same_minimisers_and_same_minimum(problem, factor):
    graph, constraints, side = problem
    sides = all_partitions(graph.n_vertices)
    cut, violated = partition_table(graph, constraints, sides)
    constrained = np.where(violated == 0, cut, np.inf)
    # The bound may come from any consistent partition; from the best one it is sharpest.
    for known_cut in (normalized_cut(graph, side.astype(int)), constrained.min()):
        penalty = factor * penalty_bound(graph, constraints, known_cut)
        penalised = np.array([penalized_cut(graph, constraints, row, penalty) for row in sides])
        assert penalised.min() == pytest.approx(constrained.min(), rel=1e-12)
        # Within rounding of the minimum the same partitions lie: where nothing is violated the two values agree.
        near = 1 + 1e-10
        np.testing.assert_array_equal(penalised <= penalised.min() * near, constrained <= constrained.min() * near)


@given(consistent_problems(), st.floats(0, 10))
def test_penalised_and_normalized_cut_agree_exactly_on_consistent_partitions(problem, penalty):
    graph, constraints, side = problem
    assert penalized_cut(graph, constraints, side, penalty) == pytest.approx(normalized_cut(graph, side.astype(int)))
    for row in all_partitions(graph.n_vertices):
        surplus = penalized_cut(graph, constraints, row, penalty) - normalized_cut(graph, row.astype(int))
        violated = constraints.violations(row).belief
        share = graph.vertex_weights[row].sum() / graph.volume
        assert surplus == pytest.approx(penalty * violated / (share * (1 - share) * graph.volume), abs=1e-9)
