"""`MustLinkScaler` against its formula, written out with matrix roots and sums over pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import inv, sqrtm
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from tightcut import COSC, MustLinkScaler
from tightcut.datasets import sample_constraints

PAIRS = [(0, 5), (5, 9), (2, 3), (11, 14)]
GROUPS = [[0, 5, 9], [2, 3], [11, 14]]


@parametrize_with_checks([MustLinkScaler()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def normal(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3


def by_the_formula(X, groups):
    """A group of g points scatters about its mean by the sum over its ordered pairs of differences, over 2 g."""
    d = X.shape[1]
    total = np.cov(X.T, bias=True).reshape(d, d)
    root = np.real(sqrtm(total))
    scatter = np.zeros((d, d))
    for group in groups:
        for i in group:
            for j in group:
                scatter += np.outer(X[i] - X[j], X[i] - X[j]) / (2 * len(group))
    m = sum(len(group) - 1 for group in groups)
    share = inv(root) @ scatter @ inv(root) / m
    mean = np.trace(share) / d
    shrunk = (m * share + d * mean * np.eye(d)) / (m + d)
    return root @ inv(np.real(sqrtm(shrunk / mean))) @ inv(root)


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_the_formula(d, seed):
    X = normal(20, d, seed)
    scaler = MustLinkScaler().fit(X, must_link=PAIRS)
    expected = by_the_formula(X, GROUPS)
    np.testing.assert_allclose(scaler.components_, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(scaler.transform(X), X @ scaler.components_.T)


def test_within_the_map_linked_points_vary_alike_in_all_directions():
    """With many links shrinkage is small: the share within components becomes the same everywhere."""
    rng = np.random.default_rng(1)
    classes = np.repeat(np.arange(3), 2000)
    X = rng.normal(size=(6000, 3)) * [5, 1, 0.2] + 3 * rng.normal(size=(3, 3))[classes]
    scaler = MustLinkScaler().fit(X, partial_labels=classes)
    root = np.real(sqrtm(np.cov(X.T)))
    inside = np.concatenate([X[classes == c] - X[classes == c].mean(axis=0) for c in range(3)])
    share = np.cov((inside @ scaler.components_.T @ inv(root)).T)
    np.testing.assert_allclose(share, share[0, 0] * np.eye(3), atol=0.05 * share[0, 0])


def test_links_that_say_nothing_change_nothing():
    """All points linked: they differ like any points."""
    X = normal(30, 4)
    np.testing.assert_allclose(
        MustLinkScaler().fit(X, partial_labels=np.zeros(30, int)).components_, np.eye(4), atol=1e-9
    )


@pytest.mark.parametrize("must_link", [None, [], np.empty((0, 2), int)])
def test_no_links_change_nothing(must_link):
    X = normal(10, 3)
    np.testing.assert_array_equal(MustLinkScaler().fit_transform(X, must_link=must_link), X)


def test_links_between_equal_points_change_nothing():
    X = np.vstack([np.full((3, 2), 0.1), normal(6, 2)])
    np.testing.assert_array_equal(MustLinkScaler().fit(X, must_link=[(0, 1), (1, 2)]).components_, np.eye(2))
    np.testing.assert_array_equal(MustLinkScaler().fit(X[:3], must_link=[(0, 1)]).components_, np.eye(2))


def test_only_components_matter():
    X = normal(20, 3)
    maps = [
        MustLinkScaler().fit(X, **links).components_
        for links in (
            {"must_link": [(0, 1), (1, 2)]},
            {"must_link": np.array([[2, 0], [1, 2], [0, 1], [1, 0]], dtype=np.int64)},
            {"partial_labels": np.r_[7, 7, 7, 1, 2, np.full(15, -1)]},
            {"must_link": [(0, 1)], "partial_labels": np.r_[-1, 4, 4, np.full(17, -1)]},
        )
    ]
    for other in maps[1:]:
        np.testing.assert_allclose(other, maps[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-300, 1e-3, 1e306])
def test_units_do_not_matter(unit):
    X = normal(20, 3)
    expected = MustLinkScaler().fit(X, must_link=PAIRS).components_
    np.testing.assert_allclose(MustLinkScaler().fit(unit * X, must_link=PAIRS).components_, expected, rtol=1e-6)


def test_a_rotation_of_the_points_rotates_the_map():
    X = normal(20, 4)
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))[0]
    expected = MustLinkScaler().fit(X, must_link=PAIRS).components_
    np.testing.assert_allclose(
        MustLinkScaler().fit(X @ turn, must_link=PAIRS).components_, turn.T @ expected @ turn, rtol=1e-6, atol=1e-9
    )


def test_constant_and_repeated_features():
    """A direction without variance is left alone, and the others are as they are without it."""
    X = normal(20, 3)
    expected = MustLinkScaler().fit(X, must_link=PAIRS).components_
    padded = MustLinkScaler().fit(np.column_stack([X, np.full(20, 0.1)]), must_link=PAIRS).components_
    np.testing.assert_allclose(padded[:3, :3], expected, rtol=1e-6)
    np.testing.assert_allclose(padded[3], [0, 0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(padded[:, 3], [0, 0, 0, 1], atol=1e-9)
    twice = MustLinkScaler().fit_transform(np.column_stack([X, X]) / np.sqrt(2), must_link=PAIRS)
    np.testing.assert_allclose(twice @ twice.T, X @ expected.T @ expected @ X.T, rtol=1e-6)


def test_more_features_than_points():
    X = normal(6, 40)
    mapped = MustLinkScaler().fit_transform(X, must_link=[(0, 1), (2, 3)])
    assert np.isfinite(mapped).all()
    assert np.linalg.norm(mapped[0] - mapped[1]) < np.linalg.norm(X[0] - X[1])


def test_float32_read_only_and_two_points():
    X = normal(20, 3).astype(np.float32)
    X.flags.writeable = False
    scaler = MustLinkScaler().fit(X, must_link=PAIRS)
    assert scaler.transform(X).dtype == np.float32
    expected = MustLinkScaler().fit(X.astype(np.float64), must_link=PAIRS).components_
    np.testing.assert_allclose(scaler.components_, expected, rtol=1e-12)
    np.testing.assert_allclose(MustLinkScaler().fit(normal(2, 1), must_link=[(0, 1)]).components_, [[1.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"must_link": [(0, 99)]}, "99"),
        ({"partial_labels": [0, 1]}, "partial_labels must have one entry per sample, 20; got 2"),
    ],
)
def test_wrong_links_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        MustLinkScaler().fit(normal(20, 2), **arguments)


@pytest.mark.parametrize("seed", range(3))
def test_in_a_pipeline(seed):
    """One feature tells the classes apart and four do not; the pairs say which."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 5)) * [0.15, 1, 1, 1, 1] + np.outer(y, [1, 0, 0, 0, 0])
    pairs = sample_constraints(y, 30, random_state=seed)
    links = {"cosc__must_link": pairs.must_link, "cosc__cannot_link": pairs.cannot_link}
    pipeline = make_pipeline(MustLinkScaler(), COSC(random_state=0))
    scaled = pipeline.fit_predict(X, mustlinkscaler__must_link=pairs.must_link, **links)
    plain = COSC(random_state=0).fit_predict(X, must_link=pairs.must_link, cannot_link=pairs.cannot_link)
    assert pipeline[-1].n_violations_ == 0
    assert adjusted_rand_score(y, plain) < 0.8
    assert adjusted_rand_score(y, scaled) > 0.95
    assert (pipeline.predict(X) == scaled).mean() > 0.95


def test_a_fit_that_raises_leaves_the_last_one_as_it_was():
    X = np.random.default_rng(0).normal(size=(20, 3))
    scaler = MustLinkScaler().fit(X, must_link=[(0, 1)])
    expected = scaler.transform(X)
    with pytest.raises(ValueError):  # noqa: PT011 - which one does not matter here
        scaler.fit(X[:, :2], must_link=[(0, 99)])
    np.testing.assert_array_equal(scaler.transform(X), expected)
