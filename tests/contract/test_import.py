"""Importing the package is cheap, and every public name is there."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import tightcut

HEAVY = ["joblib", "matplotlib", "numba", "numpy", "pandas", "polars", "scipy", "sklearn"]
HEAVY_COMMAND = ["joblib", "matplotlib", "pandas", "polars", "pyarrow", "scipy.stats", "sklearn", "torch"]


@cache
def modules_after(statement):
    """Names of all modules that a fresh interpreter holds after one statement."""
    command = [sys.executable, "-c", f"import sys\n{statement}\nprint(*sys.modules)"]
    environment = os.environ | {"PYTHONPATH": str(Path(tightcut.__file__).parents[1])}
    return set(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.split())


def modules_added(statement):
    return modules_after(statement) - modules_after("pass")


@pytest.mark.parametrize("name", HEAVY)
def test_import_pulls_in_nothing_heavy(name):
    assert name not in modules_added("import tightcut")


def test_import_adds_only_the_package_itself():
    ours = {name for name in modules_added("import tightcut") if name.split(".")[0] == "tightcut"}
    assert ours == {"tightcut"}


@pytest.mark.parametrize("name", ["joblib", "matplotlib", "numba", "pandas", "sklearn"])
def test_a_graph_needs_only_numpy_and_scipy(name):
    assert name not in modules_added("from tightcut import Graph")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two groups of rows, some pairs, and a model of them."""
    folder = tmp_path_factory.mktemp("plain")
    rows = [f"p{i},{i % 2 * 9 + i / 10},{i * i % 7}" for i in range(40)]
    (folder / "data.csv").write_text("\n".join(["id,x,y", *rows]) + "\n")
    pairs = [f"p{i},p{i + 2},must\np{i},p{i + 1},cannot" for i in range(36)]
    (folder / "pairs.csv").write_text("\n".join(["a,b,type", *pairs]) + "\n")
    (folder / "edges.csv").write_text("id_l,id_r,match_probability\na,b,0.9\nb,c,0.2\n")
    (folder / "new.csv").write_text("x,y\n0.5,1\n9.5,2\n")
    line = [[i / 10, 0.0] for i in range(40)]
    tightcut.COSC(random_state=0).fit(line).save(folder / "model.tcut")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "absent"),
    [
        ("--help", ["numpy", *HEAVY]),
        ("cluster data.csv --id id -k 2 --constraints pairs.csv -o labels.csv --report page.html", HEAVY_COMMAND),
        ("cluster data.csv --id id -k auto --save saved.tcut", HEAVY_COMMAND),
        ("check pairs.csv -k 3", HEAVY_COMMAND),
        ("audit data.csv --id id -k 2 --constraints pairs.csv", HEAVY_COMMAND),
        ("update model.tcut new.csv -o labels.csv --force", HEAVY_COMMAND),
        ("predict model.tcut new.csv", HEAVY_COMMAND),
        ("resolve edges.csv -o clusters.csv", HEAVY_COMMAND),
    ],
)
def test_a_plain_command_imports_nothing_that_it_does_not_need(files, command, absent, monkeypatch):
    """scikit-learn alone takes longer to import than a command on a small file should take."""
    monkeypatch.chdir(files)
    run = f"from tightcut.cli import main; code = main({[*command.split()]!r}); assert code == 0, code; print()"
    assert modules_after(run + "\nprint('modules', end=' ')") & set(absent) == set()


@pytest.mark.parametrize("name", tightcut.__all__)
def test_every_public_name_resolves(name):
    assert getattr(tightcut, name) is not None


def test_the_tables_agree():
    assert sorted({*tightcut._HOMES, "__version__"}) == sorted(tightcut.__all__) == dir(tightcut)


def test_an_unknown_name_is_an_attribute_error_that_lists_the_known_ones():
    with pytest.raises(AttributeError, match=r"no attribute 'Grpah'; it offers .*Graph"):
        _ = tightcut.Grpah
    assert not hasattr(tightcut, "Grpah")
