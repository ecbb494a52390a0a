"""`GraphSource`: points, distances or similarities as sources of a graph, and of new points in `predict` and `update`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors import (
    KnnGraph,
    KnnSettings,
    check_distances,
    check_points,
    check_rows,
    cross_affinity,
    knn_graph,
    known_affinity,
)
from tightcut.neighbors.diffusion import extend_diffused
from tightcut.neighbors.extend import extended_affinity, remoteness
from tightcut.neighbors.points import GIVEN, Points, canonical, is_memory_mapped
from tightcut.neighbors.threads import Progress
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.selection.built_graph import BuiltGraph, FeatureMap
from tightcut.selection.graph_config import Setting
from tightcut.selection.scale import ColumnScale, fit_scale
from tightcut.selection.similarities import read_similarities
from tightcut.selection.whitening import relative_whitening
from tightcut.utils.arrays import read_matrix


class GraphSource(Protocol):
    """What the user gave, and the graphs that can be made of it."""

    @property
    def n_points(self) -> int: ...

    @property
    def n_scalable(self) -> int:
        """The number of columns, 0 where there is nothing to scale."""

    def build(self, setting: Setting, constraints: Constraints, vertex_weights: Any) -> BuiltGraph:
        """The graph of a setting; distances are learned from the constraints, where the setting says so."""

    def sample(self, rows: np.ndarray) -> GraphSource:
        """The same for some of the points."""

    def released(self, knn: KnnSettings) -> GraphSource:
        """What a fitted model keeps: the points, with these settings of the neighbour search; no distances or similarities."""

    def weights_to(self, built: BuiltGraph, X_new: Any) -> sp.csr_array:
        """The similarities of new points to those of the graph, one row per new point."""

    def extended(self, built: BuiltGraph, X_new: Any, vertex_weights: Any) -> tuple[GraphSource, BuiltGraph]:
        """Old points and new ones, and the graph of all; `vertex_weights` as for `Graph`, or those of the new points."""


def graph_source(X: Any, affinity: str, knn: KnnSettings, progress: Progress | None = None) -> GraphSource:
    """Points, distances or similarities, read and checked."""
    if affinity == "precomputed":
        return Similarities(read_similarities(X))
    if knn.metric == GIVEN:
        return Distances(check_distances(X, ensure_min_samples=2), knn)
    return PointSource(check_points(X, ensure_min_samples=2), knn, progress=progress)


@dataclass(eq=False)
class PointSource:
    """Points; a graph that does not depend on the constraints is built once.

    Parameters
    ----------
    points : ndarray or csr_array of shape (n, n_features)
        As `tightcut.neighbors.check_points` returns them.
    knn : KnnSettings
        What all graphs share: metric, search, device, threads.
    """

    points: Points
    knn: KnnSettings
    progress: Progress | None = field(default=None, repr=False)
    _scaled: dict[str, tuple[ColumnScale, Points]] = field(default_factory=dict, repr=False)
    _built: dict[Setting, tuple[FeatureMap, Points, KnnGraph]] = field(default_factory=dict, repr=False)
    _viewed: tuple[FeatureMap, Points] | None = field(default=None, repr=False)

    @property
    def n_points(self) -> int:
        return int(self.points.shape[0])

    @property
    def n_scalable(self) -> int:
        scalable = not sp.issparse(self.points) and self.knn.metric == "euclidean"
        return int(self.points.shape[1]) if scalable else 0

    def build(self, setting: Setting, constraints: Constraints, vertex_weights: Any) -> BuiltGraph:
        key = replace(setting, influence=0.0)
        view, points, found = self._built.get(key) or self._found(setting, constraints)
        if not setting.learn_distances:
            self._built[key] = view, points, found
        self._viewed = view, points
        graph = Graph.from_affinity(found.affinity, vertex_weights)
        return BuiltGraph.of_knn(found, graph, setting, view, self.knn.n_jobs)

    def sample(self, rows: np.ndarray) -> PointSource:
        return PointSource(self.points[rows], self.knn)

    def released(self, knn: KnnSettings) -> PointSource:
        return PointSource(self.points, knn, _viewed=self._viewed)

    def weights_to(self, built: BuiltGraph, X_new: Any) -> sp.csr_array:
        knn = replace(self.knn, n_neighbors=built.setting.n_neighbors)
        return cross_affinity(built.view.transform(self._read_new(X_new)), self._seen(built.view), knn)  # type: ignore[union-attr]

    def remoteness(self, built: BuiltGraph, X_new: Any) -> np.ndarray:
        """How far new points are from all others, in times of what is usual among their neighbours."""
        knn = replace(self.knn, n_neighbors=built.setting.n_neighbors)
        return remoteness(built.view.transform(self._read_new(X_new)), self._seen(built.view), knn)  # type: ignore[union-attr]

    def extended(self, built: BuiltGraph, X_new: Any, vertex_weights: Any) -> tuple[PointSource, BuiltGraph]:
        if is_memory_mapped(self.points):
            raise ValueError(
                "The model was fitted to points that are read from a file in blocks; update holds all points in memory. "
                "Fit it to an array in memory, or to a precomputed graph."
            )
        setting, view = built.setting, built.view
        assert view is not None  # noqa: S101 - of a graph made from points
        new, knn = self._read_new(X_new), _with_setting(self.knn, setting)
        points, seen = _stacked(self.points, new), self._seen(view)
        viewed = points if seen is self.points else _stacked(seen, view.transform(new))
        plain = built.graph.weights if built.undiffused is None else built.undiffused
        affinity, near = extended_affinity(plain, viewed, self.n_points, knn, built.neighborhoods)
        undiffused = None
        if built.undiffused is not None:
            undiffused, affinity = affinity, extend_diffused(built.graph.weights, affinity, setting.diffusion)
        graph = Graph.from_affinity(affinity, _all_weights(built, vertex_weights, new.shape[0]))
        grown = BuiltGraph(graph, setting, view, near, undiffused, built.recall)
        return PointSource(points, self.knn, _viewed=(view, viewed)), grown

    def _found(self, setting: Setting, constraints: Constraints) -> tuple[FeatureMap, Points, KnnGraph]:
        """The view of a setting, the points in that view, and their graph."""
        if setting.scale not in self._scaled:
            fitted = fit_scale(self.points, setting.scale)
            self._scaled[setting.scale] = fitted, fitted.transform(self.points)
        scale, points = self._scaled[setting.scale]
        view = FeatureMap(scale)
        if setting.learn_distances:
            view = FeatureMap(scale, relative_whitening(points, constraints.components()[1]).T)
            points = replace(view, scale=ColumnScale("none")).transform(points)
        return view, points, knn_graph(points, _with_setting(self.knn, setting), self.progress)

    def _seen(self, view: FeatureMap | None) -> Points:
        """The points in a view."""
        assert view is not None  # noqa: S101 - of a graph made from points
        if self._viewed is None or self._viewed[0] is not view:
            self._viewed = view, view.transform(self.points)
        return self._viewed[1]

    def _read_new(self, X: Any) -> Points:
        """New points, checked, and sparse if and only if those of the fit are."""
        new = check_points(X)
        _check_columns(new, self.points.shape[1])
        if sp.issparse(self.points):
            return canonical(new)
        return new.toarray() if sp.issparse(new) else new


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances, as `tightcut.neighbors.check_distances` returns them.

    Parameters
    ----------
    distances : ndarray or csr_array of shape (n, n)
    knn : KnnSettings
        What all graphs share.
    rows : ndarray, optional
        Points whose part of the graph is taken.
    """

    distances: Any
    knn: KnnSettings
    rows: np.ndarray | None = None

    n_scalable: ClassVar[int] = 0

    @property
    def n_points(self) -> int:
        return int(self.distances.shape[0]) if self.rows is None else len(self.rows)

    def build(self, setting: Setting, constraints: Constraints, vertex_weights: Any) -> BuiltGraph:  # noqa: ARG002
        found = knn_graph(self.distances, _with_setting(self.knn, setting))
        affinity = found.affinity if self.rows is None else found.affinity[self.rows][:, self.rows]
        graph = Graph.from_affinity(affinity, vertex_weights)
        return BuiltGraph.of_knn(found, graph, setting, None, self.knn.n_jobs)

    def sample(self, rows: np.ndarray) -> Distances:
        """Of a sparse matrix, which may know too few of their distances, the whole stays."""
        if sp.issparse(self.distances):
            return replace(self, rows=rows)
        return Distances(self.distances[np.ix_(rows, rows)], self.knn)

    def released(self, knn: KnnSettings) -> Distances:
        return Distances(None, knn)

    def weights_to(self, built: BuiltGraph, X_new: Any) -> sp.csr_array:
        rows = read_matrix(X_new, ensure_all_finite=False)
        _check_columns(rows, built.graph.n_vertices)
        return known_affinity(check_rows(rows), built.setting.n_neighbors)

    def extended(self, *_: Any) -> tuple[Distances, BuiltGraph]:
        raise ValueError(
            "New points of a model that was fitted to distances are not supported by update. predict takes their distances "
            "to the others. Or fit again to all distances; tightcut.align numbers the new clusters like the old ones."
        )


@dataclass(frozen=True, eq=False)
class Similarities:
    """A graph that is taken as it is, whatever the setting."""

    matrix: Any

    n_scalable: ClassVar[int] = 0

    @property
    def n_points(self) -> int:
        return int(self.matrix.shape[0])

    def build(self, setting: Setting, constraints: Constraints, vertex_weights: Any) -> BuiltGraph:  # noqa: ARG002
        return BuiltGraph(Graph.from_affinity(self.matrix, vertex_weights), setting)

    def sample(self, rows: np.ndarray) -> Similarities:
        return Similarities(self.matrix[rows][:, rows])

    def released(self, knn: KnnSettings) -> Similarities:  # noqa: ARG002
        return Similarities(None)

    def weights_to(self, built: BuiltGraph, X_new: Any) -> sp.csr_array:
        rows = read_matrix(X_new, ensure_non_negative=True)
        _check_columns(rows, built.graph.n_vertices)
        return sp.csr_array(rows)

    def extended(self, built: BuiltGraph, X_new: Any, vertex_weights: Any) -> tuple[Similarities, BuiltGraph]:
        rows = read_matrix(X_new, ensure_non_negative=True, input_name="X_new")
        n_old, n_new = built.graph.n_vertices, rows.shape[0]
        if rows.shape[1] != n_old + n_new:
            raise ValueError(
                f"X_new must hold the similarities of {n_new} new points to {n_old} old ones and to each other, shape "
                f"({n_new}, {n_old + n_new}); it has shape {rows.shape}."
            )
        rows = sp.csr_array(rows)
        to_old = rows[:, :n_old]
        grown = sp.csr_array(sp.block_array([[built.graph.weights, to_old.T], [to_old, rows[:, n_old:]]], format="csr"))
        graph = Graph.from_affinity(grown, _all_weights(built, vertex_weights, n_new))
        return Similarities(None), BuiltGraph(graph, built.setting)


def _with_setting(knn: KnnSettings, setting: Setting) -> KnnSettings:
    return replace(knn, n_neighbors=setting.n_neighbors, symmetrize=setting.symmetrize, diffusion=setting.diffusion)


def _all_weights(built: BuiltGraph, given: Any, n_new: int) -> Any:
    """Vertex weights of old and new points; `given` by name, or for the new ones."""
    if isinstance(given, str):
        return given
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (n_new,):
        raise ValueError(f"vertex_weights must have one entry per new point, {n_new}; got shape {weights.shape}.")
    return np.append(built.graph.vertex_weights, weights)


def _stacked(old: Points, new: Points) -> Points:
    return sp.csr_array(sp.vstack([old, new])) if sp.issparse(old) else np.concatenate([old, new])


def _check_columns(rows: Any, expected: int) -> None:
    """In scikit-learn's words, which its checks of estimators expect."""
    if rows.shape[1] != expected:
        raise ValueError(f"X has {rows.shape[1]} features, but COSC is expecting {expected} features as input.")
