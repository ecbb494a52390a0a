"""Kernel ridge regression on the columns, against a plain solution of the same equations and scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.kernel_ridge import KernelRidge

from tightcut.ask.beliefs.regression import NEARNESS, RIDGE, Kernel, Regression


@pytest.fixture(scope="module")
def table():
    X, y = load_breast_cancer(return_X_y=True)
    return X, y, (X - X.mean(axis=0)) / X.std(axis=0)


def test_predictions_are_those_of_scikit_learn(table):
    X, y, scaled = table
    rows = np.random.default_rng(0).permutation(len(X))[:60]
    kernel = Kernel(X)
    similarities = 1 + np.exp(-NEARNESS / X.shape[1] * ((scaled[:, None] - scaled[rows]) ** 2).sum(axis=2))
    np.testing.assert_allclose(kernel.kept.columns(rows), similarities, rtol=1e-4)
    peer = KernelRidge(alpha=RIDGE, kernel="precomputed").fit(similarities[rows], np.eye(2)[y[rows]])
    found = Regression(kernel, rows, 3 * y[rows])
    assert found.classes.tolist() == [0, 3]
    np.testing.assert_allclose(found.predictions.sum(axis=1), 1, rtol=1e-5)
    expected = np.clip(peer.predict(similarities), 1e-3, 1)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.predictions, expected, atol=1e-3)
    np.testing.assert_allclose(found.predict(np.arange(9)), found.predictions[:9], atol=1e-4)


def test_columns_that_do_not_vary_have_no_effect(table):
    X, y, _ = table
    rows = np.arange(0, 100, 2)
    wider = np.c_[X, np.full(len(X), 1e9), np.zeros(len(X))]
    one, other = (Regression(Kernel(points), rows, y[rows]).predictions for points in (X, wider))
    np.testing.assert_allclose(one, other, atol=1e-5)
    same = Regression(Kernel(np.ones((8, 2))), np.arange(4), np.array([0, 0, 0, 1]))
    np.testing.assert_allclose(same.predictions, same.predictions[:1].repeat(8, axis=0), atol=1e-6)
    assert same.predictions[0, 0] > 0.5
