"""Theorem 2.3: minimising over vectors solves the problem with hard constraints.

With the penalty of Lemma 2.1 for no violation, the smallest value of F over vectors that are not constant equals the
smallest normalized cut over consistent partitions, and every minimising vector yields an optimal consistent partition.
More: any vector whose F is at most the cut that the penalty was made from has a consistent best level set.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import all_partitions, consistent_problems, partition_table

from tightcut.problem.objective import normalized_cut, penalty_bound
from tightcut.relaxation import Relaxation


def certified_relaxation(graph, constraints, side, factor):
    cut = normalized_cut(graph, side.astype(int))
    return Relaxation(graph, constraints, factor * penalty_bound(graph, constraints, cut)), cut


def constrained_optimum(graph, constraints):
    """The best consistent partition and its cut."""
    sides = all_partitions(graph.n_vertices)
    cut, violated = partition_table(graph, constraints, sides)
    best = int(np.argmin(np.where(violated == 0, cut, np.inf)))
    return sides[best], cut[best]


@given(consistent_problems(), st.floats(1, 5), st.integers(0, 2**32 - 1))
def test_no_vector_beats_the_best_consistent_partition(problem, factor, seed):
    graph, constraints, side = problem
    relaxation, _ = certified_relaxation(graph, constraints, side, factor)
    best, optimum = constrained_optimum(graph, constraints)
    rng, n = np.random.default_rng(seed), graph.n_vertices
    sides = all_partitions(n).astype(float)
    near_sides = sides[rng.integers(len(sides), size=30)] + 0.1 * rng.normal(size=(30, n))
    candidates = [*rng.normal(size=(30, n)), *near_sides, *(best + 0.05 * rng.normal(size=(10, n)))]
    assert min(relaxation.F(f) for f in candidates) >= optimum * (1 - 1e-9)
    assert relaxation.F(best.astype(float)) == pytest.approx(optimum)


@given(consistent_problems(), st.floats(1, 5), st.floats(0.1, 10), st.floats(-5, 5))
def test_a_minimising_vector_yields_an_optimal_consistent_partition(problem, factor, scale, shift):
    graph, constraints, side = problem
    relaxation, _ = certified_relaxation(graph, constraints, side, factor)
    best, optimum = constrained_optimum(graph, constraints)
    found, value = relaxation.threshold(scale * best + shift)
    assert value == pytest.approx(optimum)
    assert constraints.violations(found).n_violations == 0
    assert normalized_cut(graph, found.astype(int)) == pytest.approx(optimum)


@given(consistent_problems(min_pairs=1), st.floats(1, 5), st.integers(0, 2**32 - 1))
def test_a_vector_no_worse_than_a_consistent_partition_has_a_consistent_best_level_set(problem, factor, seed):
    graph, constraints, _ = problem
    sides = all_partitions(graph.n_vertices)
    cut, violated = partition_table(graph, constraints, sides)
    worst = sides[int(np.argmax(np.where(violated == 0, cut, -np.inf)))]
    relaxation, limit = certified_relaxation(graph, constraints, worst, factor)
    best, _ = constrained_optimum(graph, constraints)
    noise = np.random.default_rng(seed).normal(size=graph.n_vertices)
    # The largest disturbance of the best partition that is still no worse than the worst consistent one.
    f = next(
        (f for f in (best + noise / 2**k for k in range(12)) if relaxation.F(f) <= limit * (1 + 1e-12)), best + 0.0
    )
    found, value = relaxation.threshold(f)
    assert constraints.violations(found).n_violations == 0
    assert value == pytest.approx(normalized_cut(graph, found.astype(int)))
