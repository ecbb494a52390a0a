"""Scored pairs under rules against all partitions of a few records."""

import itertools
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from tightcut import InconsistentConstraintsError, kernels, resolve

CASES = 245


@cache
def set_partitions(n):
    """Every partition of n records once, as labels by first appearance."""
    rows = [[0]]
    for _ in range(n - 1):
        rows = [[*row, label] for row in rows for label in range(max(row) + 2)]
    return np.array(rows)


def random_case(seed, n=None):
    """Scored pairs of n records, 0 to 3 of each kind of rule: as matrices and as arguments."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8)) if n is None else n
    entity = rng.integers(0, 3, n)
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    pairs = pairs[rng.random(len(pairs)) < rng.choice([0.5, 0.9])]
    pairs = np.array([[0, 1]]) if len(pairs) == 0 else pairs
    odds = rng.normal(np.where(entity[pairs[:, 0]] == entity[pairs[:, 1]], 1, -1), 2).round(rng.integers(0, 4))
    probability = 1 / (1 + np.exp(-odds))
    scored = np.unique(pairs)

    def some(count):
        return [tuple(rng.choice(scored, 2, replace=False).tolist()) for _ in range(count)]

    strict = seed % 2
    rules = {
        "must_link": some(rng.integers(0, 2 + strict)),
        "cannot_link": some(rng.integers(0, 3)),
        "groups": {int(v): int(rng.integers(0, 4)) for v in scored if rng.random() < rng.choice([0, 0.7])},
        "labels": {int(v): int(rng.integers(0, 3)) for v in scored if rng.random() < 0.3 * strict},
    }
    return n, pairs, probability, rules


def disagreements(pairs, odds, labels):
    """Of each row of labels."""
    together = labels[:, pairs[:, 0]] == labels[:, pairs[:, 1]]
    return np.abs(np.where(together != (odds > 0), odds, 0)).sum(axis=1)


def allowed(labels, rules):
    """Which rows of labels keep every rule, said with no code of the library."""
    good = np.ones(len(labels), bool)
    for i, j in rules["must_link"]:
        good &= labels[:, i] == labels[:, j]
    for i, j in rules["cannot_link"]:
        good &= labels[:, i] != labels[:, j]
    for i, j in itertools.combinations(rules["groups"], 2):
        if rules["groups"][i] == rules["groups"][j]:
            good &= labels[:, i] != labels[:, j]
    for i, j in itertools.combinations(rules["labels"], 2):
        good &= (labels[:, i] == labels[:, j]) == (rules["labels"][i] == rules["labels"][j])
    return good


def edges(pairs, probability):
    return {"a": pairs[:, 0], "b": pairs[:, 1], "probability": probability}


def log_odds(probability):
    return np.log(probability / (1 - probability))


def everywhere(n, found):
    """The labels of all n records; those that occur in no pair and no rule are alone."""
    labels = np.arange(n) + n
    labels[found.ids] = found.labels
    return labels


@pytest.mark.parametrize(
    ("begin", "end"),
    [(0, 20), *(pytest.param(part, part + CASES, marks=pytest.mark.slow) for part in range(20, 1000, CASES))],
)
def test_the_disagreement_is_the_least_that_the_rules_allow(begin, end):
    contradictory = 0
    for seed in range(begin, end):
        n, pairs, probability, rules = random_case(seed)
        table = set_partitions(n)[allowed(set_partitions(n), rules)]
        if len(table) == 0:
            contradictory += 1
            with pytest.raises(InconsistentConstraintsError):
                resolve(edges(pairs, probability), **rules)
            continue
        found = resolve(edges(pairs, probability), **rules)
        labels = everywhere(n, found)
        best = disagreements(pairs, log_odds(probability), table).min()
        assert allowed(labels[None], rules).all(), seed
        assert disagreements(pairs, log_odds(probability), labels[None])[0] == pytest.approx(best, abs=1e-6), seed
        assert found.disagreement == pytest.approx(best, abs=1e-6), seed
        assert found.lower_bound == pytest.approx(best, abs=1e-6), seed
        assert found.n_proven == found.n_components, seed
    assert 0 < contradictory < (end - begin) // 2


def most_inside(weights):
    """The largest weight inside clusters, by dynamic programming over subsets; those forbidden weigh -inf."""
    n = len(weights)
    inside = np.zeros(1 << n)
    for s in range(1, 1 << n):
        v = (s & -s).bit_length() - 1
        others = [u for u in range(v + 1, n) if s >> u & 1]
        inside[s] = inside[s & (s - 1)] + weights[v, others].sum()
    most = np.zeros(1 << n)
    for s in range(1, 1 << n):
        lowest = s & -s
        parts = subsets(s ^ lowest)
        most[s] = (inside[parts | lowest] + most[s ^ lowest ^ parts]).max()
    return most[-1]


def subsets(mask):
    parts = np.zeros(1, np.int64)
    while mask:
        lowest = mask & -mask
        parts = np.concatenate([parts, parts | lowest])
        mask ^= lowest
    return parts


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_fourteen_records_are_solved_best(seed):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.normal(0, 2, (14, 14)), 1)
    weights[np.triu(rng.random((14, 14)) < 0.3, 1)] = 0
    pairs = np.argwhere(weights != 0)
    probability = 1 / (1 + np.exp(-weights[weights != 0]))
    cannot = [(0, 13), (3, 7)] if seed % 2 else []
    for i, j in cannot:
        weights[i, j] = -np.inf
    found = resolve(edges(pairs, probability), cannot_link=cannot)
    odds = log_odds(probability)
    best = odds[odds > 0].sum() - most_inside(np.where(np.isneginf(weights), -np.inf, weights + weights.T))
    assert found.disagreement == pytest.approx(best)
    assert found.n_proven == found.n_components


def signed_graph(rng, n, density, centre=0.3):
    weights = np.triu(np.where(rng.random((n, n)) < density, rng.normal(centre, 2, (n, n)), 0), 1)
    weights[np.triu(rng.random((n, n)) < 0.05, 1)] = -np.inf
    return weights + weights.T


def solve(weights, exact_size, most_nodes=100_000):
    graph = sp.csr_array(weights)
    n, nothing = len(weights), np.zeros(len(weights) + 1, np.int32)
    arrays = graph.indptr.astype(np.int32), graph.indices.astype(np.int32), graph.data
    starts = np.array([0, n], np.int32)
    labels, cost, bound = kernels.resolve_components(starts, *arrays, nothing, nothing[:0], 1, exact_size, most_nodes)
    return labels, cost[0], bound[0]


def check_cost(weights, labels, cost):
    """The cost is what the labels contradict, and they keep the rules."""
    together, finite = labels[:, None] == labels, np.where(np.isfinite(weights), weights, 0)
    assert not (together & np.isneginf(weights)).any()
    assert cost == pytest.approx(np.abs(finite[together != (finite > 0)]).sum() / 2)


@pytest.mark.parametrize("n", [6, 12, 40])
def test_without_enumeration_bounds_hold_and_no_rule_is_broken(n):
    rng = np.random.default_rng(n)
    for _ in range(30):
        weights = signed_graph(rng, n, 0.4)
        labels, cost, bound = solve(weights, exact_size=0)
        check_cost(weights, labels, cost)
        assert bound <= cost + 1e-9
        if n <= 12:
            best = solve(weights, exact_size=20)[1]
            assert bound - 1e-9 <= best <= cost + 1e-9
            assert solve(weights, exact_size=20, most_nodes=3)[2] <= best + 1e-9


def test_solving_parts_exactly_only_helps():
    rng = np.random.default_rng(3)
    gains = []
    for _ in range(20):
        weights = signed_graph(rng, 40, 0.3)
        labels, cost, bound = solve(weights, exact_size=20)
        check_cost(weights, labels, cost)
        gains.append(solve(weights, exact_size=0)[1] - cost)
        assert bound <= cost
    assert min(gains) > -1e-9
    assert max(gains) > 0


@pytest.mark.parametrize("exact_size", [0, 20])
def test_no_single_move_or_join_would_help(exact_size):
    rng = np.random.default_rng(5)
    for _ in range(20):
        weights = signed_graph(rng, 30, 0.3)
        labels, _, _ = solve(weights, exact_size)
        for v in range(30):
            own = weights[v, labels == labels[v]].sum()
            for c in range(labels.max() + 2):
                there = weights[v, labels == c].sum()
                assert c == labels[v] or there <= own + 1e-6
        for a, b in itertools.combinations(range(labels.max() + 1), 2):
            assert weights[np.ix_(labels == a, labels == b)].sum() <= 1e-6


def test_two_records_of_a_source_change_places():
    """Neither can move alone: each would meet the other in its new cluster."""
    pairs = {(0, 1): 3, (2, 3): 3, (1, 3): -9, (0, 4): 1, (4, 1): 1, (2, 5): 1, (5, 3): 1, (4, 2): 2.5, (4, 3): 2.5}
    pairs |= {(5, 0): 2.5, (5, 1): 2.5, (0, 2): -9}
    weights = np.zeros((6, 6))
    for (i, j), weight in pairs.items():
        weights[i, j] = weights[j, i] = weight
    graph = sp.csr_array(weights)
    groups = np.array([0, 0, 0, 0, 0, 1, 2], np.int32), np.zeros(2, np.int32)
    arrays = graph.indptr.astype(np.int32), graph.indices.astype(np.int32), graph.data
    labels, _, _ = kernels.resolve_components(np.array([0, 6], np.int32), *arrays, *groups, 1, 0, 0)
    assert labels[4] == labels[2] == labels[3]
    assert labels[5] == labels[0] == labels[1]


def changed(labels, moved, to):
    labels = labels.copy()
    labels[moved] = to
    return labels


@pytest.mark.parametrize("seed", range(40))
def test_margins_of_cuts_are_what_the_best_alternative_costs(seed):
    n, pairs, probability, rules = random_case(2000 + seed, n=7)
    rules |= {"must_link": [], "labels": {}}
    found = resolve(edges(pairs, probability), **rules)
    odds, labels = log_odds(probability), everywhere(n, found)
    for a, b, margin in zip(*(found.cut_edges[name] for name in ("a", "b", "margin")), strict=True):
        moves = ((labels == labels[a], labels[b]), (a, labels[b]), (b, labels[a]))
        alternatives = np.array([changed(labels, moved, to) for moved, to in moves])
        costs = disagreements(pairs, odds, alternatives) - found.disagreement
        costs[~allowed(alternatives, rules)] = np.inf
        assert margin == pytest.approx(max(costs.min(), 0), abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_margins_of_joins_are_what_a_split_at_a_spanning_tree_costs(seed):
    rng = np.random.default_rng(seed)
    n = 9
    weights = np.where(rng.random((n, n)) < 0.6, rng.normal(2, 2, (n, n)), 0)
    weights[np.arange(n - 1), np.arange(1, n)] = 0.5  # one component
    first, second = np.triu_indices(n, 1)
    weight = weights[first, second]
    order = np.argsort(-weight, kind="stable")
    first, second, weight = first[order].astype(np.int32), second[order].astype(np.int32), weight[order]
    position, between = kernels.weigh_branches(first, second, weight, n)
    tree = {(int(first[e]), int(second[e])) for e in position}
    assert len(tree) == n - 1
    for e, value in zip(position, between, strict=True):
        branch = reachable(int(first[e]), tree - {(int(first[e]), int(second[e]))})
        assert 0 < len(branch) < n
        crossing = np.isin(first, branch) != np.isin(second, branch)
        assert weight[crossing].max() == weight[e]
        assert value == pytest.approx(weight[crossing].sum())


def reachable(start, links):
    seen, waiting = {start}, [start]
    while waiting:
        v = waiting.pop()
        near = {b if a == v else a for a, b in links if v in (a, b)} - seen
        seen |= near
        waiting += near
    return list(seen)
