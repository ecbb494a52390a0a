"""`BuiltGraph`: a graph with the setting and the map of the points that built it, for `predict` and `update`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors import KnnGraph
from tightcut.neighbors.exact import BlockedNeighbors
from tightcut.neighbors.extend import Neighbourhoods
from tightcut.neighbors.points import Points
from tightcut.problem.graph import Graph
from tightcut.selection.graph_config import Setting
from tightcut.selection.scale import ColumnScale


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """The map from points to what distances are measured between: a scale, then a linear map learned from must-links.

    Attributes
    ----------
    scale : ColumnScale
    components : ndarray of shape (n_features, n_features) or None
        The map of `MustLinkScaler`, where distances are learned.
    """

    scale: ColumnScale
    components: np.ndarray | None = None

    def transform(self, points: Points) -> Points:
        scaled = self.scale.transform(points)
        if self.components is None:
            return scaled
        if scaled.dtype == np.uint8:
            scaled = scaled.astype(np.float32)
        return np.ascontiguousarray(scaled @ self.components.T.astype(scaled.dtype, copy=False))


@dataclass(frozen=True, eq=False)
class BuiltGraph:
    """The graph that is cut, and what later points need to know of how it was built.

    Attributes
    ----------
    graph : Graph
    setting : Setting
    view : FeatureMap or None
        How points are seen; None for distances and similarities.
    neighborhoods : Neighbourhoods or None
        Those of the points; None for distances and similarities.
    undiffused : csr_array or None
        The affinity before its diffusion, if it was diffused.
    recall : float or None
        The share of true neighbours among those found; None for similarities.
    """

    graph: Graph
    setting: Setting
    view: FeatureMap | None = None
    neighborhoods: Neighbourhoods | None = None
    undiffused: sp.csr_array | None = None
    recall: float | None = None

    @classmethod
    def of_knn(
        cls, found: KnnGraph, graph: Graph, setting: Setting, view: FeatureMap | None, n_jobs: int | None
    ) -> BuiltGraph:
        """A nearest-neighbour graph, with what updates need of its neighbour lists."""
        index = found.index.for_queries(n_jobs) if isinstance(found.index, BlockedNeighbors) else None
        near = Neighbourhoods(found.distances[:, -1].copy(), index)
        undiffused = found.plain if setting.diffusion else None
        return cls(graph, setting, view, near, undiffused, found.recall)
