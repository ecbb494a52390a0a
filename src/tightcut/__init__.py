"""tightcut: graph clustering that respects must-link and cannot-link constraints.

Names are imported on first use, so that ``import tightcut`` is fast; scikit-learn, scipy and numba are loaded when they are
needed.

Examples
--------
>>> import numpy as np
>>> import tightcut
>>> points = np.array([[0.0], [1.0], [2.0], [4.0], [5.0]])
>>> tightcut.Graph.from_affinity(tightcut.knn_affinity(points, n_neighbors=2)).n_edges
6
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tightcut.clustering.align import align
    from tightcut.clustering.cluster import cluster, tradeoff_path
    from tightcut.clustering.result import ClusteringResult
    from tightcut.distributed import GraphClustering, NeighborEdges, cluster_graph, knn_edges
    from tightcut.estimator import COSC
    from tightcut.exceptions import InconsistentConstraintsError, TightcutError
    from tightcut.neighbors import knn_affinity, pixel_affinity
    from tightcut.problem import Constraints
    from tightcut.problem.graph import Graph
    from tightcut.resolution import Resolution, resolve
    from tightcut.scaling import MustLinkScaler
    from tightcut.selection.graph_config import KnnAffinity

__version__ = "0.8.0"

__all__ = [
    "COSC",
    "ClusteringResult",
    "Constraints",
    "Graph",
    "GraphClustering",
    "InconsistentConstraintsError",
    "KnnAffinity",
    "MustLinkScaler",
    "NeighborEdges",
    "Resolution",
    "TightcutError",
    "__version__",
    "align",
    "cluster",
    "cluster_graph",
    "knn_affinity",
    "knn_edges",
    "pixel_affinity",
    "resolve",
    "tradeoff_path",
]

_HOMES = {
    "COSC": "tightcut.estimator",
    "ClusteringResult": "tightcut.clustering.result",
    "Constraints": "tightcut.problem",
    "Graph": "tightcut.problem.graph",
    "GraphClustering": "tightcut.distributed",
    "InconsistentConstraintsError": "tightcut.exceptions",
    "KnnAffinity": "tightcut.selection.graph_config",
    "MustLinkScaler": "tightcut.scaling",
    "NeighborEdges": "tightcut.distributed",
    "Resolution": "tightcut.resolution",
    "TightcutError": "tightcut.exceptions",
    "align": "tightcut.clustering.align",
    "cluster": "tightcut.clustering.cluster",
    "cluster_graph": "tightcut.distributed",
    "knn_affinity": "tightcut.neighbors",
    "knn_edges": "tightcut.distributed",
    "pixel_affinity": "tightcut.neighbors",
    "resolve": "tightcut.resolution",
    "tradeoff_path": "tightcut.clustering.cluster",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tightcut' has no attribute {name!r}; it offers {', '.join(sorted(_HOMES))}.")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
