"""A fresh clustering numbered like an old one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightcut import align

LABELS = st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 5)), max_size=30)


@given(LABELS)
def test_the_partition_stays_and_the_largest_overlap_is_kept(pairs):
    old, new = (np.array([pair[side] for pair in pairs], dtype=int) for side in (0, 1))
    aligned = align(old, new)
    assert ((aligned == -1) == (new == -1)).all()
    assert (
        len(set(zip(new.tolist(), aligned.tolist(), strict=True)))
        == len(set(new.tolist()))
        == len(set(aligned.tolist()))
    )
    overlap = {(o, a): int(((old == o) & (aligned == a)).sum()) for o in {*old} - {-1} for a in {*aligned} - {-1}}
    if max(overlap.values(), default=0) > 0:
        best = max(overlap.values())
        assert any(o == a for (o, a), count in overlap.items() if count == best)
    fresh = {*aligned.tolist()} - {*old.tolist()} - {-1}
    assert all(label > old.max() for label in fresh)


@given(LABELS)
def test_labels_that_are_only_renumbered_come_back(pairs):
    old = np.array([pair[0] for pair in pairs], dtype=int)
    assert align(old, np.where(old < 0, -1, (old * 7 + 3) % 11)).tolist() == old.tolist()


def test_a_split_cluster_keeps_its_number_where_most_of_it_is():
    assert align([4] * 5 + [9] * 2, [0, 0, 0, 1, 1, 2, 2]).tolist() == [4, 4, 4, 10, 10, 9, 9]


def test_names_stay_names():
    old = ["anna", None, "ben", "new 1"]
    assert align(old, [0, 1, 2, 3]).tolist() == ["anna", "new 2", "ben", "new 1"]
    assert align(["anna", "anna"], [0, -1]).tolist() == ["anna", None]
    assert align(pd.array(["anna", pd.NA]), [0, 1]).tolist() == ["anna", "new 1"]


def test_points_that_are_new_have_no_old_label():
    assert align([0, 0, 1, -1, np.nan], [5, 5, 7, 7, 8]).tolist() == [0, 0, 1, 1, 2]
    assert align([], []).tolist() == []
    assert align([-1, -1], [3, 4]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ([0, 1], [0], "labels_old has 2 entries but labels_new has 1"),
        ([[0]], [[0]], "one label per point"),
        ([0.5], [0], "labels_old: 0.5 is not a label"),
        ([0], [(1, 2)], "labels_new must have one label per point"),
    ],
)
def test_what_cannot_be_aligned(old, new, message):
    with pytest.raises(ValueError, match=message):
        align(old, new)
