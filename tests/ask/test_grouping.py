"""Groups of the answered points found at once, and the cut that starts from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from tightcut.ask import Session, simulate
from tightcut.ask.cutting import cut_from
from tightcut.ask.grouping import REWARD, improve, score_of


def _scores(seed, m):
    upper = np.triu(np.random.default_rng(seed).normal(0, 4, (m, m)), 1)
    return upper + upper.T


def _partitions(m):
    """All clusterings of m points, each as clusters numbered by appearance."""
    if m == 1:
        yield [0]
        return
    for rest in _partitions(m - 1):
        for cluster in range(max(rest) + 2):
            yield [*rest, cluster]


@given(seed=st.integers(0, 10_000), m=st.integers(2, 12))
def test_no_move_and_no_union_improves_what_was_found(seed, m):
    scores = _scores(seed, m)
    start = np.random.default_rng(seed).integers(m, size=m)
    found = improve(scores, start)
    best = score_of(scores, found)
    assert best >= score_of(scores, np.unique(start, return_inverse=True)[1]) - 1e-9
    for i in range(m):
        for cluster in range(found.max() + 2):
            other = found.copy()
            other[i] = cluster
            assert score_of(scores, np.unique(other, return_inverse=True)[1]) <= best + 1e-6
    for one in range(found.max() + 1):
        for two in range(one):
            union = np.where(found == one, two, found)
            assert score_of(scores, np.unique(union, return_inverse=True)[1]) <= best + 1e-6


def test_it_mostly_finds_the_best_of_all_clusterings():
    hits = 0
    for seed in range(40):
        scores = _scores(seed, 7)
        best = max(score_of(scores, np.array(clusters)) for clusters in _partitions(7))
        found = [score_of(scores, improve(scores, start)) for start in (np.arange(7), np.zeros(7, int))]
        assert max(found) <= best + 1e-9
        hits += max(found) > best - 1e-9
    assert hits >= 30


def test_groups_that_nobody_compared_stay_apart():
    # Three points with nothing in common but a little nearness, less than the reward of a group.
    scores = np.full((3, 3), 0.9 * REWARD / 2)
    np.fill_diagonal(scores, 0)
    assert len(np.unique(improve(scores, np.arange(3)))) == 3


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
    assert wrong >= {i for i, answer in enumerate(session.answers) if not answer.believed}


@pytest.mark.slow
def test_a_small_group_does_not_grow_in_the_cut(digits):
    X, y = digits
    session = Session(X, random_state=0)
    simulate(session, y, 120)
    row = int(np.flatnonzero(session.labels_ == session.labels_[0])[-1])
    session.move(row, "none")  # founds a group of one point amid another
    group = session.labels_[row]
    cut = cut_from(session._beliefs, session._leading)
    assert cut[row] == group
    believed = session._beliefs.calibrated[:, :-1].argmax(axis=1) == group
    assert np.array_equal(cut == group, believed | (np.arange(len(X)) == row))
    assert adjusted_rand_score(y, cut) > 0.9
