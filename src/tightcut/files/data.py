"""Points or a graph from a file, with the identifiers of the rows.

| file | points | graph |
|---|---|---|
| tables: CSV, Parquet, Excel, ... (`tightcut.files.formats`) | one row each | header begins with source,target |
| NPY | array of shape (n, d) | with ``graph=True``, a square matrix of similarities |
| NPZ | array X; further arrays of length n are columns | as saved by `scipy.sparse.save_npz` |
| H5AD | X, or the embedding named behind ``::`` | the graph named behind ``::`` |
| MTX, GraphML, GML | | always |
| folder of pictures | one row each, of their light, edges and colours | |

Any of them may be packed (.gz, .zst) or come from standard input, ``-``. NPY and Parquet files of a gigabyte or more are
taken as points that stay in the file (`tightcut.files.large`).

``graph=True`` also takes any table of two or three columns as a list of edges, and a square table as similarities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from tightcut.files import large
from tightcut.files.arrays import read_npy, read_npz, read_sparse
from tightcut.files.content import Data, DataOptions, row_numbers
from tightcut.files.errors import InputError
from tightcut.files.features import id_column, read_points
from tightcut.files.formats import PARQUET, READERS, TABLES, open_parquet, read_parquet
from tightcut.files.graphs import (
    GRAPH_FILES,
    check_affinity,
    names_edges,
    names_weights,
    read_edges,
    read_graph_file,
    read_matrix_market,
)
from tightcut.files.h5ad import CELL, read_h5ad
from tightcut.files.raw import read_pictures
from tightcut.files.sources import DataFile, check_readable
from tightcut.files.tables import Table, read_table

KINDS = f"NPY, NPZ, MTX, GraphML, GML, H5AD, {TABLES}"


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
    if source.path.is_dir():
        return _from_folder(source, options)
    check_readable(source)
    if options.embed is not None and not options.text:
        raise InputError(
            f"{source}: --embed is for texts and for folders of pictures; name the columns of texts: --text COL"
        )
    readers = {".npy": _from_npy, ".npz": _from_npz, ".mtx": _from_mtx, ".h5ad": _from_h5ad}
    readers |= dict.fromkeys(GRAPH_FILES, _from_graph_file)
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


def _from_folder(source: DataFile, options: DataOptions) -> Data:
    _refuse_columns(options, f"{source} is a folder of pictures, which has no columns; leave out")
    if options.graph or options.distances:
        raise InputError(
            f"{source} is a folder of pictures; leave out {'--graph' if options.graph else '--metric precomputed'}."
        )
    return read_pictures(source, options)


def _stays_in_its_file(source: DataFile, options: DataOptions) -> bool:
    """Whether a file holds points, and many."""
    kept = source.is_plain_file and source.suffix in {".npy", *PARQUET}
    if not kept or options.graph or options.encode or options.text or options.missing != "error":
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
        return read_points(table, options)
    if len(table.names) > 3 and len(table.names) == table.n_rows:
        return _graph(source, check_affinity(source, table.numbers(table.names, suggest=("decimal",))), options)
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
    return read_points(table, options, read=lambda chosen: large.open_points(source, chosen))


def _from_npy(source: DataFile, options: DataOptions) -> Data:
    if not _stays_in_its_file(source, options):
        return _from_array(source, read_npy(source), {}, options)
    _refuse_columns(options, f"{source} is too large to be read whole, and its columns have no names: leave out")
    points = large.open_points(source)
    names = tuple(str(number + 1) for number in range(points.shape[1]))
    return Data(source, row_numbers(len(points)), points=points, columns=names)


def _from_mtx(source: DataFile, options: DataOptions) -> Data:
    return _graph(source, read_matrix_market(source), options)


def _from_h5ad(source: DataFile, options: DataOptions) -> Data:
    found, options = read_h5ad(source), replace(options, id=options.id or CELL)
    if found.points is not None:
        data = _from_array(source, found.points, dict(found.described), options, found.features)
        return replace(data, notes=(*found.notes, *data.notes))
    _refuse_columns(replace(options, id=None, labels=None), f"{source} is a graph; leave out")
    affinity = check_affinity(source, found.graph)
    table = Table(source, tuple(found.described), tuple(found.described.values()))
    named = read_points(table, replace(options, features=False))
    return replace(named, affinity=affinity, columns=())


def _from_graph_file(source: DataFile, options: DataOptions) -> Data:
    affinity, names = read_graph_file(source)
    return _graph(source, check_affinity(source, affinity), options, names)


def _from_npz(source: DataFile, options: DataOptions) -> Data:
    matrix = read_sparse(source)
    if matrix is not None and options.distances:
        return Data(source, row_numbers(matrix.shape[0]), points=sp.csr_array(matrix))
    if matrix is not None:
        if options.graph is False:
            raise InputError(f"{source} holds a sparse matrix, which tightcut takes as a graph; leave out --no-graph.")
        return _graph(source, check_affinity(source, matrix), options)
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
        return _graph(source, check_affinity(source, X), options)
    for name, array in others.items():
        if array is not None and array.shape != X.shape[:1]:
            raise InputError(
                f"{source}: array {name!r} has shape {array.shape}; it needs one value per point, {len(X)}."
            )
    names = tuple(names or (str(number + 1) for number in range(X.shape[1])))
    cells = [_absent(len(X)) if array is None else array for array in others.values()]
    table = Table(source, (*names, *others), (*X.T, *cells), has_header=False)
    return read_points(table, options, features=names)


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
    ids = row_numbers(affinity.shape[0]) if names is None else names
    return Data(source, ids, "row" if names is None else "vertex", affinity=affinity, notes=notes)


def _refuse_columns(options: DataOptions, message: str) -> None:
    names = ("id", "labels", "columns", "drop", "encode", "text")
    used = {f"--{name}": getattr(options, name) for name in names} | {"--missing": options.missing != "error"}
    for option, value in used.items():
        if value:
            raise InputError(f"{message} {option}.")


def _absent(n_rows: int) -> np.ndarray:
    """In place of a column that stays in its file: missing values, which take no memory."""
    return np.broadcast_to(np.nan, n_rows)
