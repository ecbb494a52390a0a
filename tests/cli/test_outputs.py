"""Outputs that cannot be written are refused before anything is computed."""

import numpy as np
import pytest

LONG = "a" * 245  # a name that is allowed, beside which the longer one of a temporary file is not
MOONS = "cluster moons.csv -k 2 --id name --drop class --constraints pairs.csv"
COMMANDS = {
    "cluster": (MOONS, ("-o %s.csv", "--report %s.html", "--save %s.tcut")),
    "audit": (MOONS.replace("cluster", "audit"), ("-o %s.csv",)),
    "tradeoff": (MOONS.replace("cluster", "tradeoff").replace("-k 2", ""), ("-o %s.csv", "--plot %s.png")),
    "update": (
        "update model.tcut --constraints pairs.csv",
        ("-o %s.csv", "--changes %s.csv", "--report %s.html", "--save %s.tcut"),
    ),
    "predict": ("predict model.tcut moons.csv", ("-o %s.csv",)),
    "resolve": (
        "resolve edges.csv",
        (
            "-o %s.csv",
            "-o %s.duckdb::clusters",
            "--cut-edges %s.csv",
            "--doubtful %s.csv",
            "--ask --console --answers %s.jsonl",
        ),
    ),
    "ask": ("ask moons.csv --console --id name --drop class", ("--answers %s.jsonl",)),
    "datasets": ("datasets iris", ("-o %s.csv",)),
    "demo": ("demo", ("-o %s.png",)),
}
CASES = [(line, option) for line, options in COMMANDS.values() for option in options]


@pytest.fixture
def computing(folder, monkeypatch):
    """All computing fails; so a command that begins it does."""
    (folder / "model.tcut").write_bytes(b"")
    (folder / "edges.csv").write_text("id_l,id_r,match_probability\na,b,0.9\nb,c,0.4\n")

    def begin(*_, **__):
        raise AssertionError("the command has begun to compute")

    for ending in (".csv", ".html", ".jsonl", ".png", ".tcut"):
        (folder / f"loop{ending}").symlink_to(f"other loop{ending}")
        (folder / f"other loop{ending}").symlink_to(f"loop{ending}")
    for name in (
        "datasets.load",
        "cli.cluster.read_inputs",
        "cli.audit.read_inputs",
        "cli.tradeoff.read_inputs",
        "demo.main",
    ):
        monkeypatch.setattr(f"tightcut.{name}", begin)
    for name in ("cli.update.read_model", "cli.predict.read_model", "cli.resolve._resolved", "cli.ask._source"):
        monkeypatch.setattr(f"tightcut.{name}", begin)


@pytest.mark.usefixtures("computing")
@pytest.mark.parametrize(("line", "option"), CASES, ids=lambda text: text.replace("%s", "x"))
def test_an_output_that_cannot_be_written_is_refused_before_anything_is_computed(run, fails, folder, line, option):
    before = sorted(folder.iterdir())
    fails(f"{line} {option % 'nowhere/x'}", "nowhere does not exist. Create it first: mkdir -p")
    code, _, err = run(f"{line} {option % 'moons.csv/x'}")
    assert code == 1
    assert "moons.csv is a file, not a folder. Choose another name." in err
    if "duckdb" not in option:
        for name, message in ((LONG, "File name too long"), ("loop", "Its symbolic links lead in a circle")):
            code, out, err = run(f"{line} {option % name}")
            assert (code, out) == (1, "")
            assert message in err
            assert "Errno" not in err
    assert sorted(folder.iterdir()) == before


@pytest.mark.usefixtures("computing")
@pytest.mark.parametrize("line", [MOONS, "update model.tcut --constraints pairs.csv"])
@pytest.mark.parametrize("name", ["page.txt", "page", "page.pdf"])
def test_a_report_that_is_not_named_as_html_is_refused(fails, folder, line, name):
    (folder / name).write_text("kept")
    fails(f"{line} --report {name}", f"A report is written as HTML, not as {name}; name it page.html.", code=2)


@pytest.mark.usefixtures("computing")
def test_a_picture_of_the_demonstration_is_a_png(fails):
    fails("demo -o demo.pdf", "The picture is written as PNG, not as demo.pdf; name it demo.png.", code=2)


@pytest.mark.usefixtures("computing")
@pytest.mark.parametrize("option", ["--report -", "--save -"])
def test_only_labels_go_to_standard_output(fails, option):
    fails(f"{MOONS} {option}", "- is standard output, which this option cannot write to; name a file.")


@pytest.mark.usefixtures("computing")
def test_answers_and_clusters_are_two_files(fails):
    fails("resolve edges.csv --ask --console --answers same.csv -o same.csv", "same.csv is an input", code=2)


def test_a_model_that_cannot_be_replaced_is_refused_before_the_update(run, fails, folder, monkeypatch):
    assert run(f"{MOONS} --save model.tcut -q")[0] == 0
    place = folder / f"{LONG}.tcu"
    (folder / "model.tcut").rename(place)
    monkeypatch.setattr("tightcut.cli.update._updated", None)
    fails(f"update {place.name} --constraints pairs.csv", "File name too long")


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("edges/labels", "--force would delete"),
        ("edges", "holds more than the labels would"),
        (".", "holds more than the labels would"),
        ("..", "holds more than the labels would"),
        ("moons", "is a file, and the labels are a folder"),
        ("moons.csv/labels", "moons.csv is a file, not a folder"),
    ],
)
def test_force_deletes_nothing_but_labels(run, folder, output, message):
    pytest.importorskip("dask")
    pandas = pytest.importorskip("pandas")
    (folder / "edges" / "labels").mkdir(parents=True)
    (folder / "edges" / "labels" / "thesis.tex").write_text("years of work")
    (folder / "edges" / "source").mkdir()
    (folder / "moons").write_text("a file")
    ring = np.arange(8)
    frame = pandas.DataFrame({"i": ring, "j": (ring + 1) % 8, "weight": 1.0})
    frame.to_parquet(folder / "edges" / "source" / "part.parquet")
    code, _, err = run(f"cluster-graph --edges edges/source -k 2 --force -o {output}")
    assert code in (1, 2)
    assert message in err
    assert (folder / "edges" / "labels" / "thesis.tex").exists()
