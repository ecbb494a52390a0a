"""Cannot-link graphs whose chromatic number is known: clusters without violation, or a proof that there are none.

A k-clustering that satisfies all cannot-links is a k-colouring of the graph they form.
"""

import itertools

import numpy as np
import pytest
from toys import assert_clustering, nearest_neighbour_graph

from tightcut import Constraints, Graph, InconsistentConstraintsError, cluster, kernels
from tightcut.search import contradiction
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.feasibility import (
    clashes_of_clique,
    conflict_graph,
    fill_empty,
    find_clique,
    find_colouring,
    repair,
)
from tightcut.search.spectral_k import choose_n_clusters

QUICK = {"effort": 0.2, "random_state": 0}


def wheel(rim):
    """A hub joined to every vertex of a cycle, which needs a colour of its own; no four vertices are all joined."""
    return [(i, (i + 1) % rim) for i in range(rim)] + [(i, rim) for i in range(rim)]


def complete(m):
    return list(itertools.combinations(range(m), 2))


def multipartite(*sizes):
    part = np.repeat(np.arange(len(sizes)), sizes)
    return [(i, j) for i, j in complete(len(part)) if part[i] != part[j]]


def petersen():
    outer, inner = [(i, (i + 1) % 5) for i in range(5)], [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    return outer + inner + [(i, i + 5) for i in range(5)]


def mycielski(chromatic_number):
    """Triangle-free graphs of any chromatic number: an edge, a pentagon, the Groetzsch graph, ..."""
    edges, n = [(0, 1)], 2
    for _ in range(chromatic_number - 2):
        copies = [(i, n + j) for i, j in edges] + [(j, n + i) for i, j in edges]
        edges, n = edges + copies + [(n + i, 2 * n) for i in range(n)], 2 * n + 1
    return edges


GRAPHS = {  # edges, chromatic number
    "single edge": ([(0, 1)], 2),
    "path": ([(i, i + 1) for i in range(9)], 2),
    "even cycle": ([(i, (i + 1) % 8) for i in range(8)], 2),
    "odd cycle": ([(i, (i + 1) % 9) for i in range(9)], 3),
    "bipartite": (multipartite(5, 7), 2),
    "even wheel": (wheel(6), 3),
    "large even wheel": (wheel(20), 3),
    "wheel of 3": (wheel(3), 4),
    "wheel of 5": (wheel(5), 4),
    "wheel of 21": (wheel(21), 4),
    "K3": (complete(3), 3),
    "K4": (complete(4), 4),
    "K5": (complete(5), 5),
    "K7": (complete(7), 7),
    "Petersen": (petersen(), 3),
    "octahedron": (multipartite(2, 2, 2), 3),
    "multipartite": (multipartite(1, 4, 2, 3), 4),
    "Groetzsch": (mycielski(4), 4),
    "Mycielski 5": (mycielski(5), 5),
    "two wheels": (wheel(5) + [(i + 6, j + 6) for i, j in wheel(7)], 4),
}


def embed(edges, seed=0, *, spare=20, points_per_vertex=1):
    """The edges as cannot-links between random points of a nearest-neighbour graph.

    With more points per vertex, each vertex is a path of must-links and every edge picks an end of its own.
    """
    rng = np.random.default_rng(seed)
    n_vertices = max(map(max, edges)) + 1
    n = points_per_vertex * n_vertices + spare
    place = rng.permutation(n)[: points_per_vertex * n_vertices].reshape(n_vertices, -1)
    must = [pair for chain in place for pair in itertools.pairwise(chain)]
    cannot = [(rng.choice(place[i]), rng.choice(place[j])) for i, j in edges]
    return nearest_neighbour_graph(n, seed), Constraints.from_pairs(n, must, cannot)


def relations(n, edges, seed=0):
    """The edges as relations of a graph with n vertices."""
    return ConstrainedGraph.from_graph(nearest_neighbour_graph(n, seed), Constraints.from_pairs(n, cannot_link=edges))


def proper(edges, colours):
    return all(colours[i] != colours[j] for i, j in edges)


def joined_sets(n, pairs):
    """For each point, the smallest point that the pairs join it to."""
    root = np.arange(n)
    for _ in range(n):
        for i, j in pairs:
            root[i] = root[j] = min(root[i], root[j])
    return root


def assert_clique_witness(constraints, witness, k):
    """The witness alone shows k + 1 sets of must-linked points, each two of them kept apart by a given pair."""
    must = [(i, j) for kind, i, j in witness if kind == "must"]
    cannot = [(i, j) for kind, i, j in witness if kind == "cannot"]
    assert {tuple(sorted(pair)) for pair in must} <= {tuple(pair) for pair in constraints.must_link.tolist()}
    assert {tuple(sorted(pair)) for pair in cannot} <= {tuple(pair) for pair in constraints.cannot_link.tolist()}
    root = joined_sets(constraints.n_points, must)
    members = {int(root[i]) for pair in cannot for i in pair}
    assert len(members) == k + 1
    apart = {frozenset((int(root[i]), int(root[j]))) for i, j in cannot}
    assert apart == {frozenset(pair) for pair in itertools.combinations(members, 2)}
    assert len(cannot) == (k + 1) * k // 2


def assert_proven(graph, constraints, k, **options):
    with pytest.raises(InconsistentConstraintsError) as caught:
        cluster(graph, constraints, k, **QUICK, **options)
    assert caught.value.proven
    return caught.value


@pytest.mark.slow
@pytest.mark.parametrize("points_per_vertex", [1, 3])
@pytest.mark.parametrize("name", GRAPHS)
def test_feasible_from_the_chromatic_number_on_and_proven_impossible_below(name, points_per_vertex):
    edges, chromatic_number = GRAPHS[name]
    graph, constraints = embed(edges, points_per_vertex=points_per_vertex)
    for k in range(max(2, chromatic_number - 2), chromatic_number + 3):
        if k < chromatic_number:
            error = assert_proven(graph, constraints, k)
            if k > 2:
                assert error.best_labels.shape == (graph.n_vertices,)
                assert constraints.violations(error.best_labels).n_violations > 0
        else:
            result = cluster(graph, constraints, k, **QUICK)
            assert_clustering(graph, constraints, result, k)
            assert result.n_violations == 0


@pytest.mark.parametrize("name", ["K5", "Groetzsch", "wheel of 5", "Petersen"])
def test_exactly_as_many_clusters_as_colours_without_spare_points(name):
    edges, chromatic_number = GRAPHS[name]
    graph, constraints = embed(edges, spare=0)
    result = cluster(graph, constraints, chromatic_number, **QUICK)
    assert_clustering(graph, constraints, result, chromatic_number)
    assert result.n_violations == 0


@pytest.mark.parametrize("points_per_vertex", [1, 3])
@pytest.mark.parametrize(("name", "k"), [("K5", 4), ("K7", 6), ("K7", 4), ("multipartite", 3), ("wheel of 3", 3)])
def test_a_clique_is_the_witness(name, k, points_per_vertex):
    for seed in range(3):
        graph, constraints = embed(GRAPHS[name][0], seed, points_per_vertex=points_per_vertex)
        error = assert_proven(graph, constraints, k)
        assert_clique_witness(constraints, error.witness, k)
        named = str(error).partition(". ")[2].partition(" must all be in different clusters")[0]
        assert len(named.split(", ")) == k + 1


@pytest.mark.parametrize("name", ["Groetzsch", "Mycielski 5", "wheel of 5", "wheel of 21"])
def test_without_a_clique_an_exhausted_search_is_the_proof(name):
    edges, chromatic_number = GRAPHS[name]
    graph, constraints = embed(edges)
    error = assert_proven(graph, constraints, chromatic_number - 1)
    assert error.witness == []
    assert "exhaustive" in str(error)


def test_a_search_that_gives_up_says_so_and_attaches_its_best_attempt():
    graph, constraints = embed(mycielski(6), spare=5)
    with pytest.raises(InconsistentConstraintsError, match="nor ruled out") as caught:
        cluster(graph, constraints, 5, effort=0, random_state=0)
    assert not caught.value.proven
    best = caught.value.best_labels
    assert set(best.tolist()) <= set(range(5))
    assert 1 <= constraints.violations(best).n_violations <= 5
    found = cluster(graph, constraints, 5, effort=0, random_state=0, max_violations="fewest")
    assert_clustering(graph, constraints, found, 5)
    assert found.n_violations <= 5
    assert cluster(graph, constraints, 6, **QUICK).n_violations == 0


def planted(seed, n, k, mean_degree, *, clique=True):
    """Random cannot-links between the classes of a random clustering, with a clique that rules out k - 1 clusters."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % k)
    pairs = np.array([(i, j) for i, j in complete(n) if truth[i] != truth[j]])
    chosen = pairs[rng.permutation(len(pairs))[: n * mean_degree // 2]].tolist()
    first = [int(np.flatnonzero(truth == c)[0]) for c in range(k)]
    return truth, chosen + (list(itertools.combinations(first, 2)) if clique else [])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("n", "k", "mean_degree"),
    [(60, 3, 4), (60, 5, 12), (100, 3, 5), (100, 4, 8), (150, 4, 20), (200, 3, 5), (200, 5, 11)],
)
def test_planted_colourings_are_found(n, k, mean_degree, seed):
    _, edges = planted(seed, n, k, mean_degree)
    graph = nearest_neighbour_graph(n, seed)
    constraints = Constraints.from_pairs(n, cannot_link=edges)
    for n_clusters in (k, k + 1):
        result = cluster(graph, constraints, n_clusters, effort=0.5, random_state=seed)
        assert_clustering(graph, constraints, result, n_clusters)
        assert result.n_violations == 0
    error = assert_proven(graph, constraints, k - 1)
    if k > 3:
        assert_clique_witness(constraints, error.witness, k - 1)


def test_a_feasible_init_is_never_called_infeasible():
    # The init proves that the constraints can be met, however little effort goes into looking for a colouring.
    for seed in range(4):
        n, k = 200, 5
        truth, edges = planted(seed, n, k, 13, clique=False)
        constraints = Constraints.from_pairs(n, cannot_link=edges)
        graph = nearest_neighbour_graph(n, seed)
        result = cluster(graph, constraints, k, init=truth, effort=0, random_state=0)
        assert result.n_violations == 0


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"max_violations": "fewest"}, {"max_violations": 60}])
def test_soft_mode_needs_no_colouring_and_is_no_worse_than_the_attempt_at_one(options):
    for seed in range(4):
        n, k = 200, 5
        graph = nearest_neighbour_graph(n, seed)
        constraints = Constraints.from_pairs(n, cannot_link=planted(seed, n, k, 13, clique=False)[1])
        lazy = {"effort": 0, "random_state": 0}
        with pytest.raises(InconsistentConstraintsError, match="nor ruled out") as caught:
            cluster(graph, constraints, k, **lazy)
        attempt = constraints.violations(caught.value.best_labels).n_violations
        found = cluster(graph, constraints, k, **lazy, **options)
        assert_clustering(graph, constraints, found, k)
        assert found.n_violations <= (60 if options["max_violations"] == 60 else attempt)


@pytest.mark.parametrize("k", [3, 5])
def test_a_must_link_path_across_a_cannot_link_is_the_witness(k):
    graph = nearest_neighbour_graph(30)
    must = [(0, 7), (7, 12), (12, 3), (20, 21), (0, 25)]
    constraints = Constraints.from_pairs(30, must, [(3, 0), (20, 3)])
    error = assert_proven(graph, constraints, k)
    kinds = [kind for kind, _, _ in error.witness]
    assert sorted(kinds) == ["cannot", "must", "must", "must"]
    for (_, _, end), (_, start, _) in itertools.pairwise([*error.witness, error.witness[0]]):
        assert end == start
    assert {frozenset(pair) for kind, *pair in error.witness if kind == "must"} == set(map(frozenset, must[:3]))
    assert "contradict" in str(error)


def test_too_few_sets_of_points_for_the_clusters():
    graph = nearest_neighbour_graph(12)
    constraints = Constraints.from_pairs(12, must_link=[(i, i + 4) for i in range(8)])
    assert cluster(graph, constraints, 4, **QUICK).n_violations == 0
    for method in ("search", "paper"):
        error = assert_proven(graph, constraints, 5, method=method)
        assert "4 separate sets" in str(error)
        assert "5 non-empty clusters" in str(error)
    soft = cluster(graph, constraints, 5, max_violations="fewest", **QUICK)
    assert_clustering(graph, constraints, soft, 5)
    assert soft.n_violations == 1


@pytest.mark.parametrize("name", GRAPHS)
def test_find_colouring_finds_a_colouring_or_proves_that_there_is_none(name):
    edges, chromatic_number = GRAPHS[name]
    n = max(map(max, edges)) + 5
    graph = relations(n, edges)
    for k in range(1, chromatic_number + 2):
        answer = find_colouring(graph, k, np.random.default_rng(0))
        assert answer.proven
        assert answer.attempt.shape == (n,)
        assert 0 <= answer.attempt.min() <= answer.attempt.max() < k
        if k >= chromatic_number:
            assert proper(edges, answer.colours)
            assert answer.clique == []
        else:
            assert answer.colours is None
            assert not proper(edges, answer.attempt)
            assert len(answer.clique) in (0, k + 1)
            given = {frozenset(pair) for pair in edges}
            assert all(frozenset(pair) in given for pair in itertools.combinations(answer.clique, 2))


def test_find_colouring_without_cannot_links_and_with_must_links_only():
    assert find_colouring(relations(6, None), 3, np.random.default_rng(0)).colours is not None
    joined = ConstrainedGraph.from_graph(nearest_neighbour_graph(8), Constraints.from_pairs(8, must_link=complete(8)))
    answer = find_colouring(joined, 3, np.random.default_rng(0))
    assert answer.colours is not None
    assert conflict_graph(joined).nnz == 0


def test_find_clique():
    edges = [*multipartite(3, 1, 2, 4), (10, 11), (11, 12)]
    conflicts = conflict_graph(relations(14, edges))
    assert sorted(np.repeat(range(4), [3, 1, 2, 4])[find_clique(conflicts, 4)]) == [0, 1, 2, 3]
    assert len(find_clique(conflicts, 5)) == len(find_clique(conflicts)) == 4
    assert len(find_clique(conflict_graph(relations(11, mycielski(4))))) == 2


def test_repair_keeps_what_is_already_feasible():
    for seed in range(5):
        truth, edges = planted(seed, 80, 4, 10)
        graph = relations(80, edges, seed)
        before = truth.copy()
        np.testing.assert_array_equal(repair(graph, truth, 4, np.random.default_rng(seed)), truth)
        np.testing.assert_array_equal(truth, before)


def test_repair_mends_a_few_wrong_labels_and_keeps_most_of_the_others():
    for seed in range(5):
        truth, edges = planted(seed, 80, 4, 6)
        wrong = truth.copy()
        wrong[np.random.default_rng(seed).permutation(80)[:4]] = 0
        mended = repair(relations(80, edges, seed), wrong, 4, np.random.default_rng(seed))
        assert proper(edges, mended)
        assert (mended != wrong).sum() <= 20


def test_repair_always_succeeds_where_every_vertex_can_be_peeled_off():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        tree = [(int(rng.integers(v)), v) for v in range(1, 40)]
        mended = repair(relations(40, tree, seed), rng.integers(3, size=40), 3, rng)
        assert proper(tree, mended)
        assert 0 <= mended.min() <= mended.max() < 3


def test_repair_of_an_impossible_core_still_returns_labels():
    graph = relations(9, complete(5))
    mended = repair(graph, np.zeros(9, np.int32), 4, np.random.default_rng(0))
    assert graph.violated(mended) == 1
    assert 0 <= mended.min() <= mended.max() < 4


def test_fill_empty_leaves_no_cluster_empty_and_breaks_no_cannot_link():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(3, 15)), 3
        graph = Graph.from_affinity(np.zeros((n, n))) if seed % 4 == 0 else nearest_neighbour_graph(n, seed, 2)
        labels = rng.integers(rng.integers(1, k + 1), size=n)
        edges = [(i, j) for i, j in complete(n) if labels[i] != labels[j] and rng.random() < 0.5]
        whole = ConstrainedGraph.from_graph(graph, Constraints.from_pairs(n, cannot_link=edges))
        before = labels.copy()
        filled = fill_empty(whole, labels, k)
        np.testing.assert_array_equal(labels, before)
        assert set(filled.tolist()) == set(range(k))
        assert whole.violated(filled) == 0
        missing = k - len(np.unique(labels))
        assert (filled != labels).sum() == missing


def test_fill_empty_gives_every_vertex_its_own_cluster():
    filled = fill_empty(relations(7, None), np.zeros(7, np.int32), 7)
    assert sorted(filled.tolist()) == list(range(7))


def test_the_automatic_number_of_clusters_can_satisfy_the_cannot_links():
    graph = nearest_neighbour_graph(40)
    choice = choose_n_clusters(graph, Constraints.from_pairs(40, cannot_link=wheel(5)), max_clusters=3)
    assert choice.at_least == choice.n_clusters == 4
    assert "no assignment to fewer" in choice.reason


def test_one_large_group_is_a_clique_at_once():
    conflicts = conflict_graph(relations(400, complete(400)))
    assert len(find_clique(conflicts, 391)) == len(find_clique(conflicts)) == 400


@pytest.mark.parametrize(("size", "k"), [(7, 1), (7, 2), (7, 3), (7, 6), (7, 7), (7, 9)])
def test_the_clashes_that_a_clique_cannot_avoid(size, k):
    pairs = complete(size)
    colourings = (
        itertools.product(range(k), repeat=size) if k < 4 else itertools.combinations_with_replacement(range(k), size)
    )
    least = min(sum(colours[i] == colours[j] for i, j in pairs) for colours in colourings)
    assert clashes_of_clique(size, k) == least


def test_tabu_ends_where_a_clique_leaves_no_better_colouring():
    """More steps than an hour would do; the excess that a clique cannot avoid is reached in a few."""
    conflicts = conflict_graph(relations(60, complete(60)))
    colour, state = np.zeros(60, np.int32), np.ones(1, np.uint64)
    csr = conflicts.indptr, conflicts.indices, conflicts.data
    bound = float(clashes_of_clique(60, 25))
    assert kernels.colour_by_tabu(*csr, 25, colour, bound, 10**12, state) == bound == 45


class Counted(np.ndarray):
    """An array that counts the numbers that functions of numpy read from it and from what is selected from it."""

    work = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **settings):
        Counted.work += max(np.size(values) for values in inputs)
        plain = [np.asarray(values) if isinstance(values, Counted) else values for values in inputs]
        found = getattr(ufunc, method)(*plain, **settings)
        return found.view(Counted) if isinstance(found, np.ndarray) else found


def groups_kept_apart(count, size):
    """Chains of must-links, each point of one of which has a cannot-link with the same place in the others."""
    place = np.arange(count * size).reshape(count, size)
    must = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    cannot = [(a, b) for column in place.T for a, b in itertools.combinations(column[::-1].tolist(), 2)]
    return Constraints.from_pairs(count * size, must, cannot)


def test_the_witness_of_a_clique_takes_one_look_at_every_constraint(monkeypatch):
    searches, work = [], []
    search = contradiction.breadth_first_order
    monkeypatch.setattr(contradiction, "breadth_first_order", lambda *a, **b: searches.append(a) or search(*a, **b))
    for count in (10, 40):
        constraints = groups_kept_apart(count, 3)
        Counted.work = 0
        contradiction.clique_witness(constraints, constraints.components()[1].view(Counted), list(range(count)))
        work.append(Counted.work / constraints.n_cannot_link)
    assert len(searches) == 2
    assert work[1] <= 2 * work[0]


@pytest.mark.parametrize("seed", range(20))
def test_the_witness_of_a_clique_is_complete(seed):
    """One cannot-link between each two sets, and must-links that join all its ends within each set, as a tree."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 7))
    n = 5 * count + 4
    group = rng.permutation(np.arange(n) % (count + 1))
    must = [(i, j) for i, j in complete(n) if group[i] == group[j] and rng.random() < 0.8]
    cannot = rng.permutation([(i, j) for i, j in complete(n) if group[i] != group[j] and rng.random() < 0.7])
    constraints = Constraints.from_pairs(n, must, cannot)
    n_sets, component = constraints.components()
    joined = {frozenset(pair) for pair in component[constraints.cannot_link].tolist()}
    clique: list[int] = []
    for v in rng.permutation(n_sets).tolist():
        clique += [v] if all(frozenset((u, v)) in joined for u in clique) else []
    links = contradiction.clique_witness(constraints, component, clique)
    given = {"must": constraints.must_link.tolist(), "cannot": constraints.cannot_link.tolist()}
    assert all([i, j] in given[kind] or [j, i] in given[kind] for kind, i, j in links)
    apart = [(i, j) for kind, i, j in links if kind == "cannot"]
    assert sorted(sorted(component[list(pair)]) for pair in apart) == sorted(
        map(sorted, itertools.combinations(clique, 2))
    )
    held = Constraints.from_pairs(n, [(i, j) for kind, i, j in links if kind == "must"])
    kept, own = held.components()
    ends = np.unique(apart)
    assert len(np.unique(own[ends])) == len(clique)
    assert kept == n - held.n_must_link
    assert set(component[ends]) == set(clique)
