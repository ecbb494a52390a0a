"""Points from the caller, in partitions: checked, and saved in blocks of the size that a task compares at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.distributed.running import Runner, read_parquet, written_whole
from tightcut.neighbors.points import apply_metric, check_points


@dataclass(frozen=True, eq=False)
class PointBlocks:
    """Points on disk, transformed for euclidean distances.

    Attributes
    ----------
    folder : Path
    files : tuple of tuples of str
        The files of each block.
    starts : ndarray of shape (n_blocks + 1,)
        The first point of each block, and the number of points.
    """

    folder: Path
    files: tuple[tuple[str, ...], ...]
    starts: np.ndarray

    def __len__(self) -> int:
        return len(self.files)

    @property
    def n_points(self) -> int:
        return int(self.starts[-1])

    def read(self, number: int) -> np.ndarray:
        """The points of a block."""
        parts = [np.load(self.folder / name) for name in self.files[number]]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def size_of(self, number: int) -> int:
        return int(self.starts[number + 1] - self.starts[number])

    def map_all(self) -> np.ndarray:
        """All points as one array, mapped into memory from a file."""
        first = self.read(0)
        whole = np.lib.format.open_memmap(
            self.folder / "all.npy", "w+", dtype=first.dtype, shape=(self.n_points, first.shape[1])
        )
        for number in range(len(self)):
            whole[self.starts[number] : self.starts[number + 1]] = self.read(number)
        return whole


def read_points(points: Any) -> tuple[list[Any], int]:
    """Delayed partitions of a Dask array, a Dask data frame or a folder of Parquet files, and the number of columns."""
    import dask.array as da
    import dask.dataframe as dd

    if isinstance(points, (str, Path)):
        points = read_parquet(points)
    if isinstance(points, dd.DataFrame):
        for name, kind in points.dtypes.items():
            if kind.kind not in "iufb":
                raise ValueError(f"Column {name!r} of the points holds {kind}, not numbers; leave it out or encode it.")
        return points.to_delayed(), len(points.columns)
    if isinstance(points, da.Array):
        if points.ndim != 2:
            raise ValueError(f"The points are an array of {points.ndim} dimensions; give one row per point, of 2.")
        return points.rechunk({1: -1}).to_delayed().ravel().tolist(), points.shape[1]
    raise TypeError(
        "points must be a Dask array, a Dask data frame or the path of a folder of Parquet files, not "
        f"{type(points).__name__}. For an array in memory there is knn_affinity."
    )


def save_points(runner: Runner, parts: list[Any], metric: str, size: int, folder: Path) -> PointBlocks:
    """Check the partitions, and save them in blocks of at most `size` points; small partitions share a block."""
    import dask

    folder.mkdir()
    save = dask.delayed(_save, pure=False)
    found = runner.compute("read", [save(part, number, metric, size, folder) for number, part in enumerate(parts)])
    blocks: list[tuple[str, ...]] = []
    lengths: list[int] = []
    for name, length in (piece for pieces in found for piece in pieces):
        if blocks and lengths[-1] + length <= size:
            blocks[-1], lengths[-1] = (*blocks[-1], name), lengths[-1] + length
        else:
            blocks.append((name,))
            lengths.append(length)
    return PointBlocks(folder, tuple(blocks), np.append(0, np.cumsum(lengths, dtype=np.int64)))


def _save(part: Any, number: int, metric: str, size: int, folder: Path) -> list[tuple[str, int]]:
    """Write a partition as files of at most `size` rows; returns their names and lengths."""
    if sp.issparse(part):
        raise ValueError("The points are sparse; on a cluster they must be dense. knn_affinity takes sparse rows.")
    if len(part) == 0:
        return []
    try:
        points = apply_metric(check_points(part), metric)
    except ValueError as error:
        raise ValueError(f"Partition {number} of the points: {error}") from error
    pieces = []
    for place, rows in enumerate(np.array_split(points, -(-len(points) // size))):
        name = f"{number}-{place}.npy"
        with written_whole(folder / name) as stream:
            np.save(stream, rows)
        pieces.append((name, len(rows)))
    return pieces
