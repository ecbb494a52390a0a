"""Who wins, and how it is said."""

from dataclasses import replace

import pandas as pd
import pytest

from experiments.compare import compare, cut_ratios
from experiments.dataset_page import against_classes, balance, beside_the_paper, labelling, losses
from experiments.page import absent_lines
from experiments.studies import STUDIES, Plan
from experiments.words import extent, statement


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
            "smallest": 0.1,
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


CLASSES = {"cut_of_classes": 0.2, "smallest_class": 0.4}


def test_an_error_is_the_objectives_where_the_cut_is_below_that_of_the_classes():
    ours = rows("COSC", 5, [0.3] * 3, [0.1] * 3) + rows("COSC", 10, [0.1] * 3, [0.2] * 3) + rows("COSC", 20, [0.0] * 3)
    theirs = rows("A", 5, [0.2] * 3) + rows("A", 10, [0.05] * 3) + rows("B", 10, [0.3] * 3)
    table = pd.DataFrame([*ours, *theirs])
    table.loc[(table["method"] == "COSC") & (table["n_pairs"] == 20), "cut"] = [0.2, 0.2, 0.25]
    assert "Of 9 fits, COSC finds a smaller cut in 3, the same in 5 and a larger one in 1." in against_classes(
        table, CLASSES
    )
    assert losses(table, CLASSES) == (
        "Its error is larger than that of A (with 5 and 10 pairs); in 1 of these 2 comparisons its mean cut is below that of "
        "the classes."
    )
    assert losses(table[table["method"] != "A"], CLASSES) == "Its error is nowhere larger than that of another method."
    assert balance(table, CLASSES).endswith(
        "10.0 % of the points on average: the smallest cut splits off a part that is smaller than any class."
    )
    assert balance(table, {}) == "With 5 pairs the smallest cluster of COSC holds 10.0 % of the points on average."


def test_whether_pairs_fix_the_labelling():
    ours = rows("COSC", 5, [0.3, 0.0]) + rows("COSC", 10, [0.0, 0.0]) + rows("COSC", 20, [0.0, 0.0])
    assert labelling(pd.DataFrame(ours)) == "From 10 pairs on every fit finds the classes."
    assert labelling(pd.DataFrame(ours[2:])) == "No fit has an error."
    later = pd.DataFrame(ours + rows("COSC", 40, [0.0, 0.01]))
    assert labelling(later) == "Even 40 pairs do not fix the labelling: the mean error is then 0.0050."


def test_the_papers_algorithm_beside_the_search():
    table = rows("COSC", 5, [0.1] * 3, [0.2, 0.2, 0.2]) + rows("paper", 5, [0.1] * 3, [0.2, 0.1, 0.4], violated=0.1)
    (text,) = beside_the_paper(pd.DataFrame(table))
    assert "Its cut is 1.000 times COSC's in the geometric mean over 3 fits, 2.00 times at most" in text
    assert "within a thousandth in 1, smaller in 1, larger in 1. 3 fits of 3 violate pairs." in text
    assert beside_the_paper(pd.DataFrame(table[:3])) == []


def test_a_method_with_a_graph_of_its_own_is_not_compared_in_cut():
    table = rows("COSC", 5, [0.1] * 3) + rows("default", 5, [0.2] * 3)
    assert outcome(table, "error", "default") == (1, 0, 0)
    assert outcome(table, "cut", "default") == outcome(table, "cut_if_satisfied", "default") == (0, 0, 0)


def test_cuts_are_compared_trial_by_trial():
    table = pd.DataFrame(rows("COSC", 5, [0.1] * 2, [0.1, 0.3]) + rows("A", 5, [0.2] * 2, [0.2, 0.3]))
    assert cut_ratios(table, "COSC", "A").tolist() == pytest.approx([0.5, 1.0])


def test_what_was_not_run_is_said_with_the_command_that_does_it():
    study = replace(STUDIES["multiway"], plans=(Plan(("d", "large"), (5,)), Plan(("larger",), (5,))))
    table = pd.DataFrame(rows("COSC", 5, [0.1]))
    (line,) = absent_lines(table, study, "multiway")
    assert line == (
        "Not run here: large and larger. On a machine that is large enough, "
        "`python -m experiments multiway --output docs/results --datasets large larger` adds them.\n"
    )
    assert absent_lines(table.assign(dataset="wdbc"), study, "multiway") == []  # a miniature
    assert absent_lines(table, replace(study, plans=study.plans[:0]), "multiway") == []
