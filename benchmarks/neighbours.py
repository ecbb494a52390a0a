"""Neighbours on the CPU: seconds, memory and recall of every choice of `neighbors=`, and of faiss.

    python -m benchmarks.neighbours [mnist covertype shuttle blobs] [--jobs 2] [--sparse]

Every search runs in a process of its own. scikit-learn and faiss are timed on a sample of queries against all points,
and the time for all is computed from it: their time per query does not depend on the number of queries. With --sparse
cosine distances of sparse rows instead.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from importlib.util import find_spec
from itertools import product

import numpy as np
import scipy.sparse as sp

from benchmarks.instances import timed, write
from tightcut.datasets import load
from tightcut.neighbors import KnnSettings, check_points, knn_graph
from tightcut.neighbors.tree import make_index

K = 10
SAMPLE = 3000
SETS = ("mnist", "covertype", "shuttle", "blobs")
CHOICES = ("scikit-learn", "blocked", "approximate", "faiss flat")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS, metavar="SET", help=f"of {', '.join(SETS)}")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sparse", action="store_true")
    parser.add_argument("--one", help="measure this choice here and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.sets[0], arguments.one, arguments.jobs)))
        return
    if arguments.sparse:
        write_sparse(arguments.jobs)
        return
    notes = [
        f"- {K} neighbours of every point. Covertype is standardised, float32; blobs are 20 clusters in the plane.",
        f"- `~`: from {SAMPLE:,} queries.",
        "- `peak MiB`: most memory of the process less what it held with the data loaded, before the search.",
        "- `recall`: share of the true neighbours found, on 500 points.",
    ]
    rows = []
    for name, choice in product(arguments.sets, CHOICES):
        if choice in {"approximate", "faiss flat"} and not find_spec("faiss"):
            continue
        command = [sys.executable, "-m", "benchmarks.neighbours", name, "--one", choice, "--jobs", str(arguments.jobs)]
        finished = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        rows.append(json.loads(finished.stdout.splitlines()[-1]))
        write("neighbours", rows, notes, "python -m benchmarks.neighbours", f"{arguments.jobs} threads")


def data(name: str) -> np.ndarray:
    if name == "blobs":
        from sklearn.datasets import make_blobs

        return make_blobs(1_000_000, n_features=2, centers=20, random_state=0)[0].astype(np.float32)
    X = load(name).X
    if name == "covertype":
        deviation = X.std(axis=0)
        return ((X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)).astype(np.float32)
    return X if X.dtype == np.uint8 else X.astype(np.float32)


def measure(name: str, choice: str, n_jobs: int) -> dict[str, float | int | str]:
    points = data(name)
    n = len(points)
    make_index(np.unique(points[:2000], axis=0), "blocked").kneighbors(n_neighbors=K)  # compiles
    sample = np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))
    before = peak_mebibytes()
    if choice in {"blocked", "approximate"}:
        (index, distances), seconds = timed(lambda: search(points, choice, n_jobs))
        memory = peak_mebibytes() - before
        recall = index.recall(distances) if choice == "approximate" else 1.0
        shown = f"{seconds:.1f}"
    else:
        index, build = timed(lambda: build_index(points, choice, n_jobs))
        distances, seconds = timed(lambda: index(points[sample]))
        memory = peak_mebibytes() - before
        true, _ = make_index(points, "blocked", n_jobs=n_jobs).kneighbors(points[sample[::6]], n_neighbors=K + 1)
        recall = float((distances[::6, 1:] <= true[:, -1:] * (1 + 1e-5) + 1e-9).mean())
        shown = f"~ {build + seconds * n / SAMPLE:.1f}"
    return {
        "set": name,
        "n": n,
        "features": points.shape[1],
        "type": str(points.dtype),
        "data MiB": round(points.nbytes / 2**20),
        "choice": choice,
        "seconds": shown,
        "peak MiB": round(memory),
        "recall": round(recall, 4),
    }


def search(points, choice, n_jobs):
    index = make_index(points, choice, n_jobs=n_jobs)
    return index, index.kneighbors(n_neighbors=K)[0]


def build_index(points, choice, n_jobs):
    """A function from queries to the distances of their K + 1 nearest points."""
    if choice == "scikit-learn":
        from sklearn.neighbors import NearestNeighbors

        index = NearestNeighbors(n_jobs=n_jobs).fit(points)
        return lambda queries: index.kneighbors(queries, K + 1)[0]
    import faiss

    faiss.omp_set_num_threads(n_jobs)
    index = faiss.IndexFlatL2(points.shape[1])
    index.add(np.ascontiguousarray(points, dtype=np.float32))
    return lambda queries: np.sqrt(
        np.maximum(index.search(np.ascontiguousarray(queries, dtype=np.float32), K + 1)[0], 0)
    )


def write_sparse(n_jobs: int) -> None:
    """Rows of words whose frequencies fall as 1 / rank, weighed by tf-idf, by cosine distance."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.neighbors import NearestNeighbors

    rows, per_row, n_features = [], 100, 30_000
    share = 1 / np.arange(1, n_features + 1)
    for n in (500, 5000, 20_000):  # the first compiles
        columns = np.random.default_rng(n).choice(n_features, size=n * per_row, p=share / share.sum())
        counts = (np.ones(n * per_row), (np.repeat(np.arange(n), per_row), columns))
        points = TfidfTransformer().fit_transform(sp.csr_array(counts, shape=(n, n_features)))
        settings = KnnSettings(K, metric="cosine", connect=False, n_jobs=n_jobs)
        graph, seconds = timed(lambda points=points, settings=settings: knn_graph(check_points(points), settings))
        index = NearestNeighbors(n_neighbors=K, metric="cosine", n_jobs=n_jobs).fit(points)
        (expected, _), reference = timed(index.kneighbors)
        error = float(np.abs(graph.distances**2 / 2 - expected).max())
        row = {"n": n, "entries per row": round(points.nnz / n, 1), "seconds": round(seconds, 2)}
        rows.append(row | {"scikit-learn s": round(reference, 2), "largest difference": f"{error:.1e}"})
    notes = [f"- {K} nearest of every row by cosine distance; `NearestNeighbors(metric='cosine')` on the same matrix."]
    write("neighbours_sparse", rows[1:], notes, "python -m benchmarks.neighbours --sparse", f"{n_jobs} threads")


def peak_mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
