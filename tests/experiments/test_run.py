"""The table: its rows, the same problem for every method, and what becomes of methods that misbehave."""

import pickle
import re
import sys
from multiprocessing import active_children

import numpy as np
import pandas as pd
import pytest
from odd_methods import Crashes, Hoards, Median, Raises, Remembers, RemembersGraph, Sleeps

from experiments.compare import unfinished
from experiments.methods import FEWEST, Method, expected_wrong_pairs
from experiments.problems import draw_constraints, open_problem
from experiments.record import Cell
from experiments.run import run
from experiments.stamp import checksum, commit
from experiments.worker import crew
from tightcut import COSC, __version__, datasets, knn_affinity
from tightcut.metrics import clustering_error, normalized_cut, violated_fractions
from tightcut.rivals import PCKMeans

QUICK = COSC(effort=0.3)


def test_rows_say_what_the_same_fit_says():
    iris = datasets.load_iris()
    table = run({"COSC": QUICK, "PCKMeans": PCKMeans()}, {"iris": "iris"}, [30], trials=1)
    assert table["status"].tolist() == ["ok", "ok"]
    with pytest.warns(UserWarning, match="2 connected components"):
        affinity = knn_affinity(iris.X)
    pairs = draw_constraints(iris.y, Cell("iris", "any", 30, 0.0, 0), seed=0)
    model = COSC(3, effort=0.3, affinity="precomputed", random_state=0)
    labels = model.fit_predict(affinity, must_link=pairs.must_link, cannot_link=pairs.cannot_link)
    row = table.iloc[0]
    assert (row["dataset"], row["method"], row["n_pairs"], row["trial"], row["n_clusters"]) == (
        "iris",
        "COSC",
        30,
        0,
        3,
    )
    assert (row["version"], row["commit"], row["graph"]) == (__version__, commit(), checksum(affinity))
    assert row["error"] == clustering_error(iris.y, labels)
    assert row["cut"] == pytest.approx(normalized_cut(affinity, labels))
    assert row["violated"] == violated_fractions(pairs, labels).all == 0
    assert row["smallest"] == np.bincount(labels).min() / 150


def test_every_method_sees_the_same_pairs_and_the_same_graph(blobs, tmp_path):
    methods = {
        "points": Remembers(tmp_path, "points"),
        "graph": RemembersGraph(folder=tmp_path, name="graph"),
        "other": RemembersGraph(folder=tmp_path, name="other"),
    }
    table = run(methods, {"blobs": blobs}, [5, 9], trials=2)
    assert table["message"].tolist() == [""] * 12
    seen = set()
    for n_pairs in (5, 9):
        for trial in (0, 1):
            points, graph, other = (np.load(tmp_path / f"{name}-{n_pairs}-{trial}.npz") for name in methods)
            for kind in ("must", "cannot", "n_clusters"):
                np.testing.assert_array_equal(points[kind], graph[kind])
                np.testing.assert_array_equal(points[kind], other[kind])
            np.testing.assert_array_equal(graph["X"], other["X"])
            np.testing.assert_array_equal(graph["X"], knn_affinity(blobs[0]).toarray())
            np.testing.assert_array_equal(points["X"], blobs[0])
            assert points["n_clusters"] == 2
            seen.add(points["cannot"].tobytes())
    assert len(seen) == 4  # every trial and number of pairs draws its own


def test_methods_that_raise_hang_or_crash_are_recorded(blobs):
    hangs = run({"Sleeps": Sleeps(3600)}, {"blobs": blobs}, [5], trials=1, time_limit=1)
    others = run({"Raises": Raises(), "Crashes": Crashes(), "Median": Median()}, {"blobs": blobs}, [5], trials=1)
    table = pd.concat([hangs, others]).set_index("method")
    assert table["status"].to_dict() == {"Sleeps": "too slow", "Raises": "failed", "Crashes": "failed", "Median": "ok"}
    assert table.loc["Raises", "message"] == "ValueError: no luck, not even a little"
    assert table.loc["Sleeps", "message"] == "more than 1 s"
    assert table.loc["Sleeps", "seconds"] == 1
    assert "exit status 7" in table.loc["Crashes", "message"]
    assert table.loc[["Raises", "Sleeps", "Crashes"], "error"].isna().all()
    assert unfinished(table.reset_index())["cells"].tolist() == [1, 1, 1]


def test_a_method_that_cannot_be_sent_is_a_failed_cell(blobs, monkeypatch):
    import odd_methods

    monkeypatch.setattr(odd_methods.Median, "__module__", "no_such_module_there")
    monkeypatch.setitem(__import__("sys").modules, "no_such_module_there", odd_methods)
    table = run({"lost": odd_methods.Median()}, {"blobs": blobs}, [5], trials=1)
    assert "no_such_module_there" in table["message"][0]


def test_the_number_of_jobs_changes_nothing_but_the_time(blobs):
    methods = {"COSC": QUICK, "PCKMeans": PCKMeans(), "Raises": Raises()}
    one, two = (run(methods, {"blobs": blobs}, [5, 40], trials=2, n_jobs=n_jobs, noise=[0, 0.2]) for n_jobs in (1, 2))
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), two.drop(columns="seconds"))


def test_a_dataset_with_a_graph_and_a_method_with_its_own(blobs):
    X, y = blobs
    own = knn_affinity(X, 4)
    table = run({"COSC": QUICK, "default": Method(QUICK, own_graph=True)}, {"blobs": (X, y, own)}, [45], trials=1)
    model = COSC(2, effort=0.3, affinity="precomputed", random_state=0)
    pairs = draw_constraints(y, Cell("blobs", "any", 45, 0.0, 0), seed=0)
    assert table["cut"][0] == pytest.approx(
        model.fit(own, must_link=pairs.must_link, cannot_link=pairs.cannot_link).cut_
    )
    labels = (
        COSC(2, effort=0.3, random_state=0).fit(X, must_link=pairs.must_link, cannot_link=pairs.cannot_link).labels_
    )
    assert table["cut"][1] == pytest.approx(normalized_cut(own, labels))


def test_noise_is_exact_and_beliefs_tell_about_it(blobs):
    y = blobs[1]
    clean, wrong = (draw_constraints(y, Cell("blobs", "any", 200, noise, 3), seed=0) for noise in (0.0, 0.2))
    assert violated_fractions(clean, y).all == 0
    assert violated_fractions(wrong, y).all == 0.2
    same = np.concatenate([clean.must_link, clean.cannot_link]), np.concatenate([wrong.must_link, wrong.cannot_link])
    assert set(map(tuple, same[0].tolist())) == set(map(tuple, same[1].tolist()))
    violations = wrong.violations(y)
    assert violations.belief / violations.n_violations < 0.5 < np.mean(wrong.must_link_belief)


def test_parameters_and_beliefs_that_depend_on_the_cell(blobs):
    methods = {
        "hard": Method(COSC(effort=0.3, **FEWEST)),
        "soft": Method(QUICK, adapt=expected_wrong_pairs, otherwise=FEWEST),
        "weighted": Method(QUICK, beliefs=True, adapt=expected_wrong_pairs, otherwise=FEWEST),
    }
    table = run(methods, {"blobs": blobs}, [40], trials=1, noise=[0.1]).set_index("method")
    assert table["status"].tolist() == ["ok"] * 3
    assert table.loc["soft", "cut"] <= table.loc["hard", "cut"] + 1e-12
    assert table.loc["soft", "violated"] <= 0.1


def test_inconsistent_constraints_are_fitted_otherwise_or_recorded(blobs):
    """A limit of no violation cannot be met; `otherwise` says what to do then."""
    methods = {"strict": QUICK, "lenient": Method(QUICK, otherwise=FEWEST)}
    table = run(methods, {"blobs": blobs}, [300], trials=1, noise=[0.3]).set_index("method")
    assert table["status"].to_dict() == {"strict": "failed", "lenient": "ok"}
    assert "InconsistentConstraintsError" in table.loc["strict", "message"]
    assert table.loc["lenient", "violated"] > 0


class Trap:
    """Leaves a file where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_what_lies_in_the_cache_is_not_run(blobs, tmp_path):
    arguments = {"Median": Median()}, {"blobs": blobs}, [5]
    cache, trap = tmp_path / "cache", tmp_path / "sprung"
    honest = run(*arguments, trials=1, cache=cache)
    (file,) = cache.iterdir()
    size = file.stat().st_size
    file.write_bytes(pickle.dumps(Trap(trap)))
    assert run(*arguments, trials=1, cache=cache)["error"].tolist() == honest["error"].tolist()
    assert file.stat().st_size == size  # prepared again
    np.savez(file, X=np.array([Trap(trap)], dtype=object), y=blobs[1])
    with pytest.raises(ValueError, match="allow_pickle=False"):
        open_problem(str(file))
    assert not trap.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"iris": "sona"}, [5]), "'sona'"),
        (({"iris": "iris"}, [5.5]), "n_pairs holds 5.5"),
        (({"odd": (np.zeros((3, 2)), [0, 1])}, [1]), r"got \(3, 2\) and \(2,\)"),
        (({"odd": (np.eye(3), [0, 1, 1], np.eye(2))}, [1]), r"\(3, 3\); got \(2, 2\)"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        run({"COSC": QUICK}, *arguments)


def test_no_process_is_left(blobs, monkeypatch):
    monkeypatch.setattr("experiments.run.crew", crew)
    before = set(active_children())
    table = run({"Median": Median()}, {"blobs": blobs}, [5], trials=3)
    assert table["status"].tolist() == ["ok"] * 3
    assert set(active_children()) <= before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits what a process allocates")
def test_a_fit_that_allocates_too_much_is_recorded(blobs):
    methods = {"Hoards": Hoards(gigabytes=3.0), "Modest": Hoards(gigabytes=0.1)}
    table = run(methods, {"blobs": blobs}, [5], trials=1, memory_limit=2.0).set_index("method")
    assert table["status"].to_dict() == {"Hoards": "too large", "Modest": "ok"}
    assert table.loc["Hoards", "message"].startswith("more than 2.0 GiB")


def test_progress_and_estimate(blobs, capsys):
    run({"Median": Median()}, {"blobs": blobs}, [5], trials=2, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert re.search(r"1/2, about 0:00:\d+ left  blobs, Median, 5 pairs, trial 0", lines[0])
    assert lines[-1] == "2/2  blobs, Median, 5 pairs, trial 1"
