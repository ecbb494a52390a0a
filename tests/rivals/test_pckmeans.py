"""PCK-means: its objective falls, its result is a fixed point, and k-means is a special case."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from tightcut import Constraints
from tightcut.datasets import sample_constraints
from tightcut.rivals import PCKMeans
from tightcut.rivals.pckmeans import seed_centers


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    known = sample_constraints(y, 60, 0)
    beliefs = np.random.default_rng(0).uniform(0.3, 1, 60)
    split = known.n_must_link
    return X, Constraints.from_pairs(len(y), known.must_link, known.cannot_link, beliefs[:split], beliefs[split:])


def fit(X, known, **settings):
    return PCKMeans(3, random_state=0, **settings).fit(
        X,
        must_link=known.must_link,
        cannot_link=known.cannot_link,
        must_link_belief=known.must_link_belief,
        cannot_link_belief=known.cannot_link_belief,
    )


def objective(X, known, labels, price):
    scatter = sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in np.unique(labels))
    return scatter / 2 + price * known.violations(labels).belief


@pytest.mark.parametrize("price", [0.1, 1.0, 10.0])
def test_objective_falls_to_a_point_where_no_single_move_helps(iris, price):
    X, known = iris
    model = fit(X, known, violation_cost=price, n_init=3)
    assert model.objective_ == pytest.approx(objective(X, known, model.labels_, price))
    assert (np.diff(model.history_) <= 1e-9).all()
    assert model.n_iter_ == len(model.history_)
    centers = model.cluster_centers_
    assert all(np.allclose(centers[c], X[model.labels_ == c].mean(axis=0)) for c in range(3))
    cost = ((X - centers[model.labels_]) ** 2).sum() / 2 + price * known.violations(model.labels_).belief
    for i in range(len(X)):
        for cluster in range(3):
            moved = model.labels_.copy()
            moved[i] = cluster
            there = ((X - centers[moved]) ** 2).sum() / 2 + price * known.violations(moved).belief
            assert there >= cost - 1e-9


def test_without_pairs_it_is_kmeans(iris):
    X, _ = iris
    model = PCKMeans(3, random_state=0).fit(X)
    assert 2 * model.objective_ == pytest.approx(KMeans(3, n_init=10, random_state=0).fit(X).inertia_)


def test_a_high_price_satisfies_all_pairs(iris):
    X, known = iris
    assert known.violations(fit(X, known, violation_cost=1e6).labels_).n_violations == 0


def test_default_price_does_not_depend_on_the_unit(iris):
    X, known = iris
    assert (fit(X, known).labels_ == fit(1000 * X, known).labels_).all()


def test_seeds_are_means_of_the_largest_must_linked_sets():
    X = np.array([[0.0], [2.0], [4.0], [10.0], [12.0], [20.0], [22.0], [90.0]])
    known = Constraints.from_pairs(8, must_link=[(3, 4), (0, 1), (1, 2), (5, 6)])
    rng = np.random.default_rng(0)
    assert seed_centers(X, known, 2, rng).ravel().tolist() == [2.0, 11.0]
    centers = seed_centers(X, known, 5, rng).ravel()
    assert centers[:3].tolist() == [2.0, 11.0, 21.0]
    assert set(centers[3:]) <= set(X.ravel())


def test_equal_points_can_be_seeded():
    assert PCKMeans(3).fit(np.zeros((5, 2))).labels_.shape == (5,)


@pytest.mark.parametrize("settings", [{"violation_cost": -1}, {"n_init": 0}, {"max_iter": 0}])
def test_settings_are_checked(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        PCKMeans(**settings).fit(np.eye(3))
