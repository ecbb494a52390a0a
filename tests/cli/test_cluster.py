"""`tightcut cluster`, from files to labels and a report."""

import html
import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp

from tightcut import COSC, KnnAffinity

MOONS = "cluster moons.csv -k 2 --id name --drop class --effort 0.3"
# A shell that starts its commands in the background tells them to ignore Ctrl-C.
LISTENING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from tightcut.cli import main
sys.exit(main(sys.argv[1:]))
"""


def labels_of(path):
    return dict(line.split(",") for line in path.read_text().splitlines()[1:])


def test_labels_summary_and_notes_go_where_they_belong(works, folder):
    out, err = works(f"{MOONS} --constraints pairs.csv -o labels.csv")
    facts, _, means = out.partition("means that distinguish each cluster:\n")
    assert [line.split()[0] for line in facts.splitlines()] == [
        "points",
        "clusters",
        "cut",
        "violated",
        "seconds",
        "labels",
    ]
    assert [line.split()[0] for line in means.splitlines()] == ["0", "1"]
    assert "0 of 4 constraints" in out
    assert "Read 60 rows and 2 columns of moons.csv; names from 'name'" in err
    assert (folder / "labels.csv").read_text().startswith("name,cluster\nm00,0\n")
    labels = labels_of(folder / "labels.csv")
    assert len(labels) == 60
    assert labels["m00"] == labels["m10"]
    assert labels["m05"] != labels["m45"]


def test_json(run):
    code, out, _ = run(f"{MOONS} --constraints pairs.csv --json")
    summary = json.loads(out)
    assert code == 0
    assert summary["n_points"] == sum(summary["sizes"]) == 60
    assert summary["n_violations"] == 0
    assert summary["n_must_link"] == summary["n_cannot_link"] == 2


def test_quiet(run):
    assert run(f"{MOONS} -q")[2] == ""


def test_labels_on_standard_output(works):
    out, _ = works(f"{MOONS} -o -")
    assert out.splitlines()[0] == "name,cluster"
    assert len(out.splitlines()) == 61


def test_known_classes(works, folder):
    lines = (folder / "moons.csv").read_text().splitlines()
    for row in range(1, 61):
        if row % 6:
            lines[row] = lines[row].rpartition(",")[0] + ","
    (folder / "moons.csv").write_text("\n".join(lines))
    out, _ = works("cluster moons.csv -k 2 --id name --labels class -o labels.csv --effort 0.3")
    assert "0 of 9 constraints" in out
    labels = labels_of(folder / "labels.csv")
    assert labels["m05"] == labels["m11"] != labels["m59"]


def test_the_algorithm_of_the_paper(run, works, folder):
    out, _ = works(f"{MOONS} --constraints pairs.csv --method paper --report page.html --json")
    assert json.loads(out)["n_violations"] == 0
    assert "the paper's algorithm" in html.unescape((folder / "page.html").read_text())
    assert run(f"{MOONS} --method paper --influence 1")[0] == 2
    assert run(f"{MOONS} --method paper --max-violations fewest")[0] == 2


def test_the_same_as_in_python(run, folder):
    options = "--n-neighbors 9 --seed 3 --criterion rcut --symmetrize mean --constraints rows.csv"
    (folder / "rows.csv").write_text("0,10,must\n5,45,cannot\n")
    run(f"cluster moons.npy -k 2 --scale none {options} -o labels.csv -q")
    model = COSC(n_neighbors=9, random_state=3, criterion="rcut", affinity=KnnAffinity(symmetrize="mean"))
    model.fit(np.load(folder / "moons.npy"), must_link=[(0, 10)], cannot_link=[(5, 45)])
    assert list(labels_of(folder / "labels.csv").values()) == list(map(str, model.labels_))


def test_a_number_of_clusters_is_chosen(works):
    out, err = works("cluster moons.npy -k auto --effort 0.3 --json")
    assert f"{json.loads(out)['n_clusters']} clusters. The eigengap" in err


def test_symmetrizing_by_the_mean(works, folder):
    from tightcut import Graph, knn_affinity
    from tightcut.problem.objective import normalized_cut

    out, _ = works("cluster moons.npy -k 2 --scale none --symmetrize mean -o labels.csv --report page.html --json")
    graph = Graph.from_affinity(knn_affinity(np.load(folder / "moons.npy"), symmetrize="mean", diffusion=2))
    labels = np.array(list(labels_of(folder / "labels.csv").values()), dtype=int)
    assert json.loads(out)["cut"] == pytest.approx(normalized_cut(graph, labels), rel=1e-12)
    assert "mean of its two ends" in (folder / "page.html").read_text()


def test_scaling_is_the_default_and_can_be_switched_off(run, folder):
    np.save(folder / "wide.npy", np.load(folder / "moons.npy") * [1, 1e4] + [0, 7])
    results = {}
    for name, scale in (("wide", "standard"), ("moons", "standard"), ("wide", "none")):
        _, out, _ = run(f"cluster {name}.npy -k 2 --scale {scale} --effort 0.3 --json")
        results[name, scale] = json.loads(out)["cut"]
    assert results["wide", "standard"] == pytest.approx(results["moons", "standard"])
    assert "Columns replaced by their quantiles: units differ" in run("cluster wide.npy -k 2")[2]
    assert "quantiles" not in run("cluster wide.npy -k 2 --scale none")[2]
    assert results["wide", "none"] != pytest.approx(results["moons", "standard"])


@pytest.mark.parametrize("name", ["g.csv", "g.mtx", "g.npz", "g.npy"])
def test_graphs(works, folder, name):
    block = np.ones((5, 5)) - np.eye(5)
    weights = np.kron(np.eye(2), block)
    weights[0, 5] = weights[5, 0] = 0.1
    if name == "g.csv":
        rows = [f"v{i},v{j},{weights[i, j]}" for i, j in zip(*np.nonzero(np.triu(weights)), strict=True)]
        (folder / name).write_text("\n".join(["source,target,weight", *rows]))
    elif name == "g.mtx":
        entries = [f"{i + 1} {j + 1} {weights[i, j]}" for i, j in zip(*np.nonzero(np.tril(weights)), strict=True)]
        banner = ["%%MatrixMarket matrix coordinate real symmetric", f"10 10 {len(entries)}"]
        (folder / name).write_text("\n".join(banner + entries))
    elif name == "g.npz":
        sp.save_npz(folder / name, sp.csr_array(weights))
    else:
        np.save(folder / name, weights)
    flag = " --graph" if name == "g.npy" else ""
    out, err = works(f"cluster {name} -k 2 -o labels.csv --report report.html --effort 0.3{flag}")
    assert "2, of 5, 5 points" in out
    assert "Read a graph of 10 vertices and 21 edges" in err
    assert (
        (folder / "labels.csv")
        .read_text()
        .startswith("vertex,cluster\nv0,0" if name == "g.csv" else "row,cluster\n0,0")
    )


def test_the_report(run, folder):
    code, out, _ = run(f"{MOONS} --constraints pairs.csv --report report.html")
    page = (folder / "report.html").read_text()
    assert code == 0
    assert "report.html" in out
    assert all(f'id="{part}"' in page for part in ("map", "clusters", "prices", "subject"))
    assert "m00" in page


def test_soft_constraints(run, works, fails, folder):
    (folder / "pairs.csv").write_text("a,b,type,belief\nm00,m01,must,1\nm00,m01,cannot,0.5\n")
    fails(
        f"{MOONS} --constraints pairs.csv",
        "The constraints contradict each other, whatever the number of clusters:",
        "m00 must-link m01    (pairs.csv, line 2)",
        "m01 cannot-link m00  (pairs.csv, line 3)",
        "use --max-violations fewest",
        code=3,
    )
    out, _ = works(f"{MOONS} --constraints pairs.csv --max-violations fewest --json")
    assert json.loads(out)["violated_cannot_link"] == [["m00", "m01"]]
    assert json.loads(out)["violated_belief"] == 0.5
    assert run(f"{MOONS} --constraints pairs.csv --max-violations 0.2")[0] == 3


def test_contradictions_for_two_and_for_three_clusters(run, fails, folder):
    names = ["m00", "m10", "m20", "m30"]
    apart = [f"{a},{b},cannot" for i, a in enumerate(names) for b in names[:i]]
    (folder / "pairs.csv").write_text("\n".join(["a,b,type", *apart]))
    fails(
        f"{MOONS} --constraints pairs.csv",
        "2 clusters cannot satisfy an odd number of cannot-links (3) in a cycle:",
        code=3,
    )
    fails(f"{MOONS} --constraints pairs.csv -k 3", "m00, m10, m20, m30 must all be in different clusters:", code=3)
    assert run(f"{MOONS} --constraints pairs.csv -k 4")[0] == 0


def test_a_contradiction_that_comes_from_labels(fails, folder):
    (folder / "pairs.csv").write_text("a,b,type\nm00,m59,must\n")
    fails(
        "cluster moons.csv -k 2 --id name --labels class --constraints pairs.csv",
        "(pairs.csv, line 2)",
        "(moons.csv, column 'class')",
        code=3,
    )


def test_existing_files_are_safe(run, fails, folder, monkeypatch):
    (folder / "labels.csv").write_text("mine")
    with monkeypatch.context() as patch:
        patch.setattr("tightcut.files.read_data", None)  # said before anything is read
        fails(f"{MOONS} -o labels.csv", "labels.csv already exists. Use --force")
    assert (folder / "labels.csv").read_text() == "mine"
    assert run(f"{MOONS} -o labels.csv --force")[0] == 0
    assert (folder / "labels.csv").read_text().startswith("name,cluster")


@pytest.mark.parametrize(
    "options",
    [
        "-o moons.csv --force",
        "-o a.html --report a.html",
        "-o pairs.csv --constraints pairs.csv --force",
        "-o - --json",
    ],
)
def test_files_that_would_overwrite_each_other(run, folder, options):
    before = (folder / "moons.csv").read_text()
    assert run(f"{MOONS} {options}")[0] == 2
    assert (folder / "moons.csv").read_text() == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemError])
def test_labels_are_safe_before_the_report_begins(run, folder, monkeypatch, error):
    def fail(*_, **__):
        raise error from KeyboardInterrupt()

    before = set(folder.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr("tightcut.fitted.fit.fit", fail)
        assert run(f"{MOONS} -o labels.csv")[0] == 130
    assert set(folder.iterdir()) == before
    for place in ("tightcut.fitted.state.FittedState.audit", "tightcut.report.render"):
        with monkeypatch.context() as patch:
            patch.setattr(place, fail)
            code, _, err = run(f"{MOONS} --constraints pairs.csv -o labels.csv --report report.html --force")
        assert code == 130
        assert "The labels are written; the report follows." in err
        assert "interrupted" in err
        assert set(folder.iterdir()) - before == {folder / "labels.csv"}


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c(folder, child_environment):
    np.save(folder / "big.npy", np.random.default_rng(0).normal(size=(3000, 5)))
    command = [sys.executable, "-c", LISTENING, "cluster", "big.npy", "-k", "5", "--effort", "1000", "-o", "labels.csv"]
    before = set(folder.iterdir())
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=child_environment) as process:
        assert "Read 3,000 rows" in process.stderr.readline()
        time.sleep(0.3)  # Wherever it is then: importing, compiling, searching.
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=300)
        finally:
            process.kill()
    # Python itself ends by the signal if it came inside an exec during an import; a shell shows 130 for both.
    assert process.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in err
    assert set(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("-k two", 2, "'two' is not a whole number. Did you mean 2?"),
        ("-k 0", 2, "0 is not in the range x>=1.\n"),
        ("-k atuo", 2, "Did you mean 'auto'?"),
        ("-k 61", 1, "61 clusters need at least that many points; moons.csv has 60."),
        ("--n-neighbors 0", 2, "--n-neighbors"),
        ("--colums x", 2, "--colums"),
        ("--columns z", 1, "no column 'z' (--columns)"),
        ("--drop hieght", 1, "no column 'hieght' (--drop)"),
        ("--constraints no.csv", 1, "no.csv does not exist"),
        ("-o no/labels.csv", 1, "does not exist. Create it first"),
        ("-o labels.parquet", 1, "tables are written as CSV or TSV; name it labels.csv"),
        ("--jobs 1.5", 2, "'1.5' is not a valid whole number"),
        ("--seed x", 2, "'x' is not a valid whole number"),
        ("--jobs 0", 2, "0 is not a number of threads; -1 means all cores"),
        ("--effort nan", 2, "not a finite number"),
        ("--max-violations some", 2, "'some' is not a number. It may also be the word fewest."),
        ("--max-violations inf", 2, "not a finite number"),
    ],
)
def test_mistakes_on_the_command_line(fails, options, code, message):
    fails(f"{MOONS} {options}", message, code=code)


def test_one_row_and_one_cluster(fails, folder):
    (folder / "one.csv").write_text("x,y\n1,2\n")
    for k in ("1", "2", "auto"):
        fails(f"cluster one.csv -k {k}", "one.csv has 1 point; there must be at least two to cluster.")


@pytest.mark.filterwarnings("error")
def test_values_too_large_for_distances(fails, folder):
    (folder / "huge.csv").write_text("x,y\n1e300,1\n-1e300,2\n3,4\n5,6\n")
    fails("cluster huge.csv -k 2", "value of size 1e+300, whose square overflows")


def test_notes_about_the_graph_and_constant_columns(run, folder):
    X = np.concatenate([np.random.default_rng(0).normal(size=(20, 2)) + shift for shift in (0, 1000)])
    np.savetxt(folder / "far.csv", np.column_stack([X, np.ones(40)]), delimiter=",")
    _, _, err = run("cluster far.csv -k 2 --scale none")
    assert "Note: the nearest-neighbour graph has 2 connected components" in err
    assert "Raise --n-neighbors for a denser graph.\n" in err
    _, _, err = run("cluster far.csv -k 2")
    assert "Note: columns with the same value in every row make no difference: '3'." in err


def test_a_lopsided_clustering_is_noted_in_words_of_the_command_line(run, folder):
    from sklearn.datasets import load_iris

    np.savetxt(folder / "iris.csv", load_iris().data, delimiter=",")
    _, out, err = run("cluster iris.csv -k 3 --seed 0 --scale standard")
    assert "100" in out
    assert "Note: cluster 1 has 13 of 150 points, the largest cluster 100" in err
    assert "Try another -k, --criterion rcut with a larger --n-neighbors, or a few pairs (--constraints)." in err


def test_the_cut_with_and_without_pairs(run, folder):
    _, out, _ = run(f"{MOONS} --constraints pairs.csv --json")
    with_pairs = json.loads(out)
    _, out, _ = run(f"{MOONS} --json")
    free = json.loads(out)
    assert free["cut_without_pairs"] is None
    assert with_pairs["cut_without_pairs"] == pytest.approx(free["cut"])
    assert f"; {free['cut']:.6g} without pairs)" in run(f"{MOONS} --constraints pairs.csv")[1]
    (folder / "dear.csv").write_text("a,b,type\nm00,m01,cannot\nm10,m11,cannot\n")
    assert (
        "times as large as without them. Some may be wrong: tightcut audit" in run(f"{MOONS} --constraints dear.csv")[2]
    )


def test_prices_can_be_left_out(works, folder, monkeypatch):
    monkeypatch.setattr("tightcut.COSC.audit", None)
    monkeypatch.setattr("tightcut.audit.cut_without_constraints", None)
    out, _ = works(f"{MOONS} --constraints pairs.csv --report report.html --no-prices --json")
    assert json.loads(out)["cut_without_pairs"] is None
    assert 'id="prices"' not in (folder / "report.html").read_text()


def test_violated_pairs_are_named(works, folder):
    (folder / "pairs.csv").write_text("a,b,type\nm00,m01,must\nm00,m01,cannot\nm05,m45,cannot\n")
    for command in (f"{MOONS} --max-violations fewest", MOONS.replace("cluster", "audit") + " --max-violations fewest"):
        out, _ = works(f"{command} --constraints pairs.csv")
        after = out[out.index("violated") :]
        assert "m00 must-link m01" in after or "m00 cannot-link m01" in after
    lines = out.splitlines()
    assert "(1 violated, listed first):" in lines[0]
    assert lines[1].split()[2] == "violated"


def test_the_time_includes_the_report(run, monkeypatch):
    from tightcut import report

    def slow(*given, **named):
        time.sleep(0.5)
        return report.report.render(*given, **named)

    monkeypatch.setattr("tightcut.report.render", slow)
    _, out, _ = run(f"{MOONS} --report report.html --json")
    assert json.loads(out)["seconds"] >= 0.5


def test_pictures_and_maps_of_a_report(run, fails, folder):
    rng = np.random.default_rng(0)
    np.save(folder / "pixels.npy", rng.random((40, 12)) + 3 * (np.arange(40) < 20)[:, None])
    assert run("cluster pixels.npy -k 2 --images 3x4 --map pca --report page.html")[0] == 0
    page = (folder / "page.html").read_text()
    assert "principal components of 12 columns" in page
    assert "data:image/png" in page
    assert "What distinguishes it" not in (folder / "page.html").read_text()
    assert run("cluster pixels.npy -k 2 --report numbers.html")[0] == 0
    assert re.search(r">column \d+ <", (folder / "numbers.html").read_text())
    fails(
        "cluster pixels.npy -k 2 --images 5x5 --report other.html",
        "--images 5x5: pixels.npy has rows of 12 values, which does not fit.",
    )
    assert run("cluster pixels.npy -k 2 --images big --report other.html")[0] == 2
    assert run("cluster pixels.npy -k 2 --images 3x4")[0] == 2


@pytest.mark.parametrize(
    ("options", "found"), [("--encode region --scale none", True), ("--columns code", True), ("--columns x,y", False)]
)
def test_clusters_that_say_the_same_as_a_column_are_noted(works, folder, options, found):
    rows = [f"p{i},{i % 3},{'nsw'[i % 3]},{i * 7 % 11 / 99},{i * 5 % 13 / 99}" for i in range(60)]
    (folder / "people.csv").write_text("\n".join(["id,code,region,x,y", *rows]) + "\n")
    drop = "--drop code" if "encode" in options else ""
    _, err = works(f"cluster people.csv -k 3 {options} {drop}")
    name = "region" if "encode" in options else "code"
    note = f"Note: the clusters say the same as column '{name}'. If that is not what you look for, leave it out: --drop {name}"
    assert (note in err) == found
