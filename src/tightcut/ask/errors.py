"""Errors of a session: the journal is lost, or the question is stale."""

from __future__ import annotations

from errno import EDQUOT, EFBIG, ENOSPC

from tightcut.exceptions import TightcutError

FULL = (ENOSPC, EDQUOT, EFBIG)


class StaleQuestionError(TightcutError, ValueError):
    """An answer to a question that is not open: it was answered in another window, or belongs to another session."""


class LostJournalError(TightcutError, ValueError):
    """The journal of a session was deleted, moved, replaced or damaged while the session used it.

    Nothing is lost yet: the session has all answers in memory, and `save_journal` writes them to a new journal.

    Parameters
    ----------
    problem : str
        What happened to which file, as a sentence.

    Examples
    --------
    >>> from tightcut.ask import LostJournalError
    >>> print(LostJournalError("The journal a.jsonl was deleted or moved."))
    The journal a.jsonl was deleted or moved. This session still has all of its answers: session.save_journal() writes \
them to a new journal and goes on there.
    """

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)

    def __str__(self) -> str:
        remedy = "session.save_journal() writes them to a new journal and goes on there."
        return f"{self.problem} This session still has all of its answers: {remedy}"


def unwritten(error: OSError) -> str:
    """What to tell a person whose answer could not be written.

    Examples
    --------
    >>> print(unwritten(OSError(28, "No space left on device")))
    The answer could not be written (No space left on device) and does not count. Free some space and repeat.
    """
    remedy = "Free some space and repeat." if error.errno in FULL else "Repeat it once that is put right."
    return f"The answer could not be written ({error.strerror or error}) and does not count. {remedy}"
