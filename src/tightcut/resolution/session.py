"""Questions about the doubtful decisions of `resolve`: an answer is a rule, and the parts it concerns are solved again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import chain
from typing import Any

import numpy as np

from tightcut.ask.base import QuestionSession
from tightcut.ask.journal.file import Journal
from tightcut.ask.journal.replay import answer_event, effective_answers
from tightcut.ask.journal.schema import Event, check_row
from tightcut.ask.records import Answer, Contradiction, Group, Progress, Question
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.resolution.parts import Parts
from tightcut.resolution.result import Resolution, ScoredPairs
from tightcut.resolution.tables import Columns

RECENT = 6  # answers whose clusters are shown
NAMED = 5  # records that speak for or against a pair
SHOWN_MEMBERS = 8  # of each of these clusters
NINE_OF_TEN = 1.645  # standard deviations on either side that contain 90 % of a normal distribution
REASONS = {"must": "joined", "cannot": "cut"}


class ResolutionSession(QuestionSession):
    """Ask a person about the least certain decisions of `tightcut.resolve`; `Resolution.session` begins one.

    An answer becomes a rule. Only the records that could be the same as one of the two are resolved again, so the next
    question follows at once, however large the table. The questions can be answered in Python, on the page or in the
    terminal of `tightcut ask`.

    Attributes
    ----------
    ids : ndarray of shape (n,)
        The records; questions are about their positions.
    labels_ : ndarray of shape (n,)
        The cluster of each record, numbered by its first member; those of `resolve` with the answers as rules.
    n_doubtful_ : int
        Decisions that are still doubtful, including those answered with "unsure".
    n_answers_, n_actions_ : int
        Answers that count, and all actions of the person.

    See Also
    --------
    tightcut.ask.Session : Questions about points and graphs.
    """

    kinds = ("pair",)

    def __init__(self, problem: ScoredPairs, answers: Any = None) -> None:
        self.ids, self._whole, self._n_rows = problem.ids, problem, len(problem.ids)
        super().__init__(Journal(answers, {"rows": self._n_rows, "fingerprint": _fingerprint(problem)}))
        self._followed = effective_answers(self._journal.events)
        now_known = problem.with_links(*self._links(self._given))
        self._parts = Parts(problem)
        for answer in self._given:
            self._parts.join(_rows(answer))
        self._labels = np.empty(self._n_rows, np.int64)
        self._versions: dict[int, int] = {}
        self._doubts: dict[int, list[tuple[float, int, int]]] = {}
        self._heap: list[tuple[float, int, int, int, int, str]] = []
        whole = ScoredPairs(Columns(id=np.arange(self._n_rows)), now_known.evidence, now_known.rules).solved()
        self._take(whole.ids, whole.labels, whole.doubtful)
        self._journal.begin({"seed": 0, "anchor": 0})
        self._follow()  # answers that another session wrote in the meantime

    # Actions of the person

    def question(self, kind: str = "pair") -> Question | None:
        """The least certain decision, the same one until it is answered; None if no decision is doubtful."""
        self._check_kind(kind)
        self._try_to_refresh()
        skipped = {_rows(answer) for answer in self._given}
        while self._heap:
            _, first, second, part, version, kind_of_doubt = self._heap[0]
            if self._versions.get(part, 0) == version and (first, second) not in skipped:
                number = self._numbered("pair", first, second)
                return Question(number, "pair", first, second, (), REASONS[kind_of_doubt])
            heappop(self._heap)
        return None

    def move(self, row: int, group: Any, *, who: str | None = None) -> None:
        """Move a record to another cluster, or with "none" out of its own: an answer about one of the cluster's records."""
        row = check_row(row, len(self.ids))
        own = self._labels[row]
        others = [other for other in self._members_of(own if group == "none" else group).tolist() if other != row]
        if not others:
            raise ValueError("The record is alone in its cluster.")
        choice = "different" if group == "none" else "same"
        draft = answer_event("pair", row, others[0], who=who, reason="moved by hand")
        self._record_answer(self._next_number, draft, choice)

    def name(self, group: int, name: str) -> None:  # noqa: ARG002
        """Refuse a name: clusters of records have none."""
        raise ValueError("Clusters of records have no names here; use the ids of the clusters that are written.")

    # State

    def resolution(self) -> Resolution:
        """The result of `resolve` with the answers as rules."""
        return self._whole.with_links(*self._links(self._given)).solved()

    @property
    def answers(self) -> tuple[Answer, ...]:
        return tuple(self._given)

    @property
    def labels_(self) -> np.ndarray:
        return self._labels

    @property
    def _given(self) -> list[Answer]:
        return self._followed

    @property
    def n_doubtful_(self) -> int:
        return sum(map(len, self._doubts.values()))

    @property
    def constraints_(self) -> Constraints:
        """The answers as must-links and cannot-links between positions of `ids`."""
        return Constraints.from_pairs(len(self.ids), *self._links(self._given))

    @property
    def groups(self) -> list[Group]:
        """The clusters that the last answers were about."""
        rows = [row for answer in self._given[: -RECENT - 1 : -1] for row in _rows(answer)]
        clusters = dict.fromkeys(self._labels[rows].tolist())
        members = {cluster: self._members_of(cluster) for cluster in clusters}
        return [Group(c, None, tuple(rows[:SHOWN_MEMBERS].tolist()), len(rows)) for c, rows in members.items()]

    def contradictions(self) -> list[Contradiction]:
        """Always empty: an answer that contradicts others is refused."""
        return []

    def progress(self) -> Progress:
        """The share of settled decisions, and of decisions that are probably right, from the margins of doubtful ones."""
        margins = np.sort([margin for margin, *_ in self._all_doubts()])
        total = max(int((self._whole.evidence.weight > 0).sum()), len(margins), 1)
        wrong = 1 / (1 + np.exp(margins))
        expected, spread = 1 - wrong.sum() / total, NINE_OF_TEN * np.sqrt((wrong * (1 - wrong)).sum()) / total
        open_share = len(margins) / max(len(margins) + self.n_answers_, 1)
        low, high = max(expected - spread, 0.0), min(expected + spread, 1.0)
        return Progress(1 - open_share, float(expected), float(low), float(high), float(wrong[:50].sum() / total))

    @property
    def n_left_(self) -> int:
        """Doubtful decisions that nobody was asked about yet."""
        asked = {_rows(answer) for answer in self._given}
        return sum((first, second) not in asked for _, first, second in self._all_doubts())

    def evidence(self, question: Question) -> list[str]:
        """The score of the pair, and the records that speak for it (like both) and against it (like one, unlike the other)."""
        first, second = question.rows
        clusters = {int(self._labels[row]) for row in (first, second)}
        records = np.unique(np.concatenate([self._members_of(cluster) for cluster in clusters]))
        scores = self._parts.problem(records).evidence
        known = {tuple(pair): place for place, pair in enumerate(records[scores.pairs].tolist())}
        own = known.get((min(first, second), max(first, second)))
        found = ["Nothing has compared these two." if own is None else f"Their score is {scores.probability[own]:.3g}."]
        sides: dict[bool, list[str]] = {True: [], False: []}
        for row in records.tolist():
            places = [known.get((min(row, one), max(row, one))) for one in (first, second)]
            if None not in places:
                alike = [bool(scores.weight[place] > 0) for place in places]
                if any(alike):
                    sides[all(alike)].append(str(self.ids[row]))
        words = {True: "For it: like both", False: "Against it: like one, unlike the other,"}
        return found + [f"{words[side]} {_shortened(names)}." for side, names in sides.items() if names]

    def typical(self, group: int, n: int = 20) -> np.ndarray:
        return self._members_of(group)[:n]

    def doubtful(self, n: int = 20) -> np.ndarray:
        """Up to n records of doubtful decisions, the least certain first."""
        found = sorted(self._all_doubts())
        return np.array(list(dict.fromkeys(row for _, *pair in found for row in pair))[:n], dtype=np.int64)

    # Implementation

    def _following(self, events: list[Event]) -> Callable[[], None]:
        """Solve the parts that the answers of `events` change; calling the result makes these answers count."""
        given = effective_answers(events)
        before, after = ({(a.number, a.choice): a for a in some} for some in (self._given, given))
        changed = [row for key in before.keys() ^ after.keys() for row in _rows((before | after)[key])]
        records = self._parts.together(changed) if changed else np.empty(0, np.int64)
        solved = self._solved(records, given) if changed else None

        def let_count() -> None:
            self._followed = given
            if solved is not None:
                part, gone = self._parts.join(changed)
                for number in (part, *gone):
                    self._doubts.pop(number, None)
                    self._versions[number] = self._versions.get(number, 0) + 1
                self._take(records, *solved)

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

    def _take(self, records: np.ndarray, labels: np.ndarray, doubtful: Columns) -> None:
        """Adopt the labels and doubtful decisions of whole parts; a cluster is numbered by its first member."""
        first = np.unique(labels, return_index=True)[1]
        self._labels[records] = records[first][labels]
        columns = (doubtful[name].tolist() for name in ("margin", "a", "b", "type"))
        for margin, a, b, kind in zip(*columns, strict=True):
            part = int(self._parts.part[a])
            self._doubts.setdefault(part, []).append((margin, a, b))
            heappush(self._heap, (margin, a, b, part, self._versions.get(part, 0), kind))

    def _all_doubts(self) -> list[tuple[float, int, int]]:
        return list(chain.from_iterable(self._doubts.values()))

    def _members_of(self, cluster: Any) -> np.ndarray:
        cluster = check_row(cluster, len(self.ids))
        records = self._parts.members(int(self._parts.part[cluster]))
        members = records[self._labels[records] == cluster]
        if len(members) == 0:
            raise ValueError(f"There is no cluster {cluster}.")
        return members

    def _links(self, given: list[Answer]) -> tuple[np.ndarray, np.ndarray]:
        same, different = (
            np.array([_rows(answer) for answer in given if answer.choice == choice], dtype=np.int64).reshape(-1, 2)
            for choice in ("same", "different")
        )
        return same, different


def _shortened(names: list[str]) -> str:
    verb = "is" if len(names) == 1 else "are"
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{verb} {', '.join(names[:NAMED])}{more}"


def _rows(answer: Answer) -> tuple[int, int]:
    if answer.kind != "pair" or answer.second is None:
        raise ValueError(f"Answer {answer.number} is not about a pair; the journal was not written by a resolution.")
    return answer.first, answer.second


def _fingerprint(problem: ScoredPairs) -> str:
    """Of the scored pairs and the ids; rules may change between one session and the next."""
    digest = hashlib.blake2b("\0".join(map(str, problem.ids)).encode(), digest_size=16)
    digest.update(problem.evidence.pairs.tobytes() + problem.evidence.probability.tobytes())
    return digest.hexdigest()
