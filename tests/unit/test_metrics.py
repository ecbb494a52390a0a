"""Measures against hand-computed values and their definitions."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_graph

from tightcut import Constraints, Graph, metrics
from tightcut.problem import objective
from tightcut.utils.codes import renumber


def random_affinity(n, seed):
    return random_graph(np.random.default_rng(seed), n).weights.toarray()


def cut_by_definition(affinity, labels, mass):
    total = 0.0
    for label in np.unique(labels):
        inside = labels == label
        total += affinity[inside][:, ~inside].sum() / mass[inside].sum()
    return total


labellings = st.integers(1, 40).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-2, 5), min_size=n, max_size=n) for _ in range(2)])
)


@given(labellings)
def test_error_is_the_majority_vote(case):
    classes, labels = map(np.array, case)
    right = sum(np.unique(classes[labels == c], return_counts=True)[1].max() for c in np.unique(labels))
    assert metrics.clustering_error(classes, labels) == pytest.approx(1 - right / len(classes))


def test_error_extremes_and_names():
    assert metrics.clustering_error([0, 1, 2], ["c", "a", "b"]) == 0
    assert metrics.clustering_error([0, 0, 1, 2], [5, 5, 5, 5]) == 0.5
    assert metrics.clustering_error(np.arange(10_000), np.arange(10_000)) == 0


@pytest.mark.parametrize("seed", range(5))
def test_cuts_follow_their_definition_in_every_form(seed):
    affinity = random_affinity(12, seed) + 0.01 * (1 - np.eye(12))
    labels = np.random.default_rng(seed).integers(-1, 3, 12)
    names = np.array(["noise", "a", "b", "c"])[labels + 1]
    ncut = cut_by_definition(affinity, labels, affinity.sum(axis=1))
    rcut = cut_by_definition(affinity, labels, np.ones(12))
    for form in (affinity, affinity.tolist(), sp.csr_matrix(affinity), Graph.from_affinity(affinity)):
        assert metrics.normalized_cut(form, names) == pytest.approx(ncut)
        assert metrics.ratio_cut(form, labels) == pytest.approx(rcut)


def test_the_vertex_weights_of_a_graph_count():
    affinity, labels, mass = random_affinity(12, 0), np.arange(12) % 3, np.linspace(1, 2, 12)
    graph = Graph.from_affinity(affinity, mass)
    assert metrics.normalized_cut(graph, labels) == pytest.approx(cut_by_definition(affinity, labels, mass))
    assert metrics.ratio_cut(graph, labels) == pytest.approx(cut_by_definition(affinity, labels, np.ones(12)))


def test_the_cut_of_a_large_graph_is_the_same(monkeypatch):
    """Above some number of edges no list of them is made."""
    affinity, labels = random_affinity(20, 1), np.arange(20) % 4
    expected = metrics.normalized_cut(affinity, labels)
    monkeypatch.setattr(objective, "MANY_EDGES", 0)
    assert metrics.normalized_cut(affinity, labels) == pytest.approx(expected, rel=1e-13)


@given(st.lists(st.integers(-3, 3), max_size=12), st.sampled_from([int, float, str, np.int8]))
def test_clusters_are_numbered_by_their_first_member(values, kind):
    for shift in (0, 3):
        labels = np.array(values, np.int64) + shift
        order = list(dict.fromkeys(labels.tolist()))
        expected = [order.index(label) for label in labels.tolist()]
        assert renumber(labels.astype(kind)).tolist() == expected


def test_one_cluster_cuts_nothing():
    assert metrics.normalized_cut(random_affinity(6, 0), np.zeros(6)) == 0


def test_violated_fractions():
    known = Constraints.from_pairs(5, [(0, 1), (1, 2)], [(0, 3), (3, 4), (2, 4)], cannot_link_belief=[1, 0.25, 0.75])
    found = metrics.violated_fractions(known, ["x", "x", "y", "z", "z"])
    assert (found.must, found.cannot, found.all) == (1 / 2, 1 / 3, 2 / 5)
    assert found.belief == pytest.approx((1 + 0.25) / 4)


def test_violated_fractions_without_constraints_are_zero():
    nothing = metrics.ViolatedFractions(0, 0, 0, 0)
    assert metrics.violated_fractions(Constraints.from_pairs(3), [0, 1, 2]) == nothing


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.clustering_error([0, 1], [0]), "y_true has 2 entries but labels has 1"),
        (lambda: metrics.clustering_error([], []), "y_true must be a non-empty list"),
        (lambda: metrics.clustering_error([0, 1], [[0, 1]]), r"labels must be .*got shape \(1, 2\)"),
        (lambda: metrics.clustering_error([0, 1], [0, np.nan]), "labels row 1 has no label"),
        (lambda: metrics.clustering_error(["a", None], [0, 1]), "y_true row 1 has no label"),
        (lambda: metrics.clustering_error(pd.array(["a", pd.NA]), [0, 1]), "y_true row 1 has no label"),
        (lambda: metrics.normalized_cut(np.ones((3, 3)), [0, 1]), "one entry per vertex, 3; got 2"),
        (lambda: metrics.ratio_cut([[0, 1], [2, 0]], [0, 1]), "not symmetric"),
        (lambda: metrics.violated_fractions(Constraints.from_pairs(3), [0, 1]), "one entry per point"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_types():
    with pytest.raises(TypeError, match="must be tightcut.Constraints; got list"):
        metrics.violated_fractions([(0, 1)], [0, 1])
    with pytest.raises(TypeError, match="labels mixes int and str"):
        metrics.clustering_error([0, 1], np.array([0, "a"], dtype=object))
