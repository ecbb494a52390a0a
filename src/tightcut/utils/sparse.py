"""Check the indices of sparse input, before compiled code uses them.

scipy checks little when a matrix is made, and nothing when one of its arrays is changed afterwards; its conversions, and
the kernels, then read and write wherever the indices lead. Checks are O(entries) and copy nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

AXES = ("row", "column")
REMEDY = "Make the matrix from its entries: scipy.sparse.coo_array((values, (rows, columns)), shape=shape)."


def to_csr(matrix: Any, name: str = "X") -> sp.csr_array:
    """A sparse matrix of any format as a CSR array, checked; it shares arrays with the argument where it can.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from tightcut.utils.sparse import to_csr
    >>> matrix = sp.csr_array((np.ones(2), np.array([1, 3]), np.array([0, 1, 2])), shape=(2, 3))
    >>> to_csr(matrix)
    Traceback (most recent call last):
        ...
    ValueError: X has an entry at (1, 3), and its shape is (2, 3): columns count from 0 to 2. If yours start at 1, \
subtract 1 from all of them.
    """
    check_sparse(matrix, name)
    if matrix.format != "csr":
        return sp.csr_array(matrix)
    # A new object: scipy may have recorded the order of the entries before an array was changed.
    end = int(matrix.indptr[-1])
    return sp.csr_array((matrix.data[:end], matrix.indices[:end], matrix.indptr), shape=matrix.shape)


def check_sparse(matrix: Any, name: str = "X") -> None:
    """Refuse a sparse matrix whose parts do not fit each other, or with an entry outside its shape."""
    if len(matrix.shape) != 2:
        raise ValueError(f"{name} must have two dimensions; this sparse array has shape {matrix.shape}.")
    if matrix.format in ("csr", "csc", "bsr"):
        _check_compressed(matrix, name)
    elif matrix.format == "coo":
        ends = _whole_numbers(matrix, ("row", "col"), name)
        _same_length((*ends, matrix.data), name)
        _check_coordinates(ends, matrix.shape, name)
    elif matrix.format == "dok":
        _check_coordinates(_columns(list(matrix.keys())), matrix.shape, name)
    elif matrix.format == "lil":
        _check_lists(matrix, name)
    else:
        _check_diagonals(matrix, name)


def _check_compressed(matrix: Any, name: str) -> None:
    """CSR, CSC, and BSR, where indices count blocks."""
    indices, indptr = _whole_numbers(matrix, ("indices", "indptr"), name)
    size = matrix.data.shape[1:] if matrix.format == "bsr" else (1, 1)
    if matrix.data.ndim != (3 if matrix.format == "bsr" else 1) or any(np.mod(matrix.shape, np.maximum(size, 1))):
        raise ValueError(f"The values of {name} have shape {matrix.data.shape}, and it has {matrix.shape}. {REMEDY}")
    _same_length((indices, matrix.data), name)
    major = 1 if matrix.format == "csc" else 0
    count, limit = (matrix.shape[axis] // max(size[axis], 1) for axis in (major, 1 - major))
    _check_pointers(indptr, count, len(indices), name)

    def place(position: int) -> tuple[int, ...]:
        here = int(np.searchsorted(indptr, position, side="right")) - 1, int(indices[position])
        row, column = here[::-1] if major else here
        return row * size[0], column * size[1]

    _check_range(indices[: int(indptr[-1])], limit, 1 - major, place, matrix.shape, name)


def _check_pointers(indptr: np.ndarray, count: int, n_entries: int, name: str) -> None:
    if len(indptr) != count + 1:
        problem = f"has {len(indptr):,} entries, where {count + 1:,} are needed"
    elif indptr[0] != 0:
        problem = f"begins with {indptr[0]}, not with 0"
    elif (indptr[1:] < indptr[:-1]).any():
        place = int(np.argmax(indptr[1:] < indptr[:-1]))
        problem = f"decreases from {indptr[place]} to {indptr[place + 1]} at place {place + 1}"
    elif indptr[-1] > n_entries:
        problem = f"ends with {indptr[-1]}, and there are {n_entries:,} entries"
    else:
        return
    raise ValueError(f"indptr of {name} {problem}. {REMEDY}")


def _check_coordinates(ends: tuple[np.ndarray, ...], shape: tuple[int, ...], name: str) -> None:
    for axis, index in enumerate(ends):
        _check_range(index, shape[axis], axis, lambda position: tuple(int(end[position]) for end in ends), shape, name)


def _check_lists(matrix: Any, name: str) -> None:
    rows, values, width = matrix.rows.tolist(), matrix.data.tolist(), matrix.shape[1]
    if [len(row) for row in rows] != [len(row) for row in values] or len(rows) != matrix.shape[0]:
        raise ValueError(f"The rows of {name} do not have one value for each column that they name. {REMEDY}")
    ends = [(row, column) for row, columns in enumerate(rows) for column in columns if not 0 <= column < width]
    _check_coordinates(_columns(ends), matrix.shape, name)


def _check_diagonals(matrix: Any, name: str) -> None:
    """Entries of a diagonal that lie outside the matrix are ignored."""
    (offsets,) = _whole_numbers(matrix, ("offsets",), name)
    if matrix.data.ndim != 2 or len(matrix.data) != len(offsets) or len(np.unique(offsets)) != len(offsets):
        raise ValueError(
            f"{name} has diagonals of shape {matrix.data.shape} at {offsets.tolist()[:8]}; it needs one row for each, and "
            f"each once. {REMEDY}"
        )


def _check_range(
    index: np.ndarray,
    count: int,
    axis: int,
    place: Callable[[int], tuple[int, ...]],
    shape: tuple[int, ...],
    name: str,
) -> None:
    if len(index) == 0:
        return
    least, most = index.min(), index.max()
    if least >= 0 and most < count:
        return
    first = place(int(np.argmax((index < 0) | (index >= count))))
    where = f"{name} has an entry at {first}"
    if first[axis] < 0:
        raise ValueError(f"{where}; indices count from 0 and do not wrap around.")
    hint = "Correct the index, or give a larger shape."
    if least >= 1 and most == count:
        hint = "If yours start at 1, subtract 1 from all of them."
    raise ValueError(f"{where}, and its shape is {shape}: {AXES[axis]}s count from 0 to {shape[axis] - 1}. {hint}")


def _columns(places: list[tuple[int, int]]) -> tuple[np.ndarray, ...]:
    """Rows and columns of places, as Python's numbers of any size."""
    return tuple(np.array(places, dtype=object).reshape(-1, 2).T)


def _whole_numbers(matrix: Any, parts: tuple[str, ...], name: str) -> tuple[np.ndarray, ...]:
    arrays = tuple(getattr(matrix, part) for part in parts)
    for part, array in zip(parts, arrays, strict=True):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"{part} of {name} is not an array of integers. {REMEDY}")
    return arrays


def _same_length(arrays: tuple[np.ndarray, ...], name: str) -> None:
    if len(set(map(len, arrays))) > 1:
        lengths = " and ".join(f"{len(array):,}" for array in arrays)
        raise ValueError(f"The indices and the values of {name} have {lengths} entries. {REMEDY}")


def csr_of(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray) -> sp.csr_array:
    """A square matrix of arrays that are known to fit: scipy looks at each of them, which takes longer than a small kernel."""
    n = len(indptr) - 1
    matrix = sp.csr_array((n, n))
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, data
    return matrix
