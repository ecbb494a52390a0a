"""What follows from the journal of a session: answers, names, beliefs, labels; computed once for each state of it."""

from __future__ import annotations

import numpy as np

from tightcut.ask.beliefs.evidence import gather
from tightcut.ask.beliefs.forecast import ForecastComparison, cut_from
from tightcut.ask.beliefs.labels import columns_lead, labels_of
from tightcut.ask.beliefs.mixture import Beliefs, believe
from tightcut.ask.beliefs.setup import Landscape, View
from tightcut.ask.journal.file import Event, Journal
from tightcut.ask.journal.replay import effective_answers, largest, named_groups
from tightcut.ask.records import Answer


class State:
    """A journal and a landscape, and what they say together."""

    _journal: Journal
    _landscape: Landscape
    _issued: int
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

    def _append(self, event: Event) -> None:
        self._journal.append(event)
        self._labels = self._answered = None

    def _next_number(self) -> int:
        self._issued += 1
        return self._issued

    def _next_group(self) -> int:
        return max(0, largest(self._journal.events, "founds")) + 1
