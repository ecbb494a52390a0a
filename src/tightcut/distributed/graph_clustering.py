"""`cluster_graph`: from edges on many machines to labels."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.clustering.arguments import as_generator, check_number
from tightcut.clustering.cluster import cluster
from tightcut.distributed.coarsening import coarsen, save_units
from tightcut.distributed.edges import IDS_OF_A_RANGE, MOST_VERTICES, Vertices, read_edges, runs_of_arcs, survey
from tightcut.distributed.levels import Level, cut_into_blocks, write_level
from tightcut.distributed.refinement import free_borders, refine
from tightcut.distributed.running import LostWorkersError, Progress, Runner, find_client, temporary_folder
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.violations import Violations
from tightcut.relaxation.recursion import separate_sets
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.contradiction import explain
from tightcut.search.feasibility import find_colouring
from tightcut.utils.codes import renumber
from tightcut.utils.validation import check_count


@dataclass(frozen=True, eq=False, repr=False)
class GraphClustering:
    """A clustering of a large graph.

    Attributes
    ----------
    labels : dask.dataframe.DataFrame
        Columns `vertex`, the identifiers in increasing order, and `cluster`, 0, ..., k - 1, numbered by first appearance.
    cut : float
        Sum over clusters of cut(C, rest) / vol(C).
    violations : Violations
        Always empty.
    n_vertices : int
    n_units : tuple of int
        Number of units on each level, from the must-linked sets of vertices to the units that were searched.
    """

    labels: Any
    cut: float
    violations: Violations
    n_vertices: int
    n_units: tuple[int, ...]

    def __repr__(self) -> str:
        levels = ", ".join(f"{count:,}" for count in self.n_units)
        return f"GraphClustering({self.n_vertices:,} vertices; cut {self.cut:.6g}; levels of {levels} units)"


@dataclass(frozen=True)
class _Settings:
    """Checked arguments of the search."""

    n_clusters: int
    n_units: int
    partition_size: int
    effort: float
    n_jobs: int | None

    def __post_init__(self) -> None:
        for name, least in (("n_clusters", 2), ("n_units", 2), ("partition_size", 1)):
            check_count(name, getattr(self, name), least)
        if self.n_units < self.n_clusters:
            raise ValueError(f"n_units={self.n_units} units cannot make {self.n_clusters} clusters; raise n_units.")
        check_number("effort", self.effort)


def cluster_graph(
    edges: Any,
    constraints: Any = None,
    n_clusters: int = 2,
    *,
    client: Any = None,
    folder: str | Path | None = None,
    n_units: int = 2_000_000,
    partition_size: int = 4_000_000,
    effort: float = 1.0,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Progress | None = None,
) -> GraphClustering:
    """Cluster a graph whose edges fit into no machine's memory, on the workers of a Dask cluster.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame or path
        Columns i, j and weight, or a folder of Parquet files with these. Vertices are integers. Weights are finite and
        not negative; parallel edges, in either direction, are added up, and loops are ignored.
    constraints : Constraints or data frame, optional
        Constraints on the vertices 0, ..., n - 1, which need not all have edges; or, for other identifiers, a frame of
        pairs of vertices that the edges name, see `Constraints.from_dataframe`. All are satisfied, whatever their belief,
        or InconsistentConstraintsError is raised.
    n_clusters : int, default=2
    client : distributed.Client, optional
        By default the current one or, if there is none, threads of this process.
    folder : path, optional
        A folder that all workers see, for the levels of the graph, about twice the size of its arcs. By default a
        temporary folder of this machine.
    n_units : int, default=2_000_000
        The graph is contracted to this number of units, which one worker searches; that takes up to 110 bytes for each
        arc between them.
    partition_size : int, default=4_000_000
        Arcs that a task works on at a time, about 100 bytes each.
    effort : float, default=1.0
        Duration of the search; see `cluster`.
    n_jobs : int, optional
        Threads of the search.
    random_state : int, Generator, RandomState or None
        An int makes the result the same on every run, whatever the number of workers.
    progress : callable, optional
        Called with (stage, done, total, cut).

    Returns
    -------
    GraphClustering

    See Also
    --------
    tightcut.cluster : For graphs that fit into memory.

    Notes
    -----
    Must-linked vertices are merged. In each round every unit joins its most tightly tied neighbour, as long as both are
    light and at most one has cannot-links; the graph is contracted, and sent to the workers again. The ordinary search
    clusters the remaining graph. Its labels are carried back, and refined at every level by moves that satisfy the
    constraints; with two clusters, a unit with cannot-links stays where the search has put it. Finally, the borders
    between the clusters are searched once more, at full resolution: the vertices with most weight towards other clusters,
    up to `n_units`, with the inside of every cluster as one unit.

    Arcs are on disk, but arrays with an entry per vertex are in the memory of this process, about 80 bytes each, and
    are mapped into that of the workers.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import dask.dataframe as dd
    >>> from tightcut import Constraints, cluster_graph
    >>> ring = pd.DataFrame({"i": np.arange(6), "j": (np.arange(6) + 1) % 6, "weight": 1.0})
    >>> known = Constraints.from_pairs(6, [(0, 1)], [(1, 2)])
    >>> found = cluster_graph(dd.from_pandas(ring, npartitions=2), known, random_state=0)
    >>> found.labels.compute()["cluster"].tolist(), round(found.cut, 6)
    ([0, 0, 1, 1, 1, 0], 0.666667)
    """
    settings = _Settings(n_clusters, n_units, partition_size, effort, n_jobs)
    runner, rng = Runner(find_client(client), progress), as_generator(random_state)
    frame = read_edges(edges)
    with temporary_folder("tightcut-", folder) as place:
        runner.check_folder(place)
        vertices = survey(runner, frame, Level(place / "points", np.zeros(1, np.int64)))
        known, vertices = _constraints_on(constraints, vertices)
        _check_counts(len(vertices), n_clusters)
        first, cannot_link = _first_level(runner, frame, vertices, known, settings, place)
        ids = vertices.ids
        del vertices  # with two more numbers per vertex that are not needed again
        seed = rng.spawn(1)[0].integers(2**63, dtype=np.uint64)
        levels, coarse_link = coarsen(runner, first, cannot_link, settings.n_units, settings.partition_size, seed)
        labels, cut = _search(runner, levels[-1], coarse_link, settings, rng)
        for number in range(len(levels) - 2, -1, -1):
            labels = labels[levels[number].array("unit")]
            labels, cut = refine(runner, f"refine {number}", levels[number], labels, n_clusters)
        if len(levels) > 1:
            labels, cut = _search_borders(runner, first, labels, cut, cannot_link, settings, rng.spawn(1)[0])
        labels = renumber(labels[Level(place / "points", first.starts).array("unit")])
        runner.report("done", 1, 1, cut)
    counts = tuple(level.n_units for level in levels)
    return GraphClustering(_as_frame(ids, labels), cut, known.violations(labels), len(ids), counts)


def _constraints_on(constraints: Any, vertices: Vertices) -> tuple[Constraints, Vertices]:
    """Constraints on the positions of vertices, and the vertices."""
    if isinstance(constraints, Constraints):
        return constraints, vertices.spread(constraints.n_points)
    if constraints is None:
        return Constraints.from_pairs(len(vertices)), vertices
    if not hasattr(constraints, "columns"):
        raise TypeError(
            f"constraints must be Constraints or a data frame of pairs, not {type(constraints).__name__}: "
            "Constraints.from_pairs(n_points, must_link, cannot_link) makes them from pairs."
        )
    return Constraints.from_dataframe(constraints, vertices.ids), vertices


def _check_counts(n_vertices: int, n_clusters: int) -> None:
    if n_vertices > MOST_VERTICES:
        raise ValueError(f"There are {n_vertices:,} vertices, and 32 bits number {MOST_VERTICES:,}.")
    if n_vertices < n_clusters:
        raise ValueError(f"{n_clusters} non-empty clusters need at least that many points; there are {n_vertices}.")


def _first_level(
    runner: Runner, frame: Any, vertices: Vertices, known: Constraints, settings: _Settings, place: Path
) -> tuple[Level, np.ndarray]:
    """The graph of must-linked sets, on disk, and the cannot-links between them."""
    unit = _mergeable_sets(known, settings.n_clusters)
    count = int(unit.max()) + 1
    points = Level(place / "points", np.array([0, len(vertices)]))
    points.save(ids=vertices.ids, unit=unit)
    level = Level(place / "level-0", cut_into_blocks(np.bincount(unit, vertices.arcs, count), settings.partition_size))
    vertex_weights = write_level(runner, "write", runs_of_arcs(frame, points, level), level)
    isolated = vertices.degrees == 0
    positive = vertices.degrees[~isolated]
    vertex_weights += np.bincount(unit, isolated, count) * (positive.min() if len(positive) else 1.0)
    cannot_link = Constraints.from_pairs(count, cannot_link=unit[known.cannot_link]).cannot_link
    save_units(level, vertex_weights, cannot_link)
    return level, cannot_link


def _mergeable_sets(known: Constraints, k: int) -> np.ndarray:
    """The set of each vertex, of sets that are together in every solution; an error if there is no solution."""
    if k == 2:
        sides = known.require_two_colourable()
        found, unit = np.unique(2 * sides.component.astype(np.int64) + sides.colour, return_inverse=True)
        if len(found) < 2:
            raise InconsistentConstraintsError(n_clusters=2, reason="empty cluster", n_sets=1)
        return unit.astype(np.int32)
    component = separate_sets(known, k).astype(np.int32)
    count = int(component.max()) + 1
    if known.n_cannot_link:
        pairs = Constraints.from_pairs(count, cannot_link=component[known.cannot_link])
        graph = Graph(sp.csr_array((count, count)), np.ones(count))
        answer = find_colouring(ConstrainedGraph.from_graph(graph, pairs), k, np.random.default_rng(0))
        if answer.colours is None:
            raise explain(known, component, answer, k)
    return component


def _search(
    runner: Runner,
    level: Level,
    cannot_link: np.ndarray,
    settings: _Settings,
    rng: np.random.Generator,
    init: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:
    """The ordinary search, on one worker."""
    try:
        return runner.map("search", _search_level, [(level, cannot_link, settings, rng, init)])[0]
    except LostWorkersError as error:
        n_arcs = int(level.array("n_arcs").sum())
        raise LostWorkersError(
            f"Every worker that searched {level.n_units:,} units with {n_arcs:,} arcs died, probably for lack of memory: "
            "the search takes 30 to 110 bytes per arc. Lower n_units, or give workers more memory."
        ) from error


def _search_level(
    level: Level, cannot_link: np.ndarray, settings: _Settings, rng: np.random.Generator, init: np.ndarray | None
) -> tuple[np.ndarray, float]:
    graph = Graph(level.read(), np.array(level.array("vertex_weights")))
    known = Constraints.from_pairs(level.n_units, cannot_link=cannot_link)
    effort, n_jobs = settings.effort, settings.n_jobs
    # A worker in another process draws from a copy; without this copy, a thread would draw from the caller's generator.
    own = deepcopy(rng)
    found = cluster(
        graph, known, settings.n_clusters, effort=effort, init=init, influence=0.0, n_jobs=n_jobs, random_state=own
    )
    # Clusters of `init` keep their numbers, and a new cluster gets the next one: there may be gaps.
    return renumber(found.labels).astype(np.int32), found.cut


def _search_borders(
    runner: Runner,
    level: Level,
    labels: np.ndarray,
    cut: float,
    cannot_link: np.ndarray,
    settings: _Settings,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """Labels with the same cut or a smaller one, and the cut."""
    borders, pairs = free_borders(runner, level, labels, cannot_link, settings.n_units, settings.partition_size, cut)
    unit = level.array("unit")
    init = np.empty(borders.n_units, np.int32)
    init[unit] = labels
    found, changed = _search(runner, borders, pairs, settings, rng, init)
    if changed >= cut:
        return labels, cut
    return refine(runner, "refine", level, found[unit], settings.n_clusters)


def _as_frame(ids: np.ndarray, labels: np.ndarray) -> Any:
    import dask.dataframe as dd
    import pandas as pd

    frame = pd.DataFrame({"vertex": ids, "cluster": labels.astype(np.int32)})
    return dd.from_pandas(frame, npartitions=-(-len(frame) // IDS_OF_A_RANGE), sort=False)
