"""Pairs of points read from lists, arrays, sparse matrices and data frames.

Everything is checked here, once: the rest of the library gets (m, 2) int64 arrays that it can trust.
Reading is O(m); merging sorts, O(m log m). Rows in error messages count from 0.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Set
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.utils.display import count_noun
from tightcut.utils.sparse import check_sparse

MOST_POINTS = math.isqrt(2**63 - 1)
EXACT = 2**53  # from here on not every whole number is a float


def read_pairs(pairs: Any, n_points: int, name: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Pairs as an (m, 2) int64 array in the caller's order, with the beliefs a sparse matrix may carry.

    Parameters
    ----------
    pairs : None, sequence of pairs, array-like of shape (m, 2), data frame or sparse matrix
        A sparse matrix has shape (n_points, n_points) and every stored nonzero is a pair; symmetric and triangular
        matrices say the same thing. Its values are beliefs in (0, 1], and plain pairs where they are all 1.
    n_points : int
        Indices run from 0 to n_points - 1.
    name : str
        What error messages call the argument.

    Examples
    --------
    >>> from tightcut.problem.pairs import read_pairs
    >>> read_pairs([(0, 3), (2.0, 1)], 4, "must_link")[0].tolist()
    [[0, 3], [2, 1]]
    >>> read_pairs([(1, 3), (2, 4)], 4, "must_link")
    Traceback (most recent call last):
        ...
    ValueError: must_link row 1: (2, 4) is out of range for 4 points; indices run from 0 to 3. If yours start at 1, \
subtract 1 from all of them.
    """
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64), None
    if sp.issparse(pairs):
        return _read_sparse(pairs, n_points, name)
    values = _two_columns(pairs, name)
    indices = read_indices(values, n_points, lambda row: f"{name} row {row}")
    same = indices[:, 0] == indices[:, 1]
    if same.any():
        row = int(np.argmax(same))
        raise ValueError(f"{name} row {row}: {show(values[row])} pairs a point with itself; remove this row.")
    return indices, None


def read_beliefs(weights: Any, n_pairs: int, name: str) -> np.ndarray:
    """One belief in (0, 1] per pair: 1 for None, a scalar for all pairs, or an array of shape (n_pairs,).

    Examples
    --------
    >>> from tightcut.problem.pairs import read_beliefs
    >>> read_beliefs(0.5, 2, "must_link_belief").tolist()
    [0.5, 0.5]
    >>> read_beliefs([0.5, 1.5], 2, "must_link_belief")
    Traceback (most recent call last):
        ...
    ValueError: must_link_belief row 1: 1.5 is not a belief in (0, 1]. Leave out pairs you do not believe in at all.
    """
    if weights is None:
        return np.ones(n_pairs)
    values = to_array(weights)
    scalar = values.ndim == 0 and values.dtype.kind in "iuf"
    if scalar:
        values = values.reshape(1)
    elif n_pairs == 0 and values.ndim == 1 and len(values) > 0:
        raise ValueError(
            f"{name} has {count_noun(len(values), 'entry', 'entries')}, but no pairs are given to which they belong."
        )
    elif values.shape != (n_pairs,):
        raise ValueError(
            f"{name} must be one number or have shape ({n_pairs},), one entry per pair; got {_kind(values)}."
        )

    def where(row: int) -> str:
        return name if scalar else f"{name} row {row}"

    values = _numeric(values, where, "is not a number").astype(np.float64)
    bad = ~((values > 0) & (values <= 1))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"{where(row)}: {values[row]:g} is not a belief in (0, 1]. Leave out pairs you do not believe in at all."
        )
    return np.full(n_pairs, values[0]) if scalar else values


def read_believed_pairs(links: Any, weights: Any, n_points: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Merged pairs and their beliefs, from a sparse matrix that holds both or from two arguments."""
    pairs, beliefs = read_pairs(links, n_points, name)
    if beliefs is not None and weights is not None:
        raise ValueError(f"{name} is a sparse matrix that holds beliefs, so {name}_belief must be None.")
    weights = read_beliefs(weights if beliefs is None else beliefs, len(pairs), f"{name}_belief")
    return merge_pairs(pairs, weights, n_points)


def read_mask(mask: Any, length: int, name: str) -> np.ndarray:
    values = np.ones(length, dtype=bool) if mask is None else to_array(mask)
    if values.dtype.kind != "b" or values.shape != (length,):
        raise ValueError(
            f"{name} must be a boolean mask of shape ({length},); got shape {values.shape} of dtype {values.dtype}."
        )
    return values


def read_subset(points: Any, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct points, given by indices or a mask, and the place of each point among them, -1 for the others."""
    chosen = to_array(points)
    if chosen.dtype.kind == "b":
        chosen = np.flatnonzero(read_mask(chosen, n_points, "points"))
    if chosen.ndim != 1:
        raise ValueError(f"points must be a list of indices, shape (m,); got shape {chosen.shape}.")
    chosen = read_indices(chosen, n_points, lambda row: f"points row {row}")
    place = np.full(n_points, -1)
    place[chosen] = np.arange(len(chosen))
    if (place[chosen] != np.arange(len(chosen))).any():
        row = int(np.argmax(place[chosen] != np.arange(len(chosen))))
        raise ValueError(f"points row {row}: {chosen[row]} is listed again in row {place[chosen[row]]}; list it once.")
    return chosen, place


def read_n_points(n_points: Any) -> int:
    """The number of points as a Python int, at least 0."""
    try:
        count = operator.index(n_points)
    except TypeError:
        count = -1
    if isinstance(n_points, (bool, np.bool_)) or count < 0:
        raise ValueError(f"n_points must be a non-negative integer, the number of points; got {n_points!r}.")
    if count > MOST_POINTS:
        raise ValueError(f"n_points must be at most {MOST_POINTS:,}, for 64 bits to number all pairs; got {count:,}.")
    return count


def read_indices(values: np.ndarray, n_points: int, where: Callable[[int], str]) -> np.ndarray:
    """A new int64 array of point indices, or an error that names the row as `where` does."""

    def reject(bad: np.ndarray, reason: str) -> None:
        if bad.any():
            row = int(np.argmax(bad.reshape(len(values), -1).any(axis=1)))
            raise ValueError(f"{where(row)}: {show(values[row])} {reason}")

    values = _numeric(values, where, "does not consist of whole numbers; points are named by their row in the data")
    if values.dtype.kind == "f":
        reject(~np.isfinite(values), "is missing a finite index; remove this row.")
        reject(
            values != np.floor(values), "does not consist of whole numbers; points are named by their row in the data."
        )
    reject(values < 0, "is negative; indices count from 0 and do not wrap around.")
    above = values >= n_points
    if above.any():
        one_based = values.max() == n_points and values.min() >= 1
        hint = " If yours start at 1, subtract 1 from all of them." if one_based else ""
        reject(above, f"is out of range for {n_points} points; indices run from 0 to {n_points - 1}.{hint}")
    return values.astype(np.int64)


def merge_pairs(pairs: np.ndarray, weights: np.ndarray, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Each pair once as i < j, in lexicographic order, with its largest belief.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.problem.pairs import merge_pairs
    >>> pairs, weights = merge_pairs(np.array([[2, 1], [0, 3], [1, 2]]), np.array([0.4, 1.0, 0.7]), 4)
    >>> pairs.tolist(), weights.tolist()
    ([[0, 3], [1, 2]], [1.0, 0.7])
    """
    if len(pairs) == 0:
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    keys = pair_keys(pairs, n_points)
    if (weights == weights[0]).all():  # sorting keys alone is three times as fast as sorting an order
        keys.sort()
        keys = keys[_starts(keys)]
        beliefs = np.full(len(keys), weights[0])
    else:
        order = np.argsort(keys)
        keys = keys[order]
        starts = _starts(keys)
        keys, beliefs = keys[starts], np.maximum.reduceat(weights[order], starts)
    return np.stack(np.divmod(keys, n_points), axis=1), beliefs


def pair_keys(pairs: np.ndarray, n_points: int) -> np.ndarray:
    """One integer per unordered pair, increasing in lexicographic order of (smaller, larger)."""
    first, second = pairs[:, 0], pairs[:, 1]
    return np.minimum(first, second) * n_points + np.maximum(first, second)


def _starts(keys: np.ndarray) -> np.ndarray:
    """Where each run of equal keys starts."""
    return np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))


def to_array(values: Any) -> np.ndarray:
    """A numpy array of anything array-like, a pandas or polars object, a set or an iterator; masked entries are None."""
    if np.ma.is_masked(values):
        array = np.ma.getdata(values).astype(object)
        array[np.ma.getmaskarray(values)] = None
        return array
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    values = as_list(values)
    array = np.asarray(values)
    if array.dtype.kind == "f" and array is not values and (np.abs(array) >= EXACT).any():
        # numpy turns a list that holds -1 and 2^63 into floats, in which different integers may be equal.
        exact = np.array(values, dtype=object)
        if any(isinstance(value, Integral) and abs(int(value)) >= EXACT for value in exact.ravel().tolist()):
            return exact
    return array


def as_list(values: Any) -> Any:
    """A set or an iterator as a list, since numpy does not read them and iterators end; all else unchanged."""
    return list(values) if isinstance(values, (Set, Iterator)) else values


def show(row: np.ndarray) -> str:
    """A row of indices as the caller would write it: (3, 12) even if it arrived as (3.0, 12.0).

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.problem.pairs import show
    >>> show(np.array([3.0, 1.5])), show(np.float64(7))
    ('(3, 1.5)', '7')
    """
    values = row.tolist() if isinstance(row, (np.ndarray, np.generic)) else row
    if isinstance(values, list):
        return f"({', '.join(map(show, values))})"
    return repr(int(values)) if isinstance(values, float) and values.is_integer() else repr(values)


def _read_sparse(matrix: Any, n_points: int, name: str) -> tuple[np.ndarray, np.ndarray | None]:
    if matrix.shape != (n_points, n_points):
        raise ValueError(
            f"{name}: a sparse matrix of pairs must have shape {(n_points, n_points)}; got {matrix.shape}."
        )
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{name}: a sparse matrix of pairs must hold real numbers; got dtype {matrix.dtype}.")
    check_sparse(matrix, name)
    entries = matrix.tocoo()
    stored = entries.data != 0
    pairs = np.stack([entries.row[stored], entries.col[stored]], axis=1).astype(np.int64)
    beliefs = entries.data[stored].astype(np.float64)
    diagonal = pairs[:, 0] == pairs[:, 1]
    if diagonal.any():
        point = int(pairs[np.argmax(diagonal), 0])
        raise ValueError(
            f"{name} entry ({point}, {point}) pairs a point with itself; clear the diagonal of the matrix."
        )
    bad = ~((beliefs > 0) & (beliefs <= 1))
    if bad.any():
        worst = int(np.argmax(bad))
        raise ValueError(
            f"{name} entry {show(pairs[worst])} is {beliefs[worst]:g}, which is not a belief in (0, 1]. "
            "For plain pairs pass matrix != 0."
        )
    return pairs, None if (beliefs == 1).all() else beliefs


def _two_columns(pairs: Any, name: str) -> np.ndarray:
    pairs = as_list(pairs)
    try:
        values = to_array(pairs)
    except ValueError:
        row = _first_uneven_row(pairs)
        raise ValueError(f"{name} row {row}: {pairs[row]!r} is not a pair of two point indices.") from None
    if values.ndim > 0 and len(values) == 0:
        return np.empty((0, 2), dtype=np.int64)
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(
            f"{name} must have shape (m, 2), one pair of point indices per row; got {_kind(values)}.{_hint(values)}"
        )
    if values.dtype.kind == "b":
        raise ValueError(
            f"{name} is a boolean array; pass the indices of the pairs, for example np.argwhere(np.triu(mask, 1))."
        )
    return values


def _first_uneven_row(pairs: Any) -> int:
    return next((row for row, pair in enumerate(pairs) if not hasattr(pair, "__len__") or len(pair) != 2), 0)


def _hint(values: np.ndarray) -> str:
    if values.shape == (2,):
        return " A single pair goes in a list: [(i, j)]."
    if values.ndim == 2 and values.shape[0] == values.shape[1]:
        return " Wrap an (n, n) matrix of pairs in scipy.sparse.csr_array."
    if values.ndim == 2 and values.shape[1] > 2:
        return " Select two columns, or see Constraints.from_dataframe for frames that name the kind of each pair."
    return ""


def _kind(values: np.ndarray) -> str:
    return f"shape {values.shape}" if values.ndim else repr(values.item())


def _numeric(values: np.ndarray, where: Callable[[int], str], complaint: str) -> np.ndarray:
    """The values as integers or floats; strings are refused, even those that spell a number."""
    if values.dtype.kind in "iuf" or values.size == 0:
        return values
    if values.dtype.kind == "O":
        kinds = list(map(type, values.ravel().tolist()))
        numbers = {kind for kind in set(kinds) if issubclass(kind, Real) and not issubclass(kind, bool)}
        if numbers.issuperset(kinds):
            return values.astype(np.float64)
        bad = next(i for i, kind in enumerate(kinds) if kind not in numbers)
        row = bad * len(values) // values.size
    else:
        row = 0
    named = values.dtype.kind in "UO" and any(isinstance(end, str) for end in values[row : row + 1].ravel().tolist())
    hint = (
        " Pairs of names are for fit on data whose rows have them, or for Constraints.from_dataframe(pairs, ids=names)."
    )
    raise ValueError(f"{where(row)}: {show(values[row])} {complaint}.{hint if named else ''}")
