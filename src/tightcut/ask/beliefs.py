r"""Beliefs of all points: harmonic over the graph between the answered points, drawn to what is known of their part.

The beliefs U (one column for each group, the last one for "not known yet") solve

.. math:: (1 + \epsilon) D u - W u = \epsilon D \, \mathrm{prior}

at the free points and equal the given beliefs B at the answered points S, where D holds the degrees and the prior of a point
is what the answers in its part say. With :math:`A = (1 + \epsilon) D - W` fixed, everything is a combination of columns of
its inverse G: those that belong to the parts, computed once, and one column for each answered point. So

.. math:: U = P c + G_S \alpha, \qquad \alpha = G_{SS}^{-1} (B - (P c)_S),

a dense product whose result does not depend on the order of the answers, and leaving out one point has a closed form:
its neighbours would have said :math:`B_i - \alpha_i / (G_{SS}^{-1})_{ii}`. A column costs a few dozen passes over the edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

import numpy as np
import scipy.sparse as sp

from tightcut.ask.columns import Lesson, Teacher
from tightcut.ask.evidence import DOUBT, Evidence, boldness_of, merge, plausibility, share_of_errors, truth_of, weigh

DRAW = 0.03  # epsilon: how strongly a point is drawn to its part
UNKNOWN = 0.3  # answers that say "not known yet" in every part
TOLERANCE = 1e-5
ROUNDS = 3
PATIENCE = 1.0  # answers that speak for all opinions alike
LEAST_SAY = 0.03  # an opinion with less is not heard


class Spreading:
    """Solves for harmonic beliefs; keeps the columns of the inverse that it has computed.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
    parts : int ndarray of shape (n,)
        The part of each point, 0, ..., f - 1.
    draw : float
        How strongly a point is drawn to its part.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0.0]]))
    >>> spreading = Spreading(path, np.zeros(3, int), draw=0.5)
    >>> spreading.column(0).astype(float).round(3).tolist()
    [0.933, 0.4, 0.267]
    """

    def __init__(self, weights: sp.csr_array, parts: np.ndarray, draw: float = DRAW) -> None:
        self.weights, self.parts, self.draw = weights, parts, draw
        degrees = np.asarray(weights.sum(axis=1)).ravel()
        smallest = degrees[degrees > 0].min(initial=np.inf)
        self.degrees = np.where(degrees > 0, degrees, smallest if np.isfinite(smallest) else 1.0)
        self.diagonal = self.degrees * (1 + draw)
        self._place: dict[int, int] = {}
        self._columns = np.empty((len(parts), 0), np.float32, order="F")
        self._lock = Lock()
        indicator = np.zeros((len(parts), int(parts.max()) + 1))
        indicator[np.arange(len(parts)), parts] = draw * self.degrees
        self.part_columns = self.solve(indicator).astype(np.float32)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Conjugate gradients for all columns at once."""
        diagonal = self.diagonal if right.ndim == 1 else self.diagonal[:, None]
        x = right / diagonal
        residual = right - (diagonal * x - self.weights @ x)
        z = residual / diagonal
        p, rz = z, (residual * z).sum(axis=0)
        limit = TOLERANCE * np.abs(x).max()
        while np.abs(z).max() > limit:
            Ap = diagonal * p - self.weights @ p
            step = rz / np.maximum((p * Ap).sum(axis=0), 1e-300)
            x = x + step * p
            residual = residual - step * Ap
            z = residual / diagonal
            rz, old = (residual * z).sum(axis=0), rz
            p = z + rz / np.maximum(old, 1e-300) * p
        return x

    def column(self, row: int) -> np.ndarray:
        """The column of the inverse that belongs to a row. Several threads may ask for columns."""
        with self._lock:
            if row not in self._place:
                unit = np.zeros(len(self.parts))
                unit[row] = 1.0
                self._keep(row, self.solve(unit))
            return self._columns[:, self._place[row]]

    def prepare(self, rows: list[int]) -> None:
        """Compute the columns of some rows in advance."""
        for row in rows:
            self.column(row)

    def columns(self, rows: np.ndarray) -> np.ndarray:
        """The columns of several rows; no copy if they were first asked for in this order."""
        for row in rows.tolist():
            self.column(row)
        places = [self._place[row] for row in rows.tolist()]
        if places == list(range(len(places))):
            return self._columns[:, : len(places)]
        return self._columns[:, places]

    def _keep(self, row: int, column: np.ndarray) -> None:
        n, capacity = self._columns.shape
        if len(self._place) == capacity:
            wider = np.empty((n, max(16, capacity * 3 // 2)), np.float32, order="F")
            wider[:, :capacity] = self._columns
            self._columns = wider
        self._columns[:, len(self._place)] = column
        self._place[row] = len(self._place)


class Harmonic:
    """The opinion of one graph: beliefs that are harmonic between the answered points.

    Parameters
    ----------
    spreading : Spreading
    points : int ndarray of shape (m,)
        The answered points.
    """

    def __init__(self, spreading: Spreading, points: np.ndarray) -> None:
        self.spreading, self.points = spreading, points
        self.columns = spreading.columns(points)
        inner = self.columns[points].astype(np.float64)
        self.inverse = np.linalg.inv((inner + inner.T) / 2)
        self.parts = spreading.part_columns[points]
        self.part = spreading.parts[points]

    def foresee(self, answered: np.ndarray) -> np.ndarray:
        """What would be believed of each answered point without its own answers."""
        prior, moved = _part_priors(self.part, answered, self.parts.shape[1])
        alpha = self.inverse @ (answered - self.parts @ prior)
        own = self.parts[np.arange(len(self.points)), self.part][:, None]
        foreseen = np.clip(answered - alpha / self.inverse.diagonal()[:, None] - own * moved, 1e-6, 1)
        return foreseen / foreseen.sum(axis=1, keepdims=True)

    def reach(self, answered: np.ndarray) -> np.ndarray:
        """Share of the volume that follows each answered point, on its way over the edges or through its part."""
        degrees = self.spreading.degrees
        own = (degrees @ self.columns) @ self.inverse
        weight = answered[:, :-1].sum(axis=1)
        held = np.bincount(self.part, weight, self.parts.shape[1])[self.part]
        through = (degrees @ self.spreading.part_columns)[self.part] * weight / (held + UNKNOWN)
        return (np.maximum(own, 0) + through) / degrees.sum()

    def shares(self, answered: np.ndarray) -> np.ndarray:
        """The belief of every point."""
        prior, _ = _part_priors(self.part, answered, self.parts.shape[1])
        alpha = self.inverse @ (answered - self.parts @ prior)
        shares = self.spreading.part_columns @ prior.astype(np.float32) + self.columns @ alpha.astype(np.float32)
        return np.clip(shares, 0, 1)


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
    """

    evidence: Evidence
    answered: np.ndarray
    foreseen: np.ndarray
    doubt: float
    opinions: Sequence[Harmonic | Lesson]
    say: np.ndarray

    @property
    def group(self) -> np.ndarray:
        """The group of each answered point; n_groups where it is not known."""
        return self.answered.argmax(axis=1)

    @cached_property
    def shares(self) -> np.ndarray:
        """Belief of every point, of shape (n, k + 1), in which all opinions have their say."""
        return self._mixture(self.opinions)

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

    def _mixture(self, opinions: Sequence[Harmonic | Lesson]) -> np.ndarray:
        say = dict(zip(self.opinions, self.say, strict=True))
        least = LEAST_SAY * sum(say[opinion] for opinion in opinions)
        shares = np.sum([say[o] * o.shares(self.answered) for o in opinions if say[o] > least], axis=0)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
        shares[self.evidence.points] = self.answered
        return shares


def believe(spreadings: Sequence[Spreading], evidence: Evidence, teacher: Teacher | None = None) -> Beliefs:
    """Weigh the answers against the neighbours and spread the outcome over the graph.

    Every opinion (each graph, and the columns) says of every answered point what it would have foreseen without that
    point's answers. The shares of the opinions are those under which the answers were likeliest.
    """
    graphs = [Harmonic(spreading, evidence.points) for spreading in spreadings]
    beliefs = _settle(graphs, evidence, teacher, in_order=True)
    if (truth_of(evidence, beliefs.answered) > 0.5).all():
        return beliefs
    # Answers contradict each other or the graph: an early error may have led all that followed astray.
    other = _settle(graphs, evidence, teacher, in_order=False)
    return max(beliefs, other, key=lambda b: plausibility(b.evidence, b.answered, b.foreseen))


def _settle(graphs: list[Harmonic], evidence: Evidence, teacher: Teacher | None, *, in_order: bool) -> Beliefs:
    """Weigh answers and opinions against each other until they settle."""
    opinions: list[Harmonic | Lesson] = list(graphs)
    alone = answered = weigh(evidence, in_order=in_order)
    doubt = DOUBT
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
    return Beliefs(evidence, answered, foreseen, doubt, opinions, say)


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


def _part_priors(part: np.ndarray, answered: np.ndarray, n_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """What is known of each part, and by how much each answered point has moved its own part."""
    count = np.zeros((n_parts, answered.shape[1]))
    np.add.at(count, part, answered)
    count[:, -1] += UNKNOWN
    prior = count / count.sum(axis=1, keepdims=True)
    without = count[part] - answered
    without /= without.sum(axis=1, keepdims=True)
    return prior, prior[part] - without
