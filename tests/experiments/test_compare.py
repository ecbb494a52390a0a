"""Who wins, and how it is said."""

import pandas as pd
import pytest

from experiments.compare import compare
from experiments.page import extent, statement


def rows(method, n_pairs, errors, cuts=None, violated=0.0, n_clusters=2, status="ok"):
    cuts = errors if cuts is None else cuts
    return [
        {
            "dataset": "d",
            "method": method,
            "n_pairs": n_pairs,
            "noise": 0.0,
            "trial": trial,
            "error": error,
            "cut": cut,
            "violated": violated,
            "n_clusters": n_clusters,
            "status": status,
        }
        for trial, (error, cut) in enumerate(zip(errors, cuts, strict=True))
    ]


def outcome(table, measure, rival="A"):
    own = compare(pd.DataFrame(table)).set_index(["rival", "measure"]).loc[(rival, measure)]
    return tuple(own[["wins", "ties", "losses"]])


def test_wins_ties_and_losses_are_paired_by_trial():
    ours = rows("COSC", 5, [0.1, 0.3, 0.5]) + rows("COSC", 10, [0.1, 0.3, 0.5]) + rows("COSC", 20, [0.2, 0.2, 0.2])
    theirs = rows("A", 5, [0.12, 0.32, 0.53]) + rows("A", 10, [0.5, 0.1, 0.3]) + rows("A", 20, [0.1, 0.1, 0.1])
    assert outcome(ours + theirs, "error") == (1, 1, 1)


def test_two_trials_are_judged_by_their_mean():
    assert outcome(rows("COSC", 5, [0.1, 0.3]) + rows("A", 5, [0.1, 0.31]), "error") == (1, 0, 0)
    assert outcome(rows("COSC", 5, [0.1, 0.3]) + rows("A", 5, [0.1, 0.301]), "error") == (0, 1, 0)


def test_what_is_not_finished_is_not_compared():
    table = rows("COSC", 5, [0.1] * 3) + rows("COSC", 10, [0.1] * 3) + rows("A", 5, [0.2] * 3)
    assert outcome([*table, *rows("A", 10, [0.0] * 3, status="failed")], "error") == (1, 0, 0)


@pytest.mark.parametrize(
    ("violated", "n_clusters", "expected"), [(0.0, 2, (0, 0, 1)), (0.1, 2, (0, 0, 0)), (0.0, 1, (0, 0, 0))]
)
def test_cuts_of_rivals_that_satisfy_the_pairs(violated, n_clusters, expected):
    table = rows("COSC", 5, [0.3] * 3) + rows("A", 5, [0.2] * 3, violated=violated, n_clusters=n_clusters)
    assert outcome(table, "cut_if_satisfied") == expected
    assert outcome(table, "cut") == ((0, 0, 1) if n_clusters == 2 else (0, 0, 0))


def test_sentences():
    table = pd.DataFrame(rows("COSC", 5, [0.1] * 3) + rows("A", 5, [0.2] * 3) + rows("B", 5, [0.1] * 2))
    assert extent(table) == "5 pairs, 3 trials (B: 2)."
    assert (
        statement(compare(table), "error")
        == "In error, COSC wins against A (1 win, 0 ties, 0 losses); ties with B (0, 1, 0)."
    )
    assert statement(compare(table[:0]), "cut") == "In cut, there is nothing to compare."
