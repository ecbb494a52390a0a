"""From the lines of a journal to the answers that count: undone ones left out, revised ones replaced."""

from __future__ import annotations

from collections.abc import Iterable

from tightcut.ask.choices import check_person
from tightcut.ask.journal import Event, now
from tightcut.ask.records import Answer


def standing(events: list[Event]) -> list[tuple[int, Event]]:
    """The events that were not undone, each with its position in the journal.

    Examples
    --------
    >>> standing([{"event": "name"}, {"event": "undo", "of": 0}])
    []
    """
    undone = {event["of"] for event in events if event["event"] == "undo"}
    return [(i, event) for i, event in enumerate(events) if event["event"] != "undo" and i not in undone]


def undoing(events: list[Event]) -> tuple[Event, Event]:
    """The line that undoes the last event still standing, and that event."""
    remaining = standing(events)
    if not remaining:
        raise ValueError("There is nothing to undo.")
    position, event = remaining[-1]
    return {"event": "undo", "of": position, "time": now()}, dict(event)


def numbered(answers: list[Answer], number: int) -> Answer:
    """The answer with a number."""
    found = [answer for answer in answers if answer.number == number]
    if not found:
        raise ValueError(f"There is no answer with the number {number!r} to revise.")
    return found[0]


def effective_answers(events: list[Event]) -> list[Answer]:
    """The answers that count now, in the order in which they were first given."""
    answers: dict[int, Answer] = {}
    for _, event in standing(events):
        if event["event"] == "answer":
            answers[event["number"]] = to_answer(event)
        elif event["event"] == "revise" and event["number"] in answers:
            answers[event["number"]] = to_answer({**event["answer"], "number": event["number"]})
    return list(answers.values())


def group_names(events: list[Event]) -> dict[int, str]:
    """The name of each named group: the last one that was given."""
    names: dict[int, str] = {}
    for _, event in standing(events):
        if event["event"] == "name":
            names[event["group"]] = event["name"]
            continue
        answer = event.get("answer", event)
        if answer.get("founds_name") is not None:
            names[answer["founds"]] = answer["founds_name"]
    return names


def largest(events: Iterable[Event], key: str) -> int:
    """The largest number under a key in any event, undone ones too; -1 without any."""
    found = [e[key] for event in events for e in (event, event.get("answer", {})) if isinstance(e.get(key), int)]
    return max(found, default=-1)


def to_answer(event: Event) -> Answer:
    return Answer(
        number=event["number"],
        kind=event["kind"],
        first=event["first"],
        second=event.get("second"),
        choice=event["choice"],
        time=event["time"],
        who=event.get("who"),
        seconds=event.get("seconds"),
        reason=event.get("reason", ""),
        shown=tuple(event.get("shown", ())),
        founds=event.get("founds"),
    )


def answer_event(
    number: int,
    kind: str,
    first: int,
    second: int | None,
    *,
    who: str | None = None,
    seconds: float | None = None,
    reason: str = "",
    shown: list[int] | None = None,
) -> Event:
    """A line of the journal about an answer, its choice still to be filled in."""
    who, seconds = check_person(who, seconds)
    return {
        "number": number,
        "kind": kind,
        "first": first,
        "second": second,
        "choice": None,
        "shown": shown or [],
        "time": now(),
        "who": who,
        "seconds": seconds,
        "reason": reason,
    }
