"""`tightcut cluster --edges` and `--points`: a folder of Parquet files in, a folder of Parquet files out."""

import json

import numpy as np
import pandas as pd
import pytest

from tightcut import Graph, knn_affinity
from tightcut.exceptions import DisconnectedGraphWarning
from tightcut.problem.objective import normalized_cut

pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


@pytest.fixture
def edges(folder):
    """Two rings of 20 with two edges between them, in two files; vertices are named 1000, 1010, ..."""
    ring = np.arange(20)
    i = np.concatenate([ring, ring + 20, [0, 7]])
    j = np.concatenate([(ring + 1) % 20, (ring + 1) % 20 + 20, [20, 30]])
    frame = pd.DataFrame({"i": 1000 + 10 * i, "j": 1000 + 10 * j, "weight": 1.0})
    (folder / "edges").mkdir()
    frame[:21].to_parquet(folder / "edges" / "a.parquet")
    frame[21:].to_parquet(folder / "edges" / "b.parquet")
    (folder / "names.csv").write_text("a,b,type\n1000,1010,must\n1000,1200,cannot\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("processes", [False, True], ids=["threads", "scheduler"])
def test_labels_are_written_as_parquet(edges, run, processes):
    line = "cluster-graph --edges edges -k 2 --constraints names.csv --effort 0.3 -o labels"
    if processes:
        with distributed.LocalCluster(1, threads_per_worker=1, dashboard_address=None) as one:
            code, out, err = run(f"{line} --scheduler {one.scheduler_address} --n-units 12")
    else:
        code, out, err = run(f"{line} --n-units 12")
    assert code == 0, err
    labels = pd.read_parquet(edges / "labels")
    assert labels["vertex"].tolist() == list(range(1000, 1400, 10))
    assert labels["cluster"].tolist() == [0] * 20 + [1] * 20
    assert "\nviolations  0\n" in out
    assert "join" in err


@pytest.mark.slow
def test_points_in_a_folder(folder, works):
    """The same as the graph of `knn_affinity` gives; pairs name rows."""
    X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)
    (folder / "points").mkdir()
    for part in range(3):
        pd.DataFrame(X[part::3], columns=["x", "y"]).to_parquet(folder / "points" / f"{part}.parquet")
    (folder / "rows.csv").write_text("a,b,type\n0,1,must\n0,19,cannot\n")
    line = "cluster-graph --points points -k 2 --constraints rows.csv --n-neighbors 5 --symmetrize mean --effort 0.3 --json -q"
    out, _ = works(f"{line} -o labels")
    facts = json.loads(out)
    rows = np.concatenate([np.arange(part, 60, 3) for part in range(3)])
    with pytest.warns(DisconnectedGraphWarning):
        graph = Graph.from_affinity(knn_affinity(X[rows], 5, symmetrize="mean"))
    labels = pd.read_parquet(folder / "labels")
    assert labels["cluster"].tolist() == (rows >= 30).astype(int).tolist()
    assert facts["cut"] == pytest.approx(normalized_cut(graph, labels["cluster"].to_numpy()), rel=1e-9)
    assert (facts["n_edges"], facts["neighbor_recall"]) == (graph.n_edges, 1.0)


def test_the_summary_as_json_and_replacing(edges, run, works, fails):  # noqa: ARG001
    line = "cluster-graph --edges edges -k 2 --effort 0.3 -o labels --json -q"
    out, _ = works(line)
    facts = json.loads(out)
    assert facts["n_vertices"] == 40
    assert facts["sizes"] == [20, 20]
    assert facts["cut"] == pytest.approx(2 * 2 / 42)
    fails(line, "labels already exists", code=2)
    assert run(f"{line} --force")[0] == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cluster -k 2", "Missing argument 'DATA'"),
        ("cluster --edges edges -k 2", "by another command, with the same options: tightcut cluster-graph"),
        ("cluster moons.csv -k 2 --n-units 9", "tightcut cluster-graph --edges FOLDER -k K"),
        ("cluster-graph -k 2", "Name either a folder of edges, --edges FOLDER, or one of points"),
        ("cluster-graph moons.csv --edges edges -k 2", "unexpected extra argument (moons.csv)"),
        ("cluster-graph --edges edges -k 2 --report r.html", "No such option"),
        ("cluster-graph --edges edges -k auto", "'auto' is not a valid whole number"),
        ("cluster-graph --edges edges -k 1", "1 is not in the range x>=2"),
        ("cluster-graph --edges edges -k 2 -o labels.csv", "name a folder: -o labels"),
        ("cluster-graph --edges edges -k 2 -o edges", "The same folder is named twice"),
        ("cluster-graph --edges nowhere -k 2", "'nowhere' does not exist"),
        ("cluster-graph --edges names.csv -k 2", "names.csv is not a Parquet file."),
        ("cluster-graph --edges edges -k 2 --shared-folder nowhere", "'nowhere' does not exist"),
        ("cluster-graph --edges edges -k 2 --shared-folder names.csv", "'names.csv' is a file"),
        ("cluster-graph --edges edges --points edges -k 2", "Name either a folder of edges"),
        ("cluster-graph --edges edges -k 2 --metric cosine", "--metric has no effect on --edges"),
        ("cluster-graph --points edges -k 2 --metric precomputed", "'precomputed' is not one of"),
        ("cluster-graph --points edges -k 2 --neighbors tree", "'tree' is not one of"),
        ("cluster-graph --points edges -k 2 --scale standard", "No such option"),
    ],
)
def test_command_lines_that_cannot_be_understood(edges, fails, line, message):  # noqa: ARG001
    fails(line, message, code=2)


@pytest.mark.parametrize(
    ("pairs", "code", "message"),
    [
        ("a,b,type\n1000,ann,must\n", 1, "whole numbers of 64 bits; 'ann', a name of a pair"),
        ("a,b,type\n1000,101\N{ARABIC-INDIC DIGIT ZERO},must\n", 1, "whole numbers of 64 bits"),
        ("a,b,type\n1000,1_010,must\n", 1, "whole numbers of 64 bits; '1_010'"),
        ("a,b,type\n1000,9223372036854775808,must\n", 1, "whole numbers of 64 bits; '9223372036854775808'"),
        ("a,b,type\n1000,1000,must\n", 1, "paired with itself"),
        ("a,b,type\n1000,5,must\n", 1, "5"),
        ("a,b,type\n1000,1010,must\n1010,1000,cannot\n", 3, "contradict"),
    ],
)
def test_pairs_that_cannot_be_used(edges, fails, pairs, code, message):
    (edges / "odd.csv").write_text(pairs)
    fails("cluster-graph --edges edges -k 2 --constraints odd.csv -q", message, code=code)
