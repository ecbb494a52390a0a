"""Branches of beliefs, each switched off: the labels after the same answers.

Another belief leads to another question, and one early answer may decide about a tenth of a small set: whole sessions with a
branch and without it differ by far more than the branch. So the unchanged source asks, answers are kept, and all variants
say what follows from them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.ablation.variants import Edit, Variant, replaced
from tightcut.datasets import load

ROOT = Path(__file__).parents[2]
JOURNALS = ROOT / "build" / "ablation" / "journals"
SCORE = "index"
STATES = (0, 1, 2, 3)
WARM_UP = ["iris, 50 pairs, 5 % wrong"]
NOTES = [
    "Adjusted Rand index of the labels after the same answers, without the branch less that with it, over instances and",
    "random states (of the session, of the person who errs and of the sample); the number of clusters is not told.",
    "Rows of c3db215 were measured with 16 sessions on digits, COIL-20 and letter and 22 on the sets here.",
]

# Name: dataset, points (0 for all), kind, answers, share of wrong ones, where they are.
INSTANCES: dict[str, tuple[str, int, str, int, float, str]] = {
    "iris, 50 pairs, 5 % wrong": ("iris", 0, "pair", 50, 0.05, "random"),
    "iris, 50 pairs, 5 % wrong, alike": ("iris", 0, "pair", 50, 0.05, "alike"),
    "wine, 25 pairs": ("wine", 0, "pair", 25, 0.0, "random"),
    "wine, 60 pairs, 10 % wrong": ("wine", 0, "pair", 60, 0.1, "random"),
    "wine, 60 picks, 10 % wrong": ("wine", 0, "pick", 60, 0.1, "random"),
    "mnist, 60 pairs": ("mnist", 400, "pair", 60, 0.0, "random"),
    "mnist, 60 pairs, 10 % wrong": ("mnist", 400, "pair", 60, 0.1, "random"),
    "mnist, 50 picks, 10 % wrong": ("mnist", 400, "pick", 50, 0.1, "random"),
    "shuttle, 25 pairs": ("shuttle", 400, "pair", 25, 0.0, "random"),
    "covertype, 40 picks": ("covertype", 400, "pick", 40, 0.05, "random"),
}

INFERENCE, MIXTURE, LABELS = (f"ask/beliefs/{name}.py" for name in ("inference", "mixture", "labels"))
LATER = "    for i, group in _not_in_later_groups(evidence):\n        base[i, group] -= sure\n"
VARIANTS = [
    replaced("own part not subtracted", "ask/beliefs/harmonic.py", " - own * moved", ""),
    replaced("founders may be in later groups", INFERENCE, LATER, ""),
    replaced("picks weigh as pairs", INFERENCE, "sure + np.log(k) / 2 if chosen", "sure if chosen"),
    replaced(
        "never read in order",
        INFERENCE,
        "_in_order(evidence, base, doubt) if start is None",
        "normalize(base) if start is None",
    ),
    replaced("doubts not multiplied", MIXTURE, "boldness_of(alone, foreseen)", "1.0"),
    replaced("believed picks count as other answers", INFERENCE, "    wrong[believed_pick] = DOUBT\n", ""),
    replaced("two rounds", MIXTURE, "ROUNDS = 3", "ROUNDS = 2"),
    replaced("doubt stays as it begins", MIXTURE, "        doubt = share_of_errors(evidence, answered)\n", ""),
    replaced("all predictors count", MIXTURE, "LEAST_WEIGHT = 0.03", "LEAST_WEIGHT = -1"),
    replaced(
        "groups of one count as foreseen",
        MIXTURE,
        "answered[:, :-1].sum(axis=0) < 1.5",
        "np.zeros(answered.shape[1] - 1, bool)",
    ),
    replaced(
        "points between groups name their part", LABELS, "likeliest > CLEARLY_LIKELIEST * second", "likeliest > 0"
    ),
    replaced(
        "columns lead by weight only",
        LABELS,
        "weights.sum() > 0.5 or learned >",
        "weights.sum() > 0.5 or False and learned >",
    ),
    replaced(
        "not filled in by the plain cut",
        LABELS,
        "beliefs.shares[:, :k] if columns_lead(beliefs)",
        "beliefs.shares[:, :k] if True",
    ),
    Variant(
        "nearness without bound", (Edit("ask/beliefs/regroup.py", "np.minimum(between[1], MOST_NEAR)", "between[1]"),)
    ),
]


def prepare(name: str, state: int) -> Callable[[], float]:
    from tightcut.ask import Session

    X, y = subset(*INSTANCES[name][:2], state)
    journal = JOURNALS / f"{name}, {state}.jsonl"
    if not journal.exists():
        command = [sys.executable, "-m", "benchmarks.ablation.asking", name, str(state), str(journal)]
        subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT / "src")}, cwd=ROOT, check=True)
    session = Session.load(journal, X, n_jobs=1)
    return lambda: float(adjusted_rand_score(y, session.labels_))


def answer(name: str, state: int, journal: Path) -> None:
    """Keep the answers of a simulated person to the questions of the unchanged source."""
    from tightcut.ask import Session, simulate

    dataset, n, kind, n_answers, error_rate, errors = INSTANCES[name]
    X, y = subset(dataset, n, state)
    journal.parent.mkdir(parents=True, exist_ok=True)
    part = journal.with_suffix(".part")
    part.unlink(missing_ok=True)
    session = Session(X, answers=part, random_state=state, n_jobs=1)
    simulate(session, y, n_answers, kind=kind, error_rate=error_rate, errors=errors, random_state=state)
    session.close()
    shutil.move(part, journal)


@lru_cache
def subset(dataset: str, n: int, state: int) -> tuple[np.ndarray, np.ndarray]:
    data = loaded(dataset)
    rows = np.sort(np.random.default_rng(state).permutation(len(data.y))[: n or None])
    return np.asarray(data.X[rows], np.float64), data.y[rows]


loaded = lru_cache(load)

if __name__ == "__main__":
    answer(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
