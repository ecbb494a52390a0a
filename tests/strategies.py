"""Random problems for the tests, and the few dense formulas they are judged by.

The hypothesis strategies draw small graphs with general vertex weights, and constraints with or without degrees of
belief. The tables at the end go over all partitions at once, with plain numpy and none of the library's code.
"""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from tightcut import Constraints, Graph

WEIGHTS = st.floats(0.05, 10)
BELIEFS = np.array([0.3, 0.5, 1.0])


@st.composite
def graphs(draw, min_vertices=2, max_vertices=8, connected=True):
    """A weighted graph whose vertex weights are degrees, ones, or any positive numbers."""
    n = draw(st.integers(min_vertices, max_vertices))
    weights = np.zeros((n, n))
    rows, columns = np.triu_indices(n, 1)
    weights[rows, columns] = draw(st.lists(st.just(0.0) | WEIGHTS, min_size=len(rows), max_size=len(rows)))
    for vertex in range(1, n) if connected else ():
        weights[draw(st.integers(0, vertex - 1)), vertex] = draw(WEIGHTS)
    weights = np.triu(weights) + np.triu(weights).T
    own = st.lists(WEIGHTS, min_size=n, max_size=n)
    return Graph.from_affinity(weights, draw(st.sampled_from(["degree", "ones"]) | own))


@st.composite
def partitions(draw, n):
    """A boolean mask that is neither empty nor full."""
    return draw(st.lists(st.booleans(), min_size=n, max_size=n).map(np.array).filter(lambda side: 0 < side.sum() < n))


@st.composite
def vectors(draw, n):
    """A vector that is not constant, often with ties."""
    entries = st.integers(-3, 3).map(float) | st.floats(-5, 5, allow_subnormal=False)
    return draw(st.lists(entries, min_size=n, max_size=n).map(np.array).filter(lambda f: np.ptp(f) > 1e-3))


@st.composite
def constraint_sets(draw, n, side=None, beliefs=None, min_pairs=0, max_pairs=6):
    """Must-links and cannot-links on n points; if a side is given, all of them hold for that partition.

    `beliefs` says whether degrees of belief are drawn; None leaves that to chance.
    """
    pairs = st.sampled_from(list(itertools.combinations(range(n), 2)))
    chosen = draw(st.lists(pairs, min_size=min(min_pairs, n * (n - 1) // 2), max_size=max_pairs, unique=True))
    if side is None:
        is_must = draw(st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen)))
    else:
        is_must = [bool(side[i] == side[j]) for i, j in chosen]
    belief = st.floats(0.05, 1) if (draw(st.booleans()) if beliefs is None else beliefs) else st.just(1.0)
    weight = draw(st.lists(belief, min_size=len(chosen), max_size=len(chosen)))
    must = [pair for pair, same in zip(chosen, is_must, strict=True) if same]
    cannot = [pair for pair, same in zip(chosen, is_must, strict=True) if not same]
    must_weight = [value for value, same in zip(weight, is_must, strict=True) if same]
    cannot_weight = [value for value, same in zip(weight, is_must, strict=True) if not same]
    return Constraints.from_pairs(n, must, cannot, must_weight, cannot_weight)


@st.composite
def any_constraints(draw, max_points=8, max_pairs=10):
    """Must-links and cannot-links drawn independently of each other, so that a pair may be both."""
    n = draw(st.integers(2, max_points))
    pair = st.sampled_from(list(itertools.combinations(range(n), 2)))
    links = st.dictionaries(pair, st.sampled_from([0.25, 0.5, 1.0]), max_size=max_pairs)
    must, cannot = draw(links), draw(links)
    return Constraints.from_pairs(n, list(must), list(cannot), list(must.values()), list(cannot.values()))


@st.composite
def problems(draw, max_vertices=8, connected=True, beliefs=None):
    """A graph and any constraints on it, consistent or not."""
    graph = draw(graphs(max_vertices=max_vertices, connected=connected))
    return graph, draw(constraint_sets(graph.n_vertices, beliefs=beliefs))


@st.composite
def consistent_problems(draw, max_vertices=8, beliefs=None, min_pairs=0):
    """A connected graph, constraints on it, and a partition that satisfies them all."""
    graph = draw(graphs(max_vertices=max_vertices))
    side = draw(partitions(graph.n_vertices))
    return graph, draw(constraint_sets(graph.n_vertices, side, beliefs, min_pairs)), side


def random_graph(rng, n, density=0.5, vertex_weights="degree"):
    """A graph with uniform weights, connected or not, from a numpy generator."""
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return Graph.from_affinity(weights + weights.T, vertex_weights)


def random_pairs(rng, n, n_pairs, truth=None, cannot_share=0.6):
    """Distinct pairs, must-link or cannot-link at random or as a clustering says."""
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    pairs = pairs[rng.permutation(len(pairs))[:n_pairs]]
    same = rng.random(len(pairs)) > cannot_share if truth is None else truth[pairs[:, 0]] == truth[pairs[:, 1]]
    return pairs[same], pairs[~same]


def random_problem(seed, k, *, planted, beliefs=False, contradiction=False, min_pairs=0):
    """Five to nine vertices, sparse (often disconnected) or dense, one of three criteria, up to two pairs per vertex."""
    rng = np.random.default_rng([seed, k])
    n = int(rng.integers(k + 2, 10 if k == 3 else 9))
    criterion = ["degree", "ones", rng.uniform(0.2, 3, n)][seed % 3]
    graph = random_graph(rng, n, rng.choice([0.25, 0.5, 0.9]), criterion)
    truth = rng.permutation(np.arange(n) % k) if planted else None
    must, cannot = random_pairs(rng, n, int(rng.integers(min_pairs, 2 * n)), truth, rng.choice([0.6, 0.95]))
    if contradiction:
        cannot = np.concatenate([cannot, must[:1]])
    draw = rng.choice if beliefs else lambda _, size: np.ones(size)
    return graph, Constraints.from_pairs(n, must, cannot, draw(BELIEFS, len(must)), draw(BELIEFS, len(cannot)))


def random_constraints(rng, n, n_pairs, side=None, beliefs=False):
    """Random pairs; must-link or cannot-link at random, or as a given partition says."""
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    pairs = pairs[rng.permutation(len(pairs))[:n_pairs]]
    same = rng.random(len(pairs)) < 0.5 if side is None else side[pairs[:, 0]] == side[pairs[:, 1]]
    weight = rng.uniform(0.1, 1, len(pairs)) if beliefs else np.ones(len(pairs))
    return Constraints.from_pairs(n, pairs[same], pairs[~same], weight[same], weight[~same])


def all_partitions(n):
    """Every non-trivial partition of n vertices once, as rows of booleans; the last vertex is never inside."""
    return (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n)) & 1 == 1


def dense_pairs(n, pairs, belief):
    """The constraint matrix Q of the paper: symmetric, one entry for each direction of a pair."""
    matrix = np.zeros((n, n))
    for (i, j), value in zip(pairs.tolist(), belief.tolist(), strict=True):
        matrix[i, j] = matrix[j, i] = value
    return matrix


def partition_table(graph, constraints, sides):
    """Normalized cut and violated belief of every row of `sides`."""
    n = graph.n_vertices
    must = dense_pairs(n, constraints.must_link, constraints.must_link_belief)
    cannot = dense_pairs(n, constraints.cannot_link, constraints.cannot_link_belief)
    inside, outside = sides.astype(float), (~sides).astype(float)

    def across(matrix):
        return ((inside @ matrix) * outside).sum(axis=1)

    volume, rest = inside @ graph.vertex_weights, outside @ graph.vertex_weights
    cut = across(graph.weights.toarray()) * (1 / volume + 1 / rest)
    violated = across(must) + ((inside @ cannot) * inside + (outside @ cannot) * outside).sum(axis=1) / 2
    return cut, violated


def smallest_consistent_cut(graph, constraints):
    """The cut from which the penalty bound is sharpest."""
    cut, violated = partition_table(graph, constraints, all_partitions(graph.n_vertices))
    return best_cut(cut, violated == 0)


def best_cut(cut, allowed):
    """The smallest cut among the allowed partitions; infinite if there is none."""
    return float(cut[allowed].min(initial=np.inf))
