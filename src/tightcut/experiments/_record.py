"""The record of finished cells: a CSV file to which each is appended, in one piece, when it is done."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tightcut.experiments._cells import Cell

Row = dict[str, Any]

COLUMNS = (
    *("dataset", "method", "n_pairs", "fraction", "noise", "trial"),
    *("error", "cut", "violated_must", "violated_cannot", "violated", "ari", "nmi", "n_clusters"),
    *("seconds", "status", "message", "setting"),
)
WHOLE = ("n_pairs", "trial", "n_clusters")
TEXT = ("dataset", "method", "status", "message", "setting")


class Record:
    """Finished cells, in memory and, if there is a path, on disk.

    Rows are appended by a single write and flushed to the disk; a line that a crash has cut short is dropped when the
    record is opened again. One run at a time may write to a file.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.rows: dict[Cell, Row] = {}
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size:
            _drop_unfinished_line(path)
            for row in read_rows(path):
                self.rows[cell_of(row)] = row
        else:
            path.write_text(_line(COLUMNS))

    def add(self, cell: Cell, row: Row) -> None:
        self.rows[cell] = row
        if self.path is not None:
            with self.path.open("ab", buffering=0) as file:
                file.write(_line([_text(row.get(column)) for column in COLUMNS]).encode())
                os.fsync(file.fileno())

    def tidy(self) -> None:
        """Rewrite the file in order, the latest setting of each cell only."""
        if self.path is None:
            return
        latest = {_place(cell): row for cell, row in self.rows.items()}
        lines = [_line([_text(latest[place].get(column)) for column in COLUMNS]) for place in sorted(latest)]
        unfinished = self.path.with_name(f"{self.path.name}.unfinished")
        unfinished.write_text("".join([_line(COLUMNS), *lines]))
        unfinished.replace(self.path)


def read_rows(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{path} is no record of experiments: its columns are {reader.fieldnames}.")
        return [{column: _value(column, text) for column, text in row.items()} for row in reader]


def read_table(path: str | os.PathLike[str]) -> Any:
    """The table that `run` has left in a file, as a pandas data frame."""
    return as_table(read_rows(Path(path)))


def as_table(rows: Iterable[Row]) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError('Tables of experiments need pandas: pip install "tightcut[frames]"') from error
    table = pd.DataFrame([[row.get(column) for column in COLUMNS] for row in rows], columns=list(COLUMNS))
    return table.astype({column: "Int64" if column in WHOLE else "float64" for column in COLUMNS if column not in TEXT})


def cell_of(row: Row) -> Cell:
    pairs = row["n_pairs"] if row["fraction"] is None else row["fraction"]
    return Cell(row["dataset"], row["method"], pairs, row["noise"], row["trial"], row["setting"])


def _place(cell: Cell) -> tuple[Any, ...]:
    return cell.dataset, cell.method, cell.pairs, cell.noise, cell.trial


def _drop_unfinished_line(path: Path) -> None:
    content = path.read_bytes()
    if not content.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)


def _line(values: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def _text(value: Any) -> str:
    """One line of text; floats by their shortest form that reads back as the same number."""
    return "" if value is None else " ".join(str(value).split())


def _value(column: str, text: str) -> Any:
    if column in TEXT:
        return text
    if text == "":
        return None
    return int(text) if column in WHOLE else float(text)
