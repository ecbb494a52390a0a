"""`tightcut resolve`."""

import json

import pytest

EDGES = """unique_id_l,unique_id_r,match_probability,source_l,source_r
1,2,0.99,register,register
2,3,0.7,register,clinic
1,3,0.02,register,clinic
3,10,0.8,clinic,club
"""


@pytest.fixture
def edges(folder):
    (folder / "edges.csv").write_text(EDGES)
    return folder


def test_facts_and_files(works, edges):
    out, _ = works("resolve edges.csv -o clusters.csv --cut-edges cut.csv --doubtful check.csv")
    assert (edges / "clusters.csv").read_text() == "id,cluster\n1,0\n2,0\n3,1\n10,1\n"
    assert (edges / "cut.csv").read_text().splitlines()[1].startswith("2,3,0.7,0,1,evidence,1,3,")
    assert (edges / "check.csv").read_text().startswith("a,b,type,probability,cluster_a,cluster_b,margin\n")
    assert "2, 0 single records, the largest of 2" in out
    assert "1 match: 1 by other scores" in out
    assert "the least possible" in out


def test_one_per_source(run, edges):
    code, out, _ = run("resolve edges.csv --groups source --json")
    found = json.loads(out)
    assert code == 0
    assert found["clusters_of_size"] == {"1": 1, "3": 1}
    assert found["cut_edges_by_reason"]["groups"] == 1
    assert found["n_proven"] == found["n_components"] == 1
    assert found["clusters"] is None
    (edges / "sources.csv").write_text("id,source\n1,a\n2,a\n3,b\n")
    assert json.loads(run("resolve edges.csv --groups sources.csv --json")[1])["clusters_of_size"] == {"1": 1, "3": 1}


def test_what_a_person_corrects_comes_back_as_rules(run, works, edges):
    run("resolve edges.csv --doubtful check.csv")
    text = (edges / "check.csv").read_text()
    assert "\n3,10,must," in text
    (edges / "check.csv").write_text(text.replace("\n3,10,must,", "\n3,10,cannot,"))
    out, _ = works("resolve edges.csv --constraints check.csv -o -")
    assert out == "id,cluster\n1,0\n2,0\n3,1\n10,2\n"


def test_known_identities(works, edges):
    (edges / "known.csv").write_text("id,label\n1,anna\n10,anna\n2,\n")
    out, _ = works("resolve edges.csv --labels known.csv -o -")
    assert out.splitlines()[1:] == ["1,0", "2,0", "3,1", "10,0"]


def test_parquet_and_duckdb(run, fails, edges):
    pd = pytest.importorskip("pandas")
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    pd.read_csv(edges / "edges.csv").to_parquet(edges / "edges.parquet")
    assert run("resolve edges.parquet -o data.duckdb::clusters --doubtful check.parquet")[0] == 0
    with duckdb.connect("data.duckdb") as connection:
        assert connection.sql("SELECT * FROM clusters ORDER BY id").fetchall() == [(1, 0), (2, 0), (3, 1), (10, 1)]
        connection.sql("CREATE TABLE edges AS SELECT * FROM 'edges.parquet'")
    assert pd.read_parquet("check.parquet")["type"].isin(["must", "cannot"]).all()
    fails("resolve data.duckdb::edges -o data.duckdb::clusters", "already has a table 'clusters'. Use --force")
    assert run("resolve data.duckdb::edges -o data.duckdb::clusters --force")[0] == 0
    assert "Did you mean 'edges'?" in run("resolve data.duckdb::edgse")[2]
    assert "has several tables" in run("resolve data.duckdb")[2]


def test_a_contradiction_has_its_own_exit_code_and_writes_nothing(run, edges):
    (edges / "pairs.csv").write_text("a,b,type\n1,2,must\n2,3,must\n3,1,cannot\n")
    code, out, err = run("resolve edges.csv --constraints pairs.csv -o clusters.csv")
    assert code == 3
    assert "1 is 2 (must_link), 2 is 3 (must_link), but 1 is not 3 (cannot_link)" in err
    assert not out
    assert not (edges / "clusters.csv").exists()


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("resolve nowhere.csv", 1, "nowhere.csv does not exist"),
        ("resolve edges.csv --groups shop", 1, "neither a file nor in two columns"),
        ("resolve edges.csv --columns a,b", 1, "columns must name three"),
        ("resolve edges.csv --columns a,b,c", 1, "no column 'a', 'b', 'c'"),
        ("resolve edges.csv --prior 1", 2, "0<x<1"),
        ("resolve edges.csv --prior nan", 2, "nan is not a finite number"),
        ("resolve edges.csv --prior x", 2, "'x' is not a valid number."),
        ("resolve edges.csv -o - --json", 2, "both write to standard output"),
        ("resolve edges.csv -o edges.csv", 2, "would be overwritten"),
        ("resolve edges.csv -o x.csv --doubtful x.csv", 2, "named for two outputs"),
        ("resolve edges.csv -o clusters.xlsx", 1, "tables are written as CSV, TSV, Parquet"),
        ("resolve edges.csv -o moons.csv", 1, "already exists"),
        ("resolve edges.csv --constraints beliefs.csv", 1, "beliefs.csv, line 2: belief 0.5"),
        ("resolve moons.csv", 1, "no columns whose names are usual for two ids"),
    ],
)
def test_what_cannot_be_done(fails, edges, line, code, message):
    (edges / "beliefs.csv").write_text("a,b,type,belief\n1,2,must,0.5\n")
    fails(line, message, code=code)


def test_names_that_a_spreadsheet_would_compute(run, edges):
    (edges / "names.csv").write_text("a,b,score\n=1+1,bob,0.9\n")
    run("resolve names.csv -o plain.csv")
    run("resolve names.csv -o safe.csv --spreadsheet")
    assert "\n=1+1,0" in (edges / "plain.csv").read_text()
    assert "\n'=1+1,0" in (edges / "safe.csv").read_text()


def test_without_duckdb_the_extra_is_named(run, edges, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "duckdb", None)
    (edges / "data.duckdb").write_bytes(b"x")
    assert "of the extra tightcut[files]: pip install duckdb" in run("resolve data.duckdb::edges")[2]
    assert "of the extra tightcut[files]: pip install duckdb" in run("resolve edges.csv -o new.duckdb::clusters")[2]


def test_a_damaged_database_is_an_error(fails, edges):
    pytest.importorskip("duckdb")
    (edges / "data.duckdb").write_bytes(b"not a database" * 100)
    fails("resolve data.duckdb::edges", "is damaged, or not a DuckDB database")


def test_a_person_is_asked_about_what_is_doubtful(run, works, edges, monkeypatch):
    (edges / "people.csv").write_text("id,name\n1,Ann\n2,Anna\n3,Anne\n10,Hannah\n")
    lines = iter(["what", "n", "u", "n", "q"])
    monkeypatch.setattr("builtins.input", lambda: next(lines))
    out, err = works("resolve edges.csv --ask --console --records people.csv -o -")
    assert out == "id,cluster\n1,0\n2,0\n3,1\n10,2\n"
    assert "name: Anne    name: Hannah" in err
    assert "'what' is not an answer" in err
    assert "Answers are kept in edges.answers.jsonl" in err
    monkeypatch.setattr("builtins.input", lambda: "q")
    assert run("resolve edges.csv --ask --console -o -")[1] == out  # the answers are still there
    assert run("resolve edges.csv --ask --console --answers other.jsonl -o -")[1] == "id,cluster\n1,0\n2,0\n3,1\n10,1\n"


@pytest.mark.parametrize("asking", ["", " --ask --console"])
def test_records_that_no_pair_names_are_clusters_of_their_own(run, works, edges, monkeypatch, asking):
    monkeypatch.setattr("builtins.input", lambda: "q")
    (edges / "people.csv").write_text("name,id\nAnn,1\nEve,20\nAnna,2\nAnne,3\nHannah,10\nEve,4\nNoah,\n")
    out, err = works(f"resolve edges.csv --records people.csv -o -{asking}")
    assert out == "id,cluster\n1,0\n2,0\n3,1\n10,1\n20,2\n4,3\n"
    assert "no pair names 2 of 6 records in people.csv; each is a cluster of its own" in err
    assert "1 row of people.csv without an id" in err
    facts = json.loads(run(f"resolve edges.csv --records people.csv --json{asking}")[1])
    assert (facts["n_records"], facts["n_unpaired"], facts["n_clusters"]) == (6, 2, 4)
    (edges / "people.csv").write_text("id\n1\nx7\n")
    assert "records       5, 1 of them in no pair\n" in run(f"resolve edges.csv --records people.csv{asking}")[1]
    assert run(f"resolve edges.csv --records people.csv -o -{asking}")[1].endswith("\n10,1\nx7,2\n")


def test_records_of_datasets(run, edges):
    header = "source_dataset_l,unique_id_l,source_dataset_r,unique_id_r,match_probability"
    (edges / "scores.csv").write_text(f"{header}\na,1,b,1,0.9\n")
    (edges / "people.csv").write_text("source_dataset,unique_id\na,1\nb,1\nb,2\n")
    out = run("resolve scores.csv --records people.csv -o -")[1]
    assert out == "id,source_dataset,unique_id,cluster\na-__-1,a,1,0\nb-__-1,b,1,0\nb-__-2,b,2,1\n"


@pytest.mark.parametrize(
    ("options", "status", "complaint"),
    [
        ("--console", 2, "--console goes with --ask"),
        ("--ask --id name", 2, "--id goes with --records"),
        ("--ask --console --records people.csv --id age", 1, "age"),
        (
            "--ask --console --records people.csv --id name",
            1,
            "no record is named in column 'name'; names there are like 'Ann', and those of the records like '1'.",
        ),
        ("--ask --console --records people.csv --show height", 1, "height"),
    ],
)
def test_asking_that_cannot_work(fails, edges, options, status, complaint):
    (edges / "people.csv").write_text("id,name\n1,Ann\n2,Anna\n3,Anne\n10,Hannah\n")
    fails(f"resolve edges.csv {options}", complaint, code=status)
