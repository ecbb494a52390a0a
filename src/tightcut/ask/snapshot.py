"""Everything derived from one state of a journal: answers, names, beliefs, labels, groups, each computed at most once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tightcut.ask.beliefs.constraints import believed_constraints
from tightcut.ask.beliefs.evidence import gather, judge, truth_of
from tightcut.ask.beliefs.labels import labels_of
from tightcut.ask.beliefs.mixture import Beliefs, believe
from tightcut.ask.beliefs.setup import Setup
from tightcut.ask.contradictions import find_contradictions
from tightcut.ask.journal.replay import effective_answers, named_groups, skipped_groups
from tightcut.ask.journal.schema import Event
from tightcut.ask.questions.placing import PlacementProgress
from tightcut.ask.questions.progress import confidence_of, measure
from tightcut.ask.records import Answer, Contradiction, Group, Progress
from tightcut.problem import Constraints

SHOWN_MEMBERS = 8
WITHOUT_NAMES = ("beliefs", "placing", "labels", "judged", "constraints", "contradictions", "progress", "confidence")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A journal read once, and what it says about the points.

    Beliefs, labels and groups are computed when they are first needed: the next question needs no labels.

    Parameters
    ----------
    setup : Setup
    anchor : int
        The first point of group 0.
    n_events : int
        Lines of the journal that were read.
    given : list of Answer
        The answers that count.
    names : dict
        The name of each group that has one.
    joined : dict
        Of each group that a person has joined to another, the other.
    skipped_groups : list of int
        Groups without a name that a typed name may have meant.
    """

    setup: Setup
    anchor: int
    n_events: int
    given: list[Answer]
    names: dict[int, str]
    joined: dict[int, int]
    skipped_groups: list[int]

    @cached_property
    def beliefs(self) -> Beliefs:
        return believe(self.setup, gather(self.given, self.anchor, self.joined))

    @cached_property
    def placing(self) -> PlacementProgress:
        return PlacementProgress(self.beliefs)

    @cached_property
    def labels(self) -> np.ndarray:
        return labels_of(self.beliefs)

    @cached_property
    def judged(self) -> tuple[Answer, ...]:
        """The answers, each marked as believed or not."""
        return judge(self.beliefs.evidence, self.beliefs.answered)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups that have members, by id."""
        beliefs, members = self.beliefs, self.placing.members
        sizes = np.bincount(self.labels, minlength=beliefs.evidence.n_groups)
        return tuple(
            Group(g, self.names.get(g), beliefs.typical_members(members[g], g, SHOWN_MEMBERS), int(sizes[g]))
            for g in sorted(members)
        )

    @cached_property
    def constraints(self) -> Constraints:
        return believed_constraints(self.beliefs.evidence, self.beliefs.answered, self.setup.n_points)

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        truth = truth_of(self.beliefs.evidence, self.beliefs.answered).tolist()
        return tuple(find_contradictions(self.judged, truth))

    @cached_property
    def progress(self) -> Progress:
        return measure(self.beliefs, self.confidence)

    @cached_property
    def confidence(self) -> np.ndarray:
        """Probability that the label of each point is right."""
        return confidence_of(self.beliefs)

    def with_answers(self, given: list[Answer]) -> Snapshot:
        """What would be believed if other answers counted."""
        return Snapshot(self.setup, self.anchor, -1, given, self.names, self.joined, self.skipped_groups)


def take_snapshot(setup: Setup, anchor: int, events: list[Event], *known: Snapshot) -> Snapshot:
    """Read events; what was computed for the same answers in one of the `known` snapshots is taken from there."""
    names, joined = named_groups(events)
    given = effective_answers(events)
    found = Snapshot(setup, anchor, len(events), given, names, joined, skipped_groups(events))
    for other in known:
        if (other.given, other.joined) == (given, joined):
            vars(found).update((key, value) for key, value in vars(other).items() if key in WITHOUT_NAMES)
    return found
