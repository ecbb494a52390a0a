"""CCSR: the conditions for a minimum over positive semidefinite matrices, and its extra."""

import sys

import numpy as np
import pytest

from tightcut.rivals import CCSR
from tightcut.rivals.ccsr import pair_equations, symmetric_vector

pytest.importorskip("cvxpy")


def terms(instance):
    """Every (i, j, wanted value of y_i^T M y_j) of the objective."""
    known = instance.constraints
    yield from ((i, i, 1.0) for i in range(instance.n))
    yield from ((i, j, 1.0) for i, j in known.must_link)
    yield from ((i, j, 0.0) for i, j in known.cannot_link)


@pytest.mark.parametrize("n_components", [2, 4])
def test_optimality_conditions(instance, fitted, n_components):
    model = fitted(CCSR(2, n_components=n_components))
    y, metric = model.eigenvectors_, model.metric_
    gradient, value = np.zeros_like(metric), 0.0
    for i, j, wanted in terms(instance):
        residual = y[i] @ metric @ y[j] - wanted
        value += residual**2
        gradient += residual * (np.outer(y[i], y[j]) + np.outer(y[j], y[i]))
    scale = instance.n
    assert model.objective_ == pytest.approx(value)
    # M >= 0, gradient >= 0 and <gradient, M> = 0: no direction within the cone descends.
    assert np.linalg.eigvalsh(metric).min() > -1e-9
    assert np.linalg.eigvalsh(gradient).min() > -1e-4 * scale
    assert abs((gradient * metric).sum()) < 1e-4 * scale


def test_embedding_has_the_inner_products_of_the_metric(instance, fitted):
    model = fitted(CCSR(2, n_components=4))
    y = model.eigenvectors_
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, y @ model.metric_ @ y.T, atol=1e-8)
    np.testing.assert_allclose(y.T @ y, instance.n * np.eye(4), atol=1e-6)


def test_equations_are_the_bilinear_forms(instance):
    rng = np.random.default_rng(0)
    rows, factor = rng.normal(size=(instance.n, 3)), rng.normal(size=(3, 3))
    metric = factor + factor.T
    design, wanted = pair_equations(rows, instance.constraints)
    expected = [(rows[i] @ metric @ rows[j], value) for i, j, value in terms(instance)]
    np.testing.assert_allclose(np.column_stack([design @ symmetric_vector(metric), wanted]), expected)


def test_two_cliques_are_embedded_as_two_orthogonal_points():
    # With the two indicator vectors of the components, M = (1/2) I fits every term: the closed form.
    affinity = np.kron(np.eye(2), np.ones((4, 4)))
    model = CCSR(n_components=2, affinity="precomputed", random_state=0).fit(
        affinity, must_link=[(0, 1), (4, 5)], cannot_link=[(0, 4)]
    )
    np.testing.assert_allclose(model.metric_, np.eye(2) / 2, atol=1e-5)
    assert model.objective_ == pytest.approx(0, abs=1e-8)
    assert (model.labels_[:4] != model.labels_[4:]).all()


def test_a_missing_extra_is_named(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ImportError, match=r"of the extra tightcut\[rivals\]: pip install cvxpy clarabel"):
        fitted(CCSR())
