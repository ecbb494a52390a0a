"""`tightcut reproduce` runs a study into a folder."""

from tightcut.cli.reproduce import STUDIES


def test_the_studies_are_those_of_the_experiments():
    from tightcut.experiments import STUDIES as KNOWN

    assert set(STUDIES) == set(KNOWN)


def test_a_quick_study_writes_its_page(run, folder):
    code, out, _ = run("reproduce toy --quick -q -o out")
    assert code == 0
    assert "index.md" in out
    assert {"toy.csv", "toy.png", "index.md"} <= {file.name for file in (folder / "out").iterdir()}


def test_a_file_is_no_folder(run):
    code, _, err = run("reproduce toy --quick -q -o moons.csv")
    assert code == 2
    assert "'moons.csv' is a file" in err


def test_an_unknown_study_is_a_usage_error(run):
    code, _, err = run("reproduce everything")
    assert code == 2
    assert "binary" in err
