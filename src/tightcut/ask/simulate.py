"""Answers from known labels, to measure how good the questions are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightcut.ask.records import Question
from tightcut.ask.session import Session
from tightcut.utils.validation import check_choice


@dataclass(frozen=True, eq=False)
class Round:
    """The state after some answers.

    Parameters
    ----------
    n_answers : int
    labels : int ndarray of shape (n,)
    """

    n_answers: int
    labels: np.ndarray


def simulate(
    session: Session,
    y: Any,
    n_answers: int,
    *,
    kind: str = "pair",
    error_rate: float = 0.0,
    errors: str = "random",
    random_state: Any = None,
) -> list[Round]:
    """Answer a session's questions from known labels.

    Parameters
    ----------
    session : Session
    y : array-like of shape (n,)
        The true classes.
    n_answers : int
        How many answers to give; fewer if the session runs out of questions.
    kind : {"pair", "pick"}, default="pair"
    error_rate : float, default=0.0
        Share of wrong answers.
    errors : {"random", "alike"}, default="random"
        "random" makes errors anywhere with equal probability; "alike" mostly where things look alike, as people do.
    random_state : int, Generator or None

    Returns
    -------
    list of Round
        The labels at the start and after each answer.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.ask import Session, simulate
    >>> points = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0]], 30, axis=0)
    >>> rounds = simulate(Session(points, random_state=0), np.repeat([0, 1], 30), 6)
    >>> rounds[-1].n_answers, np.bincount(rounds[-1].labels).tolist()
    (6, [30, 30])
    """
    person = Person(session, y, error_rate, errors, random_state)
    rounds = [Round(session.n_answers_, session.labels_)]
    for _ in range(n_answers):
        question = session.question(kind)
        if question is None:
            break
        session.answer(question, person.reply(question))
        rounds.append(Round(session.n_answers_, session.labels_))
    return rounds


class Person:
    """A simulated person who knows the classes and sometimes errs; the parameters are those of `simulate`.

    Attributes
    ----------
    wrong : list of int
        Numbers of the questions that were answered wrongly.
    """

    def __init__(self, session: Session, y: Any, error_rate: float, errors: str, random_state: Any) -> None:
        self.y = np.unique(np.asarray(y).ravel(), return_inverse=True)[1]
        if len(self.y) != session._X.shape[0]:  # noqa: SLF001
            raise ValueError(f"y has {len(self.y)} values for {session._X.shape[0]} rows.")  # noqa: SLF001
        if not 0 <= error_rate <= 1:
            raise ValueError(f"error_rate must be between 0 and 1; got {error_rate!r}.")
        check_choice("errors", errors, ("random", "alike"))
        self.rng = np.random.default_rng(random_state)
        self.session, self.error_rate, self.errors = session, error_rate, errors
        self.wrong: list[int] = []
        self._sample = self.rng.integers(len(self.y), size=(2000, 2)) if errors == "alike" else None

    def reply(self, question: Question) -> Any:
        """An answer, which may be wrong."""
        err = bool(self.rng.random() < self.error_rate * self._ease_of_error(question))
        if err:
            self.wrong.append(question.number)
        if question.kind == "pair":
            same = self.y[question.first] == self.y[question.second]
            return "same" if same != err else "different"
        truth = self._group(question)
        return self._wrong_pick(question, truth) if err else truth

    def _group(self, question: Question) -> int | str:
        """The group of the row's class, as its members show it."""
        own = self.y[question.first]
        for group in question.groups:
            if group.members and Counter(self.y[list(group.members)].tolist()).most_common(1)[0][0] == own:
                return group.id
        return "none"

    def _wrong_pick(self, question: Question, truth: int | str) -> int | str:
        offered: list[int | str] = [*(g.id for g in question.groups), "none"]
        others = [choice for choice in offered if choice != truth]
        if not others:
            return "unsure"
        return others[0] if self.errors == "alike" else others[int(self.rng.integers(len(others)))]

    def _ease_of_error(self, question: Question) -> float:
        """1 on average over all pairs; larger where different things are close or equal things far apart."""
        if self._sample is None:
            return 1.0
        if question.kind == "pick":
            other = [g.members[0] for g in question.groups[:2] if g.members and g.id != self._group(question)]
            if not other:
                return 0.5
            pair = (question.first, other[0])
        else:
            pair = (question.first, question.second)  # type: ignore[assignment]
        same = self.y[pair[0]] == self.y[pair[1]]
        alike = self._sample[(self.y[self._sample[:, 0]] == self.y[self._sample[:, 1]]) == same]
        if not len(alike):
            return 1.0
        rank = float(np.mean(self._distance(alike.T) < self._distance(np.array(pair)[:, None])))
        return 4 * (rank if same else 1 - rank) ** 3

    def _distance(self, pairs: np.ndarray) -> np.ndarray:
        X = self.session._X  # noqa: SLF001
        if self.session.affinity == "precomputed":
            return -np.asarray(X[pairs[0], pairs[1]]).ravel()
        return np.linalg.norm(np.asarray(X[pairs[0]], float) - X[pairs[1]], axis=1)
