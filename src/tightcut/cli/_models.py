"""Models in files, with the identifiers and columns of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightcut.cli._console import Console
from tightcut.utils.display import count_noun

if TYPE_CHECKING:
    from tightcut.certificates import Certificate
    from tightcut.files import Data
    from tightcut.fitted.state import FittedState, Rows


def rows_of(model: FittedState) -> Rows:
    """As saved by the command line; for a model made in Python, row numbers and the names of the features."""
    from tightcut.fitted.state import Rows

    if model.rows is not None:
        return model.rows
    names = model.feature_names
    columns = None if names is None else tuple(map(str, names))
    return Rows([str(row) for row in range(len(model.labels))], columns=columns)


def write_model(model: FittedState, data: Data, path: Path) -> None:
    """Save a model with the names of its rows and columns."""
    from tightcut.fitted.state import Rows
    from tightcut.fitted.storage import save

    save(replace(model, rows=Rows(list(data.ids), data.id_name, tuple(data.columns) or None)), path)


def proven_model(
    model: FittedState, seconds: float, console: Console, **settings: Any
) -> tuple[FittedState, Certificate]:
    """The model, or one with a better clustering, and its certificate."""
    from tightcut.fitted.bound import certify_state, remarks

    for remark in remarks(model):
        console.note(remark)
    with console.warnings_as_notes():
        return certify_state(model, seconds=seconds, progress=console.progress(), **settings)


def with_new(rows: Rows, data: Data | None) -> Rows:
    """Old and new rows; without identifiers the new ones have the next row numbers."""
    from tightcut.files import InputError

    if data is None:
        return rows
    if rows.id_name == "row":
        return replace(rows, ids=[str(row) for row in range(len(rows.ids) + data.n_rows)])
    known = set(rows.ids)
    repeated = next((name for name in data.ids if name in known), None)
    if repeated is not None:
        raise InputError(f"{data.path}: {repeated!r} is a row of the model already; new rows need names of their own.")
    return replace(rows, ids=[*rows.ids, *data.ids])


def read_model(path: Path) -> FittedState:
    from tightcut.files.sources import check_readable
    from tightcut.fitted.storage import load

    check_readable(path)
    return load(path)


def read_new(path: Path, model: FittedState, rows: Rows, options: dict[str, Any], console: Console) -> Data:
    """New rows of a model, with its columns in its order."""
    from tightcut.files import DataOptions, InputError, read_data

    if model.points is None and model.parameters.metric != "precomputed":
        raise InputError(
            f"The model was made of a graph, and {path} would have to hold the similarities of new vertices to all others. "
            "Use COSC.update in Python, or cluster the whole graph with --init."
        )
    named = options["id"] or (None if rows.id_name == "row" else rows.id_name)
    table = path.suffix.lower() not in {".npy", ".npz"}
    wanted = rows.columns or () if table else ()
    encoded = _encoded(path, wanted, options)
    fitted, names = ", which the model was fitted to", ", which names the rows of the model; --id names another"
    reading = DataOptions(
        id=named if table else None,
        columns=tuple(dict.fromkeys(encoded.get(name, name) for name in wanted)),
        encode=tuple(dict.fromkeys(encoded.values())),
        graph=False,
        header=options["header"],
        decimal=options["decimal"],
        suggest=("decimal",),
        asked_by={"--columns": fitted, "--encode": fitted, **({} if options["id"] else {"--id": names})},
    )
    data = read_data(path, reading)
    if encoded:
        data = _as_in_the_model(data, wanted)
    for note in data.notes:
        console.note(f"Note: {note}")
    if data.points is None or data.points.shape[1] != model.n_features:
        raise InputError(f"{path} has {len(data.columns)} columns to cluster by; the model has {model.n_features}.")
    console.note(f"Read {count_noun(data.n_rows, 'row')} of {path.name}.")
    return data


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
