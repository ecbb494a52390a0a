"""The input of an estimator: similarities, constraints from any source, a random state; read and checked in one place."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.utils.arrays import read_matrix
from tightcut.utils.validation import check_count, did_you_mean_number
from tightcut.utils.warning import warn

LOOKED_AT = 60  # points of a matrix that may hold distances


def read_similarities(X: Any, estimator: Any) -> Any:
    """A square matrix of similarities, sparse or dense."""
    if isinstance(X, Graph):
        raise TypeError(
            "X must be a matrix of similarities; of a Graph take graph.weights, or call tightcut.cluster(graph)."
        )
    similarities = read_matrix(X, ensure_min_samples=2, estimator=estimator)
    if similarities.shape[0] != similarities.shape[1]:
        raise ValueError(
            f'affinity="precomputed" takes a square matrix of similarities; X has shape {similarities.shape}. '
            'For points and their features use affinity="knn".'
        )
    read_matrix(similarities, ensure_non_negative=True, estimator=estimator)
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
    >>> from tightcut.fitted.inputs import looks_like_distances
    >>> line = np.array([0.0, 1.0, 5.0, 6.0])
    >>> distances = np.abs(line[:, None] - line)
    >>> looks_like_distances(distances), looks_like_distances(np.exp(-distances) - np.eye(4))
    (True, False)
    """
    if sp.issparse(matrix) or np.diagonal(matrix).any():
        return False
    some = np.linspace(0, len(matrix) - 1, min(len(matrix), LOOKED_AT)).astype(int)
    sample = np.asarray(matrix, dtype=np.float64)[np.ix_(some, some)]
    apart = sample[~np.eye(len(sample), dtype=bool)]
    if len(sample) < 3 or apart.min() <= 0 or apart.max() <= 2 * apart.min():
        return False
    shortest = (sample[:, :, None] + sample[None, :, :]).min(axis=1)  # through at most one other point
    return bool((sample <= shortest * (1 + 1e-6)).all())


def check_n_clusters(value: Any) -> None:
    """Refuse what is neither a number of clusters nor "auto"."""
    if isinstance(value, str):
        if value != "auto":
            hint = did_you_mean_number(value, "auto")
            raise ValueError(f'n_clusters must be a whole number >= 1, or "auto"; got {value!r}.{hint}')
        return
    check_count("n_clusters", value, 1)


def gather_constraints(
    pairs: Constraints, constraints: Any, partial_labels: Any, cannot_link_groups: Any
) -> Constraints:
    """All constraints on the samples, in whatever form they were given."""
    n_samples = pairs.n_points
    if constraints is not None:
        pairs |= _on_samples(constraints, n_samples, "constraints")
    if partial_labels is not None:
        pairs |= _on_samples(Constraints.from_labels(partial_labels), n_samples, "partial_labels")
    if cannot_link_groups is not None:
        pairs |= _on_samples(Constraints.from_groups(cannot_link_groups), n_samples, "cannot_link_groups")
    return pairs


def _on_samples(constraints: Any, n_samples: int, name: str) -> Constraints:
    if not isinstance(constraints, Constraints):
        raise TypeError(f"{name} must be a tightcut.Constraints; got {type(constraints).__name__}.")
    if constraints.n_points != n_samples:
        raise ValueError(f"{name} must have one entry per sample, {n_samples}; got {constraints.n_points}.")
    return constraints


def warn_if_disconnected(graph: Graph) -> None:
    count, _ = graph.components()
    if count > 1:
        warn(
            f"The affinity graph has {count} connected components, so the cut may be 0 and say nothing about the data. "
            "Add similarities that join them, or pass connect=False to accept the graph as it is."
        )


def check_ignored(y: Any, n_samples: int) -> None:
    """Refuse pairs, or whatever is not about the samples, in the place of `y`, where they would have no effect."""
    known = isinstance(y, Constraints)
    if known or (hasattr(y, "__len__") and not sp.issparse(y) and len(y) != n_samples):
        said = "constraints" if known else f"{len(y)} entries for {n_samples} samples"
        raise ValueError(
            f"y, the second argument of fit, has no effect, and holds {said}. Name what you know: must_link=pairs, "
            "cannot_link=pairs, partial_labels=labels or constraints=constraints."
        )


def seed_of(random_state: Any) -> Any:
    """scikit-learn's meaning of None (numpy's global state); all else as `tightcut.cluster` takes it."""
    if isinstance(random_state, Integral) and random_state < 0:
        raise ValueError(f"random_state must be a whole number >= 0, a generator or None; got {random_state}.")
    if isinstance(random_state, (Integral, np.random.Generator)):
        return random_state
    from sklearn.utils import check_random_state

    return check_random_state(random_state)


def check_is_fitted(model: Any) -> None:
    """Raise scikit-learn's `NotFittedError` unless the model has been fitted."""
    if not hasattr(model, "labels_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"This {type(model).__name__} has not been fitted yet: call fit first.")
