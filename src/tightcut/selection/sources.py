"""From points to the graph of a setting; neighbours, which take most of the time, are found once for each distance."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors import KnnGraph, KnnSettings, NeighborLists, find_neighbors, knn_graph
from tightcut.neighbors.points import Points
from tightcut.neighbors.threads import Progress
from tightcut.problem import Constraints
from tightcut.selection.graph_config import Setting
from tightcut.selection.scale import ColumnScale, fit_scale
from tightcut.selection.whitening import relative_whitening


@dataclass(frozen=True, eq=False)
class View:
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


@dataclass(eq=False)
class PointGraphs:
    """The graphs of settings over the same points.

    Parameters
    ----------
    points : ndarray or csr_array of shape (n, n_features)
        As `tightcut.neighbors.check_points` returns them.
    knn : KnnSettings
        What all graphs share: metric, search, device, threads.
    most : int
        The largest number of neighbours that will be asked for.
    """

    points: Points
    knn: KnnSettings
    most: int
    progress: Progress | None = None
    _scaled: dict[str, tuple[ColumnScale, Points]] = field(default_factory=dict, repr=False)
    _lists: dict[str, NeighborLists] = field(default_factory=dict, repr=False)
    _affinities: dict[Setting, sp.csr_array] = field(default_factory=dict, repr=False)

    @property
    def n_points(self) -> int:
        return int(self.points.shape[0])

    def scaled(self, scale: str) -> tuple[ColumnScale, Points]:
        if scale not in self._scaled:
            fitted = fit_scale(self.points, scale)
            self._scaled[scale] = fitted, fitted.transform(self.points)
        return self._scaled[scale]

    def view(self, setting: Setting, constraints: Constraints) -> tuple[View, Points]:
        """The view of a setting, and the points in that view."""
        scale, points = self.scaled(setting.scale)
        if not setting.learn_distances:
            return View(scale), points
        view = View(scale, relative_whitening(points, constraints.components()[1]).T)
        return view, replace(view, scale=ColumnScale("none")).transform(points)

    def make(self, setting: Setting, constraints: Constraints) -> tuple[View, Points, KnnGraph]:
        """The points of a setting and their graph."""
        view, points = self.view(setting, constraints)
        knn = with_setting(self.knn, setting)
        if knn.device != "cpu" or setting.learn_distances:
            return view, points, knn_graph(points, knn, self.progress)
        if setting.scale not in self._lists:
            self._lists[setting.scale] = find_neighbors(
                points, replace(knn, n_neighbors=max(self.most, setting.n_neighbors)), self.progress
            )
        return view, points, self._lists[setting.scale].graph(knn)

    def affinity(self, setting: Setting, constraints: Constraints) -> sp.csr_array:
        """The graph alone; kept for the next call where it does not depend on the constraints."""
        if setting.learn_distances:
            return self.make(setting, constraints)[2].affinity
        key = replace(setting, influence=0.0)
        if key not in self._affinities:
            self._affinities[key] = self.make(setting, constraints)[2].affinity
        return self._affinities[key]

    def sample(self, chosen: np.ndarray) -> PointGraphs:
        """The same for some of the points."""
        return PointGraphs(self.points[chosen], self.knn, self.most)


@dataclass(eq=False)
class DistanceGraphs:
    """The graphs of settings over points whose distances are given, as `tightcut.neighbors.check_distances` returns them.

    Parameters
    ----------
    distances : ndarray or csr_array of shape (n, n)
    knn : KnnSettings
        What all graphs share.
    chosen : ndarray, optional
        Points whose part of the graph is taken.
    """

    distances: Any
    knn: KnnSettings
    chosen: np.ndarray | None = None

    @property
    def n_points(self) -> int:
        return int(self.distances.shape[0]) if self.chosen is None else len(self.chosen)

    def make(self, setting: Setting) -> KnnGraph:
        return knn_graph(self.distances, with_setting(self.knn, setting))

    def affinity(self, setting: Setting, constraints: Constraints) -> sp.csr_array:  # noqa: ARG002
        matrix = self.make(setting).affinity
        return matrix if self.chosen is None else matrix[self.chosen][:, self.chosen]

    def sample(self, chosen: np.ndarray) -> DistanceGraphs:
        """The same for some of the points. Of a sparse matrix, which may know too few of their distances, the whole stays."""
        if sp.issparse(self.distances):
            return replace(self, chosen=chosen)
        return DistanceGraphs(self.distances[np.ix_(chosen, chosen)], self.knn)


def with_setting(knn: KnnSettings, setting: Setting) -> KnnSettings:
    return replace(knn, n_neighbors=setting.n_neighbors, symmetrize=setting.symmetrize, diffusion=setting.diffusion)


@dataclass(frozen=True, eq=False)
class GivenGraph:
    """A graph that is taken as it is, whatever the setting."""

    matrix: Any

    @property
    def n_points(self) -> int:
        return int(self.matrix.shape[0])

    def affinity(self, setting: Setting, constraints: Constraints) -> Any:  # noqa: ARG002
        return self.matrix

    def sample(self, chosen: np.ndarray) -> GivenGraph:
        return GivenGraph(self.matrix[chosen][:, chosen])
