"""Assign questions to windows: different ones to different windows, and each keeps its own until it is answered."""

from __future__ import annotations

import time

from tightcut.ask.base import QuestionSession
from tightcut.ask.records import Question

FORGOTTEN = 10.0  # seconds without a sign of life, after which a window has no question any more; it looks every 2.5


class Windows:
    """The windows that are open, by the names that they gave themselves, and what each asks."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[float, Question | None]] = {}  # when a window was heard of, and its question

    def question(self, session: QuestionSession, kind: str, window: str, *, keep: bool) -> Question | None:
        """A question that no other window asks, if there are several; to keep, the window's own while it is open."""
        own = self._asked.get(window, (0.0, None))[1]
        question = session.renewed(own) if keep and own is not None and own.kind == kind else None
        if question is None:
            taken = self._taken(window)
            found = session.questions(len(taken) + 1, kind=kind)
            question = next((one for one in found if (one.first, one.second) not in taken), None)
            question = question or next(iter(found), None)
        if window:  # a page says its name, and a program need not
            self._asked[window] = time.monotonic(), question
        return question

    def heard(self, window: str) -> None:
        """A sign of life."""
        if window in self._asked:
            self._asked[window] = time.monotonic(), self._asked[window][1]

    def rows(self) -> list[int]:
        """The rows that are asked about in any window."""
        return [row for _, question in self._asked.values() if question is not None for row in question.rows]

    def _taken(self, window: str) -> list[tuple[int, int | None]]:
        """What the other windows ask."""
        since = time.monotonic() - FORGOTTEN
        self._asked = {name: seen for name, seen in self._asked.items() if seen[0] > since or name == window}
        held = [question for name, (_, question) in self._asked.items() if name != window]
        return [(question.first, question.second) for question in held if question is not None]
