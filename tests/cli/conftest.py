import os
from pathlib import Path

import numpy as np
import pytest

import tightcut
from tightcut import datasets
from tightcut.cli import main

NAMES = [f"m{i:02d}" for i in range(60)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with two moons as files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIGHTCUT_TRACEBACK", raising=False)
    data = datasets.load_two_moons(60, 2, noise=0.05)
    rows = [f"{name},{x:.4f},{y:.4f},{c}" for name, (x, y), c in zip(NAMES, data.X.tolist(), data.y, strict=True)]
    (tmp_path / "moons.csv").write_text("\n".join(["name,x,y,class", *rows, ""]))
    pairs = ["m00,m10,must", "m35,m50,same", "m05,m45,cannot", "m12,m40,different"]
    (tmp_path / "pairs.csv").write_text("\n".join(["a,b,type", *pairs, ""]))
    np.save(tmp_path / "moons.npy", data.X)
    return tmp_path


@pytest.fixture
def run(folder, capsys):  # noqa: ARG001
    """Run a command line; returns its exit code, standard output and standard error."""

    def command(line, *more):
        code = main([*line.split(), *more])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return command


@pytest.fixture
def works(run):
    """Run a command line that succeeds; returns its standard output and standard error."""

    def check(line, *more):
        code, out, err = run(line, *more)
        assert code == 0, err
        return out, err

    return check


@pytest.fixture
def fails(run):
    """Check that a command line prints no result, that the error has these texts, and its exit code; returns the error."""

    def check(line, *texts, code=1):
        found, out, err = run(line)
        assert (found, out) == (code, ""), err
        for text in texts:
            assert text in err
        return err

    return check


@pytest.fixture
def child_environment():
    """Where another interpreter finds the package that is tested here."""
    return os.environ | {"PYTHONPATH": str(Path(tightcut.__file__).parents[1])}
