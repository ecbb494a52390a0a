"""Answers against adjusted Rand index: `tightcut.ask` and its rivals. Writes a table and a picture.

    python -m benchmarks.asking digits usps letter:4000 ... [--draws 10] [--methods pairs picks ...] [--jobs 16] [--add]

A draw is another seed of the session, of the person who errs and, with a number of points, of the sample of the data.
Nothing here knows the number of clusters, except the rivals that need it. Elsewhere than in a checkout with matplotlib:
--into rows.csv there, and --rows rows.csv --add here.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import asking_rivals as rivals
from benchmarks.instances import RESULTS, commit, quiet, write
from tightcut.ask import Session
from tightcut.ask.simulate import Person
from tightcut.datasets import list_datasets, load

MARKS = {
    "digits": [10, 25, 60, 100, 150, 200],
    "usps": [10, 25, 50, 100, 200, 300, 500],
    "coil20": [10, 25, 50, 100, 200, 300, 500],
    "mnist": [10, 25, 50, 100, 150, 200, 500],
    "letter": [100, 200, 500, 1000, 2000],
    "wine": [10, 25, 50, 100],
    "wdbc": [10, 25, 50, 100, 200],
}
TABLE = RESULTS / "asking.csv"
PICKS = [10, 25, 50, 100, 200]
ERRING = [100, 200, 500]
MEASURES = ("accuracy", "expected accuracy", "within", "groups", "wrong", "wrong found", "right doubted")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET[:POINTS]")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    parser.add_argument("--seconds", type=float, help="stop after so long; sessions that have not ended do not count")
    parser.add_argument("--into", type=Path, metavar="CSV", help="write the rows there, and no table or picture")
    parser.add_argument("--rows", type=Path, nargs="*", default=[], metavar="CSV", help="rows that were written so")
    parser.add_argument("--add", action="store_true", help="keep the rows of the table that are not measured again")
    arguments = parser.parse_args()
    if not (arguments.sets or arguments.rows):
        parser.error("nothing to do: name a set, or files of rows")
    new = [row for path in arguments.rows for row in csv.DictReader(path.open())]
    new += measure_all(arguments.sets, arguments.methods, arguments.draws, arguments.jobs, arguments.seconds)
    if arguments.into:
        with arguments.into.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(new[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(new)
        return
    from benchmarks.asking_curves import draw

    old: list[dict[str, object]] = list(csv.DictReader(TABLE.open())) if arguments.add and TABLE.exists() else []
    again = {(row["set"], row["method"]) for row in new}
    rows = sorted([row for row in old if (row["set"], row["method"]) not in again] + new, key=_place)
    write("asking", rows, NOTES, "python -m benchmarks.asking", "one thread a run")
    draw(rows, RESULTS / "asking.png")


def measure_all(
    sets: list[str], methods: list[str], n_draws: int, jobs: int, seconds: float | None
) -> list[dict[str, object]]:
    """The rows of some sets and methods; the first draw of all of them, then the second, and so on."""
    draws: dict[tuple[str, str], list[dict[int, tuple[float, ...]]]] = defaultdict(list)
    pool = ProcessPoolExecutor(jobs, initializer=quiet)
    order = [(seed, name, method) for seed in range(n_draws) for name in sets for method in methods]
    tasks = {pool.submit(measure, name, method, seed): (name, method) for seed, name, method in order}
    try:
        for task in as_completed(tasks, seconds):
            draws[tasks[task]].append(task.result())
    except TimeoutError:
        for process in list(pool._processes.values()):
            process.kill()
    pool.shutdown(wait=False, cancel_futures=True)
    return [row for (name, method), found in draws.items() for row in summarize(name, method, found)]


def _place(row: dict[str, object]) -> tuple[int, str, int, int]:
    """Where a row belongs in the table: sets and methods in the order in which they are listed."""
    sets = [*MARKS, str(row["set"])]
    return (
        min(i for i, name in enumerate(sets) if str(row["set"]).startswith(name)),
        str(row["set"]),
        list(METHODS).index(str(row["method"])),
        int(str(row["answers"])),
    )


def measure(name: str, method: str, seed: int) -> dict[int, tuple[float, ...]]:
    """One draw: for each number of answers the adjusted Rand index and, of tightcut, more."""
    run, marks = METHODS[method]
    name, _, points = name.partition(":")
    X, y = read(name)
    if points:
        rows = np.random.default_rng(seed).permutation(len(X))[: int(points)]
        X, y = X[rows], y[rows]
    possible = [mark for mark in marks or MARKS.get(name, [100, 200]) if mark < len(X)]
    return {mark: (adjusted_rand_score(y, labels), *more) for mark, labels, *more in run(X, y, possible, seed)}


def summarize(name: str, method: str, draws: list[dict[int, tuple[float, ...]]]) -> list[dict[str, object]]:
    """One row for each number of answers, with the mean and the spread over the draws."""
    marks = sorted({mark for values in draws for mark in values})
    return [_row(name, method, mark, np.array([d[mark] for d in draws if mark in d])) for mark in marks]


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Points and classes of a dataset that tightcut knows, or of NAME.npz in the folder TIGHTCUT_DATA."""
    if name in list_datasets():
        data = load(name)
        X, y = data.X, data.y
    else:
        with np.load(Path(os.environ["TIGHTCUT_DATA"]) / f"{name}.npz") as arrays:
            X, y = arrays["X"], arrays["y"]
    return np.asarray(X, float), np.unique(y, return_inverse=True)[1].ravel()


def _row(name: str, method: str, mark: int, values: np.ndarray) -> dict[str, object]:
    row: dict[str, object] = {"set": name.replace(":", ", "), "method": method, "answers": mark}
    row["draws"], row["ARI"] = len(values), f"{values[:, 0].mean():.3f}"
    row["lowest"], row["highest"] = f"{values[:, 0].min():.3f}", f"{values[:, 0].max():.3f}"
    extra = values[:, 1:]
    for column, key in enumerate(MEASURES):
        shown = extra[:, column].mean() if extra.shape[1] > column else None
        row[key] = "" if shown is None or np.isnan(shown) else f"{shown:.3g}"
    row["code"] = commit()
    return row


def ask(
    X: np.ndarray, y: np.ndarray, marks: list[int], seed: int, *, kind: str, error: float = 0.0, errors: str = "random"
) -> Iterator[tuple]:
    session = Session(X, random_state=seed, n_jobs=1)
    person = Person(session, y, error, errors, seed)
    pending = list(marks)
    while pending:
        question = session.question(kind)
        if question is None or session.n_answers_ >= pending[0]:
            labels, wrong = session.labels_, set(person.wrong)
            doubted = {a.number for a in session.answers if not a.believed}
            known = (len(wrong), len(doubted & wrong), len(doubted - wrong)) if error else (np.nan,) * 3
            accuracy, progress = _accuracy(y, labels), session.progress()
            within = float(progress.low <= accuracy <= progress.high)
            expected = (accuracy, progress.expected_accuracy, within)
            yield pending.pop(0), labels, *expected, len(session.groups), *known
            continue
        session.answer(question, person.reply(question))


def _accuracy(y: np.ndarray, labels: np.ndarray) -> float:
    """Share of points whose label's commonest class is theirs, each class taken by one label at most."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    table = contingency_matrix(y, labels)
    return float(table[linear_sum_assignment(-table)].sum() / len(y))


METHODS: dict[str, tuple[Callable[..., Iterator[tuple]], list[int] | None]] = {
    "pairs": (partial(ask, kind="pair"), None),
    "picks": (partial(ask, kind="pick"), PICKS),
    "pairs, 5 % wrong": (partial(ask, kind="pair", error=0.05), ERRING),
    "pairs, 5 % wrong, alike": (partial(ask, kind="pair", error=0.05, errors="alike"), ERRING),
    "picks, 5 % wrong": (partial(ask, kind="pick", error=0.05), [100, 200]),
    "random pairs": (rivals.random_pairs, None),
    "NPU": (rivals.npu, None),
    "MinMax": (rivals.minmax, None),
    "COBRAS": (rivals.cobras, None),
    "random labels, LabelSpreading": (rivals.spreading, PICKS),
    "active forest": (rivals.active, PICKS),
    "active SVC": (partial(rivals.active, model="svc"), PICKS),
}
NOTES = [
    "- `pairs` and `picks` are tightcut's own questions, the number of clusters not told. A pick and a label are one answer.",
    "- NPU and MinMax choose the points; the clustering is tightcut's cut under their answers, the number of clusters told.",
    "- The settings of the questions were chosen on digits, USPS, COIL-20 and letter, those of grouping after wrong answers",
    "  on digits and USPS, on draws that are among those below. The weights over which beliefs spread were chosen on MNIST and",
    "  looked at on digits, USPS, COIL-20, letter and wdbc. The two settings of the regression were chosen on samples of",
    "  breast_cancer, diabetis, heart, sonar, ionosphere, wdbc, spam and letter. None was chosen on wine. The settings of the",
    "  expected accuracy were chosen on one or two draws of every set but MNIST.",
    "- `wrong found`: of the wrong answers, those that the session does not believe; `right doubted`: right ones not believed.",
    "- `accuracy` and `expected accuracy`: measured, and what `session.progress()` expected without knowing the truth;",
    "  `within`: share of the draws in which the accuracy was between the `low` and the `high` of `session.progress()`.",
    "- `code`: the commit that was measured. 3f5f831 is the present state. 3111a6a lacks two of its changes: after wrong",
    "  answers the two large groups that touch most are compared, and the cut that takes over stays near the beliefs; digits",
    "  and COIL-20 with true answers are the same in both. Older commits: rivals, which do not depend on the questions, and",
    "  rows that were not measured again.",
]

if __name__ == "__main__":
    main()
