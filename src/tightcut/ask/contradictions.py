"""Which of a person's own answers contradict each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tightcut.ask.records import Answer, Contradiction

Node = tuple[str, int]  # ("row", number) or ("group", id)


def find_contradictions(answers: Sequence[Answer]) -> list[Contradiction]:
    """One chain for each answer that is not believed and that believed answers contradict.

    A "same" is contradicted by a way from one row to the other over believed answers of which one says "different", a
    "different" by a way on which all say "same". The shortest way is shown, the answer that is not believed last.
    """
    steps: dict[Node, list[tuple[Node, bool, Answer]]] = {}
    for answer in answers:
        if answer.believed:
            for one, other, same in _links(answer):
                steps.setdefault(one, []).append((other, same, answer))
                steps.setdefault(other, []).append((one, same, answer))
    found = []
    for answer in answers:
        if answer.believed:
            continue
        ways = [_way(steps, one, other, apart=same) for one, other, same in _links(answer)]
        known = [way for way in ways if way is not None]
        if known:
            found.append(Contradiction((*min(known, key=len), answer), answer))
    return found


def _links(answer: Answer) -> list[tuple[Node, Node, bool]]:
    row = ("row", answer.first)
    if answer.choice == "unsure":
        return []
    if answer.kind == "pair":
        assert answer.second is not None  # noqa: S101
        return [(row, ("row", answer.second), answer.choice == "same")]
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
