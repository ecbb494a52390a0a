"""Questions in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from tightcut.ask.base import QuestionSession
from tightcut.ask.errors import LostJournalError, StaleQuestionError, unwritten
from tightcut.ask.page.items import Things
from tightcut.ask.page.serializers import Serializer, find_group, group_label, in_words
from tightcut.ask.records import Question
from tightcut.drawing.pictures import ArrayPictures
from tightcut.files.cells import is_whole
from tightcut.utils.display import count_noun

SAVE_HELP = "Your answers so far are still here: save writes them to a new journal. Then repeat your answer."
SHADES = " .:-=+*#%@"
ABREAST = 4  # groups beside each other
BRIEF = 90  # characters
WIDEST_PICTURE = 32  # pixels that fit a terminal
PAIR_KEYS = {"y": "same", "n": "different", "": "unsure", "?": "unsure", "unsure": "unsure"}
PAIR_HELP = "y same · n different · Enter unsure · u undo · q quit"
PICK_HELP = "a number or a name · 0 none of these · Enter unsure · 2=name names group 2 · u undo · q quit"


def converse(
    session: QuestionSession,
    things: Things,
    read: Callable[[str], str],
    write: Callable[[str], None],
    kind: str = "pick",
    who: str | None = None,
) -> None:
    """Ask until there is nothing left to ask, or the person leaves."""
    lost, shown = False, Serializer(things, None)  # whether the journal is lost
    while (question := session.question(kind)) is not None:
        question = replace(question, groups=tuple(sorted(question.groups, key=lambda group: group.id)))
        write(_in_text(question, things, session, shown.words(session, question.rows)))
        while True:
            try:
                text = read("> ").strip()
            except EOFError:
                return
            if text.lower() in {"q", "quit"}:
                return
            try:
                if lost and text.lower() == "save":
                    write(f"All answers are in {session.save_journal()} now, and further ones go there.")
                    lost = False
                    continue
                if text.lower() in {"u", "undo"}:
                    write(f"Undone: {in_words(session.undo())}.")
                elif "=" in text:
                    write(_renamed(session, question, *text.split("=", 1)))
                else:
                    session.answer(question, _choice(question, text), who=who)
                break
            except LostJournalError as error:
                lost = True
                write(f"{error.problem} {SAVE_HELP}")
            except StaleQuestionError as error:
                write(str(error))
                break
            except ValueError as error:
                write(str(error))
            except OSError as error:
                write(unwritten(error))
    write("Nothing is left to ask.")


def _choice(question: Question, text: str) -> Any:
    if question.kind == "pair":
        if text.lower() not in PAIR_KEYS:
            raise ValueError(f"{text!r} is not an answer: {PAIR_HELP}.")
        return PAIR_KEYS[text.lower()]
    if not text:
        return "unsure"
    if not is_whole(text):
        return find_group(text, question.groups)
    if int(text) > len(question.groups):
        raise ValueError(f"There is no group {text}: {PICK_HELP}.")
    return "none" if int(text) == 0 else question.groups[int(text) - 1].id


def _renamed(session: QuestionSession, question: Question, group: str, name: str) -> str:
    """Name the group that a person calls by its number on the screen or its label, and say what came of it."""
    group, groups = group.strip(), session.groups
    chosen: int | str = group
    if is_whole(group) and 0 < int(group) <= len(question.groups):
        chosen = question.groups[int(group) - 1].id
    for label in (group, f"Group {group}"):
        chosen = find_group(label, groups) if isinstance(chosen, str) else chosen
    if not isinstance(chosen, int):
        labels = ", ".join(group_label(one.id, one.name) for one in groups)
        raise ValueError(f"There is no group {group!r} to name; there are {labels}.")  # noqa: TRY004
    before = len(session.groups)
    session.name(chosen, name)
    joined = len(session.groups) < before
    return (
        f"The two groups named {name.strip()} are one now." if joined else f"That group is called {name.strip()} now."
    )


def _in_text(question: Question, things: Things, session: QuestionSession, words: dict[int, str]) -> str:
    number, left = session.n_answers_ + 1, session.n_left_
    first = thing_in_text(things, question.first)
    if question.second is not None:
        second = thing_in_text(things, question.second)
        parts = ["" if left is None else f"{count_noun(left, 'decision')} left.", _beside(first, second)]
        shown = "\n\n".join(filter(None, [*parts, "\n".join(session.evidence(question)), PAIR_HELP]))
        return f"\nQuestion {number}. Do these two belong together?\n\n{shown}"
    brief = partial(_brief, things)
    groups = [
        "\n".join(
            filter(
                None, [f"{i}  {group_label(group.id, group.name)}", words.get(group.id), *map(brief, group.members[:1])]
            )
        )
        for i, group in enumerate(question.groups, 1)
    ]
    rows = [reduce(_beside, groups[start : start + ABREAST]) for start in range(0, len(groups), ABREAST)]
    return f"\nQuestion {number}. Where does this belong?\n\n{first}\n\n" + "\n\n".join(rows) + f"\n\n{PICK_HELP}"


def _brief(things: Things, row: int) -> str:
    """A member of a group: its picture, or the first line of what is known."""
    text = thing_in_text(things, row)
    if isinstance(things.pictures, ArrayPictures):
        return text
    lines = [line for line in text.splitlines() if line.strip() and not line.endswith(": ")]  # nothing empty
    return ", ".join(lines[:4])[:BRIEF]


def thing_in_text(things: Things, row: int) -> str:
    """A row as lines of text; a small picture as shades."""
    shown = things.describe(row)
    lines = [shown["name"]]
    if isinstance(things.pictures, ArrayPictures) and max(things.pictures.pixels.shape[1:3]) <= WIDEST_PICTURE:
        lines.append(_shaded(things.pictures.bytes_of(row)))
    if shown.get("text"):
        lines.append(shown["text"])
    lines += [f"{name}: {value}" for name, value in shown.get("fields", [])]
    return "\n".join(lines)


def _shaded(pixels: np.ndarray) -> str:
    grey = pixels.reshape(*pixels.shape[:2], -1)[:, :, :3].mean(axis=2)
    levels = (grey / 256 * len(SHADES)).astype(int)
    # A character is about twice as high as it is wide.
    return "\n".join("".join(SHADES[level] * 2 for level in line) for line in levels)


def _beside(left: str, right: str, gap: int = 4) -> str:
    """Two texts in two columns, or below each other where they are wide."""
    one, other = left.splitlines(), right.splitlines()
    width = max(map(len, one), default=0)
    if width + max(map(len, other), default=0) > 100:
        return f"{left}\n\n{right}"
    one += [""] * (len(other) - len(one))
    other += [""] * (len(one) - len(other))
    return "\n".join(f"{a:<{width + gap}}{b}".rstrip() for a, b in zip(one, other, strict=True))
