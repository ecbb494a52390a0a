"""Arrays in NumPy's own files: one in NPY, several by name in NPZ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.files.errors import InputError, listed, parsing
from tightcut.files.sources import Source
from tightcut.utils.sparse import check_sparse

SPARSE_KEYS = frozenset({"format", "shape", "data"})  # what scipy.sparse.save_npz writes, among others


def read_npy(source: Source) -> np.ndarray:
    with _opened(source, "NPY") as array:
        if not isinstance(array, np.ndarray):
            raise InputError(f"{source} holds several arrays, as NPZ files do; rename it to {source.stem}.npz.")
        return array


def read_npz(source: Source, wanted: Callable[[str], bool]) -> tuple[np.ndarray, dict[str, np.ndarray | None]]:
    """The array X, or the only one there is, and the others by name: those wanted, and None for the rest.

    What is not wanted is not read: an array may be a thousand times as large as its compressed bytes.
    """
    with _opened(source, "NPZ") as arrays:
        names = list(_names(source, arrays))
        if "X" not in names and len(names) != 1:
            raise InputError(f"{source} has no array X, but {listed(names)}. Save it with numpy.savez(path, X=points).")
        main = "X" if "X" in names else names[0]
        others = {name: _checked(arrays[name]) if wanted(name) else None for name in names if name != main}
        return _checked(arrays[main]), others


def read_sparse(source: Source) -> sp.coo_array | None:
    """The matrix that `scipy.sparse.save_npz` wrote; None if the file holds something else."""
    with _opened(source, "NPZ") as arrays:
        return _coordinates(arrays) if set(_names(source, arrays)) >= SPARSE_KEYS else None


def _coordinates(arrays: Mapping[str, np.ndarray]) -> sp.coo_array:
    """A sparse matrix of any format by its coordinates, which need no more memory than the file, whatever its shape."""
    kind, shape, data = str(arrays["format"].astype(str)), tuple(map(int, arrays["shape"])), arrays["data"]
    if data.dtype.kind not in "biuf":
        raise ValueError(f"its values are of type {data.dtype}")
    if kind == "coo":
        matrix = sp.coo_array(shape)
        matrix.data = data
        matrix.coords = tuple(arrays["coords"]) if "coords" in arrays else (arrays["row"], arrays["col"])
    elif kind == "dia":
        matrix = sp.dia_array((data, arrays["offsets"]), shape=shape)
    elif kind in {"csr", "csc", "bsr"}:
        make = getattr(sp, f"{kind}_array")
        matrix = make((data, arrays["indices"], arrays["indptr"]), shape=shape)
    else:
        raise ValueError(f"sparse matrices of format {kind} are not supported")
    check_sparse(matrix, "its matrix")
    return matrix.tocoo()


def _checked(array: np.ndarray | bytes) -> np.ndarray:
    if isinstance(array, bytes):
        raise TypeError("it holds something other than arrays")
    if array.dtype.kind == "U":
        # numpy keeps any 32 bits as a character; what is none fails here and not far away.
        "".join(array.ravel().tolist()).encode()
    return array


def _names(source: Source, arrays: Any) -> list[str]:
    if isinstance(arrays, np.ndarray):
        raise InputError(f"{source} holds a single array, as NPY files do; rename it to {source.stem}.npy.")
    return arrays.files


@contextmanager
def _opened(source: Source, kind: str) -> Iterator[Any]:
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
