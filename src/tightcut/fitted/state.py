"""`FittedState`: the immutable outcome of a fit; `predict`, `update`, `save` and `load` are functions of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from tightcut.clustering.result import ClusteringResult
from tightcut.fitted.changes import Changes
from tightcut.fitted.parameters import Parameters
from tightcut.neighbors.points import Points
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.selection.built_graph import BuiltGraph
from tightcut.selection.graph_config import Choice
from tightcut.selection.sources import GraphSource, PointSource

if TYPE_CHECKING:
    from tightcut.audit import Audit


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that were clustered, as the command line names them.

    Attributes
    ----------
    ids : sequence of str
    id_name : str
        Column they come from; "row" for row numbers, "vertex" for the ends of edges.
    columns : tuple of str or None
        Those that the model was fitted to; None if they have no names.
    """

    ids: Sequence[str]
    id_name: str = "row"
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class FittedState:
    """A fitted model.

    Clusters have ids. A fit numbers them 0, ..., k - 1; an update gives new clusters the next numbers and never reuses
    the number of a cluster that has ended, so that labels may have gaps.

    Attributes
    ----------
    parameters : Parameters
    source : GraphSource
        The points that were clustered, or how new rows of distances or similarities are read.
    built : BuiltGraph
    choice : Choice
    constraints : Constraints
        All of the fit and of the updates since.
    result : ClusteringResult
    n_clusters_reason : str
    n_ids : int
        How many ids have been given so far.
    names : dict
        Names of clusters, by id.
    changes : Changes
        Those of the last update.
    feature_names : ndarray or None
    rows : Rows or None
    """

    parameters: Parameters
    source: GraphSource
    built: BuiltGraph
    choice: Choice
    constraints: Constraints
    result: ClusteringResult
    n_clusters_reason: str
    n_ids: int
    names: dict[int, str] = field(default_factory=dict)
    changes: Changes = field(default_factory=Changes)
    feature_names: np.ndarray | None = None
    rows: Rows | None = None

    @property
    def labels(self) -> np.ndarray:
        return self.result.labels

    @property
    def graph(self) -> Graph:
        return self.built.graph

    @property
    def points(self) -> Points | None:
        """The points; None for distances and similarities."""
        return self.source.points if isinstance(self.source, PointSource) else None

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.labels))

    @property
    def n_features(self) -> int:
        return self.graph.n_vertices if self.points is None else int(self.points.shape[1])

    def audit(self, **settings: Any) -> Audit:
        """The price of each constraint; the keywords are those of `tightcut.audit.audit`."""
        from tightcut.audit import audit

        own = {"influence": self.choice.setting.influence, "n_jobs": self.parameters.n_jobs}
        return replace(audit(self.graph, self.constraints, self.labels, **(own | settings)), bound=self.result.bound)

    def with_parameters(self, parameters: Parameters) -> FittedState:
        """The same model, whose next predictions and updates take other parameters."""
        return replace(self, parameters=parameters, source=self.source.released(parameters.knn))

    def named(self, cluster: Any, name: Any) -> FittedState:
        """The same model with a name for a cluster."""
        known = np.unique(self.labels).tolist()
        if isinstance(cluster, bool) or not isinstance(cluster, Integral) or int(cluster) not in known:
            shown = ", ".join(map(str, known[:20])) + (", ..." if len(known) > 20 else "")
            raise ValueError(f"There is no cluster {cluster!r}; the clusters are {shown}.")
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"A name must be a string that is not empty; got {name!r}.")
        for other, text in self.names.items():
            if text == name and other != cluster:
                raise ValueError(f"Cluster {other} is named {name!r} already; names must differ.")
        return replace(self, names=self.names | {int(cluster): name})
