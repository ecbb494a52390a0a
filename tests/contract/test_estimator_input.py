"""What `COSC.fit` takes and what it refuses, with the value and what to do."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from estimators import CANNOT, MUST, quick, same_partition
from sklearn.preprocessing import StandardScaler

from tightcut import COSC, Constraints, Graph, KnnAffinity, cluster, knn_affinity


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
        ({"method": "paper", "n_clusters": 3}, {"init": np.arange(60) % 3}, "init has no effect"),
    ],
)
def test_a_setting_that_would_be_ignored_is_refused(X, settings, given, complaint):
    with pytest.raises(ValueError, match=complaint):
        quick(**settings).fit(X, **given)


@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (-np.inf, "infinity")])
@pytest.mark.parametrize(
    ("form", "column"),
    [(np.asarray, "1"), (sp.csr_array, "1"), (lambda X: pd.DataFrame(X).add_prefix("width "), "'width 1'")],
)
def test_nan_and_infinity_are_refused_with_their_place(X, bad, word, form, column):
    broken = X.copy()
    broken[4, 1] = bad
    with pytest.raises(ValueError, match=f"contains {word}, first in row 4, column {column}"):
        quick().fit(form(broken))


def test_points_where_similarities_should_be(X):
    with pytest.raises(ValueError, match=r'square matrix of similarities; X has shape \(\d+, \d\).*affinity="knn"'):
        quick(affinity="precomputed").fit(X)


def test_the_function_says_what_it_takes(X):
    affinity = knn_affinity(X)
    with pytest.raises(TypeError, match="graph must be a Graph, not csr_array: Graph.from_affinity"):
        cluster(affinity)
    with pytest.raises(TypeError, match="constraints must be Constraints, not list: Constraints.from_pairs"):
        cluster(Graph.from_affinity(affinity), MUST)
    with pytest.raises(ValueError, match="random_state must be a whole number >= 0, a generator or None; got -3"):
        cluster(Graph.from_affinity(affinity), random_state=-3)


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
    with pytest.warns(UserWarning, match="All rows of X are equal"):
        assert set(quick().fit(np.zeros((25, 2))).labels_) == {0, 1}


def test_more_clusters_than_points():
    with pytest.raises(ValueError, match="3 non-empty clusters .* there are 2"):
        quick(n_clusters=3).fit([[0.0], [1.0]])


def test_fewer_points_than_neighbors_are_said():
    with pytest.warns(UserWarning, match="n_neighbors=7, and there are 3 other points: all are neighbors"):
        quick(n_neighbors=7).fit([[0.0], [1.0], [5.0], [6.0]])


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"init": [0, 1]}, r"init must have one entry per point, shape \(60,\); got shape \(2,\)"),
        ({"vertex_weights": [1, 2]}, r"vertex_weights must have one entry per point, shape \(60,\)"),
        ({"must_link": Constraints.from_pairs(60, [(0, 1)])}, "pass it as constraints="),
        ({"cannot_link_belief": [1, 1]}, "cannot_link_belief has 2 entries, but no pairs are given"),
    ],
)
def test_what_does_not_fit_the_points_is_refused_before_a_graph_is_made(X, given, complaint, monkeypatch):
    monkeypatch.setattr("tightcut.fitted.fit.select", None)
    with pytest.raises((TypeError, ValueError), match=complaint):
        quick().fit(X, **given)


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
        ("n_clusters", 0, 'n_clusters must be a whole number >= 1, or "auto"; got 0.'),
        ("n_clusters", 3.0, 'n_clusters must be a whole number >= 1, or "auto"; got 3.0. Did you mean 3?'),
        ("n_clusters", True, 'n_clusters must be a whole number >= 1, or "auto"; got True'),
        ("n_clusters", None, 'n_clusters must be a whole number >= 1, or "auto"; got None'),
        ("n_neighbors", 0, 'n_neighbors must be a whole number >= 1, or "auto"; got 0'),
        ("n_neighbors", "10", "n_neighbors must be a whole number >= 1, or \"auto\"; got '10'. Did you mean 10?"),
        ("scale", "robust", "scale must be one of 'auto', 'none', 'standard', 'quantile'; got 'robust'"),
        ("metric", "l1", "metric must be one of 'euclidean', 'cosine', 'precomputed'; got 'l1'"),
        ("influence", "strong", "influence must be a number >= 0, or \"auto\"; got 'strong'"),
        ("max_violations", -1, 'max_violations must be a number >= 0, or "fewest"; got -1'),
        ("max_violations", np.nan, 'max_violations must be a number >= 0, or "fewest"; got nan'),
        ("effort", "high", "effort must be a number >= 0; got 'high'"),
        ("n_jobs", "all", "n_jobs must be None, a number of threads, or -1 for all cores; got 'all'"),
        ("n_jobs", 0, "n_jobs must be None, a number of threads, or -1 for all cores; got 0"),
        ("random_state", "seed", "random_state must be a whole number >= 0, a generator or None; got 'seed'"),
        ("random_state", -1, "random_state must be a whole number >= 0, a generator or None; got -1"),
        ("device", "gpu", "device must be one of 'cpu', 'cuda', 'auto'; got 'gpu'. Did you mean 'cuda'"),
    ],
)
def test_a_wrong_setting_is_named(X, name, value, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        quick(**{name: value}).fit(X)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("symmetrize", "min", "symmetrize must be one of 'auto', 'maximum', 'mean'; got 'min'"),
        ("diffusion", -1, "diffusion must be a whole number >= 0; got -1"),
        ("learn_distances", "yes", "learn_distances must be True, False or \"auto\"; got 'yes'"),
        ("connect", "no", "connect must be True or False; got 'no'"),
    ],
)
def test_a_wrong_setting_of_the_graph_is_named(name, value, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        KnnAffinity(**{name: value})


@pytest.mark.parametrize(
    "setting",
    [
        {"scale": "standard"},
        {"metric": "cosine"},
        {"n_neighbors": 7},
    ],
)
def test_what_makes_a_graph_is_refused_for_a_graph_that_is_given(setting):
    (name,) = setting
    with pytest.raises(ValueError, match=f"^{name}=.* is for making a graph from points"):
        COSC(affinity="precomputed", **setting).fit(np.ones((4, 4)))
