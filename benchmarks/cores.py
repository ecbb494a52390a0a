"""Seconds of `cluster` with 1, 2, 4, 8 and 16 threads, and whether the labels are the same.

    python -m benchmarks.cores [extended_mnist mnist] [--threads 1 2 4 8 16] [--neighbors FOLDER] [--device cuda]

Neighbours are searched before, on the device, unless FOLDER/NAME holds neighbour lists or a graph. `speed-up` is over one
thread. Every problem is solved once before the clock runs, and then twice; the better run counts.
"""

from __future__ import annotations

import argparse
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.instances import merged, neighbour_graph, peers_pairs, quiet, write
from tightcut import ClusteringResult, Graph, cluster, knn_affinity
from tightcut.datasets import load
from tightcut.warmup import warmup

COMMAND = "python -m benchmarks.cores"
SETS = ("extended_mnist", "mnist")
THREADS = (1, 2, 4, 8, 16)
N_PAIRS = 10_000
WORK: dict[str, dict[str, Any]] = {
    "no pairs": {},
    "no pairs, effort 0.3": {"effort": 0.3},
    "no pairs, effort 0": {"effort": 0},
    f"{N_PAIRS:,} pairs": {"pairs": N_PAIRS},
    "two clusters": {"k": 2},
    f"two clusters, {N_PAIRS:,} pairs": {"k": 2, "pairs": N_PAIRS},
}
NOTES = [
    "- Seconds of the clock, given the graph, kernels loaded before; the better of two runs, `random_state=0`.",
    "- Two clusters: digits up to 4 against the others.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[*SETS, []])
    parser.add_argument("--threads", type=int, nargs="+", default=THREADS)
    parser.add_argument(
        "--neighbors", type=Path, help="folder with a folder of neighbour lists or a graph for each set"
    )
    parser.add_argument("--device", default="cpu", help="where neighbours are searched")
    arguments = parser.parse_args()
    quiet()
    warmup()
    for name in arguments.sets or SETS:
        data = load(name)
        if arguments.neighbors:
            affinity, _ = neighbour_graph(arguments.neighbors, name, partial(getattr, data, "X"))
        else:
            affinity = knn_affinity(data.X, 10, device=arguments.device)
        graph = Graph.from_affinity(affinity)
        for work, settings in WORK.items():
            rows = measure(name, graph, data.y, work, arguments.threads, **settings)
            write("cores", merged("cores", rows, ("set", "work", "threads")), NOTES, COMMAND, f"{os.cpu_count()} cores")


def measure(
    name: str,
    graph: Graph,
    y: np.ndarray,
    work: str,
    threads: list[int],
    k: int = 10,
    pairs: int = 0,
    effort: float = 1.0,
) -> list[dict[str, Any]]:
    """A row for each number of threads, the largest first, which warms up what the others need."""
    constraints = peers_pairs(y if k > 2 else y // 5, pairs, 0) if pairs else None
    solve = partial(cluster, graph, constraints, k, effort=effort, random_state=0)
    solve(n_jobs=max(threads))
    found = {count: best_of_two(partial(solve, n_jobs=count)) for count in sorted(threads)}
    (expected, alone), *_ = found.values()
    rows = []
    for count, (result, seconds) in found.items():
        row = {"set": name, "work": work, "threads": count, "s": f"{seconds:.2f}", "speed-up": f"{alone / seconds:.1f}"}
        row |= {"cut": f"{result.cut:.5f}", "violated": result.n_violations}
        rows.append(row | {"same labels": bool(np.array_equal(result.labels, expected.labels))})
        print(row, flush=True)
    return rows


def best_of_two(solve: partial[ClusteringResult]) -> tuple[ClusteringResult, float]:
    seconds = []
    for _ in range(2):
        begun = time.perf_counter()
        result = solve()
        seconds.append(time.perf_counter() - begun)
    return result, min(seconds)


if __name__ == "__main__":
    main()
