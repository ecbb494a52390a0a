"""The order of the rows has no say in the cut of a small problem, nor does a pair that is satisfied already."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_pairs
from toys import cycle, nearest_neighbour_graph

from tightcut import Constraints, Graph, InconsistentConstraintsError, cluster, tradeoff_path
from tightcut.search.canonical import canonical_order, in_canonical_order
from tightcut.utils.codes import renumber


def problem(seed, fewest=10, most=60):
    """A nearest-neighbour graph of 10 to 60 points, and pairs of clusters of which some points are moved."""
    rng = np.random.default_rng([seed, 5])
    n, k = int(rng.integers(fewest, most + 1)), (2, 3, 5)[seed % 3]
    graph = nearest_neighbour_graph(n, seed)
    truth = cluster(graph, n_clusters=k, effort=0, random_state=9).labels
    truth = np.where(rng.random(n) < 0.1, rng.integers(k, size=n), truth)
    must, cannot = random_pairs(rng, n, int(rng.integers(1, max(2, n // 5))), truth)
    return rng, graph, must, cannot, k


def turned(graph, order):
    return Graph.from_affinity(graph.weights[order][:, order])


def smallest_cut(graph, must, cannot, k):
    return cluster(graph, Constraints.from_pairs(graph.n_vertices, must, cannot), k, random_state=0, n_jobs=1)


@pytest.mark.slow
def test_the_cut_does_not_depend_on_the_order_of_the_rows():
    changed = []
    for seed in range(24):
        rng, graph, must, cannot, k = problem(seed)
        cuts = [smallest_cut(graph, must, cannot, k).cut]
        for _ in range(2):
            order = rng.permutation(graph.n_vertices)
            place = np.argsort(order)
            cuts.append(smallest_cut(turned(graph, order), place[must], place[cannot], k).cut)
        if max(cuts) > min(cuts) * (1 + 1e-9) + 1e-12:
            changed.append((seed, max(cuts) / min(cuts)))
    assert changed == []


@pytest.mark.slow
def test_a_pair_that_is_satisfied_already_leaves_the_cut():
    larger = []
    for seed in range(24):
        rng, graph, must, cannot, k = problem(seed)
        before = smallest_cut(graph, must, cannot, k)
        pair = rng.choice(graph.n_vertices, (1, 2), replace=False)
        same = before.labels[pair[0, 0]] == before.labels[pair[0, 1]]
        must, cannot = (np.vstack([must, pair]), cannot) if same else (must, np.vstack([cannot, pair]))
        after = smallest_cut(graph, must, cannot, k)
        if after.cut > before.cut * (1 + 1e-9) + 1e-12:
            larger.append((seed, after.cut / before.cut))
    assert larger == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "options", [{}, {"max_violations": 1}, {"max_violations": "fewest"}, {"influence": 1}, {"init": 1}]
)
def test_permuting_the_rows_permutes_the_labels(seed, options):
    rng, graph, must, cannot, k = problem(seed, 150, 500)
    n = graph.n_vertices
    init = rng.permutation(np.arange(n) % k) if "init" in options else None
    order = rng.permutation(n)
    place = np.argsort(order)
    settings = options | {"random_state": 3, "effort": 0.3, "n_jobs": 1}
    one = cluster(graph, Constraints.from_pairs(n, must, cannot), k, **settings | {"init": init})
    again = Constraints.from_pairs(n, place[must], place[cannot])
    other = cluster(turned(graph, order), again, k, **settings | {"init": None if init is None else init[order]})
    assert abs(other.cut - one.cut) <= 1e-12 * one.cut
    np.testing.assert_array_equal(renumber(other.labels[place]), renumber(one.labels))


@given(st.integers(0, 10**6))
def test_the_same_points_come_first_in_any_order(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    graph = Graph.from_affinity(weights + weights.T, rng.random(n) + 0.1)
    pairs = rng.integers(n, size=(8, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    order = rng.permutation(n)
    permuted = Graph.from_affinity(graph.weights[order][:, order], graph.vertex_weights[order])
    place = np.argsort(order)
    first = canonical_order(graph, Constraints.from_pairs(n, pairs[:3], pairs[3:]))
    second = canonical_order(permuted, Constraints.from_pairs(n, place[pairs[:3]], place[pairs[3:]]))
    np.testing.assert_array_equal(order[second], first)


def test_pairs_tell_points_apart_where_edges_do_not():
    """The order begins at the pair, not at the first row, and follows the ring from there."""
    n = 9
    ring, known = Graph.from_affinity(cycle(n)), Constraints.from_pairs(n, [(4, 5)], [(6, 7)])
    first = canonical_order(ring, known)
    shifted = Constraints.from_pairs(n, [(0, 1)], [(2, 3)])
    np.testing.assert_array_equal((canonical_order(ring, shifted) + 4) % n, first)


@pytest.mark.slow
def test_the_tradeoff_does_not_depend_on_the_order_of_the_rows():
    rng, graph, must, cannot, _ = problem(3)
    order = rng.permutation(graph.n_vertices)
    place = np.argsort(order)
    fronts = [
        tradeoff_path(graph, Constraints.from_pairs(graph.n_vertices, must, cannot), random_state=0),
        tradeoff_path(
            turned(graph, order), Constraints.from_pairs(len(order), place[must], place[cannot]), random_state=0
        ),
    ]
    np.testing.assert_allclose(*[[found.cut for found in front] for front in fronts], rtol=1e-12, atol=1e-15)


def test_a_contradiction_names_the_points_of_the_data():
    graph = nearest_neighbour_graph(40)
    clique = [3, 17, 29, 38]
    cannot = [(i, j) for i in clique for j in clique if i < j]
    with pytest.raises(InconsistentConstraintsError, match="3, 17, 29, 38") as caught:
        cluster(graph, Constraints.from_pairs(40, cannot_link=cannot), 3, random_state=0)
    assert sorted((i, j) for _, i, j in caught.value.witness) == cannot


def test_the_labels_of_an_attempt_come_back_in_the_order_of_the_data():
    """Without a witness nothing names a point, and the search is not repeated."""
    graph, asked = nearest_neighbour_graph(40), []

    def solve(_graph, _constraints, known):
        asked.append(known[0])
        raise InconsistentConstraintsError(message="no", proven=False, best_labels=known[0])

    with pytest.raises(InconsistentConstraintsError) as caught:
        in_canonical_order(graph, Constraints.from_pairs(40), [np.arange(40)], solve)
    np.testing.assert_array_equal(caught.value.best_labels, np.arange(40))
    assert len(asked) == 1
    assert asked[0].tolist() != list(range(40))
