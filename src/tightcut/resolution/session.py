"""Questions about what `resolve` doubts: an answer is a rule, and what it concerns is solved again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.ask.errors import LostJournalError
from tightcut.ask.journal.file import Event, Journal, now
from tightcut.ask.journal.replay import answer_event, check_last, effective_answers, largest, numbered, undoing
from tightcut.ask.records import Answer, Contradiction, Group, Progress, Question
from tightcut.ask.validation import check_kind, check_pair_choice, check_question, check_row, check_unanswered
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.resolution.parts import Parts
from tightcut.resolution.result import Resolution, ScoredPairs
from tightcut.resolution.tables import Columns

RECENT = 6  # answers whose clusters are shown
SHOWN_MEMBERS = 8
NINE_OF_TEN = 1.645  # standard deviations of a normal distribution on either side
REASONS = {"must": "joined", "cannot": "cut"}


class ResolutionSession:
    """Ask a person about the least certain decisions of `tightcut.resolve`; `Resolution.session` begins one.

    An answer becomes a rule. Only the records that could be the same as one of the two are resolved again, so that the
    next question follows at once, however large the table is. The page and the terminal of `tightcut ask` show the
    questions.

    Attributes
    ----------
    ids : ndarray of shape (n,)
        The records; questions are about their positions.
    labels_ : ndarray of shape (n,)
        The cluster of each record, numbered by its first member; as `resolve` finds them with the answers as rules.
    n_doubtful_ : int
        Decisions that are doubtful now, those that a person was unsure about among them.
    n_answers_, n_actions_ : int
        Answers that count, and everything that was done.

    See Also
    --------
    tightcut.ask.Session : Questions about points and graphs.
    """

    kinds = ("pair",)

    def __init__(self, problem: ScoredPairs, answers: Any = None) -> None:
        self.ids, self._whole = problem.ids, problem
        self._journal = Journal(answers, {"rows": len(self.ids), "fingerprint": _fingerprint(problem)})
        self._given, self._n_followed = effective_answers(self._journal.events), len(self._journal.events)
        now_known = problem.with_links(*self._links(self._given))
        self._parts = Parts(problem)
        for answer in self._given:
            self._parts.join(_rows(answer))
        self.labels_ = np.empty(len(self.ids), np.int64)
        self._versions: dict[int, int] = {}
        self._doubts: dict[int, Columns] = {}
        self._heap: list[tuple[float, int, int, int, int]] = []
        self._take_all(now_known)
        self._journal.begin({"seed": 0, "anchor": 0})
        self._issued = largest(self._journal.events, "number")
        self._open: dict[tuple[int, int], int] = {}
        self._follow()  # what another session wrote meanwhile

    # What the person does

    def question(self, kind: str = "pair") -> Question | None:
        """The least certain decision; None when none is doubtful. Asking twice without an answer asks the same."""
        self._check_kind(kind)
        with suppress(LostJournalError, OSError):  # the answer says so
            self.refresh()
        skipped = {_rows(answer) for answer in self._given}
        while self._heap:
            _, first, second, part, version = self._heap[0]
            if self._versions.get(part) == version and (first, second) not in skipped:
                kinds = dict(zip(zip(*self._ends(part), strict=True), self._doubts[part]["type"].tolist(), strict=True))
                if (first, second) not in self._open:
                    self._open[first, second] = self._next_number()
                number = self._open[first, second]
                return Question(number, "pair", first, second, (), REASONS[kinds[first, second]])
            heappop(self._heap)
        return None

    def answer(self, question: Question, choice: str, *, who: str | None = None, seconds: float | None = None) -> None:
        """Take an answer, "same", "different" or "unsure"; when this returns, it is in the journal, on disk.

        Raises InconsistentConstraintsError, and takes nothing, if the answer contradicts the rules and other answers;
        and what `tightcut.ask.Session.answer` raises.
        """
        check_question(question, len(self.ids))
        self._check_kind(question.kind)
        first, second = question.first, question.second
        assert second is not None  # noqa: S101 (a pair has two)
        details: dict[str, Any] = {"who": who, "seconds": seconds, "reason": question.reason}

        def event() -> Event:
            number = check_unanswered(question, self._journal.events)
            answer = answer_event(number, "pair", first, second, **details)
            return {"event": "answer", **answer, "choice": check_pair_choice(choice)}

        self._record(event)
        self._open.pop((first, second), None)

    def revise(self, number: int, choice: str, *, who: str | None = None) -> None:
        """Change an earlier answer. The journal keeps both."""

        def event() -> Event:
            answer = numbered(effective_answers(self._journal.events), number)
            changed = answer_event(number, "pair", answer.first, answer.second, who=who, reason=answer.reason)
            changed["choice"] = check_pair_choice(choice)
            return {"event": "revise", "number": number, "time": now(), "answer": changed}

        self._record(event)

    def undo(self) -> Event:
        """Undo the last answer or revision, and return its event."""
        line, event = undoing(self._journal.events)
        self._record(lambda: check_last(line, self._journal.events))
        return event

    def move(self, row: int, group: Any, *, who: str | None = None) -> None:
        """Say that a record is the same as those of a cluster, or with "none" that it is not what it is with now."""
        row = check_row(row, len(self.ids))
        own = self.labels_[row]
        others = [other for other in self._members_of(own if group == "none" else group).tolist() if other != row]
        if not others:
            raise ValueError("The record is alone in its cluster.")
        choice = "different" if group == "none" else "same"

        def event() -> Event:
            answer = answer_event(self._next_number(), "pair", row, others[0], who=who, reason="moved by hand")
            return {"event": "answer", **answer, "choice": choice}

        self._record(event)

    def name(self, group: int, name: str) -> None:  # noqa: ARG002
        """Refuse a name: clusters of records have none."""
        raise ValueError("Clusters of records have no names here; use the ids of the clusters that are written.")

    # What is known

    def resolution(self) -> Resolution:
        """The result of `resolve` with the answers as rules."""
        return self._whole.with_links(*self._links(self._given)).solved()

    @property
    def answers(self) -> tuple[Answer, ...]:
        return tuple(self._given)

    @property
    def n_answers_(self) -> int:
        return len(self._given)

    @property
    def n_actions_(self) -> int:
        return len(self._journal.events)

    @property
    def n_doubtful_(self) -> int:
        return sum(doubts.n_rows for doubts in self._doubts.values())

    @property
    def constraints_(self) -> Constraints:
        """The answers as must-links and cannot-links between positions of `ids`."""
        return Constraints.from_pairs(len(self.ids), *self._links(self._given))

    @property
    def groups(self) -> list[Group]:
        """The clusters that the last answers were about."""
        rows = [row for answer in self._given[: -RECENT - 1 : -1] for row in _rows(answer)]
        clusters = dict.fromkeys(self.labels_[rows].tolist())
        members = {cluster: self._members_of(cluster) for cluster in clusters}
        return [Group(c, None, tuple(rows[:SHOWN_MEMBERS].tolist()), len(rows)) for c, rows in members.items()]

    def contradictions(self) -> list[Contradiction]:
        """None: an answer that contradicts others is not taken."""
        return []

    def progress(self) -> Progress:
        """How many decisions are settled, and how many are probably right, from the margins of those that are doubtful."""
        margins = np.sort(np.concatenate([[], *(doubts["margin"] for doubts in self._doubts.values())]))
        total = max(int((self._whole.evidence.weight > 0).sum()), len(margins), 1)
        wrong = 1 / (1 + np.exp(margins))
        expected, spread = 1 - wrong.sum() / total, NINE_OF_TEN * np.sqrt((wrong * (1 - wrong)).sum()) / total
        open_share = len(margins) / max(len(margins) + self.n_answers_, 1)
        low, high = max(expected - spread, 0.0), min(expected + spread, 1.0)
        return Progress(1 - open_share, float(expected), float(low), float(high), float(wrong[:50].sum() / total))

    def typical(self, group: int, n: int = 20) -> np.ndarray:
        return self._members_of(group)[:n]

    def doubtful(self, n: int = 20) -> np.ndarray:
        """Up to n records of doubtful decisions, the least certain first."""
        found = sorted((margin, *pair) for part in self._doubts for margin, *pair in self._open_doubts(part))
        return np.array(list(dict.fromkeys(row for _, *pair in found for row in pair))[:n], dtype=np.int64)

    def close(self) -> None:
        """Close the journal. Everything in it is on disk already."""
        self._journal.close()

    def refresh(self) -> int:
        """Take in what other sessions have written to the journal; returns the number of events."""
        self._journal.refresh()
        self._follow()
        return len(self._journal.events)

    def save_journal(self, path: Any = None) -> Path:
        """Write everything to a new journal, and go on there; as `tightcut.ask.Session.save_journal`."""
        with suppress(LostJournalError, OSError):
            self.refresh()
        return self._journal.save(path)

    # How it works

    def _record(self, make: Callable[[], Event]) -> None:
        """Solve what an event concerns; write the event down; then let it count.

        Where others have written meanwhile, all of that begins again after their answers.
        """
        while True:
            self._follow()
            event = make()
            let_count = self._following([*self._journal.events, event])
            if self._journal.append(event):
                break
        let_count()
        self._issued = max(self._issued, largest([event], "number"))

    def _follow(self) -> None:
        """Let everything count that is in the journal, one event after the other, and give none of its numbers again."""
        events = self._journal.events
        new = events[self._n_followed :]
        for n_events in range(self._n_followed + 1, len(events) + 1):
            self._following(events[:n_events])()
        self._issued = max(self._issued, largest(new, "number"))
        taken = {event.get("number") for event in new}
        self._open = {pair: number for pair, number in self._open.items() if number not in taken}

    def _following(self, events: list[Event]) -> Callable[[], None]:
        """Solve what differs between the answers that count so far and those of `events`; the value lets them count."""
        given, n_events = effective_answers(events), len(events)
        before, after = ({(a.number, a.choice): a for a in some} for some in (self._given, given))
        changed = [row for key in before.keys() ^ after.keys() for row in _rows((before | after)[key])]
        records = self._parts.together(changed) if changed else np.empty(0, np.int64)
        solved = self._solved(records, given) if changed else None

        def let_count() -> None:
            self._given, self._n_followed = given, n_events
            if solved is not None:
                part, gone = self._parts.join(changed)
                for number in (part, *gone):
                    self._doubts.pop(number, None)
                    self._versions[number] = self._versions.get(number, 0) + 1
                self._take(part, records, *solved)

        return let_count

    def _solved(self, records: np.ndarray, given: list[Answer]) -> tuple[np.ndarray, Columns]:
        """Labels of some whole parts and their doubtful decisions, with the numbers of the records."""
        inside = [
            a for a in given if all(records[np.searchsorted(records, row, "right") - 1] == row for row in _rows(a))
        ]
        must, cannot = (np.searchsorted(records, links) for links in self._links(inside))
        own = self._parts.problem(records)
        try:
            found = own.with_links(must, cannot).solved()
        except InconsistentConstraintsError:
            try:
                self._whole.with_links(*self._links(given))
            except InconsistentConstraintsError as error:  # the same contradiction, told with the ids
                error.args = (f"{error} Undo or change the answer that is wrong.",)
                raise
            raise
        return found.labels, found.doubtful

    def _take_all(self, problem: ScoredPairs) -> None:
        found = ScoredPairs(Columns(id=np.arange(len(self.ids))), problem.evidence, problem.rules).solved()
        first = np.unique(found.labels, return_index=True)[1]
        self.labels_[:] = first[found.labels] if len(first) else 0
        parts = self._parts.part[found.doubtful["a"].astype(np.int64)]
        order = np.argsort(parts, kind="stable")
        numbers, starts = np.unique(parts[order], return_index=True)
        for part, rows in zip(numbers.tolist(), np.split(order, starts[1:]), strict=False):
            self._note(part, found.doubtful.select(rows))

    def _take(self, part: int, records: np.ndarray, labels: np.ndarray, doubtful: Columns) -> None:
        first = np.unique(labels, return_index=True)[1]
        self.labels_[records] = records[first][labels]
        self._note(part, doubtful)

    def _note(self, part: int, doubtful: Columns) -> None:
        version = self._versions.setdefault(part, 0)
        if doubtful.n_rows == 0:
            return
        self._doubts[part] = doubtful
        for margin, first, second in self._open_doubts(part):
            heappush(self._heap, (margin, first, second, part, version))

    def _open_doubts(self, part: int) -> list[tuple[float, int, int]]:
        return list(zip(self._doubts[part]["margin"].tolist(), *self._ends(part), strict=True))

    def _ends(self, part: int) -> tuple[list[int], list[int]]:
        return self._doubts[part]["a"].tolist(), self._doubts[part]["b"].tolist()

    def _members_of(self, cluster: Any) -> np.ndarray:
        cluster = check_row(cluster, len(self.ids))
        records = self._parts.members(int(self._parts.part[cluster]))
        members = records[self.labels_[records] == cluster]
        if len(members) == 0:
            raise ValueError(f"There is no cluster {cluster}.")
        return members

    def _links(self, given: list[Answer]) -> tuple[np.ndarray, np.ndarray]:
        same, different = (
            np.array([_rows(answer) for answer in given if answer.choice == choice], dtype=np.int64).reshape(-1, 2)
            for choice in ("same", "different")
        )
        return same, different

    def _check_kind(self, kind: str) -> None:
        if check_kind(kind) != "pair":
            raise ValueError('Records are compared in pairs: kind="pair".')

    def _next_number(self) -> int:
        self._issued += 1
        return self._issued


def _rows(answer: Answer) -> tuple[int, int]:
    if answer.kind != "pair" or answer.second is None:
        raise ValueError(f"Answer {answer.number} is not about a pair; the journal was not written by a resolution.")
    return answer.first, answer.second


def _fingerprint(problem: ScoredPairs) -> str:
    """Of the scored pairs and the ids; rules may change between one session and the next."""
    digest = hashlib.blake2b("\0".join(map(str, problem.ids)).encode(), digest_size=16)
    digest.update(problem.evidence.pairs.tobytes() + problem.evidence.probability.tobytes())
    return digest.hexdigest()
