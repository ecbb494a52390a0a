"""What follows from the journal is computed once for each of its states."""

from collections import Counter

import numpy as np
import pytest

from tightcut.ask import Session, simulate, snapshot
from tightcut.ask.page.controller import Controller
from tightcut.ask.page.items import Things

COMPUTED = ("effective_answers", "named_groups", "believe", "labels_of", "judge", "measure", "PlacementProgress")


@pytest.fixture
def counts(monkeypatch):
    """How often each function of the snapshot was called."""
    counts = Counter()

    def counted(name, compute):
        def call(*args):
            counts[name] += 1
            return compute(*args)

        return call

    for name in COMPUTED:
        monkeypatch.setattr(snapshot, name, counted(name, getattr(snapshot, name)))
    return counts


def test_an_answer_and_its_view_compute_everything_once(blobs, counts, true_choice):
    """In 0.6.0 names were replayed 13 times here for the answer and the next question, and 34 times for each view."""
    X, y = blobs
    session = Session(X, random_state=0)
    simulate(session, y, 8, kind="pick")
    controller = Controller(Things.numbered(len(X)))
    controller.begin(session, X)
    question = session.question("pick")
    counts.clear()
    session.answer(question, true_choice(question, y))
    controller.perform("question", {"kind": "pick"})
    for _ in range(2):
        controller.perform("view", {})
    assert counts == dict.fromkeys(COMPUTED, 1)


def test_a_name_changes_no_belief(session, truth, counts):
    simulate(session, truth, 8)
    labels, groups = session.labels_, session.groups
    counts.clear()
    session.name(groups[0].id, "Anna")
    assert session.groups[0].name == "Anna"
    assert np.array_equal(session.labels_, labels)
    assert session.progress().settled > 0
    assert counts == {"effective_answers": 1, "named_groups": 1, "measure": 1}


def test_the_beliefs_that_decide_whether_an_answer_founds_a_group_are_kept(session, truth, counts):
    simulate(session, truth, 12)
    question = session.question()
    counts.clear()
    session.answer(question, "different" if truth[question.first] != truth[question.second] else "same")
    session.question()
    founded = session.answers[-1].founds is not None
    assert counts["believe"] == 1 + founded
