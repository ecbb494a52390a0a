"""Numbers of clusters that held-out pairs exclude, and what the eigengap makes of the rest."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from tightcut import COSC, Constraints, Graph, KnnAffinity, knn_affinity
from tightcut.datasets import sample_constraints
from tightcut.search.spectral_k import choose_n_clusters
from tightcut.selection import Setting, Similarities, TuningProblem
from tightcut.selection.held_out import hold_out
from tightcut.selection.select_k import admitted_by_pairs

# Three pairs of neighbouring clouds: the graph suggests three clusters, the classes are six.
CENTRES = np.array([[0, 0], [4, 0], [12, 0], [16, 0], [0, 12], [4, 12]])
CLOUDS, CLASSES = make_blobs(360, centers=CENTRES, cluster_std=1.2, random_state=0)


def problem(n_pairs, X=CLOUDS, y=CLASSES):
    affinity = knn_affinity(X, connect=False)
    return TuningProblem(Similarities(affinity), sample_constraints(y, n_pairs, random_state=0), 0)


def admitted(given, numbers, seed=0, n_jobs=None):
    return admitted_by_pairs(given, lambda _: Setting(), np.asarray(numbers), np.random.default_rng(seed), n_jobs)


@pytest.mark.slow
def test_pairs_exclude_the_number_that_the_graph_suggests():
    assert COSC("auto", affinity=KnnAffinity(connect=False), effort=0, random_state=0).fit(CLOUDS).n_clusters_ == 3
    known = sample_constraints(CLASSES, 72, random_state=0)
    model = COSC("auto", affinity=KnnAffinity(connect=False), effort=0, random_state=0).fit(CLOUDS, constraints=known)
    assert model.n_clusters_ == 6
    assert "held-out pairs exclude" in model.n_clusters_reason_
    assert model.n_violations_ == 0


def test_numbers_far_from_the_classes_are_excluded_and_their_own_is_not():
    numbers, reason = admitted(problem(150), range(2, 13))
    assert 6 in numbers
    assert not set(numbers) & {2, 3, 4, 12}
    assert reason.startswith("Of 2 to 12 clusters, ")
    assert reason.endswith(f"exclude all but {', '.join(map(str, numbers))}")


def test_with_few_pairs_nothing_is_told():
    assert admitted(problem(6), range(2, 6)) is None
    known = Constraints.from_pairs(360, cannot_link=[(i, i + 1) for i in range(0, 80, 2)])
    assert admitted(TuningProblem(Similarities(knn_affinity(CLOUDS, connect=False)), known, 0), range(2, 6)) is None


def test_the_result_depends_on_the_seed_alone():
    one, two = (admitted(problem(100), range(2, 9), n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one[0].tolist() == two[0].tolist()
    assert one[1] == two[1]


def test_a_number_that_the_known_pairs_rule_out_is_not_admitted():
    clique = [int(np.flatnonzero(c == CLASSES)[0]) for c in range(6)]
    given = problem(120)
    more = given.constraints | Constraints.from_pairs(
        360, cannot_link=[(a, b) for a in clique for b in clique if a < b]
    )
    numbers, _ = admitted(TuningProblem(given.source, more, 0), range(2, 9))
    assert numbers.min() >= 4


def test_held_out_pairs_count_as_they_were_given():
    held = hold_out(sample_constraints(CLASSES, 150, random_state=0), np.random.default_rng(0), balanced=False)
    asked = np.zeros(len(held.pairs), dtype=bool)
    for fold in held.folds:
        asked[fold.asked] = True
    np.testing.assert_allclose(held.weight, asked / asked.sum())


@pytest.mark.parametrize(("left", "expected"), [([3], 3), ([4, 5, 6, 7, 8], 6), ([2, 3], 3)])
def test_the_relative_eigengap_ranks_the_numbers_that_are_left(left, expected):
    graph = Graph.from_affinity(knn_affinity(CLOUDS))
    asked = []

    def admit(numbers):
        asked.append(numbers)
        return np.array(left), "These are left"

    count = choose_n_clusters(graph, Constraints.from_pairs(360), max_clusters=9, admit=admit)
    assert count.n_clusters == expected
    assert count.reason.startswith("These are left.")
    assert [numbers.tolist() for numbers in asked] == [list(range(2, 10))]


def test_without_an_answer_the_eigengap_decides_as_before():
    graph, none = Graph.from_affinity(knn_affinity(CLOUDS)), Constraints.from_pairs(360)
    assert choose_n_clusters(graph, none, admit=lambda _: None).reason == choose_n_clusters(graph, none).reason
