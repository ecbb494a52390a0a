"""Algorithm 1 needs subgradients of R2 and S that are orthogonal to the constant vectors.

Only then does the iteration stay among vectors that are not constant. Each must satisfy the subgradient inequality,
with equality at the point itself, because R2 and S are one-homogeneous. Where a sign is that of zero, any number in
[-1, 1] may stand for it, and a generator draws -1 or 1.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import problems, vectors

from tightcut import Constraints, Graph
from tightcut.relaxation import Relaxation
from tightcut.relaxation.balance import LovaszBalance, MeanDeviation


@st.composite
def pairs_of_points(draw):
    graph, constraints = draw(problems(connected=False))
    n = graph.n_vertices
    rng = draw(st.none() | st.integers(0, 99).map(np.random.default_rng))
    balance = draw(st.sampled_from([MeanDeviation, LovaszBalance]))
    relaxation = Relaxation(graph, constraints, draw(st.floats(0, 5)), balance)
    return relaxation, draw(vectors(n)), draw(vectors(n)), rng


@given(pairs_of_points())
def test_s_is_a_subgradient_of_S_that_sums_to_zero(drawn):
    relaxation, f, other, rng = drawn
    s = relaxation.s(f, rng)
    assert s.sum() == pytest.approx(0, abs=1e-9)
    assert s @ f == pytest.approx(relaxation.S(f), abs=1e-9)
    assert relaxation.S(other) >= relaxation.S(f) + s @ (other - f) - 1e-9


@given(pairs_of_points())
def test_r2_is_a_subgradient_of_R2_that_sums_to_zero(drawn):
    relaxation, f, other, rng = drawn
    r2 = relaxation.r2(f, rng)
    assert r2.sum() == pytest.approx(0, abs=1e-9)
    assert r2 @ f == pytest.approx(relaxation.R2(f), abs=1e-9)
    assert relaxation.R2(other) >= relaxation.R2(f) + r2 @ (other - f) - 1e-9


@given(pairs_of_points())
def test_the_functionals_are_convex_even_and_one_homogeneous(drawn):
    relaxation, f, other, _ = drawn
    for functional in (relaxation.R1, relaxation.R2, relaxation.S):
        assert functional(f + other) <= functional(f) + functional(other) + 1e-9
        assert functional(-3 * f) == pytest.approx(3 * functional(f), abs=1e-9)
        assert functional(f + 1) == pytest.approx(functional(f), abs=1e-9)


def test_a_generator_pulls_an_unseparated_pair_apart():
    graph = Graph.from_affinity(np.ones((3, 3)))
    relaxation = Relaxation(graph, Constraints.from_pairs(3, cannot_link=[(0, 1)]), 2.0)
    f = np.array([1.0, 1.0, 0.0])
    assert relaxation.r2(f).tolist() == [0, 0, 0]
    rng = np.random.default_rng(0)
    assert {tuple(relaxation.r2(f, rng)) for _ in range(20)} == {(-2, 2, 0), (2, -2, 0)}
    assert relaxation.r2(np.array([3.0, 1.0, 0.0]), rng).tolist() == [2, -2, 0]
