"""Cuts, labels and seconds of two states of the source, side by side.

    git worktree add ../before REVISION
    python -m benchmarks.frozen ../before/src

Every instance is solved by both states in turn, in processes of their own, from the same stored graph and the same pairs.
Seconds are processor seconds of one thread, the better of two runs. The table freezes the labels as a hash.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import scipy.sparse as sp

RANDOM_STATES = (0, 1)
PAIRS = {
    "digits": (200, 1000),
    "usps": (500,),
    "letter": (2000,),
    "shuttle": (3000,),
    "mnist": (10_000,),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, help="folder with the package of the state to compare with")
    parser.add_argument("--only", default="", help="instances whose name contains this")
    parser.add_argument("--jobs", type=int, default=1, help="instances at a time; cores must be idle for all of them")
    arguments = parser.parse_args()
    from benchmarks.instances import geometric_mean, quiet, write

    quiet()
    sources = {"before": arguments.before.resolve(), "after": Path(__file__).parents[1] / "src"}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        waiting = []
        for number, (name, graph, constraints, k) in enumerate(instances(arguments.only)):
            problem = Path(folder) / f"{number}.npz"
            store(problem, graph, constraints, k)
            waiting.append(pool.submit(compared, name, k, problem, sources))
        rows = [own for future in waiting for own in future.result()]
    cuts, seconds = ([float(own[key]) for own in rows] for key in ("cut ratio", "time ratio"))
    notes = [
        f"- Cut after / before: {geometric_mean(cuts):.4f} in the geometric mean, {max(cuts):.4f} at worst.",
        f"- Larger by more than 0.1 % on {sum(ratio > 1.001 for ratio in cuts)} of {len(rows)} runs.",
        f"- Smaller by more than 0.1 % on {sum(ratio < 0.999 for ratio in cuts)}.",
        f"- Time after / before: {geometric_mean(seconds):.2f} in the geometric mean, {max(seconds):.2f} at worst.",
        f"- Violated pairs after: {sum(int(own['violated']) for own in rows)}.",
    ]
    write("frozen", rows, notes, "python -m benchmarks.frozen BEFORE")


def compared(name: str, k: int, problem: Path, sources: dict[str, Path]) -> list[dict]:
    found = {state: solve_elsewhere(source, problem) for state, source in sources.items()}
    both = enumerate(zip(found["before"], found["after"], strict=True))
    rows = [row(name, k, state, before, after) for state, (before, after) in both]
    print(*rows, sep="\n", flush=True)
    return rows


def row(name: str, k: int, state: int, before: dict, after: dict) -> dict:
    return {
        "instance": name,
        "k": k,
        "random_state": RANDOM_STATES[state],
        "cut before": f"{before['cut']:.6g}",
        "cut after": f"{after['cut']:.6g}",
        "cut ratio": f"{after['cut'] / before['cut'] if before['cut'] > 0 else 1.0:.4f}",
        "labels before": before["labels"],
        "labels after": after["labels"],
        "s before": f"{before['seconds']:.2f}",
        "s after": f"{after['seconds']:.2f}",
        "time ratio": f"{after['seconds'] / before['seconds']:.2f}",
        "violated": after["violated"],
    }


def instances(only: str):
    """Name, graph, constraints and number of clusters: the authors' instances, and larger sets with random pairs."""
    from benchmarks.instances import authors_pairs, graph, peers_pairs, points, reference

    rows = dict.fromkeys((own["dataset"], int(own["n_pairs"]), int(own["k"])) for own in reference("authors"))
    for dataset, n_pairs, k in rows:
        if only in (name := f"{dataset} {n_pairs}"):
            yield name, graph(dataset), authors_pairs(dataset, n_pairs, 0), k
    for dataset, numbers in PAIRS.items():
        for n_pairs in numbers:
            if only in (name := f"{dataset} random {n_pairs}"):
                y = points(dataset)[1]
                yield name, graph(dataset), peers_pairs(y, n_pairs, 0), len(np.unique(y))


def store(path: Path, graph, constraints, k: int) -> None:
    w = graph.weights
    arrays = {"indptr": w.indptr, "indices": w.indices, "data": w.data, "k": k}
    np.savez(path, must=constraints.must_link, cannot=constraints.cannot_link, **arrays)


def solve_elsewhere(source: Path, problem: Path) -> list[dict]:
    environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--worker", str(problem)]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(finished.stdout.splitlines()[-1])


def work(path: str) -> None:
    """Solve a stored problem with whatever package the path of this process holds."""
    from tightcut import Constraints, Graph, cluster

    stored = np.load(path)
    n, k = len(stored["indptr"]) - 1, int(stored["k"])
    graph = Graph.from_affinity(sp.csr_array((stored["data"], stored["indices"], stored["indptr"]), shape=(n, n)))
    constraints = Constraints.from_pairs(n, stored["must"], stored["cannot"])
    cluster(graph, constraints, k, effort=0, random_state=0)  # loads the kernels
    cluster(graph, constraints, k, random_state=0)
    results = []
    for state in RANDOM_STATES:
        times = []
        for _ in range(2 if n < 20_000 else 1):
            start = time.process_time()
            found = cluster(graph, constraints, k, random_state=state, n_jobs=1)
            times.append(time.process_time() - start)
        digest = hashlib.sha256(found.labels.astype(np.int64).tobytes()).hexdigest()[:10]
        results.append({"cut": found.cut, "labels": digest, "seconds": min(times), "violated": found.n_violations})
    print(json.dumps(results))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2])
    else:
        main()
