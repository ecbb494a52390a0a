"""`COSC`, a scikit-learn estimator: it builds the graph, gathers the constraints and calls `tightcut.cluster`."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags, check_scalar
from sklearn.utils.validation import check_is_fitted, validate_data

from tightcut._support.choices import check_choice
from tightcut._support.interruption import interruptible
from tightcut.clustering import Settings, cluster
from tightcut.constraints import Constraints
from tightcut.graph import Graph
from tightcut.inputs import check_n_clusters, gather_constraints, read_similarities, seed_of, warn_if_disconnected
from tightcut.neighbors import SEARCHES, SYMMETRIZE, KnnSettings, check_points, cross_affinity, knn_graph
from tightcut.progress import ProgressLine
from tightcut.result import warn_if_lopsided
from tightcut.updates.living import Living

if TYPE_CHECKING:
    from tightcut.audit import Audit

VERTEX_WEIGHTS = {"ncut": "degree", "rcut": "ones"}


class COSC(Living, ClusterMixin, BaseEstimator):
    """Constrained 1-spectral clustering (Rangapuram and Hein, 2012): a small cut that respects what you know.

    You know that some points belong together (must-links) and that some do not (cannot-links). Points become a
    nearest-neighbour graph, and among all clusterings that agree with your pairs the one with the smallest normalized
    cut is searched for: clusters that are well connected inside, hardly connected to each other, and not tiny.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        Number of clusters; none is empty. "auto" chooses by the graph and the constraints, never fewer than the
        cannot-links need; `n_clusters_reason_` says why and how surely.
    criterion : {"ncut", "rcut"}, default="ncut"
        Normalized cut balances the clusters' total degree, ratio cut their number of points.
    affinity : {"knn", "precomputed"}, default="knn"
        Build the graph of `tightcut.knn_affinity`, or take X as a symmetric matrix of similarities, sparse or dense.
        Features are not scaled: where their units differ, put a `StandardScaler` before. (The command line does.)
    n_neighbors : int, default=10
        Neighbours per point; for `affinity="knn"`.
    neighbors : {"auto", "tree", "blocked", "approximate"}, default="auto"
        How neighbours are searched for, see `tightcut.knn_affinity`; all but "approximate" are exact.
    symmetrize : {"maximum", "mean"}, default="maximum"
        Whether an edge between points of which only one counts the other among its nearest weighs as much as any, as in
        the paper, or half; see `tightcut.knn_affinity`.
    max_violations : float or "fewest", default=0
        How much belief may be violated (pairs, where every belief is 1). 0 satisfies every constraint, or raises
        `InconsistentConstraintsError` with the contradiction. "fewest" violates as little as possible.
    method : {"search", "paper"}, default="search"
        "search" looks for the smallest cut into all clusters at once. "paper" is the paper's algorithm, for those who
        compare: slower, with larger cuts, and for more than two clusters it may violate cannot-links.
    effort : float, default=1.0
        How long to search; 0 is a single quick start, 0.3 is quick, 5 is thorough.
    influence : float, default=0.0
        How strongly a cannot-link also counts for the neighbours of its two points. 0 returns the smallest cut, which may
        satisfy few pairs by moving single points; they go further with 1. Every constraint is satisfied with either.
    connect : bool, default=True
        Join the components of a nearest-neighbour graph by their shortest links, with a warning; False does neither. A
        precomputed affinity is taken as it is, and True warns.
    n_jobs : int, optional
        Threads, as in joblib. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result the same on every run.
    verbose : int, default=0
        1 shows progress: a bar in a notebook, else text on the standard error stream.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        "cuda" finds neighbours and searches large graphs on an NVIDIA GPU (`pip install "tightcut[gpu]"`); "auto" does so
        where there is one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, 0, ..., n_clusters - 1, numbered by first appearance. An update may leave gaps.
    cut_ : float
        Sum over clusters of cut(C, rest) / vol(C), what was minimised.
    n_violations_, violated_belief_, violated_must_link_, violated_cannot_link_ : int, float, two ndarrays of pairs
        What is violated; nothing unless `max_violations` or `method="paper"` allowed some.
    violated_belief_bound_ : float or None
        The least belief that must be violated, where it is known; see `ClusteringResult`.
    affinity_matrix_, vertex_weights_ : csr_array of shape (n_samples, n_samples), ndarray of shape (n_samples,)
        The edge weights that were cut, and the weights that the clusters were balanced by.
    constraints_ : Constraints
        All constraints of the fit, from pairs, partial labels and groups together.
    history_, hierarchy_ : tuple of float, tuple of ndarray
        For two clusters the penalised cut F after each step of the final RatioDCA; with `method="paper"` and more
        clusters the labels for 2, 3, ... of them.
    neighbor_recall_ : float
        With `affinity="knn"`: share of true neighbours found; measured on a sample if `neighbors="approximate"`, else 1.
    n_clusters_, n_clusters_reason_ : int, str
        Number of clusters, chosen or given, and why that many.
    names_, changes_ : dict, Changes
        Names of clusters, by number, and what the last `update` has changed.
    n_features_in_, feature_names_in_ : int, ndarray
        Number of features, and their names where X has any.

    Notes
    -----
    *Promised.* With `max_violations=0` every constraint is satisfied, whatever its belief, or `fit` raises
    `InconsistentConstraintsError`; for two clusters the error is a proof that nothing satisfies them. With a limit
    above 0 at most that much belief is violated, or `fit` raises. An `init` that keeps to the limit is improved or
    returned, if `influence` is 0. An int as `random_state` fixes the result for every `n_jobs`.

    *Not promised.* The problem is NP-hard: the cut need not be the smallest. Nor is the smallest cut the truth;
    constraints are how you say what the graph does not know.

    *Cross-validation.* A fold renumbers its rows, on which pairs rely: give what is sliced with the samples instead,
    `partial_labels`, `cannot_link_groups`, `vertex_weights`.

    Examples
    --------
    Six points on a line, with the widest gap after the fourth. A cannot-link across the third moves the border:

    >>> import numpy as np
    >>> from tightcut import COSC
    >>> X = np.array([[0.0], [1.0], [2.2], [3.4], [5.0], [6.0]])
    >>> model = COSC(n_neighbors=2, random_state=0)
    >>> model.fit(X).labels_.tolist()
    [0, 0, 0, 0, 1, 1]
    >>> model.fit(X, must_link=[(0, 1)], cannot_link=[(1, 3)]).labels_.tolist()
    [0, 0, 1, 1, 1, 1]

    >>> model.fit(X, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    Traceback (most recent call last):
        ...
    tightcut.exceptions.InconsistentConstraintsError: The constraints contradict each other: 0 must-link 1, \
1 must-link 2, but 0 cannot-link 2. Remove one of these pairs, or pass max_violations="fewest" to violate as few \
pairs as possible.
    """

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        criterion: str = "ncut",
        affinity: str = "knn",
        n_neighbors: int = 10,
        neighbors: str = "auto",
        symmetrize: str = "maximum",
        max_violations: float | str = 0,
        method: str = "search",
        effort: float = 1.0,
        influence: float = 0.0,
        connect: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        device: str = "cpu",
    ) -> None:
        self.n_clusters = n_clusters
        self.criterion = criterion
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.symmetrize = symmetrize
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
        y: Any = None,  # noqa: ARG002
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
    ) -> COSC:
        """Cluster the samples. All constraints given add up.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or affinity matrix of shape (n_samples, n_samples)
            Points; with `affinity="precomputed"` similarities, sparse or dense, whose diagonal is ignored.
        y : ignored
            Clusterers take no truth; a grid search passes it along. See `partial_labels`.
        must_link, cannot_link : sequence of pairs, array of shape (m, 2), data frame or sparse matrix, optional
            Pairs of row numbers of X that belong together, or apart. A sparse matrix has shape (n_samples, n_samples).
        must_link_belief, cannot_link_belief : float or array-like of shape (m,), optional
            Belief in each pair, in (0, 1], default 1. Counts where constraints may be violated.
        partial_labels : array-like of shape (n_samples,), optional
            Known classes, -1 where unknown: equal ones are must-links, different ones cannot-links.
        cannot_link_groups : array-like of shape (n_samples,), optional
            Members of one group never share a cluster (faces of one photograph, records of one source); -1 for none.
        constraints : Constraints, optional
            Pairs with their beliefs, as `tightcut.Constraints` reads them from labels, groups or data frames.
        vertex_weights : array-like of shape (n_samples,), optional
            Positive; balance the clusters by these weights instead of those that `criterion` names.
        init : array-like of shape (n_samples,), optional
            A clustering to improve; clusters keep its numbers.

        Raises
        ------
        InconsistentConstraintsError
            If the constraints contradict each other, or leave a cluster empty; see `max_violations`.
        """
        from tightcut.search.choose_k import choose_n_clusters

        self._check_parameters()
        weights = VERTEX_WEIGHTS[self.criterion] if vertex_weights is None else vertex_weights
        progress = ProgressLine() if self.verbose else None
        with interruptible():
            affinity, points, recall = self._read(X, progress)
            graph = Graph.from_affinity(affinity, weights)
        if self.connect:
            warn_if_disconnected(graph)
        pairs = Constraints.from_pairs(graph.n_vertices, must_link, cannot_link, must_link_belief, cannot_link_belief)
        known = gather_constraints(pairs, constraints, partial_labels, cannot_link_groups)
        if self.n_clusters == "auto":
            choice = choose_n_clusters(graph, known)
            n_clusters, reason = choice.n_clusters, choice.reason
        else:
            n_clusters, reason = int(self.n_clusters), "n_clusters was given."
        result = cluster(
            graph,
            known,
            n_clusters,
            max_violations=self.max_violations,
            method=self.method,
            effort=self.effort,
            influence=self.influence,
            init=init,
            n_jobs=self.n_jobs,
            random_state=seed_of(self.random_state),
            progress=progress,
            device=self.device,
        )
        warn_if_lopsided(graph, result.labels, known)
        # Nothing above touches the model: a fit that raises leaves the last one as it was.
        validate_data(self, X, skip_check_array=True)  # sets n_features_in_ and feature_names_in_
        self._training_points = points
        if points is not None:
            self.neighbor_recall_ = recall
        self.n_clusters_, self.n_clusters_reason_ = n_clusters, reason
        self.affinity_matrix_, self.vertex_weights_, self.constraints_ = graph.weights, graph.vertex_weights, known
        self._begin(result)
        return self

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """The labels of `fit`, whose keywords it takes."""
        return self.fit(X, y, **fit_params).labels_

    def predict(self, X: Any) -> np.ndarray:
        """Clusters of new points, by the weighted vote of their nearest training points.

        No constraint reaches new points. Votes are weighed like the edges of the graph.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or similarities of shape (n_new, n_samples)
            New points; with `affinity="precomputed"` their similarities to the training samples.
        """
        check_is_fitted(self)
        if self._training_points is None:
            similarity = validate_data(self, X, accept_sparse="csr", ensure_non_negative=True, reset=False)
            neighbor_weights = sp.csr_array(similarity)
        else:
            neighbor_weights = cross_affinity(self._read_new(X), self._training_points, self._knn_settings())
        ids, place = np.unique(self.labels_, return_inverse=True)
        members = sp.csr_array((np.ones(len(place)), (np.arange(len(place)), place)))
        return ids[np.asarray((neighbor_weights @ members).argmax(axis=1)).ravel()]

    def audit(self, **settings: Any) -> Audit:
        """The price of each constraint: how much the cut would fall without it, most expensive first.

        Takes the keywords of `tightcut.audit.audit`, such as `n_solved`; the result has `to_dataframe()`.
        """
        from tightcut.audit import audit

        own = {"influence": self.influence, "n_jobs": self.n_jobs}
        return audit(self._graph(), self.constraints_, self.labels_, **(own | settings))

    def report(self, path: Any, **settings: Any) -> None:
        """Write a page about the clustering; takes the keywords of `tightcut.report.write_report`, such as `ids`."""
        from tightcut.report import write_report

        graph, names = self._graph(), getattr(self, "feature_names_in_", ())
        own: dict[str, Any] = {"points": self._training_points, "columns": names}
        write_report(path, graph, self.labels_, self.constraints_, **(own | settings))

    def _graph(self) -> Graph:
        check_is_fitted(self)
        return Graph(self.affinity_matrix_, self.vertex_weights_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = self.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.sparse = tags.input_tags.positive_only = precomputed
        return tags

    def _check_parameters(self) -> None:
        """Refuse a wrong setting before any time is spent on the graph."""
        check_choice("criterion", self.criterion, VERTEX_WEIGHTS)
        check_choice("affinity", self.affinity, ("knn", "precomputed"))
        check_choice("neighbors", self.neighbors, SEARCHES)
        check_choice("symmetrize", self.symmetrize, SYMMETRIZE)
        check_n_clusters(self.n_clusters)
        check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        Settings(self.max_violations, self.method, self.effort, self.influence, self.n_jobs, self.device)

    def _read(self, X: Any, progress: ProgressLine | None) -> tuple[Any, np.ndarray | None, float]:
        """The similarities, and where they are those of points, the points and the share of true neighbours."""
        if self.affinity == "precomputed":
            self._neighbors_found = None
            return read_similarities(X, self), None, 1.0
        points = check_points(X, accept_sparse=False, ensure_min_samples=2, estimator=self)
        self._neighbors_found = graph = knn_graph(points, self._knn_settings(), progress)
        return graph.affinity, points, graph.recall

    def _read_new(self, X: Any) -> np.ndarray:
        """New points, in the form of the training points."""
        return check_points(X, partial(validate_data, self, reset=False), accept_sparse=False)

    def _knn_settings(self) -> KnnSettings:
        return KnnSettings(
            self.n_neighbors,
            neighbors=self.neighbors,
            symmetrize=self.symmetrize,
            connect=self.connect,
            n_jobs=self.n_jobs,
            device=self.device,
        )
