"""Models in files, with the identifiers and columns of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightcut._support.display import counted
from tightcut.cli._console import Console

if TYPE_CHECKING:
    from tightcut.cli._problem import Problem
    from tightcut.files import Data
    from tightcut.model import Model


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a model.

    Attributes
    ----------
    ids : list of str
    id_name : str
        Column they come from; "row" for row numbers, "vertex" for the ends of edges.
    columns : tuple of str or None
        Those that the model was fitted to; None if they have no names.
    """

    ids: list[str]
    id_name: str = "row"
    columns: tuple[str, ...] | None = None

    @classmethod
    def of_problem(cls, problem: Problem) -> Rows:
        data = problem.data
        return cls(list(data.ids), data.id_name, tuple(data.columns) or None)

    @classmethod
    def of_model(cls, model: Model) -> Rows:
        """As saved by the command line; for a model made in Python, row numbers and the names of the features."""
        noted = vars(model).get("_rows")
        if noted is None or len(noted["ids"]) != len(model.labels_):  # rows were added in Python
            names = getattr(model, "feature_names_in_", None)
            columns = None if names is None else tuple(map(str, names))
            return cls([str(row) for row in range(len(model.labels_))], columns=columns)
        columns = noted["columns"]
        ids, columns = list(noted["ids"]), None if columns is None else tuple(columns)
        return cls(ids, noted["id_name"], columns)

    def note_on(self, model: Model) -> None:
        import numpy as np

        model._rows = {  # noqa: SLF001
            "ids": np.array(self.ids, dtype=object),
            "id_name": self.id_name,
            "columns": None if self.columns is None else list(self.columns),
        }

    def with_new(self, data: Data | None) -> Rows:
        """Old and new rows; without identifiers the new ones have the next row numbers."""
        from tightcut.files import InputError

        if data is None:
            return self
        if self.id_name == "row":
            return replace(self, ids=[str(row) for row in range(len(self.ids) + data.n_rows)])
        known = set(self.ids)
        repeated = next((name for name in data.ids if name in known), None)
        if repeated is not None:
            raise InputError(
                f"{data.path}: {repeated!r} is a row of the model already; new rows need names of their own."
            )
        return replace(self, ids=[*self.ids, *data.ids])


def read_model(path: Path) -> Model:
    from tightcut.files import InputError
    from tightcut.files.sources import check_readable
    from tightcut.model import Model

    check_readable(path)
    try:
        return Model.load(path)
    except ValueError as error:
        raise InputError(str(error)) from error


def _told_by_the_model(message: str, *, own_id: bool) -> str:
    """A message about a column that the model names, not an option of the command."""
    message = message.partition(" --missing drop")[0]  # an option of other commands
    message = message.replace(" (--columns)", ", which the model was fitted to")
    message = message.replace(
        ", use another column, or leave out --id to number the rows", ", or use another column: --id"
    )
    return message.replace(" (--id)", ", which names the rows of the model; --id names another") if own_id else message


def read_new(path: Path, model: Model, rows: Rows, options: dict[str, Any], console: Console) -> tuple[Data, Any]:
    """New rows of a model: the file, and what `COSC.update` and `predict` take."""
    from tightcut.files import DataOptions, InputError, read_data

    if model._training_points is None and model.metric != "precomputed":  # noqa: SLF001
        raise InputError(
            f"The model was made of a graph, and {path} would have to hold the similarities of new vertices to all others. "
            "Use COSC.update in Python, or cluster the whole graph with --init."
        )
    named = options["id"] or (None if rows.id_name == "row" else rows.id_name)
    table = path.suffix.lower() not in {".npy", ".npz"}
    wanted = rows.columns or () if table else ()
    encoded = _encoded(path, wanted, options)
    reading = DataOptions(
        id=named if table else None,
        columns=tuple(dict.fromkeys(encoded.get(name, name) for name in wanted)),
        encode=tuple(dict.fromkeys(encoded.values())),
        graph=False,
        header=options["header"],
        decimal=options["decimal"],
        suggest=("decimal",),
    )
    try:
        data = read_data(path, reading)
    except InputError as error:
        raise InputError(_told_by_the_model(str(error), own_id=options["id"] is None)) from None
    if encoded:
        data = _as_in_the_model(data, wanted)
    for note in data.notes:
        console.note(f"Note: {note}")
    if data.points is None or data.points.shape[1] != model.n_features_in_:
        raise InputError(f"{path} has {len(data.columns)} columns to cluster by; the model has {model.n_features_in_}.")
    console.note(f"Read {counted(data.n_rows, 'row')} of {path.name}.")
    return data, data.points


def _encoded(path: Path, wanted: Sequence[str], options: dict[str, Any]) -> dict[str, str]:
    """Columns of the model that --encode has made, such as colour=red, and the column of the file that each is made of."""
    from tightcut.files import TableOptions, read_table

    if str(path) == "-" or not any("=" in name for name in wanted):
        return {}
    names = read_table(path, TableOptions(header=options["header"], decimal=options["decimal"])).names
    made = {}
    for column in wanted:
        sources = [name for name in names if column.startswith(f"{name}=")]
        if column not in names and sources:
            made[column] = max(sources, key=len)
    return made


def _as_in_the_model(data: Data, wanted: Sequence[str]) -> Data:
    """The columns of the model: 0 for values of categories that new rows do not have."""
    import numpy as np

    points = np.asarray(data.points)
    found = {name: points[:, place] for place, name in enumerate(data.columns)}
    strange = [name for name in data.columns if name not in wanted]
    notes = [f"The model does not know {name!r}; rows that have it count as none of its values." for name in strange]
    columns = [found.get(name, np.zeros(data.n_rows)) for name in wanted]
    return replace(data, points=np.column_stack(columns), columns=tuple(wanted), notes=tuple(notes))
