"""Branch and bound: if a relaxation's bound stays below the cut, split into two cases and bound both (Lemma 5)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from tightcut.certificates.ascent import Ascent
from tightcut.certificates.relaxation import Form
from tightcut.certificates.units import Problem
from tightcut.certificates.verify import Proof

SHARE = 0.5  # of the time left that one case may take


@dataclass(frozen=True, eq=False)
class Case:
    """Clusterings that agree with the assumptions of a problem, with a proven bound of their cuts."""

    problem: Problem
    form: Form
    bound: float
    proof: Proof


@dataclass(eq=False)
class Cases:
    """The cases that cover all clusterings; they outlive an interrupt."""

    leaves: list[Case] = field(default_factory=list)

    @property
    def bound(self) -> float:
        return min((leaf.bound for leaf in self.leaves), default=0.0)

    @property
    def proofs(self) -> list[Proof]:
        """About the graph as it was given; those of a larger bound than that of all say it."""
        found = []
        for leaf in self.leaves:
            own = {"bound": np.array(leaf.problem.given_cut(leaf.bound))} if leaf.bound > self.bound else {}
            found.append(leaf.problem.given_proof(leaf.proof) | own)
        return found

    def branch(self, ascent: Ascent) -> None:
        """Split the case with the smallest bound until the gap is closed, the time is up or a split does not raise it."""
        while time.monotonic() < ascent.deadline and self.bound < ascent.enough:
            weakest = min(self.leaves, key=lambda leaf: leaf.bound)
            pair = weakest.form.undecided()
            if pair is None:
                return
            halves = [self._half(weakest, ascent, pair, kind) for kind in (1, -1)]
            better = [half for half in halves if half is not None and half.bound > weakest.bound]
            if len(better) < 2:
                return
            self.leaves = [leaf for leaf in self.leaves if leaf is not weakest] + better
            ascent.report(ascent.problem.given_cut(self.bound))

    def _half(self, case: Case, ascent: Ascent, pair: tuple[int, int], kind: int) -> Case | None:
        now = time.monotonic()
        problem, deadline = case.problem.assuming(*pair, kind), now + SHARE * (ascent.deadline - now)
        return solved(replace(ascent, problem=problem, deadline=deadline, report=silent, best=None))


def silent(_bound: float) -> None:
    """Tell nobody: the bound of a case says nothing of the others."""


def solved(ascent: Ascent, form: Form | None = None) -> Case | None:
    """The case of the problem of an ascent, after its rounds; None if there was no time for one."""
    form = ascent.form() if form is None else form
    ascent.run(form)
    return proven(ascent, form)


def proven(ascent: Ascent, form: Form) -> Case | None:
    """The case with what the rounds have found so far."""
    if ascent.found is None:
        return None
    return Case(ascent.problem, form, *form.prove(ascent.found, ascent.problem.scaled_cut(ascent.standing.cut)))
