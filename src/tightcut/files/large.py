"""Points larger than memory: arrays in files, made and read in blocks.

A NumPy file is mapped as it is. The columns of a Parquet file are copied once, batch by batch, to a temporary file that
is mapped; it has no name and vanishes with the array. Set TMPDIR to choose the disk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.files.errors import InputError, check_readable, listed
from tightcut.files.tables import PARQUET_SUFFIXES

BLOCK_ENTRIES = 1 << 22
LARGE_FILE = 1 << 30  # bytes from which the command line maps a file
POINT_TYPES = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.uint8))


def open_points(path: str | Path, columns: Sequence[str] | None = None) -> np.ndarray:
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
    path = Path(path)
    check_readable(path)
    if path.suffix.lower() in PARQUET_SUFFIXES:
        return _from_parquet(path, columns)
    if path.suffix.lower() != ".npy":
        raise InputError(f"{path}: only NPY and Parquet files can be read in blocks.")
    if columns is not None:
        raise InputError(f"{path}: the columns of a NumPy array have no names.")
    return _from_numpy(path)


def standardized(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points with mean 0 and variance 1 in every column, in a temporary file, and the deviations that they had.

    float64 stays float64; other types become float32.
    """
    n, total = len(points), np.zeros(points.shape[1])
    for rows in _blocks(points):
        total += points[rows].sum(axis=0, dtype=np.float64)
    mean, squares = total / n, np.zeros(points.shape[1])
    for rows in _blocks(points):
        squares += np.square(points[rows] - mean).sum(axis=0)
    deviation = np.sqrt(squares / n)
    divisor = np.where(deviation > 0, deviation, 1)
    dtype = np.dtype(np.float64 if points.dtype == np.float64 else np.float32)
    return _written(((points[rows] - mean) / divisor for rows in _blocks(points)), points.shape, dtype), deviation


def _from_numpy(path: Path) -> np.ndarray:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise InputError(f"{path} is not an array of numbers: {error}") from None
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "biuf":
        raise InputError(
            f"{path} holds an array of shape {array.shape} and type {array.dtype}; it must have two dimensions, one row "
            "of numbers per point."
        )
    if array.dtype in POINT_TYPES and array.flags.c_contiguous:
        return array
    dtype = _narrowest([array.dtype])
    return _written((array[rows] for rows in _blocks(array)), array.shape, dtype)


def _from_parquet(path: Path, columns: Sequence[str] | None) -> np.ndarray:
    file = open_parquet(path)
    known = file.schema_arrow.names
    names = list(known if columns is None else columns)
    missing = [name for name in names if name not in known]
    if missing:
        raise InputError(f"{path} has no column {listed(missing)}; its columns are {listed(known)}.")
    types = [_number_type(path, file.schema_arrow.field(name)) for name in names]
    shape = (file.metadata.num_rows, len(names))
    return _written(_batches(path, file, names), shape, _narrowest(types))


def open_parquet(path: Path) -> Any:
    """A `pyarrow.parquet.ParquetFile`."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise InputError(f'{path}: reading Parquet needs pyarrow: pip install "tightcut[frames]"') from None
    try:
        file = parquet.ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} is not a Parquet file: {str(error).splitlines()[0]}") from None
    if file.metadata.num_rows == 0 or file.metadata.num_columns == 0:
        raise InputError(f"{path} holds no rows.")
    return file


def _batches(path: Path, file: Any, names: list[str]) -> Iterator[np.ndarray]:
    start = 0
    for batch in file.iter_batches(max(1, BLOCK_ENTRIES // len(names)), columns=names):
        # Columns come in the order of the file.
        parts = [batch.column(name) for name in names]
        for name, part in zip(names, parts, strict=True):
            if part.null_count:
                row = start + int(np.argmax(np.asarray(part.is_null())))
                raise InputError(f"{path}, row {row}, column {name!r}: the cell is empty; every value is needed.")
        yield np.column_stack([part.to_numpy(zero_copy_only=False) for part in parts])
        start += batch.num_rows


def _number_type(path: Path, field: Any) -> np.dtype:
    try:
        dtype = np.dtype(field.type.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        dtype = np.dtype(object)
    if dtype.kind not in "biuf":
        raise InputError(f"{path}: column {field.name!r} holds {field.type}, not numbers. Leave it out.")
    return dtype


def _narrowest(types: list[np.dtype]) -> np.dtype:
    """The smallest type of points that holds all values of the given types exactly, or float64."""
    for dtype in (np.dtype(np.uint8), np.dtype(np.float32)):
        if all(np.can_cast(own, dtype) for own in types):
            return dtype
    return np.dtype(np.float64)


def _blocks(array: np.ndarray) -> Iterator[slice]:
    step = max(1, BLOCK_ENTRIES // array.shape[1])
    return (slice(start, start + step) for start in range(0, len(array), step))


def _written(blocks: Iterable[np.ndarray], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Blocks of rows, one after the other, in a temporary file."""
    with tempfile.TemporaryFile(prefix="tightcut") as file:
        array: np.ndarray = np.memmap(file, dtype=dtype, mode="w+", shape=shape)
    start = 0
    for block in blocks:
        array[start : start + len(block)] = block
        start += len(block)
    array.flags.writeable = False
    return array
