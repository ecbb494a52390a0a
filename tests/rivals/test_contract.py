"""What all rivals promise alike: scikit-learn's checks, any form of pairs, reproducible results, clear errors."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

from tightcut import knn_affinity, metrics
from tightcut.datasets import sample_constraints
from tightcut.rivals import CCSR, CSP, SCLC, FastGE, PCKMeans, SpectralLearning

ALL = [SpectralLearning, CSP, CCSR, SCLC, FastGE, PCKMeans]
ON_GRAPHS = [SpectralLearning, CSP, CCSR, SCLC, FastGE]
USE_BELIEFS = [CSP, FastGE, PCKMeans]

pytestmark = pytest.mark.filterwarnings("ignore:The nearest-neighbour graph has")


def expected_failures(estimator):
    """What no tag can say: the check gives points and asks for three clusters whatever an estimator is for."""
    if isinstance(estimator, SCLC):
        return {"check_clustering": "asks for three clusters, and SCLC cuts in two by definition"}
    if getattr(estimator, "affinity", None) == "precomputed":
        return {"check_clustering": "gives points instead of a square matrix"}
    return {}


@pytest.mark.slow
@parametrize_with_checks(
    [*(method() for method in ALL), SpectralLearning(affinity="precomputed")], expected_failed_checks=expected_failures
)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs([40, 40], centers=[[0, 0], [2.2, 0]], cluster_std=0.8, random_state=0)
    return X, y, sample_constraints(y, 40, 0)


@pytest.mark.parametrize("method", ALL)
def test_pairs_help(method, blobs):
    X, y, known = blobs
    pairs = {"must_link": known.must_link, "cannot_link": known.cannot_link}
    free, bound = method(random_state=0).fit(X), method(random_state=0).fit(X, **pairs)
    assert bound.labels_.shape == y.shape
    assert set(bound.labels_) == {0, 1}
    before, after = (metrics.violated_fractions(known, model.labels_).all for model in (free, bound))
    assert after <= before
    assert after <= 0.15
    assert metrics.clustering_error(y, bound.labels_) <= 0.15


@pytest.mark.parametrize("method", ALL)
def test_an_int_fixes_the_result(method, blobs):
    X, _, known = blobs
    first, second = (
        method(random_state=7).fit_predict(X, must_link=known.must_link, cannot_link=known.cannot_link)
        for _ in range(2)
    )
    assert (first == second).all()


@pytest.mark.slow
@pytest.mark.parametrize("method", ALL)
def test_pairs_in_any_form(method, blobs):
    X, _, known = blobs
    i, j = known.cannot_link.T
    matrix = sp.coo_array((np.ones(len(i)), (i, j)), shape=(len(X), len(X)))
    forms = [
        known.cannot_link,
        known.cannot_link[:, ::-1].tolist(),
        {tuple(p) for p in known.cannot_link.tolist()},
        matrix,
    ]
    found = [method(random_state=0).fit_predict(X, cannot_link=form) for form in forms]
    for labels in found[1:]:
        assert (labels == found[0]).all()


@pytest.mark.parametrize("method", ON_GRAPHS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_a_precomputed_affinity_is_the_same_graph(method, form, blobs):
    X, _, known = blobs
    pairs = {"must_link": known.must_link, "cannot_link": known.cannot_link}
    affinity = knn_affinity(X, 7).toarray()
    expected = method(n_neighbors=7, random_state=0).fit_predict(X, **pairs)
    assert (method(affinity="precomputed", random_state=0).fit_predict(form(affinity), **pairs) == expected).all()


@pytest.mark.parametrize("method", ALL)
def test_beliefs_count_where_the_method_has_them(method, blobs):
    X, _, known = blobs
    doubt = np.linspace(0.05, 1, known.n_cannot_link)
    sure = method(random_state=0).fit(X, cannot_link=known.cannot_link)
    doubtful = method(random_state=0).fit(X, cannot_link=known.cannot_link, cannot_link_belief=doubt)
    traces = ("eigenvalues_", "metric_", "indicator_", "objective_")
    trace = next(name for name in traces if hasattr(sure, name))
    assert np.allclose(getattr(sure, trace), getattr(doubtful, trace)) == (method not in USE_BELIEFS)
    with pytest.raises(ValueError, match="cannot_link_belief row 0: 0 is not a belief"):
        method().fit(X, cannot_link=[(0, 1)], cannot_link_belief=[0])


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("links", [{}, {"must_link": [(0, 1)]}, {"cannot_link": [(0, 1)]}])
def test_few_points_and_few_pairs(method, links):
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    for settings in ({}, {"n_neighbors": 1}) if method in ON_GRAPHS else ({},):
        assert method(**settings).fit(X, **links).labels_.shape == (4,)


@pytest.mark.parametrize("method", ALL)
def test_contradictory_pairs_are_not_an_error(method, blobs):
    X, _, _ = blobs
    labels = method(random_state=0).fit_predict(X, must_link=[(0, 1), (1, 2), (5, 6)], cannot_link=[(0, 2), (5, 6)])
    assert labels.shape == (80,)


@pytest.mark.parametrize("method", ON_GRAPHS)
def test_a_graph_in_pieces(method):
    block = np.ones((5, 5))
    affinity = np.block([[block, 0 * block], [0 * block, block]])
    # More eigenvectors than points determine would leave the metric of CCSR open.
    settings = {"n_components": 2} if method is CCSR else {}
    model = method(affinity="precomputed", random_state=0, **settings)
    labels = model.fit_predict(affinity, must_link=[(0, 1)], cannot_link=[(0, 5)])
    assert metrics.clustering_error(np.repeat([0, 1], 5), labels) == 0


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize(
    ("settings", "links", "error", "message"),
    [
        ({"n_clusters": 0}, {}, ValueError, "n_clusters"),
        ({"n_clusters": 2.5}, {}, TypeError, "n_clusters must be an instance of"),
        ({"n_clusters": 81}, {}, ValueError, "n_clusters"),
        ({}, {"must_link": [(0, 80)]}, ValueError, "must_link row 0"),
        ({}, {"must_link": [(3, 3)]}, ValueError, "must_link row 0"),
    ],
)
def test_errors(method, settings, links, error, message, blobs):
    with pytest.raises(error, match=message):
        method(**settings).fit(blobs[0], **links)


@pytest.mark.parametrize("method", ON_GRAPHS)
def test_errors_about_the_graph(method, blobs):
    with pytest.raises(ValueError, match="affinity must be one of 'knn', 'precomputed'; got 'rbf'"):
        method(affinity="rbf").fit(blobs[0])
    with pytest.raises(ValueError, match="square"):
        method(affinity="precomputed").fit(abs(blobs[0]))
    with pytest.raises(ValueError, match="n_neighbors == 0, must be >= 1"):
        method(n_neighbors=0).fit(blobs[0])


@pytest.mark.parametrize("method", [m for m in ALL if m is not SCLC])
def test_more_than_two_clusters(method):
    X, y = make_blobs(120, centers=[[0, 0], [5, 0], [0, 5]], random_state=1)
    known = sample_constraints(y, 30, 0)
    model = method(3, random_state=0, **({"beta": 0.1} if method is CSP else {}))
    labels = model.fit_predict(X, must_link=known.must_link, cannot_link=known.cannot_link)
    assert metrics.clustering_error(y, labels) < 0.05
