"""`Session`: asks one question after another and keeps labels that follow from the answers.

Everything is a function of the data, the seed and the journal: the same journal leads to the same labels and to the same
next question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from tightcut.ask.base import QuestionSession
from tightcut.ask.beliefs.evidence import COMPARE
from tightcut.ask.beliefs.setup import set_up
from tightcut.ask.errors import StaleQuestionError
from tightcut.ask.journal.file import Journal, timestamp
from tightcut.ask.journal.identity import check_data, identify
from tightcut.ask.journal.replay import active_events, answer_event, largest, to_answer
from tightcut.ask.journal.schema import PICK_WORDS, Event, check_name, check_row, is_whole
from tightcut.ask.questions.choose import UNNAMED, Planner
from tightcut.ask.records import Answer, Contradiction, Group, Progress, Question
from tightcut.ask.snapshot import Snapshot, take_snapshot
from tightcut.problem import Constraints
from tightcut.utils.display import count_noun

STEPS = 12  # of the history, at most
PREPARED = 5_000  # points from which it pays to prepare while the person thinks


class Session(QuestionSession):
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
    scale : {"auto", "none", "standard", "quantile"}, default="auto"
        How the columns are scaled, as in `COSC`; "auto" looks at them both as they are and with variance 1 where that
        differs much.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance between points; "cosine" compares directions.
    random_state : int, Generator, RandomState or None
        An int makes the questions the same on every run. A journal that is continued keeps its own.
    n_jobs : int, optional
        Threads, as in joblib.

    Attributes
    ----------
    labels_ : int ndarray of shape (n,)
        The group of each point. Every believed answer is satisfied. Numbers that are no id of `groups` stand for
        regions of the plain cut about which nothing is known yet.
    confidence_ : ndarray of shape (n,)
        Probability that each label is right, as far as the answers tell; its mean is `progress().expected_accuracy`.
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
        scale: str = "auto",
        metric: str = "euclidean",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self._X = check_data(X, affinity)
        self._n_rows = self._X.shape[0]
        self.n_clusters = _check_n_clusters(n_clusters, self._n_rows)
        self.affinity, self.n_neighbors, self.n_jobs = affinity, n_neighbors, n_jobs
        journal = Journal(answers, identify(self._X, affinity))
        seed = int(journal.header.get("seed", _read_seed(random_state)))
        # The journal is about the points as they are, however they are compared.
        self._setup = set_up(self._X, self.n_clusters, affinity, n_neighbors, seed, n_jobs, scale, metric)
        # Group 0 begins with the point of the largest degree.
        journal.begin({"seed": seed, "anchor": self._setup.hub})
        begun = int(journal.header["seed"])
        if begun != seed:  # another session began the journal during the preparation
            self._setup = set_up(self._X, self.n_clusters, affinity, n_neighbors, begun, n_jobs, scale, metric)
        super().__init__(journal)
        self._anchor = int(journal.header["anchor"])
        self._taken = self._considered = take_snapshot(self._setup, self._anchor, journal.events)

    def __repr__(self) -> str:
        return f"Session({count_noun(self._n_rows, 'point')}, {count_noun(self.n_answers_, 'answer')})"

    @classmethod
    def load(cls, path: Any, X: Any, n_clusters: int | str = "auto", **settings: Any) -> Session:
        """Resume the session whose journal is at `path`; `settings` are those of the constructor."""
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
        self._check_kind(kind)
        if not is_whole(n, 1):
            raise ValueError(f"n must be a whole number >= 1; got {n!r}.")
        self._try_to_refresh()
        known = self._snapshot
        planner = Planner(known.placing, (int(self._journal.header["seed"]), known.n_events))
        plan = planner.pairs(int(n)) if kind == "pair" else planner.picks(int(n), known.judged, known.skipped_groups)
        if self._n_rows >= PREPARED:  # what the answers will need is computed while the person thinks
            for view in self._setup.views:
                rows = np.array([row for row, _, _ in plan])
                Thread(target=view.spreading.inverse.columns, args=(rows,), daemon=True).start()
        return [self._question(kind, *item) for item in plan]

    def renewed(self, question: Question) -> Question | None:
        """An open question with the groups as they are now; None if somebody has answered it."""
        members = self._snapshot.placing.members
        skipped_groups = [row for group in self._snapshot.skipped_groups for row in members.get(group, [])]
        if super().renewed(question) is None or (question.reason == UNNAMED and question.first not in skipped_groups):
            return None
        return self._question(question.kind, question.first, question.second, question.reason)

    def prepare(self) -> None:
        if self._setup.predictors is not None:
            self._setup.predictors.compile()

    def move(self, row: int, group: Any, *, who: str | None = None) -> None:
        """Correct a point by hand: put it into a group (id or name), or into "none" of those there are."""
        row = check_row(row, self._n_rows)
        shown = [g.id for g in self.groups]
        draft = answer_event("move", row, None, who=who, reason="moved by hand", shown=shown)
        self._record_answer(self._next_number, draft, group)

    def name(self, group: int, name: str) -> None:
        """Give a group a name. Two groups of the same name become one; answers that told them apart no longer count."""
        name = check_name(name)
        self._record(lambda: {"event": "name", "group": self._group_id(group), "name": name, "time": timestamp()})

    # What is known

    @property
    def _snapshot(self) -> Snapshot:
        """What follows from the journal as it is now."""
        if self._taken.n_events != len(self._journal.events):
            known = self._taken, self._considered
            self._taken = self._considered = take_snapshot(self._setup, self._anchor, self._journal.events, *known)
        return self._taken

    @property
    def _given(self) -> list[Answer]:
        return self._snapshot.given

    @property
    def labels_(self) -> np.ndarray:
        return self._snapshot.labels.copy()

    @property
    def confidence_(self) -> np.ndarray:
        return self._snapshot.confidence.copy()

    @property
    def groups(self) -> list[Group]:
        """The groups known so far, by id."""
        return list(self._snapshot.groups)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that count now, each marked as believed or not."""
        return self._snapshot.judged

    @property
    def constraints_(self) -> Constraints:
        return self._snapshot.constraints

    def contradictions(self) -> list[Contradiction]:
        """Answers that contradict each other, as chains, each with the answer that is believed least."""
        return list(self._snapshot.contradictions)

    def progress(self) -> Progress:
        """How much is settled, and what more answers would bring."""
        return self._snapshot.progress

    def history(self) -> Iterator[tuple[int, Progress]]:
        events = [event for _, event in active_events(self._journal.events)]
        for end in np.unique(np.linspace(1, len(events) - 1, STEPS).astype(int)).tolist() if len(events) > 1 else ():
            then = take_snapshot(self._setup, self._anchor, events[:end])
            yield len(then.given), then.progress

    def typical(self, group: int, n: int = 20) -> np.ndarray:
        """Up to n rows of a group that are most surely in it."""
        group, known = self._group_id(group), self._snapshot
        rows = np.flatnonzero(known.labels == group)
        return rows[np.argsort(-known.beliefs.shares[rows, group], kind="stable")][:n]

    def doubtful(self, n: int = 20) -> np.ndarray:
        """The n rows whose group is least sure; answered rows come last."""
        beliefs = self._snapshot.beliefs
        top = beliefs.shares[:, :-1].max(axis=1)
        top[beliefs.evidence.points] = np.inf
        return np.argsort(top, kind="stable")[:n]

    def widget(self, things: Any = None) -> Any:
        """The page of `tightcut ask` in a notebook; `things` says what is shown of the rows.

        Needs anywidget, of the extra `tightcut[widget]`.
        """
        from tightcut.ask.page.widget import make_widget

        return make_widget(self, self._X, things, affinity=self.affinity)

    # How it works

    def _record_answer(self, number: Callable[[], int], draft: Event, choice: Any) -> None:
        """Write an answer; what a group is that was passed over is its name, and that of another group joins the two."""
        if draft["reason"] == UNNAMED and choice not in PICK_WORDS:
            self._record(lambda: self._naming(draft, choice))
        else:
            super()._record_answer(number, draft, choice)

    def _naming(self, draft: Event, choice: Any) -> Event:
        group, names = self._skipped_group(draft["first"]), self._snapshot.names
        chosen, name = self._picked(choice)
        if name is None and chosen not in names:
            raise ValueError(f"Group {chosen} has no name to give to another; name it first.")
        name = name or names[int(chosen)]
        return {"event": "name", "group": group, "name": name, "time": timestamp(), "who": draft["who"]}

    def _chosen(self, draft: Event, choice: Any, others: list[Answer]) -> Event:
        """An answer as it goes into the journal, with the group that it founds."""
        if draft["kind"] == "pair":
            event = super()._chosen(draft, choice, others)
            return event | self._consequences(event, others)
        choice, name = self._picked(choice)
        founded = {}
        if choice == "none":
            founded["founds"] = (
                self._skipped_group(draft["first"]) if draft["reason"] == UNNAMED else self._next_group()
            )
        return draft | {"choice": choice} | founded | ({} if name is None else {"founds_name": name})

    def _picked(self, choice: Any) -> tuple[int | str, str | None]:
        """A group's id, "none" or "unsure"; and the name of a group to found."""
        if not isinstance(choice, str):
            return self._group_id(choice), None
        if choice in PICK_WORDS:
            return choice, None
        name = check_name(choice)
        group = next((group for group, text in self._snapshot.names.items() if text == name), None)
        return ("none", name) if group is None else (group, None)

    def _consequences(self, event: Event, others: list[Answer]) -> Event:
        """The group that the answer about a pair founds."""
        answer = to_answer(event)
        if answer.choice != "different" or answer.reason == COMPARE:
            return {}
        self._considered = self._snapshot.with_answers([*others, answer])
        left = self._considered.placing.groups_left(answer.first)
        return {"founds": self._next_group()} if left == [] else {}

    def _next_group(self) -> int:
        return max(0, largest(self._journal.events, "founds")) + 1

    def _group_id(self, group: Any) -> int:
        known = [g.id for g in self._snapshot.groups]
        if not is_whole(group, 0) or group not in known:
            raise ValueError(f"There is no group {group!r}; the groups are {', '.join(map(str, known))}.")
        return int(group)

    def _skipped_group(self, row: int) -> int:
        """The group of a row, one that was passed over when a name was typed."""
        members = self._snapshot.placing.members
        group = next((group for group in self._snapshot.skipped_groups if row in members.get(group, [])), None)
        if group is None:
            raise StaleQuestionError("The group in question has a name meanwhile; ask question() again.")
        return group

    def _question(self, kind: str, first: int, second: int | None, reason: str) -> Question:
        groups: tuple[Group, ...] = ()
        if kind == "pick":
            shares = self._snapshot.beliefs.filled(np.array([first]))[0]
            groups = tuple(sorted(self._snapshot.groups, key=lambda g: -shares[g.id]))
            if reason == UNNAMED:
                groups = tuple(group for group in groups if group.name)
        return Question(self._numbered(kind, first, second), kind, first, second, groups, reason)


def _check_n_clusters(n_clusters: Any, n_points: int) -> int | None:
    if isinstance(n_clusters, str) and n_clusters == "auto":
        return None
    if not is_whole(n_clusters, 1, n_points + 1):
        raise ValueError(f'n_clusters must be "auto" or a whole number from 1 to {n_points}; got {n_clusters!r}.')
    return int(n_clusters)


def _read_seed(random_state: Any) -> int:
    """A whole number from what scikit-learn calls a random state."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))
