"""From neighbours to the finished graph without leaving the device (see `tightcut.neighbors.knn_affinity`)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

from tightcut.gpu.coarsening import connected_regions
from tightcut.gpu.neighbors import DeviceNeighbors
from tightcut.gpu.sparse import DeviceCsr, Groups


def device_affinity(
    points: np.ndarray, n_neighbors: int, symmetrize: str = "maximum", device: str = "cuda"
) -> tuple[sp.csr_array, np.ndarray, DeviceNeighbors, bool]:
    """The graph of `knn_affinity`: the points are transferred to the device, the matrix back.

    Returns
    -------
    affinity : csr_array of shape (n, n)
    scales : ndarray of shape (n,)
        Distance from each point to its last neighbour.
    index : DeviceNeighbors
    connected : bool
        Whether the graph is one piece.
    """
    index = DeviceNeighbors(points, device)
    distances, neighbors = index.nearest(n_neighbors=n_neighbors)
    affinity = symmetric_affinity(distances, neighbors, symmetrize)
    return affinity.to_scipy(), distances[:, -1].cpu().numpy(), index, is_connected(affinity)


def symmetric_affinity(distances: torch.Tensor, neighbors: torch.Tensor, symmetrize: str) -> DeviceCsr:
    """Gaussian similarities to the nearest neighbours, each pair with the larger or the mean of its two.

    Parameters
    ----------
    distances : Tensor of float64, shape (n, k)
        Nearest first.
    neighbors : Tensor of int64, shape (n, k)
    symmetrize : {"maximum", "mean"}
    """
    n, k = neighbors.shape
    ratio = torch.where(distances > 0, distances / distances[:, -1:], 0.0)
    weights = torch.exp(-4.0 * ratio.square()).ravel()
    rows = torch.arange(n, device=neighbors.device).repeat_interleave(k)
    columns = neighbors.ravel()
    # A key per entry and one per mirrored entry: equal keys are the two weights of a pair.
    groups = Groups.of(torch.cat([rows * n + columns, columns * n + rows]))
    both = torch.cat([weights, weights])
    data = groups.reduce(both) / 2 if symmetrize == "mean" else groups.reduce(both, "max")
    return DeviceCsr.from_keys(groups.keys, data, n)


def is_connected(matrix: DeviceCsr) -> bool:
    """Whether a symmetric matrix is the graph of one piece."""
    return int(connected_regions(matrix).max()) == 0
