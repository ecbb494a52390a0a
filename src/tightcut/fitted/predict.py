"""Clusters of points that are not in the training data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.fitted.state import FittedState
from tightcut.utils.warning import warn


def predict(state: FittedState, X: Any) -> np.ndarray:
    """Clusters of new points, by the weighted vote of their nearest training points; see `COSC.predict`."""
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
    return ids[np.asarray(votes.argmax(axis=1)).ravel()]
