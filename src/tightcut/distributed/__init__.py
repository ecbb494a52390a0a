"""Graphs whose edges do not fit into the memory of one machine, clustered on a Dask cluster."""

from tightcut.distributed.clustering import GraphClustering, cluster_graph

__all__ = ["GraphClustering", "cluster_graph"]
