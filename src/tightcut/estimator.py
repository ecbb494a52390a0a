"""`COSC`, a scikit-learn estimator: it builds the graph, gathers the constraints and calls `tightcut.cluster`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from tightcut._support.interruption import interruptible
from tightcut.choosing.choose import Problem
from tightcut.choosing.parameters import check_parameters, wanted
from tightcut.choosing.prepare import prepare, read_graphs
from tightcut.clustering import as_generator, cluster
from tightcut.constraints import Constraints
from tightcut.graph import Graph
from tightcut.inputs import gather_constraints, seed_of, warn_if_disconnected
from tightcut.prediction import Prediction
from tightcut.progress import ProgressLine
from tightcut.result import warn_if_lopsided
from tightcut.updates.living import Living

if TYPE_CHECKING:
    from tightcut.audit import Audit

VERTEX_WEIGHTS = {"ncut": "degree", "rcut": "ones"}


class COSC(Living, Prediction, ClusterMixin, BaseEstimator):
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
    metric : {"euclidean", "cosine"}, default="euclidean"
        How far apart points are; "cosine" compares directions, as suits tf-idf and many embeddings.
    scale : {"auto", "none", "standard", "quantile"}, default="auto"
        Columns as they are, divided by their standard deviation, or replaced by their quantiles. "auto" takes quantiles
        where units differ so much that few columns would decide the distances, else none, unless the pairs say
        otherwise; see Notes.
    learn_distances : bool or "auto", default="auto"
        Whether must-links stretch and shrink directions, as `tightcut.MustLinkScaler` does. "auto" means no, unless the
        pairs speak for it.
    n_neighbors : int or "auto", default="auto"
        Neighbours per point; for `affinity="knn"`. "auto" is 10.
    neighbors : {"auto", "tree", "blocked", "approximate"}, default="auto"
        How neighbours are searched for, see `tightcut.knn_affinity`; all but "approximate" are exact.
    symmetrize : {"auto", "maximum", "mean"}, default="auto"
        Whether an edge between points of which only one counts the other among its nearest weighs as much as any, as in
        the paper, or half; see `tightcut.knn_affinity`. "auto" is "mean".
    diffusion : int or "auto", default="auto"
        Steps of a random walk by which the graph is smoothed; see `tightcut.knn_affinity`. "auto" is 2.
    max_violations : float or "fewest", default=0
        How much belief may be violated (pairs, where every belief is 1). 0 satisfies every constraint, or raises
        `InconsistentConstraintsError` with the contradiction. "fewest" violates as little as possible.
    method : {"search", "paper"}, default="search"
        "search" looks for the smallest cut into all clusters at once. "paper" is the paper's algorithm, for those who
        compare: slower, with larger cuts, and for more than two clusters it may violate cannot-links.
    effort : float, default=1.0
        How long to search; 0 is a single quick start, 0.3 is quick, 5 is thorough.
    influence : float or "auto", default="auto"
        How strongly a cannot-link also counts for the neighbours of its two points. 0 returns the smallest cut, which
        may satisfy few pairs by moving single points away from their neighbours, and leave two classes together. Every
        constraint is satisfied with either. "auto" is 0.5 from five clusters on, unless the pairs say that neighbours
        have little in common, and 0 below.
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
    choice_ : tightcut.choosing.Choice
        What was chosen: `choice_.setting` has every setting, `choice_.reason` says why in words, and
        `choice_.to_dataframe()` how well each candidate told pairs that were held out.
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

    *Choosing.* What is "auto" has a default that the columns and the number of clusters decide. With at least fifteen
    must-links and cannot-links each that others do not imply, candidates for `scale` and `learn_distances` cluster the
    points without a quarter of the pairs, four times, and are asked about these; the default is left only for one that
    tells clearly more of them. This costs about as much as a few fits. A value that is given is taken. `method="paper"`
    takes the paper's values for what is "auto": ``scale="none", learn_distances=False, n_neighbors=10,
    symmetrize="maximum", diffusion=0, influence=0``.

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
        check_parameters(self, VERTEX_WEIGHTS)
        weights = VERTEX_WEIGHTS[self.criterion] if vertex_weights is None else vertex_weights
        progress = ProgressLine() if self.verbose else None
        seed = seed_of(self.random_state)
        seed = as_generator(seed) if isinstance(seed, np.random.RandomState) else seed
        with interruptible():
            graphs = read_graphs(X, self, progress)
        n = graphs.n_points
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
        validate_data(self, X, skip_check_array=True)  # sets n_features_in_ and feature_names_in_
        self._training_points, self._view, self._neighbors_found = made.points, made.view, made.found
        if made.found is not None:
            self.neighbor_recall_ = made.found.recall
        self.n_clusters_, self.n_clusters_reason_ = made.n_clusters, made.n_clusters_reason
        self.affinity_matrix_, self.vertex_weights_ = made.graph.weights, made.graph.vertex_weights
        self.constraints_, self.choice_ = known, made.choice
        self._begin(result)
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

    def _graph(self) -> Graph:
        check_is_fitted(self)
        return Graph(self.affinity_matrix_, self.vertex_weights_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = self.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = precomputed
        tags.input_tags.sparse = True
        return tags
