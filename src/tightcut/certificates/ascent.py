"""Raise a bound: rounds of a relaxation, proofs of what they have reached, and searches from their solutions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tightcut.certificates.p_form import PForm
from tightcut.certificates.relaxation import Candidate, Form
from tightcut.certificates.rounding import improvement
from tightcut.certificates.units import Problem
from tightcut.certificates.z_form import ZForm
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.utils.codes import renumber

AIM = 0.1  # of the gap: where the relaxation is led to, so that repairs and rounding stay within the gap
ENOUGH = 0.5  # of the gap: an estimate above it ends the rounds
LOOKS = 4  # a look after every round at first, later after a fourth more rounds than there have been
STALLED = 5  # looks without a rise after which the bound is given up
RISE = 1e-4  # what counts as one, as a share of the target
SLOW_RISE, FEW_UNITS = (
    0.03,
    400,
)  # the same of what is missing, where the P form of few units can be branched on instead
HALF_STALLED = 2  # after which a better clustering is looked for


@dataclass(eq=False)
class Standing:
    """The best clustering so far."""

    labels: np.ndarray
    cut: float


@dataclass(eq=False)
class Ascent:
    """Rounds until the gap is closed, the time is up or nothing rises any more; `best` outlives an interrupt."""

    graph: Graph
    constraints: Constraints
    problem: Problem
    standing: Standing
    gap: float
    deadline: float
    rng: np.random.Generator
    n_jobs: int | None
    report: Callable[[float], None]
    max_violations: float = 0.0
    best: Candidate | None = None
    _earlier: Candidate | None = field(default=None, init=False)
    _without_rise: int = field(default=0, init=False)
    _searched: bool = field(default=False, init=False)

    @property
    def target(self) -> float:
        return self.problem.scaled_cut(self.standing.cut) * (1 - AIM * self.gap)

    @property
    def enough(self) -> float:
        """The bound at which the gap is closed."""
        return self.problem.scaled_cut(self.standing.cut) * (1 - self.gap)

    @property
    def found(self) -> Candidate | None:
        """What to prove: multipliers of a worse clustering's cut, if there are none yet for the best one's."""
        return self._earlier if self.best is None else self.best

    def form(self) -> Form:
        if is_signed(self.problem):
            return ZForm(self.problem, self.standing.labels, self.rng, self.n_jobs)
        cut = self.problem.scaled_cut(self.standing.cut)
        return PForm(self.problem, self.standing.labels, cut, self.rng, self.n_jobs)

    def run(self, form: Form) -> None:
        rounds, next_look = 0, 0
        while time.monotonic() < self.deadline:
            form.improve(self.target, self.deadline)
            if rounds >= next_look or time.monotonic() >= self.deadline:
                next_look = rounds + 1 + rounds // LOOKS
                if self._look(form):
                    return
            rounds += 1
        if not self._searched:
            self._search(form)

    def _look(self, form: Form) -> bool:
        """Whether that is the end."""
        candidate = form.candidate(self.target)
        before = 0.0 if self.best is None else self.best.estimate
        branches = not is_signed(self.problem) and self.problem.linked.n_units <= FEW_UNITS
        least = max(RISE * self.target, SLOW_RISE * (self.target - before) if branches else 0.0)
        rises = candidate.estimate > before + least
        if self.best is None or candidate.estimate > self.best.estimate:
            self.best = candidate
        self.report(self.problem.given_cut(self.best.estimate))
        if self.best.estimate >= self.target * (1 - ENOUGH * self.gap):
            return True
        self._without_rise = 0 if rises else self._without_rise + 1
        if self._without_rise >= HALF_STALLED and not self._searched:
            self._search(form)
        return self._without_rise >= STALLED

    def _search(self, form: Form) -> None:
        """For a better clustering. An estimate under the cut of a worse one says little: it begins anew."""
        self._searched = True
        arguments = self.graph, self.constraints, self.problem.n_clusters, form.rounded(self.rng)
        found = improvement(*arguments, self.standing.cut, self.rng, self.n_jobs, self.max_violations)
        if found is not None:
            # A cluster unlike all those of the start has a number of its own.
            self.standing.labels, self.standing.cut = renumber(found.labels), found.cut
            self._earlier, self.best = self.found, None
            self._without_rise, self._searched = 0, False


def is_signed(problem: Problem) -> bool:
    """Whether the Z form applies: where a single cluster is allowed, it meets the inequality, whatever the bound."""
    return problem.n_clusters == 2 and problem.keeps_apart
