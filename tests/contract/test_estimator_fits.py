"""What a fit of COSC does: constraints of all kinds, seeds, predictions, the choice of k, and a fit that raises."""

import warnings

import numpy as np
import pytest
from estimators import CANNOT, MUST, quick, same_partition
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from tightcut import COSC, Constraints, Graph, InconsistentConstraintsError, KnnAffinity, knn_affinity
from tightcut.problem.objective import normalized_cut


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
        constraints=Constraints.from_pairs(60, [(0, 7)], [(3, 9)], must_link_belief=0.5),
        must_link=[(0, 1)],
        must_link_belief=0.5,
        cannot_link=[(0, 2)],
        partial_labels=[0, 0] + [-1] * 58,
        cannot_link_groups=[-1, 5, -1, 5] + [-1] * 56,
    )
    assert model.constraints_.must_link.tolist() == [[0, 1], [0, 7]]
    assert model.constraints_.must_link_belief.tolist() == [1.0, 0.5]
    assert model.constraints_.cannot_link.tolist() == [[0, 2], [1, 3], [3, 9]]
    assert model.n_violations_ == 0
    with pytest.raises(ValueError, match="constraints must have one entry per sample, 60; got 5"):
        model.fit(X, constraints=Constraints.from_pairs(5))
    with pytest.raises(TypeError, match="must be a tightcut.Constraints; got list"):
        model.fit(X, constraints=[(0, 1)])


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


def test_audit_puts_the_wrong_pair_first():
    X, y = make_blobs(n_samples=60, centers=[[0, 0], [6, 0]], cluster_std=0.7, random_state=0)
    left, right = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    wrong = (int(left[0]), int(left[5]))
    model = COSC(random_state=0, effort=0.3, affinity=KnnAffinity(connect=False))
    model.fit(X, must_link=[(left[1], left[2])], cannot_link=[wrong, (left[3], right[3])])
    prices = model.audit(random_state=0)
    assert (prices[0].first, prices[0].second) == wrong
    assert prices[0].price > 0


def test_a_graph_with_more_arcs_than_the_search_counts_is_refused(monkeypatch):
    monkeypatch.setattr("tightcut.clustering.arguments.MOST_ARCS", 10)
    with pytest.raises(ValueError, match="The graph has 6 edges, and 5 is the most that is searched in memory"):
        COSC(affinity="precomputed").fit(np.ones((4, 4)))


def test_the_cluster_of_a_new_point_that_is_like_no_training_point_is_called_a_guess():
    model = COSC(affinity="precomputed", random_state=0).fit(np.kron(np.eye(2), np.ones((3, 3))) + 0.01)
    near = np.repeat([[1.0, 0.0]], 3, axis=1)
    assert model.predict(near) == model.labels_[0]
    with pytest.warns(UserWarning, match="Row 1 of X, as 2 of 3 rows in all, is like no training point"):
        model.predict(np.vstack([near, np.zeros((2, 6))]))


def test_shares_of_the_vote():
    """By hand: similarities to the three nearest, exp(-4 d^2 / sigma^2), add up to the shares; far points are named."""
    points = np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
    model = COSC(n_neighbors=3, random_state=0).fit(points)
    new = np.array([[1.5], [3.4], [6.0]])
    shares = model.predict_proba(new)
    for row, share in zip(new, shares, strict=True):
        distances = np.abs(points - row).ravel()
        near = np.argsort(distances)[:3]
        votes = np.bincount(model.labels_[near], np.exp(-4 * (distances[near] / distances[near].max()) ** 2), 2)
        np.testing.assert_allclose(share, votes / votes.sum())
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(new))
    with pytest.warns(UserWarning, match="Row 1 of X, as 1 of 2 rows in all, is far from all training points"):
        model.predict_proba([[1.5], [40.0]])
    precomputed = COSC(affinity="precomputed", random_state=0).fit(np.exp(-np.abs(points - points.T)))
    with pytest.warns(UserWarning, match="like no training point"):
        assert precomputed.predict_proba(np.zeros((1, 6))).tolist() == [[0.5, 0.5]]


def test_a_report_is_shown_in_a_notebook(tmp_path):
    model = COSC(n_neighbors=3, random_state=0).fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
    page = model.report(title='Six "points"')
    assert page.html.startswith("<!DOCTYPE html>") or page.html.lower().startswith("<!doctype html>")
    shown = page._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!')
    assert shown.count('"') == 6  # the page cannot end the attribute
    written = model.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == written.html
