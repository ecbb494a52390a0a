"""The model behind `tightcut.COSC` and behind the command line, which needs no scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tightcut.clustering.cluster import as_generator, cluster
from tightcut.clustering.result import warn_if_lopsided
from tightcut.fitted.inputs import check_ignored, check_is_fitted, gather_constraints, seed_of, warn_if_disconnected
from tightcut.fitted.predict import Prediction
from tightcut.fitted.update import UpdateMixin
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.progress import ProgressLine
from tightcut.selection.build_graph import prepare, read_graphs
from tightcut.selection.parameters import check_parameters, wanted
from tightcut.selection.select import Problem
from tightcut.utils.interruption import interruptible

if TYPE_CHECKING:
    from tightcut.audit import Audit

VERTEX_WEIGHTS = {"ncut": "degree", "rcut": "ones"}


class Model(UpdateMixin, Prediction):
    """Everything that `tightcut.COSC` does, without the base classes of scikit-learn, which take a second to import.

    It builds the graph, gathers the constraints and calls `tightcut.cluster`. The parameters are those of `COSC`, which
    documents them. Arrays need no scikit-learn; all else that it accepts, such as data frames, is still read by it.
    """

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        criterion: str = "ncut",
        affinity: str = "knn",
        metric: str = "euclidean",
        scale: str = "auto",
        learn_distances: bool | str = "auto",
        n_neighbors: int | str = "auto",
        neighbors: str = "auto",
        symmetrize: str = "auto",
        diffusion: int | str = "auto",
        max_violations: float | str = 0,
        method: str = "search",
        effort: float = 1.0,
        influence: float | str = "auto",
        connect: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        device: str = "cpu",
    ) -> None:
        self.n_clusters = n_clusters
        self.criterion = criterion
        self.affinity = affinity
        self.metric = metric
        self.scale = scale
        self.learn_distances = learn_distances
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.symmetrize = symmetrize
        self.diffusion = diffusion
        self.max_violations = max_violations
        self.method = method
        self.effort = effort
        self.influence = influence
        self.connect = connect
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.device = device

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        must_link_belief: Any = None,
        cannot_link_belief: Any = None,
        partial_labels: Any = None,
        cannot_link_groups: Any = None,
        constraints: Constraints | None = None,
        vertex_weights: Any = None,
        init: Any = None,
    ) -> Self:
        """Cluster the samples. All constraints given add up.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or matrix of shape (n_samples, n_samples)
            Points; with `affinity="precomputed"` similarities, sparse or dense, whose diagonal is ignored; with
            `metric="precomputed"` distances.
        y : ignored
            Present for compatibility with scikit-learn; refused if it is not about the samples. For known classes see
            `partial_labels`.
        must_link, cannot_link : sequence of pairs, array of shape (m, 2), data frame or sparse matrix, optional
            Pairs of row numbers of X that belong together, or apart. A sparse matrix has shape (n_samples, n_samples).
        must_link_belief, cannot_link_belief : float or array-like of shape (m,), optional
            Belief in each pair, in (0, 1], default 1. It matters only where constraints may be violated.
        partial_labels : array-like of shape (n_samples,), optional
            Known classes, -1 where unknown: equal ones are must-links, different ones cannot-links.
        cannot_link_groups : array-like of shape (n_samples,), optional
            Members of one group never share a cluster (faces of one photograph, records of one source); -1 for none.
        constraints : Constraints, optional
            Pairs with their beliefs, as `tightcut.Constraints` reads them from labels, groups or data frames.
        vertex_weights : array-like of shape (n_samples,), optional
            Positive weights by which to balance the clusters, instead of those of `criterion`.
        init : array-like of shape (n_samples,), optional
            A clustering to improve; clusters keep its numbers.

        Raises
        ------
        InconsistentConstraintsError
            If the constraints contradict each other, or leave a cluster empty; see `max_violations`.
        """
        check_parameters(self, VERTEX_WEIGHTS)
        weights = VERTEX_WEIGHTS[self.criterion] if vertex_weights is None else vertex_weights
        progress = ProgressLine() if self.verbose else None
        seed = seed_of(self.random_state)
        seed = as_generator(seed) if isinstance(seed, np.random.RandomState) else seed
        with interruptible():
            graphs = read_graphs(X, self, progress)
        n = graphs.n_points
        check_ignored(y, n)
        pairs = Constraints.from_pairs(n, must_link, cannot_link, must_link_belief, cannot_link_belief)
        known = gather_constraints(pairs, constraints, partial_labels, cannot_link_groups)
        with interruptible():
            made = prepare(
                Problem(graphs, known, 0, weights, self.max_violations),
                wanted(self),
                self.n_clusters,
                np.random.default_rng(seed).spawn(1)[0],
                by_the_paper=self.method == "paper",
                n_jobs=self.n_jobs,
            )
        if self.connect:
            warn_if_disconnected(made.graph)
        if progress is not None:
            progress.say(made.choice.reason)
        result = cluster(
            made.graph,
            known,
            made.n_clusters,
            max_violations=self.max_violations,
            method=self.method,
            effort=self.effort,
            influence=made.choice.setting.influence,
            init=init,
            n_jobs=self.n_jobs,
            random_state=seed,
            progress=progress,
            device=self.device,
        )
        warn_if_lopsided(made.graph, result.labels, known)
        # Nothing above touches the model: a fit that raises leaves the last one as it was.
        self._note_columns(X)
        self._training_points, self._view, self._neighbors_found = made.points, made.view, made.found
        self.n_clusters_, self.n_clusters_reason_ = made.n_clusters, made.n_clusters_reason
        self.affinity_matrix_, self.vertex_weights_ = made.graph.weights, made.graph.vertex_weights
        self.constraints_, self.choice_ = known, made.choice
        self._begin(result)
        self._viewed = made.viewed
        if made.found is not None:
            self.neighbor_recall_ = made.found.recall
        return self

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """The labels of `fit`, whose keywords it takes."""
        return self.fit(X, y, **fit_params).labels_

    def audit(self, **settings: Any) -> Audit:
        """The price of each constraint: how much the cut would fall without it, most expensive first.

        Takes the keywords of `tightcut.audit.audit`, such as `n_solved`; the result has `to_dataframe()`.
        """
        from tightcut.audit import audit

        graph = self._graph()
        own = {"influence": self.choice_.setting.influence, "n_jobs": self.n_jobs}
        return audit(graph, self.constraints_, self.labels_, **(own | settings))

    def report(self, path: Any, **settings: Any) -> None:
        """Write a page about the clustering; takes the keywords of `tightcut.report.write_report`, such as `ids`."""
        from tightcut.report import write_report

        graph, names = self._graph(), getattr(self, "feature_names_in_", ())
        own: dict[str, Any] = {"points": self._training_points, "columns": names}
        write_report(path, graph, self.labels_, self.constraints_, **(own | settings))

    def _note_columns(self, X: Any) -> None:
        """Take the number of columns of what was fitted, and their names where it has any."""
        self.n_features_in_ = int(X.shape[1])

    def _graph(self) -> Graph:
        check_is_fitted(self)
        return Graph(self.affinity_matrix_, self.vertex_weights_)
