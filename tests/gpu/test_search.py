"""The search on the device: every step against the CPU's, every constraint satisfied, the same for any number of threads."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from tightcut import Constraints, Graph, cluster, knn_affinity
from tightcut.clustering import arguments
from tightcut.search import evolve as search
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.k_way import ManyClusters, random_labels
from tightcut.search.options import SearchOptions
from tightcut.search.two_way import TwoClusters, reduce_to_units

pytest.importorskip("torch", reason="needs PyTorch: pip install torch")

from tightcut.gpu import problems, refinement
from tightcut.gpu.backend import DeviceBackend
from tightcut.gpu.problems import DeviceManyClusters, DeviceTwoClusters
from tightcut.gpu.search import search_on_device


def moons(n):
    points, classes = make_moons(n, noise=0.08, random_state=0)
    return Graph.from_affinity(knn_affinity(points)), classes


def many(n=150, k=3):
    """Cannot-links right on the edges, and must-links as relations."""
    rng = np.random.default_rng(3)
    graph, _ = moons(n)
    i, j, _ = graph.edges
    pairs = np.stack([i, j], 1)[rng.choice(len(i), 30, replace=False)]
    return ManyClusters.of(ConstrainedGraph.from_graph(graph, Constraints.from_pairs(n, pairs[:10], pairs[10:])), k)


def two(n=150):
    graph, classes = moons(n)
    pairs = np.random.default_rng(4).integers(0, n, (20, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    return TwoClusters(reduce_to_units(graph, Constraints.from_pairs(n, pairs[same], pairs[~same])).small)


KINDS = {"many": many, "two": two}


def both(kind, device):
    """A problem on the CPU and on the device."""
    here = KINDS[kind]()
    return here, DeviceBackend(device).on_device(here)


def states(problem, count, seed=0):
    rng = np.random.default_rng(seed)
    if isinstance(problem, TwoClusters):
        return [rng.choice(np.array([-1, 1], np.int8), problem.size) for _ in range(count)]
    return [random_labels(problem.size, problem.k, rng) for _ in range(count)]


@pytest.fixture
def small(monkeypatch, triton_device):
    """The device path for graphs small enough for a test, on the device at hand."""
    for kind in (DeviceManyClusters, DeviceTwoClusters):
        monkeypatch.setattr(kind, "middle", lambda self, *, large: 30)  # noqa: ARG005
    monkeypatch.setattr(problems, "SPINS_LEVEL_LIMIT", 60)
    monkeypatch.setattr(refinement, "ROUNDS", 4)  # interpreted, each takes a quarter of a second
    return triton_device


@pytest.mark.parametrize("kind", KINDS)
def test_states_have_the_scores_they_have_on_the_cpu(kind, triton_device):
    here, there = both(kind, triton_device)
    assert there.size == here.size
    assert there.total_weight() == pytest.approx(here.total_weight())
    for state in states(here, 4):
        assert there.judge(state)[0] == pytest.approx(here.judge(state)[0], rel=1e-10)
        assert there.on_host().judge(state)[0] == here.judge(state)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_levels_keep_every_score(kind, triton_device):
    here, there = both(kind, triton_device)
    level = there.halve(1e9, np.random.default_rng(0))
    assert level.small.size < 0.7 * here.size
    for state in states(level.small, 3):
        lifted = level.lift(state)
        assert here.judge(lifted)[0] == pytest.approx(level.small.judge(state)[0], rel=1e-9)
        np.testing.assert_array_equal(level.project(lifted), state)


def test_levels_join_no_cannot_link_and_no_contradiction(triton_device):
    here, there = both("many", triton_device)
    level = there.halve(1e9, np.random.default_rng(0))
    unit = level.lift(np.arange(level.small.size, dtype=np.int32))
    relations = here.graph.relations.toarray()
    member = np.eye(level.small.size)[unit]
    apart, together = member.T @ np.maximum(relations, 0) @ member, member.T @ np.minimum(relations, 0) @ member
    assert (np.diag(apart) == 0).all()
    assert (apart * together == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_agreement_as_on_the_cpu(kind, triton_device):
    here, there = both(kind, triton_device)
    # Two states that differ in a few places, as good ones do.
    first, *_ = states(here, 1)
    here.refine(first)
    second = first.copy()
    second[:9] = states(here, 1, seed=1)[0][:9]
    expected, found = here.agreement([first, second]), there.agreement([first, second])
    assert found.small.size == expected.small.size
    for state in (first, second):
        np.testing.assert_array_equal(found.lift(found.project(state)), state)
        score = expected.small.judge(expected.project(state))[0]
        assert found.small.judge(found.project(state))[0] == pytest.approx(score, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_spins_mirror_image_agrees_with_them(kind, triton_device):
    here, there = both(kind, triton_device)
    (state,) = states(here, 1)
    other = -state if kind == "two" else state
    assert there.agreement([state, other]).small.size == here.agreement([state, other]).small.size


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_cycle_is_never_worse(kind, small):
    here, there = both(kind, small)
    (state,) = states(here, 1)
    before = here.judge(state)[0]
    score, found = search.v_cycle(there.at_full_price(), state, np.random.default_rng(0))
    assert score == pytest.approx(here.judge(found)[0], rel=1e-9)
    assert score < before


def test_a_graph_that_matching_does_not_shrink_is_left_to_the_cpu(triton_device):
    import scipy.sparse as sp

    empty = ManyClusters.of(ConstrainedGraph(sp.csr_array((40, 40)), np.ones(40), sp.csr_array((40, 40))), 3)
    there = DeviceBackend(triton_device).on_device(empty)
    assert there.matched(1e9, np.random.default_rng(0)) is None
    level = there.halve(1e9, np.random.default_rng(0))
    assert isinstance(level.small, ManyClusters)
    assert level.small.size == 20


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
def test_clusterings_on_the_device(k, small, monkeypatch):
    """Not much worse than the CPU's with few rounds, every constraint satisfied, the same for any number of threads."""
    graph, _ = moons(160)
    pairs = Constraints.from_pairs(160, [(0, 1), (5, 9)], [(2, 3), (4, 7), (3, 12)])
    expected = cluster(graph, pairs, k, random_state=0)
    monkeypatch.setattr(arguments, "resolve_device", lambda device: device)
    monkeypatch.setattr(arguments, "backend_of", lambda _: DeviceBackend(small, limit=80))
    stages = []
    settings = {"random_state": 0, "device": "cuda", "effort": 0.25}
    found = cluster(graph, pairs, k, progress=lambda stage, *_: stages.append(stage), **settings)
    assert {"start", "refine", "cycle"} <= set(stages)
    assert found.n_violations == 0
    assert found.cut <= 1.3 * expected.cut
    threads = cluster(graph, pairs, k, n_jobs=2, **settings)
    np.testing.assert_array_equal(found.labels, threads.labels)


@pytest.mark.slow
def test_what_is_known_is_never_lost(small):
    here = many()
    best = search.search(here, np.random.default_rng(0), SearchOptions())[0]
    there = DeviceBackend(small).on_device(here)
    quick = SearchOptions(effort=0, n_jobs=1)
    found = search_on_device(there, np.random.default_rng(1), quick, [best[1]])
    assert found[0][0] <= best[0] * (1 + 1e-9)
