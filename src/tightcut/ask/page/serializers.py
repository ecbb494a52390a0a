"""From the records of a session to the JSON that a page draws, and to tables to download."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from tightcut.ask.base import QuestionSession
from tightcut.ask.page.items import Things
from tightcut.ask.records import Answer, Question
from tightcut.features.words import WordCounts
from tightcut.files.write import print_rows

MEMBERS = 4  # of each group that a pick offers; the page shows the first of many groups, and the others when asked to
# Things of a group in its gallery: two more than the page shows, so that a gap where it hides those in question tells
# nobody which group they are in.
TYPICAL, DOUBTFUL = 10, 8
RECENT = 40  # answers in the list, until somebody asks for all
CONTRADICTIONS = 10


def group_label(group: int, name: str | None) -> str:
    """What a person calls a group: its name or a letter. A number would be taken for the key that picks the group.

    Examples
    --------
    >>> group_label(0, "Anna"), group_label(2, None), group_label(26, None)
    ('Anna', 'Group C', 'Group AA')
    """
    letters, rest = "", group + 1
    while rest:
        rest, last = divmod(rest - 1, 26)
        letters = chr(ord("A") + last) + letters
    return name or f"Group {letters}"


def of_hundred(share: float) -> str:
    """A share as a number of 100; only what is certain is none or all of them.

    Examples
    --------
    >>> of_hundred(0.934), of_hundred(0.999), of_hundred(0.001), of_hundred(1)
    ('93', 'more than 99', 'less than 1', '100')
    """
    if 0.995 <= share < 1:
        return "more than 99"
    return "less than 1" if 0 < share < 0.005 else str(round(100 * share))


class Serializer:
    """Things, questions, groups and answers as JSON, for a page to draw; `address` says where the picture of a row is."""

    def __init__(self, things: Things, address: Callable[[int], str] | None) -> None:
        self.things, self.address = things, address

    def thing(self, row: int) -> dict[str, Any]:
        return self.things.describe(int(row), self.address)

    def question(self, question: Question) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "number": question.number,
            "kind": question.kind,
            "first": self.thing(question.first),
            "second": None if question.second is None else self.thing(question.second),
        }
        if question.second is not None:
            shown["differing"] = self.things.differences(question.first, question.second)
        if question.kind == "pick":
            shown["groups"] = [
                {
                    "id": group.id,
                    "label": group_label(group.id, group.name),
                    "members": [self.thing(row) for row in group.members[:MEMBERS]],
                }
                # In the order in which the groups began, whatever is asked: a group stays where it was, and its place
                # says nothing of what is believed.
                for group in sorted(question.groups, key=lambda group: group.id)
            ]
        return shown

    def words(self, session: QuestionSession, hidden: Sequence[int]) -> dict[int, str]:
        """The most distinctive words of each group of texts, as if the hidden rows were in none."""
        if self.things.texts is None or "pick" not in session.kinds:
            return {}
        labels = session.labels_
        labels[list(hidden)] = -1
        return {group: ", ".join(words) for group, words in self._word_counts.distinctive(labels).items()}

    @cached_property
    def _word_counts(self) -> WordCounts:
        return WordCounts(self.things.texts or ())

    def view(
        self, session: QuestionSession, drawn: np.ndarray, *, all_answers: bool = False, asked: Sequence[int] = ()
    ) -> dict[str, Any]:
        """All that is known: groups with galleries, labels of the points on the map, answers, contradictions, progress.

        The words of the groups say nothing about the rows that are asked about.
        """
        labels, groups, answers = session.labels_, session.groups, session.answers
        words = self.words(session, asked)
        names = {group.id: group.name for group in groups}
        doubtful = self._doubtful(session, labels)
        known = np.isin(labels, list(names))
        listed = answers if all_answers else answers[-RECENT:]
        return {
            "groups": [
                {
                    "id": group.id,
                    "name": group.name,
                    "label": group_label(group.id, group.name),
                    "size": group.size,
                    "words": words.get(group.id, ""),
                    "typical": [self.thing(row) for row in session.typical(group.id, TYPICAL).tolist()],
                    "doubtful": [self.thing(row) for row in doubtful.get(group.id, [])],
                }
                for group in groups
            ],
            "colours": np.where(known, labels, -1)[drawn].tolist(),
            "asked": sorted({row for answer in answers for row in answer.rows}),
            "n_unknown": int((~known).sum()),
            "answers": [self.answer(answer, names, labels) for answer in reversed(listed)],
            "n_answers": len(answers),
            "people": people(answers),
            "contradictions": [
                {"chain": [self.answer(a, names, labels) for a in found.chain], "suspect": found.suspect.number}
                for found in session.contradictions()[:CONTRADICTIONS]
            ],
            "progress": asdict(session.progress()),
        }

    def answer(self, answer: Answer, names: dict[int, str | None], labels: np.ndarray) -> dict[str, Any]:
        return {
            "number": answer.number,
            "kind": answer.kind,
            "first": self.thing(answer.first),
            "second": None if answer.second is None else self.thing(answer.second),
            "choice": answer.choice,
            "words": _words(answer, names, labels),
            "who": answer.who,
            "believed": answer.believed,
        }

    def _doubtful(self, session: QuestionSession, labels: np.ndarray) -> dict[int, list[int]]:
        """The least sure rows of each group that nobody was asked about."""
        asked = [row for answer in session.answers for row in answer.rows]
        order = session.doubtful(len(labels))
        order = order[~np.isin(order, asked)]
        return {group.id: order[labels[order] == group.id][:DOUBTFUL].tolist() for group in session.groups}


def people(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Who has answered: the number of answers, and how many of them are believed beside the answers of everybody."""
    given = Counter(answer.who for answer in answers if answer.who)
    believed = Counter(answer.who for answer in answers if answer.believed)
    return [{"who": who, "given": given[who], "believed": believed[who]} for who in sorted(given)]


def _words(answer: Answer, names: dict[int, str | None], labels: np.ndarray) -> str:
    """An answer as the page lists it. A group that was joined to another is called as that one is."""
    group = answer.founds if answer.choice == "none" else answer.choice
    if answer.kind == "pair" or not isinstance(group, int):
        return "none of the others" if answer.choice == "none" else str(answer.choice)
    if group not in names and answer.believed:
        group = int(labels[answer.first])
    label = group_label(group, names.get(group))
    return f"a new group: {label}" if answer.choice == "none" else label


def in_words(event: dict[str, Any]) -> str:
    """What an event of the journal was, for somebody who has undone it."""
    what = {"name": "a name", "revise": "a change of an answer"}
    if event["event"] in what:
        return what[event["event"]]
    return "a correction by hand" if event.get("kind") == "move" else "the last answer"


def find_group(text: str, groups: Iterable[Any]) -> int | str:
    """The group that a person calls by its label, in capitals or not; the text itself if there is none."""
    for group in groups:
        if text.casefold() == group_label(group.id, group.name).casefold():
            return int(group.id)
    return text


def labels_table(session: QuestionSession, things: Things) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Header and rows: a row's name, its cluster, what that is called if it is known, and the probability that it is right."""
    names = {group.id: group_label(group.id, group.name) for group in session.groups}
    labels = session.labels_.tolist()
    columns: list[Any] = [things.names, labels, [names.get(label, "") for label in labels]]
    header = ["id", "cluster", "name"]
    if session.confidence_ is not None:
        columns.append(session.confidence_.round(4).tolist())
        header.append("confidence")
    return header, list(zip(*columns, strict=True))


def as_csv(header: list[str], rows: Iterable[Sequence[Any]], *, spreadsheet: bool = False) -> str:
    stream = io.StringIO()
    print_rows(stream, header, rows, spreadsheet=spreadsheet)
    return stream.getvalue()


def pairs_table(session: QuestionSession, things: Things) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Header and rows of the believed answers, as `tightcut cluster --constraints` reads them."""
    known = session.constraints_
    rows = [
        (things.names[i], things.names[j], kind)
        for kind, links in (("must", known.must_link), ("cannot", known.cannot_link))
        for i, j in links.tolist()
    ]
    return ["a", "b", "type"], rows
