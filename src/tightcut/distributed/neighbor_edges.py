"""`knn_edges`: from points on many machines to the edges of their neighbourhood graph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.distributed.edges import COLUMNS, MOST_VERTICES
from tightcut.distributed.levels import Level
from tightcut.distributed.nearest import find_arcs
from tightcut.distributed.points import PointBlocks, read_points, save_points
from tightcut.distributed.running import Progress, Runner, find_client, temporary_folder, written_whole
from tightcut.neighbors import METRICS, SYMMETRIZE
from tightcut.neighbors.bridges import shortest_bridges
from tightcut.neighbors.knn import bridge_weights
from tightcut.neighbors.points import GIVEN
from tightcut.neighbors.tree import make_index
from tightcut.utils.atomic import resolve_path
from tightcut.utils.extras import require_package
from tightcut.utils.validation import check_choice, check_count

SEARCHES = ("auto", "exact", "approximate")


@dataclass(frozen=True)
class NeighborLimits:
    """What "auto" stands for, and the default size of a block, limited by time and memory."""

    exact_work: float = 1e15  # n^2 d up to which "auto" is exact: an hour or two of one core
    block_points: int = 250_000  # lists of ten neighbours take 40 MB
    block_coordinates: int = 1 << 25  # 256 MB in double precision


LIMITS = NeighborLimits()


@dataclass(frozen=True, eq=False, repr=False)
class NeighborEdges:
    """The edges of a neighbourhood graph, on disk.

    Attributes
    ----------
    folder : Path
        Parquet files with the columns i, j and weight: every edge once, with i < j. `cluster_graph` takes it.
    n_points, n_edges : int
    recall : float
        The share of true neighbours that was found: 1 for an exact search, otherwise measured on a random sample of 500
        points.
    """

    folder: Path
    n_points: int
    n_edges: int
    recall: float

    @property
    def edges(self) -> Any:
        """The files as a Dask data frame."""
        import dask.dataframe as dd

        return dd.read_parquet(str(self.folder))

    def __repr__(self) -> str:
        return f"NeighborEdges({self.n_points:,} points; {self.n_edges:,} edges; recall {self.recall:.4g})"


def knn_edges(
    points: Any,
    folder: str | Path,
    n_neighbors: int = 10,
    *,
    metric: str = "euclidean",
    neighbors: str = "auto",
    symmetrize: str = "maximum",
    connect: bool = True,
    client: Any = None,
    partition_size: int | None = None,
    progress: Progress | None = None,
) -> NeighborEdges:
    """The edges of `knn_affinity` for points that exceed the memory of any machine, on the workers of a Dask cluster.

    Parameters
    ----------
    points : dask.array.Array, dask.dataframe.DataFrame or path
        One row per point, in partitions; or a folder of Parquet files whose columns are the features. Points are numbered
        0, ..., n - 1 in the order of the rows.
    folder : path
        A new or empty folder for the edges, which all workers see. Until the end it also holds the points and twice the
        edges.
    n_neighbors : int, default=10
    metric : {"euclidean", "cosine"}, default="euclidean"
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        "exact" compares every partition with every other, in time O(n^2 d) with many features d. "approximate" searches a
        part of each partition, with the extra `tightcut[faiss]`, and `NeighborEdges.recall` is the share of true
        neighbours that it finds. "auto" is exact up to n^2 d = 10^15.
    symmetrize : {"maximum", "mean"}, default="maximum"
    connect : bool, default=True
        Join the components of a disconnected graph by their shortest links, with a warning.
    client : distributed.Client, optional
        By default the current one or, if there is none, threads of this process.
    partition_size : int, optional
        A task compares this many points with as many others: larger partitions are split, smaller ones merged. By default
        250,000 points, or 2^25 coordinates if these are fewer. It does not affect exact edges.
    progress : callable, optional
        Called with (stage, done, total, cut).

    Returns
    -------
    NeighborEdges

    See Also
    --------
    knn_affinity : For points in memory, and what n_neighbors, metric, symmetrize and connect mean.
    cluster_graph : Takes the folder.

    Notes
    -----
    Points are kept in blocks on disk. A task holds one block and reads all others in turn; its lists of neighbours become
    runs of arcs, which are collected by their smaller ends: that brings both weights of a pair together. Components, and
    bridges between them, are found by the calling process, which reads the points from a file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import dask.array as da, numpy as np
    >>> from tightcut import knn_edges
    >>> line = da.from_array(np.array([[0.0], [1.0], [3.0]]), chunks=(2, 1))
    >>> with TemporaryDirectory() as folder:
    ...     found = knn_edges(line, folder, n_neighbors=1)
    ...     print(found, found.edges.compute().round(4).to_numpy().tolist())
    NeighborEdges(3 points; 2 edges; recall 1) [[0.0, 1.0, 0.0183], [1.0, 2.0, 0.0183]]
    """
    check_count("n_neighbors", n_neighbors, 1)
    check_choice("metric", metric, [name for name in METRICS if name != GIVEN])
    check_choice("neighbors", neighbors, SEARCHES)
    check_choice("symmetrize", symmetrize, SYMMETRIZE)
    runner = Runner(find_client(client), progress)
    parts, n_features = read_points(points)
    if partition_size is None:
        partition_size = min(LIMITS.block_points, max(1, LIMITS.block_coordinates // max(n_features, 1)))
    check_count("partition_size", partition_size, 1)
    target = _empty_folder(folder)
    with temporary_folder(".tightcut-", target) as place:
        runner.check_folder(place)
        blocks = save_points(runner, parts, metric, partition_size, place / "points")
        if not 2 <= blocks.n_points <= MOST_VERTICES:
            raise ValueError(f"There are {blocks.n_points:,} points; a graph takes 2 to {MOST_VERTICES:,}.")
        search = _search(neighbors, blocks.n_points, n_features)
        arcs = Level(place / "arcs", blocks.starts)
        scales, recall = find_arcs(runner, blocks, min(n_neighbors, blocks.n_points - 1), arcs, search)
        jobs = [(arcs, number, symmetrize) for number in range(len(blocks))]
        n_edges = sum(runner.map("edges", _write_edges, jobs))
        if connect:
            n_edges += _connect(blocks, arcs, scales)
        for file in sorted(arcs.folder.glob("*.parquet")):
            file.replace(target / file.name)
    return NeighborEdges(target, blocks.n_points, n_edges, recall)


def _empty_folder(folder: str | Path) -> Path:
    target = resolve_path(Path(folder))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FileExistsError(17, "The edges need a folder of their own, empty or new", str(folder))
    target.mkdir(parents=True, exist_ok=True)
    return target


def _search(neighbors: str, n: int, n_features: int) -> str:
    """The search for n points, "exact" or "approximate"; an error if its package is not installed."""
    if neighbors == "exact" or (neighbors == "auto" and float(n) ** 2 * n_features <= LIMITS.exact_work):
        return "exact"
    require_package(
        "faiss", f'neighbors="{neighbors}" is approximate for {n:,} points of {n_features} features and', "faiss"
    )
    return "approximate"


def _write_edges(arcs: Level, number: int, symmetrize: str) -> int:
    """Write the edges whose smaller ends are in a block, each once; returns their number."""
    i, j, weight = arcs.collect(arcs.n_blocks, *arcs.starts[number : number + 2].tolist())
    order = np.lexsort((j, i))
    i, j, weight = i[order], j[order], weight[order]
    if len(i) == 0:
        return 0
    starts = np.flatnonzero(np.append(True, (np.diff(i) != 0) | (np.diff(j) != 0)))
    weight = np.add.reduceat(weight, starts) / 2 if symmetrize == "mean" else np.maximum.reduceat(weight, starts)
    _write_table(arcs.folder / f"part-{number:05d}.parquet", i[starts], j[starts], weight)
    return len(starts)


def _write_table(file: Path, *columns: np.ndarray) -> None:
    import pandas as pd

    frame = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
    with written_whole(file) as stream:
        frame.astype({"i": np.int64, "j": np.int64}).to_parquet(stream, index=False)


def _connect(blocks: PointBlocks, arcs: Level, scales: np.ndarray) -> int:
    """Write bridges between components, if there are several; returns their number."""
    labels = _components(arcs, blocks.n_points)
    if not labels.any():
        return 0
    points = blocks.map_all()
    ends, lengths = shortest_bridges(points, labels, make_index(points))
    weights = bridge_weights(ends, lengths, scales, int(labels.max()) + 1)
    _write_table(arcs.folder / "bridges.parquet", *np.sort(ends, axis=0), weights)
    return len(weights)


def _components(arcs: Level, n: int) -> np.ndarray:
    """The component of each point, from the files of edges one after the other."""
    import pandas as pd

    labels, count = np.arange(n, dtype=np.int32), n
    for file in sorted(arcs.folder.glob("part-*.parquet")):
        table = pd.read_parquet(file, columns=["i", "j"])
        ends = labels[table["i"].to_numpy()], labels[table["j"].to_numpy()]
        apart = ends[0] != ends[1]
        ends = ends[0][apart], ends[1][apart]
        links = sp.coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(count, count))
        count, joined = sp.csgraph.connected_components(links, directed=False)
        labels = joined[labels]
    return labels
