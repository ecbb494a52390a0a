import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from tightcut.ask import Session


def _answer_truly(session, y, n, kind="pair"):
    """Answer n questions truly; returns the questions that were asked."""
    asked = []
    for _ in range(n):
        question = session.question(kind)
        if question is None:
            break
        asked.append(question)
        session.answer(question, _true_choice(question, y))
    return asked


def _true_choice(question, y):
    if question.kind == "pair":
        return "same" if y[question.first] == y[question.second] else "different"
    for group in question.groups:
        if y[group.members[0]] == y[question.first]:
            return group.id
    return "none"


@pytest.fixture(scope="session")
def blobs():
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [8, 0], [0, 8], [8, 8]])
    y = np.repeat(np.arange(4), 30)
    return centres[y] + rng.normal(size=(120, 2)), y


@pytest.fixture
def session(blobs):
    return Session(blobs[0], random_state=0)


@pytest.fixture(scope="session")
def truth(blobs):
    return blobs[1]


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]


@pytest.fixture(scope="session")
def answer_truly():
    return _answer_truly


@pytest.fixture(scope="session")
def true_choice():
    return _true_choice
