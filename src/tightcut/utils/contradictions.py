"""Why constraints cannot be satisfied, in words: for Python, for the command line, and in tables of changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tightcut.utils.display import count_noun

if TYPE_CHECKING:
    from tightcut.exceptions import InconsistentConstraintsError

Link = tuple[str, int, int]  # ("must" or "cannot", i, j)
Name = Callable[[int], Any]  # what a point is called

IN_A_SENTENCE, IN_LINES = 6, 30  # links listed


@dataclass(frozen=True)
class Wording:
    """How remedies are spelled: as settings in Python, or as options of the command line."""

    pairs: str = "pairs"
    effort: str = "effort"
    limit: str = "max_violations"
    fewer: str = "ask for fewer clusters"
    more: str = "ask for more clusters"
    fewest: str = 'pass max_violations="fewest" to violate as little as possible'


SETTINGS = Wording()

# For each reason of an error: the problem, without a full stop, and the remedies.
STORIES = {
    "one cluster": (
        "One cluster cannot keep points apart",
        "Correct or remove one of these {pairs}, {more}, or {fewest}.",
    ),
    "contradiction": (
        "The constraints contradict each other, whatever the number of clusters",
        "Correct or remove one of these {pairs}, or {fewest}.",
    ),
    "odd cycle": (
        "{k} clusters cannot satisfy an odd number of cannot-links ({n_cannot}) in a cycle",
        "Correct or remove one of these {pairs}, {more}, or {fewest}.",
    ),
    "clique": (
        "{k} clusters cannot satisfy the constraints. {apart} must all be in different clusters",
        "Correct or remove one of these {pairs}, {more}, or {fewest}.",
    ),
    "empty cluster": (
        "The must-links leave {sets} of points, too few for {k} non-empty clusters",
        "Remove some of them, or {fewer}.",
    ),
    "exhausted": (
        "{k} clusters cannot satisfy the constraints, as an exhaustive search has shown",
        "Remove some pairs, {more}, or {fewest}.",
    ),
    "not found": (
        "{k} clusters that satisfy every constraint were neither found nor ruled out",
        "Raise {effort}, {more}, or {fewest}.",
    ),
    "limit": (
        "No {k} clusters that violate at most {allowed} were found; the best violate {needed}",
        "Raise {limit} or {effort}, or {fewest}.",
    ),
    "limit, proven": (
        "No {k} clusters violate at most {allowed}: at least {bound} must be violated, and {needed} are enough",
        "Raise {limit} to {needed}, or {fewest}.",
    ),
    "unsatisfiable": ("No clustering satisfies every constraint", "Remove some pairs, or {fewest}."),
    "undecided": (
        "A clustering that satisfies every constraint was neither found nor ruled out",
        "Raise {effort}, or {fewest}.",
    ),
}


def explain(
    error: InconsistentConstraintsError,
    name: Name = str,
    place: Callable[[str, int, int], Any] | None = None,
    wording: Wording = SETTINGS,
    advice: str | None = None,
) -> str:
    """The whole explanation: the problem, the links that contradict each other, and the remedies.

    Parameters
    ----------
    error : InconsistentConstraintsError
    name : callable
        What a point is called.
    place : callable, optional
        Where a link was read, given its kind and points. Links are then listed one to a line.
    wording : Wording
        How remedies are spelled.
    advice : str, optional
        Replaces the remedies.
    """
    what, usual = story(error, name, wording)
    advice = usual if advice is None else advice
    if error.message is not None:
        return f"{error.message} {advice}".strip()
    if place is not None and error.witness:
        lines = link_lines(error.witness, name, place)
        if error.reason == "limit":
            return "\n".join([f"{what}. {advice}", "Pairs that contradict each other:", *lines])
        return "\n".join([f"{what}:", *lines, advice]).strip()
    if error.witness and error.reason not in ("clique", "limit"):
        what = f"{what}: {_in_a_sentence(error.witness, name)}"
    return f"{what}. {advice}".strip()


def story(error: InconsistentConstraintsError, name: Name = str, wording: Wording = SETTINGS) -> tuple[str, str]:
    """The problem, without a full stop, and the remedies; the error's own message, if it has one."""
    if error.message is not None:
        return error.message.rstrip("."), ""
    reason = error.reason or ("unsatisfiable" if error.proven else "undecided")
    if error.witness and error.n_clusters == 1:
        reason = "one cluster"
    if reason == "limit" and error.proven:
        reason = "limit, proven"
    parts = {
        "k": error.n_clusters or 2,
        "n_cannot": sum(kind == "cannot" for kind, _, _ in error.witness),
        "apart": _enumerate([str(name(point)) for point in _representatives(error.witness)], IN_LINES),
        "sets": "too few separate sets" if error.n_sets is None else count_noun(error.n_sets, "separate set"),
        "allowed": "what is allowed" if error.limit is None else f"{error.limit:g}",
        "needed": "more" if error.needed is None else f"{error.needed:g}",
        "bound": f"{error.bound:g}",
    }
    what, advice = STORIES[reason]
    return what.format(**parts), advice.format(**vars(wording), needed=parts["needed"])


def spell(link: Link, name: Name = str) -> str:
    """A link in words.

    Examples
    --------
    >>> from tightcut.utils.contradictions import spell
    >>> spell(("cannot", 0, 1), ["ann", "bob"].__getitem__)
    'ann cannot-link bob'
    """
    kind, i, j = link
    return f"{name(i)} {kind}-link {name(j)}"


def link_lines(links: Sequence[Link], name: Name, place: Callable[[str, int, int], Any]) -> list[str]:
    """One line per link, with its place in the file."""
    texts = [(spell(link, name), place(*link)) for link in links[:IN_LINES]]
    width = max((len(text) for text, _ in texts), default=0)
    lines = [f"  {text:<{width}}  ({source})" for text, source in texts]
    hidden = len(links) - IN_LINES
    return [*lines, f"  ... and {hidden} more"] if hidden > 0 else lines


def kind_of_witness(witness: Sequence[Link]) -> str | None:
    """The reason that a witness proves. Contradictions and odd cycles are closed walks, unlike the links of a clique."""
    if not witness:
        return None
    if sum(kind == "cannot" for kind, _, _ in witness) == 1:
        return "contradiction"
    following = [*witness[1:], witness[0]]
    closed = all(link[2] == after[1] for link, after in zip(witness, following, strict=True))
    return "odd cycle" if closed else "clique"


def _in_a_sentence(witness: Sequence[Link], name: Name) -> str:
    if kind_of_witness(witness) != "contradiction" or witness[-1][0] != "cannot":
        return _enumerate([spell(link, name) for link in witness], IN_A_SENTENCE)
    *path, (kind, end, start) = witness
    steps = _enumerate([spell(link, name) for link in path], IN_A_SENTENCE)
    last = spell((kind, start, end), name)
    return f"{steps}, but {last}" if path else last


def _enumerate(texts: Iterable[str], most: int) -> str:
    texts = list(texts)
    hidden = len(texts) - most
    return ", ".join(texts[:most]) + (f", ... and {hidden} more" if hidden > 0 else "")


def _representatives(witness: Sequence[Link]) -> list[int]:
    """The smallest point of each must-linked set of the witness."""
    home = {point: {point} for _, i, j in witness for point in (i, j)}
    for kind, i, j in witness:
        if kind == "must":
            joined = home[i] | home[j]
            home.update(dict.fromkeys(joined, joined))
    return sorted({min(members) for members in home.values()})
