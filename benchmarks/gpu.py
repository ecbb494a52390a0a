"""MNIST and extended MNIST on one GPU: neighbour graph, FISTA pass, and the whole path from pixels to labels.

    python -m benchmarks.gpu

Needs an NVIDIA GPU, the extra `tightcut[gpu]` and mnist.npz in the folder that TIGHTCUT_DATA names. The table is
written again after every part, so that a run that is cut short leaves what it has.
"""

from __future__ import annotations

import os
import statistics
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.instances import timed, write
from tightcut import Graph, cluster, knn_affinity
from tightcut.datasets import Dataset, load, sample_constraints
from tightcut.gpu.fista import CudaFistaProx
from tightcut.gpu.neighbors import DeviceNeighbors
from tightcut.metrics import adjusted_rand_score, clustering_error
from tightcut.solvers.fista import FistaProx
from tightcut.warmup import warmup

COMMAND = "python -m benchmarks.gpu"
DATASETS = ("mnist", "extended_mnist")
N_NEIGHBORS = 10
N_CHECKED = 1000  # queries whose neighbours are compared with exact distances
N_ITERATIONS = 200  # of FISTA, compared with the CPU
N_PAIRS = 10_000

TARGETS = {
    ("extended_mnist", "neighbour graph, s"): "<= 8",
    ("extended_mnist", "FISTA float32, ms per iteration"): "<= 0.1",
    ("extended_mnist", "pixels to labels, s"): "<= 30",
    ("mnist", "violations"): "0",
    ("extended_mnist", "violations"): "0",
}
NOTES = [
    "- Seconds by the wall clock with data in host memory at the start and at the end, after a warm-up (kernels",
    "  compiled, libraries loaded). Medians of three for the neighbours; the path is one run.",
    f"- Neighbours: k = {N_NEIGHBORS}, exact. FISTA: CUDA events over 200 iterations, median of five.",
    "- Bytes of a FISTA iteration: every array of the pass read or written once, the gathered values not counted.",
    f"- Path: k = 10, {N_PAIRS} random pairs (seed 0), graph on the GPU, `cluster` with its defaults on the CPU's cores.",
]


class Table:
    """Rows of (data, measured, result, target)."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, data: str, measured: str, result: Any) -> None:
        row = {"data": data, "measured": measured, "result": result, "to reach": TARGETS.get((data, measured), "")}
        self.rows.append(row)
        print(*row.values(), sep=" | ", flush=True)

    def save(self) -> None:
        gpu = torch.cuda.get_device_name()
        machine = f"{gpu}, {os.cpu_count()} CPU cores, PyTorch {torch.__version__}"
        write("gpu", self.rows, NOTES, COMMAND, machine)


def main() -> None:
    warnings.filterwarnings("ignore", message="FISTA stopped")
    table = Table()
    warmup()
    bandwidth = copy_bandwidth()
    table.add("4 GiB", "device copy, TB/s read and written", f"{bandwidth / 1e12:.2f}")
    sets = {name: load(name) for name in DATASETS}
    for data in sets.values():
        neighbours(table, data)
    against_scikit_learn(table, sets["mnist"])
    table.save()
    for data in sets.values():
        path(table, data, bandwidth)
        table.save()


def copy_bandwidth() -> float:
    source = torch.rand(1 << 30, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.nbytes / milliseconds(lambda: target.copy_(source), 5) * 1e3


def neighbours(table: Table, data: Dataset) -> None:
    DeviceNeighbors(data.X[:10_000]).kneighbors(n_neighbors=N_NEIGHBORS)
    torch.cuda.reset_peak_memory_stats()
    runs = [timed(partial(search, data.X)) for _ in range(3)]
    distances, n_repeated = runs[0][0]
    table.add(data.name, "neighbours, s", f"{statistics.median(seconds for _, seconds in runs):.2f}")
    table.add(data.name, "device memory, GB", f"{torch.cuda.max_memory_allocated() / 1e9:.1f}")
    table.add(data.name, "rows searched again in float64", n_repeated)
    chosen = np.random.default_rng(0).choice(len(data.X), N_CHECKED, replace=False)
    wrong = np.rint(distances[chosen] ** 2) != exact_squares(data.X, chosen)
    table.add(data.name, f"wrong distances among the neighbours of {N_CHECKED} points", int(wrong.sum()))


def search(X: np.ndarray) -> tuple[np.ndarray, int]:
    index = DeviceNeighbors(X)
    distances, _ = index.kneighbors(n_neighbors=N_NEIGHBORS)
    return distances, index.n_repeated


def exact_squares(X: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The smallest squared distances by integer arithmetic on the CPU: sums of pixels are exact in float64."""
    queries = X[chosen].astype(np.float64)
    best = np.full((len(chosen), N_NEIGHBORS + 1), np.inf)
    for start in range(0, len(X), 20_000):
        block = X[start : start + 20_000].astype(np.float64)
        squares = (queries**2).sum(axis=1)[:, None] + (block**2).sum(axis=1) - 2 * queries @ block.T
        both = np.concatenate([best, squares], axis=1)
        best = np.partition(both, N_NEIGHBORS, axis=1)[:, : N_NEIGHBORS + 1]
    return np.sort(best, axis=1)[:, 1:]  # the first is the point itself, or an equal one


def against_scikit_learn(table: Table, data: Dataset) -> None:
    expected, seconds = timed(lambda: knn_affinity(data.X.astype(np.float32), N_NEIGHBORS, n_jobs=-1))
    found = knn_affinity(data.X, N_NEIGHBORS, device="cuda")
    table.add(data.name, "neighbour graph by scikit-learn on the CPU, s", f"{seconds:.1f}")
    difference = abs(found - expected)
    table.add(data.name, "edges that differ from scikit-learn's by more than 1e-9", int((difference.data > 1e-9).sum()))


def path(table: Table, data: Dataset, bandwidth: float) -> None:
    """From pixels to labels; the FISTA pass is measured on the same graph."""
    name = data.name
    constraints = sample_constraints(data.y, N_PAIRS, random_state=0)
    start = time.perf_counter()
    affinity, graph_seconds = timed(lambda: knn_affinity(data.X, N_NEIGHBORS, device="cuda"))
    graph, check_seconds = timed(lambda: Graph.from_affinity(affinity))
    result, search_seconds = timed(lambda: cluster(graph, constraints, 10, random_state=0, n_jobs=os.cpu_count()))
    seconds = time.perf_counter() - start
    table.add(name, "neighbour graph, s", f"{graph_seconds:.2f}")
    table.add(name, "directed edges", graph.weights.nnz)
    table.add(name, "check of the graph, s", f"{check_seconds:.2f}")
    table.add(name, "cluster, s", f"{search_seconds:.2f}")
    table.add(name, "pixels to labels, s", f"{seconds:.2f}")
    table.add(name, "cut", f"{result.cut:.4f}")
    table.add(name, "error", f"{clustering_error(data.y, result.labels):.4f}")
    table.add(name, "ARI", f"{adjusted_rand_score(data.y, result.labels):.4f}")
    table.add(name, "violations", result.n_violations)
    fista(table, name, graph, data.y, bandwidth)


def fista(table: Table, name: str, graph: Graph, y: np.ndarray, bandwidth: float) -> None:
    target = descent_target(graph, y < 5)
    n, arcs = graph.n_vertices, graph.weights.nnz
    cpu = FistaProx(graph.weights, graph.vertex_weights, -1.0, N_ITERATIONS)
    cpu.prox(target)
    expected, seconds = timed(lambda: cpu.prox(target))
    table.add(name, "FISTA on one CPU core, ms per iteration", f"{1e3 * seconds / N_ITERATIONS:.2f}")
    for precision, size in (("float32", 4), ("float64", 8)):
        solver = CudaFistaProx(graph.weights, graph.vertex_weights, -1.0, N_ITERATIONS, precision=precision)
        solver.prox(target)
        found, seconds = timed(lambda solver=solver: solver.prox(target))
        error = np.abs(found - expected).max() / np.abs(expected).max()
        goal = solver._slices.renumber(solver._send(target))
        pass_ms = milliseconds(lambda solver=solver, goal=goal: solver._advance(goal, 0, 200), 1) / 200
        moved = arcs * (4 + 5 * size) + n * 4 * size
        share = moved / (pass_ms * 1e-3) / bandwidth
        table.add(name, f"FISTA {precision}, ms per iteration", f"{pass_ms:.4f}")
        table.add(name, f"FISTA {precision}, MB per iteration", f"{moved / 1e6:.0f}")
        table.add(name, f"FISTA {precision}, share of copy bandwidth", f"{share:.2f}")
        table.add(
            name,
            f"FISTA {precision}, ms per iteration with checks and transfers",
            f"{1e3 * seconds / N_ITERATIONS:.4f}",
        )
        table.add(name, f"FISTA {precision}, relative difference from the CPU after {2 * N_ITERATIONS}", f"{error:.1e}")
        setup = timed(lambda p=precision: CudaFistaProx(graph.weights, graph.vertex_weights, precision=p))[1]
        table.add(name, f"FISTA {precision}, set-up with transfer, s", f"{setup:.2f}")


def descent_target(graph: Graph, side: np.ndarray) -> np.ndarray:
    """What RatioDCA asks for at the indicator of a set."""
    b = graph.vertex_weights
    signs = b * np.sign(side - b[side].sum() / b.sum())
    return (signs - b * (signs.sum() / b.sum())) / 4


def milliseconds(work: Callable[[], Any], repeats: int) -> float:
    """Median over five of the mean of some repeats, by CUDA events, after a warm-up."""
    work()
    times = []
    for _ in range(5):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(repeats):
            work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / repeats)
    return statistics.median(times)


if __name__ == "__main__":
    main()
