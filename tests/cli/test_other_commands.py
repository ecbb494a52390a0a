"""check, audit, tradeoff, evaluate, datasets, demo, warmup and info."""

import csv
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tightcut import datasets

MOONS = "moons.csv --id name --drop class --effort 0.3"


class TestCheck:
    def test_consistent(self, works):
        out, _ = works("check pairs.csv moons.csv --id name -k 2")
        assert "8 named, of 60 in the data" in out
        assert "58 once must-links have joined points, the largest of 2" in out
        assert "Consistent: 2 clusters can satisfy all of them." in out

    def test_everything_odd_at_once(self, run, folder):
        (folder / "odd.csv").write_text(
            "a,b,type\nm00,m01,must\nm01,m02,must\nm02,m00,cannot\nm01,m00,same\nm03,zoe,must\nm04,m04,cannot\n"
        )
        code, out, _ = run("check odd.csv moons.csv --id name")
        assert code == 3
        assert "m00, m01: odd.csv, line 2, line 5" in out
        assert "m04: odd.csv, line 7" in out
        assert "zoe: odd.csv, line 6, column 'b'" in out
        assert "Inconsistent: The constraints contradict each other" in out
        assert "m01 must-link m02  (odd.csv, line 3)" in out

    def test_json_without_data(self, run, works, folder):
        (folder / "odd.csv").write_text("x,y,cannot\ny,z,cannot\nz,x,cannot\n")
        code, out, _ = run("check odd.csv --json -k 2")
        findings = json.loads(out)
        assert code == 3
        assert not findings["consistent"]
        assert {row["place"] for row in findings["contradiction"]} == {f"odd.csv, line {line}" for line in (1, 2, 3)}
        assert run("check odd.csv -k 3")[0] == 0
        assert run("check odd.csv -k 1")[0] == 3
        out, _ = works("check odd.csv -k 4")
        assert "Consistent: 4 clusters can satisfy all of them, if the data have at least 1 more point." in out

    def test_without_data_nobody_knows_how_many_points_there_are(self, run, folder):
        (folder / "one.csv").write_text("p0,p1,must\n")
        for n_clusters in (1, 2, 3, 9):
            code, out, _ = run(f"check one.csv -k {n_clusters} --json")
            findings = json.loads(out)
            assert code == 0
            assert findings["consistent"]
            assert findings["points_needed"] == n_clusters - 1
            assert findings["points"] is None
        (folder / "two.csv").write_text("name,x\np0,1\np1,2\n")
        code, out, _ = run("check one.csv two.csv --id name -k 2 --json")
        assert code == 3
        assert json.loads(out)["proven"]

    def test_one_cluster_and_a_cannot_link(self, run, folder):
        (folder / "one.csv").write_text("p0,p1,cannot\n")
        code, out, _ = run("check one.csv -k 1")
        assert code == 3
        assert "Inconsistent: One cluster cannot keep points apart." in out

    def test_more_points_that_are_all_apart_than_clusters(self, run, folder):
        rows = [f"p{i},p{j},cannot" for i in range(4) for j in range(i)]
        (folder / "apart.csv").write_text("\n".join(rows))
        code, out, _ = run("check apart.csv -k 3 --json")
        findings = json.loads(out)
        assert code == 3
        assert findings["proven"]
        assert len(findings["contradiction"]) == 6
        assert "p1, p0, p2, p3 must all be in different clusters" in findings["reason"]
        assert run("check apart.csv -k 4")[0] == 0

    def test_unknown_names_alone_are_bad_input(self, run, folder):
        (folder / "odd.csv").write_text("m00,zoe,must\nm00,m01,must\n")
        code, out, err = run("check odd.csv moons.csv --id name")
        assert (code, err) == (1, "")
        assert "1 not in the data:" in out
        assert "Consistent: 2 clusters can satisfy all others." in out
        assert "If a column of DATA holds the names, name it: --id COL" in run("check odd.csv moons.csv")[2]

    def test_a_point_paired_with_itself(self, run, folder):
        (folder / "odd.csv").write_text("m00,m00,must\nm00,m01,must\n")
        code, out, _ = run("check odd.csv moons.csv --id name")
        assert code == 1
        assert "1 paired with itself:\n  m00: odd.csv, line 1" in out

    def test_features_need_not_be_numbers(self, run):
        assert run("check pairs.csv moons.csv --id name")[0] == 0


class TestAudit:
    def test_a_wrong_pair_comes_first(self, works, folder):
        with (folder / "pairs.csv").open("a") as stream:
            stream.write("m03,m20,cannot\n")
        out, err = works(f"audit {MOONS} -k 2 --constraints pairs.csv -o prices.csv")
        assert "Wrote prices.csv." in err
        assert "m03 cannot-link m20  (pairs.csv, line 6)" in out.splitlines()[1]
        lines = (folder / "prices.csv").read_text().splitlines()
        assert lines[0] == "type,first,second,belief,price,cut_without,method"
        assert lines[1].startswith("cannot,m03,m20,1.0,")
        assert len(lines) == 6

    def test_json_and_usage(self, works, fails):
        out, _ = works(f"audit {MOONS} -k 2 --constraints pairs.csv --json")
        assert len(json.loads(out)["constraints"]) == 4
        fails(f"audit {MOONS} -k 2", "nothing to audit", code=2)


class TestTradeoff:
    def test_table_and_picture(self, run, works, folder):
        pytest.importorskip("matplotlib")
        with (folder / "pairs.csv").open("a") as stream:
            stream.write("m03,m20,cannot\n")
        out, err = works(f"tradeoff {MOONS} --constraints pairs.csv -o curve.csv --plot curve.png")
        assert "Wrote curve.csv." in err
        assert "Wrote curve.png." in err
        assert out.splitlines()[1].split()[0] == "0"
        assert (folder / "curve.csv").read_text().startswith("n_violations,violated_belief,cut\n0,0.0,")
        assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
        assert run(f"tradeoff {MOONS} --constraints pairs.csv --json")[0] == 0

    def test_usage(self, run):
        assert run(f"tradeoff {MOONS}")[0] == 2

    @pytest.mark.parametrize("name", ["curve.xyz", "curve"])
    def test_a_picture_that_cannot_be_written_is_refused_at_once(self, fails, monkeypatch, name):
        pytest.importorskip("matplotlib")
        monkeypatch.setattr("tightcut.files.read_data", None)
        fails(f"tradeoff {MOONS} --constraints pairs.csv --plot {name}", "use .png, .svg or .pdf", code=2)


class TestEvaluate:
    @pytest.fixture
    def labels(self, folder):
        rows = [f"m{i:02d},{int(i >= 33)}" for i in range(60)]
        (folder / "labels.csv").write_text("\n".join(["name,cluster", *reversed(rows)]))

    @pytest.mark.usefixtures("labels")
    def test_matched_by_name(self, works):
        out, err = works("evaluate labels.csv moons.csv")
        assert "Matched by 'name'" in err
        assert "clustering error        0.0500" in out
        assert ["0", "30", "3"] in [line.split() for line in out.splitlines()]

    @pytest.mark.usefixtures("labels")
    def test_json(self, run):
        _, out, _ = run("evaluate labels.csv moons.csv --json --truth-column class")
        assert json.loads(out)["clustering_error"] == pytest.approx(0.05)

    def test_matched_by_row(self, works, folder):
        (folder / "labels.csv").write_text("row,cluster\n" + "".join(f"{i},{int(i >= 30)}\n" for i in range(60)))
        out, err = works("evaluate labels.csv moons.csv")
        assert "Matched row by row" in err
        assert "adjusted rand           1.0000" in out

    @pytest.mark.parametrize(
        ("labels", "options", "message"),
        [
            ("row,cluster\n0,1\n", "", "has 1 row and moons.csv has 60"),
            ("name,cluster\nzoe,1\n", "", "'zoe' is not in column 'name' of moons.csv"),
            ("name,cluster\nm01,1\nm01,2\n", "", "'m01' already occurs in line 2"),
            ("name,cluster\nm01,1\n", "--truth-column z", "no column 'z' (--truth-column)"),
            ("name,cluster\nm01,1\n", "points.csv", "column 'y' holds measurements such as 0.5, not classes"),
        ],
    )
    def test_mistakes(self, fails, folder, labels, options, message):
        (folder / "labels.csv").write_text(labels)
        (folder / "points.csv").write_text("name,x,y,colour\nm01,1.5,2,red\nm02,2.5,0.5,blue\n")
        truth = options if options.endswith(".csv") else f"moons.csv {options}"
        fails(f"evaluate labels.csv {truth}", message)

    def test_rows_without_a_class(self, works, folder):
        (folder / "l.csv").write_text("id,cluster\na,0\nb,1\nc,1\n")
        (folder / "t.csv").write_text("id,class\na,x\nb,y\nc,\n")
        out, err = works("evaluate l.csv t.csv")
        assert "Left out 1 row without a class" in err
        assert "points                  2" in out


def test_datasets(run, works):
    out, _ = works("datasets")
    assert "sonar" in out
    assert json.loads(run("datasets --json")[1])[0]["name"]


def test_a_dataset_becomes_a_table_that_other_commands_read(run, works, fails, monkeypatch):
    monkeypatch.delenv("TIGHTCUT_DATA", raising=False)
    fails("cluster iris.csv -k 3", "The built-in dataset of this name: tightcut datasets iris -o iris.csv")
    out, _ = works("datasets iris -o iris.csv")
    assert re.search(r"points +150\n", out)
    assert re.search(r"table +iris.csv", out)
    rows = list(csv.reader(Path("iris.csv").read_text().splitlines()))
    assert rows[0] == ["x1", "x2", "x3", "x4", "class"]
    assert rows[1] == ["5.1", "3.5", "1.4", "0.2", "0"]
    assert len(rows) == 151
    assert run("cluster iris.csv -k 3 --drop class -o labels.csv -q")[0] == 0
    assert "clustering error        0.0933" in run("evaluate labels.csv iris.csv")[1]


def test_warnings_while_a_dataset_is_loaded_are_notes(works, monkeypatch):
    def load(_name):
        warnings.warn("the network is slow", stacklevel=2)
        return datasets.load_iris()

    monkeypatch.setattr("tightcut.datasets.load", load)
    _, err = works("datasets iris -o iris.csv")
    assert err == "Note: the network is slow\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("datasets irish", "There is no dataset 'irish'. Did you mean 'iris'?"),
        ("datasets zebra", "There is no dataset 'zebra'. `tightcut datasets` lists them."),
        ("datasets -o iris.csv", "-o writes one dataset; say which"),
        ("datasets iris -o iris.txt.png", "tables are written as CSV or TSV"),
    ],
)
def test_datasets_that_cannot_be_written(run, line, message):
    code, _, err = run(line)
    assert code in (1, 2)
    assert message in err
    assert not list(Path().glob("iris*"))


def test_info(run, works, child_environment):
    out, _ = works("info")
    assert all(name in out for name in ("tightcut", "python", "numba", "cores", "GPU"))
    script = "import sys\nfrom tightcut.cli import main\nmain(['info'])\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, env=child_environment)
    assert json.loads(run("info --json")[1])["numpy"]


def test_warmup(works, monkeypatch):
    monkeypatch.setattr("tightcut.warmup.warmup", lambda: None)
    out, _ = works("warmup")
    assert re.match(r"Ready after [\d.]+ s\. Compiled code is in \S+", out)


def test_demo(run, folder, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("tightcut.demo.main", print)
    assert run("demo -o picture.png")[1] == "picture.png\n"
    (folder / "demo.png").touch()
    assert run("demo")[0] == 1
