"""From points to a similarity graph: nearest neighbours, exact or approximate, their weights, and bridges."""

from tightcut.neighbors.affinity import (
    POINT_TYPES,
    SYMMETRIZE,
    cross_affinity,
    knn_affinity,
    knn_affinity_and_recall,
)

__all__ = ["POINT_TYPES", "SYMMETRIZE", "cross_affinity", "knn_affinity", "knn_affinity_and_recall"]
