"""Time and memory against the number of points, per stage.

    python -m benchmarks.growth [--largest 1000000]

Gaussian mixtures (k = 2 and 10, four dimensions) and two moons, with 1 % of the points in pairs. Every size runs in a
process of its own, so that its peak memory is its own. Writes the table and a log-log plot.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from functools import partial

import numpy as np

from benchmarks.instances import RESULTS, quiet, timed, typed, write

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FAMILIES = {"moons": 2, "mixture2": 2, "mixture10": 10}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--one", nargs=2, metavar=("FAMILY", "N"), help="measure one size and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one[0], int(arguments.one[1]))))
        return
    rows = []
    for family in FAMILIES:
        for n in SIZES:
            if n <= arguments.largest:
                command = [sys.executable, "-m", "benchmarks.growth", "--one", family, str(n)]
                finished = subprocess.run(command, capture_output=True, text=True, check=True)
                rows.append(json.loads(finished.stdout.splitlines()[-1]))
                print(rows[-1], flush=True)
    notes = [f"- {family}: {exponents(rows, family)}." for family in FAMILIES]
    notes.append("- Exponents are least-squares slopes in the log-log plot from n = 10,000 on.")
    draw(rows)
    write("growth", rows, notes, "python -m benchmarks.growth")


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
    affinity, neighbor_seconds = timed(partial(knn_affinity, X, connect=False))
    own, graph_seconds = timed(partial(Graph.from_affinity, affinity))
    pairs = np.random.default_rng(0).integers(0, n, (max(n // 200, 5), 2))
    constraints, pair_seconds = timed(partial(typed, y, pairs[pairs[:, 0] != pairs[:, 1]]))
    result, seconds = timed(partial(cluster, own, constraints, k, random_state=0))
    return {
        "family": family,
        "n": n,
        "edges": own.n_edges,
        "neighbours s": round(neighbor_seconds, 2),
        "graph s": round(graph_seconds, 3),
        "pairs s": round(pair_seconds, 3),
        "cluster s": round(seconds, 2),
        "peak GiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "cut": round(result.cut, 6),
        "ARI": round(adjusted_rand_score(y, result.labels), 4),
        "violations": result.n_violations,
    }


def exponents(rows: list[dict], family: str) -> str:
    chosen = [row for row in rows if row["family"] == family and row["n"] >= 10_000]
    if len(chosen) < 2:
        return "too few sizes for an exponent"
    size = np.log([row["n"] for row in chosen])
    slopes = {
        stage: np.polyfit(size, np.log([max(row[f"{stage} s"], 1e-3) for row in chosen]), 1)[0]
        for stage in ("neighbours", "graph", "cluster")
    }
    return ", ".join(f"{stage} n^{slope:.2f}" for stage, slope in slopes.items())


def draw(rows: list[dict]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for family in FAMILIES:
        chosen = [row for row in rows if row["family"] == family]
        size = [row["n"] for row in chosen]
        axes[0].loglog(size, [row["cluster s"] for row in chosen], "o-", label=family)
        axes[1].loglog(size, [row["peak GiB"] for row in chosen], "o-", label=family)
    axes[0].set(xlabel="points", ylabel="seconds, given the graph")
    axes[1].set(xlabel="points", ylabel="peak memory of the process (GiB)")
    for ax in axes:
        ax.grid(which="major", alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(RESULTS / "growth.png", dpi=150)


if __name__ == "__main__":
    main()
