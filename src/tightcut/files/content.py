"""`Data`, what a file is read as: points or a graph with row names; `DataOptions`, how it is read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.features.pictures import PicturePoints
from tightcut.features.texts import Embed
from tightcut.files.sources import DataFile
from tightcut.files.tables import SUGGESTIONS, TableOptions


@dataclass(frozen=True, kw_only=True)
class DataOptions(TableOptions):
    """Which part of a file is what.

    Parameters
    ----------
    id, labels : str, optional
        Columns of identifiers and of known classes.
    columns, drop : tuple of str
        Features to use, or not to use; all if both are empty.
    encode : tuple of str
        Features that are categories: each value becomes a column of 0 and 1.
    text : tuple of str
        Columns of texts, by which the rows are clustered in place of all others.
    embed : callable, optional
        From texts, or pictures, to vectors; see `tightcut.features.embedder`.
    missing : {"error", "drop", "mean"}, default="error"
        Refuse missing values, leave out their rows, or fill in the mean of the column.
    graph : bool, optional
        Whether the file is a graph; None looks.
    distances : bool, default=False
        Whether the file is a square matrix of distances, which become the `points`; a graph is refused.
    features : bool, default=True
        False reads identifiers and labels alone.
    suggest : collection of str
        Options that messages may suggest, of `tightcut.files.tables.SUGGESTIONS`: those that the command has.
    header, decimal, asked_by
        As in `TableOptions`.
    """

    id: str | None = None
    labels: str | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    encode: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    embed: Embed | None = None
    missing: str = "error"
    graph: bool | None = None
    distances: bool = False
    features: bool = True
    suggest: Collection[str] = SUGGESTIONS


@dataclass(frozen=True, eq=False)
class Data:
    """What a file holds: `points` or `affinity`, and a name for each row.

    Parameters
    ----------
    path : DataFile
    ids : list of str
        Row numbers from 0, where the file has no identifiers.
    id_name : str
        Column they come from; "row" for row numbers, "vertex" for the ends of edges.
    points : ndarray of shape (n, d), optional
    affinity : csr_array of shape (n, n), optional
    columns : tuple of str
        Names of the features.
    labels : list, optional
        Known classes, None where unknown.
    notes : tuple of str
        How the file was understood, for the user.
    left_out : dict of int to str
        Rows of the file that were left out for missing values: position in the file, and identifier.
    suspects : tuple of str
        Features that look like the answer, such as a column of classes, and were not asked for by name.
    texts : list of str, optional
        What the points were made of.
    pictures : PicturePoints, optional
        What the points were made of.
    made_by : str
        How the points were made of texts or pictures; empty for other data.
    metric : str, optional
        The distance that the points were made for, if they were.
    """

    path: DataFile
    ids: list[str]
    id_name: str = "row"
    points: np.ndarray | None = None
    affinity: sp.csr_array | None = None
    columns: tuple[str, ...] = ()
    labels: list[str | None] | None = None
    notes: tuple[str, ...] = ()
    left_out: dict[int, str] = field(default_factory=dict)
    suspects: tuple[str, ...] = ()
    texts: list[str] | None = None
    pictures: PicturePoints | None = None
    made_by: str = ""
    metric: str | None = None

    @property
    def n_rows(self) -> int:
        return len(self.ids)

    @property
    def is_graph(self) -> bool:
        return self.affinity is not None

    @property
    def has_ids(self) -> bool:
        return self.id_name != "row"

    def in_file_order(self, values: Sequence[Any], absent: Any = "") -> Iterator[tuple[str, Any]]:
        """Every row of the file with its identifier and value; `absent` for rows that were left out."""
        rest = zip(self.ids, values, strict=True)
        for place in range(self.n_rows + len(self.left_out)):
            yield (self.left_out[place], absent) if place in self.left_out else next(rest)


def without_rows(data: Data, rows: np.ndarray, note: str) -> Data:
    """The data without the rows where a mask is True, which are named in `left_out`."""
    kept = (~rows).tolist()
    return replace(
        data,
        points=np.asarray(data.points)[~rows],
        ids=list(compress(data.ids, kept)),
        labels=None if data.labels is None else list(compress(data.labels, kept)),
        texts=None if data.texts is None else list(compress(data.texts, kept)),
        left_out={row: data.ids[row] for row in np.flatnonzero(rows).tolist()},
        notes=(*data.notes, note),
    )


def row_numbers(count: int) -> list[str]:
    return list(map(str, range(count)))
