"""The contract of a session: questions, answers, labels, undo, names."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_classification
from sklearn.metrics.cluster import contingency_matrix

from tightcut import Constraints
from tightcut.ask import Group, Progress, Question, Session, read_constraints
from tightcut.ask.questions.choose import CHECK
from tightcut.ask.questions.placing import EXPLORE
from tightcut.ask.simulate import Person


def test_a_pair_question(blobs):
    X, _ = blobs
    question = Session(X, random_state=0).question()
    assert isinstance(question, Question)
    assert question.kind == "pair"
    assert 0 <= question.first < 120
    assert 0 <= question.second < 120
    assert question.first != question.second
    assert question.groups == ()
    assert question.reason
    with pytest.raises(dataclasses.FrozenInstanceError):
        question.first = 3


def test_a_pick_offers_the_groups(session, truth, answer_truly):
    answer_truly(session, truth, 6, "pick")
    question = session.question("pick")
    assert question.second is None
    assert {g.id for g in question.groups} == {g.id for g in session.groups}
    assert all(isinstance(g, Group) and g.members for g in question.groups)


def test_asking_twice_asks_the_same(session):
    assert session.question() == session.question()


@pytest.mark.parametrize("kind", ["pair", "pick"])
def test_true_answers_lead_to_the_truth(session, truth, kind, answer_truly):
    answer_truly(session, truth, 25, kind)
    labels = session.labels_
    assert len(np.unique(labels)) == 4
    assert all(len(np.unique(labels[truth == c])) == 1 for c in range(4))


def test_the_labels_begin_as_the_plain_cut(blobs):
    X, y = blobs
    labels = Session(X, 4, random_state=0).labels_
    assert all(len(np.unique(labels[y == c])) == 1 for c in range(4))


def test_questions_are_apart_and_numbered(digits, answer_truly, true_choice):
    X, y = digits
    session = Session(X, random_state=0)
    answer_truly(session, y, 30)
    several = session.questions(4)
    assert len({q.number for q in several}) == 4
    assert len({q.first for q in several}) == 4
    for question in several:
        session.answer(question, true_choice(question, y))
    assert session.n_answers_ == 34


def test_numbers_stay_unique_while_questions_wait(digits, answer_truly, true_choice):
    X, y = digits
    session = Session(X, random_state=0)
    answer_truly(session, y, 30)
    waiting = session.questions(3)
    session.answer(waiting[1], true_choice(waiting[1], y))
    more = session.questions(3)
    content = {(q.number, q.first, q.second) for q in (*waiting, *more)}
    assert len({number for number, _, _ in content}) == len(content)
    session.answer(waiting[0], true_choice(waiting[0], y))
    assert session.n_answers_ == 32


def test_unsure_is_no_evidence_and_is_not_asked_again(session):
    before = session.labels_
    question = session.question()
    session.answer(question, "unsure")
    assert session.n_answers_ == 1
    assert session.constraints_.must_link.size == session.constraints_.cannot_link.size == 0
    assert session.question().first != question.first
    assert (session.labels_ == before).mean() > 0.9


def test_undo_returns_to_the_state_before(session, truth, answer_truly):
    answer_truly(session, truth, 7)
    labels, question = session.labels_, session.question()
    session.answer(question, "different")
    event = session.undo()
    assert event["first"] == question.first
    assert np.array_equal(session.labels_, labels)
    again = session.question()
    assert again.first == question.first
    assert again.number > question.number


def test_undo_without_answers(blobs):
    with pytest.raises(ValueError, match="nothing to undo"):
        Session(blobs[0], random_state=0).undo()


def test_revise_changes_an_answer(session, truth, true_choice):
    question = session.question()
    wrong = "different" if truth[question.first] == truth[question.second] else "same"
    session.answer(question, wrong)
    session.revise(question.number, true_choice(question, truth))
    assert [a.choice for a in session.answers] == [true_choice(question, truth)]
    assert session.n_answers_ == 1
    assert session.n_actions_ == 2
    session.undo()
    assert [a.choice for a in session.answers] == [wrong]
    with pytest.raises(ValueError, match="no answer with the number 99"):
        session.revise(99, "same")


def test_names(session):
    session.name(0, "Anna")
    question = session.question("pick")
    session.answer(question, "Berta")
    names = {g.name: g for g in session.groups}
    assert set(names) == {"Anna", "Berta"}
    assert question.first in names["Berta"].members
    session.move(3, "Anna")
    assert session.labels_[3] == 0
    for blank in ("", "  ", None, 3, "none"):
        with pytest.raises(ValueError, match="name"):
            session.name(0, blank)
    session.undo()
    assert session.n_answers_ == 1


def test_a_move_is_an_answer(session, truth, answer_truly):
    answer_truly(session, truth, 20)
    other = next(g.id for g in session.groups if g.id != session.labels_[5])
    session.move(5, other)
    assert session.n_answers_ == 21
    assert session.answers[-1].kind == "move"
    session.undo()
    session.move(5, "none")
    assert (session.labels_ == session.labels_[5]).sum() >= 1
    assert session.labels_[5] not in {g.id for g in session.groups if 5 not in g.members}


def test_a_class_that_wrong_answers_have_split_becomes_whole(blobs):
    """Three wrong answers begin a second group in two blobs; a fourth one is found to be wrong, so that all are doubted."""
    X, y = blobs
    session, n_wrong = Session(X, random_state=1), 0
    while session.n_answers_ < 100 and (question := session.question()) is not None:
        same = bool(y[question.first] == y[question.second])
        early = n_wrong < 3 and session.n_answers_ > 2 and same and question.reason == EXPLORE
        late = n_wrong == 3 and session.n_answers_ > 15 and question.reason == "two groups claim it"
        n_wrong += early or late
        session.answer(question, "same" if same != (early or late) else "different")
    assert n_wrong == 4
    assert [group.size for group in session.groups] == [30, 30, 30, 30]


@pytest.mark.parametrize("kind", ["pair", "pick"])
def test_groups_of_one_name_are_one(blobs, answer_truly, kind, tmp_path):
    X, y = blobs
    journal = tmp_path / "answers.jsonl"
    session = Session(X, random_state=0, answers=journal)
    answer_truly(session, y, 40, kind)
    before, ids = session.labels_, {int(y[group.members[0]]): group.id for group in session.groups}
    assert sorted(ids) == [0, 1, 2, 3]
    session.name(ids[1], "right")
    session.name(ids[3], "right")
    together = np.where(y == 3, 1, y)
    for found in (session, Session.load(journal, X)):
        assert [group.size for group in found.groups if group.name == "right"] == [60]
        assert len(found.groups) == 3
        assert Constraints.from_labels(together).violations(found.labels_).n_violations == 0
        assert found.constraints_.violations(together).n_violations == 0
        assert found.contradictions() == []
        outdated = [answer for answer in found.answers if not answer.believed]
        assert all({y[answer.first], y[answer.second]} == {1, 3} for answer in outdated)
    assert read_constraints(journal).violations(together).n_violations == 0
    answer_truly(session, together, 20, kind)
    assert Constraints.from_labels(together).violations(session.labels_).n_violations == 0
    session.name(ids[1], "east")
    assert [group.size for group in session.groups if group.name == "east"] == [60]
    while session.n_answers_ > 40 or len(session.groups) == 3:
        session.undo()
    np.testing.assert_array_equal(session.labels_, before)


@pytest.mark.parametrize("n_answers", [0, 12])
def test_the_first_thing_of_a_group_can_be_moved(session, truth, answer_truly, n_answers):
    """Nobody was asked about the very first one; it is where it is only until somebody says otherwise."""
    first = session.groups[0].members[0]
    answer_truly(session, truth, n_answers)
    session.move(first, "nine")
    (named,) = [group for group in session.groups if group.name == "nine"]
    assert session.labels_[first] == named.id
    assert session.answers[-1].believed


def test_groups_that_were_undone_do_not_count(session):
    for choice in ("none", "unsure", "none"):
        session.answer(session.question("pick"), choice)
    for _ in range(3):
        session.undo()
    session.answer(session.question("pick"), "none")
    assert session.progress().low <= session.progress().expected_accuracy <= session.progress().high <= 1


def test_typical_and_doubtful(session, truth, answer_truly):
    answer_truly(session, truth, 25)
    for group in session.groups:
        rows = session.typical(group.id, 5)
        assert len(rows) == 5
        assert (session.labels_[rows] == group.id).all()
    assert len(session.doubtful(7)) == 7


def test_progress_grows(digits, answer_truly):
    X, y = digits
    session = Session(X, random_state=0)
    answer_truly(session, y, 10)
    early = session.progress()
    answer_truly(session, y, 90)
    late = session.progress()
    assert isinstance(late, Progress)
    assert late.settled > early.settled
    for progress in (early, late):
        assert 0 <= progress.low <= progress.expected_accuracy <= progress.high <= 1
        assert 0 <= progress.settled <= 1
        assert progress.next_50 >= 0


def test_precomputed_similarities(blobs, answer_truly):
    X, y = blobs
    similarity = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(similarity, 0)
    session = Session(similarity, affinity="precomputed", random_state=0)
    answer_truly(session, y, 25)
    assert all(len(np.unique(session.labels_[y == c])) == 1 for c in range(4))


def test_two_points():
    session = Session(np.array([[0.0], [1.0]]), random_state=0)
    question = session.question()
    session.answer(question, "different")
    assert session.question() is None
    assert session.labels_[0] != session.labels_[1]
    session.undo()
    session.answer(session.question(), "same")
    assert session.labels_[0] == session.labels_[1]


@pytest.mark.parametrize("kind", ["pair", "pick"])
def test_everything_can_be_asked(kind, answer_truly):
    X = np.random.default_rng(0).normal(size=(25, 2))
    y = np.arange(25) % 3
    session = Session(X, random_state=0)
    answer_truly(session, y, 300, kind)
    assert session.question(kind) is None
    assert len(np.unique(np.c_[session.labels_, y], axis=0)) == 3


def test_constraints_are_consistent_and_satisfied(iris, answer_truly):
    X, y = iris
    session = Session(X, random_state=0)
    for _ in range(30):
        answer_truly(session, y, 1)
        constraints = session.constraints_
        assert isinstance(constraints, Constraints)
        assert constraints.violations(session.labels_).n_violations == 0
        constraints.closure()


def test_implied_answers_are_never_asked(digits, true_choice):
    X, y = digits
    session = Session(X, random_state=0)
    for _ in range(150):
        question = session.question()
        known = session.constraints_.closure()
        pair = sorted((question.first, question.second))
        assert question.reason == CHECK or pair not in known.must_link.tolist()
        assert pair not in known.cannot_link.tolist()
        session.answer(question, true_choice(question, y))


def test_settled_knowledge_is_kept(digits, answer_truly):
    X, y = digits
    session = Session(X, random_state=0)
    answer_truly(session, y, 80)
    for _ in range(5):
        members = {g.id: g.members for g in session.groups}
        answer_truly(session, y, 10)
        labels = session.labels_
        for rows in members.values():
            assert len(np.unique(labels[list(rows)])) == 1


def test_the_same_seed_asks_the_same(blobs, answer_truly):
    X, y = blobs
    asked = [[(q.first, q.second) for q in answer_truly(Session(X, random_state=3), y, 15)] for _ in range(2)]
    assert asked[0] == asked[1]


@pytest.mark.slow
def test_the_accuracy_is_in_its_interval_where_classes_are_not_what_the_graph_shows():
    inside, width = [], []
    for seed in range(3):
        X, y = make_classification(
            500,
            20,
            n_informative=6,
            n_redundant=4,
            n_classes=6,
            n_clusters_per_class=1,
            class_sep=1.0,
            random_state=seed,
        )
        session = Session(X, random_state=seed)
        person = Person(session, y, 0.0, "random", seed)
        while session.n_answers_ <= 40:
            question = session.question("pick")
            session.answer(question, person.reply(question))
            if session.n_answers_ in (5, 10, 20, 40):
                progress = session.progress()
                inside.append(progress.low <= _accuracy(y, session.labels_) <= progress.high)
                width.append(progress.high - progress.low)
    assert np.mean(inside) >= 0.9
    assert np.mean(width) < 0.9
    assert session.confidence_.mean() == pytest.approx(session.progress().expected_accuracy)


def _accuracy(y, labels):
    """Share of points whose label's commonest class is theirs, each class taken by one label at most."""
    table = contingency_matrix(y, labels)
    return table[linear_sum_assignment(-table)].sum() / len(y)


def test_how_points_are_compared():
    """A class that only the second of two columns shows, in a unit that makes it small."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.column_stack([rng.normal(scale=1000, size=60), y + rng.normal(scale=0.1, size=60)])
    plain, scaled = (Session(X, 2, scale=scale, random_state=0).labels_ for scale in ("none", "standard"))
    assert len(set(zip(y.tolist(), scaled.tolist(), strict=True))) < len(
        set(zip(y.tolist(), plain.tolist(), strict=True))
    )
    lengths = rng.uniform(1, 100, size=(60, 1))
    directions = lengths * (np.where(y[:, None], [1, 0], [0, 1]) + rng.normal(scale=0.05, size=(60, 2)))
    found = Session(directions, 2, metric="cosine", random_state=0).labels_
    assert len(set(zip(y.tolist(), found.tolist(), strict=True))) == 2


@pytest.mark.parametrize("setting", [{"scale": "none"}, {"metric": "cosine"}])
def test_similarities_are_compared_as_they_are(setting):
    with pytest.raises(ValueError, match="Similarities are taken as they are; leave out scale and metric"):
        Session(np.ones((4, 4)), affinity="precomputed", **setting)


def test_unknown_ways_to_compare():
    with pytest.raises(ValueError, match="scale"):
        Session(np.eye(4), scale="log")
    with pytest.raises(ValueError, match="metric"):
        Session(np.eye(4), metric="precomputed")
