"""Nearest neighbours of points in blocks on disk: a task keeps one block in memory, and reads all others in turn."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np

from tightcut.distributed.levels import Level
from tightcut.distributed.points import PointBlocks
from tightcut.distributed.running import Runner, written_whole
from tightcut.neighbors.approximate import RECALL_SAMPLE
from tightcut.neighbors.exact import BlockedNeighbors
from tightcut.neighbors.knn import gaussian_similarity
from tightcut.neighbors.points import check_units
from tightcut.neighbors.tree import Neighbors, make_index

STAGE = "neighbours"
Lists = tuple[np.ndarray, np.ndarray]  # distances and neighbours, nearest first


def find_arcs(runner: Runner, blocks: PointBlocks, k: int, arcs: Level, search: str) -> tuple[np.ndarray, float]:
    """Write a run of arcs for each block, from its points to their k nearest neighbours, sorted by smaller ends.

    Parameters
    ----------
    search : {"exact", "approximate"}

    Returns
    -------
    scales : ndarray of shape (n_points,)
        The distance of each point to its last neighbour.
    recall : float
        The share of true neighbours, for a random sample of points; 1 for an exact search.
    """
    n, numbers = blocks.n_points, range(len(blocks))
    if search == "approximate":
        runner.map("index", _save_index, [(blocks, number) for number in numbers])
    sample = np.sort(np.random.default_rng(0).choice(n, min(n, RECALL_SAMPLE), replace=False))
    sampled = _rows_in_blocks(blocks, sample)
    found = runner.map(STAGE, _write_run, [(blocks, number, k, arcs, sampled[number], search) for number in numbers])
    scales, queries, distances = (np.concatenate(column) for column in zip(*found, strict=True))
    if search == "exact":
        return scales, 1.0
    # One of the k + 1 nearest is the point itself. Neighbours at most as far as the true k-th one are true neighbours.
    true = np.hstack(runner.map("recall", _true_distances, [(blocks, number, queries, k + 1) for number in numbers]))
    return scales, float((distances <= np.sort(true, axis=1)[:, k : k + 1]).mean())


def _rows_in_blocks(blocks: PointBlocks, sample: np.ndarray) -> list[np.ndarray]:
    """For each block, the positions in it of a sorted sample of all points."""
    ends = np.searchsorted(sample, blocks.starts)
    return [sample[ends[number] : ends[number + 1]] - start for number, start in enumerate(blocks.starts[:-1])]


def _write_run(
    blocks: PointBlocks, number: int, k: int, arcs: Level, sampled: np.ndarray, search: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write the arcs from a block; returns scales, and the sampled points with the distances that were found."""
    points = blocks.read(number)
    distances, neighbors = _nearest(blocks, number, points, k, search)
    own = np.repeat(np.arange(len(points)) + blocks.starts[number], k)
    ends = np.sort(np.stack([own, neighbors.ravel()]).astype(np.int32), axis=0)
    order = np.argsort(ends[0], kind="stable")
    weights = gaussian_similarity(distances, distances[:, -1:]).ravel()
    arcs.write_run(number, ends[0, order], ends[1, order], weights[order])
    return distances[:, -1].copy(), points[sampled], distances[sampled]


def _true_distances(blocks: PointBlocks, number: int, queries: np.ndarray, k: int) -> np.ndarray:
    return _nearest_in(blocks, number, queries, k, "exact", own=False)[0]


def _nearest(blocks: PointBlocks, number: int, points: np.ndarray, k: int, search: str) -> Lists:
    """The k nearest neighbours of a block's points among all points; at equal distance, smaller numbers come first."""
    lists = _nearest_in(blocks, number, points, k, search, own=True)
    for other in range(len(blocks)):
        if other == number:
            continue
        # Neighbours found so far bound the distance of those in other blocks.
        within = lists[0][:, -1] if lists[0].shape[1] == k else None
        found = _nearest_in(blocks, other, points, k, search, own=False, within=within)
        distances, neighbors = (np.hstack(pair) for pair in zip(lists, found, strict=True))
        order = np.lexsort((neighbors, distances), axis=1)[:, :k]
        lists = np.take_along_axis(distances, order, axis=1), np.take_along_axis(neighbors, order, axis=1)
    return lists


def _nearest_in(
    blocks: PointBlocks,
    other: int,
    queries: np.ndarray,
    k: int,
    search: str,
    *,
    own: bool,
    within: np.ndarray | None = None,
) -> Lists:
    """Distances and numbers of the k nearest points of a block, or of all its points if they are fewer.

    With `own` the queries are the block, and no point is its own neighbour. Some neighbours beyond `within` may be
    missing, with infinite distances instead.
    """
    k = min(k, blocks.size_of(other) - own)
    if k == 0:
        return np.empty((len(queries), 0)), np.empty((len(queries), 0), np.int64)
    index: Neighbors
    if search == "approximate":
        index = pickle.loads(_index_file(blocks, other).read_bytes())  # noqa: S301 (written by `_save_index`)
    elif own:
        index = make_index(queries)
    else:
        points = blocks.read(other)
        check_units(queries, points)
        index = BlockedNeighbors.with_projection(points, k) or make_index(points)
    if isinstance(index, BlockedNeighbors) and not own:
        distances, neighbors = index.kneighbors(queries, k, within)
    else:
        distances, neighbors = index.kneighbors(None if own else queries, n_neighbors=k)
    return distances, neighbors + blocks.starts[other]


def _index_file(blocks: PointBlocks, number: int) -> Path:
    return blocks.folder / f"index-{number}.pickle"


def _save_index(blocks: PointBlocks, number: int) -> None:
    """Save an approximate index of a block: training it takes about as long as searching it."""
    with written_whole(_index_file(blocks, number)) as stream:
        pickle.dump(make_index(blocks.read(number), "approximate"), stream, protocol=5)
