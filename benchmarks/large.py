"""Large sets on the CPU: MNIST, Shuttle, Covertype and extended MNIST, k clusters with the classes' own number.

    python -m benchmarks.large [mnist shuttle covertype extended_mnist] [--pairs 10000] [--neighbors FOLDER]

Every row, a set with a number of pairs, runs in a process of its own and replaces that row of the stored table; all
others are kept. Neighbours are searched here, on all cores, unless FOLDER/NAME holds neighbour lists or a graph; a graph
that is made is kept there. Those of the extended MNIST take hours on two cores and seconds on a GPU.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.instances import (
    merged,
    neighbour_graph,
    own_process,
    peak_gib,
    quiet,
    standardised,
    timed,
    typed,
    write,
)
from tightcut import Graph, cluster
from tightcut.datasets import load
from tightcut.metrics import clustering_error
from tightcut.warmup import warmup

COMMAND = "python -m benchmarks.large"
ROWS = {
    "mnist": (1000, 10_000),
    "shuttle": (1000, 10_000),
    "covertype": (1000, 10_000),
    "extended_mnist": (10_000,),
}
TO_REACH = {"mnist": "<= 60 s", "extended_mnist": "<= 900 s, 12 GiB"}
STANDARDISED = ("shuttle", "covertype")  # columns of different units; pixels are left as they are
NOTES = [
    "- Random pairs (seed 0), `random_state=0`, one thread, kernels compiled before. `cluster s` is given the graph.",
    "- `CPU s` is the processor time of `cluster`: above the wall clock's where numpy's linear algebra took both cores,",
    "  below it where others used the machine.",
    "- `neighbours s`: exact, on both cores, with bridges between components. given: the graph of the row above, or, for the",
    "  extended MNIST, exact lists made on an H200 (see gpu).",
    "- The smallest cut need not be the classes: on the extended MNIST it splits the ones by slant and joins 4 and 9.",
    "  `influence=1` lets cannot-links speak for the neighbours of their points, too.",
    "- Features of Shuttle and Covertype are standardised. `peak GiB` is of the whole process, points and graph included.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[*ROWS, []])
    parser.add_argument("--pairs", type=int, help="only the rows with this number of pairs")
    parser.add_argument("--neighbors", type=Path, help="folder with a folder of neighbour lists for each set")
    parser.add_argument("--one", action="store_true", help="measure the one row here and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.sets[0], arguments.pairs, arguments.neighbors)))
        return
    given = ["--neighbors", str(arguments.neighbors)] if arguments.neighbors else []
    for name in arguments.sets or ROWS:
        for n_pairs in ROWS[name]:
            if arguments.pairs in (None, n_pairs):
                row = own_process("benchmarks.large", name, "--one", "--pairs", str(n_pairs), *given)
                write("large", merged("large", [row], ("set", "pairs")), NOTES, COMMAND)


def measure(name: str, n_pairs: int, folder: Path | None) -> dict[str, Any]:
    quiet()
    warmup()
    # The images of the extended MNIST need not be in memory: its classes are those of MNIST, nine times.
    y = np.tile(load("mnist").y, 9) if name == "extended_mnist" else load(name).y
    affinity, neighbor_seconds = neighbour_graph(folder, name, partial(points, name))
    graph, graph_seconds = timed(partial(Graph.from_affinity, affinity))
    pairs = np.random.default_rng(0).integers(0, len(y), (n_pairs, 2))
    constraints, pair_seconds = timed(partial(typed, y, pairs[pairs[:, 0] != pairs[:, 1]]))
    k = len(np.unique(y))
    started = time.process_time()
    result, seconds = timed(partial(cluster, graph, constraints, k, random_state=0))
    processor_seconds = time.process_time() - started
    near, near_seconds = timed(partial(cluster, graph, constraints, k, random_state=0, influence=1))
    return {
        "set": name,
        "n": len(y),
        "k": k,
        "edges": graph.n_edges,
        "pairs": n_pairs,
        "neighbours s": "given" if neighbor_seconds is None else f"{neighbor_seconds:.1f}",
        "graph s": round(graph_seconds, 2),
        "pairs s": round(pair_seconds, 3),
        "cluster s": round(seconds, 1),
        "CPU s": round(processor_seconds, 1),
        "to reach": TO_REACH.get(name, ""),
        "cut": round(result.cut, 5),
        "error": round(clustering_error(y, result.labels), 5),
        "ARI": round(adjusted_rand_score(y, result.labels), 4),
        "influence=1: s": round(near_seconds, 1),
        "influence=1: error": round(clustering_error(y, near.labels), 5),
        "influence=1: ARI": round(adjusted_rand_score(y, near.labels), 4),
        "violations": result.n_violations + near.n_violations,
        "peak GiB": peak_gib(),
    }


def points(name: str) -> np.ndarray:
    X = load(name).X
    return standardised(X) if name in STANDARDISED else X


if __name__ == "__main__":
    main()
