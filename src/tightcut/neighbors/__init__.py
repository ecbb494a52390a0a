"""From points to a similarity graph: nearest neighbours, exact or approximate, their weights, and bridges."""

from tightcut.neighbors.affinity import (
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
from tightcut.neighbors.given import check_distances, check_rows
from tightcut.neighbors.pixels import pixel_affinity
from tightcut.neighbors.points import GIVEN, METRICS, POINT_TYPES, check_points

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
