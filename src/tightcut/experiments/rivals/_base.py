"""What all rivals share: reading points, graph, pairs and random state in one place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags, check_random_state, check_scalar
from sklearn.utils.validation import check_non_negative, validate_data

from tightcut._support.choices import check_choice
from tightcut._support.sparse import to_csr
from tightcut.constraints import Constraints
from tightcut.graph import Graph
from tightcut.neighbors import knn_affinity


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
        """Cluster the samples; the arguments are those of `tightcut.COSC.fit`.

        Beliefs are read and checked by every method; the class says whether they count.
        """
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
        """The labels; sets the method's own attributes on the way."""

    def _read(self, X: Any) -> Any:
        return validate_data(self, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)

    def _check_parameters(self) -> None:
        check_scalar(self.n_clusters, "n_clusters", Integral, min_val=1)


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
        check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
