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
PLAIN = (
    "cluster data.csv --id id -k 2 --constraints pairs.csv -o labels.csv --report page.html",
    "cluster data.csv --id id -k auto --save saved.tcut",
    "check pairs.csv -k 3",
    "audit data.csv --id id -k 2 --constraints pairs.csv",
    "update model.tcut new.csv -o labels.csv --force",
    "predict model.tcut new.csv",
    "resolve edges.csv -o clusters.csv",
)


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


def test_help_imports_nothing_heavy():
    run = "from tightcut.cli import main; code = main(['--help']); assert code == 0, code; print()"
    assert modules_after(run + "\nprint('modules', end=' ')") & set(HEAVY) == set()


@pytest.mark.slow
def test_plain_commands_import_nothing_that_they_do_not_need(files):
    """scikit-learn alone takes longer to import than a command on a small file should take."""
    program = f"""
import sys
from tightcut.cli import main
for command in {PLAIN!r}:
    assert main(command.split()) == 0, command
    assert not set({HEAVY_COMMAND!r}) & set(sys.modules), (command, set({HEAVY_COMMAND!r}) & set(sys.modules))
"""
    environment = os.environ | {"PYTHONPATH": str(Path(tightcut.__file__).parents[1])}
    run = subprocess.run([sys.executable, "-c", program], cwd=files, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", tightcut.__all__)
def test_every_public_name_resolves(name):
    assert getattr(tightcut, name) is not None


def test_the_tables_agree():
    assert sorted({*tightcut._HOMES, "__version__"}) == sorted(tightcut.__all__) == dir(tightcut)


def test_an_unknown_name_is_an_attribute_error_that_lists_the_known_ones():
    with pytest.raises(AttributeError, match=r"no attribute 'Grpah'; it offers .*Graph"):
        _ = tightcut.Grpah
    assert not hasattr(tightcut, "Grpah")
