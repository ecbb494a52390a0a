"""The paper's algorithm beside the program of its authors, on instances that both have solved.

Cuts and violated pairs are those of their default setting, in `benchmarks/reference/authors.csv`; graph and pairs are rebuilt
as described there. scikit-learn brings the digits along; the other sets are tested where they are at hand. All rows are
compared by `python -m benchmarks.paper_method authors`, whose table is read here, too.
"""

import csv
from pathlib import Path

import numpy as np
import pytest

from tightcut import Constraints, Graph, cluster, datasets, knn_affinity
from tightcut.datasets._loaders import data_file
from tightcut.exceptions import InconsistentConstraintsError

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
REFERENCE, TABLE = BENCHMARKS / "reference" / "authors.csv", BENCHMARKS / "results" / "paper_method.csv"
QUICK = [("sonar", 160), ("sonar", 320), ("heart", 320), ("breast_cancer", 320)]

pytestmark = pytest.mark.skipif(not REFERENCE.exists(), reason="tests run outside the repository")


def rows(path, **wanted):
    with path.open() as file:
        return [row for row in csv.DictReader(file) if wanted.items() <= row.items()]


def theirs(name, n_pairs):
    (row,) = rows(REFERENCE, dataset=name, n_pairs=str(n_pairs), seed="0", mode="full")
    return row


def instance(name, n_pairs):
    X, y = datasets.load(name).X.astype(float), datasets.load(name).y
    pairs = np.random.default_rng(n_pairs).integers(0, len(y), (4 * n_pairs + 50, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:n_pairs]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    graph = Graph.from_affinity(knn_affinity(X, connect=False))
    return graph, Constraints.from_pairs(len(y), pairs[same], pairs[~same])


@pytest.mark.parametrize(("name", "n_pairs"), QUICK)
def test_two_clusters(name, n_pairs):
    file = data_file(name)
    if file is None or not file.exists():
        pytest.skip(f"TIGHTCUT_DATA has no {name}")
    graph, constraints = instance(name, n_pairs)
    found = cluster(graph, constraints, method="paper", effort=0.5, random_state=0)
    assert found.n_violations == 0
    assert found.cut <= 1.01 * float(theirs(name, n_pairs)["cut"])


@pytest.mark.slow
def test_ten_clusters_by_recursion():
    graph, constraints = instance("digits", 1000)
    found = cluster(graph, constraints, 10, method="paper", effort=0, random_state=0)
    assert found.cut <= 1.1 * float(theirs("digits", 1000)["cut"])
    assert found.n_violations <= 20, "theirs violates 2, an unconstrained clustering 66"


def test_a_limit_that_no_path_meets_is_told_with_what_the_best_one_violates():
    """Three points that are all apart: two clusters violate one of the cannot-links."""
    graph = Graph.from_affinity(np.ones((4, 4)))
    constraints = Constraints.from_pairs(4, cannot_link=[(0, 1), (1, 2), (0, 2)])
    with pytest.raises(
        InconsistentConstraintsError, match=r"violate at most 0\.5 were found; the best violate 1"
    ) as raised:
        cluster(graph, constraints, method="paper", max_violations=0.5, effort=0, random_state=0)
    assert len(raised.value.witness) == 3
    assert constraints.violations(raised.value.best_labels).belief == raised.value.needed == 1


@pytest.mark.skipif(not TABLE.exists(), reason="the table is not here")
@pytest.mark.parametrize(("k", "mean", "largest"), [("2", 1.01, 1.05), ("10", 1.05, 1.05)])
def test_the_table_of_all_instances(k, mean, largest):
    """As small cuts as theirs, in at most a quarter of their seconds."""
    own, full = rows(TABLE, k=k), rows(REFERENCE, k=k, mode="full")
    assert [(row["dataset"], row["pairs"]) for row in own] == [(row["dataset"], row["n_pairs"]) for row in full]
    ratios = [float(row["cut ratio"]) for row in own]
    assert np.exp(np.mean(np.log(ratios))) <= mean
    assert max(ratios) <= largest
    assert sum(float(row["s"]) for row in own) <= sum(float(row["seconds"]) for row in full) / 4
    if k == "2":
        assert all(row["violated"] == "0" for row in own)
