"""A person who types the true name of everything ends with as many groups as there are classes."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from tightcut.ask import Session, StaleQuestionError
from tightcut.ask.questions.choose import UNNAMED


def type_names(session, names, n_questions):
    """Type the name of everything asked about; returns the reasons of the questions."""
    reasons = []
    for _ in range(n_questions):
        question = session.question("pick")
        if question is None:
            break
        reasons.append(question.reason)
        session.answer(question, str(names[question.first]))
    return reasons


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_as_many_groups_as_classes(load):
    data = load()
    session = Session(data.data, random_state=0)
    names = data.target_names[data.target]
    type_names(session, names, 25)
    assert sorted(group.name for group in session.groups) == sorted(data.target_names)
    called = {group.id: group.name for group in session.groups}
    right = np.mean([called[label] == name for label, name in zip(session.labels_.tolist(), names, strict=True)])
    assert right > 0.9
    assert all(answer.believed for answer in session.answers)


@pytest.fixture
def named(session, truth):
    """A session with one typed name, and the question about the group that had none."""
    question = session.question("pick")
    session.answer(question, f"class {truth[question.first]}")
    return session


def test_the_first_group_gets_its_name(named, truth):
    question = named.question("pick")
    assert question.reason == UNNAMED
    assert named.labels_[question.first] == 0
    assert [group.name for group in question.groups] == [f"class {truth[named.answers[0].first]}"]
    named.answer(question, f"class {truth[question.first]}")
    assert named.question("pick").reason != UNNAMED
    assert len(named.groups) == len({truth[question.first], truth[named.answers[0].first]})


@pytest.mark.parametrize("by", ["name", "id"])
def test_the_name_of_another_group_joins_the_two(named, by):
    question = named.question("pick")
    other = question.groups[0]
    named.answer(question, other.name if by == "name" else other.id)
    assert [group.name for group in named.groups] == [other.name]
    assert len(named.constraints_.cannot_link) == 0
    named.undo()
    assert len(named.groups) == 2


@pytest.mark.parametrize(("choice", "n_groups"), [("none", 2), ("unsure", 2)])
def test_it_is_asked_once(named, choice, n_groups):
    question = named.question("pick")
    named.answer(question, choice)
    assert named.question("pick").reason != UNNAMED
    assert len(named.groups) == n_groups


def test_another_window_was_quicker(named):
    question = named.question("pick")
    named.name(0, "apes")
    with pytest.raises(StaleQuestionError, match="has a name meanwhile"):
        named.answer(question, "monkeys")


def test_nobody_is_asked_who_types_no_names(session, truth, answer_truly):
    assert UNNAMED not in {question.reason for question in answer_truly(session, truth, 12, "pick")}
