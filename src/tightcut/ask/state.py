"""What follows from the journal of a session: answers, names, beliefs, labels; computed once for each state of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.ask.beliefs.evidence import gather
from tightcut.ask.beliefs.forecast import ForecastComparison, cut_from
from tightcut.ask.beliefs.labels import columns_lead, labels_of
from tightcut.ask.beliefs.mixture import Beliefs, believe
from tightcut.ask.beliefs.setup import Landscape, View
from tightcut.ask.errors import LostJournalError
from tightcut.ask.journal.file import Event, Journal
from tightcut.ask.journal.replay import effective_answers, largest, named_groups
from tightcut.ask.records import Answer


class State:
    """A journal and a landscape, and what they say together."""

    _journal: Journal
    _landscape: Landscape
    _issued: int
    _open: dict[tuple[str, int, int | None], int]  # numbers of questions that wait for an answer
    _memo: tuple[list[Answer], dict[int, int], Beliefs] | None = None
    _labels: np.ndarray | None = None
    _answered: list[Answer] | None = None
    _rivals: ForecastComparison | None = None

    @property
    def _answers(self) -> list[Answer]:
        if self._answered is None:
            self._answered = effective_answers(self._journal.events)
        return self._answered

    @property
    def _names(self) -> dict[int, str]:
        return named_groups(self._journal.events)[0]

    @property
    def _beliefs(self) -> Beliefs:
        return self._believe(self._answers)

    def _believe(self, answers: list[Answer]) -> Beliefs:
        joined = named_groups(self._journal.events)[1]
        if self._memo is None or self._memo[:2] != (answers, joined):
            evidence = gather(answers, self._journal.header["anchor"], joined)
            self._memo = answers, joined, believe(self._landscape, evidence)
        return self._memo[2]

    @property
    def _leading(self) -> View:
        """The graph that has the largest say."""
        return self._landscape.views[self._beliefs.leading]

    def _current_labels(self) -> np.ndarray:
        if self._labels is None:
            self._labels = labels_of(self._beliefs)
            by_columns = columns_lead(self._beliefs, self._beliefs.coarse)
            if not by_columns and self._comparison.cut_leads(self._answers, self._beliefs):
                cut = cut_from(self._beliefs, self._leading.spreading)
                self._labels = self._labels if cut is None else cut
        return self._labels

    @property
    def _comparison(self) -> ForecastComparison:
        """Which forecasts better, the beliefs or the cut that starts from them."""
        if self._rivals is None:
            self._rivals = ForecastComparison(self._journal.header["anchor"], self._landscape)
        return self._rivals

    def refresh(self) -> int:
        """Take in what other sessions have written to the journal; returns the number of events.

        `question` and everything that changes the session do so by themselves.
        """
        if self._journal.refresh():
            self._take_in()
        return len(self._journal.events)

    def save_journal(self, path: Any = None) -> Path:
        """Write everything that was answered to a new journal, and go on there.

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
        with suppress(LostJournalError, OSError):
            self.refresh()
        return self._journal.save(path)

    def _append(self, make: Callable[[], Event]) -> Event:
        """Write the event that follows from the present state; from a later one where others have written meanwhile."""
        try:
            while not self._journal.append(event := make()):
                self._take_in()
            return event
        finally:
            self._labels = self._answered = None

    def _take_in(self) -> None:
        """Follow the journal after others have written to it."""
        self._labels = self._answered = None
        events = self._journal.events
        self._issued = max(self._issued, largest(events, "number"))
        taken = {event.get("number") for event in events}
        self._open = {item: number for item, number in self._open.items() if number not in taken}

    def _next_number(self) -> int:
        self._issued += 1
        return self._issued

    def _next_group(self) -> int:
        return max(0, largest(self._journal.events, "founds")) + 1
