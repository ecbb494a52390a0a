"""Extremely randomised trees against what they promise, and against scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import ExtraTreesClassifier

from tightcut.ask import Session
from tightcut.ask.beliefs.feature_models import FEWEST_ANSWERED, Forest
from tightcut.kernels.forest import average_votes, grow_trees


def grow(X, y, kept=None, n_tried=2, seed=1):
    X, y = np.ascontiguousarray(X, np.float32), np.asarray(y, np.int32)
    kept = np.ones((20, len(X)), bool) if kept is None else kept
    return X, grow_trees(X, y, int(y.max()) + 1, kept, n_tried, np.array([seed], np.uint64))


def test_trees_know_what_they_have_learned():
    X, y = load_iris(return_X_y=True)
    X, first = np.unique(X, axis=0, return_index=True)
    X, trees = grow(X, y[first])
    votes = average_votes(X, *trees, np.ones((20, len(X)), bool))
    np.testing.assert_array_equal(votes, np.eye(3)[y[first]])


def test_the_share_of_groups_in_a_leaf_that_cannot_be_split():
    X, trees = grow(np.zeros((4, 3)), [0, 0, 0, 1])
    votes = average_votes(X, *trees, np.ones((20, 4), bool))
    np.testing.assert_allclose(votes, np.tile([0.75, 0.25], (4, 1)))
    assert (trees[0] == -1).all()


def test_every_split_sends_rows_to_both_sides():
    rng = np.random.default_rng(0)
    X, (feature, child, threshold, value) = grow(rng.integers(3, size=(60, 4)), rng.integers(4, size=60))
    for t in range(len(feature)):
        reached = {0: np.arange(60)}
        for node in range(120):
            if node not in reached:
                continue
            rows = reached[node]
            assert len(rows)
            np.testing.assert_allclose(value[t, node].sum(), 1, rtol=1e-6)
            if feature[t, node] >= 0:
                right = X[rows, feature[t, node]] > threshold[t, node]
                reached |= {child[t, node]: rows[~right], child[t, node] + 1: rows[right]}


def test_rows_left_out_are_judged_by_the_trees_that_have_not_seen_them():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    kept = np.ones((2, 6), bool)
    kept[0, 5] = False
    X, trees = grow(X, y, kept, 1)
    votes = average_votes(X, *trees, ~kept)
    assert votes[:5].sum() == 0
    assert votes[5].sum() == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_as_good_as_scikit_learn(dtype):
    X, y = load_digits(return_X_y=True)
    X = X.astype(dtype)
    rows = np.random.default_rng(0).permutation(len(X))
    taught, rest = rows[:200], rows[200:]
    forest = Forest(X, taught, y[taught] * 2, 0)
    assert forest.classes.tolist() == list(range(0, 20, 2))
    own = (forest.predictions.argmax(axis=1) == y)[rest].mean()
    peer = ExtraTreesClassifier(100, random_state=0).fit(X[taught], y[taught]).score(X[rest], y[rest])
    assert own > peer - 0.03
    assert abs((forest.held_out.argmax(axis=1) == y[taught]).mean() - own) < 0.06
    np.testing.assert_array_equal(forest.predict(rest[:9]), forest.predictions[rest[:9]])
    np.testing.assert_array_equal(Forest(X, taught, y[taught] * 2, 0).predictions, forest.predictions)


def test_nothing_is_compiled_while_a_person_answers(blobs, answer_truly):
    """Preparation has compiled the kernels for the types with which answers use them."""
    X, y = blobs
    session = Session(X, random_state=0)
    session.prepare()
    before = [kernel.signatures for kernel in (grow_trees, average_votes)]
    answer_truly(session, y, FEWEST_ANSWERED + 5, "pick")
    assert session.labels_.shape == y.shape
    assert [kernel.signatures for kernel in (grow_trees, average_votes)] == before
