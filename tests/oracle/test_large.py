"""The problems whose steps all threads take: scores, levels and agreements are those of the same problem on one thread."""

import numpy as np
import pytest
from strategies import random_constraints, random_graph

from tightcut.search import evolve, large_problem
from tightcut.search import large as large_module
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.k_way import ManyClusters, random_labels
from tightcut.search.large import by_team, search_large
from tightcut.search.options import QUICK, SearchOptions
from tightcut.search.team import Team
from tightcut.search.two_way import TwoClusters, reduce_to_units


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(large_problem, "LEVEL_LIMIT", 30)
    for kind in (TwoClusters, ManyClusters):
        monkeypatch.setattr(kind, "middle", lambda self, *, large: 30)  # noqa: ARG005


def problem(k, n=200):
    rng = np.random.default_rng(1)
    graph = random_graph(rng, n, 0.05)
    constraints = random_constraints(rng, n, 60, rng.permutation(np.arange(n) % 2))
    if k == 2:
        return TwoClusters(reduce_to_units(graph, constraints).small)
    return ManyClusters.of(ConstrainedGraph.from_graph(graph, constraints), k)


def states(here, count, seed=0):
    rng = np.random.default_rng(seed)
    if isinstance(here, TwoClusters):
        return [rng.choice(np.array([-1, 1], np.int8), here.size) for _ in range(count)]
    return [random_labels(here.size, here.k, rng) for _ in range(count)]


@pytest.mark.parametrize("k", [2, 3])
def test_states_have_the_scores_they_have_on_one_thread(k):
    here = problem(k)
    there = by_team(here, Team(2))
    for state in states(here, 4):
        assert there.judge(state)[0] == pytest.approx(here.judge(state)[0], rel=1e-10)


@pytest.mark.parametrize("k", [2, 3])
def test_levels_keep_every_score(k):
    here = problem(k)
    there = by_team(here, Team(2))
    (given,) = states(here, 1)
    levels = [there.halve(1e9, np.random.default_rng(0)), there.matched(1e9, np.random.default_rng(0), given)]
    levels.append(levels[0].followed_by(levels[0].small.halve(1e9, np.random.default_rng(1))))
    for level in levels:
        assert level.small.size < 0.8 * here.size
        for state in states(level.small, 3):
            lifted = level.lift(state)
            np.testing.assert_array_equal(level.project(lifted), state)
            if k == 2:  # violations that a unit holds within itself are not counted in smaller problems of k clusters
                assert here.judge(lifted)[0] == pytest.approx(level.small.judge(state)[0], rel=1e-9)
            else:
                assert here.cut(lifted) == pytest.approx(level.small.cut(state), rel=1e-9)
    np.testing.assert_array_equal(levels[1].lift(levels[1].project(given)), given)


@pytest.mark.parametrize("k", [2, 3])
def test_agreement_as_on_one_thread(k):
    here = problem(k)
    there = by_team(here, Team(2))
    first, other = states(here, 2)
    here.refine(first)
    second = first.copy()
    second[:20] = other[:20]
    if k == 2:
        second = -second  # the mirror image is the same solution
    expected, found = here.agreement([first, second]), there.agreement([first, second])
    assert found.small.size == expected.small.size < here.size
    for state in states(found.small, 3):
        assert found.small.judge(state)[0] == pytest.approx(expected.small.judge(state)[0], rel=1e-9)
        assert there.judge(found.lift(state))[0] == pytest.approx(here.judge(expected.lift(state))[0], rel=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_refinement_and_cycles_are_never_worse(k):
    here = problem(k)
    there = by_team(here, Team(3))
    for state in states(here, 3):
        refined = state.copy()
        there.refine(refined)
        assert there.judge(refined)[0] < there.judge(state)[0]
        score, found = evolve.v_cycle(there.at_full_price(), refined, np.random.default_rng(0))
        assert score == pytest.approx(here.judge(found)[0], rel=1e-9)
        assert score <= there.judge(refined)[0] * (1 + 1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_what_is_known_is_never_lost(k):
    here = problem(k)
    best = evolve.search(here, np.random.default_rng(0), SearchOptions())[0]
    found = search_large(here, np.random.default_rng(1), QUICK, [best[1]])
    assert found[0][0] <= best[0] * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
def test_not_much_worse_than_moves_of_one_vertex_at_a_time(k):
    here = problem(k, n=800)
    best = evolve.search(here, np.random.default_rng(0), SearchOptions())[0][0]
    assert search_large(here, np.random.default_rng(0), SearchOptions(), [])[0][0] <= 1.05 * best
    assert large_module.LIMITS.units > 800


def test_only_problems_of_labels_and_spins():
    with pytest.raises(TypeError, match=r"No team takes the steps of a int; search it with evolve\.search"):
        by_team(3, Team(1))
