"""`warmup`: compile all kernels ahead of time, which otherwise takes seconds on the first use of an installation."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from tightcut import Constraints, Graph

N_POINTS = 60  # enough to be coarsened, which reaches every kernel of the search


def warmup() -> None:
    """Compile all kernels, or load them from numba's cache, by clustering a tiny graph in every mode.

    This takes half a minute or more the first time, and a second or two afterwards. Call it before you measure times, or run
    ``tightcut warmup`` when a container image is built.

    Warns
    -----
    UserWarning
        If the compiled code cannot be kept in the folder where it should be.

    Notes
    -----
    The code is kept in the folder named by the environment variable NUMBA_CACHE_DIR, otherwise in the installed package or,
    if that is not writable, in the user's cache folder.
    """
    from tightcut.clustering.cluster import cluster
    from tightcut.problem import Constraints
    from tightcut.problem.graph import Graph

    ribbon = sum(np.eye(N_POINTS, k=step) for step in (-2, -1, 1, 2))  # joined to the two before and the two after
    graph = Graph.from_affinity(ribbon)
    quick = partial(cluster, graph, effort=0.3, random_state=0, progress=_say_nothing)
    constraints = Constraints.from_pairs(N_POINTS, [(0, 10), (5, 40)], [(0, 50), (0, 5)])
    contradictory = Constraints.from_pairs(N_POINTS, cannot_link=list(combinations(range(4), 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("default", message="Compiled code cannot be written")
        quick()
        quick(constraints, method="paper", effort=0)
        quick(constraints, max_violations=1)
        quick(constraints, n_clusters=3)
        quick(contradictory, n_clusters=3, max_violations="fewest")
        _steps_of_large_graphs(graph, constraints)
        _steps_of_resolving()
        _trees_of_asking()
        _search_for_neighbors()


def _say_nothing(*_report: object) -> None:
    """No notice that kernels are being compiled: that is what the caller asked for."""


def _steps_of_large_graphs(graph: Graph, constraints: Constraints) -> None:
    from tightcut import kernels
    from tightcut.search.boundaries import move_boundaries
    from tightcut.search.constrained_graph import ConstrainedGraph
    from tightcut.search.k_way import ManyClusters
    from tightcut.search.large import search_large
    from tightcut.search.options import SearchOptions
    from tightcut.search.two_way import reduce_to_units

    partition = ConstrainedGraph.from_graph(graph, constraints)
    search_large(ManyClusters.of(partition, 3), np.random.default_rng(0), SearchOptions(effort=0.1, n_jobs=1), [])
    move_boundaries(partition, np.arange(partition.n_vertices, dtype=np.int32) % 3, 3)
    units = reduce_to_units(graph, constraints).small
    couplings = units.couplings
    spins = np.where(np.arange(units.n_units) % 2, 1, -1).astype(np.int8)
    kernels.near_the_cut(couplings.indptr, couplings.indices, couplings.data, spins, 10)


def _steps_of_resolving() -> None:
    from tightcut import kernels

    one, none = np.zeros(1, np.int32), np.zeros(0, np.int32)
    graph, groups = (one, one, np.zeros(1)), (one, one)
    labels, costs = kernels.join_components(one, graph, groups, 1)
    kernels.improve_components(none, one, graph, groups, 1, labels, costs)
    kernels.solve_components(none, one, graph, groups, 1, labels, costs, costs)
    kernels.solve_parts(none, one, graph, groups, labels)
    kernels.bound_components(none, one, graph, groups, 1, costs, costs)
    kernels.weigh_branches(one, one, np.zeros(1), 1)


def _trees_of_asking() -> None:
    from tightcut import kernels

    rows, all_rows = np.zeros((2, 1), np.float32), np.ones((1, 2), bool)
    trees = kernels.grow_trees(rows, np.arange(2, dtype=np.int32), 2, all_rows, 1, np.ones(1, np.uint64))
    kernels.average_votes(rows, *trees, all_rows)


def _search_for_neighbors() -> None:
    from tightcut.neighbors import POINT_TYPES, KnnSettings, cross_affinity, knn_graph
    from tightcut.neighbors.cell_pairs import CandidateLists, CellPairs
    from tightcut.neighbors.cells import near_cells
    from tightcut.neighbors.points import unit_scale
    from tightcut.neighbors.projections import Projection

    for dtype in POINT_TYPES:
        points = np.random.default_rng(0).uniform(0, 255, size=(N_POINTS, 3)).astype(dtype)
        settings = KnnSettings(5, neighbors="blocked")
        knn_graph(points, settings)
        cross_affinity(points, points, settings)
        scale = unit_scale(points)
        projection = Projection(np.multiply(points, scale, dtype=np.float32), 1e-6)
        cells = near_cells(projection.points, np.arange(N_POINTS), N_POINTS, 1.0)
        lists = CandidateLists.empty(cells.rows, 5, np.float64)
        CellPairs(cells, lists, projection.differences(points, points, scale)).compare_inside(0)
    sparse = sp.eye_array(N_POINTS, format="csr")
    knn_graph(sparse, KnnSettings(5))
    cross_affinity(sparse, sparse, KnnSettings(5))
