"""Pairs arrive in many shapes; every wrong one is refused with the row that is wrong."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tightcut import Constraints
from tightcut.problem.closure import check_pair_count, pairs_between, pairs_within
from tightcut.problem.pairs import merge_pairs, read_beliefs, read_n_points, read_pairs

PAIRS = [(0, 3), (4, 1), (2, 9)]


def read(pairs, n_points=10):
    return read_pairs(pairs, n_points, "must_link")[0]


@pytest.mark.parametrize(
    "given_pairs",
    [
        PAIRS,
        tuple(PAIRS),
        [list(pair) for pair in PAIRS],
        iter(PAIRS),
        zip([0, 4, 2], [3, 1, 9], strict=True),
        np.array(PAIRS, dtype=np.int32),
        np.array(PAIRS, dtype=np.uint8),
        np.array(PAIRS, dtype=np.uint64),
        np.array(PAIRS, dtype=np.float32),
        np.array(PAIRS, dtype=object),
        np.asfortranarray(PAIRS),
        np.array(PAIRS).T.copy().T,
        [(0.0, 3.0), (4, 1), (2, 9)],
        [(np.int8(0), np.int64(3)), (4, 1), (2, np.float64(9))],
    ],
)
def test_all_spellings_of_pairs_read_the_same(given_pairs):
    result = read(given_pairs)
    assert result.dtype == np.int64
    assert result.tolist() == [[0, 3], [4, 1], [2, 9]]


def test_sets_are_read_in_any_order():
    assert sorted(map(tuple, read(set(PAIRS)).tolist())) == sorted(PAIRS)


@pytest.mark.parametrize("nothing", [None, [], (), set(), np.empty((0, 2)), np.empty(0, dtype=int), iter(())])
def test_no_pairs(nothing):
    assert read(nothing).shape == (0, 2)
    assert read(nothing).dtype == np.int64


def test_read_only_arrays_are_read_and_nothing_is_mutated_or_shared():
    pairs = np.array(PAIRS)
    pairs.setflags(write=False)
    result = read(pairs)
    result[:] = 7
    assert pairs.tolist() == [list(pair) for pair in PAIRS]


def test_pandas_frame():
    pandas = pytest.importorskip("pandas")
    for column_type in ("int64", "int32", "uint8", "float64", "Int64"):
        frame = pandas.DataFrame(PAIRS, columns=["i", "j"]).astype(column_type)
        assert read(frame).tolist() == [list(pair) for pair in PAIRS]
    frame = pandas.DataFrame({"i": [0, 1], "j": [2, None]})
    with pytest.raises(ValueError, match=r"must_link row 1: \(1, nan\) is missing"):
        read(frame)
    with pytest.raises(ValueError, match="must_link row 1"):
        read(frame.astype("Int64"))


def test_polars_frame():
    polars = pytest.importorskip("polars")
    assert read(polars.DataFrame({"i": [0, 4], "j": [3, 1]})).tolist() == [[0, 3], [4, 1]]
    assert read(polars.DataFrame({"i": [], "j": []})).shape == (0, 2)
    with pytest.raises(ValueError, match="must_link row 1"):
        read(polars.DataFrame({"i": [0, 4], "j": [3, None]}))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([(0, 1), (3, 12)], r"must_link row 1: \(3, 12\) is out of range for 10 points; indices run from 0 to 9\.$"),
        ([(1, 2), (3, 10)], r"must_link row 1: .*If yours start at 1, subtract 1"),
        ([(0, 1), (2, 3), (-1, 4)], r"must_link row 2: \(-1, 4\) is negative"),
        ([(0, 1), (5, 5)], r"must_link row 1: \(5, 5\) pairs a point with itself"),
        ([(0, 1), (5.0, 5.0)], r"must_link row 1: \(5, 5\) pairs a point with itself"),
        ([(0, 1), (2, 3.5)], r"must_link row 1: \(2, 3\.5\) does not consist of whole numbers"),
        ([(0, 1), (2, float("nan"))], r"must_link row 1: \(2, nan\) is missing"),
        ([(0, 1), (2, float("inf"))], r"must_link row 1: \(2, inf\) is missing"),
        ([(0, 1), (2, None)], r"must_link row 1: \(2, None\) does not consist of whole numbers"),
        ([(0, 1), (2, 1e300)], r"must_link row 1: .* out of range"),
        ([(0, 1), (2, 2**63)], r"must_link row 1: .* out of range"),
        ([(0, 1), (2, 2**70)], r"must_link row 1: .* out of range"),
        ([("0", "1")], r"must_link row 0: \('0', '1'\) does not consist of whole numbers"),
        ([(0, 1), (2,)], r"must_link row 1: \(2,\) is not a pair"),
        ([(0, 1), 2], r"must_link row 1: 2 is not a pair"),
        ((3, 7), r"shape \(2,\).*\[\(i, j\)\]"),
        (5, r"got 5"),
        ("ab", r"got 'ab'"),
        ([(0, 1, 2)], r"shape \(1, 3\).*from_dataframe"),
        (np.zeros((10, 10)), r"shape \(10, 10\).*csr_array"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (np.array([[True, False]]), r"boolean array"),
        (np.array([[True, 3]], dtype=object), r"must_link row 0: \(True, 3\)"),
        (np.ma.masked_array([[0, 1], [2, 3]], mask=[[0, 0], [0, 1]]), r"must_link row 1: \(2, None\)"),
        (np.array([[1j, 2]]), r"must_link row 0"),
        (np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"), r"must_link row 0"),
    ],
)
def test_wrong_pairs_name_the_row(wrong, message):
    with pytest.raises(ValueError, match=message):
        read(wrong)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_matrix])
@pytest.mark.parametrize("shape_of", ["upper", "lower", "symmetric"])
def test_sparse_matrices_of_plain_pairs(make, shape_of):
    dense = np.zeros((5, 5))
    dense[1, 3] = dense[0, 4] = 1
    dense = {"upper": dense, "lower": dense.T, "symmetric": dense + dense.T}[shape_of]
    pairs, beliefs = read_pairs(make(dense), 5, "must_link")
    assert beliefs is None
    assert merge_pairs(pairs, np.ones(len(pairs)), 5)[0].tolist() == [[0, 4], [1, 3]]


def test_sparse_matrices_with_wide_indices_booleans_and_explicit_zeros():
    matrix = sp.coo_array((np.array([True, False]), (np.array([0, 2]), np.array([1, 3]))), shape=(5, 5))
    matrix = matrix.tocsr()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    assert matrix.nnz == 2
    assert read(matrix, 5).tolist() == [[0, 1]]
    assert matrix.nnz == 2


def test_sparse_beliefs():
    matrix = sp.coo_array((np.array([0.25, 1.0]), (np.array([0, 2]), np.array([1, 3]))), shape=(5, 5))
    pairs, beliefs = read_pairs(matrix, 5, "must_link")
    assert (pairs.tolist(), beliefs.tolist()) == ([[0, 1], [2, 3]], [0.25, 1.0])


@pytest.mark.parametrize(
    ("value", "row", "column", "message"),
    [
        (2.0, 0, 1, r"must_link entry \(0, 1\) is 2, which is not a belief.*matrix != 0"),
        (-1.0, 0, 1, r"entry \(0, 1\) is -1"),
        (np.nan, 0, 1, r"entry \(0, 1\) is nan"),
        (1.0, 3, 3, r"entry \(3, 3\) pairs a point with itself"),
        (1j, 0, 1, r"real numbers; got dtype complex128"),
    ],
)
def test_wrong_sparse_entries(value, row, column, message):
    with pytest.raises(ValueError, match=message):
        read(sp.coo_array(([value], ([row], [column])), shape=(5, 5)), 5)


@pytest.mark.parametrize("shape", [(4, 4), (5, 2)])
def test_sparse_shape(shape):
    with pytest.raises(ValueError, match=r"shape \(5, 5\); got"):
        read(sp.csr_array(shape), 5)


def test_beliefs():
    assert read_beliefs(None, 2, "w").tolist() == [1, 1]
    assert read_beliefs(1, 2, "w").tolist() == [1, 1]
    assert read_beliefs(np.float32(0.5), 0, "w").shape == (0,)
    assert read_beliefs([0.5, 1], 2, "w").tolist() == [0.5, 1]
    assert read_beliefs(np.array([0.5, 1], dtype=object), 2, "w").dtype == np.float64
    weights = np.array([0.5, 1.0])
    read_beliefs(weights, 2, "w")[:] = 0.1
    assert weights.tolist() == [0.5, 1.0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_beliefs_from_a_series(library):
    module = pytest.importorskip(library)
    assert read_beliefs(module.Series([0.5, 1.0]), 2, "w").tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([0.5, 0], r"w row 1: 0 is not a belief in \(0, 1\]"),
        ([-0.5, 1], r"w row 0: -0\.5"),
        ([0.5, 1.001], r"w row 1: 1\.001"),
        ([0.5, np.nan], r"w row 1: nan"),
        ([0.5, None], r"w row 1: None is not a number"),
        (["0.5", "0.5"], r"w row 0: '0.5' is not a number"),
        ([True, False], r"w row 0: True is not a number"),
        (2.0, r"^w: 2 is not a belief"),
        ([0.5], r"shape \(2,\).*got shape \(1,\)"),
        ([[0.5, 0.5]], r"got shape \(1, 2\)"),
        ("high", r"got 'high'"),
    ],
)
def test_wrong_beliefs_name_the_row(wrong, message):
    with pytest.raises(ValueError, match=message):
        read_beliefs(wrong, 2, "w")


@pytest.mark.parametrize("wrong", [-1, 2.5, "3", None, True, 3.0])
def test_number_of_points(wrong):
    assert read_n_points(np.int32(4)) == 4
    assert type(read_n_points(np.int32(4))) is int
    with pytest.raises(ValueError, match="n_points must be a non-negative integer"):
        read_n_points(wrong)


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.25, 0.5, 1.0])).filter(
            lambda link: link[0] != link[1]
        ),
        max_size=20,
    )
)
def test_merging_is_a_dictionary_of_maxima(links):
    expected: dict[tuple[int, int], float] = {}
    for i, j, weight in links:
        key = (min(i, j), max(i, j))
        expected[key] = max(weight, expected.get(key, 0))
    pairs = np.array([link[:2] for link in links], dtype=np.int64).reshape(-1, 2)
    merged, weights = merge_pairs(pairs, np.array([link[2] for link in links], dtype=float), 6)
    assert list(zip(map(tuple, merged.tolist()), weights.tolist(), strict=True)) == sorted(expected.items())


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_pairs_within_and_between(sizes):
    members = np.arange(sum(sizes))[::-1]
    sets = np.split(members, np.cumsum(sizes)[:-1])
    within = {frozenset((a, b)) for part in sets for a in part.tolist() for b in part.tolist() if a != b}
    found = pairs_within(members, np.array(sizes)).tolist()
    assert len(found) == len(within)
    assert {frozenset(pair) for pair in found} == within

    left, right = np.triu_indices(len(sizes), 1)
    pairs, source = pairs_between(members, np.array(sizes), left, right)
    expected = [[a, b] for k in range(len(left)) for a in sets[left[k]].tolist() for b in sets[right[k]].tolist()]
    assert pairs.tolist() == expected
    assert source.tolist() == [k for k in range(len(left)) for _ in range(sizes[left[k]] * sizes[right[k]])]


def test_pair_limit():
    check_pair_count(50_000_000, "This", "Stop.")
    with pytest.raises(ValueError, match="This takes 50,000,001 pairs, more than the limit of 50,000,000"):
        check_pair_count(50_000_001, "This", "Stop.")


def test_more_points_than_pairs_can_be_numbered_for():
    most = 3_037_000_499
    pairs = [(0, 1), (most - 2, most - 1)]
    assert Constraints.from_pairs(most, pairs).must_link.tolist() == [list(pair) for pair in pairs]
    with pytest.raises(ValueError, match="at most 3,037,000,499"):
        Constraints.from_pairs(most + 1, pairs)
