"""`QuestionSession`, the base of all sessions: a journal, the state derived from it, and the actions that write to it.

A `QuestionSession` appends one event after the other to its journal. What follows from the events is a snapshot, taken once
for each state of the journal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.ask.errors import LostJournalError, StaleQuestionError
from tightcut.ask.journal.file import Journal, timestamp
from tightcut.ask.journal.replay import answer_event, check_last, largest, numbered, undo_of_last
from tightcut.ask.journal.schema import Event, check_pair_choice, check_question, check_unanswered
from tightcut.ask.records import Answer, Contradiction, Group, Progress, Question
from tightcut.problem import Constraints
from tightcut.utils.validation import check_choice


class QuestionSession(ABC):
    """Questions, answers, and what follows from them: what the page and the terminal need of a session.

    `tightcut.ask.Session` and the session of `tightcut.resolve` say how questions are chosen and what answers mean.
    """

    kinds: tuple[str, ...] = ("pair", "pick")
    _n_rows: int

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._issued = largest(journal.events, "number")
        self._open: dict[tuple[str, int, int | None], int] = {}  # numbers of questions that wait for an answer
        self._n_followed = len(journal.events)

    # What the person does

    @abstractmethod
    def question(self, kind: str = "pair") -> Question | None:
        """The next question; None when there is nothing left to ask. Asking twice without an answer asks the same."""

    def answer(self, question: Question, choice: Any, *, who: str | None = None, seconds: float | None = None) -> None:
        """Take an answer; when this returns, it is in the journal, on disk.

        Several sessions may share a journal: what the others have answered is taken in first.

        Parameters
        ----------
        question : Question
        choice : str or int
            About a pair "same", "different" or "unsure". Of a pick a group's id or name, "none" or "unsure"; a name
            that no group has founds one.
        who : str, optional
            Who answers.
        seconds : float, optional
            How long it took.

        Raises
        ------
        StaleQuestionError
            If the question was answered already, here or in another session.
        LostJournalError
            If the journal was deleted, moved or replaced; `save_journal` writes another.
        OSError
            If the answer could not be written, to a full disk for example. It does not count then; repeat it.
        InconsistentConstraintsError
            In a session of `tightcut.resolve`, if the answer contradicts the rules and other answers.
        """
        check_question(question, self._n_rows)
        self._check_kind(question.kind)
        item, shown = (question.kind, question.first, question.second), [group.id for group in question.groups]
        draft = answer_event(*item, who=who, seconds=seconds, reason=question.reason, shown=shown)
        self._record_answer(lambda: check_unanswered(question, self._journal.events), draft, choice)
        self._open.pop(item, None)

    def revise(self, number: int, choice: Any, *, who: str | None = None) -> None:
        """Change an earlier answer. The journal keeps both."""

        def event() -> Event:
            given = self._given
            answer = numbered(given, number)
            others = [a for a in given if a.number != number]
            item = answer.kind, answer.first, answer.second
            draft = answer_event(*item, who=who, reason=answer.reason, shown=list(answer.shown)) | {"number": number}
            return {
                "event": "revise",
                "number": number,
                "time": timestamp(),
                "answer": self._chosen(draft, choice, others),
            }

        self._record(event)

    def undo(self) -> Event:
        """Undo the last answer, correction, revision or name, and return its event."""
        line, event = undo_of_last(self._journal.events)
        self._record(lambda: check_last(line, self._journal.events))
        return event

    @abstractmethod
    def move(self, row: int, group: Any, *, who: str | None = None) -> None:
        """Correct a row by hand: put it into a group, or with "none" out of the one that it is in."""

    @abstractmethod
    def name(self, group: int, name: str) -> None:
        """Give a group a name."""

    def questions(self, n: int, *, kind: str = "pair") -> list[Question]:  # noqa: ARG002
        """Up to n questions that do not depend on each other."""
        question = self.question(kind)
        return [] if question is None else [question]

    def renewed(self, question: Question) -> Question | None:
        """An open question with the groups as they are now; None if somebody has answered it."""
        self._try_to_refresh()
        try:
            check_unanswered(question, self._journal.events)
        except StaleQuestionError:
            return None
        return question

    def prepare(self) -> None:  # noqa: B027 (records need nothing)
        """Get ready, while the person thinks, for what a later answer needs. Changes no result."""

    # What is known

    @property
    @abstractmethod
    def labels_(self) -> np.ndarray: ...

    @property
    def confidence_(self) -> np.ndarray | None:
        """Probability that each label is right; None where it is not estimated, as of records."""
        return None

    @property
    @abstractmethod
    def groups(self) -> list[Group]: ...

    @property
    @abstractmethod
    def answers(self) -> Sequence[Answer]:
        """The answers that count now."""

    @property
    @abstractmethod
    def constraints_(self) -> Constraints: ...

    @abstractmethod
    def contradictions(self) -> list[Contradiction]: ...

    @abstractmethod
    def progress(self) -> Progress: ...

    def history(self) -> Iterator[tuple[int, Progress]]:
        """How many answers there were at some earlier times, and the progress then; nothing where that is not kept."""
        return iter(())

    @property
    def n_left_(self) -> int | None:
        """How many decisions are left, where they can be counted."""
        return None

    def evidence(self, question: Question) -> list[str]:  # noqa: ARG002
        """What speaks for and against a pair, in sentences, beside what is shown of the two."""
        return []

    @abstractmethod
    def typical(self, group: int, n: int = 20) -> np.ndarray: ...

    @abstractmethod
    def doubtful(self, n: int = 20) -> np.ndarray: ...

    @property
    @abstractmethod
    def _given(self) -> list[Answer]:
        """The answers that count now, as they were given."""

    @property
    def journal(self) -> Path | None:
        """Where the answers are kept; None for in memory only."""
        return self._journal.path

    @property
    def n_answers_(self) -> int:
        return len(self._given)

    @property
    def n_actions_(self) -> int:
        return sum(event["event"] != "name" for event in self._journal.events)

    # The journal

    def refresh(self) -> int:
        """Take in what other sessions have written to the journal; returns the number of events.

        `question` and everything that changes the session do so by themselves.
        """
        self._journal.refresh()
        self._follow()
        return len(self._journal.events)

    def save_journal(self, path: Any = None) -> Path:
        """Write everything that was answered to a new journal, and continue there.

        For a session whose journal was deleted, moved or replaced (`LostJournalError`), and for one that has none.

        Parameters
        ----------
        path : path-like, optional
            A file that does not exist. By default the path of the journal or, if there is another file now, the same
            name with a number.

        Returns
        -------
        path : Path
        """
        self._try_to_refresh()
        return self._journal.save(path)

    def close(self) -> None:
        """Close the journal. Everything in it is on disk already."""
        self._journal.close()

    def _try_to_refresh(self) -> None:
        """Take in what others have written; what is wrong with the journal is said when something is to be written."""
        with suppress(LostJournalError, OSError):
            self.refresh()

    def _record_answer(self, number: Callable[[], int], draft: Event, choice: Any) -> None:
        self._record(
            lambda: {"event": "answer", **self._chosen(draft | {"number": number()}, choice, self._given)},
        )

    def _chosen(self, draft: Event, choice: Any, others: list[Answer]) -> Event:  # noqa: ARG002 (what counts beside it)
        """An answer as it is written to the journal; the other answers decide whether it founds a group."""
        return draft | {"choice": check_pair_choice(choice)}

    def _record(self, make: Callable[[], Event]) -> None:
        """Write the event that follows from the present state; from a later one where others have written meanwhile."""
        self._follow()
        while True:
            event = make()
            let_count = self._following([*self._journal.events, event])
            if self._journal.append(event):
                break
            self._follow()
        let_count()
        self._n_followed = len(self._journal.events)
        self._issued = max(self._issued, largest([event], "number"))

    def _follow(self) -> None:
        """Apply all new events of the journal in order; their numbers are not issued again."""
        events = self._journal.events
        new = events[self._n_followed :]
        for n_events in range(self._n_followed + 1, len(events) + 1):
            self._following(events[:n_events])()
            self._n_followed = n_events
        self._issued = max(self._issued, largest(new, "number"))
        taken = {event.get("number") for event in new}
        self._open = {item: number for item, number in self._open.items() if number not in taken}

    def _following(self, events: list[Event]) -> Callable[[], None]:  # noqa: ARG002
        """Compute what follows from some events before the last of them is written; the value lets it count."""
        return lambda: None

    def _numbered(self, kind: str, first: int, second: int | None) -> int:
        """The number of a question: the same until it is answered."""
        if (kind, first, second) not in self._open:
            self._open[kind, first, second] = self._next_number()
        return self._open[kind, first, second]

    def _next_number(self) -> int:
        self._issued += 1
        return self._issued

    def _check_kind(self, kind: str) -> None:
        check_choice("kind", kind, ("pair", "pick"))
        if kind not in self.kinds:
            raise ValueError('Records are compared in pairs: kind="pair".')
