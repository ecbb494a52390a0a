"""What answers and lines of a journal must hold.

An answer is checked before it is written. A journal may have been written by anything, and its numbers are used as indices:
its lines are checked when they are read.
"""

from __future__ import annotations

import json
import numbers
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tightcut.ask.errors import StaleQuestionError
from tightcut.ask.records import PAIR_CHOICES, Question
from tightcut.problem.pairs import MOST_POINTS
from tightcut.utils.validation import check_choice

Event = dict[str, Any]

FORMAT = 1
EVENTS = ("answer", "revise", "name", "undo")
KINDS = ("pair", "pick", "move")
PICK_WORDS = ("none", "unsure")
RESERVED = tuple(dict.fromkeys(PAIR_CHOICES + PICK_WORDS))


def parse(text: bytes, path: Path, first: int = 1) -> list[Event]:
    """The events of complete lines; `first` is the number of the first line in its file."""
    events: list[Event] = []
    for number, line in enumerate(text.split(b"\n"), first):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            raise ValueError(
                f"Line {number} of {path} is not JSON; this is not a journal of answers, or it is damaged."
            ) from None
        if not isinstance(event, dict) or "event" not in event:
            raise ValueError(f"Line {number} of {path} is not an event; this is not a journal of answers.")
        begun = first > 1 or events
        if begun and not (isinstance(event["event"], str) and event["event"] in EVENTS):
            raise ValueError(
                f"Line {number} of {path} holds the unknown event {event['event']!r}; {path} may be newer than tightcut."
            )
        events.append(event)
    return events


def check_header(header: Event, path: Path) -> None:
    if header.get("event") != "data" or "rows" not in header:
        raise ValueError(
            f"The first line of {path} does not say which data it belongs to; it is not a journal of answers."
        )
    if header.get("format") != FORMAT:
        raise ValueError(f"{path} has format {header.get('format')!r}; this version of tightcut reads format {FORMAT}.")


def check_journal(lines: list[Event], path: Path) -> None:
    header, *events = lines
    try:
        check_fields(header)
    except ValueError as error:
        raise ValueError(f"Line 1 of {path} is damaged: {error}.") from None
    check_events(events, path, 2, header["rows"])


def check_events(events: list[Event], path: Path, first: int, rows: int) -> None:
    for number, event in enumerate(events, first):
        try:
            check_event(event, number, rows)
        except ValueError as error:
            raise ValueError(f"Line {number} of {path} is damaged: {error}.") from None


def check_same_data(header: Event, expected: Event, path: Path) -> None:
    check_header(header, path)
    if header["rows"] != expected["rows"]:
        raise ValueError(
            f"{path} holds answers about {header['rows']} rows, and X has {expected['rows']}: it belongs to other data. "
            "Give the data it was written for, or another path."
        )
    if header.get("fingerprint") != expected["fingerprint"]:
        raise ValueError(
            f"{path} holds answers about other data: as many rows, but other values, columns or order. Give the data as "
            "they were when the questions were asked, or another path. Where rows have names, the pairs that the page of "
            "tightcut ask writes (Pairs, CSV) hold in any order."
        )


def check_fields(header: Event) -> None:
    """Raise ValueError with the reason if the first line does not say which data a journal belongs to."""
    rows: Any = header.get("rows")
    if not is_whole(rows, 2, MOST_POINTS + 1):
        raise ValueError(f"rows is {rows!r:.60}, and must be a whole number, 2 to {MOST_POINTS}")
    if not is_whole(header.get("anchor"), 0, rows):
        raise ValueError(f"anchor is {header.get('anchor')!r}, and must be a row, 0 to {rows - 1}")
    if not is_whole(header.get("seed"), 0):
        raise ValueError(f"seed is {header.get('seed')!r}, and must be a whole number, 0 or more")


def check_event(event: Event, line: int, rows: int) -> None:
    """Raise ValueError with the reason if an event cannot have been written by a session of `rows` rows.

    An answer begins one group at most, so the groups of the event in line 7, say, have numbers below 7.
    """

    def check(holder: Event, key: str, good: Callable[[Any], bool], expected: str) -> None:
        if not good(holder.get(key)):
            raise ValueError(f"{key} is {holder.get(key)!r:.60}, and must be {expected}")

    def group(value: Any) -> bool:
        return is_whole(value, 0, line)

    kind = event["event"]
    if kind == "undo":
        check(event, "of", lambda value: is_whole(value, 0, line), "the number of an earlier event")
        return
    if kind == "name":
        check(event, "group", group, "a group")
        check(event, "name", lambda value: isinstance(value, str), "a text")
        return
    check(event, "number", lambda value: is_whole(value, 0), "a whole number, 0 or more")
    if kind == "revise":
        check(event, "answer", lambda value: isinstance(value, dict), "an answer")
    answer = event["answer"] if kind == "revise" else event
    row = f"a row, 0 to {rows - 1}"
    check(answer, "kind", lambda value: value in KINDS, f"one of {', '.join(KINDS)}")
    check(answer, "first", lambda value: is_whole(value, 0, rows), row)
    check(answer, "time", lambda value: isinstance(value, str), "a text")
    if answer["kind"] == "pair":
        check(
            answer, "second", lambda value: is_whole(value, 0, rows) and value != answer["first"], f"another {row[2:]}"
        )
        check(answer, "choice", lambda value: value in PAIR_CHOICES, f"one of {', '.join(PAIR_CHOICES)}")
    else:
        check(
            answer, "choice", lambda value: value in PICK_WORDS or group(value), f"a group, {' or '.join(PICK_WORDS)}"
        )
    shown = answer.setdefault("shown", [])
    check(answer, "shown", lambda _: isinstance(shown, list) and all(map(group, shown)), "a list of groups")
    check(answer, "founds", lambda value: value is None or group(value), "a group, or left out")
    for key in ("who", "reason", "founds_name"):
        check(answer, key, lambda value: value is None or isinstance(value, str), "a text, or left out")
    check(answer, "seconds", _seconds, "a number, 0 or more, or left out")


def check_row(row: Any, n_points: int) -> int:
    if not is_whole(row, 0, n_points):
        raise ValueError(f"A row must be a whole number from 0 to {n_points - 1}; got {row!r}.")
    return int(row)


def check_question(question: Any, n_points: int) -> Question:
    if not isinstance(question, Question):
        raise ValueError(f"answer() takes a Question that question() has returned; got {type(question).__name__}.")  # noqa: TRY004
    check_choice("kind", question.kind, ("pair", "pick"))
    check_row(question.first, n_points)
    if question.kind == "pair" and check_row(question.second, n_points) == question.first:
        raise ValueError(f"A pair needs two different rows; got row {question.first} twice.")
    return question


def check_unanswered(question: Question, events: Iterable[dict[str, Any]]) -> int:
    """The number of a question, if no session of the journal has answered it or another one of that number."""
    number = question.number
    for event in events:
        if event.get("number") == number and event["event"] == "answer":
            if (event["kind"], event["first"], event["second"]) != (question.kind, question.first, question.second):
                raise StaleQuestionError(
                    f"Another session has answered a question with the number {number} meanwhile; ask question() again."
                )
            raise StaleQuestionError(
                f"Question {number} was answered already; use revise({number}, choice) to change the answer."
            )
    return number


def check_name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"A group's name must be a text that is not blank; got {name!r}.")
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise ValueError("A group's name must be text; this one holds a lone surrogate, half of a character.")
    if name.strip() in RESERVED:
        raise ValueError(f"A group cannot be named {name!r}: that word is an answer.")
    return name.strip()


def check_pair_choice(choice: Any) -> str:
    if not isinstance(choice, str) or choice not in PAIR_CHOICES:
        raise ValueError(f'The answer about a pair is "same", "different" or "unsure"; got {choice!r}.')
    return choice


def check_person(who: Any, seconds: Any) -> tuple[str | None, float | None]:
    if who is not None and not isinstance(who, str):
        raise ValueError(f"who must be a text or None; got {who!r}.")
    if seconds is None:
        return who, None
    if not isinstance(seconds, numbers.Real) or not 0 <= float(seconds) < float("inf"):
        raise ValueError(f"seconds must be a number >= 0 or None; got {seconds!r}.")
    return who, float(seconds)


def is_whole(value: Any, least: int, above: int | None = None) -> bool:
    """Whether a value is a whole number, `least` or more and below `above`; True and 1.0 are not."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        return False
    return least <= int(value) and (above is None or int(value) < above)


def _seconds(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and 0 <= value < float("inf"))
