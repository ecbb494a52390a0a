"""Precomputed distances: their nearest neighbours, and the shortest bridges between components.

A dense matrix holds every distance. The entries stored in a sparse one are the distances that are known, zeros among them;
all others are unknown, and such points are no neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors.points import canonical, row_blocks
from tightcut.utils.arrays import read_matrix

UNKNOWN = "leave a distance that is not known out of a sparse matrix"


def check_distances(X: Any, **options: Any) -> Any:
    """A symmetric matrix of distances, dense or sparse; `options` are those of `sklearn.utils.check_array`.

    Rounding errors of a few digits are accepted, on the diagonal and between the two halves. In a sparse matrix a distance
    may be stored in one half only.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.neighbors.precomputed import check_distances
    >>> check_distances([[0, 2], [3, 0]])
    Traceback (most recent call last):
        ...
    ValueError: Distances must be symmetric; that from 0 to 1 is 2, and that from 1 to 0 is 3.
    """
    distances = read_matrix(X, ensure_all_finite=False, **options)
    if distances.shape[0] != distances.shape[1]:
        raise ValueError(
            f'metric="precomputed" takes a square matrix of the distances between all points; X has shape {distances.shape}. '
            'For points and their features use metric="euclidean" or metric="cosine".'
        )
    distances = check_rows(distances)
    accuracy = float(np.sqrt(np.finfo(distances.dtype).eps))
    tolerance = accuracy * float(distances.max())
    diagonal = distances.diagonal()
    if (diagonal > tolerance).any():
        place = int(diagonal.argmax())
        hint = ' For similarities use affinity="precomputed".' if (diagonal >= distances.max()).all() else ""
        raise ValueError(
            f"The distance of a point to itself must be 0; that of {place} is {diagonal[place]:g}, on the diagonal.{hint}"
        )
    return _both_halves(distances, tolerance) if sp.issparse(distances) else _symmetric(distances, tolerance)


def check_rows(X: Any, **options: Any) -> Any:
    """Distances from some points, one row each, to others: finite and not negative."""
    distances = read_matrix(X, ensure_all_finite=False, **options)
    if sp.issparse(distances):
        distances = canonical(distances)
    values = distances.data if sp.issparse(distances) else distances
    if not np.isfinite(values).all():
        raise ValueError(f"Distances must be finite numbers, and X contains NaN or infinity: {UNKNOWN}.")
    if values.size and values.min() < 0:
        if values.min() < -float(np.sqrt(np.finfo(values.dtype).eps)) * np.abs(values).max():
            raise ValueError(f"Distances cannot be negative; X contains {values.min():g}.")
        return abs(distances) if sp.issparse(distances) else np.maximum(distances, 0)  # rounding errors
    return distances


def nearest_known(distances: Any, k: int, *, own: bool) -> tuple[np.ndarray, np.ndarray]:
    """The k shortest distances of each row and their columns, nearest first, the smaller column first among equals.

    With `own` the rows are the points themselves, and none is its own neighbour.
    """
    if sp.issparse(distances):
        return _nearest_stored(distances, k)
    n = len(distances)
    lengths, columns = np.empty((n, k)), np.empty((n, k), dtype=np.int64)
    for rows in row_blocks(distances):
        block = np.array(distances[rows], dtype=np.float64)
        if own:
            place = np.arange(len(block))
            block[place, rows.start + place] = np.inf
        chosen = np.sort(np.argpartition(block, k - 1, axis=1)[:, :k], axis=1)
        found = np.take_along_axis(block, chosen, axis=1)
        order = np.argsort(found, axis=1, kind="stable")
        lengths[rows], columns[rows] = (np.take_along_axis(some, order, axis=1) for some in (found, chosen))
    return lengths, columns


def shortest_known_bridges(distances: Any, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges of a minimum spanning tree over components, as far as known distances join them.

    Returns
    -------
    ends : ndarray of shape (2, m)
    lengths : ndarray of shape (m,)
    """
    ends, lengths = _links(distances, labels)
    between = labels[ends].astype(np.int32)  # wider indices are refused by scipy 1.13's spanning trees
    count = int(labels.max()) + 1
    # The tree depends on the order of the lengths alone, and a length of 0 would not count as an edge.
    ranks = np.argsort(np.argsort(lengths, kind="stable"), kind="stable") + 1.0
    tree = sp.csgraph.minimum_spanning_tree(sp.csr_array((ranks, tuple(between)), shape=(count, count)))
    chosen = np.sort(tree.data).astype(np.int64) - 1
    kept = np.argsort(lengths, kind="stable")[chosen]
    return ends[:, kept], lengths[kept]


def _links(distances: Any, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shortest known distance between each two components, and its ends, the first in the smaller component."""
    if sp.issparse(distances):
        entries = distances.tocoo()
        row, column, values = entries.row, entries.col, entries.data
    else:
        # Each component's nearest point to every other point; of these the nearest in each component are the links.
        order = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[order], np.arange(labels.max() + 1))
        found = [_nearest_member(distances, members) for members in np.split(order, starts[1:])]
        row = np.concatenate([ends for ends, _ in found])
        column = np.tile(np.arange(len(labels)), len(found))
        values = np.concatenate([lengths for _, lengths in found])
    first, second = labels[row], labels[column]
    across = np.flatnonzero(first < second)
    pair = first[across].astype(np.int64) * (int(labels.max()) + 1) + second[across]
    order = across[np.lexsort((column[across], row[across], values[across], pair))]
    kept = order[np.unique(np.sort(pair), return_index=True)[1]]
    return np.stack([row[kept], column[kept]]).astype(np.int64), np.asarray(values[kept], dtype=np.float64)


def _nearest_member(distances: np.ndarray, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows = distances[members]
    place = rows.argmin(axis=0)
    return members[place], rows[place, np.arange(rows.shape[1])]


def _symmetric(distances: np.ndarray, tolerance: float) -> np.ndarray:
    for rows in row_blocks(distances):
        difference = np.abs(distances[rows] - distances[:, rows].T)
        if difference.max() > tolerance:
            i, j = np.unravel_index(int(difference.argmax()), difference.shape)
            _refuse_asymmetric(rows.start + int(i), int(j), distances[rows.start + i, j], distances[j, rows.start + i])
    return distances


def _both_halves(distances: sp.csr_array, tolerance: float) -> sp.csr_array:
    """Every known distance in both directions, without a diagonal."""
    entries = distances.tocoo()
    apart = entries.row != entries.col
    row, column, values = entries.row[apart], entries.col[apart], entries.data[apart].astype(np.float64)
    row, column, values = np.append(row, column), np.append(column, row), np.append(values, values)
    order = np.lexsort((column, row))
    row, column, values = row[order], column[order], values[order]
    again = (np.diff(row) == 0) & (np.diff(column) == 0)
    unequal = np.flatnonzero(again & (np.abs(np.diff(values)) > tolerance))
    if len(unequal):
        place = int(unequal[0])
        _refuse_asymmetric(int(row[place]), int(column[place]), values[place], values[place + 1])
    keep = np.append(True, ~again)[: len(row)]
    indptr = np.append(0, np.cumsum(np.bincount(row[keep], minlength=distances.shape[0])))
    return sp.csr_array((values[keep], column[keep], indptr), shape=distances.shape)


def _refuse_asymmetric(i: int, j: int, there: float, back: float) -> None:
    raise ValueError(
        f"Distances must be symmetric; that from {i} to {j} is {there:g}, and that from {j} to {i} is {back:g}."
    )


def _nearest_stored(distances: sp.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    counts = np.diff(distances.indptr)
    if counts.min() < k:
        row = int(counts.argmin())
        raise ValueError(
            f"Row {row} holds {counts[row]} known distances to other points, and n_neighbors={k} needs that many in every "
            "row. Give more distances, or lower n_neighbors."
        )
    sources = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((distances.indices, distances.data, sources))
    places = order[distances.indptr[:-1, None] + np.arange(k)]
    return distances.data[places].astype(np.float64), distances.indices[places].astype(np.int64)
