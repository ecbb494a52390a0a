"""The next questions, the most valuable first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tightcut.ask.beliefs.evidence import COMPARE
from tightcut.ask.beliefs.labels import unknown_points
from tightcut.ask.questions.choose import CHECK, PLACE, Placing, groups_to_compare, is_exploring, points_to_ask
from tightcut.ask.records import Answer
from tightcut.problem.graph import Graph

Item = tuple[int, int | None, str]  # a row, the row to compare it with, and the reason


class Planner:
    """Chooses questions from what is believed now.

    Parameters
    ----------
    placing : Placing
    graph : Graph
        The one with the largest weight.
    coarse : int ndarray of shape (n,)
        Its plain cut.
    seed : tuple of int
        Changes with every event, so that the same journal leads to the same questions.
    """

    def __init__(self, placing: Placing, graph: Graph, coarse: np.ndarray, seed: tuple[int, int]) -> None:
        self.placing, self.beliefs, self.graph, self.coarse, self.seed = placing, placing.beliefs, graph, coarse, seed
        self.unknown = unknown_points(self.beliefs, coarse)
        self.items: list[Item] = []

    def pairs(self, n: int) -> list[Item]:
        """Up to n pairs: points not placed yet, answers worth checking, groups that may be one, new points."""
        for row in self.placing.unplaced()[:n]:
            self._place(row, PLACE)
        if len(self.items) < n:
            for row, group in self.placing.worth_checking()[:n]:
                self._add(row, self.placing.partners(group, row), CHECK)
        if len(self.items) < n and not is_exploring(self.unknown):
            two = groups_to_compare(self.beliefs, self.graph, self.placing)
            if two is not None:
                first = self._one_of(two[0])
                self._add(first, self.placing.not_compared(two[1], first), COMPARE)
        if len(self.items) < n:
            for row, reason in points_to_ask(self.beliefs, self.graph, self.coarse, self.unknown, n):
                self._place(row, reason)
        return self.items[:n]

    def picks(self, n: int, answers: Sequence[Answer]) -> list[Item]:
        """Up to n rows to pick a group for: occasionally one whose pick is not believed, and new points."""
        # Not at once, since the same person would say the same, and not more often than every fourth time.
        recent = answers[-4:]
        doubted = {answer.first for answer in answers if not answer.believed} - {answer.first for answer in recent}
        if not any(answer.reason == PLACE for answer in recent[1:]):
            self.items += [(row, None, PLACE) for row in self.placing.unplaced() if row in doubted][:1]
        new = points_to_ask(self.beliefs, self.graph, self.coarse, self.unknown, n)
        return [*self.items, *((row, None, reason) for row, reason in new)][:n]

    def _place(self, row: int, reason: str) -> None:
        step = self.placing.step(row)
        if step.groups:
            self._add(row, self.placing.partners(step.groups[0], row), reason)

    def _add(self, row: int, partners: list[int], reason: str) -> None:
        if row not in {item[0] for item in self.items}:
            self.items.append((row, self._one_of(partners), reason))

    def _one_of(self, rows: list[int]) -> int:
        """A random one of some rows."""
        return rows[int(np.random.default_rng([*self.seed, len(self.items)]).integers(len(rows)))]
