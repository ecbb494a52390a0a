"""SCLC: feasible, optimal among all feasible vectors, and its treatment of contradictions."""

import numpy as np
import pytest
import scipy.linalg

from tightcut import metrics
from tightcut.problem import spectral
from tightcut.rivals import SCLC


def feasible_basis(instance, *, balanced):
    """An orthonormal basis of all f that satisfy the linear constraints."""
    rows = [np.eye(instance.n)[i] - np.eye(instance.n)[j] for i, j in instance.constraints.must_link]
    rows += [np.eye(instance.n)[i] + np.eye(instance.n)[j] for i, j in instance.constraints.cannot_link]
    return scipy.linalg.null_space(np.array([*rows, instance.D.diagonal()] if balanced else rows))


@pytest.mark.parametrize("dense_limit", [500, 5])
@pytest.mark.parametrize("balanced", [True, False])
def test_minimum_over_all_feasible_vectors(instance, fitted, balanced, dense_limit, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_LIMIT", dense_limit)
    model = fitted(SCLC(balanced=balanced))
    f, basis = model.indicator_, feasible_basis(instance, balanced=balanced)
    np.testing.assert_allclose(basis @ (basis.T @ f), f, atol=1e-8)
    values = scipy.linalg.eigvalsh(basis.T @ instance.L @ basis, basis.T @ instance.D @ basis)
    assert model.cost_ == pytest.approx(values[0], rel=1e-6)
    assert f @ instance.L @ f == pytest.approx(model.cost_ * (f @ instance.D @ f))


def test_signs_satisfy_every_pair(instance, fitted):
    model = fitted(SCLC())
    assert metrics.violated_fractions(instance.constraints, model.labels_).all == 0


def test_without_pairs_it_is_the_spectral_relaxation(instance):
    for balanced in (True, False):
        model = SCLC(affinity="precomputed", balanced=balanced, random_state=0).fit(instance.A)
        assert model.cost_ == pytest.approx(scipy.linalg.eigvalsh(instance.L, instance.D)[1])


def test_pairs_that_fix_everything():
    labels = SCLC(affinity="precomputed").fit_predict(np.ones((4, 4)), must_link=[(0, 1)], cannot_link=[(1, 2), (0, 3)])
    assert labels.tolist() == [0, 0, 1, 1]


def test_contradictory_points_follow_their_neighbours():
    affinity = np.kron(np.eye(2), np.ones((5, 5))) + 0.01
    contradiction = [(0, 1), (1, 2), (0, 2)]
    model = SCLC(affinity="precomputed", random_state=0).fit(affinity, cannot_link=contradiction)
    assert (model.indicator_[:3] == 0).all()
    assert metrics.clustering_error(np.repeat([0, 1], 5), model.labels_) == 0
    with pytest.raises(ValueError, match="only f = 0"):
        SCLC(affinity="precomputed").fit(np.ones((3, 3)), cannot_link=contradiction)


def test_two_clusters_only():
    with pytest.raises(ValueError, match="n_clusters must be at most 2; got 3"):
        SCLC(3).fit(np.eye(4))
