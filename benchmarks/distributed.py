"""Graphs on a Dask cluster of this machine: beside the search in memory, and with edges that fit into no worker.

    python -m benchmarks.distributed [mnist extended_mnist planted local growth] [--workers 2] [--memory 2GiB]
        [--edges 134400000] [--neighbors FOLDER] [--planted FOLDER]

Every row runs in a process of its own, which starts the cluster, and replaces that row of the stored table. The graphs
`local` and `planted` are made file by file. Vertices stand in ten rings, each with six ties that start from it, and their
numbers are scrambled. One tie in fifty leads anywhere. The others of `planted` have steps along the ring of all lengths,
short ones more often than long ones: contraction leaves nearly all its arcs. Of `local`, one tie in twenty leads anywhere
within the ring, and the others at most 32 steps on, as in a graph of neighbours. `growth` is `local` on 1, 2 and 4 workers.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.instances import merged, neighbour_graph, own_process, peak_gib, quiet, typed, write
from tightcut import Constraints, Graph, cluster, cluster_graph
from tightcut.datasets import load
from tightcut.progress import ProgressLine
from tightcut.warmup import warmup

COMMAND = "python -m benchmarks.distributed"
K, TIES = 10, 6
ROWS_OF_A_FILE = 2_000_000
ROWS = {  # pairs, units and, of a planted graph, millions of edges
    "mnist": [(0, 20_000, 0), (0, 5_000, 0), (10_000, 20_000, 0)],
    "extended_mnist": [(10_000, 100_000, 0)],
    "planted": [(0, 200_000, 6)],
    "local": [(10_000, 20_000, 0)],
    "growth": [(1000, 20_000, 0.6), (1000, 20_000, 2.4), (1000, 20_000, 9.6), (1000, 20_000, 38.4)],
}
WORKERS_OF_GROWTH = (1, 2, 4)
KEYS = ("graph", "pairs", "units", "edges", "workers", "GiB each")
NOTES = [
    "- `units`: how many one worker searched, by `n_units`. `ratio`: the cut over that of `cluster` in memory with the same",
    "  effort (MNIST: 1), or over that of the rings it was made of (planted and local, effort 0.3).",
    "- `arcs GiB`: every edge twice, 24 bytes each. `worker GiB`: the largest peak of a worker, mapped files included; `own",
    "  GiB`: of the process that asked, with the scheduler. `restarts`: workers that ended and were started again.",
    "- `CPU s`: processor seconds of all workers and of the process that asked. Workers are processes of one thread on a",
    "  machine of two cores that many others used at the same time: `seconds`, by the wall clock, say little.",
    "- Neighbours of the extended MNIST are approximate: of the ten nearest, the graph holds two thirds.",
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(ROWS))
    parser.add_argument("--edges", type=int, default=134_400_000, help="of the graph `local`")
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--neighbors", type=Path, help="FOLDER/NAME/affinity.npz is the graph, or becomes it")
    parser.add_argument("--planted", type=Path, help="FOLDER/NAME-EDGES is a planted graph, or becomes it")
    parser.add_argument("--one", nargs=4, metavar=("NAME", "PAIRS", "UNITS", "EDGES"), help="one row, as JSON")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given)))
        return
    folders = [f"--{name}={folder}" for name in ("neighbors", "planted") if (folder := getattr(given, name))]
    for name in given.names:
        for pairs, units, millions in ROWS[name]:
            edges = int(1e6 * millions) or given.edges
            for workers in WORKERS_OF_GROWTH if name == "growth" else [given.workers]:
                shared = [*folders, "--memory", given.memory, "--workers", str(workers)]
                kind = "local" if name == "growth" else name
                one = ["--one", kind, *map(str, (pairs, units, edges))]
                row = own_process("benchmarks.distributed", *shared, *one)
                write("distributed", merged("distributed", [row], KEYS), NOTES, COMMAND, "workers as listed")


def measure(given: argparse.Namespace) -> dict[str, Any]:
    from distributed import Client, LocalCluster

    quiet()
    warmup()
    name, (pairs, units, n_edges) = given.one[0], map(int, given.one[1:])
    with tempfile.TemporaryDirectory() as folder:
        if name in {"planted", "local"}:
            edges, count, known, expected = planted(given.planted or Path(folder), name, n_edges, pairs)
        else:
            edges = Path(folder, "edges")
            count, known, expected = write_images(edges, name, pairs, given.neighbors)
        options = {"threads_per_worker": 1, "memory_limit": given.memory, "dashboard_address": None}
        with LocalCluster(given.workers, **options) as workers, Client(workers) as client:
            processes = set(client.run(os.getpid).values())
            used, started = processor_seconds(client), time.perf_counter()
            found = cluster_graph(
                edges, known, K, client=client, folder=folder, n_units=units, partition_size=size_of_blocks(count),
                effort=0.3 if name in {"planted", "local"} else 1, random_state=0, progress=ProgressLine(),
            )  # fmt: skip
            seconds, used = time.perf_counter() - started, processor_seconds(client) - used
            peak = max(client.run(peak_gib).values())
            restarts = len(set(client.run(os.getpid).values()) - processes)
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
        "CPU s": round(used, 1),
        "seconds": round(seconds, 1),
        "worker GiB": peak,
        "restarts": restarts,
        "own GiB": peak_gib(),
    }


def processor_seconds(client: Any) -> float:
    return time.process_time() + sum(client.run(time.process_time).values())


def size_of_blocks(n_edges: int) -> int:
    """Arcs of a block: at least eight blocks, of at most four million."""
    return min(4_000_000, max(1, n_edges // 4))


def write_images(folder: Path, name: str, n_pairs: int, stored: Path | None) -> tuple[int, Constraints, float]:
    """Number of edges, pairs, and the cut in memory."""
    import pandas as pd

    y = np.tile(load("mnist").y, 9 if name == "extended_mnist" else 1)
    whole = Graph.from_affinity(neighbour_graph(stored, name, lambda: load(name).X)[0])
    known = random_pairs(y, n_pairs)
    folder.mkdir()
    i, j, weight = whole.edges
    for part in np.array_split(np.arange(len(i)), 4):
        pd.DataFrame({"i": i[part], "j": j[part], "weight": weight[part]}).to_parquet(folder / f"{part[0]}.parquet")
    return len(i), known, cluster(whole, known, K, random_state=0).cut


def random_pairs(y: np.ndarray, count: int) -> Constraints:
    pairs = np.random.default_rng(0).integers(len(y), size=(2 * count, 2))
    return typed(y, pairs[pairs[:, 0] != pairs[:, 1]][:count])


def planted(folder: Path, name: str, n_edges: int, n_pairs: int) -> tuple[Path, int, Constraints, float]:
    """Where the edges are, how many, pairs, and the cut of the rings."""
    length = n_edges // (TIES * K)  # of a ring
    n = length * K
    step = next(step for step in range(n * 618 // 1000, n) if math.gcd(step, n) == 1)
    edges, record = folder / f"{name}-{n_edges}", folder / f"{name}-{n_edges}.txt"
    if not record.exists():
        edges.mkdir(parents=True)
        record.write_text(repr(write_rings(edges, length, step, every_length=name == "planted")))
    ring = np.empty(n, np.int8)
    ring[np.arange(n) * step % n] = np.arange(n) // length
    return edges, n * TIES, random_pairs(ring, n_pairs), float(record.read_text())


def write_rings(folder: Path, length: int, step: int, *, every_length: bool) -> float:
    """Write the files; returns the cut of the rings."""
    import pandas as pd

    n = length * K
    leaving, volume = np.zeros(K), np.zeros(K)
    per_file = ROWS_OF_A_FILE // TIES
    for number, start in enumerate(range(0, n, per_file)):
        rng = np.random.default_rng(number)
        i = np.repeat(np.arange(start, min(start + per_file, n)), TIES)
        row, place = np.divmod(i, length)
        chance = rng.random(len(i))
        if every_length:
            step_on = np.exp(rng.uniform(0, np.log(length / 2), len(i))).astype(np.int64)
        else:
            step_on = np.where(chance < 0.07, rng.integers(length, size=len(i)), rng.integers(1, 33, len(i)))
        j = row * length + (place + step_on) % length
        far = chance < 0.02
        j[far] = rng.integers(n, size=int(far.sum()))
        weight = np.where(i == j, 0.0, rng.uniform(0.5, 1.5, len(i)))
        other = j // length
        volume += np.bincount(row, weight, K) + np.bincount(other, weight, K)
        apart = np.where(row != other, weight, 0.0)
        leaving += np.bincount(row, apart, K) + np.bincount(other, apart, K)
        frame = pd.DataFrame({"i": i * step % n, "j": j * step % n, "weight": weight})
        frame.to_parquet(folder / f"{number:05d}.parquet")
    return float((leaving / volume).sum())


if __name__ == "__main__":
    main()
