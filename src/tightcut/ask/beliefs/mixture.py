"""Beliefs about all points: the answers, and a weighted mixture of predictors (graphs and columns)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tightcut.ask.beliefs.evidence import AnswerEvidence, truth_of
from tightcut.ask.beliefs.feature_models import FittedPredictor
from tightcut.ask.beliefs.harmonic import Harmonic, part_priors
from tightcut.ask.beliefs.inference import DOUBT, boldness_of, merge, plausibility, share_of_errors, weigh
from tightcut.ask.beliefs.regroup import start_from_groups
from tightcut.ask.beliefs.setup import GraphModel, Setup

ROUNDS = 3  # in which beliefs, weights and the share of wrong answers are computed from each other
LEAST_WEIGHT = 0.03  # predictors with less weight are ignored


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed after some answers.

    Parameters
    ----------
    evidence : AnswerEvidence
    answered : ndarray of shape (m, k + 1)
        Belief of the answered points, the last column for "not known yet".
    foreseen : ndarray of shape (m, k + 1)
        What would be believed of each answered point without its own answers.
    doubt : float
        Estimated share of wrong answers.
    graphs : sequence of Harmonic
    predictors : sequence of FittedPredictor
        What is learned from the columns.
    weights : ndarray of shape (n_graphs + n_predictors,)
        The weight of each graph and then of each predictor; they add up to 1.
    views : sequence of GraphModel
        The graphs before any answer.
    """

    evidence: AnswerEvidence
    answered: np.ndarray
    foreseen: np.ndarray
    doubt: float
    graphs: Sequence[Harmonic]
    predictors: Sequence[FittedPredictor]
    weights: np.ndarray
    views: Sequence[GraphModel]

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
        return self._mixture([*self.graphs, *self.predictors])

    @property
    def _leading(self) -> int:
        return int(np.argmax(self.weights[: len(self.graphs)]))

    @property
    def view(self) -> GraphModel:
        """The graph with the largest weight."""
        return self.views[self._leading]

    @property
    def coarse(self) -> np.ndarray:
        """The plain cut of the graph with the largest weight."""
        return self.view.coarse

    def filled(self, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Beliefs about points that were not asked about, of shape (rows, k): what is not known is filled in by the plain cut.

        The share of "not known yet" goes to the groups of the answered points in the same part of the cut.
        """
        prior, _ = part_priors(self.coarse[self.evidence.points], self.answered, int(self.coarse.max()) + 1)
        shares = self.shares[rows]
        return shares[:, :-1] + shares[:, -1:] * prior[self.coarse[rows], :-1]

    def typical_members(self, rows: list[int], group: int, n: int) -> tuple[int, ...]:
        """Up to n of some answered rows of a group, those whose neighbours agree most first."""
        positions = [self.evidence.position[row] for row in rows]
        order = np.argsort(-self.foreseen[positions, group], kind="stable")
        return tuple(rows[i] for i in order[:n])

    @cached_property
    def mapped(self) -> np.ndarray:
        """Belief of every point, of shape (n, k + 1), by the graphs alone: they know where nobody was asked."""
        return self._mixture(self.graphs) if self.predictors else self.shares

    @cached_property
    def reach(self) -> np.ndarray:
        """Share of the points that follow each answered one, by the graph with the largest weight."""
        return self.graphs[self._leading].reach(self.answered)

    def _mixture(self, opinions: Sequence[Harmonic | FittedPredictor]) -> np.ndarray:
        """What the first opinions say of every point, the graphs before the predictors."""
        weights = self.weights[: len(opinions)]
        least = LEAST_WEIGHT * weights.sum()
        shares = np.sum(
            [w * o.shares(self.answered) for w, o in zip(weights, opinions, strict=True) if w > least], axis=0
        )
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
        shares[self.evidence.points] = self.answered
        return shares


def believe(setup: Setup, evidence: AnswerEvidence) -> Beliefs:
    """Weigh the answers against the neighbours and spread the outcome over the graph.

    Every opinion (each graph, and the columns) says of every answered point what it would have foreseen without that
    point's answers. The shares of the opinions are those under which the answers were likeliest.
    """
    graphs = [Harmonic(view.spreading, evidence.points) for view in setup.views]
    beliefs = _settle(graphs, evidence, setup)
    if not beliefs.erring:
        return beliefs
    # Answers contradict each other or the graph: an early error may have led all that followed astray.
    start = start_from_groups(evidence, graphs, beliefs.weights, beliefs.group)
    again = _settle(graphs, evidence, setup, start)
    return max(beliefs, again, key=lambda found: plausibility(found.evidence, found.answered, found.foreseen))


def _settle(graphs: list[Harmonic], evidence: AnswerEvidence, setup: Setup, start: np.ndarray | None = None) -> Beliefs:
    """Weigh answers and opinions against each other until they settle.

    Parameters
    ----------
    start : ndarray of shape (m, k + 1), optional
        Beliefs to begin with, if not what the answers alone say.
    """
    predictors: list[FittedPredictor] = []
    alone, doubt = weigh(evidence), DOUBT
    answered = alone if start is None else start
    for turn in range(ROUNDS):
        if turn == 1 and len(evidence.votes):
            evidence, answered = merge(evidence, answered)
            alone = weigh(evidence)
        if turn == 1 and setup.predictors is not None:
            predictors = setup.predictors.fit(evidence.points, answered)
        each = np.stack([*(graph.foresee(answered) for graph in graphs), *(one.foreseen for one in predictors)])
        weights = mixture_weights(each, answered)
        foreseen = np.tensordot(weights, each, 1)
        answered = weigh(evidence, foreseen, answered, doubt, boldness_of(alone, foreseen))
        doubt = share_of_errors(evidence, answered)
    return Beliefs(evidence, answered, foreseen, doubt, graphs, predictors, weights, setup.views)


def mixture_weights(each: np.ndarray, answered: np.ndarray) -> np.ndarray:
    """The mixture of opinions under which the answers, and one more in favour of all alike, were likeliest.

    The weights are found by expectation maximisation.

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
    >>> mixture_weights(np.array([0.9 * truth + 0.05, 0 * truth + 0.5]), truth).round(2).tolist()
    [0.95, 0.05]
    """
    alone = answered[:, :-1].sum(axis=0) < 1.5  # groups of one point, which nobody could have foreseen
    target = np.c_[np.where(alone, 0, answered[:, :-1]), answered[:, -1] + answered[:, :-1][:, alone].sum(axis=1)]
    # An opinion that does not know spreads its guess over all groups.
    guess = each[:, :, -1:] / each.shape[2] * (1 - target[:, -1:]) + target[:, -1:] * each[:, :, -1:]
    likelihood = (each[:, :, :-1] * target[:, :-1]).sum(axis=2) + guess[:, :, 0] + 1e-3
    weights = np.full(len(each), 1 / len(each))
    for _ in range(50):
        part = weights[:, None] * likelihood
        weights = (1 / len(each) + (part / part.sum(axis=0)).sum(axis=1)) / (1 + likelihood.shape[1])
    return weights


def top_two(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest and the second largest share in each row; 0 where there is no second.

    Examples
    --------
    >>> import numpy as np
    >>> [part.tolist() for part in top_two(np.array([[0.1, 0.7, 0.2], [0.5, 0.0, 0.5]]))]
    [[0.7, 0.5], [0.2, 0.5]]
    """
    if shares.shape[1] == 1:
        return shares[:, 0], np.zeros(len(shares))
    best = np.partition(shares, -2, axis=1)
    return best[:, -1], best[:, -2]
