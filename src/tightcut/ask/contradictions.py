"""Which of a person's own answers contradict each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tightcut.ask.records import Answer, Contradiction

Node = tuple[str, int]  # ("row", number) or ("group", id)


def find_contradictions(answers: Sequence[Answer], truth: Sequence[float]) -> list[Contradiction]:
    """One chain for each answer that is not believed and that others contradict.

    A "same" is contradicted by a way from one row to the other over answers of which one says "different", a "different" by
    a way on which all say "same". The shortest way over believed answers is shown or, if there is none, over any; the
    answer in question comes last.

    Parameters
    ----------
    answers : sequence of Answer
    truth : sequence of float
        Probability that each answer is true.
    """
    probability = {a.number: t for a, t in zip(answers, truth, strict=True)}
    found: dict[frozenset[int], Contradiction] = {}
    for answer in answers:
        if answer.believed:
            continue
        others = [a for a in answers if a is not answer]
        way = _shortest(answer, [a for a in others if a.believed]) or _shortest(answer, others)
        if way is not None:
            chain = (*way, answer)
            suspect = min(reversed(chain), key=lambda a: probability[a.number])
            found.setdefault(frozenset(a.number for a in chain), Contradiction(chain, suspect))
    return list(found.values())


def _shortest(answer: Answer, others: Sequence[Answer]) -> tuple[Answer, ...] | None:
    """The shortest way over other answers that contradicts an answer."""
    steps: dict[Node, list[tuple[Node, bool, Answer]]] = {}
    for other in others:
        for one, two, same in _links(other):
            steps.setdefault(one, []).append((two, same, other))
            steps.setdefault(two, []).append((one, same, other))
    ways = [_way(steps, one, two, apart=same) for one, two, same in _links(answer)]
    return min((way for way in ways if way is not None), key=len, default=None)


def _links(answer: Answer) -> list[tuple[Node, Node, bool]]:
    row, *other = [("row", row) for row in answer.rows]
    if answer.choice == "unsure":
        return []
    if answer.kind == "pair":
        return [(row, other[0], answer.choice == "same")]
    if answer.choice == "none":
        return [(row, ("group", group), False) for group in answer.shown]
    return [(row, ("group", int(answer.choice)), True)]


def _way(
    steps: dict[Node, list[tuple[Node, bool, Answer]]], start: Node, end: Node, *, apart: bool
) -> tuple[Answer, ...] | None:
    """The shortest way from start to end that uses one "different" if `apart`, and none otherwise."""
    came: dict[tuple[Node, bool], tuple[tuple[Node, bool], Answer] | None] = {(start, False): None}
    queue = deque(came)
    while queue:
        state = queue.popleft()
        if state == (end, apart):
            return _trace(came, state)
        node, crossed = state
        for other, same, answer in steps.get(node, ()):
            following = (other, crossed or not same)
            if (same or (apart and not crossed)) and following not in came:
                came[following] = (state, answer)
                queue.append(following)
    return None


def _trace(
    came: dict[tuple[Node, bool], tuple[tuple[Node, bool], Answer] | None], state: tuple[Node, bool]
) -> tuple[Answer, ...]:
    way: list[Answer] = []
    step = came[state]
    while step is not None:
        state, answer = step
        if not way or way[-1] is not answer:
            way.append(answer)
        step = came[state]
    return tuple(reversed(way))
