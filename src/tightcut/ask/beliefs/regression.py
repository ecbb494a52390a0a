r"""Predictions from the columns by kernel ridge regression, which are smooth.

Where classes overlap, as in most tables of measurements, a smooth boundary is right more often than a forest's. With z the
standardised columns, d their number, and

.. math:: K_{ij} = 1 + \exp(-c |z_i - z_j|^2 / d), \qquad A = K_{SS} + \lambda I,

the shares of the groups are :math:`K_S \alpha` with :math:`\alpha = A^{-1} Y`, where Y says of each row of S its group.
Without row i, the others would have said :math:`Y_i - \alpha_i / (A^{-1})_{ii}` of it.

The numbers were chosen on samples of breast_cancer, diabetis, heart, sonar, ionosphere, wdbc, spam and letter.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tightcut.ask.beliefs.column_cache import KeptColumns

NEARNESS, RIDGE = 0.3, 1.0  # c and lambda
LEAST = 1e-3  # smallest share


class Kernel:
    """Similarities of all rows of X to some of them."""

    def __init__(self, X: np.ndarray) -> None:
        deviation = X.std(axis=0)
        varying = deviation > 0
        self._rows = np.asarray((X[:, varying] - X[:, varying].mean(axis=0)) / deviation[varying], np.float32)
        self._rows *= np.sqrt(NEARNESS / max(1, self._rows.shape[1]))
        self._squares = np.einsum("ij,ij->i", self._rows, self._rows)
        self.kept = KeptColumns(len(X), self._column)

    def _column(self, row: int) -> np.ndarray:
        distance = self._squares + self._squares[row] - 2 * self._rows @ self._rows[row]
        return 1 + np.exp(-np.maximum(distance, 0))


class Regression:
    """A regression on the groups of some rows; its predictions for all rows are computed when they are first needed.

    The attributes are those of a `Forest`.
    """

    def __init__(self, kernel: Kernel, rows: np.ndarray, group: np.ndarray) -> None:
        self.classes, code = np.unique(group, return_inverse=True)
        self._columns = kernel.kept.columns(rows)
        inverse = np.linalg.inv(self._columns[rows].astype(np.float64) + RIDGE * np.eye(len(rows)))
        target = np.eye(len(self.classes))[code]
        self._alpha = inverse @ target
        self.held_out = _shares(target - self._alpha / inverse.diagonal()[:, None])

    @cached_property
    def predictions(self) -> np.ndarray:
        return _shares(self._columns @ self._alpha.astype(np.float32))

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return _shares(self._columns[rows] @ self._alpha)


def _shares(predicted: np.ndarray) -> np.ndarray:
    shares = np.clip(predicted, LEAST, 1)
    return shares / shares.sum(axis=1, keepdims=True)
