"""CSP: the Karush-Kuhn-Tucker conditions of its paper, a general eigenvalue solver, and its limit."""

import numpy as np
import pytest
import scipy.linalg

from tightcut.rivals import CSP


def normalized(instance):
    scale = 1 / np.sqrt(instance.D.diagonal())
    return scale[:, None] * instance.L * scale, scale[:, None] * instance.Q * scale


@pytest.mark.parametrize("n_clusters", [2, 4])
@pytest.mark.parametrize("beta", [None, 0.1])
def test_optimality_conditions(instance, fitted, n_clusters, beta):
    model = fitted(CSP(n_clusters, beta=beta))
    laplacian, links = normalized(instance)
    volume = instance.A.sum()
    v = model.vectors_
    np.testing.assert_allclose(np.linalg.norm(v, axis=0), 1)
    assert v.shape[1] == n_clusters - 1
    # Stationarity, dual feasibility, and the constraint itself: v^T Q v > beta for v^T v = vol.
    target = links - model.beta_ / volume * np.eye(instance.n)
    np.testing.assert_allclose(laplacian @ v, target @ v * model.eigenvalues_, atol=1e-8)
    assert (model.eigenvalues_ > 0).all()
    assert (np.einsum("ij,ij->j", v, links @ v) * volume > model.beta_).all()


def test_least_cost_among_all_feasible_eigenvectors(instance, fitted):
    model = fitted(CSP())
    laplacian, links = normalized(instance)
    target = links - model.beta_ / instance.A.sum() * np.eye(instance.n)
    values, vectors = scipy.linalg.eig(laplacian, target)
    feasible = (abs(values.imag) < 1e-9) & (values.real > 1e-9) & np.isfinite(values)
    costs = [v @ laplacian @ v / (v @ v) for v in vectors.real.T[feasible]]
    assert model.vectors_[:, 0] @ laplacian @ model.vectors_[:, 0] == pytest.approx(min(costs), rel=1e-6)


def test_default_bound_is_that_of_the_experiments(instance, fitted):
    _, links = normalized(instance)
    share = 0.5 + 0.4 * np.count_nonzero(links) / instance.n**2
    for n_clusters in (2, 3):
        expected = np.linalg.eigvalsh(links)[1 - n_clusters] * instance.A.sum() * share
        assert fitted(CSP(n_clusters)).beta_ == pytest.approx(expected)


def test_two_clusters_are_the_signs(fitted):
    model = fitted(CSP())
    assert (model.labels_ == (model.vectors_[:, 0] > 0)).all()


def test_without_pairs_it_is_the_spectral_relaxation(instance):
    model = CSP(3, affinity="precomputed", random_state=0).fit(instance.A)
    laplacian, _ = normalized(instance)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(laplacian)[1:3], atol=1e-10)


def test_too_many_points_are_an_error_with_the_size():
    with pytest.raises(ValueError, match=r"101 points need about 0.0 GiB .* beyond max_points=100"):
        CSP(max_points=100).fit(np.random.default_rng(0).normal(size=(101, 2)))
    with pytest.raises(ValueError, match=r"4000 points need about 0.7 GiB"):
        CSP().fit(np.random.default_rng(0).normal(size=(4000, 2)))


@pytest.mark.parametrize("beta", [-0.1, 1.0])
def test_beta_is_a_share(beta):
    with pytest.raises(ValueError, match="beta == "):
        CSP(beta=beta).fit(np.eye(4))


def test_must_links_that_the_trivial_vector_satisfies():
    complete = np.ones((4, 4)) - np.eye(4)
    everything = [(i, j) for i in range(4) for j in range(i)]
    with pytest.raises(ValueError, match="raise beta, or add cannot-links"):
        CSP(affinity="precomputed").fit(complete, must_link=everything)
