"""What a session returns: questions, groups, answers, contradictions and progress, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass

PAIR_CHOICES = ("same", "different", "unsure")


@dataclass(frozen=True)
class Group:
    """A group of points, as far as it is known.

    Parameters
    ----------
    id : int
        Number of the group; it stays the same throughout the session.
    name : str or None
        The name that a person gave to it.
    members : tuple of int
        A few typical rows among those that answers have put into the group.
    size : int
        Number of points that `Session.labels_` puts into it.
    """

    id: int
    name: str | None
    members: tuple[int, ...]
    size: int


@dataclass(frozen=True)
class Question:
    """One question to a person.

    Parameters
    ----------
    number : int
        Unique within the session.
    kind : {"pair", "pick"}
        "pair" asks whether `first` and `second` belong together, "pick" to which of `groups` the row `first` belongs.
    first : int
        The row that the question is about.
    second : int or None
        The row to compare it with; None for a pick.
    groups : tuple of Group
        The groups to pick from, likeliest first; empty for a pair.
    reason : str
        Why this is asked.
    """

    number: int
    kind: str
    first: int
    second: int | None
    groups: tuple[Group, ...]
    reason: str

    @property
    def rows(self) -> tuple[int, ...]:
        """The row that is asked about and, of a pair, the other one."""
        return (self.first,) if self.second is None else (self.first, self.second)


@dataclass(frozen=True)
class Answer:
    """One answer as it counts now, after revisions; answers that were undone are not among them.

    Parameters
    ----------
    number : int
        Number of the question, or of the correction.
    kind : {"pair", "pick", "move"}
        "move" is a correction by hand.
    first : int
        The row that was asked about.
    second : int or None
        The other row of a pair.
    choice : str or int
        "same", "different" or "unsure" for a pair; otherwise a group's id, "none" or "unsure".
    time : str
        When it was given, in UTC (ISO 8601).
    who : str or None
        Who gave it.
    seconds : float or None
        How long the person took.
    reason : str
        Why it was asked.
    believed : bool
        Whether `Session.labels_` follows it. An answer that others outweigh is kept and not believed.
    shown : tuple of int
        The groups that a pick offered.
    founds : int or None
        The group that began with this answer.
    """

    number: int
    kind: str
    first: int
    second: int | None
    choice: str | int
    time: str = ""
    who: str | None = None
    seconds: float | None = None
    reason: str = ""
    believed: bool = True
    shown: tuple[int, ...] = ()
    founds: int | None = None

    @property
    def rows(self) -> tuple[int, ...]:
        """The row that was asked about and, of a pair, the other one."""
        return (self.first,) if self.kind != "pair" or self.second is None else (self.first, self.second)


@dataclass(frozen=True)
class Contradiction:
    """Answers that cannot all be true.

    Parameters
    ----------
    chain : tuple of Answer
        The answers, in an order in which each shares a row or a group with the next.
    suspect : Answer
        The one that is believed least.
    """

    chain: tuple[Answer, ...]
    suspect: Answer


@dataclass(frozen=True)
class Progress:
    """How far a session has come.

    Parameters
    ----------
    settled : float
        Share of the points whose group the answers have settled.
    expected_accuracy : float
        Expected share of points in the right group.
    low, high : float
        The accuracy lies between these in about nine of ten sessions; less often where the graph joins groups.
    next_50 : float
        What 50 more answers are expected to add to the accuracy.
    """

    settled: float
    expected_accuracy: float
    low: float
    high: float
    next_50: float
