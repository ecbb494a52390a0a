"""Simulated answers, true and wrong, lead to good labels."""

from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tightcut.ask import Question, Session, simulate
from tightcut.ask.beliefs.evidence import COMPARE
from tightcut.ask.questions import placing
from tightcut.ask.questions.choose import CHECK, groups_to_compare
from tightcut.ask.questions.placing import EXPLORE


@pytest.mark.parametrize(("kind", "n", "floor"), [("pair", 100, 0.9), ("pick", 50, 0.9)])
def test_true_answers(digits, kind, n, floor):
    X, y = digits
    rounds = simulate(Session(X, random_state=0), y, n, kind=kind)
    assert [r.n_answers for r in rounds] == list(range(n + 1))
    assert adjusted_rand_score(y, rounds[-1].labels) > floor
    assert adjusted_rand_score(y, rounds[0].labels) > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("errors", ["random", "alike"])
def test_wrong_answers(digits, errors):
    """The median of five persons: one who errs in most of the first answers misleads for long."""
    X, y = digits
    scores = []
    for seed in range(5):
        rounds = simulate(Session(X, random_state=seed), y, 120, error_rate=0.05, errors=errors, random_state=seed)
        scores.append(adjusted_rand_score(y, rounds[-1].labels))
    assert np.median(scores) > 0.9


def test_wrong_picks(digits):
    X, y = digits
    rounds = simulate(Session(X, random_state=0), y, 60, kind="pick", error_rate=0.05, random_state=0)
    assert adjusted_rand_score(y, rounds[-1].labels) > 0.75


def test_repeatable(iris):
    X, y = iris
    one, other = (simulate(Session(X, random_state=0), y, 20, error_rate=0.1, random_state=5) for _ in range(2))
    assert all(np.array_equal(a.labels, b.labels) for a, b in zip(one, other, strict=True))


def test_two_denials_found_a_group_once_others_were_founded_and_no_point_was_placed_late():
    y = np.repeat(np.arange(12), 25)
    corners = np.random.default_rng(0).normal(size=(12, 4)) * 20
    X = corners[y] + np.random.default_rng(1).normal(size=(300, 4))
    session = Session(X, random_state=0)
    rounds = simulate(session, y, 100)
    explored = {answer.first for answer in session.answers if answer.reason == EXPLORE}
    placing = [a for a in session.answers if a.first in explored and a.choice == "different" and a.reason != COMPARE]
    denials = list(Counter(answer.first for answer in placing).values())
    assert denials[:4] == [1, 2, 3, 4]  # all groups there are
    assert set(denials[4:]) == {2}
    assert adjusted_rand_score(y, rounds[-1].labels) == 1


def test_a_group_is_compared_with_the_nearest_however_large(monkeypatch):
    """Two halves of a class, of which each was told apart from another class and never from the other half."""
    monkeypatch.setattr(placing, "DENIALS", 1)
    monkeypatch.setattr(placing, "LATE", 1.0)
    lump = np.repeat([0, 1, 2], 40)
    X = np.c_[np.array([0.0, 3.0, 30.0])[lump], np.zeros(120)] + np.random.default_rng(0).normal(size=(120, 2))
    session = Session(X, random_state=0)
    anchor = int(session._journal.header["anchor"])
    assert lump[anchor] == 2
    for number, first in enumerate((0, 40)):
        session.answer(Question(number, "pair", first, anchor, (), EXPLORE), "different")
    assert len(session.groups) == 3
    found = groups_to_compare(session._snapshot.placing)
    assert {lump[rows[0]] for rows in found} == {0, 1}


@pytest.mark.slow
def test_second_answers_are_asked_where_answers_were_wrong(digits):
    X, y = digits
    checks = []
    for error_rate in (0.0, 0.05):
        session = Session(X, random_state=0)
        simulate(session, y, 130, error_rate=error_rate, random_state=1)
        checks.append(sum(answer.reason == CHECK for answer in session.answers))
    assert checks[0] < 8
    assert checks[1] > checks[0]


def test_coarse_parts_are_met_before_fine_ones():
    y = np.repeat(np.arange(4), 50)
    X = np.c_[y * 10.0, np.zeros(200)] + np.random.default_rng(0).normal(size=(200, 2))
    session = Session(X, 4, random_state=0)
    met = {int(y[question.first]) for question in session.questions(3)}
    assert len(met) == 3
    assert y[int(session._journal.header["anchor"])] not in met
