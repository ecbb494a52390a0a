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
)
from tightcut.neighbors.points import METRICS, POINT_TYPES, check_points

__all__ = [
    "METRICS",
    "POINT_TYPES",
    "SEARCHES",
    "SYMMETRIZE",
    "KnnGraph",
    "KnnSettings",
    "NeighborLists",
    "check_points",
    "cross_affinity",
    "find_neighbors",
    "knn_affinity",
    "knn_graph",
]
