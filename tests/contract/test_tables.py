"""Every table of `benchmarks/results` and every study of `docs/results` has a command that makes it again."""

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("benchmarks.status")

from benchmarks import status

ROOT = Path(__file__).parents[2]
NAMES = [table.name for table in status.TABLES]


def test_every_table_is_listed():
    kept = {path.stem for path in (ROOT / "benchmarks/results").glob("*.md")}
    studies = {path.stem for path in (ROOT / "docs/results").glob("*.json")}
    assert kept | studies <= set(NAMES)
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("table", status.TABLES, ids=NAMES)
def test_it_measures_rooms_that_exist_with_a_command_that_exists(table):
    assert all((ROOT / status.SOURCE / room).exists() for room in table.measures)
    assert find_spec(table.command.split()[0])


def test_a_table_is_old_once_what_it_measures_has_changed(tmp_path, monkeypatch):
    def git(*arguments):
        identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        return subprocess.run(["git", *identity, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)

    def write(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        git("add", ".")
        git("commit", "-m", path)

    monkeypatch.setattr(status, "ROOT", tmp_path)
    table = status.Table("cuts", "benchmarks.cuts", ("search",), 1)
    git("init", "-q")
    write("src/tightcut/search/a.py", "1")
    assert status.age(table) == "never made"
    commit = git("rev-parse", "--short", "HEAD").stdout.strip()
    write("benchmarks/results/cuts.md", f"Made by `python -m benchmarks.cuts`, tightcut 0.7.0 ({commit}), Python 3.11")
    assert status.age(table) == "current"
    write("src/tightcut/ask/a.py", "1")
    assert status.age(table) == "current"
    study = status.Table("binary", "experiments binary", ("search", "ask"), 1, path="docs/results/binary.json")
    facts = {"versions": {"tightcut": "0.7.0"}, "commits": [commit, git("rev-parse", "--short", "HEAD").stdout.strip()]}
    write("docs/results/binary.json", json.dumps(facts))
    assert status.made_by(study) == f"0.7.0 {' '.join(facts['commits'])}"
    assert status.age(study) == "older than changes of ask", "the oldest of its commits"
    write("src/tightcut/search/a.py", "2")
    assert status.age(table) == "older than changes of search"
    write("benchmarks/results/cuts.md", "tightcut 0.7.0 (0123abc), Python 3.11")
    assert status.age(table) == "its commit 0123abc is unknown here"
