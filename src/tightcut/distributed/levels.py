"""A graph on disk: blocks of units with all their arcs, and arrays with an entry per unit.

Both are files, mapped into memory by the tasks that need them: of the many arcs only one block at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut import kernels
from tightcut.distributed.running import Runner, written_whole

Block = tuple[int, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Level:
    """A graph on disk.

    Attributes
    ----------
    folder : Path
    starts : ndarray of shape (n_blocks + 1,)
        The first unit of each block, and the number of units.
    """

    folder: Path
    starts: np.ndarray

    @property
    def n_units(self) -> int:
        return int(self.starts[-1])

    @property
    def n_blocks(self) -> int:
        return len(self.starts) - 1

    def save(self, **arrays: np.ndarray) -> None:
        """Save arrays under their names, each completely or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            with written_whole(self.folder / f"{name}.npy") as stream:
                np.save(stream, array)

    def array(self, name: str) -> np.ndarray:
        """An array mapped into memory, writable lest kernels be compiled twice; changes are not saved."""
        return np.asarray(np.load(self.folder / f"{name}.npy", mmap_mode="c"))

    def arrays(self, *names: str) -> tuple[np.ndarray, ...]:
        return tuple(map(self.array, names))

    def write_run(self, number: int, i: np.ndarray, j: np.ndarray, weight: np.ndarray) -> None:
        """Save arcs of any blocks, sorted by first unit, until `write_block` collects them."""
        self.save(**{f"run-{number}-i": i, f"run-{number}-j": j, f"run-{number}-weight": weight})

    def write_block(self, number: int, n_runs: int) -> tuple[np.ndarray, np.ndarray]:
        """Add up the arcs of a block from all runs, and write them; returns row sums and numbers of arcs.

        Arcs from a unit to itself count towards the sums but are not written.
        """
        first, last = self.starts[number : number + 2].tolist()
        i, j, weight = self.collect(n_runs, first, last)
        sums = np.bincount(i - first, weight, last - first).astype(
            np.float64
        )  # without arcs, bincount returns integers
        between = i != j
        indptr, indices, weights = kernels.add_up_arcs(i[between] - first, j[between], weight[between], last - first)
        self.save(**{f"indptr-{number}": indptr, f"indices-{number}": indices, f"weights-{number}": weights})
        return sums, np.diff(indptr)

    def collect(self, n_runs: int, first: int, last: int) -> list[np.ndarray]:
        """The arcs in all runs that start at the units first, ..., last - 1."""
        pieces = []
        for run in range(n_runs):
            columns = self.arrays(*(f"run-{run}-{name}" for name in ("i", "j", "weight")))
            # With another type, numpy would read and convert the whole column.
            ends = np.array([first, last]).astype(columns[0].dtype)
            within = slice(*np.searchsorted(columns[0], ends).tolist())
            pieces.append([np.array(column[within]) for column in columns])  # copies: no run stays mapped
        return [np.concatenate(column) for column in zip(*pieces, strict=True)]

    def delete(self, pattern: str) -> None:
        for path in self.folder.glob(pattern):
            path.unlink()

    def read_block(self, number: int) -> Block:
        """First unit, indptr, indices and weights of a block."""
        indptr, indices, weights = self.arrays(f"indptr-{number}", f"indices-{number}", f"weights-{number}")
        return int(self.starts[number]), indptr, indices, weights

    def read(self) -> sp.csr_array:
        """All arcs in memory, symmetric to the last bit."""
        n_arcs = self.array("n_arcs")
        index = np.int32 if n_arcs.sum() < 2**31 else np.int64
        indptr = np.append(0, np.cumsum(n_arcs)).astype(index)
        indices, weights = np.empty(indptr[-1], index), np.empty(indptr[-1])
        for number in range(self.n_blocks):
            first, _, *columns = self.read_block(number)
            start = indptr[first]
            for whole, column in zip((indices, weights), columns, strict=True):
                whole[start : start + len(column)] = column
        found = sp.csr_array((weights, indices, indptr), shape=(self.n_units, self.n_units))
        # Sums of the same arcs in two orders differ in the last bit.
        found.data = (found.data + found.T.tocsr().data) / 2
        return found


def cut_into_blocks(arcs: np.ndarray, size: int) -> np.ndarray:
    """Starts of blocks of about `size` arcs each, from the number of arcs of each unit.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.distributed.levels import cut_into_blocks
    >>> cut_into_blocks(np.array([3, 1, 2, 2, 9, 1]), 4).tolist()
    [0, 2, 4, 5, 6]
    """
    n_units, ends = len(arcs), np.cumsum(arcs)
    n_blocks = max(1, -(-int(ends[-1]) // size))
    inner = np.searchsorted(ends, np.arange(1, n_blocks) * size) + 1
    return np.unique(np.concatenate([[0], np.minimum(inner, n_units), [n_units]]))


def write_level(runner: Runner, stage: str, runs: list[Any], level: Level) -> np.ndarray:
    """Group arcs by their two units, write the blocks and the array `n_arcs`; returns row sums.

    Parameters
    ----------
    runs : list of delayed objects
        The i-th writes the i-th run of the level.

    Notes
    -----
    The group-by of Dask would spread the arcs of a unit over all partitions, and its shuffle keeps state on the workers and
    takes several times the memory: two workers of 1 GiB died repeatedly with four million arcs at a time. Here a task
    holds one run or one block, and everything else is in files.
    """
    level.folder.mkdir(parents=True, exist_ok=True)
    runner.compute(f"{stage}, sort", runs)
    found = runner.map(
        f"{stage}, add", Level.write_block, [(level, block, len(runs)) for block in range(level.n_blocks)]
    )
    level.delete("run-*")
    sums, counts = (np.concatenate(column) for column in zip(*found, strict=True))
    level.save(n_arcs=counts)
    return sums
