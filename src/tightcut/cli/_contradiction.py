"""Constraints that cannot be satisfied, told by the parts of the error in the user's own names, lines and options."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tightcut.exceptions import InconsistentConstraintsError, Link

LINKS_SHOWN = 30
FEWEST = "use --max-violations fewest to violate as little as possible"

Place = Callable[[str, int, int], str | None]


def explain(error: InconsistentConstraintsError, ids: Sequence[str], n_clusters: int, place: Place) -> str:
    """The whole story: what cannot be, the lines that say so, and what to do."""
    reason, lines = headline(error, ids, n_clusters), link_lines(error.witness, ids, place)
    if error.reason == "limit":
        return "\n".join(
            [f"{reason} {advice(error)}", *(["Pairs that contradict each other:", *lines] if lines else [])]
        )
    return "\n".join([f"{reason}:", *lines, advice(error)]) if lines else f"{reason}. {advice(error)}".strip()


def headline(error: InconsistentConstraintsError, ids: Sequence[str], n_clusters: int) -> str:
    """Why not, without the links, and without a full stop."""
    k, n_cannot = n_clusters, sum(kind == "cannot" for kind, _, _ in error.witness)
    if k == 1 and error.witness:
        return "One cluster cannot keep points apart"
    apart = ", ".join(ids[point] for point in _representatives(error.witness)) if error.reason == "clique" else ""
    needed = "more" if error.needed is None else f"at least {error.needed:g}"
    sentences = {
        "contradiction": "The constraints contradict each other, whatever the number of clusters",
        "odd cycle": f"{k} clusters cannot satisfy an odd number of cannot-links ({n_cannot}) in a cycle",
        "clique": f"{k} clusters cannot satisfy the constraints. {apart} must all be in different clusters",
        "empty cluster": f"The must-links leave too few separate sets of points for {k} clusters",
        "exhausted": f"{k} clusters cannot satisfy the constraints, as an exhaustive search has shown",
        "not found": f"No {k} clusters that satisfy every constraint were found, nor ruled out",
        "limit": f"No {k} clusters within --max-violations were found; the best violate {needed}.",
    }
    return sentences.get(error.reason or "", str(error).rstrip("."))


def advice(error: InconsistentConstraintsError) -> str:
    """What to do, in options."""
    remedies = {
        "contradiction": f"Correct or remove one of these lines, or {FEWEST}.",
        "odd cycle": f"Correct or remove one of these lines, ask for more clusters (-k), or {FEWEST}.",
        "clique": f"Correct or remove one of these lines, ask for more clusters (-k), or {FEWEST}.",
        "empty cluster": "Remove must-links, or ask for fewer clusters (-k).",
        "exhausted": f"Remove some pairs, ask for more clusters (-k), or {FEWEST}.",
        "not found": f"Raise --effort, ask for more clusters (-k), or {FEWEST}.",
        "limit": f"Raise --max-violations or --effort, or {FEWEST}.",
    }
    return remedies.get(error.reason or "", "")


def link_lines(witness: list[Link], ids: Sequence[str], place: Place) -> list[str]:
    """One line per link, with its place in the file."""
    texts = [(f"{ids[i]} {kind}-link {ids[j]}", place(kind, i, j)) for kind, i, j in witness[:LINKS_SHOWN]]
    width = max((len(text) for text, _ in texts), default=0)
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
