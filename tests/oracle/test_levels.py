"""Graphs larger than the direct limit: starts joined by consensus, for any number of clusters and constraints."""

import importlib.util
import itertools
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs, make_moons
from sklearn.preprocessing import StandardScaler
from toys import nearest_neighbour_graph

from tightcut import Constraints, Graph, cluster, knn_affinity, pixel_affinity
from tightcut.datasets import sample_constraints
from tightcut.kernels import compiled, partition
from tightcut.kernels.arrays import tabulate
from tightcut.search import evolve as search
from tightcut.search import multilevel as levels_module
from tightcut.search import starts
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.k_way import ManyClusters, Prices, random_labels
from tightcut.search.multilevel import coarsen, coarsest
from tightcut.search.options import SearchOptions
from tightcut.search.signed_graph import PASSES, PATIENCE, SignedGraph
from tightcut.search.two_way import TwoClusters, reduce_to_units

OPTIONS = SearchOptions(n_jobs=1)


@pytest.fixture
def small_limit(monkeypatch):
    for kind in (TwoClusters, ManyClusters):
        monkeypatch.setattr(kind, "direct_limit", 60)


@pytest.fixture(scope="module")
def graph():
    return nearest_neighbour_graph(300)


@pytest.mark.slow
@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("k", [2, 3, 5])
def test_any_number_of_clusters(k, graph):
    pairs = Constraints.from_pairs(300, [(0, 1), (5, 9)], [(2, 3), (4, 7), (3, 12)])
    found = cluster(graph, pairs, k, random_state=0)
    assert found.n_violations == 0
    assert len(np.unique(found.labels)) == k
    for n_jobs in (1, 2, 4):
        again = cluster(graph, pairs, k, random_state=0, n_jobs=n_jobs)
        np.testing.assert_array_equal(found.labels, again.labels)


@pytest.mark.slow
@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("effort", [0, 1])
@pytest.mark.parametrize("k", [2, 3])
def test_never_worse_than_the_start(k, effort, graph):
    """Also with one start and no generation, where little else is found."""
    pairs = Constraints.from_pairs(300, [(0, 1), (5, 9)], [(2, 3), (4, 7), (3, 12)])
    start = cluster(graph, pairs, k, random_state=1, effort=5)
    found = cluster(graph, pairs, k, random_state=0, effort=effort, init=start.labels)
    assert found.n_violations == 0
    assert found.cut <= start.cut * (1 + 1e-9)


def two_clusters(graph):
    return TwoClusters(reduce_to_units(graph, Constraints.from_pairs(300, [(0, 1)], [(2, 3), (4, 7)])).small)


def four_clusters(graph):
    pairs = Constraints.from_pairs(300, cannot_link=[(2, 3), (4, 7)])
    return ManyClusters.of(ConstrainedGraph.from_graph(graph, pairs), 4)


def random_state(problem, rng):
    if isinstance(problem, TwoClusters):
        return rng.choice(np.array([-1, 1], np.int8), problem.size)
    return rng.permutation(np.arange(problem.size) % 4).astype(np.int32)


@pytest.mark.parametrize("make", [two_clusters, four_clusters])
def test_every_level_keeps_the_score_and_refinement_only_improves_it(make, graph):
    rng = np.random.default_rng(0)
    problem = make(graph)
    if isinstance(problem, ManyClusters):  # refinement goes by the low price, and so must the score
        price = problem.prices.low
        problem = ManyClusters(problem.graph, 4, Prices(price, price))
    levels = coarsen(problem, 20, rng)
    assert len(levels) >= 3
    small = coarsest(problem, levels)
    state = random_state(small, rng)
    score, _ = small.judge(state)
    finer = [problem, *(level.small for level in levels[:-1])]
    for fine, level in zip(finer[::-1], levels[::-1], strict=True):
        np.testing.assert_array_equal(level.project(level.lift(state)), state)
        state = level.lift(state)
        assert fine.judge(state)[0] == pytest.approx(score)
        fine.refine(state)
        assert fine.judge(state)[0] <= score * (1 + 1e-9)
        score, _ = fine.judge(state)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", [two_clusters, four_clusters])
def test_joined_solutions_are_at_least_as_good_as_each_of_them(make, seed, graph):
    rng = np.random.default_rng(seed)
    problem = make(graph)
    starts = [search.improve(problem, random_state(problem, rng)) for _ in range(3)]
    joined = search.join(problem, rng, OPTIONS, starts)
    assert joined[0][0] <= min(score for score, _ in starts)
    assert joined[0][0] == pytest.approx(problem.judge(joined[0][1])[0])


@pytest.mark.parametrize(("n_labellings", "k"), [(1, 2), (3, 4), (12, 3), (12, 10**6)])
def test_regions_of_agreement_are_the_components_of_the_edges_inside_them(n_labellings, k, graph):
    """Also of more combinations of labels than 64 bits can tell apart."""
    rng = np.random.default_rng(k)
    blocks = np.arange(300) // 20
    population = [rng.integers(k, size=15)[blocks].astype(np.int32) for _ in range(n_labellings)]
    found = ConstrainedGraph.from_graph(graph, Constraints.from_pairs(300)).consensus(population)
    inside = graph.weights.toarray() > 0
    for labels in population:
        inside &= labels[:, None] == labels
    _, expected = sp.csgraph.connected_components(inside)
    np.testing.assert_array_equal(found[:, None] == found, expected[:, None] == expected)
    np.testing.assert_array_equal(np.unique(found), np.arange(found.max() + 1))


def test_solutions_that_agree_are_left_alone():
    """Connected regions of agreement leave nothing to join."""
    ring = Graph.from_affinity(np.roll(np.eye(30), 1, axis=0) + np.roll(np.eye(30), -1, axis=0))
    halves = np.where(np.arange(30) < 15, 1, -1).astype(np.int8)
    population = [(0.1, halves)]
    problem = TwoClusters(SignedGraph.from_graph(ring))
    assert search.join(problem, np.random.default_rng(0), OPTIONS, population) == population
    whole = ConstrainedGraph.from_graph(ring, Constraints.from_pairs(30))
    thirds = [(0.2, (np.arange(30) // 10).astype(np.int32))]
    assert search.join(ManyClusters.of(whole, 3), np.random.default_rng(0), OPTIONS, thirds) == thirds


class MadeUp:
    """Batches whose solutions have given scores."""

    def __init__(self, scores):
        self._scores, self.made, self.begun = scores, [], []

    def __call__(self, *_):
        return self

    def __len__(self):
        return len(self._scores)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def begin(self, number):
        self.begun.append(number)

    def solutions(self, number, keep, _options):
        assert keep == search.STARTS_KEPT
        self.made.append(number)
        return [(score, np.zeros(1)) for score in self._scores[number]]


@pytest.fixture
def made_up(monkeypatch, graph):
    """Batches of given scores in place of real ones, with other parts of a search in place of its own."""

    def put(scores, *, given=(), effort=1.0, progress=None, **parts):
        batches = MadeUp(scores)
        for name, part in (parts | {"Batches": batches}).items():
            monkeypatch.setattr(search, name, part)
        problem = TwoClusters(SignedGraph.from_graph(graph))
        options = SearchOptions(effort, n_jobs=1, progress=progress)
        return batches, search._search_in_batches(problem, np.random.default_rng(0), options, list(given))

    return put


def by_score(_, __, ___, population, *_most, **_options):
    return sorted(population, key=lambda one: one[0])


def test_batches_are_joined_with_the_best_so_far(made_up):
    joined, reported = [], []

    def join(_, __, ___, population, **_options):
        joined.append(len(population))
        return by_score(_, __, ___, population)

    batches, best = made_up(
        [(5, 9), (3, 8), (4, 7), (2, 9)], progress=lambda *call: reported.append(call), join=join, v_cycles=by_score
    )
    assert batches.made == [0, 1, 2, 3]
    assert batches.begun == [1]
    assert joined == [2, 4, 6, 6]
    assert best[0][0] == 2
    generations = 4 * SearchOptions().generations
    assert reported == [("join", generations, generations, 2)]


def test_an_interrupt_does_not_wait_for_starts_that_other_threads_make(graph, monkeypatch):
    begun, release, made = threading.Event(), threading.Event(), []

    def start(_own, _rng):
        begun.set()
        made.append(release.wait(5))

    monkeypatch.setattr(starts.Coarsening, "_start", start)
    problem = ManyClusters.of(ConstrainedGraph.from_graph(graph, Constraints.from_pairs(graph.n_vertices)), 3)

    def interrupted():
        with starts.Batches(problem, np.random.default_rng(0), SearchOptions(n_jobs=2)) as batches:
            batches.begin(0)
            assert begun.wait(30)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert made == []
    release.set()


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
@pytest.mark.parametrize("very_large", [False, True])
def test_batches_are_the_same_whoever_makes_them(n_jobs, very_large, graph, monkeypatch):
    """One after the other, the second ahead, or all at once where there are threads for them."""
    if very_large:
        monkeypatch.setattr(levels_module, "SKIPPED_LIMIT", 50)
    problem = ManyClusters.of(ConstrainedGraph.from_graph(graph, Constraints.from_pairs(graph.n_vertices)), 3)
    monkeypatch.setattr(ManyClusters, "middle", lambda _, large: 60)  # noqa: ARG005
    reported = []

    def made(n_jobs, progress=None):
        options = SearchOptions(n_jobs=n_jobs, progress=progress)
        with starts.Batches(problem, np.random.default_rng(4), options) as batches:
            assert len(batches) == 4
            batches.begin(1)
            return [batches.solutions(number, 2, options) for number in range(3)]

    found, expected = made(n_jobs, lambda *call: reported.append(call)), made(1)
    for own, others in zip(found, expected, strict=True):
        assert len(own) >= 2
        assert [score for score, _ in own] == [score for score, _ in others]
        for (_, state), (_, other) in zip(own, others, strict=True):
            np.testing.assert_array_equal(state, other)
    for stage, done, total, best in reported:
        assert stage in ("start", "refine")
        assert 1 <= done <= total
        assert best > 0
    assert {"start"} <= {stage for stage, *_ in reported}


@pytest.mark.parametrize(
    ("scores", "effort", "n_batches"),
    [
        ([(5, 5.1), (4, 4.1), (4, 4.2), (3, 3.1)], 1, 3),  # the third gains nothing
        ([(5, 5.1), (4, 9), (4, 9), (3, 3.1)], 1, 4),  # starts differ
        ([(5, 5.1), (4, 4.1), (4, 4.2), (3, 3.1)], 2, 4),  # who asks for more gets all
        ([(0, 0), (0, 0), (0, 0), (0, 0)], 1, 1),
    ],
)
def test_batches_end_where_starts_agree_and_gain_nothing(scores, effort, n_batches, made_up):
    joins = []

    def join(_, __, ___, population, **_options):  # finds a little below the best, twice
        joins.append(len(population))
        return sorted((0.99 * score if len(joins) < 3 else score, state) for score, state in population)

    batches, _ = made_up(scores, effort=effort, join=join, v_cycles=by_score)
    assert len(batches.made) == n_batches


@pytest.mark.parametrize(
    ("last", "effort", "cycles"),
    [
        (0.9, 1, [1, 1, search.LIMITS.cycles]),
        (0.9995, 1, [1, 1]),  # a cycle came before, and next to nothing has changed since
        (0.9995, 2, [search.LIMITS.cycles]),  # none came before
    ],
)
def test_cycles_end_a_search_unless_one_has_just_been_made(last, effort, cycles, made_up):
    made, joins = [], []

    def join(_, __, ___, population, **_options):
        joins.append(last if len(joins) == 2 else 0.9)
        return [(joins[-1] * min(score for score, _ in population), np.zeros(1))]

    def v_cycles(_, __, ___, population, most=search.LIMITS.cycles):
        made.append(most)
        return population

    made_up([(1.0, 1.0), (0.9, 0.9), (0.9, 0.9)], effort=effort, join=join, v_cycles=v_cycles)
    assert made == cycles


@pytest.mark.parametrize(
    ("second", "effort", "expected"),
    [
        ((4, 4.1), 1, [True, False, False]),  # alike: their clusters are the same
        ((4, 9), 1, [True, True, False]),
        ((4, 4.1), 2, [True, True, True]),  # who asks for more gets all
    ],
)
def test_whole_clusters_are_exchanged_at_first_and_where_starts_differ(second, effort, expected, made_up):
    exchanged = []

    def join(_, __, ___, population, *, exchange):
        exchanged.append(exchange)
        return [(0.9 * min(score for score, _ in population), np.zeros(1))]

    made_up([(5, 5.1), second, (3.9, 3.95)], effort=effort, join=join, v_cycles=by_score)
    assert exchanged == expected


@pytest.mark.parametrize(
    ("joined", "gain", "effort", "n_batches"),
    [
        (0.9, 0.02, 1, 2),  # the cycle gains more than many batches would: one more is the last
        (0.9, 0.005, 1, 4),
        (0.9, 0.02, 2, 4),  # who asks for more gets all
        (0.5, 0.02, 1, 4),  # starts that are joined to so much less have found different clusters
    ],
)
def test_batches_end_where_a_cycle_gains_more(joined, gain, effort, n_batches, made_up):
    def join(_, __, ___, population, **_options):
        return [(joined * min(score for score, _ in population), np.zeros(1))]

    def v_cycles(_, __, ___, population, *_most):
        return [((1 - gain) * population[0][0], np.zeros(1))]

    batches, _ = made_up([(0.8**number,) * 2 for number in range(4)], effort=effort, join=join, v_cycles=v_cycles)
    assert len(batches.made) == n_batches


@pytest.mark.parametrize(("given", "improves"), [(2.9, True), (3.1, False)])
def test_given_states_are_improved_where_they_can_come_near(given, improves, made_up):
    """A state that a colouring has given is far from every start; it is kept all the same."""
    improved, joined = [], []

    def improve(_, state):
        improved.append(state)
        return [(given / 2, state)]

    def join(_, __, ___, population, **_options):
        joined.append([score for score, _ in population])
        return by_score(_, __, ___, population)

    made_up([(1.0, 1.5)] * 4, given=[(given, np.ones(1))], _improved=improve, join=join, v_cycles=by_score)
    assert len(improved) == improves
    assert sorted(joined[0]) == sorted([1.0, 1.5, given / 2 if improves else given])


def test_a_solution_far_from_the_best_is_kept_but_not_joined(graph, monkeypatch):
    """A colouring that was found without a look at the edges agrees with the others on nothing."""
    problem = ManyClusters.of(ConstrainedGraph.from_graph(graph, Constraints.from_pairs(graph.n_vertices)), 3)
    rng = np.random.default_rng(0)
    good = [search.improve(problem, problem.start(np.random.default_rng(seed))[1]) for seed in range(3)]
    noise = problem.judge(random_labels(problem.size, problem.k, rng))
    assert noise[0] > search.LIMITS.close * min(good)[0]
    agreed = []
    agreement = ManyClusters.agreement
    monkeypatch.setattr(
        ManyClusters, "agreement", lambda self, states: agreed.append(len(states)) or agreement(self, states)
    )
    distinct = search.select(problem, good)
    found = search.join(problem, rng, SearchOptions(n_jobs=1), [noise, *good], exchange=False)
    assert agreed[0] == len(distinct)
    assert found[0][0] <= distinct[0][0]
    assert noise[0] in [score for score, _ in found]


def test_starts_are_compared_by_their_cut_where_they_violate_pairs():
    """Two blocks of two vertices and a cannot-link inside one: the natural cut comes before one that obeys the pair."""
    weights = np.array([[0, 1, 0.01, 0], [1, 0, 0, 0.01], [0.01, 0, 0, 1], [0, 0.01, 1, 0]])
    pairs = Constraints.from_pairs(4, cannot_link=[(0, 1)])
    problem = ManyClusters.of(ConstrainedGraph.from_graph(Graph.from_affinity(weights), pairs), 2, Prices(0.1, 100.0))
    natural, obedient = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 1, 1], np.int32)
    assert problem.compare(natural)[0] < problem.compare(obedient)[0]
    assert problem.judge(natural)[0] > problem.judge(obedient)[0]


def test_a_unit_too_heavy_to_be_matched_does_not_keep_its_neighbours_from_matching():
    """A star of strong edges around a heavy vertex, whose leaves are joined in pairs by weak ones."""
    leaves = 20
    weights = np.zeros((leaves + 1, leaves + 1))
    weights[0, 1:] = weights[1:, 0] = 100
    for leaf in range(1, leaves, 2):
        weights[leaf, leaf + 1] = weights[leaf + 1, leaf] = 1
    graph = Graph.from_affinity(weights, np.append(1000.0, np.ones(leaves)))
    unit, _ = SignedGraph.from_graph(graph).matching(np.arange(leaves + 1, dtype=np.int32), 10.0)
    assert unit.max() == leaves // 2
    assert (unit[1::2] == unit[2::2]).all()


def test_two_halves_with_weak_edges_between_them_are_not_merged():
    """A grid of strong edges, with weak ones along a line: coarsening keeps to the two sides of it."""
    image = np.zeros((30, 40))
    image[:, 20:] = 1
    weights = pixel_affinity(image, contrast=0.3)
    weights.data *= np.random.default_rng(0).uniform(0.3, 1, weights.nnz)
    weights = sp.csr_array(weights.maximum(weights.T))
    problem = TwoClusters(SignedGraph.from_graph(Graph.from_affinity(weights)))
    truth = np.where(image.ravel() > 0, 1, -1).astype(np.int8)
    spins = truth
    for level in coarsen(problem, 40, np.random.default_rng(1)):
        spins = level.project(spins)
        assert level.small.judge(spins)[0] == pytest.approx(problem.judge(truth)[0], rel=1e-9)


@pytest.mark.slow
def test_the_outline_in_a_large_image():
    """The image of the how-to on scribbles: 76,800 pixels, no stroke. The search once ended at four times the outline."""
    row, column = np.mgrid[:240, :320]
    disc = np.hypot(row - 112, column - 136) < 64
    image = 0.35 * disc + np.random.default_rng(0).normal(0.3, 0.08, disc.shape)
    graph = Graph.from_affinity(pixel_affinity(image))
    outline = TwoClusters(SignedGraph.from_graph(graph)).judge(np.where(disc.ravel(), 1, -1).astype(np.int8))[0]
    assert cluster(graph, random_state=0, effort=0.3).cut < outline


@pytest.fixture
def small_middle(monkeypatch):
    for kind in (TwoClusters, ManyClusters):
        monkeypatch.setattr(kind, "middle", lambda self, *, large: 40)  # noqa: ARG005


@pytest.mark.parametrize("make", [two_clusters, four_clusters])
def test_matched_units_are_together_in_the_state(make, graph):
    rng = np.random.default_rng(0)
    problem = make(graph)
    state = search.improve(problem, random_state(problem, rng))[1]
    level = problem.matched(1e9, rng, state)
    assert level.small.size < 0.7 * problem.size
    small = level.project(state)
    np.testing.assert_array_equal(level.lift(small), state)
    assert level.small.judge(small)[0] == pytest.approx(problem.judge(state)[0])


def test_nothing_is_matched_where_no_edge_stays_within_a_cluster():
    ring = Graph.from_affinity(np.roll(np.eye(30), 1, axis=0) + np.roll(np.eye(30), -1, axis=0))
    whole = ConstrainedGraph.from_graph(ring, Constraints.from_pairs(30))
    labels = (np.arange(30) % 3).astype(np.int32)
    assert ManyClusters.of(whole, 3).matched(1e9, np.random.default_rng(0), labels) is None
    spins = np.where(np.arange(30) % 2, 1, -1).astype(np.int8)
    assert TwoClusters(SignedGraph.from_graph(ring)).matched(1e9, np.random.default_rng(0), spins) is None


@pytest.mark.usefixtures("small_middle")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [two_clusters, four_clusters])
def test_a_cycle_is_never_worse(make, seed, graph):
    rng = np.random.default_rng(seed)
    problem = make(graph)
    before, state = search.improve(problem, random_state(problem, rng))
    given = state.copy()
    score, found = search.v_cycle(problem.at_full_price(), state, rng)
    assert score <= before * (1 + 1e-9)
    assert score == pytest.approx(problem.judge(found)[0])
    np.testing.assert_array_equal(state, given)


@pytest.mark.slow
@pytest.mark.usefixtures("small_limit")
def test_cannot_links_between_all_points_of_three_groups(graph):
    groups = np.arange(300).reshape(3, 100)
    apart = [pair for left, right in itertools.combinations(groups, 2) for pair in itertools.product(left, right)]
    found = cluster(graph, Constraints.from_pairs(300, cannot_link=apart), 3, random_state=0)
    assert found.n_violations == 0
    np.testing.assert_array_equal(found.labels, np.arange(300) // 100)


@pytest.mark.parametrize("k", [2, 3])
def test_skipped_levels_keep_states_and_scores(k, graph, monkeypatch):
    pairs = Constraints.from_pairs(300, cannot_link=[(2, 3), (4, 7), (3, 12)])
    if k == 2:
        problem = TwoClusters(reduce_to_units(graph, pairs).small)
    else:
        problem = ManyClusters.of(ConstrainedGraph.from_graph(graph, pairs), k)
    every = coarsen(problem, 20, np.random.default_rng(0))
    monkeypatch.setattr(levels_module, "SKIPPED_LIMIT", 60)
    levels = coarsen(problem, 20, np.random.default_rng(0))
    assert len(levels) < len(every)
    larger = problem
    for level in levels:
        state = level.small.start(np.random.default_rng(1))[1]
        lifted = level.lift(state)
        np.testing.assert_array_equal(level.project(lifted), state)
        assert larger.judge(lifted)[0] == pytest.approx(level.small.judge(state)[0])
        larger = level.small


@pytest.mark.slow
@pytest.mark.usefixtures("small_limit")
def test_skipped_levels_give_the_same_labels_on_any_number_of_threads(graph, monkeypatch):
    monkeypatch.setattr(levels_module, "SKIPPED_LIMIT", 60)
    pairs = Constraints.from_pairs(300, [(0, 1), (5, 9)], [(2, 3), (4, 7), (3, 12)])
    found = [cluster(graph, pairs, 3, random_state=0, n_jobs=n_jobs) for n_jobs in (1, 2, 4)]
    assert found[0].n_violations == 0
    for other in found[1:]:
        np.testing.assert_array_equal(other.labels, found[0].labels)


def bundled(name):
    """Points and classes that come with scikit-learn, 2000 or fewer."""
    if name == "moons":
        return make_moons(2000, noise=0.12, random_state=0)
    if name == "blobs":
        return make_blobs(2000, centers=5, n_features=4, cluster_std=2.2, random_state=0)
    data = load_digits() if name == "digits" else load_breast_cancer()
    return StandardScaler().fit_transform(data.data), data.target


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "k"), [("moons", 2), ("breast_cancer", 2), ("blobs", 5), ("digits", 10)])
def test_joining_costs_at_most_two_percent_of_the_cut(name, k, seed, monkeypatch):
    """Against generations in the graph itself."""
    X, y = bundled(name)
    graph = Graph.from_affinity(knn_affinity(X, connect=False))
    constraints = sample_constraints(y, len(y) // 50, random_state=seed)
    stages, cuts = [set(), set()], []
    for limit, seen in zip((len(y), 0), stages, strict=True):
        for kind in (TwoClusters, ManyClusters):
            monkeypatch.setattr(kind, "direct_limit", limit)
        found = cluster(graph, constraints, k, random_state=seed, progress=lambda *call, seen=seen: seen.add(call[0]))
        assert found.n_violations == 0
        cuts.append(found.cut)
    assert stages[1] - stages[0] >= {"refine", "join"}
    direct, joined = cuts
    assert joined <= 1.02 * direct


def groups_apart(m, k, seed=0):
    """Three groups of m points without any structure, all pairs within a group kept apart, and labels drawn at random."""
    rng = np.random.default_rng(seed)
    graph = Graph.from_affinity(knn_affinity(rng.normal(size=(3 * m, 2)), n_neighbors=6))
    pairs = Constraints.from_groups(np.repeat(np.arange(3), m))
    labels = rng.permutation(np.arange(3 * m) % k).astype(np.int32)
    return ConstrainedGraph.from_graph(graph, pairs), labels


@pytest.fixture
def plain_partition(monkeypatch):
    """The kernel as Python runs it, in which calls can be counted."""
    spec = importlib.util.spec_from_file_location("plain_partition", partition.__file__)
    module = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as patch:
        for name in ("compiled", "compiled_inline"):
            patch.setattr(compiled, name, lambda function: function)
        spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:divide by zero")  # a bound for the last vertex of a cluster, which cannot move
@pytest.mark.parametrize("k", [8, 60])
def test_tables_are_kept_where_relations_outnumber_edges(plain_partition, monkeypatch, k):
    """With 8 clusters the kernel keeps tables, with 60 they would be larger than the graph; a point has 39 relations."""
    filled = []
    monkeypatch.setattr(plain_partition, "tabulate", lambda *arguments: filled.append(tabulate(*arguments)))
    graph, labels = groups_apart(40, k)
    before = labels.copy()
    plain_partition.refine_partition(*graph.arrays, 0.1, labels, k, 20, 3)
    assert (labels != before).any()
    assert bool(filled) == (k == 8)


@pytest.mark.parametrize("k", [2, 3, 8, 24])
@pytest.mark.parametrize("seed", range(5))
def test_refinement_beside_many_relations_never_raises_what_it_minimises(k, seed):
    """With tables (few clusters) and without; single moves lower the result at most a little."""
    graph, labels = groups_apart(12, k, seed)
    for price in (0.0, 0.05, 0.5, 1e6):
        found = labels.copy()
        graph.refine(found, k, price)
        objective = graph.cut(found, k) + price * graph.violated(found)
        assert objective <= (graph.cut(labels, k) + price * graph.violated(labels)) * (1 + 1e-12)
        assert set(found) == set(range(k))
        singles = []
        for v, c in itertools.product(range(len(found)), range(k)):
            moved = found.copy()
            moved[v] = c
            if len(set(moved)) == k:
                singles.append(graph.cut(moved, k) + price * graph.violated(moved))
        assert min(singles) >= objective * (1 - 1e-9)


def test_tables_lead_to_the_same_labels(plain_partition, monkeypatch):
    """Rows that are added up when they are needed hold the same numbers as tables that are kept up to date."""
    graph, labels = groups_apart(10, 3)
    kept, added = labels.copy(), labels.copy()
    graph.refine(kept, 3, 0.1)
    monkeypatch.setattr(plain_partition, "_ties", fresh_ties(plain_partition._ties))
    plain_partition.refine_partition(*graph.arrays, 0.1, added, 3, PATIENCE, PASSES)
    np.testing.assert_array_equal(kept, added)


def fresh_ties(ties):
    def look(v, graph, labels, towards, clash):
        single = np.empty((1, towards.shape[1])), np.empty((1, towards.shape[1]))
        ties(v, graph, labels, *single)
        np.testing.assert_allclose([towards[v], clash[v]], [single[0][0], single[1][0]], atol=1e-9)
        return ties(v, graph, labels, towards, clash)

    return look
