"""The smallest cut that starts from the beliefs and satisfies the answers, and a test of when to use it.

On a good graph that cut is more often right than the beliefs; on a poor one it satisfies an answer by moving a single point.
So both make forecasts after certain numbers of answers, and the points asked about later show which was right more often.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tightcut.ask.beliefs.evidence import gather
from tightcut.ask.beliefs.harmonic import Spreading
from tightcut.ask.beliefs.labels import unknown_points
from tightcut.ask.beliefs.mixture import Beliefs, believe
from tightcut.ask.beliefs.setup import Landscape
from tightcut.ask.questions.choose import is_exploring
from tightcut.ask.records import Answer

SMALL = 0.25  # of the mean size: groups below it are not cut
FIRST, GROWTH = 60, 1.25  # forecasts are made after 60 answers, and each time there are a quarter more


def cut_from(beliefs: Beliefs, spreading: Spreading) -> np.ndarray | None:
    """The cut into the known groups; None while fewer than two are large.

    Answered points keep their groups, so that every believed answer is satisfied. Small groups keep the points that are
    believed to be theirs: as a cluster of its own, a group of a few points, perhaps founded by a wrong answer, would grow at
    the cost of a class, since normalized cuts avoid small clusters.
    """
    from tightcut import Constraints, Graph
    from tightcut.search.partition import refine_labels

    k, points = beliefs.evidence.n_groups, beliefs.evidence.points
    known = beliefs.group < k
    filled = beliefs.filled()
    believed = filled.argmax(axis=1)
    believed[points[known]] = beliefs.group[known]
    size = np.bincount(believed, minlength=k)
    large = np.flatnonzero(size > SMALL * len(believed) / np.count_nonzero(size))
    asked = np.intersect1d(large, beliefs.group[known])
    if len(asked) < max(2, len(large)):
        return None
    inside = np.isin(believed, large)
    start = np.where(inside, np.searchsorted(large, believed), filled[:, large].argmax(axis=1))
    fixed = np.full(len(start), -1)
    kept = points[known & inside[points]]
    fixed[kept] = start[kept]
    graph = Graph(spreading.weights, spreading.degrees)
    found = refine_labels(graph, Constraints.from_labels(fixed), start, np.random.default_rng(0))
    labels = np.where(inside, large[found], believed)
    aside = points[~known]
    labels[aside] = k + np.arange(len(aside))
    return labels


@dataclass(frozen=True, eq=False)
class Forecast:
    """What beliefs and cut expected after some answers.

    Parameters
    ----------
    answers : list of Answer
    points : set of int
        The rows that were asked about until then.
    believed, cut : int ndarray of shape (n,)
    """

    answers: list[Answer]
    points: set[int]
    believed: np.ndarray
    cut: np.ndarray | None


class ForecastComparison:
    """Keeps forecasts of the beliefs and of the cut, and counts which of the two was right.

    Parameters
    ----------
    anchor : int
        The first point of group 0.
    landscape : Landscape
    """

    def __init__(self, anchor: int, landscape: Landscape) -> None:
        self.anchor, self.landscape = anchor, landscape
        self._forecasts: dict[int, Forecast] = {}

    def cut_leads(self, answers: list[Answer], beliefs: Beliefs) -> bool:
        """Whether the cut was right about clearly more of the points that were asked about after a forecast."""
        wins = losses = 0
        group = dict(zip(beliefs.evidence.points.tolist(), beliefs.group.tolist(), strict=True))
        home = beliefs.evidence.home
        for number, until in rounds(len(answers)):
            forecast = self._forecast(number, answers)
            if forecast.cut is None:
                continue
            for row in {answer.first for answer in answers[number:until]} - forecast.points:
                expected = [int(home[g]) if g < len(home) else -1 for g in (forecast.believed[row], forecast.cut[row])]
                right = [g == group[row] for g in expected]
                wins += right[1] and not right[0]
                losses += right[0] and not right[1]
        return wins > losses + np.sqrt(wins + losses)

    def _forecast(self, number: int, answers: list[Answer]) -> Forecast:
        before = answers[:number]
        known = self._forecasts.get(number)
        if known is None or known.answers != before:
            beliefs = believe(self.landscape, gather(before, self.anchor))
            spreading = self.landscape.views[beliefs.leading].spreading
            unknown = unknown_points(beliefs, beliefs.coarse)
            cut = None if is_exploring(unknown) else cut_from(beliefs, spreading)
            believed = beliefs.filled().argmax(axis=1)
            known = Forecast(before, set(beliefs.evidence.points.tolist()), believed, cut)
            self._forecasts[number] = known
        return known


def rounds(n_answers: int) -> list[tuple[int, int]]:
    """The numbers of answers after which there is a forecast, each with the number until which it counts.

    Examples
    --------
    >>> rounds(100)
    [(60, 75), (75, 93), (93, 100)]
    """
    marks = [FIRST]
    while marks[-1] < n_answers:
        marks.append(int(marks[-1] * GROWTH))
    return [(a, min(b, n_answers)) for a, b in pairwise(marks) if a < n_answers]
