"""The actions behind the page: requests and replies in JSON, one at a time.

A page sends an action by name with a few values. Whatever changes the session is in the journal before the reply. The reply
to an answer holds the next question and nothing that takes long; labels, groups and the like are the action `view`, which
the page sends while the person looks at the question.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

import numpy as np

from tightcut.ask.base import QuestionSession
from tightcut.ask.errors import LostJournalError, StaleQuestionError, unwritten
from tightcut.ask.page.items import Things
from tightcut.ask.page.serializers import Serializer, as_csv, find_group, in_words, labels_table, pairs_table
from tightcut.ask.page.windows import Windows
from tightcut.ask.records import Progress, Question
from tightcut.drawing.layout import better_layout, first_layout

Reply = dict[str, Any]
NAME_LENGTH = 100
DRAWN = 2500  # points on the map: more are thinned out, evenly at random
GALLERY = 120  # most things shown of a group

log = logging.getLogger(__name__)


class Controller:
    """A session and its actions, for any number of windows.

    Parameters
    ----------
    things : Things
        What is shown of the rows.
    title : str
        Name of the data.
    journal : str, optional
        Where the answers are kept, for the page to say so.
    kind : {"pick", "pair"}
        How the page asks at first.
    records : bool
        Whether the things are records that are compared in pairs only, without a map.
    who : str, optional
        Who answers, unless the page says it.
    address : callable, optional
        From a row to the address of its picture.
    """

    def __init__(
        self,
        things: Things,
        *,
        title: str = "",
        journal: str | None = None,
        kind: str = "pick",
        records: bool = False,
        who: str | None = None,
        address: Callable[[int], str] | None = None,
    ) -> None:
        self.things, self.title, self.journal, self.kind = things, title, journal, kind
        self.records, self.who = records, who
        self.session: QuestionSession | None = None
        self.failure: str | None = None
        self._serializer = Serializer(things, address)
        self._lock = threading.RLock()
        self._asked: dict[tuple[int, str], Question] = {}
        self._windows = Windows()
        self._version = 0  # of the session: how many events the journal had at last
        self._curve: list[tuple[float, ...]] = []  # answers; accuracy expected, lowest, highest
        self._rows = np.arange(0)
        self._positions: np.ndarray | None = None
        self._n_layouts = 0

    def begin(self, session: QuestionSession, X: Any, *, affinity: str = "knn") -> None:
        """Use a session that is ready; records have no X, and no map."""
        if len(self.things) != len(session.labels_):
            raise ValueError(f"The session has {len(session.labels_)} rows, and {len(self.things)} things are shown.")
        if not self.records:
            self._rows = _drawn_rows(len(self.things))
            self._place(first_layout(X, affinity, self._rows))
        with self._lock:
            self.session = session

    def start(self, prepare: Callable[[], QuestionSession], X: Any, *, affinity: str = "knn") -> threading.Thread:
        """Make the session in a thread, then all that can wait; until then the page says that it is being prepared."""

        def work() -> None:
            try:
                session = prepare()
                self.begin(session, X, affinity=affinity)
            except Exception as error:
                known = isinstance(error, (ValueError, OSError))
                log.log(
                    logging.ERROR, "The session could not be prepared: %s", error, exc_info=None if known else error
                )
                self.failure = str(error) or type(error).__name__
                return
            session.prepare()
            if affinity != "precomputed" and not self.records:
                self.improve_map(X)
            self.recall(session)

        thread = threading.Thread(target=work, name="tightcut-ask", daemon=True)
        thread.start()
        return thread

    def improve_map(self, X: Any) -> None:
        """Replace the map by one on which neighbours stand together."""
        better = better_layout(X, self._rows)
        if better is not None:
            self._place(better)

    def recall(self, session: QuestionSession) -> None:
        """Take up the curve of a journal that is continued, from its lines."""
        history = session.history()
        while True:
            with self._lock:  # between two steps a person may answer
                step = next(history, None)
                if step is None:
                    return
                self._curve = sorted([past for past in self._curve if past[0] != step[0]] + [_on_curve(*step)])

    def perform(self, action: str, values: Reply) -> Reply:
        """Carry out an action. Whatever cannot be done raises ValueError with the reason."""
        if action == "hello":
            return self._hello()
        carry_out: Callable[[QuestionSession, Reply], Reply] | None = getattr(self, f"do_{action}", None)
        if carry_out is None:
            actions = ["hello", *(name[3:] for name in dir(self) if name.startswith("do_"))]
            raise ValueError(f"There is no action {action!r}; the actions are {', '.join(actions)}.")
        if self.session is None:
            raise ValueError(self.failure or "The session is still being prepared; try again in a moment.")
        # Looking waits for nobody, so that a page can tell a busy server from a dead one.
        with nullcontext() if action == "look" else self._lock:
            return carry_out(self.session, values)

    def respond(self, action: str, values: Reply) -> tuple[Reply, int]:
        """The reply to an action, or the error that a page shows, and the status of HTTP that says which."""
        try:
            return self.perform(action, values), 200
        except LostJournalError as error:
            return {"error": error.problem, "lost": True}, 409
        except (ValueError, RecursionError) as error:
            return {"error": str(error)}, 422
        except OSError as error:
            log.exception("an answer could not be written")
            return {"error": unwritten(error)}, 507

    def _hello(self) -> Reply:
        return {
            "title": self.title,
            "journal": self.journal,
            "kind": self.kind,
            "records": self.records,
            "nouns": ("record", "records") if self.records and not self.things.noun else self.things.nouns,
            "who": self.who,
            "n": len(self.things),
            "ready": self.session is not None,
            "failure": self.failure,
        }

    # Actions by name: each takes the session and the values that the page sent.

    def do_question(self, session: QuestionSession, values: Reply) -> Reply:
        """The next question. Windows get different ones; with `keep` a window keeps its own while that is open."""
        kind, window = _word(values.get("kind", self.kind)), str(values.get("window") or "")
        question = self._windows.question(session, kind, window, keep=bool(values.get("keep")))
        reply: Reply = {"version": self._take_stock(session), "n_answers": session.n_answers_, "question": None}
        if question is not None:
            self._asked[question.number, question.kind] = question
            reply["question"] = self._serializer.question(question) | {"evidence": session.evidence(question)}
        return reply

    def do_answer(self, session: QuestionSession, values: Reply) -> Reply:
        choice = self._choice(session, values.get("choice"))
        question = self._open_question(session, values)
        if question is None:
            return {
                **self.do_question(session, values),
                "notice": "That question is no longer open; here is the next one.",
            }
        try:
            session.answer(question, choice, who=self._person(values), seconds=_seconds(values.get("seconds")))
        except StaleQuestionError:
            notice = "That question was answered already, perhaps in another window; here is the next."
            return {**self.do_question(session, values), "notice": notice}
        return self.do_question(session, values)

    def do_undo(self, session: QuestionSession, values: Reply) -> Reply:
        event = session.undo()
        return {**self.do_question(session, values), "notice": f"Undone: {in_words(event)}."}

    def do_revise(self, session: QuestionSession, values: Reply) -> Reply:
        session.revise(_whole(values, "number"), self._choice(session, values.get("choice")), who=self._person(values))
        return self.do_question(session, values)

    def do_move(self, session: QuestionSession, values: Reply) -> Reply:
        session.move(_whole(values, "row"), self._choice(session, values.get("choice")), who=self._person(values))
        reply = self.do_question(session, values)
        if not session.answers[-1].believed:
            reply["notice"] = "Your correction is kept, but other answers outweigh it, so nothing has moved yet."
        return reply

    def do_name(self, session: QuestionSession, values: Reply) -> Reply:
        number, name = _whole(values, "group"), _short(values.get("name"))
        joins = any(group.name == name and group.id != number for group in session.groups)
        session.name(number, name)
        reply = self.do_question(session, values)
        if joins:
            reply["notice"] = f"The two groups named {name!r} are one now. Undo makes them two again."
        return reply

    def do_look(self, session: QuestionSession, values: Reply) -> Reply:
        self._windows.heard(str(values.get("window")))
        if self._lock.acquire(blocking=False):
            try:
                self._version = session.refresh()
            finally:
                self._lock.release()
        return {"version": self._version, "layout": self._n_layouts}

    def do_save(self, session: QuestionSession, values: Reply) -> Reply:
        """Write everything to a new journal, if the old one is lost; another window may have done so already."""
        notice = "The journal has all answers again."
        try:
            session.refresh()
        except LostJournalError:
            self.journal = str(session.save_journal())
            notice = f"All answers are in {self.journal} now, and further ones go there."
        return {**self.do_question(session, values), "journal": self.journal, "notice": notice}

    def do_view(self, session: QuestionSession, values: Reply) -> Reply:
        version, step = self._take_stock(session), _on_curve(session.n_answers_, session.progress())
        if step[0] > 0 and (not self._curve or self._curve[-1] != step):
            self._curve = [past for past in self._curve if past[0] < step[0]] + [step]
        every = values.get("all_answers") is True
        reply = self._serializer.view(session, self._rows, all_answers=every, asked=self._windows.rows())
        reply |= {"version": version, "curve": self._curve, "layout": self._n_layouts, "left": session.n_left_}
        if values.get("layout") != self._n_layouts and self._positions is not None:
            reply["map"] = {"rows": self._rows.tolist(), "positions": self._positions.tolist()}
        return reply

    def do_gallery(self, session: QuestionSession, values: Reply) -> Reply:
        rows = session.typical(_whole(values, "group"), GALLERY).tolist()
        return {"things": [self._serializer.thing(row) for row in rows]}

    def do_thing(self, session: QuestionSession, values: Reply) -> Reply:  # noqa: ARG002
        row = _whole(values, "row")
        if not 0 <= row < len(self.things):
            raise ValueError(f"There is no row {row}; the rows are 0 to {len(self.things) - 1}.")
        return {"thing": self._serializer.thing(row)}

    def do_labels(self, session: QuestionSession, values: Reply) -> Reply:  # noqa: ARG002
        return {"text": as_csv(*labels_table(session, self.things), spreadsheet=True)}

    def do_pairs(self, session: QuestionSession, values: Reply) -> Reply:  # noqa: ARG002
        return {"text": as_csv(*pairs_table(session, self.things))}

    # How

    def _take_stock(self, session: QuestionSession) -> int:
        """The version of the session. A page is told of a lost journal when it looks, and when it answers."""
        with suppress(LostJournalError, OSError):
            self._version = session.refresh()
        return self._version

    def _place(self, positions: np.ndarray) -> None:
        with self._lock:
            self._positions = positions
            self._n_layouts += 1

    def _open_question(self, session: QuestionSession, values: Reply) -> Question | None:
        """The question that an answer belongs to; asked again where this process does not know it."""
        number, kind = _whole(values, "number"), _word(values.get("kind", self.kind))
        question = self._asked.get((number, kind)) or session.question(kind)
        seen = values.get("first"), values.get("second")
        known = question is not None and (question.number, question.first, question.second) == (number, *seen)
        return question if known else None

    def _person(self, values: Reply) -> str | None:
        return _short(values.get("who")) or self.who

    def _choice(self, session: QuestionSession, choice: Any) -> int | str:
        """A choice as the session takes it: groups may be called by the label that the page shows."""
        if isinstance(choice, bool) or not isinstance(choice, (int, str)):
            raise ValueError(f"An answer is a word, a name or the number of a group; got {choice!r}.")  # noqa: TRY004
        if isinstance(choice, int):
            return choice
        return find_group(_short(choice), session.groups)


def _whole(values: Reply, key: str) -> int:
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{key} must be a whole number; got {value!r}.")  # noqa: TRY004
    return value


def _word(kind: Any) -> str:
    if not isinstance(kind, str):
        raise ValueError(f"kind must be a word; got {kind!r}.")  # noqa: TRY004
    return kind


def _short(text: Any) -> Any:
    """A text without spaces around it, if it is not longer than the page can show; the session checks the rest."""
    if isinstance(text, str) and len(text.strip()) > NAME_LENGTH:
        raise ValueError(f"A name may have {NAME_LENGTH} characters; this one has {len(text.strip())}.")
    return text.strip() if isinstance(text, str) else text


def _on_curve(n_answers: int, progress: Progress) -> tuple[float, ...]:
    return (n_answers, *(round(share, 4) for share in (progress.expected_accuracy, progress.low, progress.high)))


def _seconds(value: Any) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 86_400:
        return round(float(value), 2)
    return None


def _drawn_rows(n: int) -> np.ndarray:
    """The rows that the map shows."""
    if n <= DRAWN:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, DRAWN, replace=False))
