"""Cells, and the record of finished ones: a CSV file that grows by a line with every cell."""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]

STAMP = ("version", "commit", "graph")
COLUMNS = (
    *("dataset", "method", "n_pairs", "noise", "trial"),
    *("error", "cut", "violated_must", "violated_cannot", "violated", "ari", "nmi", "n_clusters", "smallest"),
    *("seconds", "status", "message", "setting"),
    *STAMP,
)
WHOLE = ("n_pairs", "trial", "n_clusters")
TEXT = ("dataset", "method", "status", "message", "setting", *STAMP)


@dataclass(frozen=True, order=True)
class Cell:
    """One fit."""

    dataset: str
    method: str
    n_pairs: int
    noise: float  # share of the pairs whose kind is wrong
    trial: int

    @classmethod
    def from_row(cls, row: Row) -> Cell:
        return cls(row["dataset"], row["method"], row["n_pairs"], row["noise"], row["trial"])

    @property
    def columns(self) -> Row:
        """What the cell contributes to its row."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.dataset}, {self.method}, {self.n_pairs} pairs, trial {self.trial}"


class Record:
    """Finished cells, in memory and, if there is a path, on disk. Only one run at a time may write to a file.

    A row is appended by a single write and flushed to the disk; a line that a crash has cut short is left out when the
    record is opened again.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        exists = path is not None and path.exists() and path.stat().st_size > 0
        self.rows: dict[Cell, Row] = {Cell.from_row(row): row for row in read_rows(path)} if path and exists else {}

    def set_aside(self, stale: Callable[[Row], bool]) -> str:
        """Drop rows that do not belong with those to come; what to say about it. The file stays beside it as it was."""
        current = {cell: row for cell, row in self.rows.items() if not stale(row)}
        n_stale = len(self.rows) - len(current)
        if n_stale == 0:
            return ""
        self.rows = current
        text = f"{n_stale} rows of another version, graph or setting do not count"
        if self.path is None:
            return text
        return f"{text}; they are kept in {shutil.copyfile(self.path, f'{self.path}.old')}"

    def add(self, cell: Cell, row: Row) -> None:
        self.rows[cell] = row
        if self.path is not None:
            with self.path.open("ab", buffering=0) as file:
                file.write(_lines([row]).encode())
                os.fsync(file.fileno())

    def save(self) -> None:
        """Write the file whole, in order; it appears at once or not at all."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_name(f"{self.path.name}.tmp")
        temporary.write_text(_lines((self.rows[cell] for cell in sorted(self.rows)), header=True))
        temporary.replace(self.path)


def read_rows(path: Path) -> list[Row]:
    """The rows of a record, without a last line that a crash has cut short; older versions have fewer columns."""
    text = path.read_text()
    reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1]))
    if not set(reader.fieldnames or ()) >= {"dataset", "method", "n_pairs", "noise", "trial", "status", "setting"}:
        raise ValueError(f"{path} is not a record of experiments: its columns are {reader.fieldnames}.")
    return [{column: _value(column, row.get(column, "")) for column in COLUMNS} for row in reader]


def read_table(path: str | os.PathLike[str]) -> Any:
    """The table that `run` has left in a file, as a pandas data frame."""
    return as_table(read_rows(Path(path)))


def as_table(rows: Iterable[Row]) -> Any:
    import pandas as pd

    table = pd.DataFrame([[row.get(column) for column in COLUMNS] for row in rows], columns=list(COLUMNS))
    return table.astype({column: "Int64" if column in WHOLE else "float64" for column in COLUMNS if column not in TEXT})


def _lines(rows: Iterable[Row], *, header: bool = False) -> str:
    """A line per row; floats in the shortest form that reads back as the same number, texts without line breaks."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    if header:
        writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow("" if row.get(column) is None else " ".join(str(row[column]).split()) for column in COLUMNS)
    return lines.getvalue()


def _value(column: str, text: str) -> Any:
    if column in TEXT:
        return text
    if text == "":
        return None
    return int(text) if column in WHOLE else float(text)
