"""Checks of the arguments of a session."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.ask.errors import StaleQuestionError
from tightcut.ask.records import PAIR_CHOICES, Question
from tightcut.neighbors.points import check_mask, check_size
from tightcut.utils.display import counted
from tightcut.utils.sparse import to_csr

RESERVED = ("same", "different", "none", "unsure")


def check_data(X: Any, affinity: str) -> Any:
    """Points or similarities as an array, finite and with at least two rows."""
    if affinity not in ("knn", "precomputed"):
        raise ValueError(f'affinity must be "knn" or "precomputed"; got {affinity!r}.')
    check_mask(X)
    if sp.issparse(X):
        X = to_csr(X)
        if affinity == "knn":
            X = X.toarray()
    else:
        try:
            X = np.asarray(X, dtype=None if _is_number_array(X) else np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"X must hold numbers, one row for each point: {error}") from None
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, one row for each point; got shape {X.shape}.")
    if X.shape[0] < 2:
        raise ValueError(f"There is nothing to ask about {counted(X.shape[0], 'point')}; at least 2 are needed.")
    if affinity == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(
            f'With affinity="precomputed" X holds the similarity of every two points; got shape {X.shape}.'
        )
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise ValueError("X contains NaN or infinity; fill or remove these values first.")
    if affinity == "knn" and X.size:
        check_size(X)
    return X


def _is_number_array(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.kind in "fiub"


def check_n_clusters(n_clusters: Any, n_points: int) -> int | None:
    if isinstance(n_clusters, str) and n_clusters == "auto":
        return None
    if (
        not isinstance(n_clusters, numbers.Integral)
        or isinstance(n_clusters, bool)
        or not 1 <= int(n_clusters) <= n_points
    ):
        raise ValueError(f'n_clusters must be "auto" or a whole number from 1 to {n_points}; got {n_clusters!r}.')
    return int(n_clusters)


def check_row(row: Any, n_points: int) -> int:
    if not isinstance(row, numbers.Integral) or isinstance(row, bool) or not 0 <= int(row) < n_points:
        raise ValueError(f"A row must be a whole number from 0 to {n_points - 1}; got {row!r}.")
    return int(row)


def check_kind(kind: Any) -> str:
    if kind not in ("pair", "pick"):
        raise ValueError(f'kind must be "pair" or "pick"; got {kind!r}.')
    return str(kind)


def check_question(question: Any, n_points: int) -> Question:
    if not isinstance(question, Question):
        raise ValueError(f"answer() takes a Question that question() has returned; got {type(question).__name__}.")  # noqa: TRY004
    check_kind(question.kind)
    check_row(question.first, n_points)
    if question.kind == "pair" and check_row(question.second, n_points) == question.first:
        raise ValueError(f"A pair needs two different rows; got row {question.first} twice.")
    return question


def check_unanswered(question: Question, events: Iterable[dict[str, Any]]) -> int:
    """The number of a question that nobody has answered under it, here or in another session of the same journal."""
    number = question.number
    for event in events:
        if event.get("number") == number and event["event"] == "answer":
            if (event["kind"], event["first"], event["second"]) != (question.kind, question.first, question.second):
                raise StaleQuestionError(
                    f"Another session has answered a question with the number {number} meanwhile; ask question() again."
                )
            raise StaleQuestionError(
                f"Question {number} was answered already; use revise({number}, choice) to change the answer."
            )
    return number


def check_name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"A group's name must be a text that is not blank; got {name!r}.")
    if name.strip() in RESERVED:
        raise ValueError(f"A group cannot be named {name!r}: that word is an answer.")
    return name.strip()


def check_pair_choice(choice: Any) -> str:
    if not isinstance(choice, str) or choice not in PAIR_CHOICES:
        raise ValueError(f'The answer about a pair is "same", "different" or "unsure"; got {choice!r}.')
    return choice


def check_person(who: Any, seconds: Any) -> tuple[str | None, float | None]:
    if who is not None and not isinstance(who, str):
        raise ValueError(f"who must be a text or None; got {who!r}.")
    if seconds is None:
        return who, None
    if not isinstance(seconds, numbers.Real) or not np.isfinite(float(seconds)) or seconds < 0:
        raise ValueError(f"seconds must be a number >= 0 or None; got {seconds!r}.")
    return who, float(seconds)


def read_seed(random_state: Any) -> int:
    """A whole number from what scikit-learn calls a random state."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))
