"""Answers against adjusted Rand index: `tightcut.ask` and its rivals.

    python -m benchmarks.asking [digits usps ...] [--draws 10] [--methods pairs picks ...] [--points 3000]

A draw is another seed of the session, of the person who errs and, with --points, of the sample of the data. Nothing here knows
the number of clusters, except the rivals that need it.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import asking_rivals as rivals
from benchmarks.instances import RESULTS, quiet, write
from tightcut.ask import Session
from tightcut.ask.simulation import Person
from tightcut.datasets import list_datasets, load

MARKS = {
    "digits": [25, 60, 100, 200],
    "usps": [50, 100, 200, 500],
    "coil20": [50, 200, 500],
    "mnist": [100, 200, 500],
    "letter": [500, 1000],
    "wine": [50, 100],
    "wdbc": [50, 100],
}
TABLE = RESULTS / "asking.csv"
PICKS = [25, 50, 100, 200]
ERRING = [200, 500]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=["digits", "usps", "coil20", "wine", "wdbc"], metavar="SET")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--points", type=int, help="sample so many points in each draw")
    parser.add_argument("--add", action="store_true", help="keep the rows of the table that are not measured again")
    arguments = parser.parse_args()
    quiet()
    rows: list[dict[str, object]] = list(csv.DictReader(TABLE.open())) if arguments.add and TABLE.exists() else []
    for name in arguments.sets:
        for method in arguments.methods:
            new = measure(name, method, arguments.draws, arguments.points)
            rows = [r for r in rows if (r["set"], r["method"]) != (new[0]["set"], method)] + new
            write("asking", rows, NOTES, "python -m benchmarks.asking", "one thread")


def measure(name: str, method: str, draws: int, points: int | None) -> list[dict[str, object]]:
    """One row for each number of answers, with the mean and the spread over the draws."""
    run, marks = METHODS[method]
    marks = marks or MARKS.get(name, [100, 200])
    points_and_classes = read(name)
    found: dict[int, list[tuple[float, ...]]] = {mark: [] for mark in marks}
    for seed in range(draws):
        X, y = points_and_classes
        rows = np.arange(len(X))
        if points is not None and points < len(rows):
            rows = np.random.default_rng(seed).permutation(len(rows))[:points]
        X, y = X[rows], y[rows]
        possible = [mark for mark in marks if mark < len(X)]
        for mark, labels, *more in run(X, y, possible, seed):
            found[mark].append((adjusted_rand_score(y, labels), *more))
    return [_row(name, points, method, mark, np.array(values)) for mark, values in found.items() if values]


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Points and classes of a dataset that tightcut knows, or of NAME.npz in the folder TIGHTCUT_DATA."""
    if name in list_datasets():
        data = load(name)
        X, y = data.X, data.y
    else:
        with np.load(Path(os.environ["TIGHTCUT_DATA"]) / f"{name}.npz") as arrays:
            X, y = arrays["X"], arrays["y"]
    return np.asarray(X, float), np.unique(y, return_inverse=True)[1].ravel()


def _row(name: str, points: int | None, method: str, mark: int, values: np.ndarray) -> dict[str, object]:
    row: dict[str, object] = {"set": name if points is None else f"{name}, {points}", "method": method, "answers": mark}
    row["draws"], row["ARI"] = len(values), f"{values[:, 0].mean():.3f}"
    row["lowest"], row["highest"] = f"{values[:, 0].min():.3f}", f"{values[:, 0].max():.3f}"
    extra = values[:, 1:]
    for column, key in enumerate(("accuracy", "expected accuracy", "groups", "wrong", "wrong found", "right doubted")):
        shown = extra[:, column].mean() if extra.shape[1] > column else None
        row[key] = "" if shown is None or np.isnan(shown) else f"{shown:.3g}"
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
            accuracy = _accuracy(y, labels)
            yield pending.pop(0), labels, accuracy, session.progress().expected_accuracy, len(session.groups), *known
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
    "- Settings were chosen on digits, USPS and letter (samples) and COIL-20; none on wine and wdbc, where one bug was found.",
    "- `wrong found`: of the wrong answers, those that the session does not believe; `right doubted`: right ones not believed.",
    "- `accuracy` and `expected accuracy`: what it was, and what `session.progress()` expected without knowing the truth.",
]

if __name__ == "__main__":
    main()
