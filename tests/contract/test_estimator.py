"""COSC behaves as a scikit-learn clusterer should."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from estimators import CANNOT, MUST, quick, same_partition
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tightcut import COSC, Constraints, Graph, KnnAffinity, cluster, knn_affinity

FITTED = [
    "labels_",
    "cut_",
    "n_violations_",
    "violated_belief_",
    "violated_must_link_",
    "violated_cannot_link_",
    "affinity_matrix_",
    "constraints_",
    "history_",
    "n_features_in_",
]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def expected_failures(estimator):
    # They take whatever takes sparse points and has predict_proba for a classifier, and fail for want of its tags.
    known = {f"check_estimator_sparse_{kind}": "reads the tags of a classifier" for kind in ("array", "matrix")}
    if estimator.affinity == "precomputed":
        known["check_clustering"] = "gives points where this estimator asks for similarities"
    return known


@pytest.mark.slow
@parametrize_with_checks(
    [COSC(), quick(criterion="rcut"), quick(affinity="precomputed")],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:.*connected components:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_fitted_attribute_is_there(X):
    model = quick().fit(X, must_link=MUST, cannot_link=CANNOT)
    assert all(hasattr(model, name) for name in FITTED)
    assert model.n_violations_ == model.violated_belief_ == 0
    assert model.violated_must_link_.shape == model.violated_cannot_link_.shape == (0, 2)
    assert model.affinity_matrix_.format == "csr"
    assert model.constraints_.n_pairs == 4
    assert model.labels_[0] == model.labels_[7] != model.labels_[20]
    assert model.labels_[12] == model.labels_[3] != model.labels_[9]


def test_it_is_the_function_cluster_on_the_neighbour_graph(X):
    model = COSC(effort=0.2, random_state=3).fit(X, must_link=MUST, cannot_link=CANNOT)
    affinity = knn_affinity(X, symmetrize="mean", diffusion=2)
    graph, constraints = Graph.from_affinity(affinity), Constraints.from_pairs(len(X), MUST, CANNOT)
    result = cluster(graph, constraints, effort=0.2, random_state=3)
    np.testing.assert_array_equal(model.labels_, result.labels)
    assert model.cut_ == result.cut


def test_it_has_the_defaults_of_the_function_cluster():
    defaults = {name: parameter.default for name, parameter in inspect.signature(cluster).parameters.items()}
    ours = COSC().get_params()
    shared = (ours.keys() & defaults.keys()) - {"influence"}  # COSC chooses it
    assert {"n_clusters", "effort", "method"} <= shared
    assert {name: ours[name] for name in shared} == {name: defaults[name] for name in shared}


def test_symmetrize_reaches_the_graph(X):
    affinities = {name: KnnAffinity(symmetrize=name, diffusion=0) for name in ("maximum", "mean")}
    matrices = {name: quick(affinity=affinity).fit(X).affinity_matrix_ for name, affinity in affinities.items()}
    for name, matrix in matrices.items():
        assert (matrix != knn_affinity(X, symmetrize=name)).nnz == 0
    assert (matrices["mean"] != matrices["maximum"]).nnz > 0


def test_fit_predict_takes_the_same_keywords(X):
    labels = quick().fit_predict(X, must_link=MUST, cannot_link=CANNOT)
    np.testing.assert_array_equal(labels, quick().fit(X, must_link=MUST, cannot_link=CANNOT).labels_)


def test_clone_copies_settings_only(X):
    model = quick(n_neighbors=7, criterion="rcut").fit(X)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "labels_")


def test_pickle_keeps_the_fit(X):
    model = quick().fit(X, must_link=MUST, partial_labels=np.r_[0, 1, np.full(58, -1)])
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.labels_, model.labels_)
    assert copy.constraints_.n_pairs == model.constraints_.n_pairs
    assert (copy.affinity_matrix_ != model.affinity_matrix_).nnz == 0


def test_y_is_ignored(X, moons):
    np.testing.assert_array_equal(quick().fit(X, moons[1]).labels_, quick().fit(X).labels_)
    np.testing.assert_array_equal(quick().fit_predict(X, moons[1]), quick().fit_predict(X))


@pytest.mark.usefixtures("routing")
def test_a_pipeline_routes_the_constraints(X):
    clusterer = quick().set_fit_request(must_link=True, cannot_link=True, partial_labels=True)
    pipeline = make_pipeline(StandardScaler(), clusterer)
    partial = np.full(len(X), -1)
    partial[[1, 2]] = 0, 1
    pipeline.fit(X, must_link=MUST, cannot_link=CANNOT, partial_labels=partial)
    labels = pipeline[-1].labels_
    assert pipeline[-1].constraints_.n_pairs == 5
    assert labels[0] == labels[7] != labels[20]
    assert labels[1] != labels[2]
    np.testing.assert_array_equal(
        pipeline.fit_predict(X, must_link=MUST, cannot_link=CANNOT, partial_labels=partial), labels
    )


@pytest.mark.usefixtures("routing")
def test_constraints_nobody_requested_are_refused(X):
    with pytest.raises(Exception, match="must_link"):
        make_pipeline(StandardScaler(), quick()).fit(X, must_link=MUST)


def minus_cut(model, *_):
    return -model.cut_


@pytest.mark.usefixtures("routing")
def test_sample_aligned_constraints_survive_cross_validation(moons):
    X, y = moons
    groups = np.repeat(np.arange(30), 2)
    partial = np.where(np.arange(60) % 3 == 0, y, -1)
    model = quick().set_fit_request(partial_labels=True, cannot_link_groups=True, vertex_weights=True)
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_validate(
        model,
        X,
        cv=folds,
        scoring=minus_cut,
        params={"partial_labels": partial, "vertex_weights": np.ones(60)},
        return_estimator=True,
        return_indices=True,
        error_score="raise",
    )
    for fitted, rows in zip(scores["estimator"], scores["indices"]["train"], strict=True):
        known = partial[rows] >= 0
        assert same_partition(fitted.labels_[known], y[rows][known])
    scores = cross_validate(
        model,
        X,
        cv=folds,
        scoring=minus_cut,
        params={"cannot_link_groups": groups},
        return_estimator=True,
        return_indices=True,
        error_score="raise",
    )
    for fitted, rows in zip(scores["estimator"], scores["indices"]["train"], strict=True):
        together = Constraints.from_groups(groups[rows])
        assert together.n_cannot_link > 0
        assert together.violations(fitted.labels_).n_violations == 0


@pytest.mark.usefixtures("routing")
def test_a_pair_beyond_the_fold_fails_loudly(X):
    model = quick().set_fit_request(must_link=True)
    arguments = {"cv": 3, "scoring": minus_cut, "params": {"must_link": [(0, 59)]}}
    with pytest.raises(ValueError, match=r"must_link row 0: \(0, 59\) is out of range for 40 points"):
        cross_validate(model, X, error_score="raise", **arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        with pytest.raises(ValueError, match="All the 3 fits failed"):
            cross_validate(model, X, **arguments)


@pytest.mark.usefixtures("routing")
def test_a_sparse_matrix_of_pairs_is_sliced_and_fails_loudly(X):
    pairs = sp.csr_array(([True], ([0], [1])), shape=(60, 60))
    model = quick().set_fit_request(must_link=True)
    with pytest.raises(ValueError, match=r"must_link: a sparse matrix of pairs must have shape \(40, 40\)"):
        cross_validate(model, X, cv=3, scoring=minus_cut, params={"must_link": pairs}, error_score="raise")


def test_cosc_has_few_parameters():
    assert len(COSC().get_params()) <= 14
