"""Contradictions among constraints, in the user's own names and lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tightcut.cli._words import in_options
from tightcut.exceptions import InconsistentConstraintsError, Link

ADVICE = "Correct or remove one of these lines, or use --on-inconsistent soft to violate as little as possible."
LINKS_SHOWN = 30

Place = Callable[[str, int, int], str]


@contextmanager
def named(ids: Sequence[str], n_clusters: int, place: Place) -> Iterator[None]:
    """Inside the block a contradiction is raised again with a message that names points and lines."""
    try:
        yield
    except InconsistentConstraintsError as error:
        message = explain(error, ids, n_clusters, place)
        raise InconsistentConstraintsError(error.witness, message, error.proven, error.best_labels) from None


def explain(error: InconsistentConstraintsError, ids: Sequence[str], n_clusters: int, place: Place) -> str:
    if not error.witness:
        return in_options(str(error))
    lines = link_lines(error.witness, ids, place)
    if not error.proven:
        return "\n".join([in_options(str(error)), "A contradiction that must be broken:", *lines])
    return "\n".join([headline(error.witness, ids, n_clusters), *lines, ADVICE])


def headline(witness: list[Link], ids: Sequence[str], n_clusters: int) -> str:
    n_cannot = sum(kind == "cannot" for kind, _, _ in witness)
    if n_clusters == 1:
        return "One cluster cannot keep points apart:"
    if n_cannot == 1:
        return "The constraints contradict each other, whatever the number of clusters:"
    if n_cannot == n_clusters * (n_clusters + 1) // 2 and n_clusters > 2:
        names = ", ".join(ids[point] for point in _representatives(witness))
        return f"{n_clusters} clusters cannot satisfy the constraints. {names} must all be in different ones:"
    return (
        f"{n_clusters} clusters cannot satisfy the constraints. An odd number of cannot-links ({n_cannot}) in a circle:"
    )


def link_lines(witness: list[Link], ids: Sequence[str], place: Place) -> list[str]:
    texts = [(f"{ids[i]} {kind}-link {ids[j]}", place(kind, i, j)) for kind, i, j in witness[:LINKS_SHOWN]]
    width = max(len(text) for text, _ in texts)
    lines = [f"  {text:<{width}}  ({source})" for text, source in texts]
    hidden = len(witness) - LINKS_SHOWN
    return [*lines, f"  ... and {hidden} more"] if hidden > 0 else lines


def _representatives(witness: list[Link]) -> list[int]:
    """One point of each must-linked set of the witness."""
    leader: dict[int, int] = {}

    def find(point: int) -> int:
        while leader.setdefault(point, point) != point:
            point = leader[point]
        return point

    for kind, i, j in witness:
        one, two = find(i), find(j)
        if kind == "must":
            leader[max(one, two)] = min(one, two)
    return sorted({find(point) for point in leader})
