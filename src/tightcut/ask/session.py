"""`Session`: asks one question after another and keeps labels that follow from the answers.

Everything is a function of the data, the seed and the journal: the same journal leads to the same labels and to the same
next question, however often and in whatever order they were read.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any

import numpy as np

from tightcut.ask import validation as choices
from tightcut.ask.beliefs.evidence import COMPARE, believed_constraints, judge, truth_of
from tightcut.ask.beliefs.setup import survey
from tightcut.ask.contradictions import find_contradictions
from tightcut.ask.errors import LostJournalError
from tightcut.ask.galleries import doubtful_rows, typical_members, typical_rows
from tightcut.ask.journal.file import Event, Journal, identify, now
from tightcut.ask.journal.replay import answer_event, check_last, largest, numbered, to_answer, undoing
from tightcut.ask.questions.choose import Placing
from tightcut.ask.questions.placing import Item, Planner
from tightcut.ask.questions.progress import measure
from tightcut.ask.records import Answer, Contradiction, Group, Progress, Question
from tightcut.ask.state import State
from tightcut.problem import Constraints
from tightcut.utils.display import counted

SHOWN_MEMBERS = 8
PREPARED = 5_000  # points from which it pays to prepare while the person thinks


class Session(State):
    """Ask a person where things belong, and cluster by the answers.

    Parameters
    ----------
    X : array-like of shape (n, n_features), or similarities of shape (n, n)
        One row for each thing.
    n_clusters : int or "auto", default="auto"
        Number of clusters, if it is known.
    affinity : {"knn", "precomputed"}, default="knn"
        "precomputed" takes X as similarities, dense or sparse, symmetric and non-negative.
    answers : path-like, optional
        Journal of the answers (JSON lines), created or continued. Without it the answers are kept in memory only.
    n_neighbors : int, default=7
        Neighbours of each point in the graph.
    random_state : int, Generator, RandomState or None
        An int makes the questions the same on every run. A journal that is continued keeps its own.
    n_jobs : int, optional
        Threads, as in joblib.

    Attributes
    ----------
    labels_ : int ndarray of shape (n,)
        The group of each point. Every believed answer is satisfied. Numbers that are no id of `groups` stand for
        regions of the plain cut about which nothing is known yet.
    constraints_ : Constraints
        The believed answers; consistent.
    n_answers_ : int
        Answers that count now: pairs, picks and corrections.
    n_actions_ : int
        Everything that people did: answers, corrections, revisions and undos.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.ask import Session
    >>> points = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0]], 30, axis=0)
    >>> truth = np.repeat(["left", "right"], 30)
    >>> session = Session(points, random_state=0)
    >>> while session.n_answers_ < 6 and (question := session.question()) is not None:
    ...     same = truth[question.first] == truth[question.second]
    ...     session.answer(question, "same" if same else "different")
    >>> [group.size for group in session.groups]
    [30, 30]
    >>> session
    Session(60 points, 6 answers)
    """

    def __init__(
        self,
        X: Any,
        n_clusters: int | str = "auto",
        *,
        affinity: str = "knn",
        answers: Any = None,
        n_neighbors: int = 7,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self._X = choices.check_data(X, affinity)
        self.n_clusters = choices.check_n_clusters(n_clusters, self._X.shape[0])
        self.affinity, self.n_neighbors, self.n_jobs = affinity, n_neighbors, n_jobs
        self._journal = Journal(answers, identify(self._X, affinity))
        seed = int(self._journal.header.get("seed", choices.read_seed(random_state)))
        self._landscape = survey(self._X, self.n_clusters, affinity, n_neighbors, seed, n_jobs)
        # Group 0 begins with the point of the largest degree.
        self._journal.begin({"seed": seed, "anchor": self._landscape.hub})
        begun = int(self._journal.header["seed"])
        if begun != seed:  # another session began the journal during the survey
            self._landscape = survey(self._X, self.n_clusters, affinity, n_neighbors, begun, n_jobs)
        self._issued = largest(self._journal.events, "number")
        self._open = {}

    def __repr__(self) -> str:
        return f"Session({counted(self._landscape.n_points, 'point')}, {counted(self.n_answers_, 'answer')})"

    @classmethod
    def load(cls, path: Any, X: Any, n_clusters: int | str = "auto", **settings: Any) -> Session:
        """Resume the session whose journal is at `path`; `settings` are those of the constructor."""
        from pathlib import Path

        if not Path(path).is_file():
            raise FileNotFoundError(f"There is no journal at {path}; Session(X, answers={str(path)!r}) begins one.")
        return cls(X, n_clusters, answers=path, **settings)

    # What the person does

    def question(self, kind: str = "pair") -> Question | None:
        """The next question; None when there is nothing left to ask. Asking twice without an answer asks the same."""
        found = self.questions(1, kind=kind)
        return found[0] if found else None

    def questions(self, n: int, *, kind: str = "pair") -> list[Question]:
        """Up to n questions that do not depend on each other."""
        choices.check_kind(kind)
        if not isinstance(n, numbers.Integral) or n < 1:
            raise ValueError(f"n must be a whole number >= 1; got {n!r}.")
        with suppress(LostJournalError, OSError):  # the answer says so
            self.refresh()
        plan = self._plan(int(n), kind)
        self._prepare([row for row, _, _ in plan])
        return [self._question(kind, *item) for item in plan]

    def answer(self, question: Question, choice: Any, *, who: str | None = None, seconds: float | None = None) -> None:
        """Take an answer; when this returns, it is in the journal, on disk.

        Several sessions may share a journal: what the others have answered is taken in first.

        Parameters
        ----------
        question : Question
        choice : str or int
            About a pair "same", "different" or "unsure". Of a pick a group's id or name, "none" or "unsure"; a name
            that no group has founds one.
        who : str, optional
            Who answers.
        seconds : float, optional
            How long it took.

        Raises
        ------
        StaleQuestionError
            If the question was answered already, here or in another session.
        LostJournalError
            If the journal was deleted, moved or replaced; `save_journal` writes another.
        OSError
            If the answer could not be written, to a full disk for example. It does not count then; repeat it.
        """
        choices.check_question(question, self._landscape.n_points)
        self._record(
            lambda: choices.check_unanswered(question, self._journal.events),
            question.kind,
            question.first,
            question.second,
            choice,
            who=who,
            seconds=seconds,
            reason=question.reason,
            shown=[group.id for group in question.groups],
        )

    def move(self, row: int, group: Any, *, who: str | None = None) -> None:
        """Correct a point by hand: put it into a group (id or name), or into "none" of those there are."""
        row = choices.check_row(row, self._landscape.n_points)
        shown = [g.id for g in self.groups]
        self._record(self._next_number, "move", row, None, group, who=who, reason="moved by hand", shown=shown)

    def revise(self, number: int, choice: Any, *, who: str | None = None) -> None:
        """Change an earlier answer. The journal keeps both."""

        def event() -> Event:
            answer = numbered(self._answers, number)
            others = [a for a in self._answers if a.number != number]
            details = {"who": who, "reason": answer.reason, "shown": list(answer.shown)}
            changed = self._event(number, answer.kind, answer.first, answer.second, choice, others, **details)
            return {"event": "revise", "number": number, "time": now(), "answer": changed}

        self._append(event)

    def undo(self) -> Event:
        """Undo the last answer, correction, revision or name, and return its event."""
        line, event = undoing(self._journal.events)
        self._append(lambda: check_last(line, self._journal.events))
        return event

    def name(self, group: int, name: str) -> None:
        """Give a group a name. Two groups of the same name become one; answers that told them apart no longer count."""
        name = choices.check_name(name)
        self._append(lambda: {"event": "name", "group": self._group_id(group), "name": name, "time": now()})

    # What is known

    @property
    def labels_(self) -> np.ndarray:
        return self._current_labels().copy()

    @property
    def groups(self) -> list[Group]:
        """The groups known so far, by id."""
        labels, names = self._current_labels(), self._names
        sizes = np.bincount(labels, minlength=self._beliefs.evidence.n_groups)
        beliefs = self._beliefs
        members = Placing(beliefs).members
        return [
            Group(g, names.get(g), typical_members(beliefs, members[g], g, SHOWN_MEMBERS), int(sizes[g]))
            for g in sorted(members)
        ]

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that count now, each marked as believed or not."""
        return judge(self._beliefs.evidence, self._beliefs.answered)

    @property
    def n_answers_(self) -> int:
        return len(self._answers)

    @property
    def n_actions_(self) -> int:
        return sum(event["event"] != "name" for event in self._journal.events)

    @property
    def constraints_(self) -> Constraints:
        return believed_constraints(self._beliefs.evidence, self._beliefs.answered, self._landscape.n_points)

    def contradictions(self) -> list[Contradiction]:
        """Answers that contradict each other, as chains, each with the answer that is believed least."""
        beliefs = self._beliefs
        return find_contradictions(self.answers, truth_of(beliefs.evidence, beliefs.answered).tolist())

    def progress(self) -> Progress:
        """How much is settled, and what more answers would bring."""
        return measure(self._beliefs, self._beliefs.coarse)

    def typical(self, group: int, n: int = 20) -> np.ndarray:
        """Up to n rows of a group that are most surely in it."""
        return typical_rows(self._beliefs, self._current_labels(), self._group_id(group), n)

    def doubtful(self, n: int = 20) -> np.ndarray:
        """The n rows whose group is least sure."""
        return doubtful_rows(self._beliefs, n)

    def widget(self, things: Any = None) -> Any:
        """The page of `tightcut ask` in a notebook; `things` says what is shown of the rows.

        Needs anywidget, of the extra `tightcut[widget]`.
        """
        from tightcut.ask.page.widget import make_widget

        return make_widget(self, things)

    def close(self) -> None:
        """Close the journal. Everything in it is on disk already."""
        self._journal.close()

    # How it works

    def _record(
        self, number: Callable[[], int], kind: str, first: int, second: int | None, choice: Any, **details: Any
    ) -> None:
        def event() -> Event:
            return {
                "event": "answer",
                **self._event(number(), kind, first, second, choice, self._answers, **details),
            }

        self._issued = max(self._issued, self._append(event)["number"])
        self._open.pop((kind, first, second), None)

    def _event(
        self, number: int, kind: str, first: int, second: int | None, choice: Any, others: list[Answer], **details: Any
    ) -> Event:
        """An answer as it goes into the journal, with the group that it founds."""
        event = answer_event(number, kind, first, second, **details)
        if kind == "pair":
            event["choice"] = choices.check_pair_choice(choice)
            return event | self._consequences(event, others)
        event["choice"], name = self._picked(choice)
        if event["choice"] == "none":
            event["founds"] = self._next_group()
            if name is not None:
                event["founds_name"] = name
        return event

    def _picked(self, choice: Any) -> tuple[int | str, str | None]:
        """A group's id, "none" or "unsure"; and the name of a group to found."""
        if isinstance(choice, str):
            if choice in ("none", "unsure"):
                return choice, None
            name = choices.check_name(choice)
            for group, text in self._names.items():
                if text == name:
                    return group, None
            return "none", name
        return self._group_id(choice), None

    def _consequences(self, event: Event, others: list[Answer]) -> Event:
        """The group that the answer about a pair founds."""
        answer = to_answer(event)
        if answer.choice != "different" or answer.reason == COMPARE:
            return {}
        beliefs = self._believe([*others, answer])
        placing = Placing(beliefs)
        step = placing.step(answer.first)
        return {"founds": self._next_group()} if step.open and not step.groups else {}

    def _group_id(self, group: Any) -> int:
        known = [g.id for g in self.groups]
        if not isinstance(group, numbers.Integral) or isinstance(group, bool) or group not in known:
            raise ValueError(f"There is no group {group!r}; the groups are {', '.join(map(str, known))}.")
        return int(group)

    def _prepare(self, rows: list[int]) -> None:
        """Compute, while the person thinks, what answers about some rows will need. Changes no result."""
        if self._landscape.n_points < PREPARED:
            return
        for view in self._landscape.views:
            Thread(target=view.spreading.prepare, args=(rows,), daemon=True).start()

    def _plan(self, n: int, kind: str) -> list[Item]:
        """Rows to ask about: (first, second, reason)."""
        seed = (int(self._journal.header["seed"]), len(self._journal.events))
        planner = Planner(self._beliefs, self._leading.graph, self._beliefs.coarse, seed)
        return planner.pairs(n) if kind == "pair" else planner.picks(n, self.answers)

    def _question(self, kind: str, first: int, second: int | None, reason: str) -> Question:
        groups: tuple[Group, ...] = ()
        if kind == "pick":
            shares = self._beliefs.filled(np.array([first]))[0]
            groups = tuple(sorted(self.groups, key=lambda g: -shares[g.id]))
        if (kind, first, second) not in self._open:
            self._open[kind, first, second] = self._next_number()
        return Question(self._open[kind, first, second], kind, first, second, groups, reason)
