"""Who wins: one method against each of the others, dataset by dataset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.stats

MEASURES = ("error", "cut", "cut_if_satisfied", "violated")
CONFIDENCE = 0.95
FEWEST_TRIALS = 3
NEGLIGIBLE = 1e-3
OWN_GRAPH = ("default",)  # methods that cut a graph of their own: their cuts of the shared one are not compared


def compare(table: Any, reference: str = "COSC") -> Any:
    """Wins, ties and losses of a method against every other, over the numbers of pairs of each dataset.

    The table is what `run` returns; the result has dataset, rival, measure, wins, ties, losses. Measures are `error`,
    `cut`, `violated` and `cut_if_satisfied`, the cut over those trials in which the rival satisfies all pairs; smaller
    is better in all.

    Notes
    -----
    For each number of pairs the two methods are compared trial by trial, on the same pairs. It is a win or a loss if
    the mean difference is outside its 95 % t interval, otherwise a tie; with fewer than three trials, if it is larger
    than 0.001. Cuts are compared where both have found the same number of clusters. A number of pairs without a trial
    that both have finished counts for nothing.
    """
    found = verdicts(table, reference)
    rows = []
    for (dataset, rival, measure), own in found.groupby(["dataset", "rival", "measure"], sort=False):
        counts = own["verdict"].value_counts()
        rows.append((dataset, rival, measure, *(int(counts.get(kind, 0)) for kind in ("win", "tie", "loss"))))
    return pd.DataFrame(rows, columns=["dataset", "rival", "measure", "wins", "ties", "losses"])


def verdicts(table: Any, reference: str = "COSC") -> Any:
    """What `compare` counts: a row for each dataset, rival, measure, number of pairs and noise, with its verdict."""
    finished = table[table["status"] == "ok"]
    ours, theirs = finished[finished["method"] == reference], finished[finished["method"] != reference]
    both = theirs.merge(ours, on=["dataset", "n_pairs", "noise", "trial"], suffixes=("_rival", ""))
    rows = []
    for (dataset, rival), own in both.groupby(["dataset", "method_rival"], sort=False):
        for measure in MEASURES:
            for (n_pairs, noise), trials in own.groupby(["n_pairs", "noise"]):
                differences = _differences(trials, measure)[: 0 if rival in OWN_GRAPH and "cut" in measure else None]
                rows.append((dataset, rival, measure, n_pairs, noise, verdict(differences)))
    return pd.DataFrame(rows, columns=["dataset", "rival", "measure", "n_pairs", "noise", "verdict"])


def verdict(differences: np.ndarray) -> str | None:
    """What paired differences (ours minus theirs, smaller is better) say; None without any.

    Examples
    --------
    >>> import numpy as np
    >>> verdict(np.array([-0.1, -0.12, -0.1])), verdict(np.array([-0.1, 0.1, 0.0])), verdict(np.array([0.1]))
    ('win', 'tie', 'loss')
    """
    count = len(differences)
    if count == 0:
        return None
    mean = float(differences.mean())
    if count < FEWEST_TRIALS:
        width = NEGLIGIBLE
    else:
        quantile = scipy.stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)
        width = max(float(quantile * differences.std(ddof=1) / np.sqrt(count)), 1e-9)
    if abs(mean) <= width:
        return "tie"
    return "win" if mean < 0 else "loss"


def finished(table: Any, method: str) -> Any:
    """The fits of a method that have a result."""
    return table[(table["method"] == method) & (table["status"] == "ok")]


def cut_ratios(table: Any, method: str, rival: str) -> np.ndarray:
    """Trial by trial the cut of one method over that of another."""
    keys = ["dataset", "n_pairs", "noise", "trial"]
    both = finished(table, method).merge(finished(table, rival), on=keys, suffixes=("", "_rival"))
    return (both["cut"] / both["cut_rival"]).to_numpy(dtype=np.float64)


def unfinished(table: Any) -> Any:
    """Cells that were not solved: dataset, method, status, message, and how many trials there are of each."""
    odd = table[table["status"] != "ok"]
    return odd.groupby(["dataset", "method", "status", "message"], sort=False).size().rename("cells").reset_index()


def _differences(trials: Any, measure: str) -> np.ndarray:
    column = "cut" if measure == "cut_if_satisfied" else measure
    if column == "cut":
        trials = trials[trials["n_clusters"] == trials["n_clusters_rival"]]
    if measure == "cut_if_satisfied":
        trials = trials[trials["violated_rival"] == 0]
    return (trials[column] - trials[f"{column}_rival"]).to_numpy(dtype=np.float64)
