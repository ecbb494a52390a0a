"""Points or a graph from a file, with the identifiers of the rows.

| file | points | graph |
|---|---|---|
| CSV, TSV, Parquet | one row each, columns of numbers | header begins with source,target (or from,to; src,dst) |
| NPY | array of shape (n, d) | with ``graph=True``, a square matrix of similarities |
| NPZ | array X; further arrays of length n are columns | as saved by `scipy.sparse.save_npz` |
| MTX | | always |

NPY and Parquet files of a gigabyte or more are taken as points that stay in the file (`tightcut.files.large`).

``graph=True`` also takes any table of two or three columns as a list of edges, and a square table as similarities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.files import large, parquet
from tightcut.files.arrays import read_npy, read_npz, read_sparse
from tightcut.files.cells import is_missing
from tightcut.files.errors import InputError, check_readable, listed
from tightcut.files.graphs import checked_affinity, has_weight_header, names_edges, read_edges, read_matrix_market
from tightcut.files.tables import TEXT_SUFFIXES, Table, TableOptions, Unread, read_table

KINDS = "CSV, TSV, Parquet, NPY, NPZ or MTX"


@dataclass(frozen=True, kw_only=True)
class DataOptions(TableOptions):
    """Which part of a file is what.

    Parameters
    ----------
    id, labels : str, optional
        Columns of identifiers and of known classes.
    columns, drop : tuple of str
        Features to use, or not to use; all if both are empty.
    graph : bool, optional
        Whether the file is a graph; None looks.
    features : bool, default=True
        False reads identifiers and labels alone.
    header, decimal
        As in `TableOptions`.
    """

    id: str | None = None
    labels: str | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    graph: bool | None = None
    features: bool = True


@dataclass(frozen=True, eq=False)
class Data:
    """What a file holds: `points` or `affinity`, and a name for each row.

    Parameters
    ----------
    path : Path
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
        What the reader should know about how the file was understood.
    """

    path: Path
    ids: list[str]
    id_name: str = "row"
    points: np.ndarray | None = None
    affinity: sp.csr_array | None = None
    columns: tuple[str, ...] = ()
    labels: list[str | None] | None = None
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        return len(self.ids)

    @property
    def is_graph(self) -> bool:
        return self.affinity is not None

    @property
    def has_ids(self) -> bool:
        return self.id_name != "row"


def read_data(path: Path, options: DataOptions | None = None) -> Data:
    r"""Read points or a graph; the name of the file says which kind it is, see the table at the top of this module.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tightcut.files import DataOptions, read_data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "flowers.csv")
    ...     _ = path.write_text("name,length,width\nrose,5.1,3.5\nlily,4.9,3.0\n")
    ...     flowers = read_data(path, DataOptions(id="name"))
    >>> flowers.ids, flowers.columns, flowers.points.tolist()
    (['rose', 'lily'], ('length', 'width'), [[5.1, 3.5], [4.9, 3.0]])
    """
    check_readable(path)
    options = options or DataOptions()
    suffix = path.suffix.lower()
    if suffix in TEXT_SUFFIXES | parquet.SUFFIXES:
        return _from_parquet(path, options) if _stays_in_its_file(path, options) else _from_table(path, options)
    if suffix == ".npy":
        if _stays_in_its_file(path, options):
            return _mapped_array(path, options)
        return _from_array(path, read_npy(path), {}, options)
    if suffix == ".npz":
        return _from_npz(path, options)
    if suffix == ".mtx":
        return _graph(path, read_matrix_market(path), options)
    raise InputError(f"{path}: tightcut does not read {suffix} files; use {KINDS}.")


def _stays_in_its_file(path: Path, options: DataOptions) -> bool:
    """Whether a file holds points, and many."""
    suffix = path.suffix.lower()
    if suffix not in {".npy", *parquet.SUFFIXES} or options.graph or path.stat().st_size < large.LARGE_FILE:
        return False
    return suffix == ".npy" or options.graph is False or not names_edges(_heading(path))


def _heading(path: Path) -> Table:
    """The names of the columns of a Parquet file, without rows."""
    names = parquet.column_names(path)
    return Table(path, tuple(names), ((),) * len(names))


def _from_table(path: Path, options: DataOptions) -> Data:
    table = read_table(path, options)
    if options.graph is False or not (options.graph or names_edges(table)):
        return _points(table, options)
    if options.graph and not names_edges(table) and table.lines is not None and options.header is None:
        bare = read_table(path, replace(options, header=False))
        table = table if has_weight_header(bare) else bare
    if len(table.names) > 3 and len(table.names) == table.n_rows:
        return _graph(path, checked_affinity(path, table.numbers(table.names)), options)
    affinity, names = read_edges(table)
    note = f"{path.name} is a list of {table.n_rows} edges between {len(names)} vertices"
    note += "" if options.graph else "; --no-graph would take its rows as points"
    return _graph(path, affinity, options, names, (note + ".",))


def _from_parquet(path: Path, options: DataOptions) -> Data:
    """Points that stay in their file; only identifiers and labels are read whole."""
    heading = _heading(path)
    named = [name for name in (_id_column(heading, options)[0], options.labels) if name in heading.names]
    names, cells = parquet.read_columns(path, named)
    n_rows = parquet.open_parquet(path).metadata.num_rows
    columns: dict[str, Any] = dict.fromkeys(heading.names, Unread(n_rows)) | dict(zip(names, cells, strict=True))
    table = Table(path, heading.names, tuple(columns.values()))
    return _points(table, options, read=lambda chosen: large.open_points(path, chosen))


def _mapped_array(path: Path, options: DataOptions) -> Data:
    _refuse_columns(options, f"{path} is too large to be read whole, and its columns have no names: leave out")
    points = large.open_points(path)
    names = tuple(str(number + 1) for number in range(points.shape[1]))
    return Data(path, _row_numbers(len(points)), points=points, columns=names)


def _from_npz(path: Path, options: DataOptions) -> Data:
    matrix = read_sparse(path)
    if matrix is not None:
        if options.graph is False:
            raise InputError(f"{path} holds a sparse matrix, which tightcut takes as a graph; leave out --no-graph.")
        return _graph(path, checked_affinity(path, matrix), options)
    named = {part.strip() for text in options.columns for part in (text, *text.split(","))}
    asked = {*options.columns, *named, options.id, options.labels}
    X, others = read_npz(path, lambda name: name in asked or name.lower() == "id")
    return _from_array(path, X, others, options)


def _from_array(path: Path, X: np.ndarray, others: dict[str, np.ndarray | None], options: DataOptions) -> Data:
    if X.dtype.kind not in "biuf":
        raise InputError(f"{path} holds values of type {X.dtype}; save an array of numbers.")
    if 0 in X.shape:
        raise InputError(f"{path} is empty: it holds an array of shape {X.shape}.")
    if X.ndim != 2:
        raise InputError(
            f"{path} holds an array of shape {X.shape}; it must have two dimensions, one row per point. "
            "If it is one feature, save X.reshape(-1, 1)."
        )
    if options.graph:
        return _graph(path, checked_affinity(path, X), options)
    for name, array in others.items():
        if array is not None and array.shape != X.shape[:1]:
            raise InputError(f"{path}: array {name!r} has shape {array.shape}; it needs one value per point, {len(X)}.")
    names = tuple(str(number + 1) for number in range(X.shape[1]))
    cells = [Unread(len(X)) if array is None else array for array in others.values()]
    table = Table(path, (*names, *others), (*X.T, *cells), has_header=False)
    return _points(table, options, features=names)


def _points(
    table: Table,
    options: DataOptions,
    features: Sequence[str] | None = None,
    read: Callable[[list[str]], np.ndarray] | None = None,
) -> Data:
    """Identifiers and labels from a table; numbers, too, or from where `read` finds them."""
    id_column, taken, notes = _id_column(table, options)
    if options.labels is not None:
        table.find(options.labels, "--labels")
    chosen = _chosen_columns(table, options, {*taken, options.labels}, features)
    return Data(
        table.path,
        _row_numbers(table.n_rows) if id_column is None else table.identifiers(id_column),
        "row" if id_column is None else id_column,
        (read(chosen) if read else table.numbers(chosen, droppable=True)) if options.features else None,
        None,
        tuple(chosen),
        None if options.labels is None else _known_labels(table, options.labels),
        notes,
    )


def _graph(
    path: Path,
    affinity: sp.csr_array,
    options: DataOptions,
    names: list[str] | None = None,
    notes: tuple[str, ...] = (),
) -> Data:
    _refuse_columns(options, f"{path} is a graph, which has no columns; leave out")
    if affinity.shape[0] == 0:
        raise InputError(f"{path} holds a graph without vertices.")
    ids = _row_numbers(affinity.shape[0]) if names is None else names
    return Data(path, ids, "row" if names is None else "vertex", affinity=affinity, notes=notes)


def _refuse_columns(options: DataOptions, message: str) -> None:
    used = {"--id": options.id, "--labels": options.labels, "--columns": options.columns, "--drop": options.drop}
    for option, value in used.items():
        if value:
            raise InputError(f"{message} {option}.")


def _id_column(table: Table, options: DataOptions) -> tuple[str | None, set[str | None], tuple[str, ...]]:
    """The column of identifiers, given or implied; the columns that are no measurements; what to say about them."""
    implied = None if options.columns else _implied_id(table)
    if options.id is None:
        note = f"Column {implied!r} is taken for identifiers; --columns would use it as data."
        return implied, {implied}, () if implied is None else (note,)
    table.find(options.id, "--id")
    note = f"Column {implied!r} is left out, as it seems to number the rows; --columns would use it as data."
    return options.id, {options.id, implied}, () if implied in {None, options.id} else (note,)


def _implied_id(table: Table) -> str | None:
    """A column that is clearly no measurement: named id, or an unnamed first one, as pandas writes its index."""
    named = next((name for name in table.names if name.lower() == "id"), None)
    if named is None and table.has_header and table.names[0] == "column 1":
        return table.names[0]
    return named


def _chosen_columns(
    table: Table, options: DataOptions, taken: set[str | None], features: Sequence[str] | None
) -> list[str]:
    dropped = set(_split_names(table, options.drop, "--drop"))
    if options.columns:
        chosen = _split_names(table, options.columns, "--columns")
    else:
        chosen = [name for name in features or table.names if name not in taken]
    chosen = [name for name in chosen if name not in dropped]
    if options.features and not chosen:
        raise InputError(f"{table.path} has no columns left to cluster by; it has {listed(table.names)}.")
    return chosen


def _split_names(table: Table, given: tuple[str, ...], option: str) -> list[str]:
    """Column names, each given by itself or several with commas between them."""
    names = []
    for text in given:
        parts = [text] if text in table.names else [part.strip() for part in text.split(",")]
        names += [table.names[table.find(part, option)] for part in parts]
    return list(dict.fromkeys(names))


def _known_labels(table: Table, name: str) -> list[str | None]:
    texts = table.texts(name)
    labels = [None if is_missing(text) or text in {"-1", "-"} else text for text in texts]
    if all(label is None for label in labels):
        raise InputError(f"{table.path}, column {name!r}: no row has a label; leave out --labels.")
    return labels


def _row_numbers(count: int) -> list[str]:
    return list(map(str, range(count)))
