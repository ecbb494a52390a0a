"""From the lines of a journal to the answers that count: undone ones left out, revised ones replaced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from tightcut.ask.journal.file import read_events, timestamp
from tightcut.ask.journal.schema import Event, check_person
from tightcut.ask.records import Answer

STORED = tuple(field.name for field in fields(Answer) if field.name != "believed")


def active_events(events: list[Event]) -> list[tuple[int, Event]]:
    """The events that were not undone, each with its position in the journal.

    Examples
    --------
    >>> active_events([{"event": "name"}, {"event": "undo", "of": 0}])
    []
    """
    undone = {event["of"] for event in events if event["event"] == "undo"}
    return [(i, event) for i, event in enumerate(events) if event["event"] != "undo" and i not in undone]


def undo_of_last(events: list[Event]) -> tuple[Event, Event]:
    """The line that undoes the last event still standing, and that event."""
    remaining = active_events(events)
    if not remaining:
        raise ValueError("There is nothing to undo.")
    position, event = remaining[-1]
    return {"event": "undo", "of": position, "time": timestamp()}, dict(event)


def check_last(undo: Event, events: list[Event]) -> Event:
    """A line that undoes an event, if no other has followed that event meanwhile."""
    if undo_of_last(events)[0]["of"] != undo["of"]:
        raise ValueError("Another session has acted meanwhile, so nothing was undone; undo again to undo its action.")
    return undo


def numbered(answers: list[Answer], number: int) -> Answer:
    """The answer with a number."""
    found = [answer for answer in answers if answer.number == number]
    if not found:
        raise ValueError(f"There is no answer with the number {number!r} to revise.")
    return found[0]


def effective_answers(events: list[Event]) -> list[Answer]:
    """The answers that count now, in the order in which they were first given."""
    answers: dict[int, Answer] = {}
    for _, event in active_events(events):
        if event["event"] == "answer":
            answers[event["number"]] = to_answer(event)
        elif event["event"] == "revise" and event["number"] in answers:
            answers[event["number"]] = to_answer({**event["answer"], "number": event["number"]})
    return list(answers.values())


def named_groups(events: list[Event]) -> tuple[dict[int, str], dict[int, int]]:
    """The name of each named group, and the group that each joined one is a part of: two that got the same name are one.

    Examples
    --------
    >>> named_groups([{"event": "name", "group": g, "name": name} for g, name in [(0, "ape"), (2, "ape"), (0, "apes")]])
    ({0: 'apes'}, {2: 0})
    """
    names: dict[int, str] = {}
    joined: dict[int, int] = {}
    for _, event in active_events(events):
        answer = event.get("answer", event)
        group, name = (event["group"], event["name"]) if event["event"] == "name" else _founded(answer)
        if name is None:
            continue
        group = joined.get(group, group)
        holder = next((other for other, text in names.items() if text == name), group)
        if holder == group:
            names[group] = name
            continue
        names.pop(group, None)
        joined = {part: holder if whole == group else whole for part, whole in joined.items()} | {group: holder}
    return names, joined


def skipped_groups(events: list[Event]) -> list[int]:
    """Groups without a name that were shown when somebody typed the name of a new group: they may be meant by it.

    Examples
    --------
    >>> skipped_groups([{"event": "answer", "shown": [0], "founds": 1, "founds_name": "ape"}])
    [0]
    """
    names, joined = named_groups(events)
    typed = [answer for _, event in active_events(events) if (answer := event.get("answer", event)).get("founds_name")]
    shown = {joined.get(group, group) for answer in typed for group in answer["shown"]}
    return sorted(shown - names.keys())


def _founded(answer: Event) -> tuple[int, str | None]:
    """The group that an answer began, and the name that it got with it."""
    return answer.get("founds", -1), answer.get("founds_name")


def read_named_rows(path: Any) -> dict[str, list[int]]:
    """The names of groups in a journal, each with the rows that began the group or that answers have put into it."""
    header, *events = read_events(path)
    names, joined = named_groups(events)
    members: dict[int, list[int]] = {joined.get(0, 0): [header["anchor"]]}
    for answer in effective_answers(events):
        group = answer.founds if answer.founds is not None else answer.choice
        if isinstance(group, int):
            members.setdefault(joined.get(group, group), []).append(answer.first)
    return {name: members[group] for group, name in names.items() if group in members}


def largest(events: Iterable[Event], key: str) -> int:
    """The largest number under a key in any event, undone ones too; -1 without any."""
    found = [e[key] for event in events for e in (event, event.get("answer", {})) if isinstance(e.get(key), int)]
    return max(found, default=-1)


def to_answer(event: Event) -> Answer:
    """The answer in a line of the journal, which may leave out what has a default."""
    given = {name: event[name] for name in STORED if name in event}
    return Answer(**{"second": None} | given | {"shown": tuple(event.get("shown", ()))})


def answer_event(
    kind: str,
    first: int,
    second: int | None,
    *,
    who: str | None = None,
    seconds: float | None = None,
    reason: str = "",
    shown: list[int] | None = None,
) -> Event:
    """A line of the journal about an answer, its number and its choice still to be filled in."""
    who, seconds = check_person(who, seconds)
    return {
        "number": None,
        "kind": kind,
        "first": first,
        "second": second,
        "choice": None,
        "shown": shown or [],
        "time": timestamp(),
        "who": who,
        "seconds": seconds,
        "reason": reason,
    }
