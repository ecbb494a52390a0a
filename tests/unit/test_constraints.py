"""Constraints: where they come from, what they imply, and which of them a clustering violates."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import any_constraints, dense_pairs

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints


def links(constraints):
    """Both kinds of pairs with their beliefs, as plain Python."""
    return tuple(
        dict(zip(map(tuple, pairs.tolist()), weights.tolist(), strict=True))
        for pairs, weights in (
            (constraints.must_link, constraints.must_link_belief),
            (constraints.cannot_link, constraints.cannot_link_belief),
        )
    )


def naive_closure(constraints):
    """Relations by repeated composition until nothing changes: must o must, must o cannot o must."""
    n = constraints.n_points
    must = np.eye(n) + dense_pairs(n, constraints.must_link, np.ones(constraints.n_must_link))
    cannot = dense_pairs(n, constraints.cannot_link, np.ones(constraints.n_cannot_link))
    must = np.linalg.matrix_power(must, n) > 0
    return must, must.astype(int) @ cannot @ must.astype(int) > 0


def test_pairs_are_sorted_unique_and_keep_the_largest_belief():
    constraints = Constraints.from_pairs(
        6, [(5, 0), (2, 1), (0, 5)], [(4, 3), (3, 4)], must_link_belief=[0.2, 1, 0.7], cannot_link_belief=0.5
    )
    assert links(constraints) == ({(0, 5): 0.7, (1, 2): 1.0}, {(3, 4): 0.5})
    assert constraints.must_link.dtype == np.int64
    assert constraints.must_link_belief.dtype == np.float64
    assert (constraints.n_must_link, constraints.n_cannot_link, constraints.n_pairs) == (2, 1, 3)
    assert repr(constraints) == "Constraints(n_points=6, n_must_link=2, n_cannot_link=1)"


def test_empty():
    assert Constraints.from_pairs(4).is_empty
    assert Constraints.from_pairs(4).must_link.shape == (0, 2)
    assert Constraints.from_pairs(4).closure().is_empty
    assert not Constraints.from_pairs(4, cannot_link=[(0, 1)]).is_empty


def test_frozen_and_picklable():
    constraints = Constraints.from_pairs(4, [(0, 1)], [(2, 3)], cannot_link_belief=0.5)
    with pytest.raises(AttributeError):
        constraints.n_points = 5
    assert links(pickle.loads(pickle.dumps(constraints))) == links(constraints)


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match=r"cannot_link row 1: \(0, 4\) is out of range for 4 points"):
        Constraints.from_pairs(4, [(0, 1)], [(0, 2), (0, 4)])
    with pytest.raises(ValueError, match=r"cannot_link_belief row 0: 2"):
        Constraints.from_pairs(4, [(0, 1)], [(0, 2)], cannot_link_belief=[2])
    with pytest.raises(ValueError, match="n_points"):
        Constraints.from_pairs(-1)


def test_sparse_beliefs_are_used_and_not_overridden():
    matrix = sp.csr_array(np.array([[0, 0.5, 0], [0.25, 0, 1], [0, 0, 0]]))
    assert links(Constraints.from_pairs(3, matrix))[0] == {(0, 1): 0.5, (1, 2): 1.0}
    with pytest.raises(ValueError, match="must_link_belief must be None"):
        Constraints.from_pairs(3, matrix, must_link_belief=0.5)
    assert links(Constraints.from_pairs(3, matrix != 0, must_link_belief=0.5))[0] == {(0, 1): 0.5, (1, 2): 0.5}


@pytest.mark.slow
def test_a_million_pairs_from_read_only_arrays():
    rng = np.random.default_rng(0)
    n = 300_000
    truth = rng.integers(0, 2, n)
    first = rng.integers(0, n, 1_000_000)
    pairs = np.stack([first, (first + rng.integers(1, n, 1_000_000)) % n], axis=1)
    pairs.setflags(write=False)
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    constraints = Constraints.from_pairs(n, pairs[same], pairs[~same])
    result = constraints.require_two_colourable()
    assert constraints.violations(result.colour).n_violations == 0
    assert constraints.violations(truth).n_violations == 0
    truth[constraints.must_link[0, 0]] ^= 1
    assert constraints.must_link[0].tolist() in constraints.violations(truth).must_link.tolist()
    assert len(constraints.conflicts()) == 0
    assert constraints.components()[0] > result.n_components


@pytest.mark.parametrize(
    "labels",
    [
        [7, -1, 7, 9, 7, -1, -3],
        np.array([7, -1, 7, 9, 7, -1, -3], dtype=np.int8),
        [7.0, np.nan, 7.0, 9.0, 7.0, -1, -3.0],
        ["b", None, "b", "a", "b", float("nan"), ""],
        ["b", -1, "b", "a", "b", -1, "c"],
        np.array(["b", None, "b", "a", "b", np.nan, "c"], dtype=object),
        ["x", None, "x", "y", "x", None, "-1"],
    ],
)
def test_from_labels(labels):
    constraints = Constraints.from_labels(labels)
    assert constraints.n_points == 7
    assert constraints.must_link.tolist() == [[0, 2], [0, 4]]
    assert constraints.cannot_link.tolist() == [[0, 3], [0, 6], [3, 6]]


@pytest.mark.parametrize("blank", ["", " ", "-1", "-1.0"])
@pytest.mark.parametrize("form", [list, np.array, lambda values: np.array(values, dtype=object)])
@pytest.mark.parametrize("read", [Constraints.from_labels, Constraints.from_groups])
def test_texts_that_probably_mean_unknown_give_a_warning(read, form, blank):
    with pytest.warns(UserWarning, match=f"holds the text '{blank}' 2 times, and takes it for the name of a class"):
        read(form(["b", blank, "b", blank, "a"]))


@pytest.mark.parametrize("values", [["b", None, "b", "a"], [3, None, 3, 5]])
@pytest.mark.parametrize("container", ["pandas", "polars", "Int64", "category", "masked"])
def test_from_labels_in_a_series_or_masked(container, values):
    if container == "masked":
        labels = np.ma.masked_array([3, 9, 3, 5], mask=[False, True, False, False])
    elif container in ("pandas", "polars"):
        labels = pytest.importorskip(container).Series(values)
    else:
        labels = pytest.importorskip("pandas").Series([3, None, 3, 5], dtype=container)
    constraints = Constraints.from_labels(labels)
    assert (constraints.must_link.tolist(), constraints.cannot_link.tolist()) == ([[0, 2]], [[0, 3]])


def test_labels_and_groups_from_an_iterator():
    names = ["a", "b", "a"]
    assert Constraints.from_labels(map(str, names)).must_link.tolist() == [[0, 2]]
    assert Constraints.from_groups(iter(names)).cannot_link.tolist() == [[0, 2]]


def test_from_labels_as_strings_and_booleans():
    assert Constraints.from_labels(np.array(["a", "b", "a"])).must_link.tolist() == [[0, 2]]
    assert Constraints.from_labels([True, False, True]).cannot_link.tolist() == [[0, 1]]
    assert Constraints.from_labels(np.array([255, 1, 255], dtype=np.uint8)).must_link.tolist() == [[0, 2]]


@pytest.mark.parametrize("labels", [[], [-1, -1], [None, None], [-1, 4, -1]])
def test_from_labels_that_say_nothing(labels):
    constraints = Constraints.from_labels(labels)
    assert constraints.is_empty
    assert constraints.n_points == len(labels)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1.5], r"labels row 1: 1\.5 is not a whole number"),
        ([[0, 1], [1, 0]], r"shape \(n,\); got shape \(2, 2\)"),
        (np.array([None, {"a": 1}], dtype=object), r"labels row 1: \{'a': 1\} cannot name a class"),
        ([[0], [1, 2]], r"labels must hold one value per point.*lists of different lengths"),
        ([0, np.inf], r"labels row 1: inf is not a whole number"),
        (np.arange(20_000), r"Separating 20,000 classes takes 199,990,000 pairs"),
    ],
)
def test_wrong_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        Constraints.from_labels(labels)


@settings(max_examples=60)
@given(st.lists(st.integers(-1, 3), max_size=8))
def test_labels_close_to_all_their_pairs(labels):
    closed = Constraints.from_labels(labels).closure()
    known = [(i, j) for i, j in itertools.combinations(range(len(labels)), 2) if min(labels[i], labels[j]) >= 0]
    assert list(map(tuple, closed.must_link.tolist())) == [(i, j) for i, j in known if labels[i] == labels[j]]
    assert list(map(tuple, closed.cannot_link.tolist())) == [(i, j) for i, j in known if labels[i] != labels[j]]


@pytest.mark.parametrize(
    ("groups", "n_points"),
    [
        ([4, 4, -1, 9, 4, 9], None),
        (["p", "p", None, "q", "p", "q"], None),
        (np.array([0, 0, np.nan, 1, 0, 1]), None),
        ([[0, 1, 4], (5, 3), []], 6),
        ([np.array([4, 1, 0]), {3, 5}], 6),
    ],
)
def test_from_groups(groups, n_points):
    constraints = Constraints.from_groups(groups, n_points)
    assert constraints.n_points == 6
    assert constraints.cannot_link.tolist() == [[0, 1], [0, 4], [1, 4], [3, 5]]
    assert constraints.n_must_link == 0


def test_overlapping_groups_and_no_groups():
    assert Constraints.from_groups([[0, 1], [0, 1, 2]], 4).cannot_link.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert Constraints.from_groups([], n_points=3).is_empty
    assert Constraints.from_groups([]).n_points == 0


@pytest.mark.parametrize(
    ("groups", "n_points", "message"),
    [
        ([[0, 1], [2, 6]], 6, r"groups\[1\]: 6 is out of range for 6 points"),
        ([[0, 1], [], [2, 6]], 6, r"groups\[2\]: 6 is out of range for 6 points"),
        ([[0, 1], [2, 2]], 6, r"groups\[1\] lists point 2 twice"),
        ([[0, 1], [2.5, 3]], 6, r"groups\[1\]: 2\.5 does not consist"),
        ([0, 0, 1], 3, r"groups\[0\] is 0, not a list of points"),
        ([[0, 1], ["a", "b"]], 6, r"groups\[1\]: 'a' does not consist"),
        ([[0, 1], np.array([True, False])], 6, r"groups\[1\]: True does not consist"),
        ([[0], [1, 2]], None, r"groups must hold one value per point.*together with n_points"),
        ([[0, 1], [2, 3]], None, r"groups must hold one value per point"),
        (np.zeros(20_000, dtype=int), None, r"takes 199,990,000 pairs, more than the limit of 50,000,000"),
        ([range(20_000)], 20_000, r"takes 199,990,000 pairs"),
    ],
)
def test_wrong_groups(groups, n_points, message):
    with pytest.raises(ValueError, match=message):
        Constraints.from_groups(groups, n_points)


IDS = ["ann", "bob", "eve", "joe"]


@pytest.fixture(params=["pandas", "polars"])
def frame_of(request):
    return pytest.importorskip(request.param).DataFrame


@pytest.mark.parametrize("must", ["must", "Must-Link", "must_link", "must link", "ML", " same ", "1", "+1", "TRUE"])
@pytest.mark.parametrize("cannot", ["cannot", "Cannot-Link", "cannot_link", "cl", "Different", "diff", "0", "-1"])
def test_spellings(must, cannot):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["ann", "eve"], "b": ["joe", "bob"], "type": [must, cannot]})
    assert links(Constraints.from_dataframe(frame, IDS)) == ({(0, 3): 1.0}, {(1, 2): 1.0})


@pytest.mark.parametrize("kinds", [[1, 0], [1, -1], [1.0, -1.0], [True, False]])
def test_numbers_as_kinds(frame_of, kinds):
    frame = frame_of({"a": ["ann", "eve"], "b": ["joe", "bob"], "type": kinds})
    assert links(Constraints.from_dataframe(frame, IDS)) == ({(0, 3): 1.0}, {(1, 2): 1.0})


def test_columns_by_name_and_position(frame_of):
    columns = {"type": ["ml", "cl"], "trust": [0.5, 0.25], "a": ["ann", "eve"], "b": ["joe", "bob"]}
    expected = ({(0, 3): 0.5}, {(1, 2): 0.25})
    frame = frame_of(columns)
    assert links(Constraints.from_dataframe(frame, IDS, belief="trust")) == expected
    assert links(Constraints.from_dataframe(frame, IDS, first="a", second="b", kind=0, belief=1)) == expected
    assert links(Constraints.from_dataframe(frame, IDS, first="b", kind="type", belief="trust")) == expected


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ids_as_a_series_of_numbers(library):
    module = pytest.importorskip(library)
    frame = module.DataFrame({"a": [10, 30], "b": [40, 20], "type": ["ml", "cl"]})
    for ids in (module.Series([10, 20, 30, 40]), [10, 20, 30, 40], np.array([10, 20, 30, 40])):
        constraints = Constraints.from_dataframe(frame, ids)
        assert constraints.n_points == 4
        assert links(constraints) == ({(0, 3): 1.0}, {(1, 2): 1.0})


def test_identifiers_are_not_positions(frame_of):
    frame = frame_of({"a": [1], "b": [0], "type": ["ml"]})
    assert Constraints.from_dataframe(frame, [5, 1, 4, 0]).must_link.tolist() == [[1, 3]]


@pytest.mark.parametrize(
    ("columns", "ids", "keywords", "message"),
    [
        ({}, [*IDS[:3], "ann"], {}, r"ids row 3: 'ann' duplicates row 0"),
        ({}, [["ann"], ["bob"]], {}, r"ids row 0: \['ann'\] cannot identify a point"),
        ({"b": ["joe", "zoe"]}, IDS, {}, r"frame row 1, column 'b': 'zoe' is not among the 4 ids"),
        ({"b": ["joe", None]}, IDS, {}, r"frame row 1, column 'b': .* is not among the 4 ids"),
        ({"b": ["joe", "eve"]}, IDS, {}, r"frame row 1: 'eve' is paired with itself"),
        ({"type": ["ml", "maybe"]}, IDS, {}, r"frame row 1, column 'type': 'maybe' is neither a must-link"),
        ({"type": [1, 2]}, IDS, {}, r"frame row 1, column 'type': 2 is neither"),
        (
            {},
            IDS,
            {"kind": "label"},
            r"kind='label' is not a column of the frame; its columns are \['a', 'b', 'type'\]",
        ),
        ({}, IDS, {"first": "x"}, r"first='x' is not a column"),
        ({}, IDS, {"belief": "b"}, r"two columns of identifiers"),
        ({"trust": [0.5, 1.5]}, IDS, {"belief": "trust"}, r"frame column 'trust' row 1: 1\.5 is not a belief"),
    ],
)
def test_wrong_frames(frame_of, columns, ids, keywords, message):
    frame = frame_of({"a": ["ann", "eve"], "b": ["joe", "bob"], "type": ["ml", "cl"]} | columns)
    with pytest.raises(ValueError, match=message):
        Constraints.from_dataframe(frame, ids, **keywords)


def test_not_a_frame():
    with pytest.raises(ValueError, match=r"must be a data frame.*got list"):
        Constraints.from_dataframe([(0, 1, "ml")], IDS)


def test_two_columns_of_one_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["ann", "bob", "ml"]], columns=["a", "a", "type"])
    with pytest.raises(ValueError, match="several columns named 'a'"):
        Constraints.from_dataframe(frame, IDS)


def test_merge():
    first = Constraints.from_pairs(4, [(0, 1)], [(2, 3)], must_link_belief=0.5)
    second = Constraints.from_pairs(4, [(1, 0), (1, 2)], [(0, 3)], must_link_belief=[0.75, 0.25])
    assert links(first | second) == ({(0, 1): 0.75, (1, 2): 0.25}, {(0, 3): 1.0, (2, 3): 1.0})
    assert links(first.merge(second)) == links(second | first)
    with pytest.raises(ValueError, match="over 4 and over 5 points cannot be merged"):
        first | Constraints.from_pairs(5)
    with pytest.raises(TypeError):
        first | 3


def test_select():
    constraints = Constraints.from_pairs(4, [(0, 1), (1, 2)], [(0, 3), (2, 3)], [0.25, 0.5], [0.75, 1])
    assert links(constraints.select([False, True])) == ({(1, 2): 0.5}, {(0, 3): 0.75, (2, 3): 1.0})
    assert links(constraints.select(cannot_mask=np.array([True, False])))[1] == {(0, 3): 0.75}
    for wrong in ([True], [0, 1], np.ones((2, 1), dtype=bool)):
        with pytest.raises(ValueError, match=r"must_mask must be a boolean mask of shape \(2,\)"):
            constraints.select(wrong)


@settings(max_examples=60)
@given(any_constraints(7, 7), st.data())
def test_subset_renumbers(constraints, data):
    points = data.draw(st.lists(st.integers(0, constraints.n_points - 1), unique=True))
    part = constraints.subset(points)
    assert part.n_points == len(points)
    for whole, some in zip(links(constraints), links(part), strict=True):
        back = {tuple(sorted((points[i], points[j]))): belief for (i, j), belief in some.items()}
        assert back == {pair: belief for pair, belief in whole.items() if set(pair) <= set(points)}


def test_subset_by_mask_and_wrong_points():
    constraints = Constraints.from_pairs(4, [(0, 3)], [(1, 3)])
    assert links(constraints.subset([False, True, False, True])) == ({}, {(0, 1): 1.0})
    with pytest.raises(ValueError, match=r"points row 1: 4 is out of range"):
        constraints.subset([0, 4])
    with pytest.raises(ValueError, match=r"points row 0: 2 is listed again in row 2"):
        constraints.subset([2, 1, 2])
    with pytest.raises(ValueError, match=r"points must be a list of indices, shape \(m,\); got shape \(1, 2\)"):
        constraints.subset([[0, 1]])
    with pytest.raises(ValueError, match=r"points must be a boolean mask of shape \(4,\)"):
        constraints.subset([True, False])


def test_components():
    count, labels = Constraints.from_pairs(5, [(0, 4), (1, 2)], [(0, 1)]).components()
    assert count == 3
    assert labels[0] == labels[4] != labels[1] == labels[2] != labels[3]


@settings(max_examples=150)
@given(any_constraints(7, 7))
def test_closure_against_naive_composition(constraints):
    must, cannot = naive_closure(constraints)
    if (must & cannot).any():
        assert len(constraints.conflicts()) > 0
        with pytest.raises(InconsistentConstraintsError) as caught:
            constraints.closure()
        assert caught.value.witness == constraints.conflict_witness()
        return
    closed = constraints.closure()
    upper = np.triu(np.ones_like(must), 1)
    assert closed.must_link.tolist() == np.argwhere(must & upper).tolist()
    assert closed.cannot_link.tolist() == np.argwhere(cannot & upper).tolist()
    for before, after in zip(links(constraints), links(closed), strict=True):
        assert all(after[pair] >= belief for pair, belief in before.items())
    assert links(closed.closure())[0].keys() == links(closed)[0].keys()


@settings(max_examples=60)
@given(any_constraints(7, 7))
def test_closure_keeps_certainty_and_never_believes_more_than_the_best_link(constraints):
    certain = Constraints.from_pairs(constraints.n_points, constraints.must_link, constraints.cannot_link)
    if len(certain.conflicts()):
        return
    assert all(belief == 1 for side in links(certain.closure()) for belief in side.values())
    for given_links, closed_links in zip(links(constraints), links(constraints.closure()), strict=True):
        assert max(closed_links.values(), default=0) == max(given_links.values(), default=0)


def test_closure_beliefs():
    constraints = Constraints.from_pairs(6, [(0, 1), (1, 2), (3, 4)], [(0, 3), (2, 4)], [1, 0.5, 0.75], [0.25, 0.625])
    must, cannot = links(constraints.closure())
    assert must == {(0, 1): 1.0, (0, 2): 0.5, (1, 2): 0.5, (3, 4): 0.75}
    # Weakest must-link 0.5 and strongest cannot-link 0.625: 0.5; the pair given with 0.625 keeps it.
    assert cannot == {(i, j): 0.625 if (i, j) == (2, 4) else 0.5 for i in range(3) for j in (3, 4)}


def test_closure_too_large():
    chain = np.stack([np.arange(19_999), np.arange(1, 20_000)], axis=1)
    with pytest.raises(ValueError, match=r"The closure of these constraints takes 199,990,000 pairs"):
        Constraints.from_pairs(20_000, chain).closure()
    halves = chain[np.arange(19_999) != 9_999]
    with pytest.raises(ValueError, match=r"takes 199,990,000 pairs"):
        Constraints.from_pairs(20_000, halves, [(0, 19_999)]).closure()


@settings(max_examples=60)
@given(any_constraints(7, 7), st.data())
def test_violations_by_counting(constraints, data):
    labels = data.draw(st.lists(st.integers(0, 2), min_size=constraints.n_points, max_size=constraints.n_points))
    must, cannot = links(constraints)
    split = [pair for pair in must if labels[pair[0]] != labels[pair[1]]]
    joined = [pair for pair in cannot if labels[pair[0]] == labels[pair[1]]]
    result = constraints.violations(labels)
    assert list(map(tuple, result.must_link.tolist())) == split
    assert list(map(tuple, result.cannot_link.tolist())) == joined
    assert result.n_violations == len(split) + len(joined)
    assert result.belief == sum(must[pair] for pair in split) + sum(cannot[pair] for pair in joined)


def test_violations_of_named_clusters_and_wrong_shapes():
    constraints = Constraints.from_pairs(3, [(0, 1)], [(1, 2)])
    assert constraints.violations(["a", "b", "b"]).n_violations == 2
    with pytest.raises(ValueError, match=r"shape \(3,\); got shape \(2,\)"):
        constraints.violations([0, 1])
