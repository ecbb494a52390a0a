"""Groups of the answered points found at once, and the cut that starts from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from tightcut.ask import Session
from tightcut.ask.beliefs.regroup import ANSWER, MOST_NEAR, REWARD, improve


def _symmetric(rng, m, scale):
    upper = np.triu(rng.normal(0, scale, (m, m)), 1)
    return upper + upper.T


def _gain(told, near, one, two):
    """What a union of two clusters gains, point by point."""
    answers = sum(told[i, j] for i in one for j in two)
    return answers + min(MOST_NEAR, sum(near[i, j] for i in one for j in two)) - REWARD


@given(seed=st.integers(0, 10_000), m=st.integers(2, 12))
def test_no_move_and_no_union_improves_what_was_found(seed, m):
    rng = np.random.default_rng(seed)
    told, near = _symmetric(rng, m, 4), np.abs(_symmetric(rng, m, 0.5))
    found = improve(told, near, rng.integers(m, size=m))
    clusters = [np.flatnonzero(found == c) for c in range(found.max() + 1)]
    assert sorted(np.concatenate(clusters)) == list(range(m))
    for n, one in enumerate(clusters):
        assert all(_gain(told, near, one, two) <= 1e-6 for two in clusters[:n])
    scores = told + near
    for i in range(m):
        common = [scores[i, cluster].sum() for cluster in clusters]
        alone = len(clusters[found[i]]) == 1
        assert max(common) <= (REWARD if alone else common[found[i]]) + 1e-6
        assert alone or common[found[i]] + 1e-6 >= REWARD


def test_groups_that_nobody_compared_stay_apart():
    # Three points with nothing in common but a little nearness, less than the reward of a group.
    near = np.full((3, 3), 0.9 * REWARD / 2)
    np.fill_diagonal(near, 0)
    assert len(np.unique(improve(np.zeros((3, 3)), near, np.arange(3)))) == 3


@pytest.mark.parametrize(("denials", "united"), [(1, True), (2, False)])
def test_nearness_outweighs_one_denial_however_many_points_are_near(denials, united):
    two = np.repeat([0, 1], 20)
    told = np.where(two[:, None] == two, ANSWER, 0.0)
    for i in range(denials):
        told[i, 20 + i] = told[20 + i, i] = -ANSWER
    np.fill_diagonal(told, 0)
    near = np.where(two[:, None] == two, 0.0, 1.0)
    assert (len(np.unique(improve(told, near, two))) == 1) == united


def _answer_but(session, y, n, wrong):
    """Answer n questions, those with some numbers wrongly."""
    for number in range(n):
        question = session.question()
        if question is None:
            return
        same = (y[question.first] == y[question.second]) != (number in wrong)
        session.answer(question, "same" if same else "different")


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [{0}, {1}, {2}, {0, 3}])
def test_early_errors_are_mended(digits, wrong):
    X, y = digits
    session = Session(X, random_state=0)
    _answer_but(session, y, 150, wrong)
    assert adjusted_rand_score(y, session.labels_) > 0.9
    doubted = {i for i, answer in enumerate(session.answers) if not answer.believed}
    assert len(doubted - wrong) <= 1
