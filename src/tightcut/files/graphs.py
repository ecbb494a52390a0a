"""Graphs from files: lists of edges, Matrix Market, sparse and dense matrices."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.files.cells import is_number
from tightcut.files.errors import InputError, parsing
from tightcut.files.tables import Table

END_NAMES = (("source", "target"), ("from", "to"), ("src", "dst"))
WEIGHT_NAMES = ("weight", "similarity", "affinity")
MANY_VERTICES, MOST_ISOLATED = 1_000_000, 100  # beyond both, a graph without edges is a damaged file


def names_edges(table: Table) -> bool:
    """Whether the header begins like a list of edges: source,target or from,to or src,dst."""
    return table.has_header and tuple(name.lower() for name in table.names[:2]) in END_NAMES


def read_edges(table: Table) -> tuple[sp.csr_array, list[str]]:
    """Symmetric weights and the vertices' names: in numerical order if all are whole numbers, else as they appear.

    An edge may be listed in one direction or in both; loops are ignored.
    """
    first, second, weight = _edge_columns(table)
    ends = [table.texts(first), table.texts(second)]
    for name, column in zip((first, second), ends, strict=True):
        if "" in column:
            raise InputError(f"{table.where(column.index(''), name)}: the name of a vertex is missing.")
    names = list(dict.fromkeys(name for pair in zip(*ends, strict=True) for name in pair))
    if all(name.isdecimal() for name in names):
        names.sort(key=int)
    place = {name: number for number, name in enumerate(names)}
    i, j = (np.array([place[name] for name in column]) for column in ends)
    weights = np.ones(table.n_rows) if weight is None else table.numbers([weight])[:, 0]
    _check_weights(table, weights, weight)
    _check_repeated(table, ends, np.minimum(i, j) * len(names) + np.maximum(i, j), weights)
    matrix = sp.coo_array((weights, (i, j)), shape=(len(names), len(names)))
    # Maximum, not sum: an edge listed in both directions is one edge.
    return _symmetric_maximum(matrix), names


def read_matrix_market(path: Path) -> sp.csr_array:
    """A Matrix Market file, dense or sparse, of real numbers.

    Not by scipy: its compiled reader believes an altered file and may crash, and its results differ between versions.
    """
    with parsing(path, "a Matrix Market file"), path.open(encoding="utf-8", errors="replace") as lines:
        layout, field, symmetry = _banner(lines.readline())
        sizes = next((line for line in lines if line.strip() and not line.startswith("%")), "")
        if layout == "array":
            shape = _whole(sizes, 2)
            values = _numbers(lines).ravel()
            return checked_affinity(path, _dense(values, shape, symmetry))
        *shape, n_entries = _whole(sizes, 3)
        width = 2 if field == "pattern" else 3
        entries = _numbers(lines) if n_entries else np.empty((0, width))
        if entries.shape != (n_entries, width):
            raise ValueError(f"{n_entries} entries are announced, {len(entries)} of {entries.shape[1]} values found")
        # Vertices count from 1; a number that is none, or not whole, falls out of the range or changes.
        ends = entries[:, :2] - 1
        if not ((ends >= 0) & (ends < shape) & (ends == np.floor(ends))).all():
            raise ValueError("an entry lies outside the matrix")
        row, column = ends.T.astype(np.int64)
        values = entries[:, 2] if width == 3 else np.ones(n_entries)
        if symmetry == "symmetric":
            below = row != column
            row, column = np.append(row, column[below]), np.append(column, row[below])
            values = np.append(values, values[below])
        return checked_affinity(path, sp.coo_array((values, (row, column)), shape=tuple(shape)))


def _banner(line: str) -> tuple[str, str, str]:
    """Layout, field and symmetry of the first line, such as %%MatrixMarket matrix coordinate real symmetric."""
    mark, *words = line.lower().split()
    choices = (("matrix",), ("coordinate", "array"), ("real", "integer", "pattern"), ("general", "symmetric"))
    if mark != "%%matrixmarket" or len(words) != 4:
        raise ValueError("the first line must be like %%MatrixMarket matrix coordinate real symmetric")
    for word, known in zip(words, choices, strict=True):
        if word not in known:
            raise ValueError(f"{word} is not supported here, only {' or '.join(known)}")
    return words[1], words[2], words[3]


def _numbers(lines: Iterable[str]) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a file that ends here
        return np.loadtxt(lines, comments="%", ndmin=2)


def _whole(line: str, count: int) -> list[int]:
    numbers = [int(word) for word in line.split()]
    if len(numbers) != count or min(numbers) < 0:
        raise ValueError(f"the line of sizes must hold {count} whole numbers, not {line.strip()!r}")
    return numbers


def _dense(values: np.ndarray, shape: list[int], symmetry: str) -> np.ndarray:
    """A matrix listed column by column; of a symmetric one only the part on and below the diagonal is."""
    rows, columns = shape
    if symmetry == "general":
        return values.reshape(columns, rows).T
    if values.size != rows * (rows + 1) // 2 or rows != columns:
        raise ValueError(f"{values.size} values do not fill a symmetric matrix of shape {rows} x {columns}")
    matrix = np.zeros((rows, rows))
    matrix[np.triu_indices(rows)] = values
    return np.maximum(matrix, matrix.T)


def checked_affinity(path: Path, matrix: Any) -> sp.csr_array:
    """A similarity matrix, or an error that names the file."""
    from tightcut.graph import validate_affinity

    n = matrix.shape[0]
    if sp.issparse(matrix) and n > MANY_VERTICES and n > MOST_ISOLATED * matrix.nnz:
        # A list of vertices alone would fill the memory.
        raise InputError(f"{path} holds {matrix.nnz:,} entries for {n:,} vertices; its size must be wrong.")
    try:
        return validate_affinity(matrix)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def _edge_columns(table: Table) -> tuple[str, str, str | None]:
    if len(table.names) < 2:
        raise InputError(f"{table.path}: a list of edges needs two columns of vertices, and this has one.")
    if names_edges(table):
        lower = [name.lower() for name in table.names]
        named = next((table.names[lower.index(name)] for name in WEIGHT_NAMES if name in lower), None)
        return table.names[0], table.names[1], named or (table.names[2] if len(lower) == 3 else None)
    if len(table.names) > 3:
        raise InputError(
            f"{table.path} has {len(table.names)} columns; a list of edges has two columns of vertices and perhaps one "
            "of weights, or a header that begins with source,target."
        )
    return table.names[0], table.names[1], table.names[2] if len(table.names) == 3 else None


def _check_weights(table: Table, weights: np.ndarray, name: str | None) -> None:
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise InputError(
            f"{table.where(row, name)}: the weight {weights[row]:g} is negative. Weights are similarities, at least 0; "
            "turn distances d into similarities first, for example exp(-d**2)."
        )


def _check_repeated(table: Table, ends: list[list[str]], keys: np.ndarray, weights: np.ndarray) -> None:
    order = np.argsort(keys, kind="stable")
    again = (np.diff(keys[order]) == 0) & (np.diff(weights[order]) != 0)
    if again.any():
        place = int(np.argmax(again))
        one, two = order[place], order[place + 1]
        raise InputError(
            f"{table.where(two)}: the edge {ends[0][two]!r} to {ends[1][two]!r} weighs {weights[two]:g} here and "
            f"{weights[one]:g} in {table.where(one).rpartition(', ')[2]}; give each edge one weight."
        )


def _symmetric_maximum(matrix: sp.coo_array) -> sp.csr_array:
    low, high = np.minimum(matrix.row, matrix.col), np.maximum(matrix.row, matrix.col)
    _, first = np.unique(low.astype(np.int64) * matrix.shape[0] + high, return_index=True)
    first = first[low[first] != high[first]]
    upper = sp.csr_array((matrix.data[first], (low[first], high[first])), shape=matrix.shape)
    return sp.csr_array(upper + upper.T)


def has_weight_header(table: Table) -> bool:
    """For a table read without header: whether its first row names the columns of a list of edges."""
    first = [str(column[0]).strip().lower() for column in table.cells]
    if tuple(first[:2]) in END_NAMES:
        return True
    third = table.cells[2] if len(table.cells) > 2 else []
    return len(third) > 1 and not is_number(third[0]) and is_number(third[1])
