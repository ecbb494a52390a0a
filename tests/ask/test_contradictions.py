"""Contradictions are shown as chains of the person's own answers."""

import pytest

from tightcut.ask import Question
from tightcut.ask.contradictions import find_contradictions
from tightcut.ask.records import Answer


def pair(number, first, second, choice, believed=True):
    return Answer(number, "pair", first, second, choice, "", None, None, "", believed)


def test_a_chain():
    answers = [
        pair(0, 1, 2, "same"),
        pair(1, 2, 3, "same"),
        pair(2, 9, 3, "different"),
        pair(3, 1, 3, "different", False),
    ]
    (found,) = find_contradictions(answers, [float(a.believed) for a in answers])
    assert [a.number for a in found.chain] == [0, 1, 3]
    assert found.suspect.number == 3


def test_a_chain_with_one_difference():
    answers = [pair(0, 1, 2, "same"), pair(1, 2, 3, "different"), pair(2, 3, 4, "same"), pair(3, 1, 4, "same", False)]
    (found,) = find_contradictions(answers, [float(a.believed) for a in answers])
    assert [a.number for a in found.chain] == [0, 1, 2, 3]


def test_no_chain_no_contradiction():
    assert find_contradictions([pair(0, 1, 2, "same"), pair(1, 3, 4, "same", False)], [1, 0]) == []


@pytest.mark.parametrize("choice", ["same", "different"])
def test_a_contradicting_answer_is_kept_and_named(session, truth, choice, answer_truly):
    answer_truly(session, truth, 30)
    labels, groups = session.labels_, {g.id: g.members for g in session.groups}
    ids = sorted(g for g in groups if len(groups[g]) > 1)
    first, second = (groups[ids[0]][:2]) if choice == "different" else (groups[ids[0]][0], groups[ids[1]][0])
    session.answer(Question(1000, "pair", first, second, (), "by hand"), choice)
    assert session.n_answers_ == 31
    assert (session.labels_ == labels).all()
    (found,) = session.contradictions()
    assert 1000 in {answer.number for answer in found.chain}
    assert not found.suspect.believed
