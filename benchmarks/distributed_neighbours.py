"""Neighbours of points in partitions on a Dask cluster of this machine, beside the search in memory.

    python -m benchmarks.distributed_neighbours [mnist letter ...] [--workers 1 2] [--search exact approximate]
        [--points 0]

Every row runs in a process of its own, which starts the cluster, and replaces that row of the stored table. `approximate`
needs the extra `tightcut[faiss]`. `--points N` takes N points at random, 0 takes all.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.distributed import processor_seconds
from benchmarks.instances import merged, own_process, peak_gib, quiet, write
from tightcut import knn_affinity, knn_edges
from tightcut.datasets import load
from tightcut.neighbors import SEARCHES
from tightcut.progress import ProgressLine
from tightcut.warmup import warmup

COMMAND = "python -m benchmarks.distributed_neighbours"
PARTITIONS = 8
KEYS = ("points", "rows", "search", "workers")
NOTES = [
    "- `search`: as `knn_edges` names it; `CPU s`: processor seconds of all workers and of the process that asked. Points come",
    f"  in {PARTITIONS} partitions.",
    "- `in memory`: processor seconds of `knn_affinity` on one thread, with the same kind of search. `same`: whether the graph",
    "  has the same edges with the same weights, to the last bit; asked of exact searches only.",
    "- `worker GiB`: the largest peak of a worker. `own GiB`: of the process that asked, which holds all points for the search",
    "  in memory.",
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=["mnist"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--search", nargs="+", default=["exact", "approximate"])
    parser.add_argument("--points", type=int, default=0)
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument("--one", nargs=4, metavar=("NAME", "POINTS", "SEARCH", "WORKERS"), help="one row, as JSON")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(*given.one, given.memory)))
        return
    for name in given.names:
        for search in given.search:
            for workers in given.workers:
                one = ["--memory", given.memory, "--one", name, str(given.points), search, str(workers)]
                row = own_process("benchmarks.distributed_neighbours", *one)
                write(
                    "distributed_neighbours", merged("distributed_neighbours", [row], KEYS), NOTES, COMMAND, "as listed"
                )


def measure(name: str, count: str, search: str, workers: str, memory: str) -> dict[str, Any]:
    from distributed import Client, LocalCluster

    quiet()
    warmup()
    X = load(name).X
    if int(count):
        X = X[np.sort(np.random.default_rng(0).choice(len(X), int(count), replace=False))]
    options = {"threads_per_worker": 1, "memory_limit": memory, "dashboard_address": None}
    with tempfile.TemporaryDirectory() as folder:
        points, edges = partitions(X, Path(folder)), Path(folder, "edges")
        with LocalCluster(int(workers), **options) as cluster, Client(cluster) as client:
            client.run(warmup)
            processes = set(client.run(os.getpid).values())
            used = processor_seconds(client)
            found = knn_edges(points, edges, neighbors=search, client=client, progress=ProgressLine())
            used = processor_seconds(client) - used
            peak = max(client.run(peak_gib).values())
            restarts = len(set(client.run(os.getpid).values()) - processes)
        started = time.process_time()
        here = knn_affinity(X, neighbors=search if search in SEARCHES else "auto")
        in_memory = time.process_time() - started
        same = (symmetric(found) != here).nnz == 0 if search == "exact" else ""
    return {
        "points": name,
        "rows": len(X),
        "features": X.shape[1],
        "search": search,
        "workers": int(workers),
        "GiB each": memory,
        "edges": found.n_edges,
        "recall": round(found.recall, 4),
        "same": same,
        "CPU s": round(used, 1),
        "in memory": round(in_memory, 1),
        "worker GiB": peak,
        "restarts": restarts,
        "own GiB": peak_gib(),
    }


def partitions(X: np.ndarray, folder: Path) -> Any:
    """A Dask array whose partitions are files."""
    import dask
    import dask.array as da

    parts = []
    for number, part in enumerate(np.array_split(X, PARTITIONS)):
        np.save(folder / f"{number}.npy", part)
        parts.append(da.from_delayed(dask.delayed(np.load)(folder / f"{number}.npy"), part.shape, part.dtype))
    return da.concatenate(parts)


def symmetric(found: Any) -> sp.csr_array:
    edges, n = found.edges.compute(), found.n_points
    half = sp.coo_array((edges.weight, (edges.i, edges.j)), shape=(n, n)).tocsr()
    return sp.csr_array(half + half.T)


if __name__ == "__main__":
    main()
