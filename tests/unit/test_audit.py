"""The price of each constraint."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from tightcut import Constraints, Graph, cluster, datasets, knn_affinity
from tightcut.audit import Audit, ConstraintPrice, audit, own_share
from tightcut.problem.objective import normalized_cut

QUICK = {"effort": 0.3, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    data = datasets.load_two_moons(160, 2, noise=0.08)
    return Graph.from_affinity(knn_affinity(data.X)), data.y


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs([50, 50, 50], centers=[[0, 0], [6, 0], [3, 5]], cluster_std=1.4, random_state=0)
    return Graph.from_affinity(knn_affinity(X)), y


def wrong_pair(y, *, must):
    """A cannot-link inside the first class, or a must-link between the first two."""
    first, second = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    pair = (first[3], second[7]) if must else (first[3], first[30])
    pairs = [tuple(sorted(map(int, pair)))]
    return Constraints.from_pairs(len(y), *((pairs, None) if must else (None, pairs)))


def right_pairs(y, wrong, n_pairs=20, seed=1):
    """True pairs of points that occur in no other pair: chains with a wrong pair would share its price."""
    taken = np.concatenate([wrong.must_link, wrong.cannot_link]).ravel()
    free = np.setdiff1d(np.arange(len(y)), taken)
    pairs = np.random.default_rng(seed).permutation(free)[: 2 * n_pairs].reshape(-1, 2)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints.from_pairs(len(y), pairs[same], pairs[~same])


@pytest.mark.slow
@pytest.mark.parametrize("must", [False, True])
@pytest.mark.parametrize("name", ["moons", "blobs"])
def test_a_wrong_pair_is_the_most_expensive(name, must, request):
    graph, y = request.getfixturevalue(name)
    k = int(y.max()) + 1
    wrong = wrong_pair(y, must=must)
    right = right_pairs(y, wrong)
    found = cluster(graph, right | wrong, k, **QUICK)
    prices = audit(graph, right | wrong, found.labels)
    pair = (wrong.must_link if must else wrong.cannot_link)[0].tolist()
    assert (prices[0].kind, prices[0].first, prices[0].second) == ("must" if must else "cannot", *pair)
    assert prices[0].method == "solved"
    assert prices[0].price > 0.1 * prices.cut
    assert prices[0].price > 1.2 * prices[1].price


@pytest.mark.parametrize("name", ["moons", "blobs"])
def test_prices_are_differences_of_cuts_that_exist(name, request):
    graph, y = request.getfixturevalue(name)
    constraints = datasets.sample_constraints(y, 25, random_state=2, noise=0.1)
    found = cluster(graph, constraints, int(y.max()) + 1, max_violations="fewest", **QUICK)
    prices = audit(graph, constraints, found.labels, n_solved=3)
    assert len(prices) == constraints.n_pairs
    assert all(row.price >= 0 for row in prices)
    assert all(row.cut_without == pytest.approx(prices.cut - row.price) for row in prices)
    assert [row.price for row in prices] == sorted((row.price for row in prices), reverse=True)
    assert prices.cut <= found.cut + 1e-12
    assert sum(row.method == "solved" for row in prices) <= 3
    assert sum(row.method == "violated" for row in prices) == found.n_violations
    assert all(row.price == 0 for row in prices if row.method in ("implied", "violated"))


def test_a_price_agrees_with_leaving_the_pair_out(moons):
    graph, y = moons
    wrong = wrong_pair(y, must=False)
    right = datasets.sample_constraints(y, 10, random_state=3)
    found = cluster(graph, right | wrong, random_state=0)
    top = audit(graph, right | wrong, found.labels)[0]
    without = cluster(graph, right, random_state=0)
    assert top.cut_without == pytest.approx(without.cut)
    assert top.price == pytest.approx(found.cut - without.cut)


@pytest.mark.parametrize(("k", "implied"), [(2, 4), (3, 3)])
def test_what_others_imply_costs_nothing(k, implied):
    # A triangle of must-links implies each of its sides. Two clusters also know that both cannot-links say the same.
    graph = Graph.from_affinity(np.ones((8, 8)))
    constraints = Constraints.from_pairs(8, [(0, 1), (1, 2), (0, 2)], [(3, 4), (5, 6)] if k == 3 else [(0, 3), (1, 3)])
    found = cluster(graph, constraints, k, **QUICK)
    prices = audit(graph, constraints, found.labels)
    assert sum(row.method == "implied" for row in prices) >= implied


def test_labels_that_can_be_improved_do_not_inflate_prices(moons):
    graph, y = moons
    constraints = datasets.sample_constraints(y, 12, random_state=0)
    spoiled = y.copy()
    loose = np.setdiff1d(np.arange(len(y)), np.concatenate([constraints.must_link, constraints.cannot_link]))[:10]
    spoiled[loose] = 1 - spoiled[loose]
    prices = audit(graph, constraints, spoiled)
    assert prices.cut < normalized_cut(graph, spoiled)
    assert all(row.price < 1e-3 for row in prices)


def test_the_result_is_the_same_for_any_number_of_threads(moons):
    graph, y = moons
    constraints = datasets.sample_constraints(y, 15, random_state=4, noise=0.1)
    found = cluster(graph, constraints, max_violations="fewest", **QUICK)
    assert audit(graph, constraints, found.labels, n_jobs=2) == audit(graph, constraints, found.labels)


def test_only_the_most_strained_are_looked_at(moons):
    graph, y = moons
    wrong = wrong_pair(y, must=True)
    constraints = right_pairs(y, wrong) | wrong
    found = cluster(graph, constraints, **QUICK)
    prices = audit(graph, constraints, found.labels, max_pairs=5)
    assert sum(row.method == "skipped" for row in prices) == constraints.n_pairs - 5
    assert [prices[0].first, prices[0].second] == wrong.must_link[0].tolist()


def test_the_estimate_alone_finds_wrong_pairs():
    # Each holds the border far from where local search from the present clustering could bring it back.
    data = datasets.load_two_moons(120, 2, noise=0.1)
    graph = Graph.from_affinity(knn_affinity(data.X))
    wrong = Constraints.from_pairs(120, must_link=[(0, 119)], cannot_link=[(1, 2)])
    constraints = datasets.sample_constraints(data.y, 10, random_state=0) | wrong
    found = cluster(graph, constraints, random_state=0)
    prices = audit(graph, constraints, found.labels, n_solved=0)
    assert {row.method for row in prices} <= {"estimated", "implied"}
    assert (prices[0].kind, prices[0].first, prices[0].second) in {("must", 0, 119), ("cannot", 1, 2)}
    assert prices[0].price > 0.3 * prices.cut


def test_a_price_is_that_of_its_pair_where_the_labels_given_violate_another():
    """The search satisfies the first pair, too, which then was taken for the second."""
    squares = np.kron(np.eye(2), 1 - np.eye(4))
    squares[3, 4] = squares[4, 3] = 0.5
    known = Constraints.from_pairs(8, must_link=[(0, 1), (2, 5)])
    prices = audit(Graph.from_affinity(squares), known, [1, 0, 0, 0, 0, 0, 0, 0])
    assert [(row.first, row.second, row.method) for row in prices] == [(2, 5, "solved"), (0, 1, "violated")]
    assert prices[0].price > 0.1


@pytest.mark.parametrize("settings", [{"n_solved": -1}, {"max_pairs": -1}])
def test_fewer_than_none_are_refused(moons, settings):
    graph, y = moons
    with pytest.raises(ValueError, match=f"{next(iter(settings))} must be a whole number >= 0; got -1"):
        audit(graph, Constraints.from_pairs(len(y), [(0, 1)]), y, **settings)


def test_nothing_to_audit(moons):
    graph, y = moons
    assert len(audit(graph, Constraints.from_pairs(len(y)), y)) == 0
    one = audit(graph, Constraints.from_pairs(len(y), [(0, 1)], [(0, 2)]), np.zeros(len(y), int))
    assert [row.price for row in one] == [0, 0]


def test_progress_is_reported(moons):
    graph, y = moons
    constraints = datasets.sample_constraints(y, 5, random_state=1)
    calls = []
    audit(graph, constraints, y, n_solved=2, progress=lambda *call: calls.append(call[:3]))
    assert [call for call in calls if call[0] == "estimate"] == [("estimate", step, 5) for step in range(1, 6)]
    assert calls[-1][0] == "solve"


def test_the_table_as_a_frame():
    pandas = pytest.importorskip("pandas")
    row = ConstraintPrice("must", 0, 2, 1.0, 0.5, 0.25, "solved")
    frame = Audit((row,), 0.75, 0.5).to_dataframe(ids=["ann", "bob", "eve"])
    assert frame.columns[:4].tolist() == ["kind", "first", "second", "belief"]
    assert frame.loc[0, ["first", "second", "price"]].tolist() == ["ann", "eve", 0.5]
    assert len(Audit((), 0.75, 0.75).to_dataframe()) == 0
    sorted_elsewhere = pandas.Series(["ann", "bob", "eve"], index=[2, 0, 1])
    assert Audit((row,), 0.75, 0.5).to_dataframe(sorted_elsewhere).loc[0, ["first", "second"]].tolist() == [
        "ann",
        "eve",
    ]


def test_own_share_of_isolated_vertices_is_1():
    graph = Graph.from_affinity(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    assert own_share(graph, np.array([0, 1, 1])).tolist() == [0, 0, 1]
