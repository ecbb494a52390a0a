"""Points larger than memory: memory-mapped arrays, created and read in blocks.

A NumPy file is mapped as it is. The columns of a Parquet file are copied once, batch by batch, to a temporary file that
is mapped; it has no name and vanishes with the array. Set TMPDIR to choose the disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.files.errors import InputError, listed, parsing
from tightcut.files.formats import PARQUET, open_parquet
from tightcut.files.sources import DataFile, check_readable
from tightcut.neighbors.points import POINT_TYPES, row_blocks
from tightcut.selection.scale import written

BLOCK_ENTRIES = 1 << 22
LARGE_FILE = 1 << 30  # bytes from which the command line maps a file


def open_points(path: str | Path | DataFile, columns: Sequence[str] | None = None) -> np.ndarray:
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
    source = DataFile.of(path)
    check_readable(source)
    if source.suffix in PARQUET:
        return _from_parquet(source, columns)
    if source.suffix != ".npy":
        raise InputError(f"{source}: only NPY and Parquet files can be read in blocks.")
    if columns is not None:
        raise InputError(f"{source}: the columns of a NumPy array have no names.")
    return _from_numpy(source)


def _from_numpy(source: DataFile) -> np.ndarray:
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


def _from_parquet(source: DataFile, columns: Sequence[str] | None) -> np.ndarray:
    file = open_parquet(source)
    known = file.schema_arrow.names
    names = list(known if columns is None else columns)
    missing = [name for name in names if name not in known]
    if missing:
        raise InputError(f"{source} has no column {listed(missing)}; its columns are {listed(known)}.")
    types = [_number_type(source, file.schema_arrow.field(name)) for name in names]
    blocks = _blocks(source, names, max(1, BLOCK_ENTRIES // len(names)))
    return written(blocks, (file.metadata.num_rows, len(names)), _narrowest(types))


def _blocks(source: DataFile, names: list[str], n_rows: int) -> Iterator[np.ndarray]:
    """Columns of numbers, some rows at a time."""
    start = 0
    with parsing(source, "a Parquet file"):
        for batch in open_parquet(source).iter_batches(n_rows, columns=names):
            # Columns come in the order of the file.
            parts = [batch.column(name) for name in names]
            for name, part in zip(names, parts, strict=True):
                if part.null_count:
                    row = start + int(np.argmax(np.asarray(part.is_null())))
                    raise InputError(f"{source}, row {row}, column {name!r}: the cell is empty; every value is needed.")
            yield np.column_stack([part.to_numpy(zero_copy_only=False) for part in parts])
            start += batch.num_rows


def _number_type(source: DataFile, field: Any) -> np.dtype:
    try:
        dtype = np.dtype(field.type.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        dtype = np.dtype(object)
    if dtype.kind not in "biuf":
        raise InputError(f"{source}: column {field.name!r} holds {field.type}, not numbers. Leave it out.")
    return dtype


def _narrowest(types: list[np.dtype]) -> np.dtype:
    """The smallest type of points that holds all values of the given types exactly, or float64."""
    for dtype in (np.dtype(np.uint8), np.dtype(np.float32)):
        if all(np.can_cast(own, dtype) for own in types):
            return dtype
    return np.dtype(np.float64)
