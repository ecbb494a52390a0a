"""More than two clusters against all partitions of small constrained graphs, and what the search promises."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from strategies import random_graph, random_pairs, random_problem
from toys import (
    assert_clustering,
    cliques,
    k_partition_table,
    nearest_neighbour_graph,
    partitions_into,
    refines,
    same_partition,
)

from tightcut import Constraints, Graph, InconsistentConstraintsError, cluster, kernels, knn_affinity
from tightcut.search import exchange
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.exchange import resplit_pairs, split_and_merge
from tightcut.search.k_way import Prices

HARD, SOFT, TORN = 80, 25, 50  # problems for each k


def solve_by_hand(graph, constraints, k, limit=0.0):
    """Smallest multi-cut within the limit (infinite if there is none), and the least violated belief."""
    cut, violated = k_partition_table(graph, constraints, partitions_into(graph.n_vertices, k))
    return float(cut[violated <= limit + 1e-12].min(initial=np.inf)), float(violated.min())


def within(cut, optimum, tolerance=0.0):
    return cut <= optimum * (1 + tolerance + 1e-9) + 1e-12


def test_the_table_of_partitions_is_complete():
    stirling = {(4, 3): 6, (8, 3): 966, (8, 4): 1701, (9, 3): 3025}
    for (n, k), count in stirling.items():
        rows = partitions_into(n, k)
        assert len(rows) == len(np.unique(rows, axis=0)) == count


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 4])
def test_hard_constraints_hold_whenever_possible_and_the_cut_is_almost_always_optimal(k):
    missed, solved, impossible, disconnected = [], 0, 0, 0
    for seed in range(HARD):
        graph, constraints = random_problem(seed, k, planted=seed % 2 == 0)
        optimum, _ = solve_by_hand(graph, constraints, k)
        if optimum == np.inf:
            impossible += 1
            with pytest.raises(InconsistentConstraintsError) as caught:
                cluster(graph, constraints, k, random_state=0)
            assert caught.value.proven, f"seed {seed}"
            continue
        solved += 1
        disconnected += graph.components()[0] > 1
        found = cluster(graph, constraints, k, random_state=0)
        assert_clustering(graph, constraints, found, k)
        assert found.n_violations == 0, f"seed {seed}"
        assert within(optimum, found.cut), f"seed {seed}: no partition is that good"
        if not within(found.cut, optimum):
            missed.append((seed, found.cut / optimum))
    assert min(solved - 60, impossible - 5, disconnected - 15) >= 0, "the sample must hold all kinds of problems"
    assert len(missed) <= 0.05 * solved, f"of {solved}, missed (seed, ratio): {missed}"


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("k", [3, 4])
def test_soft_constraints_stay_within_the_limit(k, limit):
    missed, solved, bought, impossible = [], 0, 0, 0
    for seed in range(SOFT):
        graph, constraints = random_problem(1000 + seed, k, planted=seed % 3 == 0, min_pairs=6)
        feasible, _ = solve_by_hand(graph, constraints, k)
        optimum, least = solve_by_hand(graph, constraints, k, limit)
        quick = {"effort": 0.3, "random_state": 0}
        if optimum == np.inf:
            impossible += 1
            with pytest.raises(InconsistentConstraintsError) as caught:
                cluster(graph, constraints, k, max_violations=limit, **quick)
            assert constraints.violations(caught.value.best_labels).belief >= least
            continue
        found = cluster(graph, constraints, k, max_violations=limit, **quick)
        assert_clustering(graph, constraints, found, k)
        assert found.violations.belief <= limit, f"seed {seed}"
        assert within(optimum, found.cut), f"seed {seed}: no partition is that good"
        assert within(found.cut, feasible), f"seed {seed}: worse than with every constraint satisfied"
        solved += 1
        bought += optimum < feasible * (1 - 1e-9)
        if not within(found.cut, optimum):
            missed.append((seed, found.cut / optimum))
    assert min(solved - 18, bought - 8) >= 0, "the sample must hold all kinds of problems"
    assert len(missed) <= 0.25 * solved, f"of {solved}, missed (seed, ratio): {missed}"


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 4])
def test_a_limit_that_allows_everything_gives_the_unconstrained_cut(k):
    missed = []
    for seed in range(20):
        graph, constraints = random_problem(4000 + seed, k, planted=True, min_pairs=6)
        optimum, _ = solve_by_hand(graph, Constraints.from_pairs(graph.n_vertices), k)
        everything = float(constraints.n_pairs)
        found = cluster(graph, constraints, k, max_violations=everything, random_state=0)
        if not within(found.cut, optimum):
            missed.append((seed, found.cut / optimum))
    assert len(missed) <= 1, f"of 20, missed (seed, ratio): {missed}"


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 4])
def test_inconsistent_constraints_are_violated_as_little_as_possible(k):
    missed, solved = [], 0
    for seed in range(TORN):
        torn = {"beliefs": True, "contradiction": seed % 3 == 0, "min_pairs": 8}
        graph, constraints = random_problem(2000 + seed, k, planted=False, **torn)
        _, least = solve_by_hand(graph, constraints, k)
        found = cluster(graph, constraints, k, max_violations="fewest", random_state=0)
        assert_clustering(graph, constraints, found, k)
        assert found.violations.belief >= least - 1e-9
        solved += least > 0
        if found.violations.belief > least + 1e-9:
            missed.append((seed, found.violations.belief, least))
    assert solved >= 20, "the sample must hold contradictions"
    assert len(missed) <= 0.1 * solved, f"of {solved}, missed (seed, found, least): {missed}"


@pytest.mark.parametrize(("seed", "least"), [(0, 6), (1, 3), (2, 5)])
def test_the_fewest_violations_of_many_wrong_pairs(seed, least):
    """Iris with 200 pairs, a fifth of them wrong. The least numbers were proven by an exact solver, OR-tools' CP-SAT."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 150, (400, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:200]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    same = np.where(rng.random(200) < 0.2, ~same, same)
    constraints = Constraints.from_pairs(150, pairs[same], pairs[~same])
    graph = Graph.from_affinity(knn_affinity(X, connect=False))
    for max_violations in ("fewest", least):
        found = cluster(graph, constraints, 3, max_violations=max_violations, effort=0.5, random_state=0)
        assert found.n_violations == least
    with pytest.raises(InconsistentConstraintsError) as caught:
        cluster(graph, constraints, 3, max_violations=least - 1, effort=0.2, random_state=0)
    assert (caught.value.reason, caught.value.needed) == ("limit", least)


def test_soft_where_consistent_satisfies_everything():
    for seed in range(15):
        graph, constraints = random_problem(3000 + seed, 3, planted=True)
        soft = cluster(graph, constraints, 3, max_violations="fewest", random_state=0)
        assert soft.n_violations == 0
        assert soft.cut == pytest.approx(cluster(graph, constraints, 3, random_state=0).cut)


@pytest.mark.slow
@pytest.mark.parametrize(("must", "cannot"), [(1.0, 1.0), (0.3, 1.0), (1.0, 0.3)])
def test_a_pair_that_is_must_link_and_cannot_link_at_once(must, cannot):
    graph = nearest_neighbour_graph(20)
    torn = Constraints.from_pairs(20, [(0, 1)], [(0, 1)], must, cannot)
    with pytest.raises(InconsistentConstraintsError) as caught:
        cluster(graph, torn, 3, random_state=0)
    assert caught.value.proven
    assert sorted(kind for kind, _, _ in caught.value.witness) == ["cannot", "must"]
    least = min(must, cannot)
    for options in ({"max_violations": "fewest"}, {"max_violations": least}):
        found = cluster(graph, torn, 3, random_state=0, effort=0, **options)
        assert_clustering(graph, torn, found, 3)
        assert found.violations.belief == least
    # Whichever of the two is violated, it is more than this limit allows.
    with pytest.raises(InconsistentConstraintsError):
        cluster(graph, torn, 3, max_violations=least / 2, random_state=0, effort=0)


def labelled_problem(seed=0, n=120, k=4, n_pairs=60):
    """A nearest-neighbour graph with pairs from a clustering by stripes, which the graph does not suggest."""
    graph = nearest_neighbour_graph(n, seed)
    truth = np.arange(n) % k
    rng = np.random.default_rng(seed)
    return graph, Constraints.from_pairs(n, *random_pairs(rng, n, n_pairs, truth)), truth


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"influence": 1}, {"max_violations": 3}, {"max_violations": "fewest"}, {"method": "paper"}]
)
def test_same_seed_same_labels_for_any_number_of_threads(options):
    graph, constraints, _ = labelled_problem()
    quick = {"effort": 0.2, "random_state": 7}
    runs = [cluster(graph, constraints, 4, n_jobs=jobs, **quick, **options) for jobs in (None, 1, 2)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.labels, runs[0].labels)
        assert run.cut == runs[0].cut
        assert (run.hierarchy is None) == ("method" not in options)
        for one, other in zip(run.hierarchy or (), runs[0].hierarchy or (), strict=True):
            np.testing.assert_array_equal(one, other)


def test_generators_are_accepted_and_input_is_left_alone():
    graph, constraints, truth = labelled_problem(n=40, n_pairs=15)
    before = graph.weights.toarray(), constraints.must_link.copy(), constraints.cannot_link.copy(), truth.copy()
    for make in (np.random.default_rng, np.random.RandomState):
        first, second = (cluster(graph, constraints, 4, random_state=make(5), effort=0.2, init=truth) for _ in range(2))
        np.testing.assert_array_equal(first.labels, second.labels)
    after = graph.weights.toarray(), constraints.must_link, constraints.cannot_link, truth
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"max_violations": 1}, {"max_violations": "fewest"}])
def test_init_is_improved_or_kept(options):
    for seed in range(6):
        graph, constraints, truth = labelled_problem(seed, n=60, k=3, n_pairs=20)
        lazy = {"effort": 0, "random_state": 0}
        start = cluster(graph, constraints, 3, effort=1, random_state=seed).labels
        for init in (truth, start, np.array(["a", "b", "c"])[start]):
            found = cluster(graph, constraints, 3, init=init, **lazy, **options)
            _, codes = np.unique(init, return_inverse=True)
            assert_clustering(graph, constraints, found, 3, by_appearance=False)
            assert found.violations.belief <= (1 if options.get("max_violations") == 1 else 0)
            assert within(found.cut, cluster_cut(graph, codes))


def cluster_cut(graph, labels):
    return ConstrainedGraph.from_graph(graph, Constraints.from_pairs(len(labels))).cut(labels, int(labels.max()) + 1)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"max_violations": 1}, {"max_violations": "fewest"}])
def test_init_with_fewer_clusters_is_filled_up(options):
    graph, constraints, truth = labelled_problem(n=40, n_pairs=10)
    for init in (np.zeros(40, int), truth // 2):
        found = cluster(graph, constraints, 4, init=init, random_state=0, effort=0, **options)
        assert_clustering(graph, constraints, found, 4, by_appearance=False)


@pytest.mark.parametrize("options", [{}, {"max_violations": 1}, {"max_violations": "fewest"}])
def test_init_with_more_clusters_is_refused(options):
    with pytest.raises(ValueError, match="init has 40 clusters, more than n_clusters=3"):
        cluster(nearest_neighbour_graph(40), None, 3, init=np.arange(40), random_state=0, effort=0, **options)


@pytest.mark.parametrize("unknown", [np.nan, None])
def test_init_without_a_label_is_refused(unknown):
    with pytest.raises(ValueError, match="init row 2 has no label; give every point a cluster"):
        cluster(nearest_neighbour_graph(40), None, 3, init=[0, 1, unknown, *[0] * 37])


FORBIDDEN = Prices(low=1.0, full=1000.0)


def classic_mistake(size=6, between=0.05):
    """Three classes, all weakly joined; one is cut in two while the other two share a cluster."""
    n = 3 * size
    affinity = cliques(size, size, size) + between * (1 - np.eye(n)) * (cliques(size, size, size) == 0)
    truth = np.repeat([0, 1, 2], size)
    mistake = np.where(truth == 0, np.arange(n) % 2, 2).astype(np.int32)
    return Graph.from_affinity(affinity), truth, mistake


def test_split_and_merge_repairs_the_mistake_of_recursion():
    graph, truth, mistake = classic_mistake()
    plain = ConstrainedGraph.from_graph(graph, Constraints.from_pairs(18))
    before = mistake.copy()
    found = split_and_merge(plain, mistake, 3, np.random.default_rng(0), FORBIDDEN.penalty)
    assert same_partition(found, truth)
    np.testing.assert_array_equal(mistake, before)
    assert split_and_merge(plain, truth.astype(np.int32), 3, np.random.default_rng(0), FORBIDDEN.penalty) is None


@pytest.mark.parametrize("seed", range(5))
def test_the_part_of_a_graph_among_some_vertices(seed):
    rng = np.random.default_rng(seed)
    weights = nearest_neighbour_graph(40, seed).weights
    members = np.flatnonzero(rng.random(40) < 0.5)
    part = exchange._among(weights, members)
    assert part.has_sorted_indices
    np.testing.assert_array_equal(part.toarray(), weights.toarray()[np.ix_(members, members)])


def test_split_and_merge_does_not_join_what_is_apart_nor_split_what_is_together():
    graph, _, mistake = classic_mistake()
    for constraints in (Constraints.from_pairs(18, cannot_link=[(0, 1)]), Constraints.from_pairs(18, [(6, 17)])):
        relations = ConstrainedGraph.from_graph(graph, constraints)
        found = split_and_merge(relations, mistake, 3, np.random.default_rng(0), FORBIDDEN.penalty)
        assert found is None or relations.violated(found) == 0


def test_split_and_merge_weighs_relations_by_their_price():
    """A cannot-link between the halves of a class forbids their merger, a share of one makes it dearer, an allowance free."""
    graph, truth, mistake = classic_mistake()
    for share, prices, repaired in (
        (1, FORBIDDEN, False),
        (1e-6, FORBIDDEN, True),
        (1e-6, replace(FORBIDDEN, full=1e7), False),
        (1, replace(FORBIDDEN, allowance=1.0), True),
    ):
        relations = ConstrainedGraph.from_graph(graph, Constraints.from_pairs(18, cannot_link=[(0, 1)]))
        relations = replace(relations, relations=share * relations.relations)
        found = split_and_merge(relations, mistake, 3, np.random.default_rng(0), prices.penalty)
        assert (found is not None and same_partition(found, truth)) == repaired


def test_split_and_merge_separates_what_is_apart_though_the_cut_is_larger():
    """Two classes that are one clique, and a class in two halves: only the relations ask for another clustering."""
    affinity = cliques(6, 12) + 0.3 * (1 - np.eye(18)) * (cliques(6, 12) == 0)
    halves = np.where(np.arange(18) < 6, np.arange(18) % 2, 2).astype(np.int32)
    apart = Constraints.from_pairs(18, cannot_link=[(i, j) for i in range(6, 12) for j in range(12, 18)])
    relations = ConstrainedGraph.from_graph(Graph.from_affinity(affinity), apart)
    found = split_and_merge(relations, halves, 3, np.random.default_rng(0), FORBIDDEN.penalty)
    assert relations.violated(found) < relations.violated(halves)
    before, after = (
        relations.cut(labels, 3) + FORBIDDEN.full * relations.violated(labels) for labels in (halves, found)
    )
    assert after < before


def test_cluster_escapes_from_the_mistake_of_recursion():
    graph, truth, mistake = classic_mistake()
    found = cluster(graph, None, 3, init=mistake, effort=0.1, random_state=0)
    assert same_partition(found.labels, truth)


def satisfied_pairs(constraints, labels):
    must, cannot = constraints.must_link, constraints.cannot_link
    return np.append(labels[must[:, 0]] == labels[must[:, 1]], labels[cannot[:, 0]] != labels[cannot[:, 1]])


@pytest.mark.slow
@pytest.mark.parametrize("move", [resplit_pairs, split_and_merge])
def test_moves_between_clusters_never_raise_what_they_minimise(move):
    """The cut plus the price of what is violated; to split two clusters again never violates more."""
    changed, settings = 0, () if move is resplit_pairs else (FORBIDDEN.penalty,)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(6, 40)), int(rng.integers(3, 6))
        graph = random_graph(rng, n, rng.choice([0.1, 0.3]), ["degree", "ones"][seed % 2])
        constraints = Constraints.from_pairs(n, *random_pairs(rng, n, int(rng.integers(0, n // 2))))
        relations = ConstrainedGraph.from_graph(graph, constraints)
        labels = rng.permutation(np.arange(n) % k).astype(np.int32)
        before = labels.copy()
        found = move(relations, labels, k, rng, *settings)
        np.testing.assert_array_equal(labels, before)
        if found is None:
            continue
        assert set(found.tolist()) == set(range(k))
        score, old = (relations.cut(one, k) + FORBIDDEN.full * relations.violated(one) for one in (found, labels))
        assert within(score, old)
        assert relations.violated(found) <= relations.violated(labels) + 1e-9
        if move is resplit_pairs:
            assert within(relations.cut(found, k), relations.cut(labels, k))
            assert (satisfied_pairs(constraints, found) >= satisfied_pairs(constraints, labels)).all(), f"seed {seed}"
        changed += not same_partition(found, labels)
    assert changed >= 20


def test_recursion_allows_only_the_violations_of_the_uniform_model():
    graph, constraints, _ = labelled_problem(n=60, k=4, n_pairs=40)
    found = cluster(graph, constraints, 4, method="paper", effort=0.2, random_state=0)
    allowed = (4 - 2) / 4 * constraints.n_cannot_link
    first = constraints.violations(found.hierarchy[0])
    assert len(first.must_link) == 0
    assert len(first.cannot_link) <= allowed
    for coarse, fine in itertools.pairwise(found.hierarchy):
        assert refines(fine, coarse)
        assert len(constraints.violations(fine).cannot_link) <= len(constraints.violations(coarse).cannot_link)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_agglomeration_takes_the_best_merge_every_time(seed):
    """Small integer weights: many changes are equal, and the first pair of clusters is taken then."""
    rng = np.random.default_rng(seed)
    m, price = int(rng.integers(4, 25)), rng.choice([0.0, 0.5])
    k = int(rng.integers(1, m))
    upper = np.triu(rng.integers(0, 3, (m, m)), 1).astype(float)
    apart = np.triu(rng.integers(-1, 2, (m, m)) * (rng.random((m, m)) < 0.2), 1).astype(float)
    joint, relation = upper + upper.T, apart + apart.T
    volume = rng.integers(1, 4, m).astype(float)
    clusters = [[v] for v in range(m)]

    def ratio(members):
        outside = np.setdiff1d(np.arange(m), members)
        return joint[np.ix_(members, outside)].sum() / volume[members].sum()

    while len(clusters) > k:
        changes = {
            (i, j): ratio(a + b) - ratio(a) - ratio(b) + price * relation[np.ix_(a, b)].sum()
            for (i, a), (j, b) in itertools.combinations(enumerate(clusters), 2)
        }
        least = min(changes.values())
        i, j = next(pair for pair, change in changes.items() if change < least + 1e-12)
        clusters[i] = clusters[i] + clusters.pop(j)
    expected = np.empty(m, int)
    for members in clusters:
        expected[members] = min(members)
    labels = kernels.agglomerate(joint.copy(), joint.sum(axis=1), volume.copy(), relation.copy(), price, k)
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("seed", range(30))
def test_two_small_clusters_get_the_best_of_all_splits(seed):
    """As good as any split that keeps the relations that hold, and none at all where the present one is the best."""
    graph, constraints = random_problem(seed, 3, planted=seed % 2 == 0)
    whole = ConstrainedGraph.from_graph(graph, constraints)
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(whole.n_vertices) % 3).astype(np.int32)
    members = np.flatnonzero(labels < 2)
    held = satisfied_pairs(constraints, labels)
    cuts = []
    for sides in itertools.product((0, 1), repeat=len(members)):
        other = labels.copy()
        other[members] = sides
        if 0 < sum(sides) < len(members) and satisfied_pairs(constraints, other)[held].all():
            cuts.append(whole.cut(other, 3))
    side = exchange.best_of_all_splits(whole, labels, members)
    split = labels.copy()
    if side is not None:
        split[members] = np.where(side, 0, 1)
    assert satisfied_pairs(constraints, split)[held].all()
    np.testing.assert_allclose(whole.cut(split, 3), min(cuts), rtol=1e-12, atol=1e-15)
    assert (side is None) == (whole.cut(labels, 3) <= min(cuts) * (1 + 1e-12))


@pytest.mark.parametrize("k", [12, 22, 23])
def test_almost_as_many_clusters_as_points_need_hardly_a_search(monkeypatch, k):
    """Of two clusters with few points there are few splits: a search for each two of them would be one for each edge."""
    searches = []
    search = exchange.search
    monkeypatch.setattr(exchange, "search", lambda *a, **b: searches.append(a) or search(*a, **b))
    rng = np.random.default_rng(0)
    points = rng.normal(size=(24, 2))
    graph = Graph.from_affinity(np.exp(-((points[:, None] - points) ** 2).sum(axis=2)) - np.eye(24))
    pairs = Constraints.from_pairs(24, [(0, 1)], [(1, 2), (2, 3)])
    found = cluster(graph, pairs, k, max_violations=1, effort=0.1, random_state=0, n_jobs=1)
    assert_clustering(graph, pairs, found, k)
    assert len(searches) < 20 * k
