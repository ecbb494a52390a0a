"""Parallel refinement of labels (Jet moves), on every level as they are carried back.

A sweep takes three passes over the arcs. First every unit proposes the move that lowers the cut most if all others stay;
then it reconsiders as if all better moves had been made; and the moves that still gain are made and measured. A sweep
that does not lower the cut is undone, and half as many moves are tried. No step depends on the division into blocks.

At the end `free_borders` prepares a second search, of the borders between clusters at full resolution: coarse units
cannot move single vertices, and moves of one vertex at a time find only part of the possible gain. The units with most
edge weight leaving their clusters, and units near them, stay separate, and the inside of every cluster becomes one unit:
a graph small enough for the ordinary search, which starts from the present clustering.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightcut import kernels
from tightcut.distributed.coarsening import contract
from tightcut.distributed.levels import Level
from tightcut.distributed.running import Runner
from tightcut.problem import Constraints


@dataclass(frozen=True)
class SweepLimits:
    """When the refinement of a level ends; `benchmarks/results/distributed.md` has the cuts that follow."""

    sweeps: int = 12
    gain: float = 1e-4  # of the cut: a sweep that gains less is the last
    share: float = 0.1  # of the moves: the smallest share that is tried


LIMITS = SweepLimits()
BORDERS = "borders"  # the stage of the second search


def measure(runner: Runner, stage: str, level: Level, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The edge weight that leaves each cluster, and its vertex weight; saves the labels with the level."""
    level.save(labels=labels)
    leaving = np.sum(runner.map(stage, _leaving, [(level, block, k) for block in range(level.n_blocks)]), axis=0)
    return leaving, np.bincount(labels, level.array("vertex_weights"), k)


def refine(runner: Runner, stage: str, level: Level, labels: np.ndarray, k: int) -> tuple[np.ndarray, float]:
    """Labels with the same cut or a smaller one, and the cut."""
    best = labels.astype(np.int32)
    totals = measure(runner, stage, level, best, k)
    cut, share = _cut(totals), 1.0
    for _ in range(LIMITS.sweeps):
        changed = _sweep(runner, stage, level, best, totals, share)
        if changed is None:
            break
        measured = measure(runner, stage, level, changed, k)
        gain = cut - _cut(measured)
        if gain > 0:
            best, totals, cut = changed, measured, _cut(measured)
        else:
            share /= 2
        if share < LIMITS.share or 0 < gain < LIMITS.gain * cut:
            break
        level.save(labels=best)
    return best, cut


def _sweep(
    runner: Runner, stage: str, level: Level, labels: np.ndarray, totals: tuple[np.ndarray, np.ndarray], share: float
) -> np.ndarray | None:
    """The labels after a share of the improving moves, the best first; None if no move improves."""
    cut, blocks = _cut(totals), [(level, block, *totals) for block in range(level.n_blocks)]
    found = runner.map(stage, _best_moves, blocks, cut)
    wanted, change = (np.concatenate([pair[column] for pair in found]) for column in (0, 1))
    if not (wanted >= 0).any():
        return None
    level.save(wanted=wanted, change=change)
    confirmed = np.concatenate(runner.map(stage, _confirmed_moves, blocks, cut))
    order = np.argsort(confirmed, kind="stable").astype(np.int32)
    order = order[: int(np.ceil(share * np.count_nonzero(confirmed < 0)))]
    if len(order) == 0:
        return None
    changed, count = labels.copy(), np.bincount(labels, minlength=len(totals[0]))
    kernels.make_moves(order, wanted, changed, count, *level.arrays("apart_indptr", "apart_indices"))
    return changed


def _cut(totals: tuple[np.ndarray, np.ndarray]) -> float:
    leaving, volume = totals
    return float((leaving / volume).sum())


def _leaving(level: Level, number: int, k: int) -> np.ndarray:
    leaving = np.zeros(k)
    kernels.measure_block(*level.read_block(number), level.array("labels"), leaving)
    return leaving


def _best_moves(level: Level, number: int, leaving: np.ndarray, volume: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    vertex_weights, labels, *apart = level.arrays("vertex_weights", "labels", "apart_indptr", "apart_indices")
    return kernels.best_moves(*level.read_block(number), vertex_weights, labels, leaving, volume, *apart)


def _confirmed_moves(level: Level, number: int, leaving: np.ndarray, volume: np.ndarray) -> np.ndarray:
    vertex_weights, labels, wanted, change = level.arrays("vertex_weights", "labels", "wanted", "change")
    return kernels.confirmed_moves(*level.read_block(number), vertex_weights, labels, leaving, volume, wanted, change)


def free_borders(
    runner: Runner, level: Level, labels: np.ndarray, cannot_link: np.ndarray, n_units: int, size: int, cut: float
) -> tuple[Level, np.ndarray]:
    """The graph of borders and insides, and its cannot-links; the array `unit` of the level maps units to its vertices.

    Parameters
    ----------
    labels : ndarray
        Of the units of the level; they satisfy the cannot-links.
    cannot_link : ndarray of shape (m, 2)
        Pairs of units of the level.
    n_units : int
        The largest number of units.
    size : int
        Arcs of a block.
    cut : float
        Reported as progress.
    """
    blocks = [(level, block) for block in range(level.n_blocks)]
    level.save(labels=labels)
    level.save(share=np.concatenate(runner.map(BORDERS, _shares, blocks, cut)))
    share = np.concatenate(runner.map(BORDERS, _spread, blocks, cut))
    k = int(labels.max()) + 1
    free = np.argsort(-share, kind="stable")[: max(0, n_units - k)]
    free = np.sort(free[share[free] > 0])
    code = labels.astype(np.int32)
    code[free] = np.arange(k, k + len(free))
    unit = (np.cumsum(np.bincount(code) > 0) - 1).astype(np.int32)[code]
    pairs = Constraints.from_pairs(int(unit.max()) + 1, cannot_link=unit[cannot_link]).cannot_link
    return contract(runner, BORDERS, level, unit, pairs, size, BORDERS), pairs


def _shares(level: Level, number: int) -> np.ndarray:
    return kernels.leaving_shares(*level.read_block(number), level.array("labels"))


def _spread(level: Level, number: int) -> np.ndarray:
    return kernels.spread_shares(*level.read_block(number), level.array("share"))
