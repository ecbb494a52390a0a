"""COSC behaves as a scikit-learn clusterer should, and keeps its own promises."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tightcut import COSC, Constraints, Graph, InconsistentConstraintsError, KnnAffinity, cluster, knn_affinity
from tightcut.problem.objective import normalized_cut

MUST, CANNOT = [(0, 7), (3, 12)], [(3, 9), (0, 20)]
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


@pytest.fixture(scope="module")
def moons():
    return make_moons(60, noise=0.1, random_state=0)


@pytest.fixture(scope="module")
def X(moons):
    return moons[0]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def quick(**parameters):
    return COSC(**({"effort": 0.2, "random_state": 0} | parameters))


def same_partition(a, b):
    return np.array_equal(np.equal.outer(a, a), np.equal.outer(b, b))


# ---------------------------------------------------------------------------------------------- scikit-learn's contract


def expected_failures(estimator):
    if estimator.affinity == "precomputed":
        return {"check_clustering": "gives points where this estimator asks for similarities"}
    return {}


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
    matrices = {name: quick(symmetrize=name, diffusion=0).fit(X).affinity_matrix_ for name in ("maximum", "mean")}
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


# ------------------------------------------------------------------------------------------------------ metadata routing


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


# ----------------------------------------------------------------------------------------------------------------- input


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_for_everything(X, frame):
    columns = {"width": X[:, 0], "height": X[:, 1]}
    model = quick().fit(
        frame(columns),
        must_link=frame({"a": [0, 3], "b": [7, 12]}),
        cannot_link=frame({"a": [3, 0], "b": [9, 20]}),
        must_link_belief=frame({"w": [1.0, 0.5]})["w"],
        partial_labels=frame({"y": [0, 1] + [-1] * 58})["y"],
        cannot_link_groups=frame({"g": [-1, -1, 4, 4] + [-1] * 56})["g"],
        vertex_weights=frame({"v": np.ones(60)})["v"],
        init=frame({"i": np.arange(60) % 2})["i"],
    )
    # Not every version of scikit-learn reads the names of polars.
    reads_names = hasattr(StandardScaler().fit(frame(columns)), "feature_names_in_")
    assert list(getattr(model, "feature_names_in_", [])) == (["width", "height"] if reads_names else [])
    assert model.constraints_.must_link_belief.tolist() == [1.0, 0.5]
    assert model.constraints_.cannot_link.tolist() == [[0, 1], [0, 20], [2, 3], [3, 9]]


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("name", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_precomputed_affinity_in_any_sparse_format(X, name, kind):
    affinity = getattr(sp, f"{name}_{kind}")(knn_affinity(X))
    labels = quick(affinity="precomputed").fit(affinity).labels_
    np.testing.assert_array_equal(labels, quick().fit(X).labels_)


def int64_indices(matrix):
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def read_only(matrix):
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix


@pytest.mark.parametrize(
    "change", [int64_indices, read_only, sp.csr_array.toarray, lambda matrix: matrix.toarray().tolist()]
)
def test_precomputed_affinity_however_stored(X, change):
    model = quick(affinity="precomputed").fit(change(knn_affinity(X)), must_link=MUST)
    np.testing.assert_array_equal(model.labels_, quick().fit(X, must_link=MUST).labels_)


def test_float32_affinity(X):
    affinity = knn_affinity(X, symmetrize="mean", diffusion=2)
    model = quick(affinity="precomputed").fit(affinity.astype(np.float32))
    assert model.cut_ == pytest.approx(quick().fit(X).cut_, rel=1e-5)
    assert model.affinity_matrix_.dtype == np.float64


def test_a_matrix_of_distances_is_noticed(X):
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    with pytest.warns(UserWarning, match="X looks like a matrix of distances"):
        quick(affinity="precomputed").fit(distances)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(affinity="precomputed").fit(np.exp(-(distances**2)))
        quick(affinity="precomputed").fit(np.exp(-distances) - np.eye(60))
        quick(affinity="precomputed").fit(np.ones((6, 6)) - np.eye(6))


def test_the_affinity_is_left_alone(X):
    affinity = knn_affinity(X) + sp.eye_array(60, format="csr")
    before = affinity.copy()
    quick(affinity="precomputed").fit(affinity)
    assert (affinity != before).nnz == 0


def test_float32_points(X):
    model = quick().fit(X.astype(np.float32))
    assert same_partition(model.labels_, quick().fit(X).labels_)


def test_ratio_cut_and_own_vertex_weights(X):
    by_name = quick(criterion="rcut").fit(X)
    by_hand = quick().fit(X, vertex_weights=np.ones(60))
    np.testing.assert_array_equal(by_name.labels_, by_hand.labels_)
    assert by_name.cut_ == by_hand.cut_ != quick().fit(X).cut_


@pytest.mark.filterwarnings("ignore:FISTA stopped:RuntimeWarning")
def test_both_methods_satisfy_the_pairs_and_the_search_has_the_smaller_cut(X):
    searched, paper = (quick(method=name).fit(X, must_link=MUST, cannot_link=CANNOT) for name in ("search", "paper"))
    assert searched.n_violations_ == paper.n_violations_ == 0
    assert searched.cut_ <= paper.cut_ * (1 + 1e-9)


def test_attributes_exist_where_they_mean_something(X):
    model = quick().fit(X)
    assert len(model.history_) > 0
    assert not hasattr(model, "hierarchy_")
    model.set_params(n_clusters=3).fit(X)
    assert not hasattr(model, "history_")
    model.set_params(method="paper").fit(X)
    assert [len(set(labels)) for labels in model.hierarchy_] == [2, 3]
    assert not hasattr(model, "history_")


@pytest.mark.parametrize(
    ("settings", "given", "complaint"),
    [
        ({"method": "paper", "influence": 1}, {}, 'influence belongs to method="search"'),
        ({"method": "paper", "max_violations": "fewest"}, {}, 'max_violations="fewest" belongs to method="search"'),
        ({"method": "paper", "n_clusters": 3, "max_violations": 1}, {}, "max_violations=1 has no effect"),
        ({"method": "paper"}, {"init": np.arange(60) % 2}, 'init belongs to method="search"'),
    ],
)
def test_a_setting_that_would_be_ignored_is_refused(X, settings, given, complaint):
    with pytest.raises(ValueError, match=complaint):
        quick(**settings).fit(X, **given)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(X, bad):
    broken = X.copy()
    broken[4, 1] = bad
    with pytest.raises(ValueError, match="NaN|infinity"):
        quick().fit(broken)


def test_points_where_similarities_should_be(X):
    with pytest.raises(ValueError, match=r'square matrix of similarities; X has shape \(\d+, \d\).*affinity="knn"'):
        quick(affinity="precomputed").fit(X)


def test_the_function_says_what_it_takes(X):
    affinity = knn_affinity(X)
    with pytest.raises(TypeError, match="graph must be a Graph, not csr_array: Graph.from_affinity"):
        cluster(affinity)
    with pytest.raises(TypeError, match="constraints must be Constraints, not list: Constraints.from_pairs"):
        cluster(Graph.from_affinity(affinity), MUST)


def test_a_graph_where_similarities_should_be(X):
    graph = Graph.from_affinity(knn_affinity(X))
    with pytest.raises(TypeError, match=r"take graph.weights, or call tightcut.cluster\(graph\)"):
        quick(affinity="precomputed").fit(graph)
    assert quick(affinity="precomputed").fit(graph.weights).labels_.shape == (len(X),)


@pytest.mark.parametrize("write", ["report", "save"])
def test_a_folder_that_is_missing_or_named_as_a_file_is_said_to_be_one(X, tmp_path, write):
    model = quick().fit(X)
    with pytest.raises(IsADirectoryError, match="This is a folder; name a file in it"):
        getattr(model, write)(tmp_path)
    with pytest.raises(FileNotFoundError, match="The folder of this file does not exist; create it first: '.*missing"):
        getattr(model, write)(tmp_path / "missing" / "file")


def test_one_sample_is_refused():
    with pytest.raises(ValueError, match="1 sample.*minimum of 2"):
        quick().fit([[1.0, 2.0]])


@pytest.mark.parametrize("y", [MUST, np.array(MUST), pd.DataFrame(MUST), Constraints.from_pairs(60, MUST)])
def test_pairs_in_the_place_of_y_are_refused(X, y):
    with pytest.raises(ValueError, match="second argument of fit, has no effect.* must_link=pairs"):
        quick().fit(X, y)
    assert len(quick().fit(X, np.zeros(60)).labels_) == 60


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"connect": "no"}, "connect must be True or False; got 'no'"),
        ({"random_state": -1}, "random_state must be a whole number >= 0, a generator or None; got -1"),
        ({"device": "gpu"}, "device must be one of 'cpu', 'cuda', 'auto'; got 'gpu'. Did you mean 'cuda'"),
    ],
)
def test_settings_that_would_be_misunderstood_are_refused(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        quick(**parameters).fit(X)


@pytest.mark.parametrize("module", [pd, pl])
def test_a_column_without_numbers_is_named(X, module):
    columns = {"'Bern'": ["Bern"] * 60, "'tall'": ["3"] * 59 + ["tall"]}
    if module is pd:  # polars counts days since 1970
        columns["2026-11-18"] = np.datetime64("2026-11-18") + np.arange(60)
    for value, column in columns.items():
        frame = module.DataFrame({"height": X[:, 0], "other": column})
        with pytest.raises(ValueError, match=f"X, column 'other': {value}.* is not a number. Leave the column out"):
            quick().fit(frame)
    frame = module.DataFrame({"height": X[:, 0], "other": X[:, 1]})
    with pytest.raises(ValueError, match="X, column 'other': 'Bern' is not a number"):
        quick().fit(frame).predict(module.DataFrame({"height": X[:, 0], "other": ["Bern"] * 60}))


def test_a_negative_seed_of_the_function(X):
    with pytest.raises(ValueError, match="random_state must be a whole number >= 0, a generator or None; got -3"):
        cluster(Graph.from_affinity(knn_affinity(X)), random_state=-3)


def test_values_that_are_not_there_are_named(X):
    with pytest.raises(ValueError, match=r"X is a lazy frame.*; pass X\.collect\(\)"):
        quick().fit(pl.DataFrame(X).lazy())
    with pytest.raises(ValueError, match="masked array, and 1 of its values are masked"):
        quick().fit(np.ma.masked_array(X, mask=X.max() == X))
    with pytest.raises(ValueError, match="NaN"):
        quick().fit(pd.DataFrame({"a": pd.array([1, None] * 30, dtype="Int64"), "b": X[:, 0]}))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.coo_matrix, np.asarray])
@pytest.mark.parametrize("scale", ["none", "standard"])
@pytest.mark.parametrize("fitted", [np.asarray, sp.csr_array])
def test_new_points_may_be_sparse_or_dense(X, fitted, scale, kind):
    model = quick(scale="none" if fitted is sp.csr_array else scale).fit(fitted(X))
    np.testing.assert_array_equal(model.predict(kind(X + 0.01)), model.predict(fitted(X + 0.01)))
    other = quick(scale=model.scale).fit(fitted(X))
    model.update(kind(X[:5] + 0.01))
    np.testing.assert_array_equal(model.labels_, other.update(fitted(X[:5] + 0.01)).labels_)


def test_sparse_points_give_the_labels_of_dense_ones(X):
    sparse, dense = quick().fit(sp.csr_array(X)), quick(scale="none").fit(X)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X + 0.01)), dense.predict(X + 0.01))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_cosine_distances_do_not_see_lengths(form):
    rng = np.random.default_rng(0)
    directions = np.repeat([[1.0, 0.0, 0.2], [0.0, 1.0, 0.2]], 30, axis=0) + rng.uniform(0, 0.2, (60, 3))
    lengths = rng.lognormal(0, 2, 60)[:, None]
    model = quick(metric="cosine").fit(form(directions * lengths))
    assert (model.labels_ == np.repeat([0, 1], 30)).all()
    assert model.choice_.setting.scale == "none"
    assert (model.predict(form(directions)) == model.labels_).all()


@pytest.mark.parametrize("scale", ["standard", "quantile"])
def test_a_sparse_x_is_not_made_dense(X, scale):
    with pytest.raises(ValueError, match=f'scale="{scale}" would make a sparse X dense; use scale="none"'):
        quick(scale=scale).fit(sp.csr_array(X))


def test_two_points():
    assert quick().fit([[0.0], [1.0]]).labels_.tolist() == [0, 1]
    assert quick().fit([[0.0], [1.0]], cannot_link=[(0, 1)]).labels_.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore:The nearest-neighbour graph:UserWarning")
def test_duplicate_points(X):
    twice = np.repeat(X[:30], 2, axis=0)
    model = quick(n_neighbors=5).fit(twice, must_link=[(0, 7)], cannot_link=[(0, 1)])
    assert model.labels_[0] == model.labels_[7] != model.labels_[1]
    assert set(quick().fit(np.zeros((25, 2))).labels_) == {0, 1}


def test_more_clusters_than_points():
    with pytest.raises(ValueError, match="3 non-empty clusters .* there are 2"):
        quick(n_clusters=3).fit([[0.0], [1.0]])


def test_one_cluster(X):
    model = quick(n_clusters=1).fit(X)
    assert set(model.labels_) == {0}
    assert model.cut_ == 0


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("criterion", "ratio", "criterion must be one of 'ncut', 'rcut'; got 'ratio'"),
        ("affinity", "rbf", "affinity must be one of 'knn', 'precomputed'; got 'rbf'"),
        ("method", "simplex", "method must be one of 'search', 'paper'; got 'simplex'"),
        ("max_violations", "least", "max_violations must be a number >= 0, or \"fewest\"; got 'least'"),
        ("criterion", ["ncut"], "criterion must be one of"),
        ("n_clusters", 0, "n_clusters must be at least 1; got 0"),
        ("n_clusters", 2.0, "n_clusters must be an integer"),
        ("n_clusters", True, "n_clusters must be an integer; got True"),
        ("n_neighbors", 0, "n_neighbors must be at least 1; got 0"),
        ("symmetrize", "min", "symmetrize must be one of 'auto', 'maximum', 'mean'; got 'min'"),
        ("scale", "robust", "scale must be one of 'auto', 'none', 'standard', 'quantile'; got 'robust'"),
        ("metric", "l1", "metric must be one of 'euclidean', 'cosine', 'precomputed'; got 'l1'"),
        ("diffusion", -1, "diffusion must be at least 0; got -1"),
        ("learn_distances", "yes", "learn_distances must be True, False or \"auto\"; got 'yes'"),
        ("influence", "strong", "influence must be a number >= 0, or \"auto\"; got 'strong'"),
        ("max_violations", -1, 'max_violations must be a number >= 0, or "fewest"; got -1'),
        ("max_violations", np.nan, 'max_violations must be a number >= 0, or "fewest"; got nan'),
        ("effort", "high", "effort must be a number >= 0; got 'high'"),
        ("n_jobs", "all", "n_jobs must be None, a number of threads, or -1 for all cores; got 'all'"),
        ("n_jobs", 0, "n_jobs must be None, a number of threads, or -1 for all cores; got 0"),
        ("random_state", "seed", "'seed' cannot be used to seed"),
    ],
)
def test_a_wrong_setting_is_named(X, name, value, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        quick(**{name: value}).fit(X)


# ----------------------------------------------------------------------------------------------------------- constraints


def test_partial_labels(moons):
    X, y = moons
    partial = np.where(np.arange(60) < 20, y, -1)
    model = quick().fit(X, partial_labels=partial)
    assert same_partition(model.labels_[:20], y[:20])


def test_partial_labels_may_be_names(X):
    labels = quick().fit(X, partial_labels=["cat", -1, "dog", "cat"] + [-1] * 56).labels_
    assert labels[0] == labels[3] != labels[2]


def test_groups_are_kept_apart(X):
    groups = np.r_[np.repeat(np.arange(10), 2), np.full(40, -1)]
    model = quick().fit(X, cannot_link_groups=groups)
    assert (model.labels_[:20:2] != model.labels_[1:20:2]).all()


def test_all_kinds_of_constraints_add_up(X):
    model = quick().fit(
        X,
        must_link=[(0, 1)],
        must_link_belief=0.5,
        cannot_link=[(0, 2)],
        partial_labels=[0, 0] + [-1] * 58,
        cannot_link_groups=[-1, 5, -1, 5] + [-1] * 56,
    )
    assert model.constraints_.must_link.tolist() == [[0, 1]]
    assert model.constraints_.must_link_belief.tolist() == [1.0]
    assert model.constraints_.cannot_link.tolist() == [[0, 2], [1, 3]]
    assert model.n_violations_ == 0


@pytest.mark.parametrize("name", ["partial_labels", "cannot_link_groups"])
def test_a_wrong_number_of_labels_is_named(X, name):
    with pytest.raises(ValueError, match=f"{name} must have one entry per sample, 60; got 3"):
        quick().fit(X, **{name: [0, 1, -1]})


def test_a_contradiction_comes_with_its_witness(X):
    with pytest.raises(
        InconsistentConstraintsError, match="0 must-link 1, 1 must-link 2, but 0 cannot-link 2"
    ) as caught:
        quick().fit(X, must_link=[(0, 1), (1, 2), (5, 6)], cannot_link=[(0, 2)])
    assert caught.value.witness == [("must", 0, 1), ("must", 1, 2), ("cannot", 2, 0)]


def test_three_points_apart_do_not_fit_two_clusters(X):
    with pytest.raises(InconsistentConstraintsError, match="2 clusters cannot satisfy an odd number") as caught:
        quick().fit(X, cannot_link_groups=[0, 0, 0] + [-1] * 57)
    assert [kind for kind, _, _ in caught.value.witness] == ["cannot"] * 3


def test_an_inconsistent_set_can_be_soft(X):
    model = quick(max_violations="fewest").fit(X, cannot_link_groups=[0, 0, 0] + [-1] * 57, must_link=MUST)
    assert model.n_violations_ == 1
    assert len(model.violated_cannot_link_) == 1
    assert len(model.violated_must_link_) == 0


@pytest.mark.slow
def test_soft_mode_keeps_to_its_limit(moons):
    X, y = moons
    rng = np.random.default_rng(0)
    pairs = rng.permutation(60).reshape(30, 2)
    wrong = y[pairs[:, 0]] == y[pairs[:, 1]]
    constraints = {"must_link": pairs[~wrong], "cannot_link": pairs[wrong], "cannot_link_belief": 0.5}
    cuts = []
    for limit in (0, 3, 100):
        model = quick(max_violations=limit).fit(X, **constraints)
        cuts.append(model.cut_)
        assert model.violated_belief_ <= limit
        assert model.n_violations_ == len(model.violated_must_link_) + len(model.violated_cannot_link_)
        assert model.constraints_.violations(model.labels_).belief == model.violated_belief_
    assert cuts == sorted(cuts, reverse=True)


def test_all_points_must_linked_leave_the_second_cluster_empty(X):
    with pytest.raises(InconsistentConstraintsError, match="must-links leave 1 separate set of points, too few for 2"):
        quick().fit(X, must_link=[(i, i + 1) for i in range(59)])


@pytest.mark.parametrize("name", ["must_link", "cannot_link"])
@pytest.mark.parametrize(
    ("pair", "complaint"),
    [((0, 60), "out of range for 60 points"), ((4, 4), "pairs a point with itself"), ((0, 1.5), "1.5")],
)
def test_a_bad_pair_is_named(X, name, pair, complaint):
    with pytest.raises(ValueError, match=f"{name} row 1: .*{complaint}"):
        quick().fit(X, **{name: [(0, 1), pair]})


@pytest.mark.parametrize("seed", range(3))
def test_an_init_is_improved_or_kept(X, seed):
    init = np.random.default_rng(seed).permutation(60) % 2
    init[[7, 12]] = init[[0, 3]]
    init[[20, 9]] = 1 - init[[0, 3]]
    first = quick(effort=0).fit(X, must_link=MUST, cannot_link=CANNOT, init=init)
    assert first.cut_ <= normalized_cut(Graph.from_affinity(first.affinity_matrix_), init) * (1 + 1e-12)
    second = quick(effort=0, random_state=seed).fit(X, must_link=MUST, cannot_link=CANNOT, init=first.labels_)
    assert second.cut_ <= first.cut_ * (1 + 1e-12)


# ---------------------------------------------------------------------------------------------- graph, seeds and progress


@pytest.fixture(scope="module")
def islands():
    return make_blobs(60, centers=[(0, 0), (50, 0), (0, 50)], random_state=0)


def test_islands_are_joined_with_a_warning(islands):
    with pytest.warns(UserWarning, match="3 connected components; joined them by 2 bridges"):
        model = quick().fit(islands[0])
    assert model.cut_ > 0


def test_islands_can_be_left_alone(islands):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = quick(affinity=KnnAffinity(connect=False)).fit(islands[0])
    assert model.cut_ == 0


def test_a_disconnected_affinity_is_taken_as_it_is_with_a_warning(islands):
    affinity = knn_affinity(islands[0], connect=False)
    with pytest.warns(UserWarning, match="3 connected components, so the cut may be 0") as caught:
        model = quick(affinity="precomputed").fit(affinity, cannot_link=[(0, 1)])
    assert caught[0].filename == __file__
    assert model.labels_[0] != model.labels_[1]


def test_an_affinity_without_edges():
    with pytest.warns(UserWarning, match="5 connected components"):
        model = quick(affinity="precomputed").fit(np.zeros((5, 5)), must_link=[(0, 1)])
    assert set(model.labels_) == {0, 1}
    assert model.cut_ == 0


def test_the_same_seed_gives_the_same_labels_for_every_n_jobs(X):
    settings = {"effort": 0.5, "random_state": 7}
    first = COSC(**settings).fit(X, must_link=MUST, cannot_link=CANNOT)
    for n_jobs in (None, 1, 2):
        again = COSC(n_jobs=n_jobs, **settings).fit(X, must_link=MUST, cannot_link=CANNOT)
        np.testing.assert_array_equal(again.labels_, first.labels_)
        assert again.cut_ == first.cut_
        assert again.history_ == first.history_


def test_random_state_as_everywhere_in_scikit_learn(X):
    first = quick(random_state=np.random.RandomState(5)).fit(X)
    second = quick(random_state=np.random.RandomState(5)).fit(X)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    assert quick(random_state=np.random.default_rng(5)).fit(X).cut_ > 0
    state = np.random.get_state()
    try:
        np.random.seed(5)
        quick(random_state=None).fit(X)
        used = np.random.get_state()[2]
        np.random.seed(5)
        assert used != np.random.get_state()[2]
    finally:
        np.random.set_state(state)


def test_verbose_shows_progress_on_stderr(X, capsys):
    quick(verbose=1).fit(X)
    shown = capsys.readouterr()
    assert "tightcut" in shown.err
    assert "cut" in shown.err
    assert shown.out == ""
    quick().fit(X)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_predict_puts_training_points_and_their_neighbours_where_they_belong(n_clusters):
    X, y = make_blobs(n_samples=90, centers=[[0, 0], [9, 0], [0, 9]][:n_clusters], cluster_std=0.5, random_state=0)
    model = COSC(n_clusters, affinity=KnnAffinity(connect=False), effort=0.2, random_state=0).fit(X)
    assert (model.predict(X) == model.labels_).all()
    nudged = X + np.random.default_rng(0).normal(scale=0.05, size=X.shape)
    assert (model.predict(nudged) == model.labels_).all()
    assert adjusted_rand_score(y, model.predict(nudged)) == 1


def test_a_refit_without_neighbours_has_no_recall(X):
    model = quick(effort=0).fit(X)
    assert model.neighbor_recall_ == 1
    model.set_params(affinity="precomputed").fit(model.affinity_matrix_)
    assert not hasattr(model, "neighbor_recall_")


CONTRADICTION = {"must_link": [(0, 1)], "cannot_link": [(0, 1)]}


@pytest.mark.slow
@pytest.mark.parametrize("refit", ["contradiction", "nan", "points", "n_clusters"])
def test_a_fit_that_raises_leaves_the_last_one_as_it_was(refit):
    X, _ = make_blobs(200, centers=12, cluster_std=4, random_state=0)
    model = quick(n_clusters=12, effort=0).fit(X)
    before, predicted = dict(vars(model)), model.predict(X[:50])
    other, constraints = X, {}
    if refit == "contradiction":
        constraints = CONTRADICTION
    elif refit == "nan":
        other = np.where(np.arange(200)[:, None] == 3, np.nan, X)
    elif refit == "points":
        other, constraints = np.c_[X, X, X][:40], CONTRADICTION
    else:
        other = X[:5]
    settings = {"n_clusters": 2 if refit in ("contradiction", "points") else 12}
    with pytest.raises(ValueError):  # noqa: PT011 - which one does not matter here
        model.set_params(**settings).fit(other, **constraints)
    assert {name: id(value) for name, value in vars(model).items() if name.endswith("_")} == {
        name: id(value) for name, value in before.items() if name.endswith("_")
    }
    np.testing.assert_array_equal(model.predict(X[:50]), predicted)


def test_a_model_whose_only_fit_raised_is_not_fitted(X):
    model = quick()
    with pytest.raises(InconsistentConstraintsError):
        model.fit(X, **CONTRADICTION)
    for use in (lambda: model.predict(X), model.audit):
        with pytest.raises(NotFittedError):
            use()


def test_predict_returns_the_numbers_of_labels_whatever_they_are(X):
    model = quick().fit(X)
    expected = model.predict(X)
    model.labels_ = model.labels_ + 1_000_000
    np.testing.assert_array_equal(model.predict(X), expected + 1_000_000)


def test_predict_goes_the_way_the_fit_went(X):
    model = quick().fit(X)
    expected = model.predict(X)
    np.testing.assert_array_equal(model.set_params(affinity="precomputed").predict(X), expected)


def test_predict_from_similarities():
    affinity = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)) + 0.01
    model = COSC(affinity="precomputed", random_state=0).fit(affinity)
    similarity = np.array([[0, 0, 0, 1, 1, 0], [2, 0, 0, 0, 0, 1]])
    assert model.predict(similarity).tolist() == [model.labels_[3], model.labels_[0]]


def test_auto_finds_the_number_of_blobs_and_says_why():
    X, y = make_blobs(n_samples=120, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], cluster_std=0.5, random_state=0)
    model = COSC("auto", affinity=KnnAffinity(connect=False), effort=0.2, random_state=0).fit(X)
    assert model.n_clusters_ == 4
    assert "eigengap" in model.n_clusters_reason_
    assert adjusted_rand_score(y, model.labels_) == 1


def test_auto_never_goes_below_the_cannot_links():
    X, _ = make_blobs(n_samples=60, centers=[[0, 0], [9, 0]], cluster_std=0.5, random_state=0)
    clique = [(i, j) for i in range(5) for j in range(i)]
    model = COSC("auto", affinity=KnnAffinity(connect=False), effort=0.2, random_state=0).fit(X, cannot_link=clique)
    assert model.n_clusters_ >= 5
    assert model.n_violations_ == 0
    assert "5 sets of points" in model.n_clusters_reason_


def test_recursion_keeps_its_hierarchy():
    X, y = make_blobs(n_samples=90, centers=[[0, 0], [9, 0], [0, 9]], cluster_std=0.5, random_state=0)
    model = COSC(3, method="paper", effort=0.2, random_state=0, affinity=KnnAffinity(connect=False)).fit(X)
    assert [len(np.unique(labels)) for labels in model.hierarchy_] == [2, 3]
    assert adjusted_rand_score(y, model.labels_) == 1


def test_audit_puts_the_wrong_pair_first():
    X, y = make_blobs(n_samples=60, centers=[[0, 0], [6, 0]], cluster_std=0.7, random_state=0)
    left, right = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    wrong = (int(left[0]), int(left[5]))
    model = COSC(random_state=0, effort=0.3, affinity=KnnAffinity(connect=False))
    model.fit(X, must_link=[(left[1], left[2])], cannot_link=[wrong, (left[3], right[3])])
    prices = model.audit(random_state=0)
    assert (prices[0].first, prices[0].second) == wrong
    assert prices[0].price > 0


def test_constraints_of_any_origin_add_up():
    X, _ = make_moons(n_samples=60, noise=0.05, random_state=0)
    pairs = Constraints.from_pairs(60, [(0, 7)], [(3, 9)], must_link_belief=0.5)
    model = COSC(random_state=0, effort=0.1, affinity=KnnAffinity(connect=False)).fit(
        X, constraints=pairs, cannot_link=[(1, 2)]
    )
    assert model.constraints_.must_link_belief.tolist() == [0.5]
    assert model.constraints_.cannot_link.tolist() == [[1, 2], [3, 9]]
    assert model.n_violations_ == 0
    with pytest.raises(ValueError, match="constraints must have one entry per sample, 60; got 5"):
        model.fit(X, constraints=Constraints.from_pairs(5))
    with pytest.raises(TypeError, match="must be a tightcut.Constraints; got list"):
        model.fit(X, constraints=[(0, 1)])


@pytest.mark.parametrize(
    "setting",
    [
        {"scale": "standard"},
        {"learn_distances": True},
        {"metric": "cosine"},
        {"n_neighbors": 7},
        {"neighbors": "approximate"},
        {"symmetrize": "mean"},
        {"diffusion": 1},
    ],
)
def test_what_makes_a_graph_is_refused_for_a_graph_that_is_given(setting):
    (name,) = setting
    with pytest.raises(ValueError, match=f"^{name}=.* is for making a graph from points"):
        COSC(affinity="precomputed", **setting).fit(np.ones((4, 4)))


def test_a_graph_with_more_arcs_than_the_search_counts_is_refused(monkeypatch):
    monkeypatch.setattr("tightcut.clustering.cluster.MOST_ARCS", 10)
    with pytest.raises(ValueError, match="The graph has 6 edges, and 5 is the most that is searched in memory"):
        COSC(affinity="precomputed").fit(np.ones((4, 4)))


def test_the_cluster_of_a_new_point_that_is_like_no_training_point_is_called_a_guess():
    model = COSC(affinity="precomputed", random_state=0).fit(np.kron(np.eye(2), np.ones((3, 3))) + 0.01)
    near = np.repeat([[1.0, 0.0]], 3, axis=1)
    assert model.predict(near) == model.labels_[0]
    with pytest.warns(UserWarning, match="Row 1 of X, as 2 of 3 rows in all, is like no training point"):
        model.predict(np.vstack([near, np.zeros((2, 6))]))


def test_parameters_that_have_moved_work_for_one_more_version(X):
    with pytest.warns(FutureWarning, match=r"affinity=KnnAffinity\(diffusion=0, symmetrize='maximum'\)") as caught:
        old = quick(diffusion=0, symmetrize="maximum")
    assert caught[0].filename == __file__
    new = quick(affinity=KnnAffinity(diffusion=0, symmetrize="maximum"))
    assert old.get_params() == new.get_params()
    np.testing.assert_array_equal(old.fit_predict(X), new.fit_predict(X))
    with pytest.raises(TypeError, match=r"COSC has no parameter 'n_cluster'. Did you mean 'n_clusters'\?"):
        COSC(n_cluster=3)


def test_cosc_has_few_parameters():
    assert len(COSC().get_params()) <= 14
