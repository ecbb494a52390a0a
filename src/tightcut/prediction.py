"""Clusters of points that were not there when the model was fitted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted, validate_data

from tightcut.choosing.parameters import knn_settings
from tightcut.neighbors import check_points, cross_affinity

if TYPE_CHECKING:
    from tightcut.choosing import Choice, View


class Prediction:
    """`predict` of `tightcut.COSC`."""

    labels_: np.ndarray
    n_clusters_: int
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
            points = check_points(X, partial(validate_data, self, reset=False))
            settings = knn_settings(self, self.choice_.setting.n_neighbors)
            neighbor_weights = cross_affinity(self._view.transform(points), self._training_points, settings)
        n = len(self.labels_)
        # A coo_array checks its indices, whatever became of labels_ since.
        members = sp.coo_array((np.ones(n), (np.arange(n), self.labels_)), shape=(n, self.n_clusters_)).tocsr()
        return np.asarray((neighbor_weights @ members).argmax(axis=1)).ravel()
