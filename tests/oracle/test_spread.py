"""Known points spread over the graph: the harmonic solution, every constraint kept, a local minimum near the labels."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from strategies import random_constraints, random_graph

from tightcut import COSC, Constraints, Graph, InconsistentConstraintsError, cluster, knn_affinity
from tightcut.search.constrained_graph import PartitionGraph
from tightcut.search.feasibility import conflict_graph
from tightcut.search.many_clusters import improve_feasible, merge_must_links
from tightcut.search.multiway import Prices
from tightcut.search.spread import separated_vertices, spread


def harmonic(weights, seeds):
    """The chance of meeting each seed first, by one dense linear system."""
    dense = weights.toarray()
    laplacian = np.diag(dense.sum(axis=1)) - dense
    free = np.setdiff1d(np.arange(len(dense)), seeds)
    share = np.zeros((len(dense), len(seeds)))
    share[seeds] = np.eye(len(seeds))
    share[free] = np.linalg.solve(laplacian[np.ix_(free, free)], dense[np.ix_(free, seeds)])
    return share


@pytest.mark.parametrize("seed", range(10))
def test_every_vertex_goes_to_the_seed_that_a_walk_most_probably_meets(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 40, 0.2)
    seeds = rng.choice(40, 3, replace=False).tolist()
    exact = harmonic(graph.weights, seeds)
    found = spread(PartitionGraph.from_graph(graph, Constraints.from_pairs(40)), seeds)
    first, second = np.sort(exact, axis=1)[:, :-3:-1].T
    clear = first - second > 0.1  # the means have not quite settled
    assert clear.sum() > 5
    np.testing.assert_array_equal(found[clear], exact.argmax(axis=1)[clear])


def test_a_cannot_link_to_a_seed_is_kept_and_what_no_walk_reaches_stays_open():
    path = np.zeros((6, 6))
    for i in range(4):
        path[i, i + 1] = path[i + 1, i] = 1
    apart = Constraints.from_pairs(6, cannot_link=[(0, 1), (0, 4)])
    found = spread(PartitionGraph.from_graph(Graph.from_affinity(path), apart), [0, 4])
    assert found.tolist() == [0, 1, 1, 1, 1, -1]


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(5))
def test_constraints_hold_and_no_single_move_lowers_the_cut(k, seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 60, 0.1)
    truth = rng.integers(k, size=60)
    known = np.where(rng.random(60) < 0.3, truth, -1)
    constraints = Constraints.from_labels(known) | random_constraints(rng, 60, 10, truth)
    found = cluster(graph, constraints, k, strategy="spread", random_state=0)
    assert found.n_violations == 0
    assert len(set(found.labels.tolist())) == k
    reduced = merge_must_links(graph, constraints, k)
    again, _ = improve_feasible(reduced.graph, reduced.project(found.labels), k, Prices.prohibitive(reduced.graph, k))
    assert again == pytest.approx(found.cut)


def test_separated_vertices_are_a_clique_that_begins_with_the_heaviest():
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 30, 0.3)
    constraints = random_constraints(rng, 30, 120, rng.integers(6, size=30))
    whole = PartitionGraph.from_graph(graph, constraints.select(must_mask=np.zeros(constraints.n_must_link, bool)))
    chosen = separated_vertices(whole, 6)
    conflicts = conflict_graph(whole).toarray()[np.ix_(chosen, chosen)]
    np.testing.assert_array_equal(conflicts > 0, ~np.eye(len(chosen), dtype=bool))
    linked = np.unique(constraints.cannot_link)
    assert chosen[0] == linked[np.argmax(whole.mass[linked])]


def test_classes_of_several_groups_stay_near_their_labels():
    scores = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(6), 80)
        X, y = rng.normal(size=(480, 2)) + np.outer(4 * group, [1, 0]), group % 2
        chosen = [rng.choice(np.flatnonzero(group == g)) for g in range(6)]
        known = np.full(480, -1)
        known[chosen] = y[chosen]
        near, smallest = (
            COSC(2, strategy=strategy, random_state=0).fit(X, partial_labels=known) for strategy in ("spread", "direct")
        )
        assert near.n_violations_ == smallest.n_violations_ == 0
        assert near.cut_ >= smallest.cut_ * (1 - 1e-9)
        scores.append([adjusted_rand_score(y, model.labels_) for model in (near, smallest)])
    spread_score, direct_score = np.mean(scores, axis=0)
    assert spread_score > direct_score + 0.1


def test_more_clusters_than_known_classes():
    X, y = load_digits(n_class=4, return_X_y=True)
    known = np.where((np.arange(len(y)) < 60) & (y < 2), y, -1)
    found = COSC(4, strategy="spread", random_state=0).fit(X, partial_labels=known)
    assert len(set(found.labels_.tolist())) == 4
    assert found.n_violations_ == 0


def test_what_it_refuses():
    graph = Graph.from_affinity(knn_affinity(load_digits().data[:50], connect=False))
    apart = Constraints.from_pairs(50, cannot_link=[(0, 1)])
    with pytest.raises(ValueError, match="starts from points that must be in different clusters"):
        cluster(graph, Constraints.from_pairs(50, must_link=[(0, 1)]), 3, strategy="spread")
    with pytest.raises(ValueError, match="takes no init"):
        cluster(graph, apart, 3, strategy="spread", init=np.arange(50) % 3)
    with pytest.raises(ValueError, match="takes no init and no max_violations"):
        cluster(graph, apart, 3, strategy="spread", max_violations=1)
    triangle = Constraints.from_pairs(50, cannot_link=[(0, 1), (1, 2), (0, 2)])
    with pytest.raises(InconsistentConstraintsError):
        cluster(graph, triangle, 2, strategy="spread")
