"""Studies by name, in miniature."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

pytest.importorskip("matplotlib")
from experiments.methods import default_methods
from experiments.record import read_table
from experiments.reproduce import reproduce
from experiments.stamp import REPOSITORY, commit
from experiments.studies import GROUPS, STUDIES
from tightcut import __version__, datasets


@pytest.fixture
def few_methods(monkeypatch):
    """The two-cluster study in miniature, with four of its methods."""
    (plan,) = STUDIES["binary"].quick
    few = replace(plan, methods=("COSC", "default", "SL", "SCLC"))
    monkeypatch.setitem(STUDIES, "binary", replace(STUDIES["binary"], quick=(few,)))


def test_a_miniature_of_binary_with_its_pages(tmp_path, few_methods):  # noqa: ARG001
    table = reproduce("binary", tmp_path, quick=True, trials=1)
    assert table["status"].tolist() == ["ok"] * 8
    assert len(read_table(tmp_path / "binary.csv")) == 8
    index = (tmp_path / "index.md").read_text()
    assert "made by `python -m experiments binary --quick --trials 1`" in index
    assert f"commit {commit()}; " in index
    assert "**A miniature**" in index
    assert "| [wdbc](binary_wdbc.md) | " in index
    facts = json.loads((tmp_path / "binary.json").read_text())
    assert set(facts["versions"]) >= {"tightcut", "python", "numpy"}
    assert facts["commits"] == [commit()]

    assert (tmp_path / "binary_wdbc.png").stat().st_size > 5000
    page = (tmp_path / "binary_wdbc.md").read_text()
    assert "; 2 numbers of pairs from 20 to 200, 1 trial.\n" in page
    assert "**Who wins.** In error, COSC" in page
    assert "![wdbc: error, cut and violated fraction](binary_wdbc.png)" in page
    assert "| SL | " in page
    smallest = table.query("method == 'COSC' and n_pairs == 20")["smallest"].item()
    assert f"With 20 pairs the smallest cluster of COSC holds {100 * smallest:.1f} % of the points" in page
    assert page.startswith(
        "# wdbc\n\n569 points with 30 features, 2 classes, of which the smallest holds 37 % of the points; "
    )
    wdbc = facts["problems"]["wdbc"]
    cut = table.query("method == 'COSC'")["cut"]
    smaller, larger = sum(cut < wdbc["cut_of_classes"] - 1e-6), sum(cut > wdbc["cut_of_classes"] + 1e-6)
    assert (
        f"COSC finds a smaller cut in {smaller}, the same in {2 - smaller - larger} and a larger one in {larger}."
        in page
    )

    claims = (tmp_path / "claims.md").read_text()
    assert "With two clusters, COSC violates a pair in 0 of 2 fits." in claims
    assert "(claims.md)" in index

    (tmp_path / "binary.json").write_text(json.dumps(facts | {"machine": "the one that did the work"}))
    reproduce("binary", tmp_path, quick=True, trials=1)
    assert "the one that did the work" in (tmp_path / "index.md").read_text()


def test_a_miniature_of_the_toy(tmp_path):
    table = reproduce("toy", tmp_path, quick=True).set_index("clustering")
    assert table.loc["truth", "error"] == 0
    assert table.loc["80 pairs", "violated"] == 0
    assert table.loc["80 pairs", "error"] < table.loc["unconstrained", "error"]
    assert set(table["version"]) == {__version__}
    assert len(set(table["graph"])) == 1
    assert "(toy.md)" in (tmp_path / "index.md").read_text()
    page = (tmp_path / "toy.md").read_text()
    assert "(toy.png)" in page
    assert "| clustering | cut | error | violated |\n" in page


def test_studies_name_data_and_methods_that_exist():
    for study in STUDIES.values():
        for plan in (*study.plans, *study.quick):
            assert set(plan.datasets) <= set(datasets.list_datasets())
            assert set(plan.methods) <= set(study.methods())
    assert set(default_methods()) == set(STUDIES["binary"].plans[0].methods)
    assert set(default_methods()) == {method for group in GROUPS for method in group}


def test_an_unknown_study(tmp_path):
    with pytest.raises(ValueError, match="Unknown study 'binery'; there are binary, multiway, noise, tradeoff, toy"):
        reproduce("binery", tmp_path)


def test_the_command(tmp_path):
    def command(*arguments):
        line = [sys.executable, "-m", "experiments", *arguments, "--quick", "-o", str(tmp_path)]
        return subprocess.run(line, cwd=REPOSITORY, capture_output=True, text=True)

    assert f"toy: 3 rows in {tmp_path / 'toy.csv'}" in command("toy").stdout
    wrong = command("toys")
    assert wrong.returncode == 2
    assert "unknown study 'toys'; there are binary, multiway, noise, tradeoff, toy" in wrong.stderr


def test_the_committed_tables_can_be_read():
    """Those that 0.6.0 and before have made have no stamp."""
    for name, study in STUDIES.items():
        if study.picture is None:
            table = read_table(REPOSITORY / "docs" / "results" / f"{name}.csv")
            assert len(study.in_order(table)) > 100
