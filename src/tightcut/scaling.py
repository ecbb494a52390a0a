"""`MustLinkScaler`: distances learned from must-links, as a linear map applied before the neighbour graph is built."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from tightcut.problem.gather import gather_constraints
from tightcut.selection.whitening import relative_whitening


class MustLinkScaler(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Stretch the directions in which must-linked points agree, shrink those in which they differ.

    A neighbour graph treats all directions alike. Must-links show which directions vary within classes, and therefore say
    less about the classes than their share of the variance suggests.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The map: points become ``X @ components_.T``. The identity if there is no must-link.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has names.

    See Also
    --------
    tightcut.COSC : Clusters the transformed points, with the same pairs.

    Notes
    -----
    Let T be the covariance of all points and W that of points about the mean of their must-link component. In
    coordinates in which T is the identity, W becomes :math:`R = T^{-1/2} W T^{-1/2}`, the share of the variance that
    lies within components; the map is

    .. math:: x \mapsto T^{1/2} \, (R / \bar r)^{-1/2} \, T^{-1/2} x

    with :math:`\bar r` the mean eigenvalue of R. If must-linked points differ as any two points do, R is a multiple of the
    identity and nothing changes, whereas plain whitening by W (relevant component analysis) would inflate every direction
    of little variance. R is estimated from m differences (the number of linked points minus that of their components) in r
    dimensions, and shrunk towards :math:`\bar r I`, as if there were r further differences that favour no direction.

    Only must-links are used, and beliefs are not. The time is O(n d^2 + d^3) for n points with d features.

    References
    ----------
    A. Bar-Hillel, T. Hertz, N. Shental and D. Weinshall, "Learning a Mahalanobis Metric from Equivalence Constraints",
    Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    Must-linked points differ in the first feature only:

    >>> import numpy as np
    >>> from tightcut import MustLinkScaler
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> MustLinkScaler().fit(X, must_link=[(0, 1), (2, 3)]).components_.round(3).tolist()
    [[0.816, 0.0], [0.0, 1.414]]
    """

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        *,
        must_link: Any = None,
        partial_labels: Any = None,
    ) -> MustLinkScaler:
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : ignored
            See `partial_labels`.
        must_link : sequence of pairs, array of shape (m, 2), data frame or sparse matrix, optional
            Pairs of row numbers of X that belong together.
        partial_labels : array-like of shape (n_samples,), optional
            Known classes, -1 where unknown; points with the same class belong together. May be the labels of a clustering.

        Returns
        -------
        MustLinkScaler
            The fitted transformer itself.
        """
        points = check_array(X, dtype=(np.float64, np.float32), ensure_min_samples=2, estimator=self, input_name="X")
        known = gather_constraints(len(points), must_link=must_link, partial_labels=partial_labels)
        components = relative_whitening(points, known.components()[1]).T
        validate_data(self, X, skip_check_array=True)  # sets n_features_in_ and feature_names_in_
        self.components_ = components
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The points after the map, of shape (n_samples, n_features); float32 stays float32."""
        check_is_fitted(self)
        points = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
        return points @ self.components_.T.astype(points.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
