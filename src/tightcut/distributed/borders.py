"""A second search, of the borders between clusters at full resolution.

Coarse units lose what a border can gain from single vertices, and moves of one vertex at a time find only part of it. Here
the units whose edges leave their clusters most, and what is near them, stay what they are, and the inside of every cluster
becomes one unit: a graph small enough for the ordinary search, which starts from the clustering there is.
"""

from __future__ import annotations

import numpy as np

from tightcut import kernels
from tightcut.distributed.coarsening import contract
from tightcut.distributed.levels import Level
from tightcut.distributed.running import Runner
from tightcut.problem import Constraints

STAGE = "borders"


def free_borders(
    runner: Runner, level: Level, labels: np.ndarray, cannot_link: np.ndarray, n_units: int, size: int, cut: float
) -> tuple[Level, np.ndarray]:
    """The graph of the borders and the insides, and its cannot-links; the array `unit` of the level says what is where.

    Parameters
    ----------
    labels : ndarray
        Of the units of the level; they satisfy the cannot-links.
    cannot_link : ndarray of shape (m, 2)
        Pairs of units of the level.
    n_units : int
        How many units there may be.
    size : int
        Arcs of a block.
    cut : float
        For the progress.
    """
    blocks = [(level, block) for block in range(level.n_blocks)]
    level.save(labels=labels)
    level.save(share=np.concatenate(runner.map(STAGE, _shares, blocks, cut)))
    share = np.concatenate(runner.map(STAGE, _spread, blocks, cut))
    k = int(labels.max()) + 1
    free = np.argsort(-share, kind="stable")[: max(0, n_units - k)]
    free = np.sort(free[share[free] > 0])
    code = labels.astype(np.int32)
    code[free] = np.arange(k, k + len(free))
    unit = (np.cumsum(np.bincount(code) > 0) - 1).astype(np.int32)[code]
    pairs = Constraints.from_pairs(int(unit.max()) + 1, cannot_link=unit[cannot_link]).cannot_link
    return contract(runner, STAGE, level, unit, pairs, size, STAGE), pairs


def _shares(level: Level, number: int) -> np.ndarray:
    return kernels.leaving_shares(*level.read_block(number), level.array("labels"))


def _spread(level: Level, number: int) -> np.ndarray:
    return kernels.spread_shares(*level.read_block(number), level.array("share"))
