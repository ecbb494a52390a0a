"""Lemma 2.2: on the indicator of a non-trivial set, the relaxation takes the value of the set function.

The paper sums over ordered pairs, so that cut, balance and violations count twice; the library counts them once. The
oracle below writes the paper's formulas out on dense matrices, with the penalty that the printed R2 forgets.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import dense_pairs, partitions, problems, vectors

from tightcut.problem.objective import normalized_cut, penalized_cut
from tightcut.relaxation import Relaxation
from tightcut.relaxation.balance import LovaszBalance, MeanDeviation

PENALTIES = st.floats(0, 5)


class Paper:
    """The functionals of sections 2 and 3 as printed, sums over all ordered pairs."""

    def __init__(self, graph, constraints, penalty):
        n = graph.n_vertices
        self.w, self.b, self.penalty = graph.weights.toarray(), graph.vertex_weights, penalty
        self.must = dense_pairs(n, constraints.must_link, constraints.must_link_belief)
        self.cannot = dense_pairs(n, constraints.cannot_link, constraints.cannot_link_belief)

    def set_function(self, side):
        """(cut + penalty (M + N)) / bal, the doubled sums of section 2."""
        cut = 2 * self.w[side][:, ~side].sum()
        must = 2 * self.must[side][:, ~side].sum()
        cannot = self.cannot[side][:, side].sum() + self.cannot[~side][:, ~side].sum()
        balance = 2 * self.b[side].sum() * self.b[~side].sum() / self.b.sum()
        return (cut + self.penalty * (must + cannot)) / balance

    def parts(self, f):
        """R1, R2 and S of section 3."""
        difference = np.abs(f[:, None] - f[None, :])
        tied = 0.5 * ((self.w + self.penalty * self.must) * difference).sum()
        spread = 0.5 * self.penalty * self.cannot.sum() * (f.max() - f.min())
        torn = 0.5 * self.penalty * (self.cannot * difference).sum()
        centred = f - (f @ self.b) / self.b.sum()
        return tied + spread, torn, 0.5 * np.abs(self.b * centred).sum()

    def quotient(self, f):
        """F of section 2, with M and N on vectors."""
        difference = np.abs(f[:, None] - f[None, :])
        violated_must = (self.must * difference).sum()
        violated_cannot = self.cannot.sum() * (f.max() - f.min()) - (self.cannot * difference).sum()
        centred = f - (f @ self.b) / self.b.sum()
        numerator = (self.w * difference).sum() + self.penalty * (violated_must + violated_cannot)
        return numerator / np.abs(self.b * centred).sum()


@st.composite
def indicators(draw):
    graph, constraints = draw(problems(connected=False))
    return graph, constraints, draw(partitions(graph.n_vertices))


@st.composite
def points(draw):
    graph, constraints = draw(problems(connected=False))
    return graph, constraints, draw(vectors(graph.n_vertices))


@given(indicators(), PENALTIES)
def test_set_function_and_relaxation_agree_on_indicators(drawn, penalty):
    graph, constraints, side = drawn
    expected = Paper(graph, constraints, penalty).set_function(side)
    assert penalized_cut(graph, constraints, side, penalty) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    for balance in (MeanDeviation, LovaszBalance):
        relaxation = Relaxation(graph, constraints, penalty, balance)
        assert relaxation.F(side.astype(float)) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@given(points(), PENALTIES)
def test_the_three_functionals_are_the_paper_s_on_all_vectors(drawn, penalty):
    graph, constraints, f = drawn
    paper, relaxation = Paper(graph, constraints, penalty), Relaxation(graph, constraints, penalty)
    assert (relaxation.R1(f), relaxation.R2(f), relaxation.S(f)) == pytest.approx(paper.parts(f), abs=1e-9)
    assert relaxation.F(f) == pytest.approx(paper.quotient(f), abs=1e-9)


@given(points(), PENALTIES, st.floats(0.1, 10), st.floats(-5, 5))
def test_the_relaxation_knows_neither_scale_nor_shift_nor_which_side_is_which(drawn, penalty, scale, shift):
    graph, constraints, f = drawn
    relaxation = Relaxation(graph, constraints, penalty)
    assert relaxation.F(scale * f + shift) == pytest.approx(relaxation.F(f), rel=1e-7, abs=1e-7)
    assert relaxation.F(-f) == pytest.approx(relaxation.F(f), rel=1e-9, abs=1e-9)


@given(indicators())
def test_without_penalty_it_is_the_normalized_cut(drawn):
    graph, constraints, side = drawn
    expected = normalized_cut(graph, side.astype(int))
    assert Relaxation(graph, constraints, 0.0).F(side.astype(float)) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert normalized_cut(graph, (~side).astype(int)) == pytest.approx(expected)


@given(problems(), st.booleans())
def test_a_trivial_partition_is_refused(problem, full):
    graph, constraints = problem
    with pytest.raises(ValueError, match="empty"):
        penalized_cut(graph, constraints, np.full(graph.n_vertices, full), 1.0)
