"""Cells, and the record of finished ones: a CSV file to which each is appended, in one piece, when it is done."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tightcut._support.atomic import replaced
from tightcut._support.extras import required

Row = dict[str, Any]

COLUMNS = (
    *("dataset", "method", "n_pairs", "fraction", "noise", "trial"),
    *("error", "cut", "violated_must", "violated_cannot", "violated", "ari", "nmi", "n_clusters"),
    *("seconds", "status", "message", "setting"),
)
WHOLE = ("n_pairs", "trial", "n_clusters")
TEXT = ("dataset", "method", "status", "message", "setting")


@dataclass(frozen=True, order=True)
class Cell:
    """One fit.

    Parameters
    ----------
    dataset, method : str
    pairs : float
        A whole number of random pairs; or, between 0 and 1, a fraction of the points, with all pairs among them.
    noise : float
        Share of the pairs whose kind is wrong.
    trial : int
    setting : str
        Fingerprint of the method's parameters, the graph and the seed: results of another setting do not count.
    """

    dataset: str
    method: str
    pairs: float
    noise: float
    trial: int
    setting: str = ""

    @classmethod
    def from_row(cls, row: Row) -> Cell:
        pairs = row["n_pairs"] if row["fraction"] is None else row["fraction"]
        return cls(row["dataset"], row["method"], pairs, row["noise"], row["trial"], row["setting"])

    @property
    def columns(self) -> dict[str, Any]:
        """What the cell contributes to its row."""
        names = ("dataset", "method", "n_pairs", "fraction", "noise", "trial", "setting")
        return {name: getattr(self, name) for name in names}

    @property
    def fraction(self) -> float | None:
        return self.pairs if 0 < self.pairs < 1 else None

    @property
    def n_pairs(self) -> int | None:
        return int(self.pairs) if self.fraction is None else None

    def __str__(self) -> str:
        pairs = f"{self.n_pairs} pairs" if self.fraction is None else f"pairs among {self.fraction:.3g} of the points"
        return f"{self.dataset}, {self.method}, {pairs}, trial {self.trial}"


class Record:
    """Finished cells, in memory and, if there is a path, on disk.

    Rows are appended by a single write and flushed to the disk; a line that a crash has cut short is dropped when the
    record is opened again. Only one run at a time may write to a file.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.rows: dict[Cell, Row] = {}
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size:
            self.rows = {Cell.from_row(row): row for row in read_rows(path)}
            os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
        else:
            path.write_text(_lines([], header=True))

    def add(self, cell: Cell, row: Row) -> None:
        self.rows[cell] = row
        if self.path is not None:
            with self.path.open("ab", buffering=0) as file:
                file.write(_lines([row]).encode())
                os.fsync(file.fileno())

    def tidy(self) -> None:
        """Rewrite the file in order, with only the latest setting of each cell."""
        if self.path is None:
            return
        latest = {replace(cell, setting=""): row for cell, row in self.rows.items()}
        with replaced(self.path) as stream:
            stream.write(_lines((latest[cell] for cell in sorted(latest)), header=True))


def read_rows(path: Path) -> list[Row]:
    """The rows of a record, without a last line that a crash has cut short."""
    text = path.read_text()
    reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1]))
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise ValueError(f"{path} is not a record of experiments: its columns are {reader.fieldnames}.")
    return [{column: _value(column, text) for column, text in row.items()} for row in reader]


def read_table(path: str | os.PathLike[str]) -> Any:
    """The table that `run` has left in a file, as a pandas data frame."""
    return as_table(read_rows(Path(path)))


def as_table(rows: Iterable[Row]) -> Any:
    pd = required("pandas", "A table of experiments", "frames")
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
