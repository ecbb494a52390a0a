"""Arrays in NumPy's own files: one in NPY, several by name in NPZ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.files.errors import InputError, listed, parsing
from tightcut.files.sources import DataFile
from tightcut.utils.sparse import check_sparse

SPARSE_KEYS = frozenset({"format", "shape", "data"})  # what scipy.sparse.save_npz writes, among others


def read_npy(source: DataFile) -> np.ndarray:
    with _opened(source, "NPY") as array:
        if not isinstance(array, np.ndarray):
            raise InputError(f"{source} holds several arrays, as NPZ files do; rename it to {source.stem}.npz.")
        return array


def read_npz(source: DataFile, wanted: Callable[[str], bool]) -> tuple[np.ndarray, dict[str, np.ndarray | None]]:
    """The array X, or the only one there is, and the others by name: those wanted, and None for the rest.

    Unwanted arrays are not read: one may be a thousand times as large as its compressed bytes.
    """
    with _opened(source, "NPZ") as arrays:
        names = list(_names(source, arrays))
        if "X" not in names and len(names) != 1:
            raise InputError(f"{source} has no array X, but {listed(names)}. Save it with numpy.savez(path, X=points).")
        main = "X" if "X" in names else names[0]
        others = {name: _checked(arrays[name]) if wanted(name) else None for name in names if name != main}
        return _checked(arrays[main]), others


def read_sparse(source: DataFile) -> sp.coo_array | None:
    """The matrix that `scipy.sparse.save_npz` wrote; None if the file holds something else.

    Coordinates need no more memory than the file, whatever the shape.
    """
    with _opened(source, "NPZ") as arrays:
        if not set(_names(source, arrays)) >= SPARSE_KEYS:
            return None
        matrix = sp.load_npz(source.open())
        if matrix.dtype.kind not in "biuf":
            raise ValueError(f"its values are of type {matrix.dtype}")
        check_sparse(matrix, "its matrix")
        return sp.coo_array(matrix)


def _checked(array: np.ndarray | bytes) -> np.ndarray:
    if isinstance(array, bytes):
        raise TypeError("it holds something other than arrays")
    if array.dtype.kind == "U":
        # numpy takes any 32 bits for a character; an invalid one fails here rather than later.
        "".join(array.ravel().tolist()).encode()
    return array


def _names(source: DataFile, arrays: Any) -> list[str]:
    if isinstance(arrays, np.ndarray):
        raise InputError(f"{source} holds a single array, as NPY files do; rename it to {source.stem}.npy.")
    return arrays.files


@contextmanager
def _opened(source: DataFile, kind: str) -> Iterator[Any]:
    """What `numpy.load` returns. Files of Python objects are refused: reading one may execute anything."""
    try:
        with parsing(source, f"an {kind} file"):
            loaded = np.load(source.open(), allow_pickle=False)
            with nullcontext() if isinstance(loaded, np.ndarray) else loaded:
                yield loaded
    except InputError as error:
        if "allow_pickle" not in str(error):
            raise
        raise InputError(
            f"{source} is not an array of numbers: it is damaged, or holds Python objects. Save an array of numbers with "
            "numpy.save or numpy.savez."
        ) from None
