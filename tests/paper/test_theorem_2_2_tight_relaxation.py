"""Theorem 2.2: the relaxation is tight for every penalty.

The smallest penalised cut over sets equals the smallest value of F over vectors that are not constant. The reason: F's
numerator is the integral of its values on the level sets, so the best level set of a vector is never worse than the
vector, and a minimising vector hands over a minimising set.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import all_partitions, partition_table, partitions, problems, vectors

from tightcut.problem.objective import penalized_cut
from tightcut.relaxation import Relaxation
from tightcut.relaxation.balance import LovaszBalance, MeanDeviation

PENALTIES = st.floats(0, 5)


@st.composite
def points(draw):
    graph, constraints = draw(problems(connected=False))
    return graph, constraints, draw(vectors(graph.n_vertices))


def level_sets(f):
    """All sets {f > t} with t from the minimum up to, but without, the maximum."""
    return [f > t for t in np.unique(f)[:-1]]


def smallest_on_sets(graph, constraints, penalty):
    sides = all_partitions(graph.n_vertices)
    cut, violated = partition_table(graph, constraints, sides)
    share = sides @ graph.vertex_weights / graph.volume
    return (cut + penalty * violated / (graph.volume * share * (1 - share))).min()


@given(points(), PENALTIES)
def test_thresholding_is_never_worse_than_the_vector(drawn, penalty):
    graph, constraints, f = drawn
    for balance in (MeanDeviation, LovaszBalance):
        relaxation = Relaxation(graph, constraints, penalty, balance)
        _, value = relaxation.threshold(f)
        assert value <= relaxation.F(f) * (1 + 1e-9) + 1e-9


@given(points())
def test_the_lovasz_extension_is_the_largest_balance(drawn):
    """It is the integral of the balances of all level sets, which bounds every other extension for which the theorem holds."""
    graph, constraints, f = drawn
    extension = Relaxation(graph, constraints, 0.0, LovaszBalance)
    volumes = [graph.vertex_weights[level].sum() for level in level_sets(f)]
    balances = [volume * (graph.volume - volume) / graph.volume for volume in volumes]
    assert extension.S(f) == pytest.approx(np.diff(np.unique(f)) @ balances, abs=1e-9)
    assert Relaxation(graph, constraints, 0.0, MeanDeviation).S(f) <= extension.S(f) * (1 + 1e-9) + 1e-12


@given(points(), PENALTIES)
def test_thresholding_finds_the_best_level_set(drawn, penalty):
    graph, constraints, f = drawn
    side, value = Relaxation(graph, constraints, penalty).threshold(f)
    naive = [penalized_cut(graph, constraints, level, penalty) for level in level_sets(f)]
    assert value == pytest.approx(min(naive), abs=1e-9)
    assert value == pytest.approx(penalized_cut(graph, constraints, side, penalty), abs=1e-9)
    assert any((side == level).all() for level in level_sets(f)), "ties must not be split"


@given(points(), PENALTIES)
def test_the_numerator_is_the_integral_of_its_level_sets(drawn, penalty):
    graph, constraints, f = drawn
    relaxation = Relaxation(graph, constraints, penalty)

    def numerator(vector):
        return relaxation.R1(vector) - relaxation.R2(vector)

    heights = np.diff(np.unique(f))
    integral = sum(
        height * numerator(level.astype(float)) for height, level in zip(heights, level_sets(f), strict=True)
    )
    assert numerator(f) == pytest.approx(integral, abs=1e-9)


@given(problems(max_vertices=7, connected=False), PENALTIES, st.integers(0, 2**32 - 1))
def test_no_vector_lies_below_the_best_set_and_one_attains_it(problem, penalty, seed):
    graph, constraints = problem
    relaxation, n = Relaxation(graph, constraints, penalty), graph.n_vertices
    optimum = smallest_on_sets(graph, constraints, penalty)
    rng = np.random.default_rng(seed)
    indicators = all_partitions(n).astype(float)
    near_indicators = indicators[rng.integers(len(indicators), size=40)] + 0.1 * rng.normal(size=(40, n))
    values = [relaxation.F(f) for f in [*rng.normal(size=(40, n)), *near_indicators]]
    assert min(values) >= optimum * (1 - 1e-9) - 1e-9
    assert min(relaxation.F(f) for f in indicators) == pytest.approx(optimum, abs=1e-9)


@given(problems(max_vertices=7, connected=False), PENALTIES, st.integers(0, 2**32 - 1))
def test_the_best_set_comes_out_of_a_vector_that_shows_it_among_its_levels(problem, penalty, seed):
    graph, constraints = problem
    sides = all_partitions(graph.n_vertices)
    values = [penalized_cut(graph, constraints, side, penalty) for side in sides]
    best = sides[int(np.argmin(values))]
    noise = np.random.default_rng(seed).random(graph.n_vertices)
    _, value = Relaxation(graph, constraints, penalty).threshold(2.0 * best + noise)
    assert value == pytest.approx(min(values), abs=1e-9)


@given(points().flatmap(lambda drawn: st.tuples(st.just(drawn), partitions(drawn[0].n_vertices))), PENALTIES)
def test_thresholding_an_indicator_returns_it(drawn, penalty):
    (graph, constraints, _), side = drawn
    found, value = Relaxation(graph, constraints, penalty).threshold(side.astype(float))
    np.testing.assert_array_equal(found, side)
    assert value == pytest.approx(penalized_cut(graph, constraints, side, penalty), abs=1e-9)


@given(problems(), PENALTIES, st.floats(-3, 3))
def test_a_constant_vector_has_no_level_sets(problem, penalty, height):
    graph, constraints = problem
    with pytest.raises(ValueError, match="not constant"):
        Relaxation(graph, constraints, penalty).threshold(np.full(graph.n_vertices, height))
