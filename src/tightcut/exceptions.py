"""Errors and warnings. Every error derives from `TightcutError`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tightcut.utils.contradictions import Link, explain, kind_of_witness
from tightcut.utils.display import count_noun


class TightcutError(Exception):
    """Base class of every error that tightcut defines; each also derives from the closest built-in error.

    Invalid parameters raise a plain ValueError or TypeError.

    Examples
    --------
    >>> import tightcut
    >>> try:
    ...     tightcut.Constraints.from_pairs(2, [(0, 1)], [(0, 1)]).closure()
    ... except tightcut.TightcutError as error:
    ...     print(type(error).__name__)
    InconsistentConstraintsError
    """


class MissingPackageError(TightcutError, ImportError):
    """An optional package is not installed; the message says how to install it."""


class InconsistentConstraintsError(TightcutError, ValueError):
    """No clustering satisfies every constraint.

    Parameters
    ----------
    witness : iterable of (kind, i, j)
        The contradiction as a closed walk i, j, ..., i over the caller's own points; kind is "must" or "cannot". A walk
        with one cannot-link contradicts any number of clusters, one with three, five, ... contradicts two clusters.
    message : str, optional
        Replaces the message that is otherwise composed from the other arguments.
    proven : bool, default=True
        Whether it is certain that no clustering satisfies the constraints; False if a search gave up. Not every proof
        has a witness: an exhaustive search, a bound of the solver, and must-links that join too many points have no
        short one.
    best_labels : ndarray, optional
        The labels with the fewest violations that the search found.
    n_clusters : int, optional
        The number of clusters that was asked for.
    reason : str, optional
        "contradiction" (must-links against a cannot-link), "odd cycle", "clique" (more points that must all be apart
        than clusters), "empty cluster" (must-links leave too few sets of points), "exhausted" (an exhaustive search
        found nothing), "not found" (a search gave up), or "limit" (the best attempt violates more than is allowed).
        By default one of the first three, according to the witness.
    needed : float, optional
        The belief that the best attempt violates.
    limit : float, optional
        The belief that may be violated.
    bound : float, default=0
        A lower bound on the belief that any clustering violates.
    n_sets : int, optional
        How many sets of points the must-links leave.

    Examples
    --------
    >>> from tightcut import InconsistentConstraintsError
    >>> error = InconsistentConstraintsError([("must", 3, 7), ("must", 7, 9), ("cannot", 9, 3)])
    >>> print(error)
    The constraints contradict each other, whatever the number of clusters: 3 must-link 7, 7 must-link 9, but 3 \
cannot-link 9. Correct or remove one of these pairs, or pass max_violations="fewest" to violate as little as possible.
    """

    def __init__(
        self,
        witness: Iterable[Link] = (),
        message: str | None = None,
        proven: bool = True,
        best_labels: Any = None,
        n_clusters: int | None = None,
        reason: str | None = None,
        needed: float | None = None,
        limit: float | None = None,
        bound: float = 0.0,
        n_sets: int | None = None,
    ) -> None:
        self.witness = [(str(kind), int(i), int(j)) for kind, i, j in witness]
        self.proven = proven
        self.best_labels = best_labels
        self.n_clusters = n_clusters
        self.reason = reason or (kind_of_witness(self.witness) if proven else None)
        self.needed, self.limit, self.bound, self.n_sets = needed, limit, bound, n_sets
        self.message = message
        super().__init__(explain(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # The inherited version would hand the message back as the witness.
        return type(self), (self.witness, str(self), self.proven, self.best_labels), self.__dict__


class DisconnectedGraphWarning(UserWarning):
    """A nearest-neighbour graph had `n_components` connected components, which `n_bridges` added edges now join."""

    def __init__(self, n_components: int, n_bridges: int) -> None:
        self.n_components, self.n_bridges = n_components, n_bridges
        super().__init__(n_components, n_bridges)

    def __str__(self) -> str:
        left = self.n_components - self.n_bridges
        rest = f" No known distance joins the remaining {left}." if left > 1 else ""
        edges = "the shortest edge" if self.n_bridges == 1 else "the shortest edges"
        return (
            f"The nearest-neighbour graph has {self.n_components} connected components; joined them by "
            f"{count_noun(self.n_bridges, 'bridge')}, {edges} between them.{rest} "
            "Raise n_neighbors for a denser graph, or keep the components apart with connect=False (for COSC: "
            "affinity=KnnAffinity(connect=False))."
        )


class LopsidedClustersWarning(UserWarning):
    """Cluster `cluster` has only `size` of `n_points` points, far fewer than the `largest`, and is well connected to others.

    Silence it with ``warnings.simplefilter("ignore", LopsidedClustersWarning)`` where such clusters are expected.
    """

    advice = (
        'Try another number of clusters, criterion="rcut" with a larger n_neighbors, or give a few pairs that you know.'
    )

    def __init__(self, cluster: int, size: int, largest: int, n_points: int, leaving: float) -> None:
        self.cluster, self.size, self.largest, self.n_points, self.leaving = cluster, size, largest, n_points, leaving
        super().__init__(cluster, size, largest, n_points, leaving)

    @property
    def finding(self) -> str:
        return (
            f"Cluster {self.cluster} has {self.size:,} of {self.n_points:,} points, the largest cluster {self.largest:,}, and "
            f"{self.leaving:.1%} of its edge weight leaves it: the smallest cut may have split a small piece off a cluster "
            "and left other clusters together."
        )

    def __str__(self) -> str:
        return f"{self.finding} {self.advice}"


class NoGpuError(TightcutError, RuntimeError):
    """`device="cuda"` was given, and there is no GPU that PyTorch can use."""
