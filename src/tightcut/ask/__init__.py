"""Asking a person the few questions that lead to the right clustering.

`Session` asks and learns, `simulate` answers from known labels, `read_constraints` reads the answers as constraints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tightcut.ask.beliefs.constraints import read_constraints
from tightcut.ask.errors import LostJournalError, StaleQuestionError
from tightcut.ask.records import Answer, Contradiction, Group, Progress, Question
from tightcut.ask.session import Session
from tightcut.ask.simulate import Round, simulate

if TYPE_CHECKING:
    from tightcut.ask.page.items import Things

__all__ = [
    "Answer",
    "Contradiction",
    "Group",
    "LostJournalError",
    "Progress",
    "Question",
    "Round",
    "Session",
    "StaleQuestionError",
    "Things",
    "read_constraints",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """The page is imported when something of it is used."""
    if name != "Things":
        raise AttributeError(f"module 'tightcut.ask' has no attribute {name!r}; it offers {', '.join(__all__)}.")
    from tightcut.ask.page.items import Things

    return Things
