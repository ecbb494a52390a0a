"""FAST-GE: the generalized eigenproblem of its two Laplacians, densely and by conjugate gradients."""

import numpy as np
import pytest
import scipy.linalg

from tightcut import metrics
from tightcut.problem import spectral
from tightcut.rivals import FastGE


def two_laplacians(instance):
    degrees = instance.D.diagonal()
    links = instance.Q * np.outer(degrees, degrees) / (degrees.min() * degrees.max())
    must, cannot = np.maximum(links, 0), np.maximum(-links, 0)
    demand = np.outer(degrees, degrees) / degrees.sum() / instance.n
    joined, apart = instance.A + must, cannot + demand
    return [np.diag(w.sum(axis=1)) - w for w in (joined, apart)]


@pytest.mark.parametrize("dense_limit", [500, 5])
def test_eigenvectors_of_the_pencil(instance, fitted, dense_limit, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_LIMIT", dense_limit)
    model = fitted(FastGE(3))
    joined, apart = two_laplacians(instance)
    x, values = model.embedding_, model.eigenvalues_
    np.testing.assert_allclose(joined @ x, apart @ x * values, atol=1e-3 * abs(joined @ x).max())
    # Both Laplacians vanish on constants only: on the rest, the definite pencil has these smallest eigenvalues.
    rest = scipy.linalg.null_space(np.ones((1, instance.n)))
    expected = scipy.linalg.eigvalsh(rest.T @ joined @ rest, rest.T @ apart @ rest)[:3]
    np.testing.assert_allclose(values, expected, rtol=1e-5)


def test_without_pairs_it_is_the_normalized_cut(instance):
    model = FastGE(3, affinity="precomputed", random_state=0).fit(instance.A)
    expected = scipy.linalg.eigvalsh(instance.L, instance.D)[1:4]
    np.testing.assert_allclose(model.eigenvalues_ / instance.n, expected, rtol=1e-6)


def test_a_cannot_link_moves_the_cut():
    # A path of six points with equal edges is cut in the middle, unless a pair asks for the first edge.
    path = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
    model = FastGE(affinity="precomputed", random_state=0)
    free = model.fit(path).embedding_[:, 0]
    assert metrics.clustering_error([0, 0, 0, 1, 1, 1], free > 0) == 0
    bound = model.fit(path, must_link=[(1, 3)], cannot_link=[(0, 1)]).embedding_[:, 0]
    assert metrics.clustering_error([0, 1, 1, 1, 1, 1], bound > 0) == 0
