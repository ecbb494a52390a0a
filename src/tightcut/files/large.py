"""Points larger than memory: arrays in files, made and read in blocks.

A NumPy file is mapped as it is. The columns of a Parquet file are copied once, batch by batch, to a temporary file that
is mapped; it has no name and vanishes with the array. Set TMPDIR to choose the disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tightcut.files import parquet
from tightcut.files.errors import InputError, parsing
from tightcut.files.sources import Source, check_readable
from tightcut.neighbors.points import POINT_TYPES, row_blocks
from tightcut.selection.scale import written

BLOCK_ENTRIES = 1 << 22
LARGE_FILE = 1 << 30  # bytes from which the command line maps a file


def open_points(path: str | Path | Source, columns: Sequence[str] | None = None) -> np.ndarray:
    """The points of a NumPy or Parquet file as a memory-mapped array, to be clustered without being read whole.

    Parameters
    ----------
    path : str or Path
        .npy with an array of shape (n, n_features), or .parquet with columns of numbers.
    columns : sequence of str, optional
        Which columns of a Parquet file; all by default.

    Returns
    -------
    memmap of shape (n, n_features)
        float64, float32 or uint8. A NumPy array of another type, or in Fortran order, is converted in blocks to a
        temporary file, as Parquet is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from tightcut import knn_affinity
    >>> from tightcut.files import open_points
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "points.npy"), np.random.default_rng(0).normal(size=(300, 5)))
    ...     points = open_points(Path(folder, "points.npy"))
    ...     knn_affinity(points, n_neighbors=7).shape
    (300, 300)
    """
    source = Source.of(path)
    check_readable(source)
    if source.suffix in parquet.SUFFIXES:
        return _from_parquet(source, columns)
    if source.suffix != ".npy":
        raise InputError(f"{source}: only NPY and Parquet files can be read in blocks.")
    if columns is not None:
        raise InputError(f"{source}: the columns of a NumPy array have no names.")
    return _from_numpy(source)


def _from_numpy(source: Source) -> np.ndarray:
    with parsing(source, "an NPY file"):
        array = np.load(source.local_file(), mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise InputError(f"{source} holds several arrays; an NPY file holds one.")
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "biuf":
        raise InputError(
            f"{source} holds an array of shape {array.shape} and type {array.dtype}; it must have two dimensions, one row "
            "of numbers per point."
        )
    if array.dtype in POINT_TYPES and array.flags.c_contiguous:
        return array
    dtype = _narrowest([array.dtype])
    return written((array[rows] for rows in row_blocks(array, BLOCK_ENTRIES)), array.shape, dtype)


def _from_parquet(source: Source, columns: Sequence[str] | None) -> np.ndarray:
    names, types, n_rows = parquet.number_columns(source, columns)
    blocks = parquet.read_blocks(source, names, max(1, BLOCK_ENTRIES // len(names)))
    return written(blocks, (n_rows, len(names)), _narrowest(types))


def _narrowest(types: list[np.dtype]) -> np.dtype:
    """The smallest type of points that holds all values of the given types exactly, or float64."""
    for dtype in (np.dtype(np.uint8), np.dtype(np.float32)):
        if all(np.can_cast(own, dtype) for own in types):
            return dtype
    return np.dtype(np.float64)
