"""Beliefs about all points: the answers, and a weighted mixture of predictors (graphs, their plain cuts, and columns)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from tightcut.ask.calibration import likeliest_power, sharpened
from tightcut.ask.columns import Lesson, Teacher
from tightcut.ask.evidence import Evidence, truth_of
from tightcut.ask.grouping import start_from_groups
from tightcut.ask.landscape import Landscape
from tightcut.ask.regions import Regions
from tightcut.ask.spreading import Harmonic
from tightcut.ask.weighing import DOUBT, boldness_of, heard, merge, plausibility, share_of_errors, weigh

ROUNDS = 3
PATIENCE = 1.0  # pseudo-answers in favour of all predictors alike
LEAST_SAY = 0.03  # predictors with less weight are ignored


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed after some answers.

    Parameters
    ----------
    evidence : Evidence
    answered : ndarray of shape (m, k + 1)
        Belief of the answered points, the last column for "not known yet".
    foreseen : ndarray of shape (m, k + 1)
        What would be believed of each answered point without its own answers.
    doubt : float
        Estimated share of wrong answers.
    opinions : list of Harmonic or Lesson
        The graphs, then the columns.
    say : ndarray of shape (n_opinions,)
        The share of each opinion.
    regions : list of Regions
        The plain cut of each graph.
    """

    evidence: Evidence
    answered: np.ndarray
    foreseen: np.ndarray
    doubt: float
    opinions: Sequence[Harmonic | Lesson]
    say: np.ndarray
    regions: Sequence[Regions]

    @property
    def group(self) -> np.ndarray:
        """The group of each answered point; n_groups where it is not known."""
        return self.answered.argmax(axis=1)

    @cached_property
    def erring(self) -> bool:
        """Whether an answer was found to be wrong."""
        return bool((truth_of(self.evidence, self.answered) < 0.5).any())

    @cached_property
    def shares(self) -> np.ndarray:
        """Beliefs about every point, of shape (n, k + 1), by the mixture of graphs and columns."""
        return self._mixture(self.opinions)

    @cached_property
    def calibrated(self) -> np.ndarray:
        """Probabilities of every point's groups, of shape (n, k + 1): what labels are made of."""
        shares = self.calibrated_at(np.arange(len(self.shares)))
        shares[self.evidence.points] = self.answered
        return shares

    def calibrated_at(self, rows: np.ndarray) -> np.ndarray:
        """Probabilities of the groups of some points that were not asked about.

        Beside graphs and columns the plain cuts have a say, so that labels become no worse when the graph begins to know
        something of a region whose part was right. Each predictor is first made as sure as its forecasts deserve.
        """
        shares = np.zeros((len(rows), self.answered.shape[1]))
        for predictor, power, weight in self._calibration:
            if weight > LEAST_SAY:
                shares += weight * sharpened(heard(self._said(predictor)[rows]), power)
        return shares / shares.sum(axis=1, keepdims=True)

    @cached_property
    def _calibration(self) -> list[tuple[Harmonic | Lesson | Regions, float, float]]:
        """The predictors, each with its power and its share."""
        predictors = [*self.opinions, *self.regions]
        foreseen = [heard(predictor.foresee(self.answered)) for predictor in predictors]
        powers = [likeliest_power(said, self.answered) for said in foreseen]
        each = np.stack([sharpened(said, power) for said, power in zip(foreseen, powers, strict=True)])
        return list(zip(predictors, powers, share_of_say(each, self.answered).tolist(), strict=True))

    @cached_property
    def mapped(self) -> np.ndarray:
        """Belief of every point, of shape (n, k + 1), by the graphs alone: they know where nobody was asked."""
        graphs = [opinion for opinion in self.opinions if isinstance(opinion, Harmonic)]
        return self.shares if len(graphs) == len(self.opinions) else self._mixture(graphs)

    @cached_property
    def reach(self) -> np.ndarray:
        """Share of the volume that follows each answered point, by the graph with the largest say."""
        graphs = [o for o in self.opinions if isinstance(o, Harmonic)]
        return graphs[int(np.argmax(self.say[: len(graphs)]))].reach(self.answered)

    def _said(self, opinion: Harmonic | Lesson | Regions) -> np.ndarray:
        """What an opinion says of every point, computed once."""
        kept: dict[object, np.ndarray] = self.__dict__.setdefault("_kept", {})
        if opinion not in kept:
            kept[opinion] = opinion.shares(self.answered)
        return kept[opinion]

    def _mixture(self, opinions: Sequence[Harmonic | Lesson]) -> np.ndarray:
        say = dict(zip(self.opinions, self.say, strict=True))
        least = LEAST_SAY * sum(say[opinion] for opinion in opinions)
        shares = np.sum([say[o] * self._said(o) for o in opinions if say[o] > least], axis=0)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
        shares[self.evidence.points] = self.answered
        return shares


def believe(landscape: Landscape, evidence: Evidence) -> Beliefs:
    """Weigh the answers against the neighbours and spread the outcome over the graph.

    Every opinion (each graph, and the columns) says of every answered point what it would have foreseen without that
    point's answers. The shares of the opinions are those under which the answers were likeliest.
    """
    graphs = [Harmonic(spreading, evidence.points) for spreading in landscape.spreadings]
    regions = [Regions(cut, evidence.points) for cut in landscape.cuts]
    settle = partial(_settle, graphs, regions, evidence, landscape.teacher)
    beliefs = settle()
    if not beliefs.erring:
        return beliefs
    # Answers contradict each other or the graph: an early error may have led all that followed astray.
    beliefs = max(beliefs, settle(in_order=False), key=_plausibility)
    start = start_from_groups(evidence, graphs, beliefs.say, beliefs.group)
    return max(beliefs, settle(start=start), key=_plausibility)


def _plausibility(beliefs: Beliefs) -> float:
    return plausibility(beliefs.evidence, beliefs.answered, beliefs.foreseen)


def _settle(
    graphs: list[Harmonic],
    regions: list[Regions],
    evidence: Evidence,
    teacher: Teacher | None,
    *,
    in_order: bool = True,
    start: np.ndarray | None = None,
) -> Beliefs:
    """Weigh answers and opinions against each other until they settle.

    Parameters
    ----------
    in_order : bool
        Whether the answers are first read in their order, or all at once.
    start : ndarray of shape (m, k + 1), optional
        Beliefs to begin with, if not what the answers alone say.
    """
    opinions: list[Harmonic | Lesson] = list(graphs)
    alone, doubt = weigh(evidence, in_order=in_order), DOUBT
    answered = alone if start is None else start
    for turn in range(ROUNDS):
        if turn == 1 and len(evidence.votes):
            evidence, answered = merge(evidence, answered)
            alone = weigh(evidence, in_order=in_order)
        if turn == 1 and teacher is not None and (lesson := teacher.teach(evidence.points, answered)) is not None:
            opinions.append(lesson)
        each = np.stack([opinion.foresee(answered) for opinion in opinions])
        say = share_of_say(each, answered)
        foreseen = np.tensordot(say, each, 1)
        answered = weigh(evidence, foreseen, answered, doubt, boldness_of(alone, foreseen))
        doubt = share_of_errors(evidence, answered)
    return Beliefs(evidence, answered, foreseen, doubt, opinions, say, regions)


def share_of_say(each: np.ndarray, answered: np.ndarray) -> np.ndarray:
    """The mixture of opinions under which the answers were likeliest (expectation maximisation).

    Parameters
    ----------
    each : ndarray of shape (e, m, k + 1)
        What each opinion had foreseen.
    answered : ndarray of shape (m, k + 1)
        What the answers say.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.tile([1.0, 0.0], (40, 1))
    >>> share_of_say(np.array([0.9 * truth + 0.05, 0 * truth + 0.5]), truth).round(2).tolist()
    [0.95, 0.05]
    """
    alone = answered[:, :-1].sum(axis=0) < 1.5  # groups of one point, which nobody could have foreseen
    target = np.c_[np.where(alone, 0, answered[:, :-1]), answered[:, -1] + answered[:, :-1][:, alone].sum(axis=1)]
    # An opinion that does not know spreads its guess over all groups.
    guess = each[:, :, -1:] / each.shape[2] * (1 - target[:, -1:]) + target[:, -1:] * each[:, :, -1:]
    likelihood = (each[:, :, :-1] * target[:, :-1]).sum(axis=2) + guess[:, :, 0] + 1e-3
    say = np.full(len(each), 1 / len(each))
    for _ in range(50):
        part = say[:, None] * likelihood
        say = (PATIENCE / len(each) + (part / part.sum(axis=0)).sum(axis=1)) / (PATIENCE + likelihood.shape[1])
    return say
