"""A graph on disk: blocks of units with all their arcs, each a Parquet file, and arrays with an entry per unit.

Arcs are many and stay on disk but for the block that a task works on. Arrays with an entry per unit are few, and mapped
into memory by whatever task needs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import scipy.sparse as sp

from tightcut.distributed.running import Runner

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
        """Keep arrays under their names, each written whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            unfinished = self.folder / f"{uuid4().hex}.npy"
            np.save(unfinished, array)
            unfinished.replace(self.folder / f"{name}.npy")

    def array(self, name: str) -> np.ndarray:
        """An array mapped into memory. Changes stay in memory; kernels are not compiled for read-only arrays as well."""
        return np.asarray(np.load(self.folder / f"{name}.npy", mmap_mode="c"))

    def arrays(self, *names: str) -> tuple[np.ndarray, ...]:
        return tuple(map(self.array, names))

    def write_run(self, number: int, i: np.ndarray, j: np.ndarray, weight: np.ndarray) -> None:
        """Keep some arcs, of any blocks, in the order of their first units, until `write_block` collects them."""
        self.save(**{f"run-{number}-i": i, f"run-{number}-j": j, f"run-{number}-weight": weight})

    def write_block(self, number: int, n_runs: int) -> tuple[np.ndarray, np.ndarray]:
        """Add up the arcs of a block from all runs, and write them; returns row sums and numbers of arcs.

        Arcs from a unit to itself count in the sums and are not written.
        """
        import pyarrow as pa
        from pyarrow import parquet

        first, last = self.starts[number : number + 2].tolist()
        pieces = [self._piece(run, first, last) for run in range(n_runs)]
        i, j, weight = added_up(*(np.concatenate(column) for column in zip(*pieces, strict=True)))
        sums = np.bincount(i - first, weight, last - first)
        kept = i != j
        table = pa.table({"i": i[kept], "j": j[kept], "weight": weight[kept]})
        unfinished = self.folder / f"{uuid4().hex}.unfinished"
        parquet.write_table(table, unfinished, compression="lz4")
        unfinished.replace(self._block_path(number))
        return sums, np.bincount(i[kept] - first, minlength=last - first)

    def _piece(self, run: int, first: int, last: int) -> list[np.ndarray]:
        """The arcs of a run that start at units first, ..., last - 1."""
        columns = self.arrays(*(f"run-{run}-{name}" for name in ("i", "j", "weight")))
        place = slice(*np.searchsorted(columns[0], [first, last]).tolist())
        return [np.array(column[place]) for column in columns]

    def delete_runs(self) -> None:
        for path in self.folder.glob("run-*"):
            path.unlink()

    def read_block(self, number: int) -> Block:
        """First unit, indptr, indices and weights of a block."""
        from pyarrow import parquet

        first, last = self.starts[number : number + 2].tolist()
        table = parquet.read_table(self._block_path(number))
        i, j, weight = (table.column(name).to_numpy() for name in ("i", "j", "weight"))
        indptr = np.searchsorted(i, np.arange(first, last + 1)).astype(np.int64)
        return first, indptr, j, weight

    def read(self) -> sp.csr_array:
        """All arcs in memory, symmetric to the last bit."""
        blocks = [self.read_block(number) for number in range(self.n_blocks)]
        lengths = np.concatenate([np.diff(indptr) for _, indptr, _, _ in blocks])
        index = np.int32 if lengths.sum() < 2**31 else np.int64
        indptr = np.append(0, np.cumsum(lengths)).astype(index)
        indices = np.concatenate([block[2] for block in blocks]).astype(index)
        weights = np.concatenate([block[3] for block in blocks])
        upper = sp.csr_array((weights, indices, indptr), shape=(self.n_units, self.n_units))
        upper = sp.triu(upper, 1, format="csr")  # sums of the same arcs in two orders differ in the last bit
        whole = sp.csr_array(upper + upper.T)
        whole.sort_indices()
        return whole

    def _block_path(self, number: int) -> Path:
        return self.folder / f"arcs-{number:06d}.parquet"


def added_up(i: np.ndarray, j: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arcs in order of their ends, parallel ones added up, the lightest first: the order they come in makes no difference.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.distributed.levels import added_up
    >>> [column.tolist() for column in added_up(np.array([1, 0, 1]), np.array([2, 1, 2]), np.array([3.0, 1.0, 4.0]))]
    [[0, 1], [1, 2], [1.0, 7.0]]
    """
    order = np.lexsort((weight, j, i))
    i, j, weight = (np.asarray(column)[order] for column in (i, j, weight))
    new = np.ones(len(i), bool)
    new[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1])
    starts = np.flatnonzero(new)
    total = np.add.reduceat(weight, starts) if len(starts) else weight
    return i[starts].astype(np.int32), j[starts].astype(np.int32), total.astype(np.float64)


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
    The group-by of Dask would spread the arcs of a unit over all partitions, and its shuffle keeps its state on workers and
    takes several times the memory: of two workers of 1 GiB both died, again and again, over four million arcs at a time. Here
    a task holds one run or one block, and whatever it needs is in files.
    """
    level.folder.mkdir(parents=True, exist_ok=True)
    runner.compute(f"{stage}, sort", runs)
    found = runner.map(f"{stage}, add", _write_block, [(level, block, len(runs)) for block in range(level.n_blocks)])
    level.delete_runs()
    sums, counts = (np.concatenate(column) for column in zip(*found, strict=True))
    level.save(n_arcs=counts)
    return sums


def _write_block(level: Level, number: int, n_runs: int) -> tuple[np.ndarray, np.ndarray]:
    return level.write_block(number, n_runs)
