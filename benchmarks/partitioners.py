"""Public graph partitioners on the same graph: normalized cut and time, and each as the start of our search.

    pip install pymetis kahip networkit
    python -m benchmarks.partitioners [digits usps letter mnist] [--neighbors FOLDER]

METIS and KaHIP look for balanced parts with few edges between them. Leiden looks for modularity, and its resolution is
halved into place until it leaves k communities; if none does, the smallest of a few more join their closest. No pairs:
none of them takes any. Rows of other sets in the stored table are kept.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.instances import merged, neighbour_graph, own_process, quiet, standardised, write
from benchmarks.versus import STANDARDISED
from tightcut import Graph, cluster
from tightcut.datasets import load
from tightcut.metrics import normalized_cut
from tightcut.warmup import warmup

COMMAND = "python -m benchmarks.partitioners"
SETS = ("digits", "usps", "letter", "mnist")
PRECISION = 1000  # METIS and KaHIP take whole numbers: the heaviest edge has this weight
HALVINGS = 12
NOTES = [
    "- `CPU s`: processor seconds of one thread, given the graph in the form that the method takes, kernels compiled before;",
    "  for Leiden those of all resolutions that were tried. Other work used the machine.",
    "- `cut`: normalized cut, the sum over clusters of cut / volume; `ratio`: over that of tightcut with its default effort.",
    "- `as init`: the cut of `cluster(..., init=labels)` with the default effort; never above `cut`.",
    "- KaHIP: `eco` preset; imbalance 0.03, its usual one, or 0.5, as parts of different sizes may cut less.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[*SETS, []])
    parser.add_argument(
        "--neighbors", type=Path, help="folder with a folder of neighbour lists or a graph for each set"
    )
    parser.add_argument("--one", nargs=2, metavar=("METHOD", "FILE"), help="run one method here and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(*arguments.one)))
        return
    for name in arguments.sets or SETS:
        compare(name, arguments.neighbors)


def compare(name: str, folder: Path | None) -> None:
    """Every method on a set, in a process of its own; the table is written after each."""
    data = load(name)
    X = standardised(data.X) if name in STANDARDISED else data.X.astype(np.float32)
    affinity, _ = neighbour_graph(folder, name, lambda: X)
    k = len(np.unique(data.y))
    with tempfile.TemporaryDirectory() as temporary:
        path = str(Path(temporary, "problem.npz"))
        np.savez(path, data=affinity.data, indices=affinity.indices, indptr=affinity.indptr, k=k)
        own = None
        for method in METHODS:
            found = own_process("benchmarks.partitioners", "--one", method, path)
            own = own or found["cut"]
            row = {"set": name, "n": len(X), "k": k, "method": method, "CPU s": found["CPU s"], "cut": found["cut"]}
            row |= {"ratio": f"{found['cut'] / own:.3f}", "clusters": found["clusters"], "as init": found["as init"]}
            write("partitioners", merged("partitioners", [row], ("set", "method")), NOTES, COMMAND)


def measure(method: str, path: str) -> dict[str, Any]:
    quiet()
    warmup()
    with np.load(path) as stored:
        n, k = len(stored["indptr"]) - 1, int(stored["k"])
        affinity = sp.csr_array((stored["data"], stored["indices"], stored["indptr"]), shape=(n, n))
    labels, seconds = METHODS[method](affinity, k)
    cut = normalized_cut(affinity, labels)
    found = {"CPU s": round(seconds, 3), "cut": float(f"{cut:.5g}"), "clusters": len(np.unique(labels)), "as init": ""}
    if not method.startswith("tightcut"):
        improved = cluster(Graph.from_affinity(affinity), None, k, init=labels, random_state=0).cut
        assert improved <= cut * (1 + 1e-9), "an init must never be made worse"
        found["as init"] = float(f"{improved:.5g}")
    return found


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    result = function()
    return result, time.process_time() - started


def tightcut(effort: float, affinity: sp.csr_array, k: int) -> tuple[np.ndarray, float]:
    graph = Graph.from_affinity(affinity)
    found, seconds = timed(lambda: cluster(graph, None, k, effort=effort, random_state=0))
    return found.labels, seconds


def whole_numbers(affinity: sp.csr_array) -> np.ndarray:
    return np.maximum(1, np.rint(PRECISION * affinity.data / affinity.data.max())).astype(int)


def metis(affinity: sp.csr_array, k: int) -> tuple[np.ndarray, float]:
    import pymetis

    graph = pymetis.CSRAdjacency(affinity.indptr.tolist(), affinity.indices.tolist())
    weights = whole_numbers(affinity).tolist()
    (_, labels), seconds = timed(lambda: pymetis.part_graph(k, graph, eweights=weights))
    return np.array(labels), seconds


def kahip(imbalance: float, affinity: sp.csr_array, k: int) -> tuple[np.ndarray, float]:
    from kahip import kaffpa

    eco, seed, quietly = 1, 0, True
    graph = affinity.indptr.tolist(), whole_numbers(affinity).tolist(), affinity.indices.tolist()
    masses = [1] * affinity.shape[0]
    (_, labels), seconds = timed(lambda: kaffpa(masses, *graph, k, imbalance, quietly, seed, eco))
    return np.array(labels), seconds


def leiden(affinity: sp.csr_array, k: int) -> tuple[np.ndarray, float]:
    import networkit

    networkit.setNumberOfThreads(1)
    networkit.setSeed(0, False)
    upper = sp.triu(affinity, 1).tocoo()
    ends = upper.row.astype(np.uint64), upper.col.astype(np.uint64)
    graph = networkit.GraphFromCoo((upper.data, ends), affinity.shape[0], weighted=True)

    def communities(resolution: float) -> np.ndarray:
        found = networkit.community.ParallelLeiden(graph, iterations=10, gamma=resolution).run().getPartition()
        return np.unique(found.getVector(), return_inverse=True)[1]

    return timed(lambda: with_k_communities(communities, affinity, k))


def with_k_communities(communities: Callable[[float], np.ndarray], affinity: sp.csr_array, k: int) -> np.ndarray:
    """Halve the range of resolutions; of what has at least k communities keep that with the fewest, and join down to k."""
    low, high, best = 0.0, 64.0, None
    for _ in range(HALVINGS):
        middle = 1.0 if best is None and high == 64.0 and low == 0.0 else float(np.sqrt(max(low, high / 64) * high))
        labels = communities(middle)
        count = labels.max() + 1
        if count >= k and (best is None or count < best.max() + 1):
            best = labels
        if count == k:
            break
        low, high = (middle, high) if count < k else (low, middle)
    labels = np.arange(affinity.shape[0]) if best is None else best
    while labels.max() + 1 > k:
        groups = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
        between = (groups @ affinity @ groups.T).toarray()
        smallest = int(np.argmin(np.bincount(labels)))
        ties = between[smallest] / between.sum(axis=1)
        ties[smallest] = -1
        labels[labels == smallest] = int(np.argmax(ties))
        labels = np.unique(labels, return_inverse=True)[1]
    return labels


# Ours first: the others are compared with it.
METHODS: dict[str, Callable[[sp.csr_array, int], tuple[np.ndarray, float]]] = {
    "tightcut": partial(tightcut, 1.0),
    "tightcut, effort=0": partial(tightcut, 0.0),
    "METIS": metis,
    "KaHIP": partial(kahip, 0.03),
    "KaHIP, imbalance 0.5": partial(kahip, 0.5),
    "Leiden (networkit)": leiden,
}


if __name__ == "__main__":
    main()
