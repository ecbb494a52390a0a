"""`COSC`, a scikit-learn estimator: it adds scikit-learn's checks and conventions to the functions of `tightcut.fitted`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from tightcut.fitted.fit import fit
from tightcut.fitted.parameters import Parameters
from tightcut.fitted.predict import predict, shares
from tightcut.fitted.state import FittedState
from tightcut.fitted.storage import load, save
from tightcut.fitted.update import update
from tightcut.problem import Constraints
from tightcut.problem.graph_objects import graph_matrix, is_graph_object, row_names
from tightcut.selection.graph_config import KnnAffinity

if TYPE_CHECKING:
    from tightcut.audit import Audit
    from tightcut.certificates import Certificate
    from tightcut.report import Report

OPTIONAL = ("history_", "hierarchy_", "neighbor_recall_", "feature_names_in_")
OF_CERTIFICATES = ("bound_", "certificate_")  # of the clustering before; removed by a fit and by an update


class COSC(ClusterMixin, BaseEstimator):
    """Constrained 1-spectral clustering (Rangapuram and Hein, 2012): a small cut that respects what you know.

    You know of some points that they belong together (must-links) or apart (cannot-links). The points become a
    nearest-neighbour graph. Among all clusterings that agree with your pairs, `fit` searches for the one with the smallest
    normalized cut: clusters that are well connected inside, hardly connected to each other, and not tiny.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        Number of clusters; none is empty. "auto" chooses from the graph and the constraints, never fewer than the
        cannot-links need: held-out pairs exclude numbers, and the eigenvalues of the graph rank the others.
        `n_clusters_reason_` gives the reason, and says how certain the choice is.
    criterion : {"ncut", "rcut"}, default="ncut"
        Normalized cut balances the clusters' total degree, ratio cut their number of points.
    affinity : {"knn", "precomputed"} or KnnAffinity, default="knn"
        "knn" builds the graph of `tightcut.knn_affinity`; a `tightcut.KnnAffinity` has its further settings.
        "precomputed" takes X as a symmetric matrix of similarities, sparse or dense, which is never changed.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between points; "cosine" compares directions, which suits tf-idf and many embeddings. "precomputed"
        takes X as a symmetric matrix of distances, from which the neighbours of each point are read; distances that a
        sparse matrix does not store are unknown.
    scale : {"auto", "none", "standard", "quantile"}, default="auto"
        Columns as they are, divided by their standard deviation, or replaced by their quantiles. "auto" takes quantiles
        if units differ so much that a few columns would dominate the distances, "standard" if there are both categories and
        numbers, and "none" otherwise, unless the pairs favour another scale; see Notes.
    n_neighbors : int or "auto", default="auto"
        Neighbours per point, for `affinity="knn"`. "auto" is 10.
    max_violations : float or "fewest", default=0
        How much belief may be violated (the number of pairs, if every belief is 1). 0 satisfies every constraint, or
        raises `InconsistentConstraintsError` with the contradiction. "fewest" violates as little as possible.
    method : {"search", "paper"}, default="search"
        "search" looks for the smallest cut into all clusters at once. "paper" is the paper's algorithm, for comparison:
        it is slower, finds larger cuts, and may violate cannot-links if there are more than two clusters.
    effort : float, default=1.0
        How long to search; 0.3 is quick, 5 is thorough. 0 is a single quick start, and pairs choose no settings.
    influence : float or "auto", default="auto"
        How strongly a cannot-link also counts for the neighbours of its two points. 0 minimises the cut alone, which
        may satisfy a few pairs by moving single points away from their neighbours, and leave two classes together.
        Every constraint is satisfied in either case. "auto" is 1 for five clusters or more, unless the pairs show
        that neighbours have little in common, and 0 otherwise.
    n_jobs : int, optional
        Number of threads, as in joblib. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result the same on every run.
    verbose : int, default=0
        1 shows progress: a bar in a notebook, otherwise text on the standard error stream.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        "cuda" finds neighbours and searches large graphs on an NVIDIA GPU (extra `tightcut[gpu]`); "auto" uses
        a GPU if there is one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, 0, ..., n_clusters - 1, numbered by first appearance. An update may leave gaps.
    cut_ : float
        The objective: the sum over clusters of cut(C, rest) / vol(C).
    n_violations_, violated_belief_, violated_must_link_, violated_cannot_link_ : int, float, two ndarrays of pairs
        What is violated; nothing unless `max_violations` or `method="paper"` allow it.
    violated_belief_bound_ : float or None
        A proven lower bound on the belief that must be violated, if one is known; see `ClusteringResult`.
    affinity_matrix_, vertex_weights_ : csr_array of shape (n_samples, n_samples), ndarray of shape (n_samples,)
        The edge weights of the graph, and the weights by which the clusters were balanced.
    constraints_ : Constraints
        All constraints of the fit, from pairs, partial labels and groups together.
    history_, hierarchy_ : tuple of float, tuple of ndarray
        For two clusters, the penalised cut F after each step of the final RatioDCA; with `method="paper"` and more
        clusters, the labels for 2, 3, ... clusters.
    neighbor_recall_ : float
        With `affinity="knn"`, the share of true neighbours found: 1, or measured on a sample if the search is approximate.
    choice_ : tightcut.selection.Choice
        What was chosen: `choice_.setting` has every setting, `choice_.reason` gives the reason in words, and
        `choice_.to_dataframe()` says how well each candidate agreed with the held-out pairs.
    n_clusters_, n_clusters_reason_ : int, str
        Number of clusters, chosen or given, and the reason.
    names_, changes_ : dict, Changes
        Names of clusters, by number, and what the last `update` changed.
    n_features_in_, feature_names_in_ : int, ndarray
        Number of features, and their names if X has any.

    Notes
    -----
    *Promised.* With `max_violations=0` every constraint is satisfied, whatever its belief, or `fit` raises
    `InconsistentConstraintsError`; for two clusters the error is a proof that no clustering satisfies them. With a limit
    above 0 at most that much belief is violated, or `fit` raises. If `influence` is 0, an `init` within the limit is
    improved or returned. An int as `random_state` fixes the result for every `n_jobs`.

    *Not promised.* The problem is NP-hard, and the cut need not be the smallest. Nor need the smallest cut be the
    clustering you look for: constraints say what the graph does not show.

    *Choosing.* A setting that is "auto" has a default, which depends on the columns and the number of clusters. With at
    least fifteen must-links and fifteen cannot-links that other pairs do not imply, candidates for `scale` and
    `learn_distances` are compared by four-fold cross-validation on the pairs; one replaces the default only if it
    agrees with clearly more of the held-out pairs. This takes about as long as the fit itself. A setting that is given is
    never changed. `method="paper"` uses the paper's values in place of "auto": ``scale="none", n_neighbors=10, influence=0``
    and ``KnnAffinity(learn_distances=False, symmetrize="maximum", diffusion=0)``.

    *Cross-validation.* A fold has other row numbers, so that pairs would refer to other points. Use the arguments with one
    entry per sample instead: `partial_labels`, `cannot_link_groups`, `vertex_weights`.

    Examples
    --------
    Six points on a line, with the widest gap after the fourth. A cannot-link between the second and the fourth moves the
    border:

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
    tightcut.exceptions.InconsistentConstraintsError: The constraints contradict each other, whatever the \
number of clusters: 0 must-link 1, 1 must-link 2, but 0 cannot-link 2. Correct or remove one of these pairs, or pass \
max_violations="fewest" to violate as little as possible.
    """

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        criterion: str = "ncut",
        affinity: str | KnnAffinity = "knn",
        metric: str = "euclidean",
        scale: str = "auto",
        n_neighbors: int | str = "auto",
        max_violations: float | str = 0,
        method: str = "search",
        effort: float = 1.0,
        influence: float | str = "auto",
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
        self.n_neighbors = n_neighbors
        self.max_violations = max_violations
        self.method = method
        self.effort = effort
        self.influence = influence
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
        """Cluster the samples. All constraints are combined, in whatever form they are given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or matrix of shape (n_samples, n_samples)
            Points; with `affinity="precomputed"` similarities, sparse or dense, whose diagonal is ignored; with
            `metric="precomputed"` distances. A graph of networkx or igraph, or an AnnData object with connectivities, may
            take the place of a matrix of similarities; labels are in the order of its vertices.
        y : ignored
            Present for compatibility with scikit-learn; refused unless it has one entry per sample. For known classes see
            `partial_labels`.
        must_link, cannot_link : sequence of pairs, array of shape (m, 2), data frame or sparse matrix, optional
            Pairs that belong together, or apart: row numbers of X, index labels if X is a data frame, or vertices if X is a
            graph object. A sparse matrix has shape (n_samples, n_samples).
        must_link_belief, cannot_link_belief : float or array-like of shape (m,), optional
            Belief in each pair, in (0, 1], default 1. It matters only where constraints may be violated.
        partial_labels : array-like of shape (n_samples,), optional
            Known classes, -1 where unknown. Points with the same class are kept together, points with different ones apart.
        cannot_link_groups : array-like of shape (n_samples,), optional
            Group of each point, -1 for none. Members of a group never share a cluster (faces in one photograph, records
            from one source).
        constraints : Constraints, optional
            Pairs with their beliefs, as `tightcut.Constraints` reads them from labels, groups or data frames.
        vertex_weights : array-like of shape (n_samples,), optional
            Positive weights by which to balance the clusters, instead of those of `criterion`.
        init : array-like of shape (n_samples,), optional
            A clustering to improve; clusters keep its numbers.

        Raises
        ------
        InconsistentConstraintsError
            If no clustering into non-empty clusters satisfies the constraints, or none was found; see `max_violations`.
        """
        names = row_names(X)
        if is_graph_object(X):
            if self.affinity != "precomputed":
                raise ValueError(f'X is a graph, of {type(X).__module__}; set affinity="precomputed".')
            X = graph_matrix(X)
        pairs = {
            "names": names,
            "must_link": must_link,
            "cannot_link": cannot_link,
            "must_link_belief": must_link_belief,
            "cannot_link_belief": cannot_link_belief,
        }
        known = {"partial_labels": partial_labels, "cannot_link_groups": cannot_link_groups, "constraints": constraints}
        state = fit(X, Parameters.of(self), y, vertex_weights=vertex_weights, init=init, **pairs, **known)
        validate_data(self, X, skip_check_array=True)  # sets n_features_in_ and feature_names_in_
        return self._publish(replace(state, feature_names=getattr(self, "feature_names_in_", None)))

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit, and return the labels; the keywords are those of `fit`."""
        return self.fit(X, y, **fit_params).labels_

    def predict(self, X: Any) -> np.ndarray:
        """Clusters of new points, by a weighted vote of their nearest training points.

        The clustering of the training points does not change, and constraints do not apply to new points. New points are
        scaled like the training points. Votes are weighted like the edges of the graph before diffusion.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or of shape (n_new, n_samples)
            New points; with `affinity="precomputed"` their similarities to the training samples, and with
            `metric="precomputed"` their distances to them.
        """
        return predict(self._state_for(X), X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The share of each cluster in the vote of `predict`, an array of shape (n_new, n_clusters).

        Columns are in the order of the clusters' numbers. A share of 0.9 says that nine tenths of the similarity between a
        point and its neighbours belong to members of that cluster. It is not a calibrated probability, and only compares
        clusters: a point far from all others may have a share of 1, so a warning names such points.

        Parameters
        ----------
        X : array-like
            As in `predict`.

        Examples
        --------
        >>> from tightcut import COSC
        >>> model = COSC(n_neighbors=3, random_state=0).fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
        >>> model.predict_proba([[1.5], [3.5]]).round(2).tolist()
        [[1.0, 0.0], [0.52, 0.48]]
        """
        return shares(self._state_for(X), X)

    def _state_for(self, X: Any) -> FittedState:
        """The fitted state, once the names of the features of new points are checked."""
        state = self._state_now()
        if hasattr(X, "columns") or (state.feature_names is not None and len(getattr(X, "shape", ())) == 2):
            validate_data(self, X, reset=False, skip_check_array=True)
        return state

    def update(
        self,
        X_new: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        partial_labels: Any = None,
        cannot_link_groups: Any = None,
        constraints: Constraints | None = None,
        vertex_weights: Any = None,
        keep: str = "named",
        full: bool = False,
    ) -> Self:
        """Add new points and new constraints, and change the rest of the clustering as little as possible.

        New points get the next row numbers and join the clusters of their neighbours. An old point changes its cluster only
        if a constraint forces it to, or if the cut becomes clearly smaller: if its edges to the other cluster outweigh those
        to its own by a tenth of their total weight. Every constraint holds afterwards, old or new. `changes_` lists what
        has changed, and why.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features), or similarities of shape (n_new, n_samples + n_new), optional
            New points; with `affinity="precomputed"` their similarities to the old points and among themselves.
        must_link, cannot_link : sequence of pairs, array of shape (m, 2), data frame or sparse matrix, optional
            Pairs of rows, as in `fit`. Rows from n_samples on are those of `X_new`.
        partial_labels, cannot_link_groups : array-like of shape (n_samples + n_new,) or (n_new,), optional
            Known classes and groups, as in `fit`, of all points or of the new ones.
        constraints : Constraints, optional
            On all n_samples + n_new points.
        vertex_weights : array-like of shape (n_new,), optional
            Those of the new points, if the model was fitted with weights of your own.
        keep : {"named", "all", "none"}, default="named"
            Which old points leave their cluster only if a constraint forces them to: those of clusters with a name, all,
            or none. With "none", points move whenever the cut becomes smaller, however little.
        full : bool, default=False
            Search among all points that need not be kept, as `fit` does, instead of only near new points and constraints.

        Returns
        -------
        self

        Raises
        ------
        InconsistentConstraintsError
            If the constraints contradict each other. The model stays as it was.

        Notes
        -----
        *New clusters* are created if constraints exclude a point from every existing cluster, for example by a cannot-link
        to a member of each. Such a cluster has a new number, and `n_clusters_` grows. A cluster ends when must-links move
        all its points to others.

        *Violated pairs.* Constraints that the fit was allowed to violate may still be violated; all others hold.

        *Work* is the search for neighbours of the new points, a local search near new points and constraints, and a few
        passes over the edges of the graph.

        Examples
        --------
        Two groups on a line, and a new point in each:

        >>> from tightcut import COSC
        >>> model = COSC(n_neighbors=3, random_state=0).fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
        >>> model.name(0, "low")
        >>> model.update([[0.5], [6.5]]).labels_.tolist()
        [0, 0, 0, 1, 1, 1, 0, 1]

        If point 7 must be in neither cluster, a new one is created:

        >>> model.update(cannot_link=[(0, 7), (4, 7)], keep="all").labels_.tolist()
        [0, 0, 0, 1, 1, 1, 0, 2]
        >>> model.changes_[0].kind, model.changes_[0].reason
        ('split', '4 cannot-link 7')
        """
        pairs = {"must_link": must_link, "cannot_link": cannot_link, "constraints": constraints}
        known = {"partial_labels": partial_labels, "cannot_link_groups": cannot_link_groups}
        state = self._state_now()
        return self._publish(
            update(state, X_new, vertex_weights=vertex_weights, keep=keep, full=full, **pairs, **known)
        )

    def name(self, cluster: int, name: str) -> None:
        """Give a cluster a name. By default an update keeps the members of named clusters where they are.

        Names are in `names_`, a dict from numbers of clusters to names. `update`, `save` and `load` preserve them; `fit`
        starts without any. ``del model.names_[cluster]`` removes a name.

        Parameters
        ----------
        cluster : int
            Its number in `labels_`.
        name : str
            Each name belongs to one cluster.

        Examples
        --------
        >>> from tightcut import COSC
        >>> model = COSC(n_neighbors=3, random_state=0).fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
        >>> model.name(1, "Anna")
        >>> model.names_
        {1: 'Anna'}
        """
        self._publish(self._state_now().named(cluster, name))

    def audit(self, **settings: Any) -> Audit:
        """The price of each constraint: how much the cut would fall without it, most expensive first.

        The keywords are those of `tightcut.audit.audit`, such as `n_solved`; the result has `to_dataframe()`.
        """
        return self._state_now().audit(**settings)

    def certify(self, seconds: float = 30, *, take: bool = True, **settings: Any) -> Certificate:
        """Prove how good the cut is: sets `bound_`, which no clustering's cut is below, and `certificate_`, with the proof.

        The bound holds for this graph, this number of clusters and these pairs. If the clustering violates pairs, it holds
        for all clusterings that violate at most as much belief, or as much as `max_violations` allows.

        Parameters
        ----------
        seconds : float, default=30
            As in `tightcut.certificates.certify`, which also documents further keywords.
        take : bool, default=True
            Whether the model takes a better clustering if one is found, and warns; `changes_` lists what has changed. With
            `influence` above 0 it never does, because the fit did not minimise the cut alone.

        Examples
        --------
        >>> from tightcut import COSC
        >>> model = COSC(n_neighbors=3, random_state=0).fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
        >>> certificate = model.certify()
        >>> model.bound_ > 0.99 * model.cut_
        True
        """
        from tightcut.fitted.bound import certify_state

        state, certificate = certify_state(self._state_now(), take=take, seconds=seconds, **settings)
        self._publish(state)
        self.certificate_, self.bound_ = certificate, certificate.bound
        return certificate

    def report(self, path: Any = None, **settings: Any) -> Report:
        """An HTML page about the clustering, which a notebook shows, and which is written to `path` if one is given.

        The keywords are those of `tightcut.report.write_report`, such as `ids`. After `certify` the page says what is proven.
        """
        from tightcut.report import CRITERIA, write_report

        state = self._state_now()
        own: dict[str, Any] = {"points": state.points, "names": state.names}
        own["columns"] = () if state.feature_names is None else state.feature_names
        own["criterion"] = CRITERIA[state.parameters.criterion]
        own["certificate"] = getattr(self, "certificate_", None)
        return write_report(path, state.graph, state.labels, state.constraints, **(own | settings))

    def save(self, path: Any) -> None:
        """Write the fitted model to a file, for `COSC.load`.

        The file is a zip archive of arrays (NPY) and a JSON document, without pickles, so that loading it runs no code. It
        holds the parameters, the graph, the constraints, the points (with `affinity="knn"`), labels and names. An existing
        file is replaced completely or not at all.

        Parameters
        ----------
        path : path-like
            Its name usually ends in `.tcut`.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tightcut import COSC
        >>> model = COSC(n_neighbors=3, random_state=0).fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(Path(folder, "model.tcut"))
        ...     again = COSC.load(Path(folder, "model.tcut"))
        >>> again.predict([[6.2]]).tolist()
        [1]
        """
        save(self._state_now(), Path(path))

    @classmethod
    def load(cls, path: Any) -> Self:
        """Read a model that `save` has written.

        Raises
        ------
        ValueError
            If the file is not a model, is damaged, or was written by a version of tightcut whose files this version
            cannot read.
        """
        state = load(Path(path))
        model = cls(**vars(state.parameters))
        model._publish(state)
        return model

    def _publish(self, state: FittedState) -> Self:
        """Show a state as attributes. The model changes here only, so that an error before leaves it as it was."""
        self._state, result, built = state, state.result, state.built
        for name in OPTIONAL + OF_CERTIFICATES:
            self.__dict__.pop(name, None)
        self.n_features_in_ = state.n_features
        self.labels_, self.cut_ = result.labels, result.cut
        self.n_violations_, self.violated_belief_ = result.n_violations, result.violated_belief
        violated = result.violations
        self.violated_must_link_, self.violated_cannot_link_ = violated.must_link, violated.cannot_link
        self.violated_belief_bound_ = result.violated_belief_bound
        self.affinity_matrix_, self.vertex_weights_ = built.graph.weights, built.graph.vertex_weights
        self.constraints_, self.choice_ = state.constraints, state.choice
        self.n_clusters_, self.n_clusters_reason_ = state.n_clusters, state.n_clusters_reason
        self.names_, self.changes_ = state.names, state.changes
        optional = (result.history, result.hierarchy, built.recall, state.feature_names)
        self.__dict__.update({name: value for name, value in zip(OPTIONAL, optional, strict=True) if value is not None})
        return self

    def _state_now(self) -> FittedState:
        """The state with the present parameters, labels and names, which the user may have changed."""
        check_is_fitted(self)
        state = self._state.with_parameters(Parameters.of(self))
        return replace(state, result=replace(state.result, labels=self.labels_), names=self.names_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = "precomputed" in (self.affinity, self.metric)
        tags.input_tags.pairwise = tags.input_tags.positive_only = precomputed
        tags.input_tags.sparse = True
        return tags
