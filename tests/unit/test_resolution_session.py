"""Questions about a resolution: the answers are rules, and only what they concern is solved again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import same_partition

from tightcut import InconsistentConstraintsError, resolve
from tightcut.ask import Question
from tightcut.resolution import ResolutionSession

PAIRS = [("ann", "anna", 0.9), ("anna", "anne", 0.6), ("ann", "anne", 0.45), ("bob", "rob", 0.7), ("zoe", "zoë", 0.99)]


def planted(n_people=60, seed=0):
    """Records of people, scored pairs that are often wrong, and who each record is."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), rng.integers(1, 7, n_people))
    n = len(person)
    near = rng.integers(0, n, (6 * n, 2))
    own = np.array([(i, j) for i in range(n) for j in range(i + 1, n) if person[i] == person[j] and rng.random() < 0.7])
    pairs = np.unique(np.sort(np.concatenate([near[near[:, 0] != near[:, 1]], own]), axis=1), axis=0)
    same = person[pairs[:, 0]] == person[pairs[:, 1]]
    odds = np.where(same, 1.2, -2.2) + 1.8 * rng.normal(size=len(pairs))
    return person, pairs, 1 / (1 + np.exp(-odds))


def tabulated(pairs, probability):
    return {"id_l": pairs[:, 0], "id_r": pairs[:, 1], "match_probability": probability}


def pair_scores(person, labels):
    """F1 of the pairs that are together."""
    i, j = np.triu_indices(len(person), 1)
    true, found = person[i] == person[j], labels[i] == labels[j]
    return 2 * (true & found).sum() / (true.sum() + found.sum())


def test_the_least_certain_decision_comes_first_and_its_answer_is_a_rule():
    found = resolve(PAIRS)
    session = found.session()
    assert isinstance(session, ResolutionSession)
    question = session.question()
    assert (session.ids[question.first], session.ids[question.second]) == (
        found.doubtful["a"][0],
        found.doubtful["b"][0],
    )
    assert session.question() == question
    session.answer(question, "different", who="me", seconds=2.5)
    again = session.resolution()
    assert again.labels[question.first] != again.labels[question.second]
    assert session.n_answers_ == session.n_actions_ == 1
    assert session.answers[0].who == "me"
    with pytest.raises(ValueError, match="was answered already"):
        session.answer(question, "same")


def test_undo_revise_and_unsure():
    session = resolve(PAIRS).session()
    before, question = session.labels_.copy(), session.question()
    session.answer(question, "unsure")
    assert same_partition(before, session.labels_)
    other = session.question()
    assert (other.first, other.second) != (question.first, question.second)
    session.undo()
    again = session.question()
    assert (again.first, again.second) == (question.first, question.second)
    session.answer(again, "different")
    session.revise(again.number, "same")
    assert session.labels_[again.first] == session.labels_[again.second]
    assert session.undo()["event"] == "revise"
    assert session.labels_[again.first] != session.labels_[again.second]
    session.undo()
    assert same_partition(before, session.labels_)
    with pytest.raises(ValueError, match="nothing to undo"):
        session.undo()
    with pytest.raises(ValueError, match="no answer with the number 99"):
        session.revise(99, "same")


def test_a_journal_is_continued_and_belongs_to_its_table(tmp_path):
    path = tmp_path / "answers.jsonl"
    session = resolve(PAIRS).session(path)
    session.answer(session.question(), "different")
    session.close()
    again = resolve(PAIRS).session(path)
    np.testing.assert_array_equal(again.labels_, session.labels_)
    assert again.n_answers_ == 1
    assert again.question().number > 0
    with pytest.raises(ValueError, match="other data"):
        resolve([(a, b, p / 2) for a, b, p in PAIRS]).session(path)


def test_an_answer_that_contradicts_the_rules_is_not_taken():
    session = resolve(PAIRS, groups={"bob": "register", "rob": "register"}).session()
    bob, rob = (session.ids.tolist().index(name) for name in ("bob", "rob"))
    with pytest.raises(InconsistentConstraintsError, match="'bob' is 'rob'.*in the group 'register'"):
        session.answer(Question(7, "pair", bob, rob, (), ""), "same")
    assert session.n_answers_ == session.n_actions_ == 0
    session.move(bob, int(session.labels_[session.ids.tolist().index("ann")]))
    assert session.labels_[bob] == session.labels_[session.ids.tolist().index("ann")]
    with pytest.raises(InconsistentConstraintsError, match="Undo or change"):
        session.move(bob, "none")
    with pytest.raises(ValueError, match="alone"):
        session.move(rob, "none")
    with pytest.raises(ValueError, match="no names"):
        session.name(0, "Ann")
    with pytest.raises(ValueError, match="in pairs"):
        session.question("pick")


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.integers(0, 10_000),
    st.booleans(),
    st.lists(st.sampled_from(["same", "different", "unsure", "undo", "any"]), max_size=12),
)
def test_labels_are_those_of_a_resolution_with_the_answers_as_rules(seed, grouped, actions):
    person, pairs, probability = planted(10, seed)
    rng = np.random.default_rng(seed)
    rules = {"groups": {i: int(rng.integers(0, 9)) for i in range(len(person))}} if grouped else {}
    edges = tabulated(pairs, probability)
    session = resolve(edges, **rules).session()
    for number, action in enumerate(actions):
        question = session.question()
        if action == "any":  # an answer about any two records
            first, second = rng.choice(len(session.ids), 2, replace=False).tolist()
            question = Question(1000 + number, "pair", first, second, (), "")
        if question is None:
            break
        try:
            if action == "undo":
                session.undo()
            else:
                choice = str(rng.choice(["same", "different"])) if action == "any" else action
                session.answer(question, choice)
        except ValueError:
            pass
    known = session.constraints_
    ids = session.ids
    fresh = resolve(edges, must_link=ids[known.must_link], cannot_link=ids[known.cannot_link], **rules)
    assert same_partition(session.labels_, fresh.labels)
    assert same_partition(session.resolution().labels, fresh.labels)
    open_now = sorted(margin for margin, *_ in session._all_doubts())
    np.testing.assert_allclose(open_now, fresh.doubtful["margin"], atol=1e-9)


def test_only_what_an_answer_concerns_is_solved_again(monkeypatch):
    person, pairs, probability = planted(200, seed=1)
    clear = person[pairs[:, 0]] == person[pairs[:, 1]]
    session = resolve(tabulated(pairs[clear], probability[clear])).session()
    sizes = []
    solved = ResolutionSession._solved
    monkeypatch.setattr(
        ResolutionSession,
        "_solved",
        lambda self, records, given: sizes.append(len(records)) or solved(self, records, given),
    )
    for _ in range(10):
        session.answer(session.question(), "same")
    assert max(sizes) <= 6  # records of one person


@pytest.mark.slow
def test_answers_to_what_is_doubtful_help_more_than_answers_to_random_pairs():
    """A simulated person, on three planted tables: the mean over 20 and 40 answers."""
    gains = {"doubtful": [], "random": []}
    for seed in range(3):
        person, pairs, probability = planted(40, seed)
        edges, rng = tabulated(pairs, probability), np.random.default_rng(seed)
        begin = resolve(edges)
        start = pair_scores(person[begin.ids], begin.labels)
        asked, drawn = begin.session(), begin.session()
        order = rng.permutation(pairs).tolist()
        for number in range(40):
            question = asked.question()
            if question is not None:
                same = person[asked.ids[question.first]] == person[asked.ids[question.second]]
                asked.answer(question, "same" if same else "different")
            first, second = np.searchsorted(drawn.ids, order[number]).tolist()
            same = person[drawn.ids[first]] == person[drawn.ids[second]]
            drawn.answer(Question(number, "pair", first, second, (), ""), "same" if same else "different")
            if number in (19, 39):
                for name, session in (("doubtful", asked), ("random", drawn)):
                    gains[name].append(pair_scores(person[session.ids], session.labels_) - start)
    assert np.mean(gains["doubtful"]) > 2 * np.mean(gains["random"]) > 0


def test_progress_says_how_many_decisions_are_open():
    session = resolve(PAIRS).session()
    first = session.progress()
    assert 0 <= first.low <= first.expected_accuracy <= first.high <= 1
    while (question := session.question()) is not None:
        session.answer(question, "same")
    last = session.progress()
    assert last.settled == 1
    assert session.n_doubtful_ == 0
    assert last.expected_accuracy > first.expected_accuracy
    assert last.next_50 == 0
    assert session.doubtful().tolist() == []
