"""Time and memory against the number of points, per stage.

    python -m benchmarks.growth [--largest 1000000] [--families moons mixture2 mixture10]

Gaussian mixtures (k = 2 and 10, four dimensions) and two moons, with 1 % of the points in pairs. Families that are not
asked for keep the rows they have. Every size runs in a process of its own, so that its peak memory is its own. Seconds are
processor seconds of one thread, which other work on the machine disturbs less than it does the clock; a stage that takes
few of them is run several times and the median counts. Writes the table and a log-log plot.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.instances import RESULTS, median, quiet, typed, write

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FAMILIES = {"moons": 2, "mixture2": 2, "mixture10": 10}
STAGES = ("neighbours", "graph", "pairs", "cluster")
REPEATED_BELOW = 2.0  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--one", nargs=2, metavar=("FAMILY", "N"), help="measure one size and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one[0], int(arguments.one[1]))))
        return
    rows = [row for row in committed() if row["family"] not in arguments.families]
    for family in arguments.families:
        for n in SIZES:
            if n <= arguments.largest:
                command = [sys.executable, "-m", "benchmarks.growth", "--one", family, str(n)]
                finished = subprocess.run(command, capture_output=True, text=True, check=True)
                rows.append(json.loads(finished.stdout.splitlines()[-1]))
                print(rows[-1], flush=True)
    rows.sort(key=lambda row: (list(FAMILIES).index(row["family"]), row["n"]))
    notes = [exponents(rows, family) for family in FAMILIES]
    notes.append(
        "- Exponents are least-squares slopes in the log-log plot, from n = 10,000 on and, behind the comma, from "
        "n = 100,000 on. Processor seconds of one thread; below two seconds, medians of five runs."
    )
    notes.append(
        "- Above 2,000 units, 10,000 for more than two clusters, `cluster` joins solutions of random coarsenings; above "
        "100,000 it keeps half as many and stops when a batch of them gains less than 0.5 %."
    )
    draw(rows)
    write("growth", rows, notes, "python -m benchmarks.growth")


def committed() -> list[dict]:
    """The rows of the last table, so that one family can be measured again."""
    table = RESULTS / "growth.csv"
    if not table.exists():
        return []
    with table.open() as file:
        return [
            {name: value if name == "family" else json.loads(value) for name, value in row.items()}
            for row in csv.DictReader(file)
        ]


def measure(family: str, n: int) -> dict[str, float | int | str]:
    from sklearn.datasets import make_blobs, make_moons
    from sklearn.metrics import adjusted_rand_score

    from tightcut import Graph, cluster, knn_affinity
    from tightcut.warmup import warmup

    quiet()
    warmup()
    k = FAMILIES[family]
    if family == "moons":
        X, y = make_moons(n, noise=0.12, random_state=0)
    else:
        X, y = make_blobs(n, centers=k, n_features=4, cluster_std=2.2, random_state=0)
    X = X.astype(np.float32)
    affinity, neighbor_seconds = typical(partial(knn_affinity, X, connect=False))
    own, graph_seconds = typical(partial(Graph.from_affinity, affinity))
    pairs = np.random.default_rng(0).integers(0, n, (max(n // 200, 5), 2))
    constraints, pair_seconds = typical(partial(typed, y, pairs[pairs[:, 0] != pairs[:, 1]]))
    result, seconds = typical(partial(cluster, own, constraints, k, random_state=0))
    return {
        "family": family,
        "n": n,
        "edges": own.n_edges,
        "neighbours s": round(neighbor_seconds, 3),
        "graph s": round(graph_seconds, 4),
        "pairs s": round(pair_seconds, 5),
        "cluster s": round(seconds, 3),
        "peak GiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "cut": round(result.cut, 6),
        "ARI": round(adjusted_rand_score(y, result.labels), 4),
        "violations": result.n_violations,
    }


def typical(function: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the seconds of a call; the median of five calls, if they are short."""
    result, seconds = processor_timed(function)
    if seconds >= REPEATED_BELOW:
        return result, seconds
    return result, median([processor_timed(function)[1] for _ in range(5)])


def processor_timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def exponents(rows: list[dict], family: str) -> str:
    def slope(stage: str, smallest: int) -> str:
        chosen = [row for row in rows if row["family"] == family and row["n"] >= smallest]
        if len(chosen) < 2:
            return "-"
        sizes, seconds = ([row[key] for row in chosen] for key in ("n", f"{stage} s"))
        return f"{np.polyfit(np.log(sizes), np.log(seconds), 1)[0]:.2f}"

    return (
        f"- {family}: "
        + "; ".join(f"{stage} {slope(stage, 10_000)}, {slope(stage, 100_000)}" for stage in STAGES)
        + "."
    )


def draw(rows: list[dict]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    families = list(dict.fromkeys(row["family"] for row in rows))
    figure, axes = plt.subplots(1, len(families) + 1, figsize=(3.4 * len(families) + 3.4, 3.8), layout="constrained")
    for family, ax in zip(families, axes[:-1], strict=True):
        chosen = [row for row in rows if row["family"] == family]
        sizes = np.array([row["n"] for row in chosen])
        for stage in STAGES:
            ax.loglog(sizes, [row[f"{stage} s"] for row in chosen], "o-", markersize=4, label=stage)
        ax.loglog(sizes, 3e-6 * sizes, ":", color="grey", label="slope 1")
        ax.set(title=family, xlabel="points", ylim=(2e-5, 300))
        axes[-1].loglog(sizes, [row["peak GiB"] for row in chosen], "o-", markersize=4, label=family)
    axes[0].set_ylabel("seconds")
    axes[-1].set(title="peak memory", xlabel="points", ylabel="GiB", ylim=(0.1, 10))
    axes[-1].legend(frameon=False)
    for ax in axes:
        ax.grid(which="major", alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(RESULTS / "growth.png", dpi=150)


if __name__ == "__main__":
    main()
