"""`COSC.certify`: what a model knows of its bound, and what the report and the audit make of it."""

import pytest

from tightcut import COSC, Constraints
from tightcut.datasets import load_two_moons, sample_constraints

MOONS = load_two_moons(60, 2, noise=0.1)
SHARED = {"n_clusters": 2, "n_neighbors": 6, "influence": 0, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    pairs = sample_constraints(MOONS.y, 12, random_state=0)
    fitted = COSC(**SHARED).fit(MOONS.X, constraints=pairs)
    fitted.certify(gap=1e-3)
    return fitted


def test_a_model_knows_its_bound(model):
    assert model.bound_ == model.certificate_.bound
    assert 0.99 * model.cut_ < model.bound_ <= model.cut_
    page = model.report(prices=None).html
    assert "How good is this cut?" in page
    assert "have a cut below" in page
    prices = model.audit()
    assert prices.bound == model.bound_
    assert all(0 <= row.proven(prices.bound) <= row.price + 1e-12 for row in prices)
    assert prices.to_dataframe()["proven"].tolist() == [row.proven(prices.bound) for row in prices]


def test_a_fit_takes_the_bound_away():
    model = COSC(**SHARED).fit(MOONS.X)
    model.certify(seconds=0)
    assert model.bound_ > 0
    model.fit(MOONS.X)
    assert not hasattr(model, "bound_")
    assert not hasattr(model, "certificate_")
    assert "How good is this cut?" not in model.report().html


@pytest.mark.parametrize("allowed", [1, "fewest"])
def test_a_model_that_may_violate_pairs(allowed):
    """The bound is of the clusterings that violate at most what the fit was allowed, or as much as it had to."""
    pairs = sample_constraints(MOONS.y, 30, random_state=1, noise=0.2)
    model = COSC(**SHARED, max_violations=allowed).fit(MOONS.X, constraints=pairs)
    certificate = model.certify(gap=0.01, seconds=120)
    limit = model.violated_belief_ if allowed == "fewest" else allowed
    assert certificate.max_violations == limit
    assert certificate.form == "Z"
    assert certificate.gap < 0.02
    assert f"that violate at most {limit:g} of belief" in str(certificate)
    assert model.constraints_.violations(model.labels_).belief <= limit
    certificate.check(model._state.graph, pairs)
    assert not certificate.verify(model._state.graph, Constraints.from_pairs(60))
