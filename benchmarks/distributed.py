"""Graphs on a Dask cluster of this machine: MNIST beside the search in memory, and edges that fit into no worker.

    python -m benchmarks.distributed [mnist] [planted] [--edges 40000000] [--memory 2GiB] [--workers 2] [--neighbors FOLDER]

Every row runs in a process of its own, which starts the cluster, and replaces that row of the stored table. The edges of the
planted graph are made file by file. Its vertices stand in ten rings, each tied to six others of its ring, near ones more often
than far ones, and one edge in fifty leads anywhere; their numbers are scrambled.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.instances import merged, neighbour_graph, own_process, peak_gib, points, quiet, typed, write
from tightcut import Graph, cluster, cluster_graph
from tightcut.progress import ProgressLine
from tightcut.warmup import warmup

COMMAND = "python -m benchmarks.distributed"
K, TIES = 10, 6
ROWS_OF_A_FILE = 2_000_000
MNIST = [(0, 20_000), (10_000, 20_000), (0, 5_000)]  # pairs and units
KEYS = ("graph", "pairs", "units", "edges", "workers", "GiB each")
NOTES = [
    "- `units`: how many one worker searched, by `n_units`. `ratio`: the cut over that of `cluster` in memory (MNIST), or over",
    "  that of the rings it was made of (planted).",
    "- `arcs GiB`: every edge twice, 24 bytes each. `worker GiB`: the largest peak of a worker, mapped files included; `own",
    "  GiB`: of the process that asked.",
    "- Workers are processes of one thread on a machine of two cores that others used at the same time: seconds say little.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=["mnist", "planted"])
    parser.add_argument("--edges", type=int, default=40_000_000)
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--neighbors", type=Path, help="FOLDER/mnist/affinity.npz is the graph, or becomes it")
    parser.add_argument("--one", nargs="+", help="measure one row and print JSON")
    given = parser.parse_args()
    shared = ["--edges", str(given.edges), "--memory", given.memory, "--workers", str(given.workers)]
    shared += ["--neighbors", str(given.neighbors)] if given.neighbors else []
    if given.one:
        print(json.dumps(measure(given)))
        return
    rows = []
    for name in given.names:
        kinds = [f"{name} {pairs} {units}" for pairs, units in MNIST] if name == "mnist" else ["planted 0 100000"]
        rows += [own_process("benchmarks.distributed", *shared, "--one", *kind.split()) for kind in kinds]
    write("distributed", merged("distributed", rows, KEYS), NOTES, COMMAND, "workers as listed")


def measure(given: argparse.Namespace) -> dict:
    from distributed import Client, LocalCluster

    quiet()
    warmup()
    name, pairs, units = given.one[0], int(given.one[1]), int(given.one[2])
    with tempfile.TemporaryDirectory() as folder:
        edges = Path(folder, "edges")
        edges.mkdir()
        count, known, expected = (
            write_mnist(edges, pairs, given.neighbors) if name == "mnist" else write_planted(edges, given.edges)
        )
        with (
            LocalCluster(
                given.workers, threads_per_worker=1, memory_limit=given.memory, dashboard_address=None
            ) as workers,
            Client(workers) as client,
        ):
            started = time.perf_counter()
            found = cluster_graph(
                edges, known, K, client=client, folder=folder, n_units=units, partition_size=size_of_blocks(count),
                effort=1 if name == "mnist" else 0.3, random_state=0, progress=ProgressLine(),
            )  # fmt: skip
            seconds = time.perf_counter() - started
            peak = max(client.run(peak_gib).values())
    return {
        "graph": name,
        "pairs": pairs,
        "units": units,
        "edges": count,
        "workers": given.workers,
        "GiB each": given.memory,
        "arcs GiB": round(48 * count / 2**30, 2),
        "levels": " ".join(map(str, found.n_units)),
        "cut": round(found.cut, 5),
        "ratio": round(found.cut / expected, 4),
        "violated": found.violations.n_violations,
        "seconds": round(seconds, 1),
        "worker GiB": peak,
        "own GiB": peak_gib(),
    }


def size_of_blocks(n_edges: int) -> int:
    """Arcs of a block: at least eight blocks, of at most four million."""
    return min(4_000_000, max(1, n_edges // 4))


def write_mnist(folder: Path, n_pairs: int, stored: Path | None) -> tuple[int, object, float]:
    import pandas as pd

    X, y = points("mnist")
    whole = Graph.from_affinity(neighbour_graph(stored, "mnist", lambda: X)[0])
    rng = np.random.default_rng(0)
    pairs = rng.integers(len(y), size=(2 * n_pairs, 2))
    known = typed(y, pairs[pairs[:, 0] != pairs[:, 1]][:n_pairs])
    i, j, weight = whole.edges
    for part in np.array_split(np.arange(len(i)), 4):
        pd.DataFrame({"i": i[part], "j": j[part], "weight": weight[part]}).to_parquet(folder / f"{part[0]}.parquet")
    return len(i), known, cluster(whole, known, K, random_state=0).cut


def write_planted(folder: Path, n_edges: int) -> tuple[int, object, float]:
    """The files, and the cut of the rings."""
    import pandas as pd

    length = n_edges // (TIES * K)  # of a ring
    n = length * K
    step = next(step for step in range(n * 618 // 1000, n) if math.gcd(step, n) == 1)
    leaving, volume = np.zeros(K), np.zeros(K)
    per_file = ROWS_OF_A_FILE // TIES
    for number, start in enumerate(range(0, n, per_file)):
        rng = np.random.default_rng(number)
        i = np.repeat(np.arange(start, min(start + per_file, n)), TIES)
        row, place = np.divmod(i, length)
        step_on = np.exp(rng.uniform(0, np.log(length / 2), len(i))).astype(np.int64)
        j = row * length + (place + step_on) % length
        far = rng.random(len(i)) < 0.02
        j[far] = rng.integers(n, size=int(far.sum()))
        weight = np.where(i == j, 0.0, rng.uniform(0.5, 1.5, len(i)))
        other = j // length
        volume += np.bincount(row, weight, K) + np.bincount(other, weight, K)
        apart = np.where(row != other, weight, 0.0)
        leaving += np.bincount(row, apart, K) + np.bincount(other, apart, K)
        frame = pd.DataFrame({"i": i * step % n, "j": j * step % n, "weight": weight})
        frame.to_parquet(folder / f"{number:05d}.parquet")
    return n * TIES, None, float((leaving / volume).sum())


if __name__ == "__main__":
    main()
