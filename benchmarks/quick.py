"""The search of large graphs: two states of the source and METIS, side by side.

    git worktree add ../before REVISION
    python -m benchmarks.quick ../before/src [mnist:0 mnist:1000 ...] [--neighbors FOLDER] [--table two_cores]

Every problem, a set with a number of random pairs, is solved by both states in turn, once for each random state, in
processes of their own that wait for each other. Rows of other problems are kept. With pymetis installed, METIS cuts
the graph as well; it takes no pairs. The table two_cores compares with 0.1.0 (bd6f9f8).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

RANDOM_STATES = (0, 1, 2)
PROBLEMS = ("mnist:0", "mnist:1000", "shuttle:1000", "letter:2000", "covertype:1000")
STANDARDISED = ("shuttle", "covertype")  # columns of different units; pixels are left as they are
PRECISION = 1000  # METIS takes whole numbers: the heaviest edge has this weight
METIS_NOTES = [
    "- METIS: `pymetis.part_graph` with the edge weights as whole numbers up to 1000, its other settings as they are, and",
    "  once without weights. It takes no pairs, so it is next to the rows without them only.",
    "- The smallest cut of MNIST's graph that any search here found, 0.3110, is 0.87 of METIS's.",
]
NOTES = [
    "- Cuts of letter vary by 5 % with the random state, those of Covertype by more.",
    "- The graph of the extended MNIST in `two_cores` has approximate neighbours (faiss, inverted lists in 40 principal",
    "  components, recall 0.87), so its cut is not that of other tables.",
    "- Other work ran on the machine. Before and after took turns, so ratios are more certain than seconds.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, help="folder with the package of the state to compare with")
    parser.add_argument("problems", nargs="*", default=PROBLEMS, help="SET:PAIRS")
    parser.add_argument("--neighbors", type=Path, help="folder with a folder for each set; graphs made are kept there")
    parser.add_argument("--states", type=int, nargs="+", default=RANDOM_STATES, help="random states")
    parser.add_argument("--efforts", type=float, nargs="+", default=(1, 0))
    parser.add_argument("--table", default="quick", help="name of the table")
    arguments = parser.parse_args()
    from benchmarks.instances import commit, merged, quiet, write

    quiet()
    sources = {"before": arguments.before.resolve(), "after": Path(__file__).parents[1] / "src"}
    for problem in arguments.problems:
        name, n_pairs = problem.split(":")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "problem.npz"
            k = store(path, name, int(n_pairs), arguments.neighbors)
            rows = compared(name, int(n_pairs), k, path, sources, arguments.states, arguments.efforts)
        table = merged(arguments.table, rows, ("set", "pairs", "method"))
        notes = [
            f"- Before is {commit(arguments.before)}. Processor seconds of one thread, medians of `runs` random states; cuts",
            "  are means. Kernels loaded before.",
            *(METIS_NOTES if any(row["method"].startswith("METIS") for row in table) else []),
            *NOTES,
        ]
        write(arguments.table, table, notes, "python -m benchmarks.quick BEFORE")


def store(path: Path, name: str, n_pairs: int, folder: Path | None) -> int:
    """Keep the graph and the pairs in a file; returns the number of classes."""
    from benchmarks.instances import neighbour_graph, peers_pairs, points, standardised
    from tightcut import Constraints, Graph

    # The images of the extended MNIST need not be in memory: its classes are those of MNIST, nine times.
    y = np.tile(points("mnist")[1], 9) if name == "extended_mnist" else points(name)[1]

    def vectors() -> np.ndarray:
        return standardised(points(name)[0]) if name in STANDARDISED else points(name)[0]

    affinity, _ = neighbour_graph(folder, name, vectors)
    k = len(np.unique(y))
    constraints = peers_pairs(y, n_pairs, 0) if n_pairs else Constraints.from_pairs(len(y))
    w = Graph.from_affinity(affinity).weights
    arrays = {"indptr": w.indptr, "indices": w.indices, "data": w.data, "k": k}
    np.savez(path, must=constraints.must_link, cannot=constraints.cannot_link, **arrays)
    return k


def compared(
    name: str,
    n_pairs: int,
    k: int,
    path: Path,
    sources: dict[str, Path],
    states: Sequence[int],
    efforts: Sequence[float],
) -> list[dict]:
    workers = {state: started(source, path) for state, source in sources.items()}
    for worker in workers.values():
        ask(worker, {"effort": 0.1, "random_state": 0})  # loads the kernels
    results: dict[str, list[dict]] = {}
    for random_state in states:
        for effort in efforts:
            for state, worker in workers.items():
                found = ask(worker, {"effort": effort, "random_state": random_state})
                results.setdefault(f"effort={effort:g} {state}", []).append(found)
        if n_pairs == 0:
            for weighted in (True, False):
                found = ask(workers["after"], {"metis": weighted})
                if found:
                    results.setdefault("METIS" if weighted else "METIS, no weights", []).append(found)
    for worker in workers.values():
        worker.stdin.close()
        worker.wait()
    return rows(name, n_pairs, k, results)


def rows(name: str, n_pairs: int, k: int, results: dict[str, list[dict]]) -> list[dict]:
    table = []
    for method, found in results.items():
        compared_with = results[method.replace("after", "before")]
        cut, seconds = np.mean([one["cut"] for one in found]), np.median([one["seconds"] for one in found])
        cut_before = np.mean([one["cut"] for one in compared_with])
        seconds_before = np.median([one["seconds"] for one in compared_with])
        after = method.endswith("after")
        table.append(
            {
                "set": name,
                "pairs": n_pairs,
                "k": k,
                "method": method,
                "runs": len(found),
                "cut": f"{cut:.6g}",
                "largest cut": f"{max(one['cut'] for one in found):.6g}",
                "s": f"{seconds:.2f}",
                "cut / before": f"{cut / cut_before:.4f}" if after else "",
                "before s / s": f"{seconds_before / seconds:.2f}" if after else "",
                "violated": sum(one["violated"] for one in found),
            }
        )
    return table


def started(source: Path, path: Path) -> subprocess.Popen:
    environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--worker", str(path)]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(worker: subprocess.Popen, question: dict) -> dict:
    worker.stdin.write(json.dumps(question) + "\n")
    worker.stdin.flush()
    return json.loads(worker.stdout.readline())


def work(path: str) -> None:
    """Answer questions about a stored problem with whatever package the path of this process holds."""
    import scipy.sparse as sp

    from tightcut import Constraints, Graph, cluster

    stored = np.load(path)
    n, k = len(stored["indptr"]) - 1, int(stored["k"])
    graph = Graph.from_affinity(sp.csr_array((stored["data"], stored["indices"], stored["indptr"]), shape=(n, n)))
    constraints = Constraints.from_pairs(n, stored["must"], stored["cannot"])
    for line in sys.stdin:
        question = json.loads(line)
        if "metis" in question:
            answer = metis(graph, k, weighted=question["metis"])
        else:
            start = time.process_time()
            found = cluster(graph, constraints, k, n_jobs=1, **question)
            seconds = time.process_time() - start
            answer = {"cut": found.cut, "seconds": seconds, "violated": found.n_violations}
        print(json.dumps(answer), flush=True)


def metis(graph, k: int, *, weighted: bool) -> dict:
    """METIS's clusters of the graph, or nothing if pymetis is not installed."""
    try:
        import pymetis
    except ImportError:
        return {}
    from tightcut.problem.objective import normalized_cut

    w = graph.weights
    whole = np.maximum(np.rint(PRECISION * w.data / w.data.max()), 1).astype(np.int64)
    adjacency = pymetis.CSRAdjacency(w.indptr, w.indices)
    start = time.process_time()
    _, labels = pymetis.part_graph(k, adjacency, eweights=whole if weighted else None)
    seconds = time.process_time() - start
    return {"cut": normalized_cut(graph, np.asarray(labels, np.int64)), "seconds": seconds, "violated": 0}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2])
    else:
        main()
