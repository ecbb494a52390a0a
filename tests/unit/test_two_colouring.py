"""Two-colourings against brute force, and witnesses that really contradict themselves."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse.csgraph import breadth_first_order
from strategies import any_constraints

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem import two_colouring as colouring_module
from tightcut.problem.two_colouring import LIMITS, WitnessLimits


def assert_contradiction(witness, constraints):
    """A closed walk over given pairs, visiting no point twice, with an odd number of cannot-links."""
    given_pairs = {
        "must": set(map(tuple, constraints.must_link.tolist())),
        "cannot": set(map(tuple, constraints.cannot_link.tolist())),
    }
    assert all((min(i, j), max(i, j)) in given_pairs[kind] for kind, i, j in witness)
    following = witness[1:] + witness[:1]
    assert all(j == i for (_, _, j), (_, i, _) in zip(witness, following, strict=True))
    assert len({i for _, i, _ in witness}) == len(witness) >= 2
    assert sum(kind == "cannot" for kind, _, _ in witness) % 2 == 1


def shortest_odd_walk(constraints):
    """Length of the shortest closed walk with an odd number of cannot-links, by relaxing all walks at once."""
    n = constraints.n_points
    steps = [(i, j, 0) for i, j in constraints.must_link.tolist()]
    steps += [(i, j, 1) for i, j in constraints.cannot_link.tolist()]
    reach = {(v, v, 0) for v in range(n)}
    for length in range(1, 2 * n + 1):
        reach = {
            (start, b, side ^ flip)
            for start, end, side in reach
            for i, j, flip in steps
            for a, b in ((i, j), (j, i))
            if a == end
        }
        if any((v, v, 1) in reach for v in range(n)):
            return length
    return None


@settings(max_examples=150)
@given(any_constraints())
def test_two_colouring_against_all_labellings(constraints):
    result = constraints.two_colouring()
    every = np.array(list(itertools.product((0, 1), repeat=constraints.n_points)))
    together, apart = (
        every[:, links[:, 0]] == every[:, links[:, 1]] for links in (constraints.must_link, constraints.cannot_link)
    )
    satisfying = every[together.all(axis=1) & ~apart.any(axis=1)]
    assert result.consistent == (len(satisfying) > 0)
    if result.consistent:
        assert result.witness is None
        assert (satisfying == result.colour).all(axis=1).any()
        # Every satisfying labelling is one choice of swap per component.
        assert len(satisfying) == 2**result.n_components
    else:
        assert_contradiction(result.witness, constraints)


@settings(max_examples=100)
@given(any_constraints())
def test_the_witness_of_a_small_set_is_the_shortest(constraints):
    witness = constraints.two_colouring().witness
    assert shortest_odd_walk(constraints) == (None if witness is None else len(witness))


@settings(max_examples=100)
@given(any_constraints())
def test_components_and_reference_colours(constraints):
    result = constraints.two_colouring()
    reach = np.eye(constraints.n_points, dtype=bool)
    for i, j in constraints.must_link.tolist() + constraints.cannot_link.tolist():
        reach[i, j] = reach[j, i] = True
    reach = np.linalg.matrix_power(reach.astype(float), constraints.n_points) > 0
    assert (np.equal.outer(result.component, result.component) == reach).all()
    assert sorted(set(result.component.tolist())) == list(range(result.n_components))
    assert result.colour.dtype == np.int8
    for component in range(result.n_components):
        assert result.colour[np.flatnonzero(result.component == component)[0]] == 0


@settings(max_examples=100)
@given(any_constraints())
def test_conflict_witness_is_a_shortest_joined_cannot_link(constraints):
    witness = constraints.conflict_witness()
    single = [
        shortest_odd_walk(constraints.select(cannot_mask=np.arange(constraints.n_cannot_link) == k))
        for k in range(constraints.n_cannot_link)
    ]
    expected = min((length for length in single if length), default=None)
    if expected is None:
        assert witness is None
        assert len(constraints.conflicts()) == 0
    else:
        assert_contradiction(witness, constraints)
        assert [kind for kind, _, _ in witness] == ["must"] * (expected - 1) + ["cannot"]
        assert len(constraints.conflicts()) == sum(length is not None for length in single)


@pytest.mark.parametrize("visited", [LIMITS.visited, 0])
def test_a_tail_is_cut_off_the_witness(visited, monkeypatch):
    """Also where a single search is affordable: it starts from point 1, at the far end of the tail."""
    monkeypatch.setattr(colouring_module, "LIMITS", WitnessLimits(visited=visited))
    constraints = Constraints.from_pairs(7, [(0, 1), (2, 3)], [(1, 2), (3, 4), (4, 5), (5, 6), (4, 6)])
    assert constraints.two_colouring().witness == [("cannot", 4, 5), ("cannot", 5, 6), ("cannot", 6, 4)]


@settings(max_examples=60)
@given(any_constraints())
def test_one_search_still_proves_the_contradiction(constraints):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(colouring_module, "LIMITS", WitnessLimits(searches=1))
        result = constraints.two_colouring()
        conflict = constraints.conflict_witness()
    if not result.consistent:
        assert_contradiction(result.witness, constraints)
    if conflict is not None:
        assert_contradiction(conflict, constraints)
        assert conflict[-1][0] == "cannot"


def test_searches_are_bounded(monkeypatch):
    searches = []
    monkeypatch.setattr(
        colouring_module,
        "breadth_first_order",
        lambda graph, source, **keywords: searches.append(source) or breadth_first_order(graph, source, **keywords),
    )
    n = 400
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    ends = np.stack([np.arange(100), np.arange(n - 1, n - 101, -1)], axis=1)
    constraints = Constraints.from_pairs(n, path, ends)
    witness = constraints.conflict_witness()
    assert len(searches) == LIMITS.searches
    # The spread of searches takes in the last candidate, which has the shortest path.
    assert len(witness) == 300 - 99 + 1
    searches.clear()
    assert_contradiction(constraints.two_colouring().witness, constraints)
    assert len(searches) == LIMITS.searches


def test_one_pair_of_both_kinds_is_found_among_many_contradictions():
    n = 200
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    far = np.stack([np.arange(90), np.arange(n - 1, n - 91, -1)], axis=1)
    constraints = Constraints.from_pairs(n, path, np.concatenate([far, [(51, 52)]]))
    assert constraints.two_colouring().witness == [("must", 51, 52), ("cannot", 52, 51)]
    assert constraints.conflict_witness() == [("must", 51, 52), ("cannot", 52, 51)]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_no_constraints(n):
    result = Constraints.from_pairs(n).two_colouring()
    assert result.consistent
    assert result.component.tolist() == list(range(n))
    assert result.colour.tolist() == [0] * n
    assert result.n_components == n
    assert Constraints.from_pairs(n).components()[0] == n


def test_contradictory_components_do_not_disturb_the_others():
    constraints = Constraints.from_pairs(6, cannot_link=[(0, 1), (1, 2), (0, 2), (4, 5)])
    result = constraints.two_colouring()
    assert not result.consistent
    assert result.colour.tolist() == [0, 0, 0, 0, 0, 1]


def test_require_two_colourable():
    consistent = Constraints.from_pairs(3, [(0, 1)], [(1, 2)])
    assert consistent.require_two_colourable().colour.tolist() == [0, 0, 1]
    with pytest.raises(
        InconsistentConstraintsError, match="3 must-link 7, 7 must-link 9, but 3 cannot-link 9"
    ) as caught:
        Constraints.from_pairs(10, [(7, 3), (9, 7)], [(9, 3)]).require_two_colourable()
    assert caught.value.witness == [("must", 3, 7), ("must", 7, 9), ("cannot", 9, 3)]
    assert caught.value.proven
    assert caught.value.best_labels is None


def test_message_says_what_to_do_and_shortens_long_stories():
    links = [("must", i, i + 1) for i in range(18)] + [("cannot", 18, 0)]
    error = InconsistentConstraintsError(links)
    assert "5 must-link 6, ... and 12 more, but 0 cannot-link 18." in str(error)
    assert "6 must-link 7" not in str(error)
    assert 'max_violations="fewest"' in str(error)
    assert error.witness == links


def test_message_for_two_clusters_only():
    message = str(InconsistentConstraintsError([("cannot", 0, 1), ("cannot", 1, 2), ("cannot", 2, 0)]))
    assert message.startswith(
        "2 clusters cannot satisfy an odd number of cannot-links (3) in a cycle: 0 cannot-link 1,"
    )


def test_messages_without_a_witness():
    assert "nor ruled out" in str(InconsistentConstraintsError(proven=False))
    assert str(InconsistentConstraintsError()).startswith("No clustering satisfies every constraint.")


@pytest.mark.parametrize("copy_of", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_the_error_travels(copy_of):
    error = InconsistentConstraintsError(
        [("must", np.int64(3), np.int64(7)), ("cannot", 7, 3)], proven=False, best_labels=np.array([0, 1])
    )
    error.add_note("seen in fold 3")
    twin = copy_of(error)
    assert type(twin) is InconsistentConstraintsError
    assert isinstance(twin, ValueError)
    assert str(twin) == str(error)
    assert twin.witness == [("must", 3, 7), ("cannot", 7, 3)]
    assert all(type(i) is int for _, i, _ in twin.witness)
    assert twin.proven is False
    assert twin.best_labels.tolist() == [0, 1]
    assert twin.__notes__ == ["seen in fold 3"]


def test_a_custom_message_survives_pickling():
    error = InconsistentConstraintsError([("must", 0, 1), ("cannot", 1, 0)], "No.")
    assert str(pickle.loads(pickle.dumps(error))) == "No."
