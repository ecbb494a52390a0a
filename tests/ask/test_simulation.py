"""Simulated answers, true and wrong, lead to good labels."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tightcut.ask import Session, simulate


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
