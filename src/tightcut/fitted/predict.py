"""Clusters of points that are not in the training data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from tightcut.fitted.inputs import check_is_fitted
from tightcut.neighbors import GIVEN, check_points, check_rows, cross_affinity, known_affinity
from tightcut.neighbors.points import Points, canonical
from tightcut.selection.parameters import knn_settings
from tightcut.utils.arrays import read_matrix
from tightcut.utils.warning import warn

if TYPE_CHECKING:
    from tightcut.selection import Choice, View


class Prediction:
    """`predict` of `tightcut.COSC`."""

    labels_: np.ndarray
    n_features_in_: int
    metric: str
    choice_: Choice
    _training_points: Any
    _view: View | None
    _viewed: Any = None  # the training points in that view, once they are needed

    def predict(self, X: Any) -> np.ndarray:
        """Clusters of new points, by the weighted vote of their nearest training points.

        The training clustering does not change, and constraints do not apply to new points. New points are scaled like
        the training points. Votes are weighted like the edges of the graph before diffusion.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or of shape (n_new, n_samples)
            New points; with `affinity="precomputed"` their similarities to the training samples, and with
            `metric="precomputed"` their distances to them.
        """
        check_is_fitted(self)
        if self._view is None and self.metric == GIVEN:
            distances = check_rows(self._checked(X, accept_sparse="csr"))
            neighbor_weights = known_affinity(distances, self.choice_.setting.n_neighbors)
        elif self._view is None:
            neighbor_weights = sp.csr_array(self._checked(X, accept_sparse="csr", ensure_non_negative=True))
        else:
            settings = knn_settings(self, self.choice_.setting.n_neighbors)
            new = self._view.transform(self._read_new(X))
            neighbor_weights = cross_affinity(new, self._viewed_points(self._view), settings)
        ids, place = np.unique(self.labels_, return_inverse=True)
        members = sp.csr_array((np.ones(len(place)), (np.arange(len(place)), place)))
        votes = sp.csr_array(neighbor_weights @ members)
        none = np.flatnonzero(votes.max(axis=1).toarray().ravel() == 0)
        if len(none) > 0:
            warn(
                f"Row {none[0]} of X, as {len(none)} of {votes.shape[0]} rows in all, is like no training point: all its "
                f"similarities are 0, no cluster is nearer than another, and the first one, {ids[0]}, is no more than a guess."
            )
        return ids[np.asarray(votes.argmax(axis=1)).ravel()]

    def _read_new(self, X: Any) -> Points:
        """New points, checked, and sparse if and only if those of the fit are."""
        new = check_points(X, self._checked)
        if sp.issparse(self._training_points):
            return canonical(new)
        return new.toarray() if sp.issparse(new) else new

    def _viewed_points(self, view: View) -> Points:
        if self._viewed is None:
            self._viewed = view.transform(self._training_points)
        return self._viewed

    def _checked(self, X: Any, **options: Any) -> Any:
        """Rows with as many columns as those of the fit; the parameters are those of `read_matrix`."""
        rows = read_matrix(X, **options)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {rows.shape[1]} features, and the model was fitted to {self.n_features_in_}.")
        return rows
