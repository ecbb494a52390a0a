"""Nearest neighbours, behind one small protocol: `kneighbors(X, n_neighbors)` returns distances and numbers.

`make_index` chooses among scikit-learn's trees (few features), `BlockedNeighbors` (all others) and
`ApproximateNeighbors` (faiss).
`tightcut.gpu.neighbors.DeviceNeighbors` answers the same question on a GPU.
"""

from tightcut._search.approximate import ApproximateNeighbors
from tightcut._search.blocked import BlockedNeighbors
from tightcut._search.choice import CHOICES, Neighbors, make_index

__all__ = ["CHOICES", "ApproximateNeighbors", "BlockedNeighbors", "Neighbors", "make_index"]
