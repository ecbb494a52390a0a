"""Triangle inequalities: which are violated, and the pairs of units that occur in them or in the graph.

There are about n^3 of them and a bound needs few, so they are looked for: for each pair of units that the program
speaks of, the third unit with which the pair violates an inequality most.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightcut import kernels
from tightcut.certificates.verify import SIGNS
from tightcut.utils.parallel import run_tasks, workers

LEAST_VIOLATION = 0.02
ALL_UNITS_LIMIT = (
    3000  # units up to which the third of a triangle may be any; else it is a neighbour of one of the pair
)
MOST_PER_UNIT = 40  # triangles that one round adds
PARALLEL_LIMIT = 20_000_000  # triangles looked at, from which threads pay


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of units, by their keys i U + j for i < j, increasing."""

    n_units: int
    keys: np.ndarray

    @classmethod
    def of(cls, n_units: int, *parts: np.ndarray) -> Pairs:
        return cls(n_units, np.unique(np.concatenate(parts)))

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        head, tail = np.divmod(self.keys, self.n_units)
        return head.astype(np.int32), tail.astype(np.int32)

    def place(self, keys: np.ndarray) -> np.ndarray:
        """The number of each pair."""
        return np.searchsorted(self.keys, keys).astype(np.int32)

    def spread(self, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Values of some pairs, 0 for the others."""
        out = np.zeros(len(self.keys))
        out[self.place(keys)] = values
        return out

    def neighbours(self) -> sp.csr_array:
        head, tail = self.ends
        n, ones = self.n_units, np.ones(2 * len(head), np.int8)
        graph = sp.csr_array((ones, (np.concatenate([head, tail]), np.concatenate([tail, head]))), shape=(n, n))
        graph.indptr, graph.indices = graph.indptr.astype(np.int32), graph.indices.astype(np.int32)
        return graph


def pair_keys(n_units: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.minimum(first, second).astype(np.int64) * n_units + np.maximum(first, second)


def spin_sides(n_units: int, triangles: np.ndarray) -> np.ndarray:
    """Keys of the pairs (i, j), (i, h) and (j, h) of each triangle of the Z form, in three columns."""
    i, j, h = triangles[:, :3].T
    return np.column_stack([i * n_units + j, i * n_units + h, j * n_units + h])


def partition_sides(n_units: int, triangles: np.ndarray) -> np.ndarray:
    """Keys of the pairs (u, v), (u, w) and (v, w) of each triangle of the P form, in three columns."""
    u, v, w = triangles.T
    return np.column_stack([pair_keys(n_units, a, b) for a, b in ((u, v), (u, w), (v, w))])


def violated_spin_triangles(X: np.ndarray, pairs: Pairs, n_jobs: int | None) -> np.ndarray:
    """Rows (i, j, h, kind) of triangles with i < j < h that X violates, most violated first."""
    (head, tail), n = pairs.ends, pairs.n_units
    third = np.full(len(head), -1, np.int32)
    if n <= ALL_UNITS_LIMIT:
        flat = X.astype(np.float32)
        gram = flat @ flat.T
        _in_parts(
            lambda a, b: kernels.worst_spin_triangles(gram, head, tail, a, b, LEAST_VIOLATION, third),
            len(head), n, n_jobs,
        )  # fmt: skip
    else:
        near = pairs.neighbours()
        ends, others = near.indptr, near.indices
        _in_parts(
            lambda a, b: kernels.worst_near_spin_triangles(X, head, tail, ends, others, a, b, LEAST_VIOLATION, third),
            len(head), len(others) // n, n_jobs,
        )  # fmt: skip
    found = third >= 0
    corners = np.unique(np.sort(np.column_stack([head[found], tail[found], third[found]]), axis=1), axis=0)
    i, j, h = corners.T
    products = np.column_stack([(X[a] * X[b]).sum(1) for a, b in ((i, j), (i, h), (j, h))])
    values = products @ SIGNS.T
    kind = np.argmin(values, axis=1)
    order = np.argsort(values.min(axis=1, initial=np.inf), kind="stable")[: MOST_PER_UNIT * n]
    return np.column_stack([corners, kind]).astype(np.int64)[order]


def violated_partition_triangles(
    X: np.ndarray, constant: float, own: np.ndarray, pairs: Pairs, n_jobs: int | None
) -> np.ndarray:
    """Rows (u, v, w), v < w, of triangles that P = constant + XX' with diagonal `own` violates."""
    (head, tail), near = pairs.ends, pairs.neighbours()
    third, corner = np.full(len(head), -1, np.int32), np.full(len(head), -1, np.int32)
    graph = near.indptr, near.indices
    _in_parts(
        lambda a, b: kernels.worst_near_partition_triangles(
            X, constant, head, tail, own, *graph, a, b, LEAST_VIOLATION, corner, third
        ),
        len(head), len(near.indices) // pairs.n_units, n_jobs,
    )  # fmt: skip
    found = third >= 0
    all_three = np.column_stack([head[found], tail[found], third[found]]).astype(np.int64)
    u = corner[found].astype(np.int64)
    others = np.sort(all_three[all_three != u[:, None]].reshape(-1, 2), axis=1)
    return np.unique(np.column_stack([u, others]), axis=0)


def new_rows(rows: np.ndarray, known: np.ndarray, n_units: int) -> np.ndarray:
    """Rows that are not among the known ones, in their order."""
    base = max(n_units, 4)
    powers = base ** np.arange(rows.shape[1] - 1, -1, -1, dtype=np.int64)
    return rows[~np.isin(rows @ powers, known @ powers)]


def _in_parts(look: Callable[[int, int], None], n_pairs: int, thirds: int, n_jobs: int | None) -> None:
    """Look at all pairs, in threads where there are many; each fills its own places."""
    count, shared = workers(n_jobs)
    if count == 1 or not shared or n_pairs * thirds < PARALLEL_LIMIT:
        look(0, n_pairs)
        return
    cuts = np.linspace(0, n_pairs, 4 * count + 1).astype(np.int64).tolist()
    list(run_tasks(look, list(itertools.pairwise(cuts)), n_jobs))
