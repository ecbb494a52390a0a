"""A run that was killed goes on where it stopped."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from odd_methods import Median, Raises, Sleeps

from experiments.record import STAMP, Cell, Record, read_table
from experiments.run import run
from experiments.stamp import REPOSITORY

SCRIPT = """
import sys
sys.path[:0] = {path!r}
from odd_methods import Sleeps
from experiments.run import run
import numpy as np
X = np.arange(40.0)[:, None]
methods = {{"Sleeps": Sleeps(0.3, {folder!r})}}
run(methods, {{"line": (X, (X[:, 0] > 20).astype(int))}}, [5], trials=4000, path={csv!r}, cache={cache!r}, n_jobs=2)
"""


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")


def wait_until(condition, seconds=300):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_killed_run_resumes_and_leaves_no_process_behind(tmp_path):
    path, folder, cache = tmp_path / "cells.csv", tmp_path / "fits", str(tmp_path / "cache")
    folder.mkdir()
    paths = [str(Path(__file__).parent), str(REPOSITORY), str(REPOSITORY / "src")]
    script = SCRIPT.format(path=paths, folder=str(folder), csv=str(path), cache=cache)
    process = subprocess.Popen([sys.executable, "-c", script])
    wait_until(lambda: path.exists() and path.read_text().count("\n") >= 4)
    process.send_signal(signal.SIGKILL)
    process.wait()
    workers = {int(text) for file in folder.iterdir() if (text := file.read_text())}
    assert workers
    wait_until(lambda: not any(map(alive, workers)))

    with path.open("a") as file:
        file.write("line,Sleeps,5,0.0,39,0.0,0.1")  # a line that the kill has cut short
    finished = [line for line in path.read_text().splitlines()[1:-1] if line]
    assert 3 <= len(finished) < 4000
    for file in folder.iterdir():
        file.unlink()

    X = np.arange(40.0)[:, None]
    trials = len(finished) + 2
    method = Sleeps(0.3, str(folder))
    table = run({"Sleeps": method}, {"line": (X, (X[:, 0] > 20).astype(int))}, [5], trials=trials, path=path)
    assert table["status"].tolist() == ["ok"] * trials
    assert table["trial"].tolist() == list(range(trials))
    before = {int(line.split(",")[4]) for line in finished}
    assert {int(file.name.split("-")[1]) for file in folder.iterdir()} == set(range(trials)) - before
    assert set(finished) <= set(path.read_text().splitlines())  # not one number of them has changed
    assert len(read_table(path)) == len(before | set(range(trials)))


def test_what_is_done_again(blobs, tmp_path):
    path, folder = tmp_path / "cells.csv", tmp_path
    arguments = {"blobs": blobs}, [5]

    def fits(method, **options):
        for file in folder.glob("5-*"):
            file.unlink()
        run(method, *arguments, path=path, **options)
        return len(list(folder.glob("5-*")))

    brief = {"m": Sleeps(0.0, str(folder))}
    assert fits(brief, trials=2) == 2
    assert fits(brief, trials=2) == 0
    assert fits(brief, trials=3) == 1  # new trials only
    assert fits({"m": Sleeps(1e-6, str(folder))}, trials=3) == 3  # another parameter
    assert len(read_table(path)) == 3  # which replaces the former
    assert fits(brief, trials=3, seed=1) == 3
    endless, limit = {"m": Sleeps(3600.0, str(folder))}, 1.5  # enough to begin a fit on a busy machine
    assert fits(endless, trials=1, time_limit=limit) == 1
    assert fits(endless, trials=1, time_limit=limit) == 0  # too slow is a result
    assert fits(endless, trials=1, time_limit=limit, retry=True) == 1


def test_rows_of_two_graphs_are_never_mixed(blobs, tmp_path):
    path, (X, y) = tmp_path / "cells.csv", blobs
    run({"a": Median(), "b": Median()}, {"blobs": blobs, "other": blobs}, [5], trials=2, path=path)
    before = read_table(path)
    table = run({"a": Median()}, {"blobs": (X[:, ::-1] ** 2, y)}, [5], trials=3, path=path)
    assert len(set(table["graph"])) == 1
    after = read_table(path)
    assert set(table["graph"]) & set(before["graph"]) == set()
    # What "b" has found on the former graph is gone, as it cannot be compared; another dataset is another matter.
    assert after.groupby(["dataset", "method"]).size().to_dict() == {
        ("blobs", "a"): 3,
        ("other", "a"): 2,
        ("other", "b"): 2,
    }
    assert len(read_table(f"{path}.old")) == len(before) == 8
    n_neighbors = run({"a": Median()}, {"blobs": blobs}, [5], trials=1, path=path, n_neighbors=3)
    assert set(n_neighbors["graph"]) & set(before["graph"]) == set()


def test_other_classes_are_another_problem(blobs, tmp_path):
    path, (X, y) = tmp_path / "cells.csv", blobs
    first, second = (run({"a": Median()}, {"d": (X, own)}, [5], trials=1, path=path) for own in (y, y[::-1] ** 2))
    assert first["error"].tolist() == second["error"].tolist()
    third = run({"a": Median()}, {"d": (X, np.arange(40) % 2)}, [5], trials=1, path=path)
    assert third["error"].item() > first["error"].item()


def test_rows_of_two_versions_are_never_mixed(blobs, tmp_path, monkeypatch, capsys):
    path = tmp_path / "cells.csv"
    arguments = {"a": Median()}, {"blobs": blobs}, [5]
    run(*arguments, trials=2, path=path)
    monkeypatch.setattr("experiments.run.__version__", "99.0")
    run({"b": Median()}, {"other": blobs}, [5], trials=1, path=path, progress=True)
    assert (
        f"2 rows of another version, graph or setting do not count; they are kept in {path}.old"
        in capsys.readouterr().err
    )
    assert read_table(path)[["method", "version"]].to_numpy().tolist() == [["b", "99.0"]]
    assert len(run(*arguments, trials=1, path=path)) == 1
    assert set(read_table(path)["version"]) == {"99.0"}


def test_a_table_without_a_stamp_is_done_again(blobs, tmp_path):
    path = tmp_path / "cells.csv"
    arguments = {"a": Median()}, {"blobs": blobs}, [5]
    run(*arguments, trials=2, path=path)
    path.write_text("".join(",".join(line.split(",")[: -len(STAMP)]) + "\n" for line in path.read_text().splitlines()))
    assert read_table(path)["version"].tolist() == ["", ""]
    run(*arguments, trials=1, path=path)
    assert len(read_table(path)) == 1
    assert set(read_table(path)["version"]) != {""}


def test_a_line_that_was_cut_short_does_not_count(tmp_path):
    path, cell = tmp_path / "cells.csv", Cell("d", "m", 5, 0.0, 0)
    record = Record(path)
    record.save()
    record.add(cell, cell.columns | {"status": "ok", "error": 0.5})
    with path.open("a") as file:
        file.write("d,m,5,0.0,1,0.5")
    assert list(Record(path).rows) == [cell]
    Record(path).save()
    assert path.read_text().count("\n") == 2
    path.write_text("")  # a disk that was full
    assert Record(path).rows == {}


def test_several_runs_share_a_record(blobs, tmp_path):
    path = tmp_path / "new" / "cells.csv"
    run({"a": Median()}, {"blobs": blobs}, [5], trials=1, path=path)
    table = run({"b": Raises()}, {"blobs": blobs}, [7], trials=1, path=path)
    assert table["method"].tolist() == ["b"]
    assert read_table(path)[["method", "status"]].to_numpy().tolist() == [["a", "ok"], ["b", "failed"]]


def test_a_file_that_is_no_record(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("a,b\n1,2")
    with pytest.raises(ValueError, match=r"is not a record of experiments: its columns are \['a', 'b'\]"):
        run({"a": Median()}, {"iris": "iris"}, [5], path=path)
    assert path.read_text() == "a,b\n1,2"
