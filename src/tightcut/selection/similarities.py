"""Precomputed similarities: read, checked, and distinguished from distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.problem.graph import Graph
from tightcut.problem.graph_objects import graph_matrix
from tightcut.utils.arrays import read_matrix
from tightcut.utils.warning import warn

POINTS_SAMPLED = 60  # of a matrix that may hold distances


def read_similarities(X: Any) -> Any:
    """A square matrix of similarities, sparse or dense."""
    if isinstance(X, Graph):
        raise TypeError(
            "X must be a matrix of similarities; of a Graph take graph.weights, or call tightcut.cluster(graph)."
        )
    similarities = read_matrix(graph_matrix(X), ensure_min_samples=2)
    if similarities.shape[0] != similarities.shape[1]:
        raise ValueError(
            f'affinity="precomputed" takes a square matrix of similarities; X has shape {similarities.shape}. '
            'For points and their features use affinity="knn".'
        )
    read_matrix(similarities, ensure_non_negative=True)
    if looks_like_distances(similarities):
        warn(
            "X looks like a matrix of distances: its diagonal is 0 and it satisfies the triangle inequality. "
            'affinity="precomputed" takes similarities, the larger the more alike; for distances use affinity="knn", '
            'metric="precomputed".'
        )
    return similarities


def looks_like_distances(matrix: Any) -> bool:
    """Whether a dense matrix has a zero diagonal and satisfies the triangle inequality, as far as a sample shows.

    Similarities do not satisfy it: two similar points and a third one that is unlike both violate it. Where no entry is
    more than twice another, every matrix satisfies it, and the answer is no.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.selection.similarities import looks_like_distances
    >>> line = np.array([0.0, 1.0, 5.0, 6.0])
    >>> distances = np.abs(line[:, None] - line)
    >>> looks_like_distances(distances), looks_like_distances(np.exp(-distances) - np.eye(4))
    (True, False)
    """
    if sp.issparse(matrix) or np.diagonal(matrix).any():
        return False
    some = np.linspace(0, len(matrix) - 1, min(len(matrix), POINTS_SAMPLED)).astype(int)
    sample = np.asarray(matrix, dtype=np.float64)[np.ix_(some, some)]
    apart = sample[~np.eye(len(sample), dtype=bool)]
    if len(sample) < 3 or apart.min() <= 0 or apart.max() <= 2 * apart.min():
        return False
    shortest = (sample[:, :, None] + sample[None, :, :]).min(axis=1)  # through at most one other point
    return bool((sample <= shortest * (1 + 1e-6)).all())
