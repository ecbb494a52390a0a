"""`cluster` and its neighbours on problems whose weights, vertex weights and beliefs are anywhere from 1e-320 to 1e300.

Promised: an answer or a documented error; k clusters, none empty; constraints that hold where none may be violated; a finite
cut, measured with the numbers given; no warning.
"""

import math
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import wraps
from unittest.mock import patch

import numpy as np
from fuzz.draw import HIGHEST, LOWEST, assert_labels, clusters, positive, size, symmetric

from tightcut import Constraints, Graph, cluster, tradeoff_path
from tightcut.audit import audit
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem.objective import normalized_cut
from tightcut.search import large, large_problem, team
from tightcut.search.k_way import ManyClusters
from tightcut.search.spectral_k import choose_n_clusters
from tightcut.search.two_clusters import TwoClusters

CHECKS = {}
MOST_POINTS = 14


def check(function):
    """A check of problems drawn at random. Graphs may be refused for the size of their numbers, and constraints contradict."""

    @wraps(function)
    def run(rng):
        if (made := problem(rng)) is not None:
            with suppress(InconsistentConstraintsError):
                function(rng, *made)

    CHECKS[function.__name__] = run
    return run


def problem(rng):
    """A graph and constraints, or None where the graph is refused for the size of its numbers."""
    n = size(rng, MOST_POINTS)
    # Half of the graphs in a range that is not refused.
    highest = rng.choice([99, HIGHEST])

    def weights(rng, count):
        return positive(rng, count, LOWEST, highest)

    own = weights(rng, n)
    vertex_weights = ["degree", "ones", own][rng.integers(3)]
    try:
        graph = Graph.from_affinity(symmetric(rng, n, weights), vertex_weights)
    except ValueError as error:
        if "overflow" not in str(error):
            raise
        return None
    return graph, constraints(rng, n)


def constraints(rng, n):
    """Few or many pairs, half of the time such that some clustering satisfies all of them."""
    first, second = np.triu_indices(n, 1)
    chosen = rng.permutation(len(first))[: rng.integers(0, n + 1)]
    pairs = np.stack([first[chosen], second[chosen]], axis=1)
    groups = rng.integers(clusters(rng, n), size=n)
    must = groups[pairs[:, 0]] == groups[pairs[:, 1]]
    if rng.random() < 0.5:
        must = rng.random(len(pairs)) < 0.4
    belief = positive(rng, len(pairs), LOWEST, 0) if rng.random() < 0.7 else np.ones(len(pairs))
    return Constraints.from_pairs(n, pairs[must], pairs[~must], belief[must], belief[~must])


@check
def clustering(rng, graph, known):
    k = clusters(rng, graph.n_vertices)
    limit = [0, 0, 1, "fewest", float(positive(rng, 1, LOWEST, 1)[0])][rng.integers(5)]
    settings = {"effort": float(rng.choice([0, 0, 0.3])), "influence": float(rng.choice([0, 0, 1]))}
    found = cluster(graph, known, k, max_violations=limit, n_jobs=1, random_state=0, progress=_progress, **settings)
    _assert_result(found, graph, known, k)
    if limit == 0:
        assert found.n_violations == 0, found.violations
    elif limit != "fewest":
        assert found.violations.belief <= limit + 1e-9, found.violations


@check
def clustering_by_teams(rng, graph, known):
    """The search of large graphs, on graphs that it takes for large."""
    with ExitStack() as patches:
        for place, name, value in (
            (large, "LIMITS", replace(large.LIMITS, units=3)),
            (large_problem, "LEVEL_LIMIT", int(rng.integers(1, 9))),
            (ManyClusters, "middle", lambda self, *, large: 3 * self.k),  # noqa: ARG005
            (TwoClusters, "middle", lambda self, *, large: 4),  # noqa: ARG005
            (team, "ROWS_OF_A_THREAD", 2),
        ):
            patches.enter_context(patch.object(place, name, value))
        k = clusters(rng, graph.n_vertices)
        limit = [0, 0, 1, "fewest"][rng.integers(4)]
        settings = {"max_violations": limit, "influence": float(rng.choice([0, 1])), "n_jobs": int(rng.integers(1, 4))}
        found = cluster(graph, known, k, effort=float(rng.choice([0, 0.3])), random_state=0, **settings)
    _assert_result(found, graph, known, k)
    assert limit != 0 or found.n_violations == 0, found.violations


@check
def tradeoff(rng, graph, known):  # noqa: ARG001
    if graph.n_vertices > 1:
        for found in tradeoff_path(graph, known, effort=0.0, n_jobs=1, random_state=0, progress=_progress):
            _assert_result(found, graph, known, 2)


@check
def paper(rng, graph, known):
    k = min(clusters(rng, graph.n_vertices), 4)
    found = cluster(graph, known, k, method="paper", effort=0.0, random_state=0, progress=_progress)
    _assert_result(found, graph, known, k)


@check
def prices(rng, graph, known):
    k = clusters(rng, graph.n_vertices)
    present = np.append(np.arange(k), rng.integers(k, size=graph.n_vertices - k))
    found = audit(graph, known, present, n_solved=1, effort=0.0, n_jobs=1)
    assert all(math.isfinite(row.price) for row in found)


@check
def number_of_clusters(rng, graph, known):  # noqa: ARG001
    found = choose_n_clusters(graph, known)
    assert 2 <= found.n_clusters <= graph.n_vertices
    assert found.eigenvalues is None or np.isfinite(found.eigenvalues).all()


def _progress(stage, done, total, best):
    assert 0 <= done <= total, (stage, done, total)
    assert math.isnan(best) or best >= 0, (stage, best)


def _assert_result(found, graph, known, k):
    assert_labels(found.labels, k, all_used=True)
    assert 0 <= found.cut < math.inf
    assert found.cut == normalized_cut(graph, found.labels)
    assert all(0 <= value < math.inf for value in found.history or ())
    own = known.violations(found.labels)
    assert (found.violations.belief, found.violations.n_violations) == (own.belief, own.n_violations)
