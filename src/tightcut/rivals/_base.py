"""Base classes of the competing methods, which check their input; Laplacians, eigenvectors and k-means.

A are affinities, D is the diagonal of their row sums, and L = D - A.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state, check_scalar
from sklearn.utils.validation import check_non_negative, validate_data

from tightcut.neighbors import knn_affinity
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.spectral import largest_eigenpairs
from tightcut.utils.sparse import to_csr
from tightcut.utils.validation import check_choice
from tightcut.utils.warning import warn

TOLERANCE = 1e-8  # of eigenvectors
COUNTS = ("n_clusters", "n_neighbors", "n_components", "max_points", "n_init", "max_iter")


class ConstrainedClusterer(ClusterMixin, BaseEstimator, ABC):
    """A clusterer of points that takes pairs in `fit`; a method implements `_partition`."""

    n_clusters: int
    random_state: Any

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        must_link_belief: Any = None,
        cannot_link_belief: Any = None,
    ) -> Self:
        """Cluster the samples; arguments as in `tightcut.COSC.fit`. Each method says whether beliefs count."""
        self._check_parameters()
        data = self._read(X)
        n = data.n_vertices if isinstance(data, Graph) else len(data)
        if self.n_clusters > n:
            raise ValueError(f"n_clusters={self.n_clusters} must not exceed n_samples={n}.")
        constraints = Constraints.from_pairs(n, must_link, cannot_link, must_link_belief, cannot_link_belief)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self.labels_ = self._partition(data, constraints, np.random.default_rng(seed))
        return self

    @abstractmethod
    def _partition(self, data: Any, constraints: Constraints, rng: np.random.Generator) -> np.ndarray:
        """The labels; sets the method's own attributes as well."""

    def _read(self, X: Any) -> Any:
        return validate_data(self, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)

    def _check_parameters(self) -> None:
        for name in (count for count in COUNTS if hasattr(self, count)):
            check_scalar(getattr(self, name), name, Integral, min_val=1)


class GraphClusterer(ConstrainedClusterer):
    """A clusterer of the similarity graph: `_partition` is given a `Graph` with degrees as vertex weights."""

    def __init__(
        self, n_clusters: int = 2, *, affinity: str = "knn", n_neighbors: int = 10, random_state: Any = None
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = self.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.sparse = tags.input_tags.positive_only = precomputed
        return tags

    def _read(self, X: Any) -> Graph:
        if self.affinity == "knn":
            return Graph.from_affinity(knn_affinity(super()._read(X), self.n_neighbors))
        X = to_csr(X) if sp.issparse(X) else X
        affinity = validate_data(self, X, accept_sparse="csr", dtype="numeric", ensure_min_samples=2)
        check_non_negative(affinity, type(self).__name__)
        return Graph.from_affinity(affinity)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("affinity", self.affinity, ("knn", "precomputed"))


def laplacian(weights: sp.csr_array) -> sp.csr_array:
    """D - A."""
    return sp.csr_array(sp.diags_array(np.asarray(weights.sum(axis=1)).ravel()) - weights)


def pair_matrix(n_points: int, pairs: np.ndarray, values: Any) -> sp.csr_array:
    """Symmetric sparse matrix with a value at each pair, at (i, j) and (j, i)."""
    entries = np.broadcast_to(values, len(pairs)).astype(np.float64)
    half = sp.csr_array((entries, tuple(pairs.T)), shape=(n_points, n_points))
    return sp.csr_array(half + half.T)


def belief_matrices(constraints: Constraints) -> tuple[sp.csr_array, sp.csr_array]:
    """The beliefs of the must-links and of the cannot-links, each as a symmetric matrix."""
    n = constraints.n_points
    must = pair_matrix(n, constraints.must_link, constraints.must_link_belief)
    return must, pair_matrix(n, constraints.cannot_link, constraints.cannot_link_belief)


def normalized_affinity(weights: sp.csr_array, degrees: np.ndarray) -> sp.csr_array:
    """D^-1/2 A D^-1/2, with spectrum in [-1, 1]; `degrees` are positive, so that an isolated vertex has a zero row."""
    scale = sp.diags_array(1 / np.sqrt(degrees))
    return sp.csr_array(scale @ weights @ scale)


def largest_eigenvectors(
    matrix: Any, count: int, rng: np.random.Generator, metric: sp.csr_array | None = None, **lanczos: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of a symmetric matrix or `LinearOperator`, decreasing, and their unit eigenvectors.

    As `tightcut.problem.spectral.largest_eigenpairs`, from a start at random; warns if not all converge.
    """
    n = matrix.shape[0]
    options = {"ncv": min(n, 3 * count + 20), "tol": TOLERANCE} | lanczos
    values, vectors = largest_eigenpairs(matrix, count, lambda: matrix @ rng.normal(size=n), metric, **options)
    if len(values) < min(count, n):
        warn(f"Only {len(values)} of {count} eigenvectors converged; the embedding uses those.", ConvergenceWarning)
    return values, vectors


def kmeans_labels(embedding: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Labels of the best of ten k-means runs."""
    return KMeans(n_clusters, n_init=10, random_state=int(rng.integers(2**31))).fit(embedding).labels_
