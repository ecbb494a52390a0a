"""Which of a person's own answers contradict each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tightcut.ask.records import Answer, Contradiction

Node = tuple[str, int]  # ("row", number) or ("group", id)


def find_contradictions(answers: Sequence[Answer], truth: Sequence[float]) -> list[Contradiction]:
    """One chain for each answer that is not believed and that others contradict.

    A "same" is contradicted by a path from one row to the other on which exactly one answer says "different", a "different"
    by a path on which all say "same". The shortest path over believed answers is shown or, if there is none, over any
    answers; the answer in question comes last. `truth` is the probability that each answer is true.
    """
    probability = {a.number: t for a, t in zip(answers, truth, strict=True)}
    found: dict[frozenset[int], Contradiction] = {}
    for answer in answers:
        if answer.believed:
            continue
        others = [a for a in answers if a is not answer]
        path = _shortest(answer, [a for a in others if a.believed]) or _shortest(answer, others)
        if path is not None:
            chain = (*path, answer)
            suspect = min(reversed(chain), key=lambda a: probability[a.number])
            found.setdefault(frozenset(a.number for a in chain), Contradiction(chain, suspect))
    return list(found.values())


def _shortest(answer: Answer, others: Sequence[Answer]) -> tuple[Answer, ...] | None:
    """The shortest path over other answers that contradicts an answer."""
    steps: dict[Node, list[tuple[Node, bool, Answer]]] = {}
    for other in others:
        for one, two, same in _links(other):
            steps.setdefault(one, []).append((two, same, other))
            steps.setdefault(two, []).append((one, same, other))
    paths = [_path(steps, one, two, apart=same) for one, two, same in _links(answer)]
    return min((path for path in paths if path is not None), key=len, default=None)


def _links(answer: Answer) -> list[tuple[Node, Node, bool]]:
    row, *other = [("row", row) for row in answer.rows]
    if answer.choice == "unsure":
        return []
    if answer.kind == "pair":
        return [(row, other[0], answer.choice == "same")]
    if answer.choice == "none":
        return [(row, ("group", group), False) for group in answer.shown]
    return [(row, ("group", int(answer.choice)), True)]


def _path(
    steps: dict[Node, list[tuple[Node, bool, Answer]]], start: Node, end: Node, *, apart: bool
) -> tuple[Answer, ...] | None:
    """The shortest path from start to end that uses one "different" if `apart`, and none otherwise."""
    seen: set[tuple[Node, bool]] = {(start, False)}
    queue: deque[tuple[Node, bool, tuple[Answer, ...]]] = deque([(start, False, ())])
    while queue:
        node, crossed, path = queue.popleft()
        if (node, crossed) == (end, apart):
            return path
        for other, same, answer in steps.get(node, ()):
            state = other, crossed or not same
            if (same or (apart and not crossed)) and state not in seen:
                seen.add(state)
                queue.append((*state, path if answer in path[-1:] else (*path, answer)))
    return None
