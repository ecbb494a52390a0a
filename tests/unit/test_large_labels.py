"""Labels that do not fit into 64 bits, or that only whole numbers tell apart."""

import numpy as np
import pytest

from tightcut import COSC, Constraints, align

LARGE = 2**63


@pytest.mark.parametrize("label", [2**63, 2**64 - 1, 2**64, 10**30])
def test_align_takes_labels_of_any_size(label):
    assert align([label, label, 5], [1, 1, 0]).tolist() == [label, label, 5]
    assert align([label, label, -1], [1, 1, 0]).tolist() == [label, label, label + 1]
    assert align([5, 5, 6], [label, label, label + 1]).tolist() == [5, 5, 6]
    assert align([-label - 1, -label - 1, 6], [0, 0, 1]).tolist() == [-label - 1, -label - 1, 6]


def test_numbers_above_the_largest_of_64_bits():
    assert align([LARGE - 1] * 2, [0, 1]).tolist() == [LARGE - 1, LARGE]
    assert align([LARGE - 2] * 2, [0, 1]).dtype == np.int64
    assert align(np.array([LARGE, 7], np.uint64), [0, 1]).tolist() == [LARGE, 7]


@pytest.mark.parametrize("label", [2**62, LARGE, 10**30])
def test_clusters_of_a_start_are_numbered_in_64_bits(label):
    model = COSC(2, affinity="precomputed", random_state=0)
    with pytest.raises(ValueError, match=f"init holds the number {label}.*use smaller numbers"):
        model.fit(np.ones((4, 4)), init=[label, label, 5, 5])
    assert model.fit(np.ones((4, 4)), init=[2**61, 2**61, 5, 5]).labels_.tolist() == [2**61, 2**61, 5, 5]


@pytest.mark.parametrize("unknown", [-1, None, float("nan")])
@pytest.mark.parametrize("label", [2**53, 2**63, 2**64])
def test_labels_that_are_equal_as_floats_are_not_joined(label, unknown):
    found = Constraints.from_labels([label, label + 1, unknown, label])
    assert (found.must_link.tolist(), found.cannot_link.tolist()) == ([[0, 3]], [[0, 1]])
    assert align([label, label + 1, unknown], [0, 1, 0]).tolist() == [label, label + 1, label]
