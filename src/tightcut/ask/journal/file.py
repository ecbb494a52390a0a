"""The journal of a session: one JSON line per event, on disk before it counts.

The first line says which data the journal belongs to. Every further line is an answer, a revision, a name or an undo; a
line is never changed. A process killed while it writes leaves at most one torn line, which the next one drops that has the
lock: its event was never acknowledged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import FileIO
from itertools import chain, count
from pathlib import Path
from typing import Any

from tightcut.ask.errors import LostJournalError
from tightcut.ask.journal.locking import leads_to, lock_file, sync_folder
from tightcut.ask.journal.schema import FORMAT, Event, check_events, check_journal, check_same_data, parse


class Journal:
    """Events in the order in which they happened, kept in memory and, with a path, on disk.

    Any number of sessions may share a file. Each reads and writes it under a lock, and takes in what others have written
    before it writes. The path is opened again each time, so that no answer goes to a file that was moved or deleted.

    Parameters
    ----------
    path : path-like or None
        File to create or to continue; None keeps the events in memory only.
    identity : dict
        Identifies the data: `rows` and `fingerprint`. A journal of other data is refused.

    Examples
    --------
    >>> journal = Journal(None, {"rows": 3, "fingerprint": "abc"})
    >>> journal.begin({"seed": 0})
    >>> journal.append({"event": "name", "group": 0, "name": "Anna"})
    True
    >>> len(journal.events), journal.header["rows"]
    (1, 3)
    """

    def __init__(self, path: Any, identity: Event) -> None:
        self.path = None if path is None else Path(path).absolute()
        self.identity = identity
        self.header: Event = {}
        self.events: list[Event] = []
        self._open = False
        self._end = 0  # of the lines that were taken in or written
        self._last_line = b""  # the last of them: a file that was replaced or edited hardly has it in the same place
        if self.path is not None and self.path.exists():
            if not self.path.is_file():
                raise ValueError(f"{self.path} is not a file; name one for the answers.")
            with self._turn():
                pass

    def begin(self, header: Event) -> None:
        """Make `header` the first line of a new journal; from now on events can be appended.

        Where another session has begun the file meanwhile, the first line is that of the other.
        """
        header = {"format": FORMAT, "event": "data", "time": timestamp(), **self.identity, **header}
        if self.path is None:
            self.header = header
            return
        with self._turn(create=not self.header) as file:
            if not self.header:
                self._write(file, header)
                self.header = header
                sync_folder(self.path.parent)
        self._open = True

    def append(self, event: Event) -> bool:
        """Write an event; True says that it is on disk.

        Where others have written meanwhile, their events are taken in, this one is not written, and the value is False:
        what it says may depend on theirs.
        """
        known = len(self.events)
        if self.path is None:
            _line(event)
            self.events.append(event)
            return True
        if not self._open:
            raise ValueError(f"The journal {self.path} is closed; open it again with Session.load.")
        with self._turn() as file:
            if len(self.events) > known:
                return False
            self._write(file, event)
            self.events.append(event)
        return True

    def refresh(self) -> None:
        """Take in what others have written."""
        if self._open:
            with self._turn():
                pass

    def save(self, path: Any = None) -> Path:
        """Write all events to a new file and continue there: at `path`, or at the old path or, if that is taken, next to it."""
        if path is not None:
            target = Path(path).absolute()
        elif self.path is not None:
            target = _free_path(self.path)
        else:
            raise ValueError('The answers are kept in memory only; name a file, as in save_journal("answers.jsonl").')
        lines = [_line(event) for event in (self.header, *self.events)]
        text = b"".join(lines)
        with lock_file(target, create=True) as file:
            if file.read(1):
                raise ValueError(f"{target} is not empty; name a file that does not exist yet.")
            _append(file, target, 0, text)
            sync_folder(target.parent)
        self.path, self._open, self._end, self._last_line = target, True, len(text), lines[-1]
        return target

    def close(self) -> None:
        self._open = False

    @contextmanager
    def _turn(self, *, create: bool = False) -> Iterator[FileIO]:
        """The file, with everything in it taken in; nobody else writes until the block ends."""
        assert self.path is not None  # noqa: S101 (only journals with a file take turns)
        try:
            with lock_file(self.path, create=create) as file:
                self._take_in(file, self.path)
                yield file
        except FileNotFoundError:
            if create:
                raise
            raise LostJournalError(f"The journal {self.path} was deleted or moved.") from None

    def _take_in(self, file: FileIO, path: Path) -> None:
        """Read the lines that others have written. Half a line after them was never acknowledged, and goes."""
        file.seek(self._end - len(self._last_line))
        text = file.read()
        if not text.startswith(self._last_line):
            raise LostJournalError(f"The journal {path} was replaced, shortened or edited by another program.")
        text = text[len(self._last_line) :]
        complete = text.rfind(b"\n") + 1
        try:
            new = self._checked(text[:complete], path)
        except ValueError as error:
            if self.header:
                raise LostJournalError(str(error)) from None
            raise
        if text and not (self.header or new):
            raise ValueError(
                f"{path} has no first line that says which data it belongs to; it is not a journal of answers."
            )
        if complete < len(text):
            file.truncate(self._end + complete)
        if complete:
            self._last_line = text[text.rfind(b"\n", 0, complete - 1) + 1 : complete]
            self._end += complete
        if new and not self.header:
            self.header = new.pop(0)
        self.events += new

    def _checked(self, text: bytes, path: Path) -> list[Event]:
        """Lines as events, if they can continue this journal."""
        if self.header:
            number = len(self.events) + 2
            new = parse(text, path, number)
            check_events(new, path, number, self.header["rows"])
        else:
            new = parse(text, path)
            if new:
                check_same_data(new[0], self.identity, path)
                check_journal(new, path)
        return new

    def _write(self, file: FileIO, event: Event) -> None:
        assert self.path is not None  # noqa: S101 (only journals with a file write)
        line = _line(event)
        _append(file, self.path, self._end, line)
        self._end += len(line)
        self._last_line = line


def timestamp() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def read_events(path: Any) -> list[Event]:
    """All complete lines of a journal, the one that identifies the data first."""
    path = Path(path)
    text = path.read_bytes()
    events = parse(text[: text.rfind(b"\n") + 1], path)
    if not events:
        raise ValueError(f"{path} {'has no complete line' if text else 'is empty'}; it is not a journal of answers.")
    return events


def _line(event: Event) -> bytes:
    return json.dumps(event, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _append(file: FileIO, path: Path, end: int, text: bytes) -> None:
    """Put text on disk behind `end`, where the file ends now; all of it or, with an exception, nothing."""
    rest = memoryview(text)
    try:
        while rest:  # a disk that fills up takes a part, and refuses the next call
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
        if not leads_to(path, file):
            raise LostJournalError(f"The journal {path} was deleted or moved.")  # noqa: TRY301
    except BaseException:
        # Where even this fails, the half line goes in the next turn.
        with suppress(OSError):
            file.truncate(end)
        raise


def _free_path(path: Path) -> Path:
    """A path, or one with a number beside it, at which there is nothing; in the current folder if its own is gone."""
    folder = path.parent if path.parent.is_dir() else Path.cwd()
    names = chain([path.name], (f"{path.stem}-{number}{path.suffix}" for number in count(2)))
    return next(folder / name for name in names if not os.path.lexists(folder / name))
