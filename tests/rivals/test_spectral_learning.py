"""Spectral Learning against its definition."""

import numpy as np
import pytest
import scipy.sparse as sp

from tightcut import Constraints
from tightcut.problem import spectral
from tightcut.rivals import SpectralLearning
from tightcut.rivals.spectral_learning import additive_normalization, constrained_affinity


def test_pairs_edit_the_affinity():
    weights = sp.csr_array(np.array([[0, 0.5, 0.2, 0], [0.5, 0, 0, 0.1], [0.2, 0, 0, 0], [0, 0.1, 0, 0.0]]))
    known = Constraints.from_pairs(4, [(0, 1), (2, 3)], [(0, 2), (1, 2)], must_link_belief=0.3)
    expected = [[0, 1, 0, 0], [1, 0, 0, 0.1], [0, 0, 0, 1], [0, 0.1, 1, 0]]
    np.testing.assert_allclose(constrained_affinity(weights, known).toarray(), expected)
    np.testing.assert_allclose(constrained_affinity(10 * weights, known).toarray()[2, 3], 5)


def test_additive_normalization_is_doubly_stochastic(instance):
    normalized = additive_normalization(sp.csr_array(instance.A)).toarray()
    degrees = instance.D.diagonal()
    np.testing.assert_allclose(
        normalized, (instance.A + degrees.max() * np.eye(instance.n) - instance.D) / degrees.max()
    )
    np.testing.assert_allclose(normalized.sum(axis=0), 1)
    assert normalized.min() >= 0


@pytest.mark.parametrize("dense_limit", [500, 5])
def test_eigenvectors_are_the_largest(instance, fitted, dense_limit, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_LIMIT", dense_limit)
    model = fitted(SpectralLearning(3))
    matrix = additive_normalization(constrained_affinity(sp.csr_array(instance.A), instance.constraints)).toarray()
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(matrix)[::-1][:3], atol=1e-7)
    np.testing.assert_allclose(matrix @ model.embedding_, model.embedding_ * model.eigenvalues_, atol=1e-6)
    assert model.eigenvalues_[0] == pytest.approx(1)


def test_must_links_join_what_has_no_edge():
    # Two triangles and a single point, which one must-link takes into the second triangle.
    blocks = sp.block_diag([np.ones((3, 3)), np.ones((3, 3)), np.zeros((1, 1))]).toarray()
    labels = SpectralLearning(affinity="precomputed", random_state=0).fit_predict(blocks, must_link=[(5, 6)])
    assert len(set(labels[:3])) == len(set(labels[3:])) == 1
    assert labels[0] != labels[6]
