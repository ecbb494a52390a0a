"""Large sets on the CPU: MNIST, Shuttle, extended MNIST. Seconds per stage, cut, error, violations, peak memory.

    python -m benchmarks.large [mnist shuttle extended_mnist] [--neighbors FOLDER]

The neighbour lists are computed here (exactly, by scikit-learn) unless the folder holds indices*.npy and
distances*.npy for the set, as `benchmarks.gpu` writes them; exact neighbours of the extended MNIST take hours on two
cores and seconds on a GPU. Every set runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.instances import points, quiet, timed, typed, write

SETS = {"mnist": (10, (1000, 10_000)), "shuttle": (7, (1000, 10_000)), "extended_mnist": (10, (10_000,))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=list(SETS), choices=[*SETS, []])
    parser.add_argument("--neighbors", type=Path, help="folder with a folder of neighbour lists for each set")
    parser.add_argument("--one", action="store_true", help="measure the one set here and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.sets[0], arguments.neighbors)))
        return
    rows = []
    for name in arguments.sets:
        command = [sys.executable, "-m", "benchmarks.large", name, "--one"]
        command += ["--neighbors", str(arguments.neighbors)] if arguments.neighbors else []
        finished = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        rows += json.loads(finished.stdout.splitlines()[-1])
        print(rows[-1], flush=True)
    notes = ["- `cluster s` is given the graph, one thread, kernels compiled before."]
    write("large", rows, notes, "python -m benchmarks.large")


def measure(name: str, folder: Path | None) -> list[dict[str, float | int | str]]:
    from sklearn.metrics import adjusted_rand_score

    from tightcut import Graph, cluster
    from tightcut.datasets import load
    from tightcut.metrics import clustering_error
    from tightcut.warmup import warmup

    quiet()
    warmup()
    k, numbers = SETS[name]
    if folder is not None and (folder / name).is_dir():
        y = np.tile(load("mnist").y, 9) if name == "extended_mnist" else points(name)[1]
        affinity, neighbor_seconds = stored_affinity(folder / name), float("nan")
    else:
        from tightcut import knn_affinity

        dataset = load(name)
        y = dataset.y
        affinity, neighbor_seconds = timed(partial(knn_affinity, dataset.X.astype(np.float32)))
    own, graph_seconds = timed(partial(Graph.from_affinity, affinity))
    rows = []
    for n_pairs in numbers:
        pairs = np.random.default_rng(0).integers(0, len(y), (n_pairs, 2))
        constraints = typed(y, pairs[pairs[:, 0] != pairs[:, 1]])
        result, seconds = timed(partial(cluster, own, constraints, k, random_state=0))
        rows.append(
            {
                "set": name,
                "n": len(y),
                "edges": own.n_edges,
                "pairs": n_pairs,
                "neighbours s": "given" if np.isnan(neighbor_seconds) else round(neighbor_seconds, 1),
                "graph s": round(graph_seconds, 2),
                "cluster s": round(seconds, 1),
                "cut": round(result.cut, 5),
                "error": round(clustering_error(y, result.labels), 5),
                "ARI": round(adjusted_rand_score(y, result.labels), 4),
                "violations": result.n_violations,
                "peak GiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
            }
        )
    return rows


def stored_affinity(folder: Path) -> sp.csr_array:
    """The paper's graph from stored neighbour lists."""
    from tightcut.neighbors import gaussian_similarity

    neighbors = np.concatenate([np.load(file) for file in sorted(folder.glob("indices*.npy"))])
    distances = np.concatenate([np.load(file) for file in sorted(folder.glob("distances*.npy"))]).astype(np.float64)
    n, k = neighbors.shape
    weights = gaussian_similarity(distances, distances.max(axis=1, keepdims=True))
    directed = sp.csr_array((weights.ravel(), neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return sp.csr_array(directed.maximum(directed.T))


if __name__ == "__main__":
    main()
