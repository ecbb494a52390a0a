"""From points to a similarity graph: nearest neighbours, exact or approximate, their weights, and bridges."""

from tightcut.neighbors.knn import (
    SEARCHES,
    SYMMETRIZE,
    KnnGraph,
    KnnSettings,
    NeighborLists,
    cross_affinity,
    find_neighbors,
    knn_affinity,
    knn_graph,
    known_affinity,
)
from tightcut.neighbors.pixels import pixel_affinity
from tightcut.neighbors.points import GIVEN, METRICS, POINT_TYPES, check_points
from tightcut.neighbors.precomputed import check_distances, check_rows

__all__ = [
    "GIVEN",
    "METRICS",
    "POINT_TYPES",
    "SEARCHES",
    "SYMMETRIZE",
    "KnnGraph",
    "KnnSettings",
    "NeighborLists",
    "check_distances",
    "check_points",
    "check_rows",
    "cross_affinity",
    "find_neighbors",
    "knn_affinity",
    "knn_graph",
    "known_affinity",
    "pixel_affinity",
]
