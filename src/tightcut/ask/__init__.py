"""Asking a person the few questions that lead to the right clustering.

`Session` asks and learns, `simulate` answers from known labels.
"""

from __future__ import annotations

from tightcut.ask.records import Answer, Contradiction, Group, Progress, Question
from tightcut.ask.session import Session
from tightcut.ask.simulation import Round, simulate

__all__ = ["Answer", "Contradiction", "Group", "Progress", "Question", "Round", "Session", "simulate"]
