"""Clusters of points that are not in the training data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.fitted.state import FittedState
from tightcut.selection.sources import PointSource
from tightcut.utils.warning import warn

FAR = 3.0  # times as far from its neighbours as these are from theirs


def predict(state: FittedState, X: Any) -> np.ndarray:
    """Clusters of new points, by the weighted vote of their nearest training points; see `COSC.predict`."""
    ids, votes = _votes(state, X)
    return ids[np.asarray(votes.argmax(axis=1)).ravel()]


def shares(state: FittedState, X: Any) -> np.ndarray:
    """The share of the votes of each cluster, one column each, with a warning; see `COSC.predict_proba`."""
    found = vote_shares(state, X)
    far = far_rows(state, X)
    if len(far) > 0:
        warn(
            f"Row {far[0]} of X, as {len(far)} of {len(found)} rows in all, is far from all training points: its "
            f"neighbours are more than {FAR:g} times as far from it as from theirs. It may belong to no cluster."
        )
    return found


def vote_shares(state: FittedState, X: Any) -> np.ndarray:
    """The share of the votes of each cluster, one column each in the order of their numbers."""
    ids, votes = _votes(state, X)
    total = votes.sum(axis=1)[:, None]
    return np.where(total > 0, votes.toarray() / np.where(total > 0, total, 1), 1 / len(ids))


def far_rows(state: FittedState, X: Any) -> np.ndarray:
    """The rows that are far from all training points; none where these are not points."""
    if not isinstance(state.source, PointSource):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(state.source.remoteness(state.built, X) > FAR)


def _votes(state: FittedState, X: Any) -> tuple[np.ndarray, sp.csr_array]:
    """The clusters, and the similarity of each row to the members of each."""
    weights = state.source.weights_to(state.built, X)
    ids, place = np.unique(state.labels, return_inverse=True)
    members = sp.csr_array((np.ones(len(place)), (np.arange(len(place)), place)))
    votes = sp.csr_array(weights @ members)
    without = np.flatnonzero(votes.max(axis=1).toarray().ravel() == 0)
    if len(without) > 0:
        warn(
            f"Row {without[0]} of X, as {len(without)} of {votes.shape[0]} rows in all, is like no training point: all its "
            f"similarities are 0, no cluster is nearer than another, and the first one, {ids[0]}, is arbitrary."
        )
    return ids, votes
