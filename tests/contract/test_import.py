"""Importing the package is cheap, and every public name is there."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import tightcut

HEAVY = ["joblib", "matplotlib", "numba", "numpy", "pandas", "polars", "scipy", "sklearn"]


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


@pytest.mark.parametrize("name", tightcut.__all__)
def test_every_public_name_resolves(name):
    assert getattr(tightcut, name) is not None


def test_the_tables_agree():
    assert sorted({*tightcut._HOMES, "__version__"}) == sorted(tightcut.__all__) == dir(tightcut)


def test_an_unknown_name_is_an_attribute_error_that_lists_the_known_ones():
    with pytest.raises(AttributeError, match=r"no attribute 'Grpah'; it offers .*Graph"):
        _ = tightcut.Grpah
    assert not hasattr(tightcut, "Grpah")
