"""The journal of a session: one JSON line per event, on disk before it counts.

The first line says which data the journal belongs to. Every further line is an answer, a revision, a name or an undo; a
line is never changed. A process killed while it writes leaves at most one torn line, which is dropped when the journal is
opened again: its event was never acknowledged.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np

from tightcut.ask.choices import check_data
from tightcut.ask.events import check_event, check_header
from tightcut.constraints import Constraints

FORMAT = 1
EVENTS = ("answer", "revise", "name", "undo")
Event = dict[str, Any]


class Journal:
    """Events in the order in which they happened, kept in memory and, with a path, on disk.

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
    >>> len(journal.events), journal.header["rows"]
    (1, 3)
    """

    def __init__(self, path: Any, identity: Event) -> None:
        self.path = None if path is None else Path(path)
        self.identity = identity
        self.header: Event = {}
        self.events: list[Event] = []
        self._file: IO[bytes] | None = None
        self._end = 0  # of the file, as long as nobody else writes to it
        if self.path is None or not self.path.exists():
            return
        known = _read_lines(self.path)
        if known:
            _check_data(known[0], identity, self.path)
            _check_events(known, self.path)
            self.header, self.events = known[0], known[1:]

    def begin(self, header: Event) -> None:
        """Open the file for writing: repair a torn last line, or write `header` as the first line of a new journal."""
        new = not self.header
        if new:
            self.header = {"format": FORMAT, "event": "data", "time": now(), **self.identity, **header}
        if self.path is None:
            return
        if new:
            self.path.write_bytes(b"")
        else:
            _drop_torn_line(self.path)
        self._file = self.path.open("ab")
        self._end = self._file.tell()
        if new:
            self._write(self.header)

    def append(self, event: Event) -> None:
        """Write an event; when this returns, it is on disk."""
        self._write(event)
        self.events.append(event)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, event: Event) -> None:
        line = json.dumps(event, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        if self.path is None:
            return
        if self._file is None:
            raise ValueError(f"The journal {self.path} is closed; open it again with Session.load.")
        end = os.fstat(self._file.fileno()).st_size
        if end != self._end:
            raise ValueError(
                f"Another session has written to {self.path}, so this answer does not count. Close one of the two, and open "
                "the journal again in the other."
            )
        try:
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:
            # A full disk may have taken half of the line; the next line must not be appended to it.
            self._file.close()
            os.truncate(self.path, end)
            self._file = self.path.open("ab")
            raise
        self._end = end + len(line)


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def fingerprint(X: Any) -> str:
    """A short name of the data that changes with every value of it.

    Examples
    --------
    >>> import numpy as np
    >>> fingerprint(np.zeros((2, 2))) == fingerprint(np.zeros((2, 2)))
    True
    >>> fingerprint(np.zeros((2, 2))) == fingerprint(np.zeros((4, 1)))
    False
    """
    digest = hashlib.blake2b(repr(tuple(X.shape)).encode(), digest_size=16)
    for block in _blocks(X):
        digest.update(block)
    return digest.hexdigest()


def read_events(path: Any) -> list[Event]:
    """All complete lines of a journal, the one that identifies the data first."""
    path = Path(path)
    events = _read_lines(path)
    if not events:
        raise ValueError(f"{path} is empty; it is not a journal of answers.")
    return events


def identify(X: Any, affinity: str = "knn") -> Event:
    """What the first line of a journal says of its data, points or with "precomputed" similarities."""
    X = check_data(X, affinity)
    return {"rows": int(X.shape[0]), "fingerprint": fingerprint(X)}


def read_constraints(path: Any, n_points: int | None = None, X: Any = None, affinity: str = "knn") -> Constraints:
    """The answers of a journal that can be true together, as must-links and cannot-links.

    Contradictions are settled by the answers alone; a `Session` also uses the data.

    Parameters
    ----------
    path : path-like
        A journal that a `Session` has written.
    n_points : int, optional
        Number of points of the data; a journal about another number is refused.
    X : array-like, optional
        The data; a journal of other data is refused.
    affinity : {"knn", "precomputed"}
        What X is, as in `Session`.
    """
    from tightcut.ask.evidence import believed_constraints, gather
    from tightcut.ask.history import effective_answers, named_groups
    from tightcut.ask.weighing import weigh

    header, *events = read_events(path)
    _check_header(header, Path(path))
    _check_events([header, *events], Path(path))
    rows = int(header["rows"])
    if n_points is not None and n_points != rows:
        raise ValueError(f"{path} holds answers about {rows} points; the data have {n_points}.")
    if X is not None:
        _check_data(header, identify(X, affinity), Path(path))
    evidence = gather(effective_answers(events), header["anchor"], named_groups(events)[1])
    return believed_constraints(evidence, weigh(evidence), rows)


def read_named_rows(path: Any) -> dict[str, list[int]]:
    """The names of groups in a journal, each with the rows that answers have put into the group."""
    from tightcut.ask.history import effective_answers, named_groups

    _, *events = read_events(path)
    names, joined = named_groups(events)
    members: dict[int, list[int]] = {}
    for answer in effective_answers(events):
        group = answer.founds if answer.founds is not None else answer.choice
        if answer.kind != "pair" and isinstance(group, int):
            members.setdefault(joined.get(group, group), []).append(answer.first)
    return {name: members[group] for group, name in names.items() if group in members}


def _blocks(X: Any) -> Iterable[bytes]:
    if hasattr(X, "indptr"):
        X = X.tocsr()
        for part in (X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(np.float64)):
            yield part.tobytes()
        return
    rows = max(1, (1 << 20) // max(1, X.shape[1]))
    for start in range(0, X.shape[0], rows):
        yield np.ascontiguousarray(X[start : start + rows], dtype=np.float64).tobytes()


def _read_lines(path: Path) -> list[Event]:
    """Parse a journal; a torn last line is left out, anything else that is no event is an error."""
    lines = path.read_bytes().split(b"\n")
    events: list[Event] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            if number == len(lines):  # no newline after it: torn
                break
            raise ValueError(
                f"Line {number} of {path} is not JSON; this is not a journal of answers, or it is damaged."
            ) from None
        if not isinstance(event, dict) or "event" not in event:
            raise ValueError(f"Line {number} of {path} is not an event; this is not a journal of answers.")
        if number == len(lines):  # complete JSON but no newline: it was never acknowledged
            break
        if events and not (isinstance(event["event"], str) and event["event"] in EVENTS):
            raise ValueError(
                f"Line {number} of {path} holds the unknown event {event['event']!r}; {path} may be newer than tightcut."
            )
        events.append(event)
    return events


def _drop_torn_line(path: Path) -> None:
    text = path.read_bytes()
    complete = text.rfind(b"\n") + 1
    if complete < len(text):
        os.truncate(path, complete)


def _check_header(header: Event, path: Path) -> None:
    if header.get("event") != "data" or "rows" not in header:
        raise ValueError(
            f"The first line of {path} does not say which data it belongs to; it is not a journal of answers."
        )
    if header.get("format") != FORMAT:
        raise ValueError(f"{path} has format {header.get('format')!r}; this version of tightcut reads format {FORMAT}.")


def _check_events(lines: list[Event], path: Path) -> None:
    for number, event in enumerate(lines, 1):
        try:
            check_event(event, number, lines[0]["rows"]) if number > 1 else check_header(event)
        except ValueError as error:
            raise ValueError(f"Line {number} of {path} is damaged: {error}.") from None


def _check_data(header: Event, expected: Event, path: Path) -> None:
    _check_header(header, path)
    if header["rows"] != expected["rows"]:
        raise ValueError(
            f"{path} holds answers about {header['rows']} rows, and X has {expected['rows']}: it belongs to other data. "
            "Give the data it was written for, or another path."
        )
    if header.get("fingerprint") != expected["fingerprint"]:
        raise ValueError(
            f"{path} holds answers about other data: as many rows, but other values, columns or order. Give the data as "
            "they were when the questions were asked, or another path. Where rows have names, the pairs that the page of "
            "tightcut ask writes (Pairs, CSV) hold in any order."
        )
