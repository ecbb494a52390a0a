"""New digits every day: MNIST arrives in ten batches, each with 50 answers.

    TIGHTCUT_DATA=... python -m benchmarks.updates

60,000 images are clustered with 600 known classes, and every cluster gets a name. 10,000 more arrive in ten batches of
1,000, each with 50 answers: whether a new image and a random one show the same digit. `COSC.update` takes them in. After
some batches the model is compared with a fit from scratch to the same images, known classes and answers. Errors are shares
of images outside the cluster that stands for their class. Seconds are processor seconds, with compiled kernels.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from benchmarks.instances import quiet, write

N_OLD, BATCH, ANSWERS, N_KNOWN = 60_000, 1_000, 50, 600
SETTINGS = {"n_clusters": 10, "symmetrize": "mean", "random_state": 0, "n_jobs": 1}
COMPARED = (1, 5, 10)  # batches after which there is a fit from scratch


def main() -> None:
    from tightcut import COSC
    from tightcut.datasets import load
    from tightcut.metrics import clustering_error
    from tightcut.warmup import warmup

    quiet()
    warmup()
    data = load("mnist")
    X, y = data.X, data.y
    rng = np.random.default_rng(0)
    known = np.full(len(y), -1)
    chosen = rng.choice(N_OLD, N_KNOWN, replace=False)
    known[chosen] = y[chosen]
    warm(X)
    model, seconds = timed(partial(COSC(**SETTINGS).fit, X[:N_OLD], partial_labels=known[:N_OLD]))
    print(f"fit of {N_OLD:,}: {seconds:.1f} s, error {clustering_error(y[:N_OLD], model.labels_):.4%}", flush=True)
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
        moved = np.flatnonzero(before != model.labels_[:n_old])
        forced = sum(len(change.points) for change in model.changes_ if change.source is not None and change.constraint)
        row = {
            "batch": batch,
            "images": n,
            "update s": round(seconds, 2),
            "old images moved": len(moved),
            "of these by answers": forced,
            "clusters": model.n_clusters_,
            "violated": model.n_violations_,
            "error %": round(100 * clustering_error(y[:n], model.labels_), 3),
        }
        row |= dict.fromkeys(("fit s", "update / fit %", "error of the fit %", "difference"), "")
        if batch in COMPARED:
            same = y[pairs[:, 0]] == y[pairs[:, 1]]
            fit = partial(
                COSC(**SETTINGS).fit, X[:n], partial_labels=known[:n], must_link=pairs[same], cannot_link=pairs[~same]
            )
            fresh, fit_seconds = timed(fit)
            error = 100 * clustering_error(y[:n], fresh.labels_)
            row |= {
                "fit s": round(fit_seconds, 1),
                "update / fit %": round(100 * seconds / fit_seconds, 1),
                "error of the fit %": round(error, 3),
                "difference": round(row["error %"] - error, 3),
            }
        rows.append(row)
        print(row, flush=True)
    notes = [
        "- " + " ".join(line for line in __doc__.split("\n\n")[2].splitlines()),
        (
            "- Old images are all in clusters with names, and move only if answers force them to: "
            f"{sum(row['old images moved'] for row in rows)} moved, {sum(row['of these by answers'] for row in rows)} of "
            "them by answers."
        ),
        "- The first update also builds the index that the later ones search.",
    ]
    write("updates", rows, notes, "python -m benchmarks.updates")


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
