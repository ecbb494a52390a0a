"""Clusters of points that were not there when the model was fitted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted, validate_data

from tightcut.choosing.parameters import knn_settings
from tightcut.neighbors import check_points, cross_affinity
from tightcut.neighbors.points import Points

if TYPE_CHECKING:
    from tightcut.choosing import Choice, View


class Prediction:
    """`predict` of `tightcut.COSC`."""

    labels_: np.ndarray
    choice_: Choice
    _training_points: Any
    _view: View | None

    def predict(self, X: Any) -> np.ndarray:
        """Clusters of new points, by the weighted vote of their nearest training points.

        The training clustering stays as it is, and no constraint reaches new points. New points are scaled as those of
        the fit were. Votes are weighed like the edges of the graph before any diffusion.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or similarities of shape (n_new, n_samples)
            New points; with `affinity="precomputed"` their similarities to the training samples.
        """
        check_is_fitted(self)
        if self._view is None:
            similarity = validate_data(self, X, accept_sparse="csr", ensure_non_negative=True, reset=False)
            neighbor_weights = sp.csr_array(similarity)
        else:
            settings = knn_settings(self, self.choice_.setting.n_neighbors)
            new, points = self._view.transform(self._read_new(X)), self._view.transform(self._training_points)
            neighbor_weights = cross_affinity(new, points, settings)
        ids, place = np.unique(self.labels_, return_inverse=True)
        members = sp.csr_array((np.ones(len(place)), (np.arange(len(place)), place)))
        return ids[np.asarray((neighbor_weights @ members).argmax(axis=1)).ravel()]

    def _read_new(self, X: Any) -> Points:
        """New points, checked."""
        return check_points(X, partial(validate_data, self, reset=False))
