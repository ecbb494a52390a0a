"""Explanations of constraints that cannot be satisfied, with the user's own names, lines and options."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tightcut.exceptions import InconsistentConstraintsError, Link

LINKS_SHOWN = 30
FEWEST = "use --max-violations fewest to violate as little as possible."
FEWER_LINES = f"Correct or remove one of these lines, ask for more clusters (-k), or {FEWEST}"
# What is wrong, without a full stop, and what to do about it, by the reason that the error gives.
STORIES = {
    "one cluster": ("One cluster cannot keep points apart", FEWER_LINES),
    "contradiction": (
        "The constraints contradict each other, whatever the number of clusters",
        f"Correct or remove one of these lines, or {FEWEST}",
    ),
    "odd cycle": ("{k} clusters cannot satisfy an odd number of cannot-links ({n_cannot}) in a cycle", FEWER_LINES),
    "clique": ("{k} clusters cannot satisfy the constraints. {apart} must all be in different clusters", FEWER_LINES),
    "empty cluster": (
        "The must-links leave too few separate sets of points for {k} clusters",
        "Remove must-links, or ask for fewer clusters (-k).",
    ),
    "exhausted": (
        "{k} clusters cannot satisfy the constraints, as an exhaustive search has shown",
        f"Remove some pairs, ask for more clusters (-k), or {FEWEST}",
    ),
    "not found": (
        "No {k} clusters that satisfy every constraint were found, nor ruled out",
        f"Raise --effort, ask for more clusters (-k), or {FEWEST}",
    ),
    "limit": (
        "No {k} clusters within --max-violations were found; the best violate {needed} in all",
        f"Raise --max-violations or --effort, or {FEWEST}",
    ),
}

Place = Callable[[str, int, int], str | None]


def explain(
    error: InconsistentConstraintsError, ids: Sequence[str], n_clusters: int, place: Place, advice: str | None = None
) -> str:
    """The whole explanation: what is wrong, the lines that contradict each other, and what to do.

    `advice` takes the place of what names the options of `tightcut cluster`, for commands that lack them.
    """
    what, usual = story(error, ids, n_clusters)
    advice = usual if advice is None else advice
    lines = link_lines(error.witness, ids, place)
    if not lines:
        return f"{what}. {advice}".strip()
    if error.reason == "limit":
        return "\n".join([f"{what}. {advice}", "Pairs that contradict each other:", *lines])
    return "\n".join([f"{what}:", *lines, advice]).strip()


def story(error: InconsistentConstraintsError, ids: Sequence[str], n_clusters: int) -> tuple[str, str]:
    """What is wrong, and what to do about it; the error's own message if it gives no reason."""
    reason = "one cluster" if n_clusters == 1 and error.witness else error.reason
    what, advice = STORIES.get(reason or "", (None, ""))
    if what is None:
        return str(error).rstrip("."), ""
    parts = {
        "k": n_clusters,
        "n_cannot": sum(kind == "cannot" for kind, _, _ in error.witness),
        "apart": ", ".join(ids[point] for point in _representatives(error.witness)) if reason == "clique" else "",
        "needed": "more" if error.needed is None else f"{error.needed:g}",
    }
    return what.format(**parts), advice


def link_lines(witness: list[Link], ids: Sequence[str], place: Place) -> list[str]:
    """One line per link, with its place in the file."""
    texts = [(f"{ids[i]} {kind}-link {ids[j]}", place(kind, i, j)) for kind, i, j in witness[:LINKS_SHOWN]]
    width = max((len(text) for text, _ in texts), default=0)
    lines = [f"  {text:<{width}}  ({source})" for text, source in texts]
    hidden = len(witness) - LINKS_SHOWN
    return [*lines, f"  ... and {hidden} more"] if hidden > 0 else lines


def _representatives(witness: list[Link]) -> list[int]:
    """The smallest point of each must-linked set of the witness."""
    home = {point: {point} for _, i, j in witness for point in (i, j)}
    for kind, i, j in witness:
        if kind == "must":
            joined = home[i] | home[j]
            home.update(dict.fromkeys(joined, joined))
    return sorted({min(members) for members in home.values()})
