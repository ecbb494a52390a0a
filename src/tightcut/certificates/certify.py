"""`certify`: from a clustering to a certificate, in the time that is given."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tightcut.certificates.certificate import Certificate, fingerprint
from tightcut.certificates.p_form import PForm
from tightcut.certificates.relaxation import Candidate, Form
from tightcut.certificates.rounding import improvement
from tightcut.certificates.spectral import spectral_bound, spectral_estimate
from tightcut.certificates.units import Problem
from tightcut.certificates.z_form import ZForm
from tightcut.clustering.cluster import as_generator, check_number, check_points, read_labels
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut
from tightcut.utils.compiling import compiling_reported
from tightcut.utils.interruption import interruptible

MOST_UNITS = 12_000  # a proof is a Cholesky factorisation of a dense matrix, of 1.2 GB for this many
SPECTRAL_LIMIT = 2_000  # units up to which the spectral bound is proven even if the Z form will be better
CHECKING = 0.2  # the share of the time that goes into looking at how good the multipliers are
AIM = 0.1  # of the gap: where the relaxation is led to, so that rounding and repairs stay within the gap
STALLED, RISE = 5, 1e-4  # looks without such a rise of the bound, as a share of the cut, after which it is given up

Progress = Callable[[str, int, int, float], None]


def certify(
    graph: Graph,
    constraints: Constraints | None,
    labels: Any,
    n_clusters: int | None = None,
    *,
    seconds: float = 30,
    gap: float = 1e-3,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    most_units: int = MOST_UNITS,
) -> Certificate:
    """Prove a lower bound on the cut of all clusterings, and find a better clustering where there is one.

    Parameters
    ----------
    graph : Graph
    constraints : Constraints or None
        All of them hold in the clusterings that the bound is of, whatever their belief.
    labels : array-like of shape (n,)
        A clustering that respects the pairs, such as the labels of `cluster`.
    n_clusters : int, optional
        As many as the labels have.
    seconds : float, default=30
        After which no further round begins. The proof itself, a Cholesky factorisation, comes after that: about a second
        for 2,000 units, ten for 9,000. 0 proves the spectral bound and no more.
    gap : float, default=1e-3
        The share of the cut between bound and cut at which the work ends.
    random_state : int, Generator, RandomState or None
        An int makes the result the same on every run that ends before its time. What a time limit ends depends on how
        many rounds the machine does in it.
    n_jobs : int, optional
        Threads that look for violated inequalities. The result does not depend on it.
    progress : callable, optional
        Called with ("bounding", seconds so far, seconds, bound); the bound is an estimate until it is proven.
    most_units : int, default=12,000
        The largest proof that is tried, in units: sets of points that pairs tie together. Its matrix takes 8 bytes times
        the square of that.

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError
        If the labels violate pairs, or if there are too many units.

    Notes
    -----
    For two clusters and at least one cannot-link the bound is the Z form of the documentation, otherwise the P form.
    Ctrl-C ends the rounds and proves what they have found; a second one ends that, too.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Constraints, Graph, cluster
    >>> from tightcut.certificates import certify
    >>> ring = Graph.from_affinity(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    >>> pairs = Constraints.from_pairs(6, [(0, 1)], [(1, 2)])
    >>> print(certify(ring, pairs, cluster(ring, pairs, random_state=0).labels, random_state=0))
    cut 0.6667, the smallest to four digits; no two clusters that respect the pairs have a cut below 0.6666 (gap 1 %)
    """
    constraints = check_points(graph, constraints)
    check_number("seconds", seconds)
    check_number("gap", gap)
    labels = _respecting(labels, n_clusters, graph, constraints)
    problem = Problem.of(graph, constraints, int(labels.max()) + 1)
    start = _Standing(labels, normalized_cut(graph, labels))
    certificate = Certificate(
        labels=labels,
        cut=start.cut,
        bound=0.0,
        n_clusters=problem.n_clusters,
        form="none",
        fingerprint=fingerprint(graph, constraints),
        given_cut=start.cut,
        has_pairs=not constraints.is_empty,
    )
    if problem.n_clusters == 1 or start.cut == 0:
        return certificate
    rng = as_generator(random_state)
    with compiling_reported(progress), interruptible():
        _check_size(problem, most_units, rng)
        work = _Work(graph, constraints, problem, gap, time.monotonic() + seconds, seconds, rng, n_jobs, progress)
        return work.certificate(certificate)


@dataclass(frozen=True, eq=False)
class _Standing:
    """The best clustering so far."""

    labels: np.ndarray
    cut: float


@dataclass(eq=False)
class _Work:
    """One call of `certify`, after its arguments are checked."""

    graph: Graph
    constraints: Constraints
    problem: Problem
    gap: float
    deadline: float
    seconds: float
    rng: np.random.Generator
    n_jobs: int | None
    progress: Progress | None

    def certificate(self, empty: Certificate) -> Certificate:
        problem, standing, interrupted = self.problem, _Standing(empty.labels, empty.cut), False
        best = empty
        if not _is_signed(problem) or self.seconds == 0 or problem.linked.n_units <= SPECTRAL_LIMIT:
            best = self._proven(best, "spectral", *spectral_bound(problem, self.rng))
        form, candidate = None, None
        if self.seconds > 0 and best.gap > self.gap:
            form = self._form(standing)
            candidate, standing, interrupted = self._ascend(form, standing, best.bound)
        best = replace(best, labels=standing.labels, cut=standing.cut, interrupted=interrupted)
        if form is not None and candidate is not None and problem.given_cut(candidate.estimate) > best.bound:
            best = self._proven(
                best, "Z" if isinstance(form, ZForm) else "P", *form.prove(candidate, problem.scaled_cut(best.cut))
            )
        self._report(best.bound, done=True)
        return best

    def _form(self, standing: _Standing) -> Form:
        if _is_signed(self.problem):
            return ZForm(self.problem, standing.labels, self.rng, self.n_jobs)
        return PForm(self.problem, standing.labels, self.problem.scaled_cut(standing.cut), self.rng, self.n_jobs)

    def _ascend(self, form: Form, standing: _Standing, proven: float) -> tuple[Candidate | None, _Standing, bool]:
        """Rounds until the gap is closed, the time is up, nothing rises any more, or Ctrl-C."""
        best: Candidate | None = None
        began, looked, without_rise, tried = time.monotonic(), 0.0, 0, False
        try:
            with interruptible():
                while time.monotonic() < self.deadline:
                    target = self.problem.scaled_cut(standing.cut) * (1 - AIM * self.gap)
                    form.improve(target, self.deadline)
                    now = time.monotonic()
                    if looked > CHECKING * (now - began) and now < self.deadline:
                        continue
                    before = -math.inf if best is None else best.estimate
                    candidate = form.candidate(target)
                    looked += time.monotonic() - now
                    if candidate.estimate > before:
                        best = candidate
                    self._report(max(proven, self.problem.given_cut(candidate.estimate)))
                    if best is not None and best.estimate >= (target if self.gap == 0 else target * (1 - self.gap / 2)):
                        break
                    without_rise = 0 if candidate.estimate > before + RISE * target else without_rise + 1
                    if without_rise >= STALLED and tried:
                        break
                    if without_rise >= STALLED // 2 and not tried:
                        tried, better = True, self._improved(form, standing)
                        if better.cut < standing.cut:
                            standing, tried, without_rise = better, False, 0
                if not tried and (best is None or best.estimate < target * (1 - self.gap / 2)):
                    standing = self._improved(form, standing)
        except KeyboardInterrupt:
            return best, standing, True
        return best, standing, False

    def _improved(self, form: Form, standing: _Standing) -> _Standing:
        arguments = self.graph, self.constraints, self.problem.n_clusters, form.rounded(self.rng)
        found = improvement(*arguments, standing.cut, self.rng, self.n_jobs)
        return standing if found is None else _Standing(found.labels, found.cut)

    def _proven(self, certificate: Certificate, form: str, bound: float, proof: dict[str, np.ndarray]) -> Certificate:
        """The certificate with this bound, if it is better."""
        given = self.problem.given_cut(bound)
        if given <= certificate.bound:
            return certificate
        return replace(certificate, bound=given, form=form, proofs=[self.problem.given_proof(proof)])

    def _report(self, bound: float, *, done: bool = False) -> None:
        if self.progress is not None:
            total = max(math.ceil(self.seconds), 1)
            passed = total if done else min(int(self.seconds - (self.deadline - time.monotonic())), total - 1)
            self.progress("bounding", max(passed, 0), total, bound)


def _is_signed(problem: Problem) -> bool:
    """Whether the Z form applies: without a cannot-link a single cluster meets its inequality, whatever the bound."""
    return problem.n_clusters == 2 and len(problem.cannot_link) > 0


def _check_size(problem: Problem, most_units: int, rng: np.random.Generator) -> None:
    n_units = (problem.signed if _is_signed(problem) else problem.linked).n_units
    if n_units <= most_units:
        return
    estimate = problem.given_cut(spectral_estimate(problem, rng))
    raise ValueError(
        f"The pairs leave {n_units:,} units, and the proof of a bound factorises a dense matrix of {8e-9 * n_units**2:.1f} "
        f"GB; most_units={most_units:,} is the most that is tried. Eigenvalues without a proof suggest that no cut is below "
        f"{estimate:.4g}. Raise most_units if there is that much memory, or give more pairs, which leave fewer units."
    )


def _respecting(labels: Any, n_clusters: int | None, graph: Graph, constraints: Constraints) -> np.ndarray:
    """Labels 0, ..., k - 1 that satisfy every pair."""
    labels = read_labels(labels, graph)
    found = int(labels.max()) + 1
    if n_clusters is not None and n_clusters != found:
        raise ValueError(
            f"n_clusters is {n_clusters!r}, and the labels have {found:,} clusters; a bound is for one number."
        )
    violated = constraints.violations(labels)
    if violated.n_violations:
        kind, pairs = ("must", violated.must_link) if len(violated.must_link) else ("cannot", violated.cannot_link)
        raise ValueError(
            f"The labels violate {violated.n_violations:,} of the pairs, such as {pairs[0, 0]} {kind}-link {pairs[0, 1]}, "
            "and a bound is of clusterings that respect them all. Leave out the violated pairs, or cluster with "
            "max_violations=0."
        )
    return labels
