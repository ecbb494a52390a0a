"""`COSC`, a scikit-learn estimator: a model with scikit-learn's checks and conventions."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from tightcut._support.sparse import to_csr
from tightcut.model import Model


class COSC(Model, ClusterMixin, BaseEstimator):
    """Constrained 1-spectral clustering (Rangapuram and Hein, 2012): a small cut that respects what you know.

    You know that some points belong together (must-links) and that some do not (cannot-links). Points become a
    nearest-neighbour graph, and among all clusterings that agree with your pairs the one with the smallest normalized
    cut is searched for: clusters that are well connected inside, hardly connected to each other, and not tiny.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        Number of clusters; none is empty. "auto" chooses from the graph and the constraints, never fewer than the
        cannot-links need: held-out pairs exclude numbers, and the eigenvalues of the graph rank the rest.
        `n_clusters_reason_` says why, and how certain that is.
    criterion : {"ncut", "rcut"}, default="ncut"
        Normalized cut balances the clusters' total degree, ratio cut their number of points.
    affinity : {"knn", "precomputed"}, default="knn"
        Build the graph of `tightcut.knn_affinity`, or take X as a symmetric matrix of similarities, sparse or dense.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between points; "cosine" compares directions, which suits tf-idf and many embeddings. "precomputed"
        takes X as a symmetric matrix of distances, from which the neighbours of each point are read; those that a
        sparse matrix does not store are unknown.
    scale : {"auto", "none", "standard", "quantile"}, default="auto"
        Columns as they are, divided by their standard deviation, or replaced by their quantiles. "auto" takes quantiles
        where units differ so much that a few columns would dominate the distances, and "none" otherwise, unless the
        pairs favour another scale; see Notes.
    learn_distances : bool or "auto", default="auto"
        Whether must-links rescale the directions, as in `tightcut.MustLinkScaler`. "auto" means no, unless the pairs
        favour it.
    n_neighbors : int or "auto", default="auto"
        Neighbours per point; for `affinity="knn"`. "auto" is 10.
    neighbors : {"auto", "tree", "blocked", "approximate"}, default="auto"
        How to search for neighbours, see `tightcut.knn_affinity`; all but "approximate" are exact.
    symmetrize : {"auto", "maximum", "mean"}, default="auto"
        Weight of an edge of which only one end counts the other among its nearest neighbours: full ("maximum", as in
        the paper) or half ("mean"); see `tightcut.knn_affinity`. "auto" is "mean".
    diffusion : int or "auto", default="auto"
        Steps of a random walk that smooths the graph; see `tightcut.knn_affinity`. "auto" is 2.
    max_violations : float or "fewest", default=0
        How much belief may be violated (the number of pairs, where every belief is 1). 0 satisfies every constraint, or
        raises `InconsistentConstraintsError` with the contradiction. "fewest" violates as little as possible.
    method : {"search", "paper"}, default="search"
        "search" looks for the smallest cut into all clusters at once. "paper" is the paper's algorithm, for comparison:
        it is slower, finds larger cuts, and may violate cannot-links if there are more than two clusters.
    effort : float, default=1.0
        How long to search; 0 is a single quick start, 0.3 is quick, 5 is thorough.
    influence : float or "auto", default="auto"
        How strongly a cannot-link also counts for the neighbours of its two points. 0 returns the smallest cut, which
        may satisfy a few pairs by moving single points away from their neighbours, and leave two classes together.
        Every constraint is satisfied in either case. "auto" is 1 for five clusters or more, unless the pairs show
        that neighbours have little in common, and 0 otherwise.
    connect : bool, default=True
        Join the components of a disconnected nearest-neighbour graph by their shortest links, with a warning; False
        does neither. A precomputed affinity is never changed; with True there is a warning.
    n_jobs : int, optional
        Threads, as in joblib. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result the same on every run.
    verbose : int, default=0
        1 shows progress: a bar in a notebook, otherwise text on the standard error stream.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        "cuda" finds neighbours and searches large graphs on an NVIDIA GPU (`pip install "tightcut[gpu]"`); "auto" uses
        one if there is one.

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
        What was chosen: `choice_.setting` has every setting, `choice_.reason` gives the reason in words, and
        `choice_.to_dataframe()` says how well each candidate agreed with the held-out pairs.
    n_clusters_, n_clusters_reason_ : int, str
        Number of clusters, chosen or given, and why that many.
    names_, changes_ : dict, Changes
        Names of clusters, by number, and what the last `update` changed.
    n_features_in_, feature_names_in_ : int, ndarray
        Number of features, and their names where X has any.

    Notes
    -----
    *Promised.* With `max_violations=0` every constraint is satisfied, whatever its belief, or `fit` raises
    `InconsistentConstraintsError`; for two clusters the error is a proof that nothing satisfies them. With a limit
    above 0 at most that much belief is violated, or `fit` raises. If `influence` is 0, an `init` within the limit is
    improved or returned. An int as `random_state` fixes the result for every `n_jobs`.

    *Not promised.* The problem is NP-hard: the cut need not be the smallest. Nor does the smallest cut have to be the
    truth: constraints say what the graph does not show.

    *Choosing.* A setting that is "auto" has a default, which depends on the columns and the number of clusters. With at
    least fifteen must-links and fifteen cannot-links that other pairs do not imply, candidates for `scale` and
    `learn_distances` are compared by four-fold cross-validation on the pairs; one replaces the default only if it
    agrees with clearly more of the held-out pairs. This takes about as long as a few fits. A setting that is given is
    never changed. `method="paper"` uses the paper's values in place of "auto": ``scale="none", learn_distances=False,
    n_neighbors=10, symmetrize="maximum", diffusion=0, influence=0``.

    *Cross-validation.* A fold renumbers its rows, so that pairs of row numbers no longer fit: use what is sliced with
    the samples instead, `partial_labels`, `cannot_link_groups`, `vertex_weights`.

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

    def _note_columns(self, X: Any) -> None:
        validate_data(self, X, skip_check_array=True)  # sets n_features_in_ and feature_names_in_

    def _checked(self, X: Any, **options: Any) -> Any:
        return validate_data(self, to_csr(X) if sp.issparse(X) else X, reset=False, **options)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = "precomputed" in (self.affinity, self.metric)
        tags.input_tags.pairwise = tags.input_tags.positive_only = precomputed
        tags.input_tags.sparse = True
        return tags
