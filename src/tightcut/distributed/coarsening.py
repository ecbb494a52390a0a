"""Rounds of joining and contraction, until the units that are left fit into one machine.

In each round every unit names its most tightly tied neighbour, block by block on the workers. Units then join in order
of tightness, in this process: that takes a few bytes per unit, where the arcs take a few hundred. A new unit contains at
most one unit with cannot-links, so these carry over from level to level, and k clusters that satisfy them still exist.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightcut import kernels
from tightcut.distributed.levels import Level, cut_into_blocks, write_level
from tightcut.distributed.running import Runner
from tightcut.problem import Constraints


@dataclass(frozen=True)
class CoarseningLimits:
    """How far units join; `benchmarks/results/distributed.md` has the cuts that follow."""

    heaviest: float = 2.0  # weight of a unit, by the mean of those wanted in the end
    heaviest_in_round: float = 4.0  # weight of a new unit, by the mean before the round
    units_left: float = 0.95  # a round that leaves a larger share is the last


LIMITS = CoarseningLimits()


def save_units(level: Level, vertex_weights: np.ndarray, cannot_link: np.ndarray) -> None:
    """Save the weights of the units, and their cannot-links as the arrays of a graph."""
    ends = np.concatenate([cannot_link, cannot_link[:, ::-1]]).astype(np.int64)
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    indptr = np.append(0, np.cumsum(np.bincount(ends[:, 0], minlength=level.n_units)))
    level.save(
        vertex_weights=vertex_weights, apart_indptr=indptr.astype(np.int64), apart_indices=ends[:, 1].astype(np.int32)
    )
    level.save(related=np.diff(indptr) > 0)


def coarsen(
    runner: Runner, level: Level, cannot_link: np.ndarray, n_units: int, size: int, seed: np.uint64
) -> tuple[list[Level], np.ndarray]:
    """All levels, from the given one on, and the cannot-links of the last.

    Parameters
    ----------
    level : Level
        With the arrays of `save_units`.
    cannot_link : ndarray of shape (m, 2)
        Pairs of its units, each once.
    n_units : int
        How many units should be left.
    size : int
        Arcs of a block.
    seed : uint64
        Breaks ties.
    """
    levels = [level]
    while levels[-1].n_units > n_units:
        finer, number = levels[-1], len(levels)
        unit = _join(runner, finer, n_units, seed, number)
        count = int(unit.max()) + 1
        if count > max(n_units, LIMITS.units_left * finer.n_units):
            break
        cannot_link = Constraints.from_pairs(count, cannot_link=unit[cannot_link]).cannot_link
        levels.append(contract(runner, f"contract {number}", finer, unit, cannot_link, size, f"level-{number}"))
    return levels, cannot_link


def _join(runner: Runner, level: Level, n_units: int, seed: np.uint64, number: int) -> np.ndarray:
    """The next level's unit of each unit."""
    vertex_weights, related = (np.array(array) for array in level.arrays("vertex_weights", "related"))
    heaviest = LIMITS.heaviest * float(vertex_weights.sum()) / n_units
    heaviest = min(heaviest, LIMITS.heaviest_in_round * float(vertex_weights.mean()))
    tasks = [(level, block, heaviest, seed) for block in range(level.n_blocks)]
    found = runner.map(f"join {number}", _best_neighbours, tasks)
    best, tightness = (np.concatenate([pair[column] for pair in found]) for column in (0, 1))
    order = np.argsort(-tightness, kind="stable").astype(np.int32)
    return kernels.join_units(order, best, vertex_weights, related, heaviest, n_units)


def _best_neighbours(level: Level, number: int, heaviest: float, seed: np.uint64) -> tuple[np.ndarray, np.ndarray]:
    return kernels.best_neighbours(
        *level.read_block(number), *level.arrays("vertex_weights", "related"), heaviest, seed
    )


def contract(
    runner: Runner, stage: str, level: Level, unit: np.ndarray, cannot_link: np.ndarray, size: int, name: str
) -> Level:
    """The contracted level, in a folder of this name.

    Parameters
    ----------
    unit : ndarray
        The new unit of each unit of the level.
    cannot_link : ndarray of shape (m, 2)
        Pairs of new units, each once.
    """
    import dask

    level.save(unit=unit)
    count = int(unit.max()) + 1
    arcs = np.bincount(unit, level.array("n_arcs"), count)  # an upper bound
    coarser = Level(level.folder.with_name(name), cut_into_blocks(arcs, size))
    relabel = dask.delayed(_relabel, pure=False, traverse=False)
    write_level(runner, stage, [relabel(level, block, coarser) for block in range(level.n_blocks)], coarser)
    save_units(coarser, np.bincount(unit, level.array("vertex_weights"), count), cannot_link)
    return coarser


def _relabel(level: Level, number: int, coarser: Level) -> None:
    """Write the arcs of a block as a run of the next level, with parallel arcs added up."""
    first, indptr, indices, weights = level.read_block(number)
    unit = level.array("unit")
    rows, row = np.unique(unit[first : first + len(indptr) - 1], return_inverse=True)
    i, j = np.repeat(row.astype(np.int32), np.diff(indptr)), unit[indices]
    between = rows[i] != j
    sums, j, weights = kernels.add_up_arcs(i[between], j[between], weights[between], len(rows))
    coarser.write_run(number, np.repeat(rows, np.diff(sums)), j, weights)
