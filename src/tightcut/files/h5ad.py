"""Single cells: the matrix of an .h5ad file, one of its embeddings or graphs, with what is known of each cell."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tightcut.files.errors import InputError, listed, parsing
from tightcut.files.formats import reader
from tightcut.files.sources import DataFile
from tightcut.utils.validation import did_you_mean

CELL = "cell"  # the column with the names of the cells
PREFERRED = "X_pca"


class Cells(NamedTuple):
    """Points with the names of the features, or a graph; columns that describe the cells; and notes."""

    points: np.ndarray | None
    graph: Any
    features: list[str]
    described: dict[str, np.ndarray]
    notes: tuple[str, ...]


def read_h5ad(source: DataFile) -> Cells:
    """The matrix X, or the part that the source names: an embedding, or a graph, such as ``cells.h5ad::connectivities``."""
    h5py = reader(source, "h5py")
    with parsing(source, "an .h5ad file"), h5py.File(source.open(), "r") as file:
        notes: tuple[str, ...] = ()
        embeddings, graphs = (list(file[kind]) if kind in file else [] for kind in ("obsm", "obsp"))
        points, graph, names = None, None, []
        if source.part in {None, "X"}:
            points, names = _dense(file["X"]), _column(file["var"], _index(file["var"]))
            if PREFERRED in embeddings:
                width = file["obsm"][PREFERRED].shape[1]
                notes = (f"{source.path.name}::{PREFERRED} would use its {width} principal components instead of X.",)
        elif source.part in embeddings:
            points = _dense(file["obsm"][source.part])
            names = [f"{source.part} {number}" for number in range(1, points.shape[1] + 1)]
        elif source.part in graphs:
            graph = _matrix(file["obsp"][source.part])
        else:
            known = ["X", *embeddings, *graphs]
            what = "embedding or graph" if graphs else "embedding"
            hint = did_you_mean(str(source.part), known[1:])
            raise InputError(f"{source.path} has no {what} {source.part!r}, but {listed(known)}.{hint}")
        described = file["obs"]
        index = _index(described)
        others = {CELL: np.asarray(_column(described, index))}
        # Columns of pandas' own types come in several parts; those that are not known here are left in the file.
        for name in set(described) - {index, CELL, "__categories"}:
            cells = _column(described, name)
            if cells is not None:
                others[name] = np.asarray(cells)
        return Cells(points, graph, list(map(str, names)), dict(sorted(others.items())), notes)


def _matrix(stored: Any) -> Any:
    """An array, dense or sparse as anndata writes it."""
    if hasattr(stored, "shape"):
        return np.asarray(stored)
    shape = tuple(int(size) for size in stored.attrs["shape"])
    kind = sp.csc_array if "csc" in str(stored.attrs["encoding-type"]) else sp.csr_array
    matrix = kind((stored["data"][:], stored["indices"][:], stored["indptr"][:]), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _dense(stored: Any) -> np.ndarray:
    matrix = _matrix(stored)
    return matrix.toarray() if sp.issparse(matrix) else matrix


def _index(frame: Any) -> str:
    name = frame.attrs.get("_index", "_index")
    return name.decode() if isinstance(name, bytes) else str(name)


def _column(frame: Any, name: str) -> Any:
    """A column of a data frame: numbers, texts or categories; None for other kinds."""
    stored = frame[name]
    if hasattr(stored, "shape"):
        return stored.asstr()[:].tolist() if stored.dtype.kind == "O" else stored[:]
    if not {"categories", "codes"} <= set(stored):
        return None
    values = list(map(str, _column(stored, "categories")))
    return [None if code < 0 else values[code] for code in stored["codes"][:].tolist()]
