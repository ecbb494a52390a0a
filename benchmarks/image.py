"""Ten million vertices and sixty million edges on the CPU: seconds, and memory above that of the graph.

    python -m benchmarks.image [--height 3163] [--width 3162] [--jobs 1]

The pixels of a smooth random landscape with noise, each joined to twelve neighbours by the likeness of their heights, and
pairs of ten rectangles. The graph is there before the clock starts. The peak is the largest resident memory of the
process while `cluster` runs (Linux: VmHWM, reset before), less what was resident before.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.ndimage import zoom

from benchmarks.instances import merged, own_process, timed, write
from tightcut import Graph, cluster
from tightcut.datasets import sample_constraints
from tightcut.metrics import clustering_error
from tightcut.warmup import warmup

K, N_PAIRS = 10, 100_000
NEIGHBOURS = ((-2, 0), (-1, -1), (-1, 0), (-1, 1), (0, -2), (0, -1), (0, 1), (0, 2), (1, -1), (1, 0), (1, 1), (2, 0))
ROWS_AT_ONCE = 64
NOTES = [
    "- One thread, kernels compiled before, given the graph; `random_state=0`.",
    "- `graph GiB`: arcs with 32-bit indices and float64 weights, and vertex weights. `above GiB`: the peak of resident",
    "  memory during `cluster`, less what was resident before.",
    "- Other work ran on the machine: CPU seconds are more certain than those of the clock.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--height", type=int, default=3163)
    parser.add_argument("--width", type=int, default=3162)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--one", action="store_true", help="measure here and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.height, arguments.width, arguments.jobs)))
        return
    size = ["--height", str(arguments.height), "--width", str(arguments.width), "--jobs", str(arguments.jobs)]
    row = own_process("benchmarks.image", "--one", *size)
    write("image", merged("image", [row], ("vertices", "threads")), NOTES, "python -m benchmarks.image")


def measure(height: int, width: int, n_jobs: int) -> dict[str, Any]:
    warmup()
    graph = image_graph(height, width)
    classes = rectangles(height, width)
    constraints = sample_constraints(classes, N_PAIRS * height * width // 10_000_000, random_state=0)
    w = graph.weights
    size = sum(array.nbytes for array in (w.indptr, w.indices, w.data, graph.vertex_weights))
    Path("/proc/self/clear_refs").write_text("5")  # from here on the kernel records a new peak
    before, started = resident_gib("VmRSS"), time.process_time()
    result, seconds = timed(partial(cluster, graph, constraints, K, random_state=0, n_jobs=n_jobs))
    processor_seconds = time.process_time() - started
    return {
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "pairs": constraints.n_pairs,
        "threads": n_jobs,
        "graph GiB": round(size / 2**30, 2),
        "above GiB": round(resident_gib("VmHWM") - before, 2),
        "to reach": "<= 4 GiB, 600 s" if graph.n_edges > 50_000_000 else "",
        "cluster s": round(seconds),
        "CPU s": round(processor_seconds),
        "cut": round(result.cut, 6),
        "error": round(clustering_error(classes, result.labels), 4),
        "violations": result.n_violations,
    }


def image_graph(height: int, width: int, seed: int = 0) -> Graph:
    """Pixels joined to twelve neighbours by exp(-8 |difference of heights|), made a few rows at a time."""
    rng = np.random.default_rng(seed)
    coarse = rng.random((40, 40))
    smooth = zoom(coarse, (height / 40, width / 40), order=3, mode="nearest", grid_mode=True)[:height, :width]
    heights = smooth + 0.05 * rng.standard_normal((height, width))
    indptr, indices, data = [np.zeros(1, np.int32)], [], []
    for top in range(0, height, ROWS_AT_ONCE):
        rows, columns = np.mgrid[top : min(top + ROWS_AT_ONCE, height), :width].reshape(2, -1)
        there, weights = (np.full((len(rows), len(NEIGHBOURS)), 0, kind) for kind in (np.int32, np.float64))
        for place, (down, right) in enumerate(NEIGHBOURS):
            y, x = rows + down, columns + right
            inside = np.flatnonzero((y >= 0) & (y < height) & (x >= 0) & (x < width))
            y, x = y[inside], x[inside]
            there[inside, place] = y * width + x
            weights[inside, place] = np.exp(-8 * np.abs(heights[y, x] - heights[rows[inside], columns[inside]]))
        kept = weights > 0
        indptr.append(indptr[-1][-1] + np.cumsum(kept.sum(axis=1), dtype=np.int32))
        indices.append(there[kept])
        data.append(weights[kept])
    n = height * width
    matrix = sp.csr_array((np.concatenate(data), np.concatenate(indices), np.concatenate(indptr)), shape=(n, n))
    return Graph(matrix, np.asarray(matrix.sum(axis=1)).ravel())


def rectangles(height: int, width: int) -> np.ndarray:
    """Ten classes, two rows of five."""
    row, column = np.divmod(np.arange(height * width), width)
    return row * 2 // height * 5 + column * 5 // width


def resident_gib(field: str) -> float:
    """Resident memory of this process now (VmRSS) or at its peak (VmHWM), from Linux."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0]) / 2**20


if __name__ == "__main__":
    main()
