"""Asking a person the few questions that lead to the right clustering.

`Session` asks and learns, `simulate` answers from known labels, `read_constraints` reads the answers as constraints.
"""

from __future__ import annotations

from tightcut.ask.beliefs.constraints import read_constraints
from tightcut.ask.errors import LostJournalError, StaleQuestionError
from tightcut.ask.page.items import Things
from tightcut.ask.records import Answer, Contradiction, Group, Progress, Question
from tightcut.ask.session import Session
from tightcut.ask.simulate import Round, simulate

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
