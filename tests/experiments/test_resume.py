"""A run that was killed goes on where it stopped."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from odd_methods import Median, Raises, Sleeps

import tightcut
from tightcut.experiments import read_table, run

SCRIPT = """
import sys
sys.path[:0] = {path!r}
from odd_methods import Sleeps
from tightcut.experiments import run
import numpy as np
X = np.arange(40.0)[:, None]
methods = {{"Sleeps": Sleeps(0.3, {folder!r})}}
run(methods, {{"line": (X, (X[:, 0] > 20).astype(int))}}, [5], trials=4000, path={csv!r}, n_jobs=2)
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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_killed_run_resumes_and_leaves_no_process_or_folder_behind(tmp_path):
    path, folder, temporary = tmp_path / "cells.csv", tmp_path / "fits", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    paths = [str(Path(__file__).parent), str(Path(tightcut.__file__).parents[1])]
    script = SCRIPT.format(path=paths, folder=str(folder), csv=str(path))
    process = subprocess.Popen([sys.executable, "-c", script], env=os.environ | {"TMPDIR": str(temporary)})
    wait_until(lambda: path.exists() and path.read_text().count("\n") >= 4)
    assert list(temporary.glob("tightcut-*"))
    process.send_signal(signal.SIGKILL)
    process.wait()
    workers = {int(text) for file in folder.iterdir() if (text := file.read_text())}
    assert workers
    wait_until(lambda: not any(map(alive, workers)))
    wait_until(lambda: not list(temporary.glob("tightcut-*")))

    with path.open("a") as file:
        file.write("line,Sleeps,5,,0.0,39,0.0,0.1")  # a line that the kill has cut short
    finished = [line for line in path.read_text().splitlines()[1:-1] if line]
    assert 3 <= len(finished) < 4000
    for file in folder.iterdir():
        file.unlink()

    import numpy as np

    X = np.arange(40.0)[:, None]
    trials = len(finished) + 2
    method = Sleeps(0.3, str(folder))
    table = run({"Sleeps": method}, {"line": (X, (X[:, 0] > 20).astype(int))}, [5], trials=trials, path=path)
    assert table["status"].tolist() == ["ok"] * trials
    assert table["trial"].tolist() == list(range(trials))
    before = {int(line.split(",")[5]) for line in finished}
    assert {int(file.name.split("-")[1]) for file in folder.iterdir()} == set(range(trials)) - before
    assert set(finished) <= set(path.read_text().splitlines())  # not one number of them has changed
    assert len(read_table(path)) == len(before | set(range(trials)))


@pytest.mark.slow
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


@pytest.mark.slow
def test_several_runs_share_a_record(blobs, tmp_path):
    path = tmp_path / "new" / "cells.csv"
    run({"a": Median()}, {"blobs": blobs}, [5], trials=1, path=path)
    table = run({"b": Raises()}, {"blobs": blobs}, [0.3], trials=1, path=path)
    assert table["method"].tolist() == ["b"]
    assert read_table(path)[["method", "status"]].to_numpy().tolist() == [["b", "failed"], ["a", "ok"]][::-1]


def test_a_file_that_is_no_record(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"is not a record of experiments: its columns are \['a', 'b'\]"):
        run({"a": Median()}, ["iris"], [5], path=path)
    assert path.read_text() == "a,b\n1,2\n"
