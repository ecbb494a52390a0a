"""New digits every day: MNIST arrives in ten batches, each with 50 answers.

    TIGHTCUT_DATA=... python -m benchmarks.updates [--seeds 3]

60,000 images are clustered with 600 known classes, and every cluster gets a name. 10,000 more arrive in ten batches of
1,000, each with 50 answers: whether a new image and a random one show the same digit. `COSC.update` takes them in. In the
end the model is compared with a fit from scratch to the same images, known classes and answers. Errors are shares of images
outside the cluster that stands for their class. Seconds are processor seconds, with compiled kernels.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np

from benchmarks.instances import quiet, write

N_OLD, BATCH, ANSWERS, N_KNOWN = 60_000, 1_000, 50, 600
SETTINGS = {"n_clusters": 10, "symmetrize": "mean", "random_state": 0, "n_jobs": 1}


def main() -> None:
    from tightcut.datasets import load
    from tightcut.warmup import warmup

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="known classes and answers drawn again")
    arguments = parser.parse_args()
    quiet()
    warmup()
    data = load("mnist")
    warm(data.X)
    rows = []
    for seed in range(arguments.seeds):
        rows += measure(data.X, data.y, seed)
    notes = [
        "- " + " ".join(__doc__.split("\n\n")[2].splitlines()),
        "- Old images are all in clusters with names, and move only if answers force them to.",
        "- A model that was loaded from a file also builds the index of its points in its first update, once.",
    ]
    write("updates", rows, notes, "python -m benchmarks.updates")


def measure(X: np.ndarray, y: np.ndarray, seed: int) -> list[dict]:
    """The rows of one draw of known classes and answers: one per batch."""
    from tightcut import COSC
    from tightcut.metrics import clustering_error

    rng = np.random.default_rng(seed)
    known = np.full(len(y), -1)
    chosen = rng.choice(N_OLD, N_KNOWN, replace=False)
    known[chosen] = y[chosen]
    model, fit_seconds = timed(partial(COSC(**SETTINGS).fit, X[:N_OLD], partial_labels=known[:N_OLD]))
    for cluster in range(10):
        model.name(cluster, f"cluster {cluster}")
    pairs, rows = np.empty((0, 2), np.int64), []
    for batch in range(1, 11):
        n_old = len(model.labels_)
        n = n_old + BATCH
        answered = np.stack([n_old + rng.choice(BATCH, ANSWERS, replace=False), rng.choice(n_old, ANSWERS)], axis=1)
        pairs = np.concatenate([pairs, answered])
        same = y[answered[:, 0]] == y[answered[:, 1]]
        before = model.labels_
        update = partial(model.update, X[n_old:n], must_link=answered[same], cannot_link=answered[~same])
        seconds = timed(update)[1]
        row = {
            "seed": seed,
            "batch": batch,
            "images": n,
            "update s": round(seconds, 2),
            "of a fit %": round(100 * seconds / fit_seconds, 1),
            "old images moved": int((before != model.labels_[:n_old]).sum()),
            "clusters": model.n_clusters_,
            "violated": model.n_violations_,
            "error %": round(100 * clustering_error(y[:n], model.labels_), 3),
            "error of a fit %": "",
        }
        rows.append(row)
        print(row, flush=True)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    settings = {"partial_labels": known, "must_link": pairs[same], "cannot_link": pairs[~same]}
    fresh, fit_seconds = timed(partial(COSC(**SETTINGS).fit, X, **settings))
    rows[-1]["error of a fit %"] = round(100 * clustering_error(y, fresh.labels_), 3)
    rows[-1]["of a fit %"] = round(100 * rows[-1]["update s"] / fit_seconds, 1)
    print(rows[-1], flush=True)
    return rows


def warm(X: np.ndarray) -> None:
    """Compile what `warmup` leaves out: an update of a small model."""
    from tightcut import COSC

    small = COSC(**SETTINGS).fit(X[:6000])
    small.update(X[6000:6100], cannot_link=[(0, 6000)])


def timed(function) -> tuple:
    """The result of a call and its processor seconds."""
    started = time.process_time()
    result = function()
    return result, time.process_time() - started


if __name__ == "__main__":
    main()
