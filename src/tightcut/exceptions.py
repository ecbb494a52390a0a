"""Errors, all of them a `TightcutError`, and warnings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tightcut.utils.display import counted

Link = tuple[str, int, int]

LINKS_SHOWN = 6


class TightcutError(Exception):
    """Base of every error that tightcut defines; each also derives from the built-in error that comes closest.

    Parameters that make no sense raise a plain ValueError or TypeError.

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
    """A package that only some features need is not installed; the message says how to install it."""


class InconsistentConstraintsError(TightcutError, ValueError):
    """No clustering satisfies every constraint.

    Parameters
    ----------
    witness : iterable of (kind, i, j)
        The contradiction as a closed walk i, j, ..., i over the caller's own points; kind is "must" or "cannot".
        One cannot-link contradicts any number of clusters; three, five, ... contradict two clusters.
    message : str, optional
        Replaces the sentence made from the witness.
    proven : bool, default=True
        Whether it is certain that no clustering satisfies them; False where a search gave up. Not every proof has a
        witness: an exhaustive search, a bound of the solver, and must-links that join too many points have no short
        one.
    best_labels : ndarray, optional
        The labels with the fewest violations that the search found.
    n_clusters : int, optional
        The number of clusters that was asked for.
    reason : str, optional
        "contradiction" (must-links against a cannot-link), "odd cycle", "clique" (more points that are all kept apart
        than clusters), "empty cluster" (must-links leave too few sets of points), "exhausted" (an exhaustive search
        found nothing), "not found" (a search gave up), or "limit" (the best attempt violates more than was allowed).
        A proven witness tells the first three apart by itself.
    needed : float, optional
        The belief that the best attempt violates.
    remedies : iterable of str
        Short remedies, named as settings.

    Examples
    --------
    >>> from tightcut import InconsistentConstraintsError
    >>> error = InconsistentConstraintsError([("must", 3, 7), ("must", 7, 9), ("cannot", 9, 3)])
    >>> print(error)
    The constraints contradict each other: 3 must-link 7, 7 must-link 9, but 3 cannot-link 9. Remove one of these \
pairs, or pass max_violations="fewest" to violate as few pairs as possible.
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
        remedies: Iterable[str] = (),
    ) -> None:
        self.witness = [(str(kind), int(i), int(j)) for kind, i, j in witness]
        self.proven = proven
        self.best_labels = best_labels
        self.n_clusters = n_clusters
        self.reason = reason or (_kind_of_witness(self.witness) if proven else None)
        self.needed = needed
        self.remedies = list(remedies)
        super().__init__(message or describe(self.witness, proven))

    def __reduce__(self) -> tuple[Any, ...]:
        # The inherited version would hand the message back as the witness.
        return type(self), (self.witness, str(self), self.proven, self.best_labels), self.__dict__


class DisconnectedGraphWarning(UserWarning):
    """A nearest-neighbour graph had `n_components` components, which `n_bridges` links now join."""

    def __init__(self, n_components: int, n_bridges: int) -> None:
        self.n_components, self.n_bridges = n_components, n_bridges
        super().__init__(n_components, n_bridges)

    def __str__(self) -> str:
        left = self.n_components - self.n_bridges
        rest = f" No known distance joins the {left} that are left." if left > 1 else ""
        return (
            f"The nearest-neighbour graph has {self.n_components} connected components; joined them by "
            f"{counted(self.n_bridges, 'bridge')}, the shortest links between them.{rest} "
            "Raise n_neighbors for a denser graph, or pass connect=False to keep the components apart."
        )


class LopsidedClustersWarning(UserWarning):
    """Cluster `cluster` has only `size` of `n_points` points, far fewer than the `largest`, and many edges to others.

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
            f"{self.leaving:.1%} of its edge weight leaves it: the smallest cut may have taken a piece out of a cluster "
            "and left others together."
        )

    def __str__(self) -> str:
        return f"{self.finding} {self.advice}"


class NoGpuError(TightcutError, RuntimeError):
    """`device="cuda"` was asked for and there is no GPU that PyTorch can use."""


def describe(witness: list[Link], proven: bool = True) -> str:
    """A contradiction in words, with what to do about it.

    Examples
    --------
    >>> from tightcut.exceptions import describe
    >>> print(describe([("cannot", 0, 1), ("cannot", 1, 2), ("cannot", 2, 0)]).split(". ")[0])
    Two clusters cannot satisfy the constraints: 0 cannot-link 1, 1 cannot-link 2, 2 cannot-link 0 closes a cycle \
with 3 cannot-links, an odd number
    """
    soft = 'pass max_violations="fewest" to violate as few pairs as possible'
    if not witness:
        if proven:
            return f"No clustering satisfies every constraint. Remove some pairs, or {soft}."
        return f"No clustering that satisfies every constraint was found, nor ruled out. Search longer, or {soft}."
    n_cannot = sum(kind == "cannot" for kind, _, _ in witness)
    if n_cannot == 1 and witness[-1][0] == "cannot":
        _, end, start = witness[-1]
        story = f"The constraints contradict each other: {_spell(witness[:-1])}, but {start} cannot-link {end}"
    else:
        story = (
            f"Two clusters cannot satisfy the constraints: {_spell(witness)} closes a cycle with {n_cannot} "
            "cannot-links, an odd number"
        )
    return f"{story}. Remove one of these pairs, or {soft}."


def _kind_of_witness(witness: list[Link]) -> str | None:
    """Odd cycles are closed walks; the links of a clique are not."""
    if not witness:
        return None
    if sum(kind == "cannot" for kind, _, _ in witness) == 1:
        return "contradiction"
    following = [*witness[1:], witness[0]]
    closed = all(link[2] == after[1] for link, after in zip(witness, following, strict=True))
    return "odd cycle" if closed else "clique"


def _spell(links: list[Link]) -> str:
    shown = ", ".join(f"{i} {kind}-link {j}" for kind, i, j in links[:LINKS_SHOWN])
    hidden = len(links) - LINKS_SHOWN
    return f"{shown}, ... and {hidden} more" if hidden > 0 else shown
