"""What an update does, checked by definition on small problems."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from tightcut import COSC, Constraints, Graph, InconsistentConstraintsError, KnnAffinity, cluster
from tightcut.fitted import Change, Changes
from tightcut.problem.objective import normalized_cut


def random_similarities(rng, n, k):
    truth = rng.integers(k, size=n)
    weights = rng.random((n, n)) * np.where(truth[:, None] == truth, 1.0, 0.2) * (rng.random((n, n)) < 0.6)
    weights = np.triu(weights, 1)
    return weights + weights.T


def line(**settings):
    return COSC(n_neighbors=3, random_state=0, **settings).fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])


@pytest.mark.parametrize("criterion", ["ncut", "rcut"])
@pytest.mark.parametrize("seed", range(12))
def test_a_new_point_goes_where_the_cut_is_smallest_among_the_clusters_that_take_it(seed, criterion):
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 5)), 15
    similarities = random_similarities(rng, n + 1, k)
    similarities[n, 0] = similarities[0, n] = 0.3
    model = COSC(k, affinity="precomputed", criterion=criterion, random_state=0)
    model.fit(similarities[:n, :n])
    others = rng.choice(n, 2, replace=False)
    forbidden = set(model.labels_[others].tolist())
    before = model.labels_.copy()
    if len(forbidden) == k:
        return
    model.update(similarities[n:], cannot_link=[(n, other) for other in others], keep="all")
    graph = Graph.from_affinity(similarities, "degree" if criterion == "ncut" else "ones")
    cuts = {c: normalized_cut(graph, np.append(before, c)) for c in range(k) if c not in forbidden}
    np.testing.assert_array_equal(model.labels_[:n], before)
    assert model.cut_ == pytest.approx(min(cuts.values()))
    assert model.labels_[n] in cuts


@pytest.mark.parametrize("seed", range(8))
def test_a_full_update_that_keeps_nothing_is_as_good_as_a_fit(seed):
    rng = np.random.default_rng(seed)
    similarities = random_similarities(rng, 24, 3)
    model = COSC(3, affinity="precomputed", random_state=0).fit(similarities[:20, :20])
    pairs = rng.choice(24, (3, 2), replace=False)
    model.update(similarities[20:], cannot_link=pairs, keep="none", full=True)
    fresh = cluster(Graph.from_affinity(similarities), Constraints.from_pairs(24, cannot_link=pairs), 3, random_state=0)
    assert model.cut_ <= fresh.cut * (1 + 1e-9)


def test_a_named_cluster_keeps_its_members_and_an_unnamed_one_need_not():
    similarities = np.zeros((7, 7))
    for i, j in [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]:
        similarities[i, j] = similarities[j, i] = 1.0
    similarities[2, 3] = similarities[3, 2] = 0.5
    # A new point pulls point 3 to the first cluster.
    similarities[6, :4] = similarities[:4, 6] = [3.0, 3.0, 3.0, 9.0]
    for keep, named, expected in [("named", True, 1), ("named", False, 0), ("none", True, 0), ("all", False, 1)]:
        model = COSC(2, affinity="precomputed", random_state=0).fit(similarities[:6, :6])
        assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
        if named:
            model.name(1, "Anna")
        model.update(similarities[6:], keep=keep)
        assert model.labels_[3] == expected, (keep, named)
        moved = [change for change in model.changes_ if change.kind == "moved"]
        if expected == 0:
            assert moved == [Change("moved", 0, 1, None, (3,), None)]
            assert moved[0].reason == "smaller cut"


def test_a_small_gain_moves_nothing_unless_nothing_is_kept():
    similarities = np.zeros((6, 6))
    for i, j, weight in [(0, 1, 4), (1, 2, 1.0), (2, 3, 1.05), (3, 4, 4)]:
        similarities[i, j] = similarities[j, i] = weight
    start = np.array([0, 0, 0, 1, 1])
    similarities[5, [2, 3]] = similarities[[2, 3], 5] = 0.01, 0.2
    changed = {}
    for keep in ("named", "none"):
        model = COSC(2, affinity="precomputed", effort=0, random_state=0).fit(similarities[:5, :5])
        model.labels_ = start.copy()
        model.update(similarities[5:], keep=keep)
        changed[keep] = bool((model.labels_[:5] != start).any())
    assert changed == {"named": False, "none": True}


def test_a_must_link_between_named_clusters_moves_the_smaller_set_and_says_why():
    model = line(n_clusters=2)
    model.name(0, "low")
    model.name(1, "high")
    model.update(must_link=[(4, 5)])
    model.update(must_link=[(0, 4)])
    assert model.labels_.tolist() == [1, 0, 0, 1, 1, 1]
    assert model.changes_.rows == (Change("moved", 1, 0, "high", (0,), ("must", 0, 4)),)
    frame = model.changes_.to_dataframe(ids=list("abcdef"))
    assert frame["reason"].tolist() == ["a must-link e"]
    assert frame["points"].tolist() == [["a"]]


def test_a_cluster_whose_points_must_be_elsewhere_ends_and_its_number_is_not_used_again():
    model = COSC(3, n_neighbors=3, random_state=0).fit(np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0], [20.0]]))
    alone = int(model.labels_[6])
    assert (model.labels_ == alone).sum() == 1
    model.name(alone, "alone")
    model.update(must_link=[(0, 1), (1, 6)], keep="all")
    assert alone not in model.labels_
    assert [change.kind for change in model.changes_] == ["merged"]
    assert (model.n_clusters_, model.names_) == (2, {})
    first, second = np.unique(model.labels_).tolist()
    pairs = [(3, np.flatnonzero(model.labels_ == c)[0]) for c in (first, second) if c != model.labels_[3]]
    same = int(np.flatnonzero((model.labels_ == model.labels_[3]) & (np.arange(7) != 3))[0])
    model.update(cannot_link=[*pairs, (3, same)], keep="all")
    assert set(model.labels_.tolist()) == {first, second, 3}
    (split,) = model.changes_
    assert split.kind == "split"
    assert "3" in split.reason


def test_partial_labels_and_groups_of_new_points_or_of_all():
    model = line(n_clusters=2)
    model.update([[0.5], [1.5], [5.5]], partial_labels=["a", "b", None])
    assert model.labels_[6] != model.labels_[7]
    model.update([[6.5]], cannot_link_groups=[1, -1, -1, -1, -1, -1, -1, -1, 1, -1])
    assert model.labels_[0] != model.labels_[8]
    assert model.constraints_.n_pairs == 2
    with pytest.raises(
        ValueError, match="partial_labels must have one entry per point, 11, or one per new point, 1; got 3"
    ):
        model.update([[6.5]], partial_labels=[1, 2, 3])


def test_a_new_class_needs_a_new_cluster():
    model = line(n_clusters=2)
    known = ["a", None, None, "b", None, None, "c", "c"]
    model.update([[3.4], [3.6]], partial_labels=iter(known))
    assert model.n_clusters_ == 3
    assert model.n_clusters_reason_ == "3 are left after an update; the fit had 2."
    assert model.labels_[6] == model.labels_[7] == 2
    assert model.changes_[0].kind == "born"
    assert model.changes_[0].constraint[0] == "cannot"
    assert model.predict([[3.5]]).tolist() == [2]


def test_others_make_room_before_a_cluster_is_born():
    # 0 and 1 are in one cluster; 0 cannot be with 4 either, which can be with anyone.
    model = line(n_clusters=2)
    model.update(cannot_link=[(0, 4)])
    model.update(cannot_link=[(0, 1), (1, 5)])
    assert model.n_clusters_ == 2
    assert model.n_violations_ == 0
    model = line(n_clusters=2)
    model.update(cannot_link=[(0, 4)])
    model.update(cannot_link=[(0, 1), (1, 5)], keep="all")
    assert model.n_clusters_ == 3


def test_one_cluster_is_split_by_a_cannot_link():
    model = line(n_clusters=1)
    model.update(cannot_link=[(0, 5)])
    assert model.n_clusters_ == 2
    assert model.labels_[0] != model.labels_[5]


def test_an_update_that_fails_leaves_everything_as_it_was():
    model = line(n_clusters=2).update([[0.5]], must_link=[(0, 6)])
    before = {name: repr(value) for name, value in vars(model).items()}
    with pytest.raises(InconsistentConstraintsError, match="0 must-link 6, but 6 cannot-link 0|contradict"):
        model.update([[7.5]], cannot_link=[(0, 6)])
    with pytest.raises(ValueError, match="features"):
        model.update([[7.5, 1.0]])
    with pytest.raises(ValueError, match="keep must be one of"):
        model.update([[7.5]], keep="some")
    with pytest.raises(TypeError, match="full must be True or False"):
        model.update([[7.5]], full=1)
    with pytest.raises(ValueError, match="must_link"):
        model.update([[7.5]], must_link=[(0, 99)])
    with pytest.raises(ValueError, match="NaN"):
        model.update([[np.nan]])
    assert {name: repr(value) for name, value in vars(model).items()} == before


def test_pairs_that_the_fit_gave_up_need_not_hold():
    X = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]
    torn = {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]}
    model = COSC(n_neighbors=3, random_state=0, max_violations="fewest").fit(X, **torn)
    assert model.n_violations_ == 1
    model.update([[0.5], [6.5]], cannot_link=[(6, 7)])
    assert model.n_violations_ == 1
    assert model.labels_[6] != model.labels_[7]


def test_weights_of_ones_own_come_with_new_points():
    X = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]
    model = COSC(n_neighbors=3, random_state=0).fit(X, vertex_weights=[1, 1, 1, 2, 2, 2])
    with pytest.raises(ValueError, match="give those of the new points"):
        model.update([[0.5]])
    with pytest.raises(ValueError, match="one entry per new point, 1"):
        model.update([[0.5]], vertex_weights=[1, 2])
    model.update([[0.5]], vertex_weights=[3])
    assert model.vertex_weights_.tolist() == [1, 1, 1, 2, 2, 2, 3]
    with pytest.raises(ValueError, match="vertex_weights are the weights of new points"):
        line(n_clusters=2).update([[0.5]], vertex_weights=[3])


def test_similarities_of_new_points():
    similarities = random_similarities(np.random.default_rng(0), 12, 2)
    model = COSC(affinity="precomputed", random_state=0).fit(similarities[:10, :10])
    with pytest.raises(ValueError, match=r"shape \(2, 12\); it has shape \(2, 10\)"):
        model.update(similarities[10:, :10])
    with pytest.raises(ValueError, match="Negative values"):
        model.update(-similarities[10:])
    crooked = similarities[10:].copy()
    crooked[0, 11] += 1
    with pytest.raises(ValueError, match="not symmetric"):
        model.update(crooked)
    model.update(sp.csr_array(similarities[10:]))
    assert model.affinity_matrix_.shape == (12, 12)
    assert len(model.predict(similarities)) == 12


def test_influence_moves_the_neighbours_of_a_cannot_link():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) + np.repeat([[0, 0], [3, 0], [30, 0]], 40, axis=0)
    moved = {}
    for influence in (0.0, 1.0):
        with pytest.warns(UserWarning, match="connected components"):
            model = COSC(
                2, influence=influence, affinity=KnnAffinity(symmetrize="maximum", diffusion=0), random_state=0
            ).fit(X)
        model.update(cannot_link=[(0, 79), (1, 78), (2, 77), (3, 76)])
        assert model.n_violations_ == 0
        moved[influence] = sum(len(change.points) for change in model.changes_)
    assert moved[1.0] > moved[0.0]


def test_updates_are_the_same_on_every_run_and_a_refit_begins_anew():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    results = []
    for _ in range(2):
        model = COSC(4, random_state=0).fit(X[:100])
        model.name(0, "Anna")
        model.update(X[100:], cannot_link=[(0, 1), (1, 2), (0, 2), (0, 101), (5, 110)], full=True)
        results.append(model.labels_)
    np.testing.assert_array_equal(*results)
    model.fit(X)
    assert (model.names_, model.changes_) == ({}, Changes())
    assert not hasattr(model, "hierarchy_")


def test_names_are_checked():
    model = line(n_clusters=2)
    model.name(0, "Anna")
    model.name(0, "Anne")
    assert model.names_ == {0: "Anne"}
    for cluster_id, name, message in [
        (2, "Eve", "no cluster 2; the clusters are 0, 1"),
        (True, "Eve", "no cluster True"),
        ("0", "Eve", "no cluster '0'"),
        (1, " ", "not empty"),
        (1, None, "not empty"),
        (1, "Anne", "Cluster 0 is named 'Anne' already"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.name(cluster_id, name)
    for use in (lambda: COSC().name(0, "Eve"), lambda: COSC().update([[0.0]]), lambda: COSC().save("x")):
        with pytest.raises(NotFittedError):
            use()


def test_points_that_stay_in_a_file_are_refused(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3))
    np.save(tmp_path / "X.npy", X)
    model = COSC(random_state=0).fit(np.load(tmp_path / "X.npy", mmap_mode="r"))
    with pytest.raises(ValueError, match="read from a file"):
        model.update(X[:3])


def test_clusters_keep_the_numbers_of_init():
    X = np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
    model = COSC(n_neighbors=3, random_state=0).fit(X, init=[9, 9, 9, 4, 4, 4])
    assert model.labels_.tolist() == [9, 9, 9, 4, 4, 4]
    assert model.update([[0.5]], cannot_link=[(0, 6), (3, 6)], keep="all").labels_[6] == 10
    assert COSC(3, n_neighbors=3, random_state=0).fit(X, init=[5, 5, 5, 1, 1, 1]).labels_.max() == 6
    assert COSC(n_neighbors=3, random_state=0).fit(X, init=list("bbbaaa")).labels_.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("settings", [{"scale": "quantile"}, {"affinity": KnnAffinity(learn_distances=True)}])
def test_points_are_scaled_once_and_seen_as_by_a_model_from_a_file(settings, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(90, 4))) * [1, 10, 100, 1000]
    model = COSC(3, random_state=0, **settings).fit(X[:70], must_link=[(0, 1), (2, 3), (4, 5)])
    model.save(tmp_path / "model.tcut")
    from tightcut.selection import FeatureMap

    rows, transform = [], FeatureMap.transform
    monkeypatch.setattr(
        FeatureMap, "transform", lambda view, points: rows.append(len(points)) or transform(view, points)
    )
    for start in (70, 80):
        model.update(X[start : start + 10])
    model.predict(X[:5])
    assert rows == [10, 10, 5]
    loaded = COSC.load(tmp_path / "model.tcut").update(X[70:80]).update(X[80:])
    assert abs(loaded.affinity_matrix_ - model.affinity_matrix_).max() < 1e-12
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
