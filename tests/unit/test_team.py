"""The steps that threads take together: each against a slow and obvious program, and the same for every number of threads."""

import contextlib
import pickle
import threading

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from strategies import random_graph

from tightcut import kernels
from tightcut.search import team as team_module
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.team import Team, arrays

THREADS = (1, 2, 3, 4, 16)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """As many threads as there are, however few rows they share."""
    monkeypatch.setattr(team_module, "ROWS_OF_A_THREAD", 10)


def signed(seed, n=400, density=0.02):
    """A graph, and the same with a third of its weights negative."""
    graph = random_graph(np.random.default_rng(seed), n, density)
    upper = sp.triu(graph.weights).tocsr()
    upper.data *= np.where(np.random.default_rng(seed).random(upper.nnz) < 0.3, -1, 1)
    return graph, sp.csr_array(upper + upper.T)


def random_relations(rng, n, count):
    """Cannot-links and must-links of several beliefs."""
    pairs = np.unique(np.sort(rng.integers(n, size=(count, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    upper = sp.csr_array((rng.choice([0.5, 1.0, -1.0, 2.0], len(pairs)), tuple(pairs.T)), shape=(n, n))
    return sp.csr_array(upper + upper.T)


def matched(matrix, vertex_weights, heaviest, seed, **limits):
    """The pairs of a matching, after a look at what they promise."""
    found = [Team(p).match(matrix, vertex_weights, heaviest, seed, **limits) for p in THREADS]
    for other in found[1:]:
        np.testing.assert_array_equal(other.unit, found[0].unit)
        np.testing.assert_array_equal(other.members, found[0].members)
    units = found[0]
    np.testing.assert_array_equal(np.sort(units.members), np.arange(matrix.shape[0]))
    np.testing.assert_array_equal(np.repeat(np.arange(len(units)), np.diff(units.start)), units.unit[units.members])
    assert (np.diff(units.members[units.start[:-1]]) > 0).all()  # numbered by their first vertex
    assert np.diff(units.start).max() <= 2
    pairs = units.members[units.start[:-1][np.diff(units.start) == 2]], units.members[units.start[1:] - 1]
    pairs = np.stack([pairs[0], pairs[1][np.diff(units.start) == 2]], axis=1)
    dense = matrix.toarray()
    assert (dense[pairs[:, 0], pairs[:, 1]] != 0).all()
    assert (vertex_weights[pairs].sum(axis=1) <= heaviest).all()
    return pairs, dense


def test_matching_joins_only_what_may_be_joined():
    _, matrix = signed(0)
    rng = np.random.default_rng(1)
    vertex_weights, labels = rng.uniform(0.5, 2, 400), rng.integers(0, 2, 400).astype(np.int32)
    apart = sp.csr_array(np.abs(random_relations(rng, 400, 20_000).toarray()) * (matrix.toarray() != 0))
    pairs, dense = matched(matrix, vertex_weights, 3.0, 5, apart=apart, labels=labels)
    assert len(pairs) > 50
    assert not apart.toarray()[pairs[:, 0], pairs[:, 1]].any()
    np.testing.assert_array_equal(dense[tuple(pairs.T)] > 0, labels[pairs[:, 0]] == labels[pairs[:, 1]])
    assert (dense[tuple(pairs.T)] < 0).any()


def test_matching_leaves_no_much_better_pair_of_free_vertices():
    graph, _ = signed(1)
    ones = np.ones(400)
    pairs, dense = matched(graph.weights, ones, 2.0, 3)
    free = np.setdiff1d(np.arange(400), pairs)
    # A round that matches next to nothing is the last: two in 400.
    assert (dense[np.ix_(free, free)] > 0).sum() / 2 <= 4
    best = np.unravel_index(np.argmax(dense), dense.shape)
    rating = dense[tuple(pairs.T)].max()
    assert rating >= dense[best] / 1.25  # two bits beside the exponent
    assert len(set(map(tuple, pairs)) & set(map(tuple, matched(graph.weights, ones, 2.0, 4)[0]))) < len(pairs)


@pytest.mark.parametrize("with_signs", [False, True])
def test_contraction_as_by_one_thread(with_signs):
    graph, matrix = signed(2)
    matrix = matrix if with_signs else graph.weights
    units = Team(1).match(matrix, np.ones(400), 2.0, 7)
    if with_signs:
        sign = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), 400)
        units = team_module.Units(units.unit, units.start, units.members, sign)
    found = [Team(p).contract(matrix, units) for p in THREADS]
    for other in found[1:]:
        np.testing.assert_array_equal(other.matrix.data, found[0].matrix.data)
        np.testing.assert_array_equal(other.matrix.indices, found[0].matrix.indices)
        np.testing.assert_array_equal(other.degrees, found[0].degrees)
        assert (other.turned, other.negative) == (found[0].turned, found[0].negative)
    small, degrees, offset = found[0].matrix, found[0].degrees, found[0].turned
    member = np.zeros((400, len(units)))
    member[np.arange(400), units.unit] = units.sign if with_signs else 1
    expected = member.T @ matrix.toarray() @ member
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(small.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(degrees, expected.sum(axis=1), atol=1e-12)
    assert found[0].negative == pytest.approx(0.5 * expected[expected < 0].sum())
    labels = np.random.default_rng(1).choice([-1, 1], len(units))

    def cut(weights, spins):
        return 0.5 * weights[spins[:, None] != spins].sum()

    lifted = labels[units.unit] * (units.sign if with_signs else 1)
    assert cut(matrix.toarray(), lifted) == pytest.approx(offset + cut(small.toarray(), labels))


def test_regions_of_agreement_and_the_arcs_between_them():
    graph, _ = signed(3, density=0.01)
    code = np.random.default_rng(0).integers(0, 3, 400)
    same = sp.csr_array(graph.weights.toarray() * (code[:, None] == code))
    count, _ = connected_components(same, directed=False)
    for p in THREADS:
        team = Team(p)
        unit = team.regions(graph.weights, code)
        w = graph.weights
        np.testing.assert_array_equal(unit, kernels.connected_regions(w.indptr, w.indices, code))
        assert unit.max() + 1 == count
        member = np.eye(count)[unit]
        expected = member.T @ w.toarray() @ member
        np.fill_diagonal(expected, 0)
        np.testing.assert_allclose(team.contract_regions(w, unit, np.zeros(0, np.int8)).matrix.toarray(), expected)


def problem(seed, n=60, k=4, relations=30):
    rng = np.random.default_rng(seed)
    whole = ConstrainedGraph(
        random_graph(rng, n, 0.15).weights, rng.uniform(0.5, 3, n), random_relations(rng, n, relations)
    )
    labels = rng.integers(0, k, n).astype(np.int32)
    labels[rng.permutation(n)[:k]] = np.arange(k)
    return whole, labels


def refined(whole, labels, k, price, p=1, **options):
    found = labels.copy()
    graph = *arrays(whole.weights), whole.vertex_weights, whole.degrees, *arrays(whole.relations)
    objective = Team(p).refine(graph, found, k, price, (0.0, 0.0, whole.promised), **options)
    return found, objective


def objective_of(whole, labels, k, price):
    """By the definition: sum of leaving / volume, plus the price of the violated belief."""
    weights, relations = whole.weights.toarray(), whole.relations.toarray()
    same = labels[:, None] == labels
    cut = sum(weights[labels == c][:, labels != c].sum() / whole.vertex_weights[labels == c].sum() for c in range(k))
    return cut + price * 0.5 * (relations * same - np.minimum(relations, 0)).sum()


def one_round(whole, labels, k, price, patience):
    """A round of `refine_by_team`, one vertex after the other and every objective computed from the beginning."""
    n, weights, relations = len(labels), whole.weights.toarray(), whole.relations.toarray()
    now = objective_of(whole, labels, k, price)
    change, goal = np.full(n, np.inf), labels.copy()
    for v in range(n):
        related = relations[v].any()
        own = labels == labels[v]
        if own.sum() == 1 or not (related or (weights[v][~own] > 0).any()):
            continue
        values = np.full(k, np.inf)
        for c in range(k):
            if c != labels[v] and (related or (weights[v][labels == c] > 0).any()):
                moved = labels.copy()
                moved[v] = c
                values[c] = objective_of(whole, moved, k, price) - now
        best = int(np.argmin(values))
        if values[best] < patience * 2 * weights[v][own].sum() / whole.vertex_weights[own].sum():
            change[v], goal[v] = values[best], best
    moves = np.zeros(n, bool)
    leaving, volume = whole.measure(labels, k)
    for v in np.flatnonzero(np.isfinite(change)):
        sooner = (change < change[v]) | ((change == change[v]) & (np.arange(n) < v))
        seen, a, b = np.where(sooner, goal, labels), labels[v], goal[v]
        stays, goes = weights[v][seen == a].sum(), weights[v][seen == b].sum()
        mass, degree = whole.vertex_weights[v], whole.degrees[v]
        total = (leaving[a] - degree + 2 * stays) / (volume[a] - mass) - leaving[a] / volume[a]
        total += (leaving[b] + degree - 2 * goes) / (volume[b] + mass) - leaving[b] / volume[b]
        apart, together = np.maximum(relations[v], 0), np.minimum(relations[v], 0)
        total += price * (apart[(labels == b) | (seen == b)].sum() - apart[(labels == a) & ~sooner].sum())
        total += price * (together[seen == b].sum() - together[labels == a].sum())
        moves[v] = total < 0
    for c in range(k):
        if moves[labels == c].all():
            moves[labels == c] = False
    return np.where(moves, goal, labels)


@pytest.mark.parametrize("k", [2, 4, 9])
@pytest.mark.parametrize("price", [0.0, 0.05, 50.0])
def test_a_round_is_that_of_a_plain_program(k, price):
    whole, labels = problem(k, n=50, k=k)
    expected = one_round(whole, labels, k, price, 0.3)
    better = objective_of(whole, expected, k, price) < objective_of(whole, labels, k, price)
    found, objective = refined(whole, labels, k, price, rounds=1)
    np.testing.assert_array_equal(found, expected if better else labels)
    assert objective == pytest.approx(objective_of(whole, found, k, price))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("price", [0.0, 0.1, 50.0])
def test_refinement_is_never_worse_and_empties_no_cluster(seed, price):
    whole, labels = problem(seed, n=300, relations=150)
    found, objective = refined(whole, labels, 4, price)
    assert objective == pytest.approx(objective_of(whole, found, 4, price))
    assert objective <= objective_of(whole, labels, 4, price)
    assert set(found) == set(range(4))
    for p in THREADS[1:]:
        other = refined(whole, labels, 4, price, p)
        np.testing.assert_array_equal(other[0], found)
        assert other[1] == objective


def test_at_a_prohibitive_price_no_cannot_link_is_broken():
    """With cannot-links on the very edges along which vertices move."""
    whole, labels = problem(5, n=200, relations=0)
    sources = np.repeat(np.arange(200), np.diff(whole.weights.indptr))
    apart = (labels[sources] != labels[whole.weights.indices]) & ((sources + whole.weights.indices) % 3 == 0)
    links = sp.csr_array((np.ones(apart.sum()), (sources[apart], whole.weights.indices[apart])), shape=(200, 200))
    whole = ConstrainedGraph(whole.weights, whole.vertex_weights, links)
    for rounds in range(1, 12):
        found, _ = refined(whole, labels, 4, 1e6, rounds=rounds)
        assert whole.violated(found) == 0
    assert (found != labels).any()


def test_a_cluster_that_all_its_vertices_would_leave_keeps_them():
    """Two vertices of one cluster, each of them tied to another one only."""
    weights = np.zeros((8, 8))
    for first in (0, 3):
        weights[first : first + 3, first : first + 3] = 1
    weights[6, 0] = weights[0, 6] = weights[7, 3] = weights[3, 7] = 1
    np.fill_diagonal(weights, 0)
    whole = ConstrainedGraph(sp.csr_array(weights), weights.sum(axis=1), sp.csr_array((8, 8)))
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2], np.int32)
    found, objective = refined(whole, labels, 3, 0.0)
    assert set(found) == {0, 1, 2}
    assert objective <= objective_of(whole, labels, 3, 0.0)


def test_lifted_labels_and_vertices_without_edges():
    whole, labels = problem(6, n=80)
    unit = np.arange(80, dtype=np.int32) // 2
    coarse = labels[::2].copy()
    lifted, objective = refined(whole, coarse[unit], 4, 0.0, coarse=(coarse, unit), rounds=0)
    np.testing.assert_array_equal(lifted, coarse[unit])
    assert objective == pytest.approx(objective_of(whole, lifted, 4, 0.0))
    alone = ConstrainedGraph(sp.csr_array((6, 6)), np.ones(6), sp.csr_array((6, 6)))
    found, objective = refined(alone, np.array([0, 0, 0, 0, 0, 1], np.int32), 2, 1.0)
    assert objective == 0
    assert set(found) == {0, 1}


def test_lent_memory_comes_back_when_no_view_of_it_is_left():
    team = Team(1)
    array = team._lend(100, np.int32)
    view = array.view(np.uint32)[10:]
    del array
    assert not team._idle
    del view
    assert len(team._idle) == 1
    again = team._lend(90, np.int32)
    assert not team._idle
    assert len(again) == 90


def test_threads_end_with_the_search():
    before = threading.active_count()
    with Team(3) as team:
        assert threading.active_count() == before + 3
    assert threading.active_count() == before
    graph, _ = signed(0)
    # A task that Ctrl-C has left behind in another thread.
    with pytest.raises(RuntimeError, match="is over"):
        team.regions(graph.weights, np.zeros(400, np.int32))


def test_an_end_before_a_step_has_begun():
    """Ctrl-C may come between the two: the step is taken by all threads, or by none."""
    graph, _ = signed(0)
    for _ in range(20):
        team = Team(3)
        step = threading.Thread(target=swallow, args=(team.regions, graph.weights, np.zeros(400, np.int32)))
        step.start()
        team.__exit__()
        step.join(60)
        assert not step.is_alive()
        assert not any(thread.is_alive() for thread in team._threads)


def swallow(function, *arguments):
    with contextlib.suppress(RuntimeError):
        function(*arguments)


def test_a_kernel_that_does_not_compile_holds_up_nobody():
    with Team(3) as team:
        graph, _ = signed(0)
        with pytest.raises(numba.TypingError):
            team.regions(graph.weights, np.full(400, None))
        team.regions(graph.weights, np.zeros(400, np.int32))


def test_no_thread_is_left_where_the_system_has_no_more(monkeypatch):
    before, start = threading.active_count(), threading.Thread.start

    def refuse(thread):
        if threading.active_count() > before + 1:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError, match="can't start"):
        Team(4)
    assert threading.active_count() == before


def test_a_team_in_another_process_is_one_thread():
    assert pickle.loads(pickle.dumps(Team(3))).n_threads == 1
