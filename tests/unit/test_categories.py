"""Categories beside numbers: which columns they are, and that they do not outweigh the numbers."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tightcut import COSC
from tightcut.selection.categories import category_groups, step_between_neighbors
from tightcut.selection.scale import fit_scale, judge_columns


def encoded(codes, count):
    return (np.asarray(codes)[:, None] == np.arange(count)).astype(float)


@pytest.fixture
def people():
    """Three groups by two numbers of different units, and a region that has nothing to do with them."""
    rng = np.random.default_rng(0)
    truth, region = rng.integers(3, size=400), rng.integers(4, size=400)
    numbers = np.array([[0, 0], [4, 0], [2, 4]])[truth] + rng.normal(size=(400, 2)) * 0.8
    return numbers * [1, 1000], encoded(region, 4), truth, region


@pytest.mark.parametrize("units", [[1, 1], [1, 0.001]])
def test_a_category_does_not_outweigh_the_numbers(people, units):
    numbers, indicators, truth, region = people
    X = np.hstack([numbers * units, indicators])
    labels = COSC(3, random_state=0, effort=0.3).fit(X).labels_
    assert adjusted_rand_score(truth, labels) > 0.7
    assert adjusted_rand_score(region, labels) < 0.1


@pytest.mark.parametrize("scale", ["standard", "quantile"])
def test_a_step_is_as_long_as_the_way_to_a_neighbour(people, scale):
    numbers, indicators, _, region = people
    fitted = fit_scale(np.hstack([numbers, indicators]), scale)
    scaled = fitted.transform(np.hstack([numbers, indicators]))
    first, other = (int(np.argmax(region == code)) for code in (0, 3))
    step = np.linalg.norm(scaled[first, 2:] - scaled[other, 2:])
    assert step == pytest.approx(step_between_neighbors(scaled[:, :2]))
    plain = fit_scale(numbers, scale).transform(numbers)
    np.testing.assert_allclose(scaled[:, :2], plain)


def test_the_way_to_the_tenth_neighbour_is_that_of_all_distances():
    points = np.random.default_rng(0).normal(size=(60, 3))
    distances = np.sort(np.linalg.norm(points[:, None] - points, axis=2), axis=1)
    assert step_between_neighbors(points) == pytest.approx(np.median(distances[:, 10]))
    assert step_between_neighbors(np.zeros((5, 1))) == 0


def test_what_are_categories():
    codes = np.random.default_rng(0).integers(3, size=50)
    three, two = encoded(codes, 3), encoded(codes % 2, 2)
    number = np.linspace(0, 1, 50)[:, None]
    assert category_groups(np.hstack([number, three, two, number])) == [slice(1, 4), slice(4, 6)]
    assert category_groups(three[:, :2]) == []  # not every row has one
    assert category_groups(two[:, :1]) == []
    assert category_groups(np.hstack([number, 1 - number])) == []  # shares
    assert category_groups(np.zeros((5, 3))) == category_groups(np.ones((5, 3))) == []
    filled = three.copy()
    filled[0] = 1 / 3
    assert category_groups(filled) == [slice(0, 3)]


def test_the_scale_that_suits_them(people):
    numbers, indicators, _, region = people
    assert judge_columns(np.hstack([numbers, indicators]))[0] == "quantile"
    scale, reason = judge_columns(np.hstack([numbers / [1, 1000], indicators]))
    assert (scale, reason) == ("standard", "a step from one category to another is as long as the way to a neighbour")
    assert judge_columns(indicators) == ("none", "only categories vary")
    assert judge_columns(np.hstack([numbers[:, :1], indicators]))[0] == "standard"
    alone = fit_scale(indicators, "standard")
    np.testing.assert_allclose(alone.divisor, indicators.std(axis=0))
    assert region.max() == 3


def test_a_model_keeps_the_step(people, tmp_path):
    numbers, indicators, *_ = people
    X = np.hstack([numbers, indicators])
    model = COSC(3, random_state=0, effort=0.3).fit(X)
    model.save(tmp_path / "model.tcut")
    loaded = COSC.load(tmp_path / "model.tcut")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    before = model.labels_.copy()
    assert np.array_equal(loaded.update(X[:3] + 1e-6).labels_[:400], before)
