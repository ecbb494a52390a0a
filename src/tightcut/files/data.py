"""Points or a graph from a file, with the identifiers of the rows.

| file | points | graph |
|---|---|---|
| tables: CSV, Parquet, Excel, ... (`tightcut.files.formats`) | one row each | header begins with source,target |
| NPY | array of shape (n, d) | with ``graph=True``, a square matrix of similarities |
| NPZ | array X; further arrays of length n are columns | as saved by `scipy.sparse.save_npz` |
| H5AD | X, or the embedding named behind ``::`` | |
| MTX | | always |

Any of them may be packed (.gz, .zst) or come from standard input, ``-``. NPY and Parquet files of a gigabyte or more are
taken as points that stay in the file (`tightcut.files.large`).

``graph=True`` also takes any table of two or three columns as a list of edges, and a square table as similarities.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.files import large
from tightcut.files.arrays import read_npy, read_npz, read_sparse
from tightcut.files.errors import InputError, listed
from tightcut.files.features import (
    DataOptions,
    Features,
    chosen_columns,
    id_column,
    known_labels,
    read_features,
    split_names,
    suspected_answers,
)
from tightcut.files.formats import PARQUET, READERS, TABLES, open_parquet, read_parquet
from tightcut.files.graphs import checked_affinity, names_edges, names_weights, read_edges, read_matrix_market
from tightcut.files.h5ad import CELL, read_h5ad
from tightcut.files.sources import DataFile, check_readable
from tightcut.files.tables import Table, read_table

KINDS = f"NPY, NPZ, MTX, H5AD, {TABLES}"


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


def read_data(path: str | Path | DataFile, options: DataOptions | None = None) -> Data:
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
    source, options = DataFile.of(path), options or DataOptions()
    check_readable(source)
    readers = {".npy": _from_npy, ".npz": _from_npz, ".mtx": _from_mtx, ".h5ad": _from_h5ad}
    reader = readers.get(source.suffix, _from_table if source.suffix in READERS else None)
    if reader is None:
        from tightcut.fitted.archive import SUFFIX

        if source.suffix == SUFFIX:
            raise InputError(f"{source} is a saved model, not data; tightcut update, predict and ask take it.")
        raise InputError(f"{source}: tightcut does not read {source.suffix} files; use {KINDS}.")
    if not options.distances:
        return reader(source, options)
    if options.graph or options.encode or options.missing != "error":
        raise InputError("Distances are numbers in a square table; leave out --graph, --encode and --missing.")
    return _square(reader(source, replace(options, graph=False)))


def _square(data: Data) -> Data:
    """The same data, if it is a matrix of distances."""
    shape = None if data.points is None else data.points.shape
    if shape is None or shape[0] != shape[1]:
        found = "is a graph" if shape is None else f"has {shape[0]:,} rows and {shape[1]:,} columns of numbers"
        raise InputError(
            f"{data.path} {found}; a matrix of distances has one row and one column for each point. Leave out other columns "
            "with --id and --drop."
        )
    return data


def _stays_in_its_file(source: DataFile, options: DataOptions) -> bool:
    """Whether a file holds points, and many."""
    kept = source.is_plain_file and source.suffix in {".npy", *PARQUET}
    if not kept or options.graph or options.encode or options.missing != "error":
        return False
    if source.path.stat().st_size < large.LARGE_FILE:
        return False
    return source.suffix == ".npy" or options.graph is False or not names_edges(_heading(source))


def _heading(source: DataFile) -> Table:
    """The names of the columns of a Parquet file, without rows."""
    names = open_parquet(source).schema_arrow.names
    return Table(source, tuple(names), ((),) * len(names))


def _from_table(source: DataFile, options: DataOptions) -> Data:
    if _stays_in_its_file(source, options):
        return _from_parquet(source, options)
    table = read_table(source, options, names_weights if options.graph else None)
    if options.graph is False or not (options.graph or names_edges(table)):
        return _points(table, options)
    if len(table.names) > 3 and len(table.names) == table.n_rows:
        return _graph(source, checked_affinity(source, table.numbers(table.names, suggest=("decimal",))), options)
    affinity, names = read_edges(table)
    note = f"{source.name} is a list of {table.n_rows} edges between {len(names)} vertices"
    note += "" if options.graph else "; --no-graph would take its rows as points"
    return _graph(source, affinity, options, names, (note + ".",))


def _from_parquet(source: DataFile, options: DataOptions) -> Data:
    """Points that stay in their file; only identifiers and labels are read whole."""
    heading = _heading(source)
    named = [name for name in (id_column(heading, options)[0], options.labels) if name in heading.names]
    cells, names, _ = read_parquet(source, named)
    columns = dict.fromkeys(heading.names, _absent(open_parquet(source).metadata.num_rows))
    columns |= dict(zip(names or (), cells, strict=True))
    table = Table(source, heading.names, tuple(columns.values()))
    return _points(table, options, read=lambda chosen: large.open_points(source, chosen))


def _from_npy(source: DataFile, options: DataOptions) -> Data:
    if not _stays_in_its_file(source, options):
        return _from_array(source, read_npy(source), {}, options)
    _refuse_columns(options, f"{source} is too large to be read whole, and its columns have no names: leave out")
    points = large.open_points(source)
    names = tuple(str(number + 1) for number in range(points.shape[1]))
    return Data(source, _row_numbers(len(points)), points=points, columns=names)


def _from_mtx(source: DataFile, options: DataOptions) -> Data:
    return _graph(source, read_matrix_market(source), options)


def _from_h5ad(source: DataFile, options: DataOptions) -> Data:
    X, names, described, notes = read_h5ad(source)
    data = _from_array(source, X, described, replace(options, id=options.id or CELL), names)
    return replace(data, notes=(*notes, *data.notes))


def _from_npz(source: DataFile, options: DataOptions) -> Data:
    matrix = read_sparse(source)
    if matrix is not None and options.distances:
        return Data(source, _row_numbers(matrix.shape[0]), points=sp.csr_array(matrix))
    if matrix is not None:
        if options.graph is False:
            raise InputError(f"{source} holds a sparse matrix, which tightcut takes as a graph; leave out --no-graph.")
        return _graph(source, checked_affinity(source, matrix), options)
    named = {part.strip() for text in options.columns for part in (text, *text.split(","))}
    asked = {*options.columns, *named, options.id, options.labels}
    X, others = read_npz(source, lambda name: name in asked or name.lower() == "id")
    return _from_array(source, X, others, options)


def _from_array(
    source: DataFile,
    X: np.ndarray,
    others: dict[str, np.ndarray | None],
    options: DataOptions,
    names: Sequence[str] | None = None,
) -> Data:
    if X.dtype.kind not in "biuf":
        raise InputError(f"{source} holds values of type {X.dtype}; save an array of numbers.")
    if 0 in X.shape:
        raise InputError(f"{source} is empty: it holds an array of shape {X.shape}.")
    if X.ndim != 2:
        advice = (
            "If it is one feature, save X.reshape(-1, 1)."
            if X.ndim < 2
            else "To take all values of a point as features, save X.reshape(len(X), -1)."
        )
        raise InputError(
            f"{source} holds an array of shape {X.shape}; it must have two dimensions, one row per point. {advice}"
        )
    if options.graph:
        return _graph(source, checked_affinity(source, X), options)
    for name, array in others.items():
        if array is not None and array.shape != X.shape[:1]:
            raise InputError(
                f"{source}: array {name!r} has shape {array.shape}; it needs one value per point, {len(X)}."
            )
    names = tuple(names or (str(number + 1) for number in range(X.shape[1])))
    cells = [_absent(len(X)) if array is None else array for array in others.values()]
    table = Table(source, (*names, *others), (*X.T, *cells), has_header=False)
    return _points(table, options, features=names)


def _points(
    table: Table,
    options: DataOptions,
    features: Sequence[str] | None = None,
    read: Callable[[list[str]], np.ndarray] | None = None,
) -> Data:
    """Identifiers and labels from a table; numbers, too, or from where `read` finds them."""
    named, taken, notes = id_column(table, options)
    if options.labels is not None:
        table.find(options.labels, "--labels")
    chosen = chosen_columns(table, options, {*taken, options.labels}, features)
    ids = _row_numbers(table.n_rows) if named is None else table.identifiers(named)
    labels = None if options.labels is None else known_labels(table, options.labels)
    data = Data(table.path, ids, "row" if named is None else named, None, None, tuple(chosen), labels, notes)
    if not options.features:
        return data
    if read is not None:
        return _suspicious(replace(data, points=read(chosen)), options, ())
    encode = split_names(table, options.encode, "--encode")
    unused = [name for name in encode if name not in chosen]
    if unused:
        raise InputError(
            f"{table.path}: column {listed(unused)} is not used for clustering, so there is nothing to encode: it is named by "
            "both --encode and --drop, --id or --labels, or not named by --columns."
        )
    found = read_features(table, chosen, encode, options.missing, options.suggest)
    kept = _kept(replace(data, points=found.points, columns=found.columns, notes=(*notes, *found.notes)), found)
    return _suspicious(kept, options, encode)


def _suspicious(data: Data, options: DataOptions, encode: Sequence[str]) -> Data:
    """The data with a note on features that look like the answer, unless the features were named one by one."""
    if options.columns or options.distances or data.points is None:
        return data
    suspects = suspected_answers(data.points, data.columns, encode)
    if not suspects:
        return data
    one, drop = len(suspects) == 1, shlex.quote(",".join(suspects))
    note = (
        f"{'Column' if one else 'Columns'} {listed(suspects)} {'looks' if one else 'look'} like the answer, and "
        f"{'is' if one else 'are'} clustered by like any other; to leave {'it' if one else 'them'} out: --drop {drop}"
    )
    return replace(data, suspects=tuple(suspects), notes=(*data.notes, note))


def _kept(data: Data, found: Features) -> Data:
    """The data with identifiers and labels of the kept rows alone."""
    kept = found.kept.tolist()
    return replace(
        data,
        ids=list(compress(data.ids, kept)),
        labels=None if data.labels is None else list(compress(data.labels, kept)),
        left_out={row: data.ids[row] for row in np.flatnonzero(~found.kept).tolist()},
    )


def _graph(
    source: DataFile,
    affinity: sp.csr_array,
    options: DataOptions,
    names: list[str] | None = None,
    notes: tuple[str, ...] = (),
) -> Data:
    _refuse_columns(options, f"{source} is a graph, which has no columns; leave out")
    if affinity.shape[0] == 0:
        raise InputError(f"{source} holds a graph without vertices.")
    ids = _row_numbers(affinity.shape[0]) if names is None else names
    return Data(source, ids, "row" if names is None else "vertex", affinity=affinity, notes=notes)


def _refuse_columns(options: DataOptions, message: str) -> None:
    names = ("id", "labels", "columns", "drop", "encode")
    used = {f"--{name}": getattr(options, name) for name in names} | {"--missing": options.missing != "error"}
    for option, value in used.items():
        if value:
            raise InputError(f"{message} {option}.")


def _absent(n_rows: int) -> np.ndarray:
    """In place of a column that stays in its file: missing values, which take no memory."""
    return np.broadcast_to(np.nan, n_rows)


def _row_numbers(count: int) -> list[str]:
    return list(map(str, range(count)))
