"""`certify`: from a clustering to a certificate, within a time limit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tightcut.certificates.ascent import Ascent, Standing, is_signed
from tightcut.certificates.branching import Cases, proven
from tightcut.certificates.certificate import Certificate, allowance, fingerprint
from tightcut.certificates.spectral import spectral_bound, spectral_estimate
from tightcut.certificates.units import Problem
from tightcut.certificates.verify import Proof
from tightcut.clustering.arguments import as_generator, check_number, check_points, read_labels
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut
from tightcut.utils.compiling import compiling_reported
from tightcut.utils.interruption import interruptible

MOST_UNITS = 12_000  # a proof is a Cholesky factorisation of a dense matrix, of 1.2 GB for this many
SPECTRAL_LIMIT = 2_000  # units up to which the spectral bound is proven even if the Z form will be better

Progress = Callable[[str, int, int, float], None]


def certify(
    graph: Graph,
    constraints: Constraints | None,
    labels: Any,
    n_clusters: int | None = None,
    *,
    max_violations: float = 0,
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
    labels : array-like of shape (n,)
        A clustering that respects the pairs, such as the labels of `cluster`.
    n_clusters : int, optional
        As many as the labels have.
    max_violations : float, default=0
        As in `tightcut.cluster`: the bound is of all clusterings that violate at most so much belief. Two clusters are
        bounded with all pairs, more clusters only with those of a larger belief, none of which can be violated.
    seconds : float, default=30
        After which no further round begins. The proof itself, a Cholesky factorisation, comes after that: about a second
        for 2,000 units, ten for 9,000. 0 proves the spectral bound and no more; for two clusters with cannot-links it does
        so up to 2,000 units, where that bound is worth little anyway.
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
        If the labels violate more than is allowed, or if there are too many units.

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
    >>> certificate = certify(ring, pairs, cluster(ring, pairs, random_state=0).labels, random_state=0)
    >>> print(str(certificate).partition(" have")[0])
    cut 0.6667, the smallest to four digits; no two clusters that respect the pairs
    >>> 0.666 < certificate.bound <= certificate.cut
    True
    """
    constraints = check_points(graph, constraints)
    check_number("seconds", seconds)
    check_number("gap", gap)
    check_number("max_violations", max_violations)
    labels = _respecting(labels, n_clusters, graph, constraints, max_violations)
    problem = Problem.of(graph, constraints, int(labels.max()) + 1, allowance(max_violations))
    cut = normalized_cut(graph, labels)
    certificate = Certificate(
        labels=labels,
        cut=cut,
        bound=0.0,
        n_clusters=problem.n_clusters,
        form="none",
        fingerprint=fingerprint(graph, constraints, max_violations),
        given_cut=cut,
        max_violations=float(max_violations),
        has_pairs=not constraints.is_empty,
    )
    if problem.n_clusters == 1 or cut == 0:
        return certificate
    from threadpoolctl import threadpool_limits

    rng = as_generator(random_state)
    # BLAS in more threads would wait for each other in thousands of small products, and change the last digits.
    with compiling_reported(progress), interruptible(), threadpool_limits(1):
        _check_size(problem, most_units, rng)
        deadline, standing = time.monotonic() + seconds, Standing(labels, cut)
        report = _Report(progress, seconds, deadline, standing)
        ascent = Ascent(graph, constraints, problem, standing, gap, deadline, rng, n_jobs, report, max_violations)
        certificate = _certified(ascent, certificate, rounds=seconds > 0)
        report(certificate.bound, done=True)
    return replace(certificate, history=np.array(report.history))


@dataclass(frozen=True)
class _Report:
    """Remembers bounds, and tells `progress` of them."""

    progress: Progress | None
    seconds: float
    deadline: float
    standing: Standing
    history: list[tuple[float, float, float]] = field(default_factory=list)

    def __call__(self, bound: float, *, done: bool = False) -> None:
        passed = max(self.seconds - (self.deadline - time.monotonic()), 0.0)
        self.history.append((passed, bound, self.standing.cut))
        if self.progress is not None:
            total = max(math.ceil(self.seconds), 1)
            self.progress("bounding", total if done else min(int(passed), total - 1), total, bound)


def _certified(ascent: Ascent, certificate: Certificate, *, rounds: bool) -> Certificate:
    """The certificate with the spectral bound and, with `rounds`, that of the relaxation."""
    problem = ascent.problem
    if not is_signed(problem) or problem.linked.n_units <= SPECTRAL_LIMIT:
        certificate = _proven(problem, certificate, "spectral", *spectral_bound(problem, ascent.rng))
    if not rounds or certificate.gap <= ascent.gap:
        return certificate
    form, interrupted = ascent.form(), False
    try:
        with interruptible():
            ascent.report(certificate.bound)
            ascent.run(form)
    except KeyboardInterrupt:
        interrupted = True
    root, cases = proven(ascent, form), Cases()
    if root is not None:
        cases.leaves.append(root)
        interrupted = interrupted or _branched(cases, ascent)
    standing = ascent.standing
    certificate = replace(certificate, labels=standing.labels, cut=standing.cut, interrupted=interrupted)
    bound = problem.given_cut(cases.bound)
    if bound <= certificate.bound:
        return certificate
    return replace(certificate, bound=bound, form="Z" if is_signed(problem) else "P", proofs=cases.proofs)


def _branched(cases: Cases, ascent: Ascent) -> bool:
    """Branch for as long as that helps; whether that was interrupted."""
    try:
        with interruptible():
            cases.branch(ascent)
    except KeyboardInterrupt:
        return True
    return False


def _proven(problem: Problem, certificate: Certificate, form: str, bound: float, proof: Proof) -> Certificate:
    """The certificate with this bound, if it is better."""
    given = problem.given_cut(bound)
    if given <= certificate.bound:
        return certificate
    return replace(certificate, bound=given, form=form, proofs=[problem.given_proof(proof)])


def _check_size(problem: Problem, most_units: int, rng: np.random.Generator) -> None:
    n_units = (problem.signed if is_signed(problem) else problem.linked).n_units
    if n_units <= most_units:
        return
    estimate = problem.given_cut(spectral_estimate(problem, rng))
    raise ValueError(
        f"The pairs leave {n_units:,} units, and the proof of a bound factorises a dense matrix of {8e-9 * n_units**2:.1f} "
        f"GB; most_units={most_units:,} is the most that is tried. Eigenvalues without a proof suggest that no cut is below "
        f"{estimate:.4g}. Raise most_units if there is that much memory, or give more pairs, which leave fewer units."
    )


def _respecting(
    labels: Any, n_clusters: int | None, graph: Graph, constraints: Constraints, max_violations: float
) -> np.ndarray:
    """Labels 0, ..., k - 1 that violate at most what is allowed."""
    labels = read_labels(labels, graph)
    found = int(labels.max()) + 1
    if n_clusters is not None and n_clusters != found:
        raise ValueError(
            f"n_clusters is {n_clusters!r}, and the labels have {found:,} clusters; a bound is for one number."
        )
    violated = constraints.violations(labels)
    if violated.n_violations and violated.belief > allowance(max_violations):
        kind, pairs = ("must", violated.must_link) if len(violated.must_link) else ("cannot", violated.cannot_link)
        raise ValueError(
            f"The labels violate {violated.n_violations:,} of the pairs, such as {pairs[0, 0]} {kind}-link {pairs[0, 1]}, "
            f"with a belief of {violated.belief:g}, and max_violations is {max_violations:g}. Raise it, leave out the "
            "violated pairs, or cluster with max_violations=0."
        )
    return labels
