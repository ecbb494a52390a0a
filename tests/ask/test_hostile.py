"""Wrong input gets a clear error, and nothing is lost."""

import numpy as np
import pytest

from tightcut.ask import Question, Session, simulate


@pytest.mark.parametrize("choice", ["yes", "", None, 1, True, ["same"], "Same", b"same", float("nan")])
def test_choices_about_a_pair(session, choice):
    with pytest.raises(ValueError, match='"same", "different" or "unsure"'):
        session.answer(session.question(), choice)
    assert session.n_answers_ == 0


@pytest.mark.parametrize("choice", [99, -1, True, None, 0.0, "", " ", ["none"]])
def test_choices_of_a_pick(session, choice):
    with pytest.raises(ValueError, match="group"):
        session.answer(session.question("pick"), choice)
    assert session.n_answers_ == 0


@pytest.mark.parametrize(
    "question",
    [
        None,
        "question",
        (0, 1),
        Question(0, "pair", 0, 0, (), ""),
        Question(0, "pair", 0, 120, (), ""),
        Question(0, "pair", -1, 1, (), ""),
        Question(0, "pair", 1, None, (), ""),
        Question(0, "triple", 1, 2, (), ""),
    ],
)
def test_questions_that_are_none(session, question):
    with pytest.raises(ValueError, match="Question|row|kind"):
        session.answer(question, "same")
    assert session.n_answers_ == 0


def test_one_answer_for_each_question(session):
    question = session.question()
    session.answer(question, "same")
    with pytest.raises(ValueError, match="answered already; use revise"):
        session.answer(question, "different")
    assert session.n_answers_ == 1


@pytest.mark.parametrize(("who", "seconds"), [(3, None), (None, -1), (None, float("nan")), (None, "2"), (b"x", 1)])
def test_who_and_seconds(session, who, seconds):
    with pytest.raises(ValueError, match="who|seconds"):
        session.answer(session.question(), "same", who=who, seconds=seconds)


@pytest.mark.parametrize("row", [-1, 120, 1.0, "3", None, True])
def test_rows(session, row):
    with pytest.raises(ValueError, match="row"):
        session.move(row, 0)


@pytest.mark.parametrize("kind", ["triple", None, 3, ""])
def test_kinds(session, kind):
    with pytest.raises(ValueError, match="kind must be"):
        session.question(kind)


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", None])
def test_numbers_of_questions(session, n):
    with pytest.raises(ValueError, match="n must be"):
        session.questions(n)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(5), "two dimensions"),
        (np.zeros((1, 3)), "at least 2 are needed"),
        (np.zeros((0, 3)), "at least 2 are needed"),
        ([[0.0, np.nan], [1, 2]], "NaN"),
        ([["a", "b"], ["c", "d"]], "numbers"),
        ([[1, 2], [3]], "numbers"),
        (None, "numbers|dimensions"),
    ],
)
def test_data(X, message):
    with pytest.raises(ValueError, match=message):
        Session(X)


def test_settings(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match="affinity must be"):
        Session(X, affinity="rbf")
    with pytest.raises(ValueError, match="similarity of every two points"):
        Session(X, affinity="precomputed")
    for n_clusters in (0, 121, 2.5, "many", True, None):
        with pytest.raises(ValueError, match="n_clusters must be"):
            Session(X, n_clusters)
    session = Session(X, random_state=0)
    with pytest.raises(ValueError, match="7 values for 120 rows"):
        simulate(session, y[:7], 3)
    with pytest.raises(ValueError, match="error_rate"):
        simulate(session, y, 3, error_rate=2)
    with pytest.raises(ValueError, match="errors must be"):
        simulate(session, y, 3, errors="often")


def test_strange_names_are_only_text(session):
    name = "<script>alert('\\u2028\n')</script>"
    session.name(0, name)
    assert session.groups[0].name == name


def test_all_points_equal():
    session = Session(np.zeros((30, 3)), random_state=0)
    for _ in range(6):
        session.answer(session.question(), "different")
    assert session.constraints_.violations(session.labels_).n_violations == 0


@pytest.mark.filterwarnings("error")
def test_values_too_large_for_distances():
    X = np.arange(24.0).reshape(12, 2)
    X[3, 1] = 1e300
    with pytest.raises(ValueError, match=r"X holds a value of size 1e\+300, whose square overflows"):
        Session(X, random_state=0)
    with pytest.raises(ValueError, match="X is a masked array"):
        Session(np.ma.masked_array(X, mask=X > 1e299), random_state=0)
