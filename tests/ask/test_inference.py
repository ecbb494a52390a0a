"""Answers weighed against forecasts: true picks are believed however poor the forecasts are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightcut.ask import Session
from tightcut.ask.beliefs.evidence import gather
from tightcut.ask.beliefs.inference import DOUBT, share_of_errors, weigh
from tightcut.ask.records import Answer


def _pick(number, row, choice, shown, founds=None):
    return Answer(
        number=number,
        kind="pick",
        first=row,
        second=None,
        choice=choice,
        time="",
        who=None,
        seconds=None,
        reason="",
        shown=tuple(shown),
        founds=founds,
    )


def _true_picks(classes):
    """Evidence of somebody who was asked about row 1, 2, ... and always told the truth; row 0 begins group 0."""
    group_of, answers = {classes[0]: 0}, []
    for row, own in enumerate(classes[1:], start=1):
        shown = list(group_of.values())
        if own in group_of:
            answers.append(_pick(row, row, group_of[own], shown))
        else:
            group_of[own] = len(group_of)
            answers.append(_pick(row, row, "none", shown, founds=group_of[own]))
    return gather(answers, 0), np.array([group_of[own] for own in classes])


@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 12), n_points=st.integers(2, 40))
def test_true_picks_are_believed_against_forecasts_that_know_nothing(seed, n_classes, n_points):
    rng = np.random.default_rng(seed)
    evidence, group = _true_picks(rng.integers(n_classes, size=n_points).tolist())
    forecasts = rng.dirichlet(np.ones(evidence.n_groups + 1), n_points)
    belief = weigh(evidence, forecasts)
    np.testing.assert_array_equal(belief.argmax(axis=1), group)


def test_founders_stay_in_their_groups_when_a_later_group_is_foreseen():
    evidence, group = _true_picks([0, 1, 2, 2, 2])
    forecasts = np.tile([0.02, 0.02, 0.9, 0.06], (5, 1))  # everything looks like the last group
    np.testing.assert_array_equal(weigh(evidence, forecasts).argmax(axis=1), group)


def test_picks_that_are_believed_say_nothing_about_the_person():
    evidence, group = _true_picks([0, 1, 2, 0, 1, 2])
    unsure = np.full((6, 4), 0.1)
    unsure[np.arange(6), group] = 0.7
    assert share_of_errors(evidence, unsure) == pytest.approx(DOUBT)
    wrong = np.roll(unsure, 1, axis=1)
    assert share_of_errors(evidence, wrong) > 2 * DOUBT


def test_a_thing_that_nothing_resembles_can_be_picked_for(blobs):
    X, y = blobs
    noise = np.random.default_rng(0).normal(size=X.shape)  # distances say nothing at all
    session = Session(noise, random_state=0)
    for _ in range(40):
        question = session.question("pick")
        own = [g.id for g in question.groups if y[g.members[0]] == y[question.first]]
        session.answer(question, own[0] if own else "none")
    assert all(answer.believed for answer in session.answers)
    assert len(session.groups) == 4
