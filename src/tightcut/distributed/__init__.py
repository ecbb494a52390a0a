"""Points and graphs that do not fit into the memory of one machine: neighbours and clusters on a Dask cluster."""

from tightcut.distributed.graph_clustering import GraphClustering, cluster_graph
from tightcut.distributed.neighbor_edges import NeighborEdges, knn_edges
from tightcut.distributed.running import LostWorkersError

__all__ = ["GraphClustering", "LostWorkersError", "NeighborEdges", "cluster_graph", "knn_edges"]
