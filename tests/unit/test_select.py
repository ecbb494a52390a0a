"""What a fit chooses for itself: scales, pairs held out, and the decision."""

from dataclasses import asdict, fields, replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata
from sklearn.datasets import make_blobs

from tightcut import COSC, Constraints, Graph, InconsistentConstraintsError, KnnAffinity, knn_affinity
from tightcut.clustering.cluster import solve
from tightcut.datasets import sample_constraints
from tightcut.neighbors import KnnSettings, check_points, find_neighbors
from tightcut.neighbors.diffusion import diffused
from tightcut.selection import Setting, Similarities, TuningProblem, fit_scale, judge_columns, probe, select
from tightcut.selection.graph_config import PAPER
from tightcut.selection.held_out import Fold, HeldOut, hold_out
from tightcut.selection.probe import Trials, trial_options
from tightcut.selection.select import compare_candidates
from tightcut.selection.sources import PointSource

POINTS = np.random.default_rng(0).normal(size=(200, 4))
APART = KnnAffinity(connect=False)


def arguments(setting):
    """Those of `COSC` for some attributes of a `Setting`."""
    of_graph = {field.name for field in fields(KnnAffinity)}
    graph = {name: value for name, value in setting.items() if name in of_graph}
    return {name: value for name, value in setting.items() if name not in of_graph} | {"affinity": KnnAffinity(**graph)}


def mixed_units(n=240, seed=0):
    """Three clusters in five columns whose units differ by up to a million, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = 2.5 * rng.normal(size=(3, 5))[y] + rng.normal(size=(n, 5))
    return X * [1e-3, 1.0, 1.0, 30.0, 1e3], y


# --------------------------------------------------------------------------------------------------------------- scales


def test_standard_is_mean_0_and_variance_1_and_leaves_constant_columns_at_0():
    X = np.column_stack([POINTS * [1, 10, 100, 0.1] + 7, np.full(200, 3.0)])
    scaled = fit_scale(X, "standard").transform(X)
    np.testing.assert_allclose(scaled[:, :4], (X[:, :4] - X[:, :4].mean(0)) / X[:, :4].std(0), rtol=1e-9, atol=1e-12)
    assert (scaled[:, 4] == 0).all()


def test_quantiles_are_ranks_with_ties_in_the_middle():
    X = np.round(POINTS, 1)
    ranks = np.apply_along_axis(rankdata, 0, X)
    np.testing.assert_allclose(fit_scale(X, "quantile").transform(X), (ranks - 0.5) / len(X))


@pytest.mark.parametrize("name", ["standard", "quantile"])
def test_new_points_are_scaled_like_those_of_the_fit(name):
    scale = fit_scale(POINTS, name)
    np.testing.assert_array_equal(scale.transform(POINTS[5:9]), scale.transform(POINTS)[5:9])
    far = scale.transform(np.full((1, 4), 1e9))
    assert (far == 1).all() if name == "quantile" else (far > 1e8).all()


@pytest.mark.parametrize(
    ("dtype", "scaled"), [(np.float64, np.float64), (np.float32, np.float32), (np.uint8, np.float32)]
)
@pytest.mark.parametrize("name", ["standard", "quantile"])
def test_types_of_scaled_points(name, dtype, scaled):
    X = (40 * np.abs(POINTS)).astype(dtype)
    assert fit_scale(X, name).transform(X).dtype == scaled


@pytest.mark.parametrize("name", ["standard", "quantile"])
def test_points_in_a_file_come_back_in_a_file_with_the_same_values(tmp_path, name, monkeypatch):
    monkeypatch.setattr("tightcut.selection.scale.BLOCK_ENTRIES", 64)
    np.save(tmp_path / "points.npy", POINTS)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    scaled = fit_scale(mapped, name).transform(mapped)
    assert isinstance(scaled, np.memmap)
    np.testing.assert_allclose(scaled, fit_scale(POINTS, name).transform(POINTS), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("X", "scale"),
    [
        (mixed_units()[0], "quantile"),
        (np.column_stack([POINTS[:, 0] * 12, np.exp(3 * POINTS[:, 1] + 9)]), "quantile"),
        (POINTS, "none"),
        (POINTS * [1, 2, 3, 5], "none"),
        (np.repeat(POINTS, 16, axis=1) * np.linspace(0.01, 1, 64), "none"),  # pixels: dark at one border
        (make_blobs(90, centers=[[0, 0], [9, 0]], cluster_std=0.5, random_state=0)[0], "none"),
        ((100 * np.abs(POINTS) * [1, 0.001, 0.001, 0.001]).astype(np.uint8), "none"),
        (np.ones((5, 3)), "none"),
        (POINTS[:, :1], "none"),
        (sp.csr_array(mixed_units()[0]), "none"),
        (1e140 * mixed_units()[0], "quantile"),
    ],
)
def test_columns_are_scaled_where_units_differ(X, scale):
    assert judge_columns(check_points(X))[0] == scale


# ------------------------------------------------------------------------------------------------------- pairs held out


@pytest.mark.parametrize("n_pairs", [12, 60, 200, 600])
@pytest.mark.parametrize("seed", range(3))
def test_no_chain_of_known_pairs_joins_the_points_of_a_pair_that_is_asked_about(n_pairs, seed):
    y = np.random.default_rng(seed).integers(0, 3, 100)
    constraints = sample_constraints(y, n_pairs, random_state=seed)
    held = hold_out(constraints, np.random.default_rng(seed))
    asked = np.concatenate([fold.asked for fold in held.folds])
    assert len(np.unique(asked)) == len(asked)
    for fold in held.folds:
        links = np.concatenate([fold.known.must_link, fold.known.cannot_link])
        graph = sp.csr_array((np.ones(len(links)), tuple(links.T)), shape=(100, 100))
        part = connected_components(graph, directed=False)[1]
        i, j = held.pairs[fold.asked].T
        assert (part[i] != part[j]).all()
    assert held.weight[held.must].sum() == pytest.approx(0.5)
    assert held.weight[~held.must].sum() == pytest.approx(0.5)


def test_of_known_classes_points_are_held_out_with_all_their_pairs():
    labels = np.full(80, -1)
    labels[:40] = np.arange(40) % 3
    held = hold_out(Constraints.from_labels(labels), np.random.default_rng(0))
    assert held.n_must > 15
    assert held.n_cannot > 15
    for fold in held.folds:
        known = np.unique(np.concatenate([fold.known.must_link, fold.known.cannot_link]))
        assert not np.isin(held.pairs[fold.asked], known).all(axis=1).any()


def test_scores_weigh_both_kinds_alike_and_the_truth_has_1():
    y = np.arange(60) % 3
    held = hold_out(sample_constraints(y, 50, random_state=0), np.random.default_rng(0))
    agrees, alone = np.zeros(len(held.pairs)), np.zeros(len(held.pairs))
    for fold in held.folds:
        agrees[fold.asked] = held.agreement(fold, y)
        alone[fold.asked] = held.agreement(fold, np.arange(60))  # every point on its own: all cannot-links right
    assert held.score(agrees) == pytest.approx(1)
    assert held.score(alone) == pytest.approx(0.5)
    gain, error = held.compare(agrees, alone)
    assert gain == pytest.approx(0.5)
    assert 0 < error < 0.3
    assert held.compare(agrees, agrees) == (0, 0)


# -------------------------------------------------------------------------------------------------------------- graphs


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_diffused_graph_is_the_walk_of_its_steps(steps):
    affinity = knn_affinity(POINTS[:40], 5)
    W = affinity.toarray()
    lazy = (np.eye(40) + W / W.sum(axis=1, keepdims=True)) / 2
    walk = np.linalg.matrix_power(lazy, steps)
    np.fill_diagonal(walk, 0)
    expected = (walk + walk.T) / 2
    np.testing.assert_allclose(diffused(affinity, steps, largest=40).toarray(), expected, atol=1e-15)
    few = diffused(affinity, steps, largest=3).toarray()
    assert (np.count_nonzero(few, axis=1) >= np.minimum(3, np.count_nonzero(walk, axis=1))).all()
    assert few.max(axis=1) == pytest.approx(expected.max(axis=1), rel=0.5)
    assert diffused(affinity, 0) is affinity


@pytest.mark.filterwarnings("ignore:.*connected components:UserWarning")
def test_a_connected_graph_stays_connected():
    X = np.concatenate([POINTS[:60], POINTS[:60] + 100])
    graph = diffused(knn_affinity(X, 8), 3, largest=8)
    assert connected_components(graph, directed=False)[0] == 1
    assert abs(graph - graph.T).max() < 1e-15


@pytest.mark.parametrize("fewer", [1, 4, 10])
def test_lists_of_many_neighbours_give_the_graph_of_fewer(fewer):
    points = check_points(POINTS)
    graph = find_neighbors(points, KnnSettings(10)).graph(KnnSettings(fewer, symmetrize="mean", diffusion=2))
    expected = knn_affinity(POINTS, fewer, symmetrize="mean", diffusion=2)
    assert abs(graph.affinity - expected).max() == 0


# ------------------------------------------------------------------------------------------------------------ the choice


def test_without_pairs_the_columns_alone_decide():
    X, _ = mixed_units()
    choice = COSC(3, effort=0.1, random_state=0).fit(X).choice_
    assert choice.setting == Setting(scale="quantile")
    assert choice.candidates == ()
    assert "units differ" in choice.reason
    assert 'scale="none" leaves them as they are' in choice.reason
    assert "No pairs were given" in choice.reason


def test_with_few_pairs_the_defaults_stay_and_it_says_so():
    X, y = mixed_units()
    choice = COSC(3, effort=0.1, random_state=0).fit(X, constraints=sample_constraints(y, 12, random_state=0)).choice_
    assert choice.setting == Setting(scale="quantile")
    assert "too few pairs to choose by" in choice.reason


def test_without_effort_the_columns_alone_decide():
    X, y = mixed_units()
    choice = COSC(3, effort=0, random_state=0).fit(X, constraints=sample_constraints(y, 120, random_state=0)).choice_
    assert choice.setting == Setting("quantile")
    assert choice.candidates == ()
    assert "effort=0" in choice.reason


def test_what_was_given_is_counted_and_not_what_it_implies():
    X, _ = mixed_units()
    known = Constraints.from_pairs(len(X), [(0, 1), (1, 2), (2, 3)], [(0, 50), (1, 50), (2, 50), (3, 51)])
    choice = COSC(3, effort=0.1, random_state=0).fit(X, constraints=known).choice_
    assert "too few pairs to choose by (3 must-links and 4 cannot-links; 15 of each" in choice.reason
    labels = np.full(80, -1)
    labels[:40] = np.arange(40) % 3
    classes = Constraints.from_labels(labels)
    held = hold_out(classes, np.random.default_rng(0))
    assert held.n_must + held.n_cannot > 10 * classes.n_pairs
    assert held.in_words == f"{classes.n_pairs} pairs, held out with what they imply,"
    pairs = hold_out(sample_constraints(np.arange(100) % 3, 60, random_state=0), np.random.default_rng(0))
    assert pairs.in_words == f"{pairs.n_must + pairs.n_cannot} held-out pairs"


@pytest.mark.slow
def test_pairs_overrule_the_columns_where_these_are_wrong():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    # Alike in their deviations by accident, but only small differences within the first column tell the classes.
    X = np.column_stack([y + rng.normal(size=200) / 8, rng.normal(size=(200, 3)) * 3])
    model = COSC(2, effort=0.1, random_state=0).fit(X, constraints=sample_constraints(y, 120, random_state=0))
    choice = model.choice_
    assert choice.setting != Setting()
    assert choice.candidates[0].setting == Setting()
    assert choice.candidates[0].gain == 0
    best = max(choice.candidates, key=lambda one: one.gain)
    assert best.gain > best.standard_error > 0
    assert choice.setting == best.setting
    assert "more than the default" in choice.reason
    frame = choice.to_dataframe()
    assert frame["chosen"].sum() == 1
    assert len(frame) == len(choice.candidates)
    assert_three_scales_and_learned_distances_for_the_best(choice)


def assert_three_scales_and_learned_distances_for_the_best(choice):
    plain = [one for one in choice.candidates if not one.setting.learn_distances]
    learned = {one.setting.scale for one in choice.candidates if one.setting.learn_distances}
    assert sorted(one.setting.scale for one in plain) == ["none", "quantile", "standard"]
    best = max(plain, key=lambda one: one.gain)
    assert learned == {plain[0].setting.scale, best.setting.scale}


def test_where_the_default_errs_nowhere_no_other_candidate_is_tried():
    X, y = make_blobs(120, centers=[[0, 0], [30, 0]], random_state=0)
    pairs = sample_constraints(y, 120, random_state=0)
    (only,) = COSC(2, effort=0.1, random_state=0, affinity=APART).fit(X, constraints=pairs).choice_.candidates
    assert only.setting == Setting()
    assert only.agreement == pytest.approx(1)


class CannedTrials:
    """Trials that agree with a given share of the 20 pairs of each of four folds."""

    def __init__(self, shares):
        constraints = Constraints.from_pairs(160, [(i, i + 1) for i in range(0, 160, 2)])
        folds = tuple(Fold(constraints, np.arange(20) + start) for start in range(0, 80, 20))
        self.held = HeldOut(constraints.must_link, np.ones(80, bool), np.arange(80), np.full(80, 1 / 80), 80, 0, folds)
        self.shares, self.asked = shares, []

    def agreements(self, searches, n_searches=1, n_folds=4):
        self.asked.append(([setting.scale for setting, _ in searches], n_searches, n_folds))
        agrees = np.zeros((len(searches), 80))
        for row, (setting, _) in zip(agrees, searches, strict=True):
            for fold in self.held.folds[:n_folds]:
                row[fold.asked[: round(20 * self.shares[setting.scale])]] = 1
        return agrees


def test_candidates_that_are_not_ahead_drop_out_and_those_ahead_are_compared_again():
    trials = CannedTrials({"none": 0.5, "standard": 0.4, "quantile": 0.9})
    settings = [Setting("standard"), Setting("quantile")]
    tried = compare_candidates(trials, Setting("none"), settings, 2, learnable=False)
    both, one = ["none", "standard", "quantile"], ["none", "quantile"]
    assert trials.asked == [(["none"], 1, 4), (both, 1, 2), (one, 1, 3), (one, 1, 4), (one, 2, 4), (one, 3, 4)]
    assert [score.agreement for score in tried] == pytest.approx([0.5, 0.4, 0.9])
    assert [score.gain for score in tried] == pytest.approx([0, -0.1, 0.4])
    slightly = CannedTrials({"none": 0.5, "standard": 0.5, "quantile": 0.55})
    assert compare_candidates(slightly, Setting("none"), settings, 2, learnable=False)[2].gain == pytest.approx(0.05)


def test_no_trial_is_made_twice(monkeypatch):
    searched = []
    monkeypatch.setattr(probe, "_labels", lambda *problem, **_: searched.append(problem) or np.zeros(240))
    X, y = mixed_units()
    source = PointSource(check_points(X), KnnSettings())
    known = sample_constraints(y, 90, random_state=0)
    trials = Trials(TuningProblem(source, known, 0), hold_out(known, np.random.default_rng(0)), seed=0)
    one, two = (Setting(learn_distances=True), 3), (Setting(scale="standard"), 3)
    once = trials.agreements([one], n_folds=2)
    assert len(searched) == 2
    assert (once[:, trials.held.folds[2].asked] == 0).all()
    first = trials.agreements([one, two])
    assert len(searched) == 8
    np.testing.assert_array_equal(trials.agreements([two, one], 1)[::-1], first)
    trials.agreements([one, one], 2)
    assert len(searched) == 12


def test_standardised_columns_are_not_scaled_again():
    y = np.arange(150) % 2
    X = POINTS[:150] + 0.4 * y[:, None] * [1, -1, 1, -1]
    X = fit_scale(X, "standard").transform(X)
    known = sample_constraints(y, 150, random_state=0)
    tried = COSC(2, effort=0.1, random_state=0, affinity=APART).fit(X, constraints=known).choice_.candidates
    assert [one.setting.scale for one in tried if not one.setting.learn_distances] == ["none", "quantile"]
    scaled_up = COSC(2, effort=0.1, random_state=0, affinity=APART).fit(X * [1, 1, 1, 2], constraints=known)
    assert "standard" in [one.setting.scale for one in scaled_up.choice_.candidates]


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        {"scale": "none"},
        {"scale": "standard", "learn_distances": True},
        {"n_neighbors": 4, "symmetrize": "maximum", "diffusion": 0},
        {"influence": 2},
        asdict(PAPER),
    ],
)
def test_what_is_given_is_taken(given):
    X, y = mixed_units()
    known = sample_constraints(y, 90, random_state=0)
    choice = COSC(3, effort=0.1, random_state=0, **arguments(given)).fit(X, constraints=known).choice_
    assert {name: getattr(choice.setting, name) for name in given} == given
    for candidate in choice.candidates:
        assert {name: getattr(candidate.setting, name) for name in given} == given
    if given.keys() == {field.name for field in fields(Setting)}:
        assert choice.candidates == ()


def test_the_papers_method_takes_the_papers_settings():
    X, _ = mixed_units(60)
    model = COSC(2, method="paper", effort=0.1, random_state=0).fit(X, cannot_link=[(0, 1)])
    assert model.choice_.setting == PAPER
    assert abs(model.affinity_matrix_ - knn_affinity(X)).max() == 0


@pytest.mark.slow
def test_the_choice_depends_on_the_seed_alone():
    X, y = mixed_units()
    known = sample_constraints(y, 90, random_state=0)
    one, two = (COSC(3, effort=0.1, random_state=0, n_jobs=n_jobs).fit(X, constraints=known) for n_jobs in (1, 2))
    assert one.choice_ == two.choice_
    np.testing.assert_array_equal(one.labels_, two.labels_)


@pytest.mark.slow
def test_new_points_see_the_distances_of_the_fit():
    X, y = mixed_units()
    known = sample_constraints(y, 120, random_state=0)
    for settings in ({}, {"learn_distances": True}, {"scale": "standard"}):
        model = COSC(3, effort=0.1, random_state=0, **arguments(settings)).fit(X, constraints=known)
        assert np.mean(model.predict(X) == model.labels_) > 0.97
        new, classes = mixed_units(300)
        assert np.mean(model.predict(new[240:]) == model.labels_[classes[240:]]) > 0.9


@pytest.mark.slow
def test_many_clusters_have_influence_unless_neighbours_tell_nothing():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 5
    known = sample_constraints(y, 120, random_state=0)
    quick = {"n_clusters": 5, "effort": 0.1, "random_state": 0} | arguments({"scale": "none", "learn_distances": False})
    clear = 4 * rng.normal(size=(5, 4))[y] + rng.normal(size=(200, 4))
    noise = rng.normal(size=(200, 4))
    assert COSC(**quick).fit(clear, constraints=known).choice_.setting.influence == 1
    choice = COSC(**quick).fit(noise, constraints=known).choice_
    assert choice.setting.influence == 0
    assert "hardly more than chance" in choice.reason
    assert COSC(**quick, influence=0.5).fit(noise, constraints=known).choice_.setting.influence == 0.5


@pytest.mark.slow
def test_contradictory_pairs_are_refused_by_the_fit_not_by_the_choice():
    X, y = mixed_units()
    known = sample_constraints(y, 90, random_state=0)
    i, j = known.must_link[0]
    with pytest.raises(InconsistentConstraintsError):
        COSC(3, effort=0.1, random_state=0).fit(X, constraints=known, cannot_link=[(i, j)])
    model = COSC(3, effort=0.1, random_state=0, max_violations=1).fit(X, constraints=known, cannot_link=[(i, j)])
    assert model.n_violations_ <= 1


@pytest.mark.slow
def test_known_classes_choose_too():
    X, y = mixed_units()
    labels = np.where(np.arange(len(y)) < 60, y, -1)
    choice = COSC(3, effort=0.1, random_state=0).fit(X, partial_labels=labels).choice_
    assert_three_scales_and_learned_distances_for_the_best(choice)


@pytest.mark.slow
def test_many_points_are_compared_on_a_sample(monkeypatch):
    monkeypatch.setattr(select, "THRESHOLDS", replace(select.THRESHOLDS, points=100))
    X, y = mixed_units()
    known = sample_constraints(y, 150, random_state=0)
    model = COSC(3, effort=0.1, random_state=0).fit(X, constraints=known)
    assert_three_scales_and_learned_distances_for_the_best(model.choice_)
    assert len(model.labels_) == 240
    assert model.n_violations_ == 0


@pytest.mark.parametrize(("k", "influence"), [(2, 0.0), (2, 1.0), (3, 0.0), (5, 1.0)])
def test_trials_satisfy_what_is_known(k, influence):
    y = np.arange(120) % k
    X = np.random.default_rng(0).normal(size=(120, 3)) + y[:, None]
    known = sample_constraints(y, 60, random_state=0)
    graph, options, rng = Graph.from_affinity(knn_affinity(X)), trial_options(0, influence), np.random.default_rng(0)
    labels = solve(graph, known, k, options, options.of_search(None), rng).labels
    assert np.unique(labels).tolist() == list(range(k))
    assert (labels[known.must_link[:, 0]] == labels[known.must_link[:, 1]]).all()
    assert (labels[known.cannot_link[:, 0]] != labels[known.cannot_link[:, 1]]).all()


def test_a_sample_keeps_chains_of_pairs_whole():
    pairs = np.random.default_rng(0).permutation(1000)[:400].reshape(-1, 2)
    known = Constraints.from_pairs(1000, must_link=pairs[:80], cannot_link=pairs[80:])
    problem = TuningProblem(Similarities(sp.eye_array(1000, format="csr")), known, 2, np.arange(1, 1001))
    small = problem.sample(np.random.default_rng(1), 100)
    assert small.constraints.n_pairs == 50
    assert len(np.unique(np.concatenate([small.constraints.must_link, small.constraints.cannot_link]))) == 100
    assert len(small.vertex_weights) == small.source.n_points == 100
    most = problem.sample(np.random.default_rng(1), 700)
    assert most.constraints.n_pairs == 200
    assert problem.sample(np.random.default_rng(1), 1000) is problem


def test_verbose_says_what_was_chosen(capsys):
    X, _ = mixed_units()
    COSC(3, effort=0.1, random_state=0, verbose=1).fit(X)
    assert "units differ" in capsys.readouterr().err


def test_a_given_graph_is_taken_as_it_is():
    X, y = mixed_units()
    affinity = knn_affinity(X)
    known = sample_constraints(y, 90, random_state=0)
    model = COSC(3, affinity="precomputed", effort=0.1, random_state=0).fit(affinity, constraints=known)
    assert abs(model.affinity_matrix_ - affinity).max() == 0
    assert model.choice_.candidates == ()


def test_pairs_that_contradict_each_other_can_be_violated_with_everything_chosen():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = COSC(2, max_violations="fewest", random_state=0)
    model.fit(X, must_link=[(0, 1)], cannot_link=[(0, 1), (5, 45)])
    assert model.n_violations_ == 1
