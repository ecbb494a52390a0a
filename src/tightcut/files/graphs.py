"""Graphs from files: lists of edges, Matrix Market, sparse and dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.files.cells import is_number, is_whole
from tightcut.files.errors import InputError, parsing
from tightcut.files.formats import reader
from tightcut.files.sources import DataFile
from tightcut.files.tables import Table, names_columns
from tightcut.problem.graph_objects import graph_matrix
from tightcut.problem.pairs import pair_keys

END_NAMES = (("source", "target"), ("from", "to"), ("src", "dst"))
WEIGHT_NAMES = ("weight", "similarity", "affinity")
GRAPH_FILES = {".graphml": ("read_graphml", "GraphML"), ".gml": ("read_gml", "GML")}  # and what networkx reads them by
MANY_VERTICES, MOST_ISOLATED = 1_000_000, 100  # beyond both, a graph without edges is a damaged file


def names_edges(table: Table) -> bool:
    """Whether the header begins like a list of edges: source,target or from,to or src,dst."""
    return table.has_header and tuple(name.lower() for name in table.names[:2]) in END_NAMES


def read_edges(table: Table) -> tuple[sp.csr_array, list[str]]:
    """Symmetric weights and the vertices' names: in numerical order if all are whole numbers, else as they appear.

    An edge may be listed in one direction or in both; loops are ignored.
    """
    first, second, weight = _edge_columns(table)
    names, ends = table.ends(first, second)
    if all(map(is_whole, names)):
        order = sorted(range(len(names)), key=lambda place: int(names[place]))
        names, ends = [names[place] for place in order], np.argsort(order)[ends]
    weights = np.ones(table.n_rows) if weight is None else table.numbers([weight], suggest=("decimal",))[:, 0]
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise InputError(
            f"{table.where(row, weight)}: the weight {weights[row]:g} is negative. Weights are similarities, at least 0; "
            "turn distances d into similarities first, for example exp(-d**2)."
        )
    n, keys = len(names), pair_keys(ends, len(names))
    _check_repeated(table, names, ends, keys, weights)
    # An edge listed in both directions is one edge.
    _, chosen = np.unique(keys, return_index=True)
    low, high = np.sort(ends[chosen], axis=1).T
    edge = low != high
    upper = sp.csr_array((weights[chosen][edge], (low[edge], high[edge])), shape=(n, n))
    return sp.csr_array(upper + upper.T), names


def read_graph_file(source: DataFile) -> tuple[sp.csr_array, list[str]]:
    """A GraphML or GML file, and the names of its vertices: their attribute name or label, or what the file calls them."""
    networkx = reader(source, "networkx", "graphs")
    read, kind = GRAPH_FILES[source.suffix]
    with parsing(source, f"a {kind} file"):
        graph = getattr(networkx, read)(source.open(), **({"label": None} if kind == "GML" else {}))
        try:
            matrix = graph_matrix(graph)
        except ValueError as error:
            raise InputError(f"{source}: {error}") from None
        for attribute in ("name", "label"):
            names = [str(name) for _, name in graph.nodes(data=attribute) if name is not None]
            if len(set(names)) == len(graph):
                return matrix, names
        return matrix, list(map(str, graph))


def read_matrix_market(source: DataFile) -> sp.csr_array:
    """A Matrix Market file, dense or sparse, of real numbers.

    Not by scipy: its compiled reader trusts a damaged file and may crash, and its results differ between versions.
    """
    with parsing(source, "a Matrix Market file"), source.lines() as lines:
        layout, field, symmetry = _banner(lines.readline())
        sizes = next((line.split() for line in lines if line.strip() and not line.startswith("%")), [])
        if not all(map(is_whole, sizes)):
            raise ValueError(f"{' '.join(sizes)!r} are not sizes")
        rows, columns, *announced = map(int, sizes)
        entries = np.loadtxt(lines, comments="%", ndmin=2)
        width = 1 if layout == "array" else 2 if field == "pattern" else 3
        if layout == "array":
            announced = [rows * (rows + 1) // 2 if symmetry == "symmetric" else rows * columns]
        if [entries.size] != [count * width for count in announced]:
            raise ValueError(f"{' '.join(sizes)!r} announces other entries than the {entries.shape[0]} there are")
        entries = entries.reshape(-1, width)
        if layout == "array":
            # Column by column; of a symmetric matrix only the part on and below the diagonal.
            whole = symmetry == "general"
            column, row = np.indices((columns, rows)).reshape(2, -1) if whole else np.triu_indices(rows)
        else:
            row, column = _places(entries[:, :2], (rows, columns))
        values = np.ones(len(row)) if field == "pattern" else entries[:, -1]
        if symmetry == "symmetric":
            below = row != column
            row, column = np.append(row, column[below]), np.append(column, row[below])
            values = np.append(values, values[below])
        return check_affinity(source, sp.coo_array((values, (row, column)), shape=(rows, columns)))


def _places(ends: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Rows and columns that count from 1, as indices. NaN is in no range, and a fraction is not its own floor."""
    if not ((ends >= 1) & (ends <= shape) & (ends == np.floor(ends))).all():
        raise ValueError("an entry lies outside the matrix")
    return ends.T.astype(np.int64) - 1


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


def check_affinity(source: DataFile, matrix: Any) -> sp.csr_array:
    """A similarity matrix, or an error that names the file."""
    from tightcut.problem.graph import validate_affinity

    n = matrix.shape[0]
    if sp.issparse(matrix) and n > MANY_VERTICES and n > MOST_ISOLATED * matrix.nnz:
        # A list of vertices alone would fill the memory.
        raise InputError(f"{source} holds {matrix.nnz:,} entries for {n:,} vertices; its size must be wrong.")
    try:
        return validate_affinity(matrix)
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None


def _edge_columns(table: Table) -> tuple[str, str, str | None]:
    if len(table.names) < 2:
        raise InputError(f"{table.path}: a list of edges needs two columns of vertices, and this has one.")
    if names_edges(table):
        named = table.one(WEIGHT_NAMES)
        if named is not None:
            return table.names[0], table.names[1], named
    elif len(table.names) > 3:
        raise InputError(
            f"{table.path} has {len(table.names)} columns; a list of edges has two columns of vertices and perhaps one "
            "of weights, or a header that begins with source,target."
        )
    return table.names[0], table.names[1], table.names[2] if len(table.names) == 3 else None


def _check_repeated(table: Table, names: list[str], ends: np.ndarray, keys: np.ndarray, weights: np.ndarray) -> None:
    order = np.argsort(keys, kind="stable")
    again = (np.diff(keys[order]) == 0) & (np.diff(weights[order]) != 0)
    if again.any():
        place = int(np.argmax(again))
        one, two = order[place], order[place + 1]
        raise InputError(
            f"{table.where(two)}: the edge {names[ends[two, 0]]!r} to {names[ends[two, 1]]!r} weighs {weights[two]:g} here and "
            f"{weights[one]:g} in {table.where(one).rpartition(', ')[2]}; give each edge one weight."
        )


def names_weights(table: Table) -> bool:
    """Whether the first row of a graph names the columns.

    Vertices are words as well: in a list of edges a row of words is a header if it begins with source,target, or has a word
    above the weights.
    """
    if len(table.cells) > 3 or tuple(name.lower() for name in table.first_row()[:2]) in END_NAMES:
        return names_columns(table)
    third = table.cells[2] if len(table.cells) > 2 else []
    return names_columns(table) and len(third) > 1 and not is_number(third[0]) and is_number(third[1])
