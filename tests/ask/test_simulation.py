"""Simulated answers, true and wrong, lead to good labels."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import tightcut
from tightcut import cluster
from tightcut.ask import Session, simulate
from tightcut.ask.cutting import cut_from


@pytest.mark.parametrize(("kind", "n", "floor"), [("pair", 100, 0.9), ("pick", 50, 0.9)])
def test_true_answers(digits, kind, n, floor):
    X, y = digits
    rounds = simulate(Session(X, random_state=0), y, n, kind=kind)
    assert [r.n_answers for r in rounds] == list(range(n + 1))
    assert adjusted_rand_score(y, rounds[-1].labels) > floor
    assert adjusted_rand_score(y, rounds[0].labels) > 0.6


@pytest.mark.parametrize("errors", ["random", "alike"])
def test_wrong_answers(digits, errors):
    X, y = digits
    session = Session(X, random_state=0)
    rounds = simulate(session, y, 120, error_rate=0.05, errors=errors, random_state=0)
    assert adjusted_rand_score(y, rounds[-1].labels) > 0.75


def test_wrong_picks(digits):
    X, y = digits
    rounds = simulate(Session(X, random_state=0), y, 60, kind="pick", error_rate=0.05, random_state=0)
    assert adjusted_rand_score(y, rounds[-1].labels) > 0.75


def test_repeatable(iris):
    X, y = iris
    one, other = (simulate(Session(X, random_state=0), y, 20, error_rate=0.1, random_state=5) for _ in range(2))
    assert all(np.array_equal(a.labels, b.labels) for a, b in zip(one, other, strict=True))


def test_a_point_founds_a_group_without_a_denial_by_every_other():
    """Twelve far clusters: telling all of them apart would take 66 answers before anything else."""
    y = np.repeat(np.arange(12), 25)
    corners = np.random.default_rng(0).normal(size=(12, 4)) * 20
    X = corners[y] + np.random.default_rng(1).normal(size=(300, 4))
    rounds = simulate(Session(X, random_state=0), y, 60)
    assert adjusted_rand_score(y, rounds[-1].labels) > 0.99


def test_coarse_parts_are_met_before_fine_ones():
    y = np.repeat(np.arange(4), 50)
    X = np.c_[y * 10.0, np.zeros(200)] + np.random.default_rng(0).normal(size=(200, 2))
    session = Session(X, 4, random_state=0)
    met = {int(y[question.first]) for question in session.questions(3)}
    assert len(met) == 3
    assert y[int(session._journal.header["anchor"])] not in met


def test_the_cut_takes_over_where_it_foresees_more():
    """The beliefs are made wrong by hand: the forecasts of the cut then win, and its labels satisfy every answer."""
    y = np.repeat(np.arange(3), 60)
    X = np.c_[y * 4.0, np.zeros(180)] + np.random.default_rng(0).normal(size=(180, 2))
    session = Session(X, random_state=0)
    simulate(session, y, 70)
    answers = session._answers
    forecast = session._rivalry._forecast(60, answers)
    later = sorted({a.first for a in answers[60:]} - forecast.points)
    assert later
    assert forecast.cut is not None
    wrong, right = forecast.believed.copy(), forecast.cut.copy()
    group = dict(zip(session._beliefs.evidence.points.tolist(), session._beliefs.group.tolist(), strict=True))
    wrong[later], right[later] = 99, [group[row] for row in later]
    session._rivalry._forecasts[60] = replace(forecast, believed=wrong, cut=right)
    assert session._rivalry.cut_leads(answers, session._beliefs)
    session._labels = None
    labels = session.labels_
    assert session.constraints_.violations(labels).n_violations == 0
    session._rivalry._forecasts[60] = replace(forecast, believed=right, cut=wrong)
    assert not session._rivalry.cut_leads(answers, session._beliefs)


def test_the_cut_keeps_the_groups_whatever_numbers_its_clusters_have(monkeypatch):
    y = np.repeat(np.arange(3), 40)
    X = np.c_[y * 9.0, np.zeros(120)] + np.random.default_rng(0).normal(size=(120, 2))
    session = Session(X, random_state=0)
    simulate(session, y, 30)
    expected = cut_from(session._beliefs, session._leading)
    numbers = np.array([7, 2, 40])

    def renumbered(*given, **named):
        result = cluster(*given, **named)
        return replace(result, labels=numbers[np.unique(result.labels, return_inverse=True)[1]])

    monkeypatch.setattr(tightcut, "cluster", renumbered)
    np.testing.assert_array_equal(cut_from(session._beliefs, session._leading), expected)
    assert adjusted_rand_score(y, expected) == 1
